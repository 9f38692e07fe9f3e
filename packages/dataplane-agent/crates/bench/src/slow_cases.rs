//! What the rules cost where they are asked: for every packet, and for the packets of connections that come
//! and go.

use tollway_config::dataplane::{Chain, Rule};
use tollway_engine::pipeline::batch::BATCH;
use tollway_wire::tcp::flag;

use crate::clock::{Tsc, Windows};
use crate::measure::{CaseResult, Marks, compare, timed};
use crate::packet::{FRAME, answering, bare_tcp};
use crate::scenario::{Scenario, filter_10k as rules_10k};
use crate::timed_engine::{LAN_PORT, Setup, TimedEngine, WAN_PORT};
use crate::traffic::{Traffic, ends};

/// Established flows of the cases without new connections.
const FLOWS: u32 = 4096;
/// Time that passes with each batch of connections, ns: one turn of the timers, so that with each batch that
/// begins one ends. About 25,600 connections are in the table, most of them closed ten seconds ago or less.
const ROUND_NS: u64 = 100_000_000;
/// Batches of connections before the first is measured: until as many end as begin.
const WARM_UP: usize = 120;
/// Different connections.
const CONNECTIONS: u32 = 1 << 18;

/// Masquerade with the rules of `forward`, or those of the 25.
fn setup(scenario: Scenario, rules: Option<Vec<Rule>>, cached: bool, flows: u32) -> Setup {
    let mut setup = Setup::of(scenario, Traffic::new(flows, false));
    if let Some(rules) = rules {
        setup.config.filter = vec![Chain { name: "forward".to_owned(), rules }];
    }
    setup.config.settings.allow_fast_path = cached;
    setup
}

/// 10,000 rules against none, established flows.
pub fn filter_10k(windows: usize) -> Result<CaseResult, String> {
    compare(
        windows,
        ("with 10,000 rules", setup(Scenario::MASQUERADE, Some(rules_10k()), true, FLOWS)),
        ("without rules", setup(Scenario::MASQUERADE, None, true, FLOWS)),
    )
}

/// 25 rules asked for every packet, against the flow cache.
pub fn slow_25(windows: usize) -> Result<CaseResult, String> {
    compare(
        windows,
        ("every packet through the rules", setup(Scenario::MASQUERADE_25, None, false, FLOWS)),
        ("with the flow cache", setup(Scenario::MASQUERADE_25, None, true, FLOWS)),
    )
}

/// 10,000 rules asked for every packet, against 25.
pub fn slow_10k(windows: usize) -> Result<CaseResult, String> {
    compare(
        windows,
        ("with 10,000 rules", setup(Scenario::MASQUERADE, Some(rules_10k()), false, FLOWS)),
        ("with 25 rules", setup(Scenario::MASQUERADE_25, None, false, FLOWS)),
    )
}

/// New connections through 25 rules and masquerade, against connections that are only tracked.
pub fn cps_25(windows: usize) -> Result<CaseResult, String> {
    let tracking = Scenario { masquerade: false, ..Scenario::MASQUERADE };
    connections(
        windows,
        ("with 25 rules and masquerade", setup(Scenario::MASQUERADE_25, None, true, 0)),
        ("only tracked", setup(tracking, None, true, 0)),
    )
}

/// New connections through 10,000 rules, against 25.
pub fn cps_10k(windows: usize) -> Result<CaseResult, String> {
    connections(
        windows,
        ("with 10,000 rules", setup(Scenario::MASQUERADE, Some(rules_10k()), true, 0)),
        ("with 25 rules", setup(Scenario::MASQUERADE_25, None, true, 0)),
    )
}

/// Connections in turns through two routers: each is opened by three segments and closed by three (FIN of both
/// sides), without data, and is forgotten when its time in the table is over. All of it is measured.
fn connections(windows: usize, one: (&str, Setup), other: (&str, Setup)) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let mut ours = Caller::new(one.1, tsc)?;
    let mut reference = Caller::new(other.1, tsc)?;
    let (mut times, mut baseline) = (Windows::default(), Windows::default());
    let (before, before_reference) = (Marks::of(&ours.router), Marks::of(&reference.router));
    for _ in 0..windows {
        timed(&tsc, &mut baseline, || reference.round())?;
        timed(&tsc, &mut times, || ours.round())?;
    }
    let best = times.best_probe().min(baseline.best_probe());
    let scale = tsc.nanoseconds_per_tick();
    let ((ticks, quiet), (ticks_reference, _)) = (times.median(best), baseline.median(best));
    let mut details = vec![format!(
        "{:.0} ns a connection {}, {:.0} ns {}; {:.0} % of windows quiet; {} connections in the table",
        ticks * scale,
        one.0,
        ticks_reference * scale,
        other.0,
        100.0 * quiet,
        ours.router.stats().connections_ip4
    )];
    details.extend(before.describe(&ours.router, scale));
    details.extend(
        before_reference
            .describe(&reference.router, scale)
            .first()
            .map(|line| format!("{}: {line}", other.0)),
    );
    Ok(CaseResult {
        unit: "connections per core-second",
        ours_ns: ticks * scale,
        baseline_ns: ticks_reference * scale,
        details,
    })
}

/// A router and both ends of the connections through it.
struct Caller {
    router: TimedEngine,
    next: u32,
    sent: Vec<[u8; FRAME]>,
    left: Vec<[u8; FRAME]>,
}

impl Caller {
    fn new(setup: Setup, tsc: Tsc) -> Result<Self, String> {
        let router = TimedEngine::new(setup, tsc)?;
        let room = || Vec::with_capacity(BATCH);
        let mut caller = Self { router, next: 0, sent: room(), left: room() };
        for _ in 0..WARM_UP {
            caller.round()?;
        }
        Ok(caller)
    }

    /// A batch of connections from the first segment to the last; returns ticks per connection.
    fn round(&mut self) -> Result<f64, String> {
        let first = self.next;
        self.next = (first + BATCH as u32) % CONNECTIONS;
        // Without a source that is shared by many, the port can be kept: even numbers are TCP's.
        let client = |i: u32| ends(2 * (first + i));
        let mut ticks = self.send(LAN_PORT, |i| Some(bare_tcp(&client(i), flag::SYN, 1000, 0)))?;
        let servers: Vec<_> = self.left.iter().map(|frame| answering(frame)).collect();
        let server = |i: u32| servers.get(i as usize).copied().flatten();
        let (ack, fin) = (flag::ACK, flag::FIN | flag::ACK);
        ticks += self.send(WAN_PORT, |i| Some(bare_tcp(&server(i)?, flag::SYN | ack, 5000, 1001)))?;
        ticks += self.send(LAN_PORT, |i| Some(bare_tcp(&client(i), ack, 1001, 5001)))?;
        ticks += self.send(LAN_PORT, |i| Some(bare_tcp(&client(i), fin, 1001, 5001)))?;
        ticks += self.send(WAN_PORT, |i| Some(bare_tcp(&server(i)?, fin, 5001, 1002)))?;
        ticks += self.send(LAN_PORT, |i| Some(bare_tcp(&client(i), ack, 1002, 5002)))?;
        ticks += self.router.wait(ROUND_NS);
        Ok(ticks as f64 / BATCH as f64)
    }

    fn send(&mut self, port: u16, frame: impl Fn(u32) -> Option<[u8; FRAME]>) -> Result<u64, String> {
        self.sent.clear();
        self.sent.extend((0..BATCH as u32).filter_map(frame));
        self.router.exchange(port, &self.sent, &mut self.left)
    }
}
