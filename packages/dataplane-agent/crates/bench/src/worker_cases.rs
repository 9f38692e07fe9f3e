//! Cases with two workers, each a thread on a core of its own, joined by the rings that the agent uses.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tollway_engine::observe::profiler::CycleClock;
use tollway_worker::handover_ring;

use crate::clock::{Tsc, Windows, probe};
use crate::measure::{CaseResult, PACKETS};
use crate::pin;
use crate::scenario::Scenario;
use crate::timed_engine::{Links, Setup, TimedEngine};
use crate::traffic::Traffic;

/// Flows of each worker.
const FLOWS: usize = 4096;
/// Turns per window: half a millisecond of both cores, which is rarely disturbed as a whole.
const WINDOW: usize = 8;
/// Windows measured before the other arrangement has its turn.
const SLICE: usize = 50;
/// Quiet windows of each arrangement without which a case goes on, and for how long at most.
const ENOUGH: usize = 40;
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Every packet arrives at the worker that does not own its flow, against every packet at its owner.
pub fn handover_all(windows: usize) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let (mut crossed, mut straight) = (Group::new(2, tsc)?, Group::new(2, tsc)?);
    crossed.cross();
    let (ours, baseline) = in_turns(windows, (&mut crossed, 2), (&mut straight, 2), &tsc)?;
    let journey = journey(&tsc)? * tsc.nanoseconds_per_tick();
    let mut result = finish(&tsc, ("when each changes its worker", ours), ("when none does", baseline))?;
    result.details.push(format!("a word takes {journey:.0} ns from one core to the other"));
    Ok(result)
}

/// Ticks that a word takes from one core to another: where a virtual machine's cores lie makes a difference of
/// several times. The best of many rounds.
fn journey(tsc: &Tsc) -> Result<f64, String> {
    const ROUNDS: u64 = 200;
    const JOURNEYS: u64 = 100;
    #[repr(align(128))]
    struct Alone(AtomicU64);
    let (there, back) = (Alone(AtomicU64::new(0)), Alone(AtomicU64::new(0)));
    pin::first_in_line();
    pin::to_cpu(0)?;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            pin::to_cpu(1)?;
            for number in 1..=ROUNDS * JOURNEYS {
                while there.0.load(Ordering::Acquire) < number {
                    std::hint::spin_loop();
                }
                back.0.store(number, Ordering::Release);
            }
            Ok::<_, String>(())
        });
        let mut best = u64::MAX;
        for round in 0..ROUNDS {
            let from = tsc.cycles();
            for number in 1..=JOURNEYS {
                there.0.store(round * JOURNEYS + number, Ordering::Release);
                while back.0.load(Ordering::Acquire) < round * JOURNEYS + number {
                    if other.is_finished() && back.0.load(Ordering::Acquire) < round * JOURNEYS + number {
                        return Err("there is no second core".to_owned());
                    }
                    std::hint::spin_loop();
                }
            }
            best = best.min(tsc.cycles().wrapping_sub(from));
        }
        Ok(best as f64 / (2 * JOURNEYS) as f64)
    })
}

/// Two workers with flows of their own, against one.
pub fn two_workers(windows: usize) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let (mut two, mut one) = (Group::new(2, tsc)?, Group::new(2, tsc)?);
    let (ours, baseline) = in_turns(windows, (&mut two, 2), (&mut one, 1), &tsc)?;
    let wall = ours.packets / ours.seconds / (baseline.packets / baseline.seconds);
    let mut result = finish(&tsc, ("with two workers", ours), ("with one", baseline))?;
    result
        .details
        .push(format!("by the clock, generator included: {wall:.2} times the packets of one worker"));
    Ok(result)
}

/// Two workers whose subscribers have leaves below the same root, against one. No limit is reached.
pub fn htb_two_workers(windows: usize) -> Result<CaseResult, String> {
    let tsc = Tsc::new();
    let setup = |worker| crate::queue_cases::tree_of_several(worker, 2);
    let group = || Group::of((0..2).map(setup).collect(), tsc);
    let (mut two, mut one) = (group()?, group()?);
    let (ours, baseline) = in_turns(windows, (&mut two, 2), (&mut one, 1), &tsc)?;
    let wall = ours.packets / ours.seconds / (baseline.packets / baseline.seconds);
    let mut result = finish(&tsc, ("with two workers", ours), ("with one", baseline))?;
    let waited: u64 = two.workers.iter().map(|(router, _)| router.waiting.1).sum();
    result.details.push(format!(
        "by the clock, generator included: {wall:.2} times the packets of one worker; {waited} packets had to wait"
    ));
    Ok(result)
}

/// Lets so many workers of two groups run in turns: for as many windows as asked for, and on until enough of both
/// were quiet.
fn in_turns(
    windows: usize,
    (ours, count): (&mut Group, usize),
    (baseline, baseline_count): (&mut Group, usize),
    tsc: &Tsc,
) -> Result<(Measured, Measured), String> {
    let began = Instant::now();
    let mut measured = (Measured::default(), Measured::default());
    for slice in 0.. {
        let best = measured.0.windows.best_probe().min(measured.1.windows.best_probe());
        let fewest = measured.0.windows.count(best).min(measured.1.windows.count(best));
        let over = fewest >= ENOUGH || began.elapsed() > TIME_LIMIT;
        if slice >= windows.div_ceil(SLICE) && over {
            break;
        }
        baseline.run(baseline_count, tsc, &mut measured.1)?;
        ours.run(count, tsc, &mut measured.0)?;
    }
    Ok(measured)
}

