//! The engine cases: one worker, one core, memory frames, only `Engine::process` is timed.

use serde_json::json;
use tollway_engine::packet::family::Family;

use crate::args::Args;
use crate::clock::Tsc;
use crate::floor::copy_parse;
use crate::measure::{CaseResult, against_floor, compare};
use crate::pin;
use crate::scenario::Scenario;
use crate::timed_engine::{Setup, TimedEngine};
use crate::traffic::{GENERATOR_MAC, SINK_MAC, Traffic};

/// Measures for so many windows, or as long as that takes where there are none.
type Case = fn(usize) -> Result<CaseResult, String>;

/// The cases by name.
const CASES: &[(&str, Case)] = &[
    ("engine/route-1", route),
    ("engine/route-900k", crate::route_cases::route_900k),
    ("engine/route-updates", crate::route_cases::route_updates),
    ("engine/route-250k-v6", crate::ipv6_route_cases::route_250k_v6),
    ("engine/commit-1-of-10k", crate::commit_case::commit_1_of_10k),
    ("engine/stateful-64k", |windows| crate::flow_cases::stateful_64k(windows, Family::V4)),
    ("engine/stateful-64k-v6", |windows| crate::flow_cases::stateful_64k(windows, Family::V6)),
    ("engine/stateful-1m", |windows| crate::flow_cases::stateful_1m(windows, Family::V4)),
    ("engine/stateful-1m-v6", |windows| crate::flow_cases::stateful_1m(windows, Family::V6)),
    ("engine/vlan-64k", crate::vlan_cases::vlan_64k),
    ("engine/vrf-16", crate::vrf_cases::vrf_16),
    ("engine/filter-25", |windows| in_turns(windows, RULES_25, NO_RULES)),
    ("engine/filter-10k", crate::slow_cases::filter_10k),
    ("engine/slow-25", crate::slow_cases::slow_25),
    ("engine/slow-10k", crate::slow_cases::slow_10k),
    ("engine/cps-25", crate::slow_cases::cps_25),
    ("engine/cps-10k", crate::slow_cases::cps_10k),
    ("engine/nat-exhausted", crate::nat_cases::exhausted),
    ("engine/addrlist-1m", crate::list_cases::addrlist_1m),
    ("engine/list-updates", crate::list_cases::list_updates),
    ("engine/queues-25", |windows| in_turns(windows, QUEUES_25, NO_QUEUES)),
    ("engine/queues-1k", |windows| in_turns(windows, QUEUES_1K, QUEUES_25)),
    ("engine/marks-640", crate::mark_cases::marks_640),
    ("engine/queues-25k", crate::queue_cases::queues_25k),
    ("engine/queues-25k-shaping", crate::queue_cases::queues_25k_shaping),
    ("engine/swap-25k", crate::queue_cases::swap_25k),
    ("engine/htb-8-levels", crate::queue_cases::htb_8_levels),
    ("engine/fq-codel-1k", |windows| crate::queue_cases::kind_1k(windows, "FQ-CoDel")),
    ("engine/cake-1k", |windows| crate::queue_cases::kind_1k(windows, "CAKE")),
    ("engine/queue-latency", crate::queue_cases::latency),
    ("engine/queue-memory", crate::queue_cases::memory),
    ("engine/profiler", profiler),
    ("engine/handover-all", crate::worker_cases::handover_all),
    ("engine/2-workers", crate::worker_cases::two_workers),
    ("engine/htb-2-workers", crate::worker_cases::htb_two_workers),
];

/// Runs `--case` and prints its result as JSON.
pub fn run(args: &Args) -> Result<(), String> {
    let name: String = args.required("case")?;
    let windows = if args.optional("quick")?.unwrap_or(false) { 250 } else { 2000 };
    let windows = args.optional("windows")?.unwrap_or(windows);
    pin::first_in_line();
    pin::to_cpu(args.optional("cpu")?.unwrap_or_else(pin::last_cpu))?;
    let case = CASES.iter().find(|(known, _)| *known == name);
    let (_, case) = case.ok_or_else(|| format!("unknown case \"{name}\""))?;
    let result = case(windows)?;
    let ours = 1e9 / result.ours_ns;
    let baseline = 1e9 / result.baseline_ns;
    println!(
        "{}",
        json!({
            "name": name, "unit": result.unit, "ours": ours, "baseline": baseline,
            "ratio": ours / baseline, "io": "memory", "details": result.details,
        })
    );
    Ok(())
}

const NO_RULES: Named = ("without rules", Scenario::MASQUERADE);
const RULES_25: Named = ("with 25 rules", Scenario::MASQUERADE_25);
const NO_QUEUES: Named = ("without queues", Scenario::MASQUERADE_25);
const QUEUES_25: Named = ("with 25 queues", Scenario::QUEUES_25);
const QUEUES_1K: Named = ("with 1,000 queues", Scenario::QUEUES_1K);

/// Stateless routing of 256 UDP flows by one route, against [`copy_parse`].
fn route(windows: usize) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let mut router = TimedEngine::new(Setup::of(Scenario::ROUTING, Traffic::new(256, true)), tsc)?;
    let next_hop: [u8; 12] = std::array::from_fn(|i| [SINK_MAC, GENERATOR_MAC].as_flattened()[i]);
    against_floor(windows, &mut router, &tsc, "floor/copy-parse", |frames| copy_parse(frames, next_hop))
}

/// A scenario and what it is called in the results.
type Named = (&'static str, Scenario);

/// 4,096 established flows through one scenario and through another one, in turns.
fn in_turns(windows: usize, one: Named, other: Named) -> Result<CaseResult, String> {
    let setup = |scenario| Setup::of(scenario, Traffic::new(4096, false));
    compare(windows, (one.0, setup(one.1)), (other.0, setup(other.1)))
}

/// Measures like [`in_turns`] with 25 rules, the profiler on and off.
fn profiler(windows: usize) -> Result<CaseResult, String> {
    let setup =
        |profiled| Setup { profiled, ..Setup::of(Scenario::MASQUERADE_25, Traffic::new(4096, false)) };
    compare(windows, ("with the profiler", setup(true)), ("without", setup(false)))
}
