//! The bench's Rust half: the engine cases, and the tools that `scripts/bench.mjs` needs on the wire.
//!
//! Nothing here forwards a packet: the engine cases call the engine that ships, and on the wire the
//! agent does.
#![allow(clippy::print_stdout, reason = "a command-line tool prints its results")]

mod agent;
mod alloc;
mod args;
mod changes;
mod clock;
mod commit_case;
mod curves;
mod engine_cases;
mod floor;
mod flow_cases;
mod generator;
mod htb;
mod ipv6_frames;
mod ipv6_prefixes;
mod ipv6_route_cases;
mod list_cases;
mod mark_cases;
mod measure;
mod nat_cases;
mod nft;
mod packet;
mod pin;
mod prefixes;
mod queue_cases;
mod random;
mod route_cases;
mod scenario;
mod slow_cases;
mod steady;
mod timed_engine;
mod traffic;
mod vlan_cases;
mod vrf_cases;
mod worker_cases;

#[cfg(test)]
mod modules_tests;

pub use steady::Steady;

use args::Args;

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

const USAGE: &str = "usage: tollway-bench COMMAND [--option VALUE …]

  engine --case NAME [--quick true] [--windows N] [--cpu N]
      an engine case; prints its result as JSON
  curve --axis rules|routes|flows|frame-bytes|workers [--quick true]
      ns per packet against one thing that varies, as JSON
  send --interface IF --destination-mac MAC --count N --rate PPS [--flows N] [--cpu N]
      60-byte UDP packets; prints {\"sent\",\"seconds\"}
  nft --scenario NAME
      the scenario's firewall as an nft ruleset
  htb --scenario NAME
      the scenario's simple queues as commands for tc -batch
  configure --socket PATH --scenario NAME --lan-mac MAC --wan-mac MAC
      activates the scenario on an agent
  commits --socket PATH --scenario NAME --lan-mac MAC --wan-mac MAC --count N --every MS
      changes one filter rule of the active scenario N times; prints {\"median_ms\",\"longest_ms\"}
  stats --socket PATH
      prints the agent's counters as JSON
  queues --socket PATH
      prints what passed its simple queues as JSON

scenarios: routing, masquerade-25, masquerade-10k, masquerade-25-queue, masquerade-25-queue-100g, htb-25";

/// Runs the command that the words of the command line name.
///
/// # Errors
/// Says what is wrong with the command line, or why the command failed.
pub fn run(mut words: impl Iterator<Item = String>) -> Result<(), String> {
    let command = words.next().unwrap_or_default();
    let args = Args::parse(words)?;
    match command.as_str() {
        "engine" => engine_cases::run(&args),
        "curve" => curves::run(&args),
        "send" => generator::run(&args),
        "nft" => nft::run(&args),
        "htb" => htb::run(&args),
        "configure" => agent::configure(&args),
        "commits" => commit_case::run(&args),
        "stats" => agent::stats(&args),
        "queues" => agent::queues(&args),
        _ => Err(format!("unknown command \"{command}\"\n{USAGE}")),
    }
}
