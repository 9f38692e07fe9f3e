//! How engine cases are measured: a router in turns with a floor or with another router, in windows.

use crate::clock::{Tsc, Windows, probe};
use crate::pin;
use crate::timed_engine::{Setup, TimedEngine, stage_costs};

/// Batches per window: short enough to fall between two disturbances, long against the clock.
pub const WINDOW: usize = 16;

/// Unit of most cases.
pub const PACKETS: &str = "packets per core-second";

/// The result of a case.
pub struct CaseResult {
    /// Unit of work of the times below.
    pub unit: &'static str,
    /// Time of one, ns.
    pub ours_ns: f64,
    /// Time of one of the baseline's, ns.
    pub baseline_ns: f64,
    /// Lines of text for the reader.
    pub details: Vec<String>,
}

/// A router against the least that any program must do for the same frames.
pub fn against_floor(
    windows: usize,
    router: &mut TimedEngine,
    tsc: &Tsc,
    floor_name: &str,
    mut floor: impl FnMut(&mut [tollway_io::PoolFrame]) -> u64,
) -> Result<CaseResult, String> {
    router.window(WINDOW)?;
    router.floor_window(WINDOW, &mut floor);
    let (mut ours, mut baseline) = (Windows::default(), Windows::default());
    let before = Marks::of(router);
    for _ in 0..windows {
        timed(tsc, &mut ours, || router.window(WINDOW))?;
        timed(tsc, &mut baseline, || Ok(router.floor_window(WINDOW, &mut floor)))?;
    }
    let best = ours.best_probe().min(baseline.best_probe());
    let scale = tsc.nanoseconds_per_tick();
    let ((ours, quiet), (baseline, _)) = (ours.median(best), baseline.median(best));
    let mut details = vec![format!(
        "{:.1} ns a packet, {floor_name} {:.1} ns; {:.0} % of windows quiet",
        ours * scale,
        baseline * scale,
        100.0 * quiet
    )];
    details.extend(before.describe(router, scale));
    Ok(CaseResult { unit: PACKETS, ours_ns: ours * scale, baseline_ns: baseline * scale, details })
}

/// Two routers with their traffic, in turns; each with what it is called in the results.
pub fn compare(windows: usize, one: (&str, Setup), other: (&str, Setup)) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let mut router = TimedEngine::new(one.1, tsc)?;
    let mut reference = TimedEngine::new(other.1, tsc)?;
    router.window(WINDOW)?;
    reference.window(WINDOW)?;
    let (mut ours, mut baseline) = (Windows::default(), Windows::default());
    let (before, before_reference) = (Marks::of(&router), Marks::of(&reference));
    for _ in 0..windows {
        timed(&tsc, &mut baseline, || reference.window(WINDOW))?;
        timed(&tsc, &mut ours, || router.window(WINDOW))?;
    }
    router.check_queues()?;
    reference.check_queues()?;
    let best = ours.best_probe().min(baseline.best_probe());
    let scale = tsc.nanoseconds_per_tick();
    let ((ours, quiet), (baseline, _)) = (ours.median(best), baseline.median(best));
    let mut details = vec![format!(
        "{:.1} ns a packet {}, {:.1} ns {}; {:.0} % of windows quiet",
        ours * scale,
        one.0,
        baseline * scale,
        other.0,
        100.0 * quiet
    )];
    details.extend(before.describe(&router, scale));
    details.extend(
        before_reference.describe(&reference, scale).first().map(|line| format!("{}: {line}", other.0)),
    );
    Ok(CaseResult { unit: PACKETS, ours_ns: ours * scale, baseline_ns: baseline * scale, details })
}

/// Runs a window between two probes, without which the core may have been slow.
pub fn timed(
    tsc: &Tsc,
    windows: &mut Windows,
    window: impl FnOnce() -> Result<f64, String>,
) -> Result<(), String> {
    let preempted = pin::times_preempted();
    let before = probe(tsc);
    let ticks = window()?;
    let worse = before.max(probe(tsc));
    windows.push(if pin::times_preempted() == preempted { worse } else { u64::MAX }, ticks);
    Ok(())
}

/// Counters of a router at one moment.
pub struct Marks {
    stats: tollway_engine::engine::stats::EngineStats,
    allocations: u64,
    forwarded: (u64, u64),
}

impl Marks {
    /// Now.
    pub fn of(router: &TimedEngine) -> Self {
        Self { stats: router.stats(), allocations: router.allocations, forwarded: router.forwarded }
    }

    /// Stages, allocations and the flow cache's share since then.
    pub fn describe(&self, router: &TimedEngine, ns_per_tick: f64) -> Vec<String> {
        let packets = router.forwarded.0 - self.forwarded.0;
        let fast = router.forwarded.1 - self.forwarded.1;
        let allocations = router.allocations - self.allocations;
        let stages = stage_costs(&self.stats, &router.stats(), packets, ns_per_tick);
        let stages: Vec<String> = stages.iter().map(|(name, cost)| format!("{name} {cost:.1}")).collect();
        vec![
            format!("ns per stage, all windows: {}", stages.join(", ")),
            format!(
                "{:.1} % by the flow cache; {allocations} allocations in {packets} packets",
                100.0 * fast as f64 / packets as f64
            ),
        ]
    }
}