/// ns of a core per packet with so many workers, each with flows of its own.
pub fn cost(workers: usize, windows: usize) -> Result<f64, String> {
    let tsc = Tsc::new();
    let mut group = Group::new(workers, tsc)?;
    let mut measured = Measured::default();
    for _ in 0..windows.div_ceil(SLICE) {
        group.run(workers, &tsc, &mut measured)?;
    }
    let best = measured.windows.best_probe();
    Ok(measured.windows.median(best).0 * tsc.nanoseconds_per_tick())
}

/// Times of the workers of one arrangement.
#[derive(Default)]
struct Measured {
    windows: Windows,
    packets: f64,
    seconds: f64,
}

fn finish(tsc: &Tsc, ours: (&str, Measured), baseline: (&str, Measured)) -> Result<CaseResult, String> {
    let best = ours.1.windows.best_probe().min(baseline.1.windows.best_probe());
    let scale = tsc.nanoseconds_per_tick();
    let (ticks, quiet) = ours.1.windows.median(best);
    let (baseline_ticks, _) = baseline.1.windows.median(best);
    let (ours_ns, baseline_ns) = (ticks * scale, baseline_ticks * scale);
    if !(ours_ns.is_finite() && baseline_ns.is_finite()) {
        return Err("the machine never held still".to_owned());
    }
    let details = vec![format!(
        "{ours_ns:.1} ns of a core a packet {}, {baseline_ns:.1} ns {}; {:.0} % of windows quiet",
        ours.0,
        baseline.0,
        100.0 * quiet
    )];
    Ok(CaseResult { unit: PACKETS, ours_ns, baseline_ns, details })
}

/// The workers of a router, with connection tracking, masquerade and 25 rules. Each one's rings lead to the next
/// one and come from the one before.
struct Group {
    workers: Vec<(TimedEngine, Links)>,
}

impl Group {
    fn new(count: usize, tsc: Tsc) -> Result<Self, String> {
        let setup =
            |worker| Setup::of(Scenario::MASQUERADE_25, Traffic::steered(FLOWS, worker, count as u32));
        Self::of((0..count as u32).map(setup).collect(), tsc)
    }

    fn of(setups: Vec<Setup>, tsc: Tsc) -> Result<Self, String> {
        let count = setups.len();
        let routers = TimedEngine::several(setups, tsc)?;
        let (outs, mut inbounds): (Vec<_>, Vec<_>) = (0..count).map(|_| handover_ring::channel()).unzip();
        inbounds.rotate_right(1);
        let links = outs.into_iter().zip(inbounds).map(|(out, inbound)| Links { out, inbound });
        Ok(Self { workers: routers.into_iter().zip(links).collect() })
    }

    /// Lets each worker receive the other one's flows.
    fn cross(&mut self) {
        if let [(first, _), (second, _)] = self.workers.as_mut_slice() {
            let flows = first.feed(Traffic::steered(0, 0, 2));
            first.feed(second.feed(flows));
        }
    }

    /// Lets the first `count` workers run for [`SLICE`] windows. Ticks of a window are per packet that left the
    /// router, of both workers together.
    fn run(&mut self, count: usize, tsc: &Tsc, into: &mut Measured) -> Result<(), String> {
        let start = Barrier::new(count);
        let over = AtomicBool::new(false);
        let results = std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .workers
                .iter_mut()
                .take(count)
                .enumerate()
                .map(|(cpu, (router, links))| {
                    let (start, over) = (&start, &over);
                    scope.spawn(move || {
                        pin::first_in_line();
                        let pinned = pin::to_cpu(cpu);
                        start.wait();
                        let result = pinned.and_then(|()| work(router, links, tsc, over));
                        over.store(true, Ordering::Relaxed);
                        result
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
        });
        let mut seconds: f64 = 0.0;
        for result in results {
            let slice = result.map_err(|_| "a worker panicked".to_owned())??;
            for (probe, ticks) in slice.windows {
                into.windows.push(probe, ticks);
            }
            into.packets += slice.packets as f64;
            seconds = seconds.max(slice.seconds);
        }
        into.seconds += seconds;
        // Packets that are still in the rings are counted in neither measurement.
        for _ in 0..2 * handover_ring::DEPTH / tollway_engine::pipeline::batch::BATCH {
            for (router, links) in self.workers.iter_mut().take(count) {
                router.turn(links, false)?;
            }
        }
        Ok(())
    }
}

/// A worker's part of a slice.
struct Slice {
    windows: Vec<(u64, f64)>,
    packets: u64,
    seconds: f64,
}

fn work(router: &mut TimedEngine, links: &mut Links, tsc: &Tsc, over: &AtomicBool) -> Result<Slice, String> {
    let mut slice = Slice { windows: Vec::with_capacity(SLICE), packets: 0, seconds: 0.0 };
    let began = Instant::now();
    for _ in 0..SLICE {
        let preempted = pin::times_preempted();
        let before = probe(tsc);
        let (mut ticks, mut finished, mut busy) = (0, 0, 0);
        while busy < WINDOW {
            // Without the other one there is nobody to hand packets to.
            if over.load(Ordering::Relaxed) {
                slice.seconds = began.elapsed().as_secs_f64();
                return Ok(slice);
            }
            let turn = router.turn(links, true)?;
            ticks += turn.ticks;
            finished += turn.finished;
            slice.packets += turn.finished;
            if turn.ticks == 0 {
                std::hint::spin_loop();
            } else {
                busy += 1;
            }
        }
        let worse = before.max(probe(tsc));
        let probe = if pin::times_preempted() == preempted { worse } else { u64::MAX };
        if finished > 0 {
            slice.windows.push((probe, ticks as f64 / finished as f64));
        }
    }
    slice.seconds = began.elapsed().as_secs_f64();
    Ok(slice)
}
