//! Source NAT when no port is left.

use std::net::Ipv4Addr;

use tollway_engine::pipeline::batch::BATCH;
use tollway_wire::tcp::flag;

use crate::clock::{Tsc, Windows};
use crate::measure::{CaseResult, WINDOW, timed};
use crate::packet::{Ends, FRAME, bare_tcp};
use crate::scenario::{DESTINATIONS, SOURCES, Scenario};
use crate::timed_engine::{LAN_PORT, Setup, TimedEngine, stage_costs};
use crate::traffic::{GENERATOR_MAC, LAN_PORT_MAC, Traffic};

/// Most time for a refused packet, ns.
const ALLOWED_NS: f64 = 2000.0;
/// Ports that masquerade gives to clients whose own are 1024 or higher: of these to one destination.
const PORTS: usize = 65_536 - 1024;
/// Different connections, each from an address of its own: all of 172.16.0.0/12.
const CONNECTIONS: u32 = 1 << 20;
/// Drop reason of a refused packet.
const REASON: &str = "nat-exhausted";

/// First packets of connections to a destination to which every port of the router's address is taken, through 25 rules
/// and masquerade. No time passes, so none is given back. All of them must be refused, for that reason.
pub fn exhausted(windows: usize) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let mut router = TimedEngine::new(Setup::of(Scenario::MASQUERADE_25, Traffic::new(0, false)), tsc)?;
    let mut callers = Callers::default();
    let mut taken = 0;
    while taken < PORTS {
        let offered = BATCH.min(PORTS - taken);
        callers.send(&mut router, offered);
        if callers.left.len() != offered {
            return Err(format!("{taken} of {PORTS} ports are taken, the next {offered} were refused"));
        }
        taken += offered;
    }
    callers.send(&mut router, BATCH);
    let (before, refused, allocations) = (router.stats(), refusals(&router), router.allocations);
    let mut times = Windows::default();
    for _ in 0..windows {
        timed(&tsc, &mut times, || {
            let ticks: u64 = (0..WINDOW).map(|_| callers.send(&mut router, BATCH)).sum();
            Ok(ticks as f64 / (WINDOW * BATCH) as f64)
        })?;
    }
    let packets = (windows * WINDOW * BATCH) as u64;
    let refused = refusals(&router) - refused;
    if refused != packets {
        return Err(format!("{refused} of {packets} packets were refused: {}", router.drops()));
    }
    let scale = tsc.nanoseconds_per_tick();
    let (ticks, quiet) = times.median(times.best_probe());
    let stages = stage_costs(&before, &router.stats(), packets, scale);
    let stages: Vec<String> = stages.iter().map(|(name, cost)| format!("{name} {cost:.1}")).collect();
    let details = vec![
        format!(
            "{:.0} ns a refused packet, {ALLOWED_NS:.0} ns allowed; {:.0} % of windows quiet; {} connections in the table",
            ticks * scale,
            100.0 * quiet,
            router.stats().connections_ip4
        ),
        format!("ns per stage, all windows: {}", stages.join(", ")),
        format!("{} allocations in {packets} packets", router.allocations - allocations),
    ];
    Ok(CaseResult {
        unit: "refused packets per core-second",
        ours_ns: ticks * scale,
        baseline_ns: ALLOWED_NS,
        details,
    })
}

/// Packets dropped because there was no port.
fn refusals(router: &TimedEngine) -> u64 {
    let drops = router.stats().drop_stats();
    drops.iter().find(|drop| drop.reason == REASON).map_or(0, |drop| drop.packets)
}

/// Hosts of which each opens one connection, all to one server.
#[derive(Default)]
struct Callers {
    next: u32,
    sent: Vec<[u8; FRAME]>,
    left: Vec<[u8; FRAME]>,
}

impl Callers {
    /// So many connections' first packets in one batch; returns ticks spent with them.
    fn send(&mut self, router: &mut TimedEngine, count: usize) -> u64 {
        self.sent.clear();
        for _ in 0..count {
            self.sent.push(bare_tcp(&ends(self.next), flag::SYN, 1000, 0));
            // Those that have a port do not call again.
            self.next = if self.next + 1 == CONNECTIONS { PORTS as u32 } else { self.next + 1 };
        }
        router.offer(LAN_PORT, &self.sent, &mut self.left)
    }
}

fn ends(caller: u32) -> Ends {
    Ends {
        source_mac: GENERATOR_MAC,
        destination_mac: LAN_PORT_MAC,
        source: Ipv4Addr::from_bits(SOURCES.to_bits() + caller),
        destination: DESTINATIONS,
        source_port: 1024 + (caller.wrapping_mul(40_503) % PORTS as u32) as u16,
        destination_port: 443,
    }
}
