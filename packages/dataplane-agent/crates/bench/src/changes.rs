//! Forwarding while another core changes tables that workers read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::clock::{Tsc, Windows};
use crate::measure::{CaseResult, Marks, PACKETS, WINDOW, timed};
use crate::pin;
use crate::timed_engine::TimedEngine;

/// Another core's changes while tables are used.
#[derive(Default)]
pub struct Changing {
    running: AtomicBool,
    over: AtomicBool,
    done: AtomicU64,
    /// CPU time that they took, ns.
    spent: AtomicU64,
}

impl Changing {
    /// Calls `change` as often as possible while changes are on; it returns how much it changed.
    pub fn keep_on(&self, mut change: impl FnMut() -> Result<u64, String>) -> Result<(), String> {
        while !self.over.load(Ordering::Relaxed) {
            if self.running.load(Ordering::Acquire) {
                self.done.fetch_add(change()?, Ordering::Relaxed);
            } else {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Keeps on like [`Self::keep_on`], with so many calls a second.
    pub fn keep_pace(
        &self,
        rate: f64,
        mut change: impl FnMut() -> Result<u64, String>,
    ) -> Result<(), String> {
        let (mut began, mut called) = (None, 0.0);
        while !self.over.load(Ordering::Relaxed) {
            if !self.running.load(Ordering::Acquire) {
                began = None;
                std::thread::yield_now();
                continue;
            }
            let since = *began.get_or_insert_with(|| {
                called = 0.0;
                Instant::now()
            });
            if called < since.elapsed().as_secs_f64() * rate {
                called += 1.0;
                self.done.fetch_add(change()?, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Adds what `change` takes to the time that changes took.
    pub fn timed<R>(&self, change: impl FnOnce() -> R) -> R {
        let before = thread_time();
        let result = change();
        self.spent.fetch_add(thread_time() - before, Ordering::Relaxed);
        result
    }
}

/// CPU time of the calling thread (clock_gettime(2), CLOCK_THREAD_CPUTIME_ID), ns.
fn thread_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Forwarding while `writer` changes tables on another core, against forwarding while nothing changes, in turns. The
/// latter is done by `reference`, where changes leave work to do also when they are over.
pub fn while_changing(
    windows: usize,
    router: &mut TimedEngine,
    mut reference: Option<&mut TimedEngine>,
    tsc: Tsc,
    writer: impl FnOnce(&Changing) -> Result<(), String> + Send,
) -> Result<CaseResult, String> {
    let changing = Changing::default();
    let (mut ours, mut baseline) = (Windows::default(), Windows::default());
    let mut running = Duration::ZERO;
    router.window(WINDOW)?;
    if let Some(reference) = &mut reference {
        reference.window(WINDOW)?;
    }
    let (before, cached_before) = (Marks::of(router), router.forwarded);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            pin::first_in_line();
            pin::to_cpu(0)?;
            writer(&changing)
        });
        let mut measure = || {
            for _ in 0..windows {
                let unchanged = reference.as_deref_mut().unwrap_or(router);
                timed(&tsc, &mut baseline, || unchanged.window(WINDOW))?;
                changing.running.store(true, Ordering::Release);
                let began = Instant::now();
                timed(&tsc, &mut ours, || router.window(WINDOW))?;
                changing.running.store(false, Ordering::Release);
                running += began.elapsed();
            }
            Ok::<(), String>(())
        };
        let measured = measure();
        changing.over.store(true, Ordering::Relaxed);
        let written = writer.join().map_err(|_| "the writer panicked".to_owned())?;
        measured.and(written)
    })?;
    let best = ours.best_probe().min(baseline.best_probe());
    let scale = tsc.nanoseconds_per_tick();
    let ((ours, quiet), (baseline, _)) = (ours.median(best), baseline.median(best));
    let (done, spent) = (changing.done.into_inner(), changing.spent.into_inner());
    let mut details = vec![format!(
        "{:.0} thousand changes a second ({done} in all), {:.2} million a second of the other core's time; {:.1} ns a packet meanwhile, {:.1} ns without; {:.0} % of windows quiet",
        done as f64 / 1e3 / running.as_secs_f64(),
        done as f64 * 1e3 / spent.max(1) as f64,
        ours * scale,
        baseline * scale,
        100.0 * quiet
    )];
    // Allocations are counted for the whole process, the other thread's lists of changes among them.
    details.extend(before.describe(router, scale).into_iter().take(1));
    let cached =
        (router.forwarded.1 - cached_before.1) as f64 / (router.forwarded.0 - cached_before.0) as f64;
    details.push(format!("{:.1} % by the flow cache", 100.0 * cached));
    Ok(CaseResult { unit: PACKETS, ours_ns: ours * scale, baseline_ns: baseline * scale, details })
}
