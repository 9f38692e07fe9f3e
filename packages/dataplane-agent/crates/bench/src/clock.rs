//! Cycles, and whether the machine is at its full speed.

use std::hint::black_box;
use std::time::Instant;

use tollway_engine::observe::profiler::CycleClock;

/// The time-stamp counter; nanoseconds where there is none.
#[derive(Debug, Clone, Copy)]
pub struct Tsc {
    origin: Instant,
    start: u64,
}

impl Tsc {
    /// A counter whose ticks per second are found by comparing it with the system's clock.
    pub fn new() -> Self {
        let mut tsc = Self { origin: Instant::now(), start: 0 };
        tsc.start = tsc.cycles();
        tsc
    }

    /// Time since [`Self::new`], the same for all copies, ns.
    pub fn elapsed_ns(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    /// Nanoseconds per tick, averaged since [`Self::new`]; call it after a second or so.
    pub fn nanoseconds_per_tick(&self) -> f64 {
        let ticks = self.cycles().wrapping_sub(self.start).max(1);
        self.origin.elapsed().as_nanos() as f64 / ticks as f64
    }
}

impl CycleClock for Tsc {
    #[cfg(target_arch = "x86_64")]
    fn cycles(&self) -> u64 {
        // SAFETY: every x86-64 processor has the instruction.
        unsafe { core::arch::x86_64::_rdtsc() }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn cycles(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}

/// Ticks of a fixed piece of work that needs nothing but this core: a chain of dependent
/// multiplications, some tens of microseconds. Its smallest value is that of the undisturbed core.
pub fn probe(tsc: &Tsc) -> u64 {
    let from = tsc.cycles();
    let mut value = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..10_000 {
        value = value.wrapping_mul(0xd130_2b97_68d5_61f1) ^ 0x5555;
    }
    black_box(value);
    tsc.cycles().wrapping_sub(from)
}

/// Measurements, each with the worse of the probes before and after it; `u64::MAX` stands for a window
/// during which the core was taken away.
#[derive(Debug, Default)]
pub struct Windows(Vec<(u64, f64)>);

/// Most a probe may be slower than the best for its window to count, as a factor.
const QUIET: f64 = 1.03;

impl Windows {
    /// Adds a window.
    pub fn push(&mut self, probe: u64, ticks_per_packet: f64) {
        self.0.push((probe, ticks_per_packet));
    }

    /// Ticks per packet: the median over the quiet windows, and the share of windows that were quiet.
    /// `best` is the smallest probe of the whole run.
    pub fn median(&self, best: u64) -> (f64, f64) {
        let mut values: Vec<f64> = self.quiet(best).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.get(values.len() / 2).copied().unwrap_or(f64::NAN);
        (middle, values.len() as f64 / self.0.len().max(1) as f64)
    }

    /// Windows that were quiet, as in [`Self::median`].
    pub fn count(&self, best: u64) -> usize {
        self.quiet(best).count()
    }

    fn quiet(&self, best: u64) -> impl Iterator<Item = f64> {
        let quiet = move |probe: u64| probe as f64 <= best as f64 * QUIET;
        self.0.iter().filter(move |(probe, _)| quiet(*probe)).map(|(_, value)| *value)
    }

    /// The smallest probe.
    pub fn best_probe(&self) -> u64 {
        self.0.iter().map(|(probe, _)| *probe).min().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_quiet_windows_count() {
        let mut windows = Windows::default();
        for (probe, value) in [(100, 10.0), (102, 11.0), (150, 900.0), (101, 12.0), (200, 901.0)] {
            windows.push(probe, value);
        }
        assert_eq!(windows.best_probe(), 100);
        assert_eq!(windows.median(100), (11.0, 0.6));
        assert_eq!((windows.count(100), windows.count(150)), (3, 4));
    }
}
