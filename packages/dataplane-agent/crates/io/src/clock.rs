//! Time: the monotonic clock, the wall clock, the cycle counter and a thread's CPU time.

use std::time::{SystemTime, UNIX_EPOCH};

use tollway_engine::observe::profiler::CycleClock;
use tollway_engine::time::Now;

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result; the clocks used here always exist.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// `CLOCK_MONOTONIC`, ns. It is the origin of every [`Now`] of the agent.
#[inline]
pub fn now() -> Now {
    Now(read(libc::CLOCK_MONOTONIC))
}

/// CPU time of the calling thread, ns. A system call.
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Wall clock, ms since 1970.
pub fn wall_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// The cycle counter: the TSC on x86-64, the virtual counter on AArch64.
///
/// A thread may be migrated to another core between two readings. The virtual counter is the same on all cores. So in
/// effect is an invariant TSC that is synchronised between cores, which Linux checks before it uses it as its clock
/// source. Otherwise a step back counts as zero, since differences saturate, and a step forward is deducted from the
/// busy time when that is compared with the CPU clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tsc;

impl CycleClock for Tsc {
    #[inline]
    fn cycles(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: every x86-64 processor has the instruction, and Linux allows it in user mode.
            unsafe { core::arch::x86_64::_rdtsc() }
        }
        #[cfg(target_arch = "aarch64")]
        {
            let count: u64;
            // SAFETY: reading the virtual counter has no side effect and Linux allows it in user mode.
            unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack)) };
            count
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            read(libc::CLOCK_MONOTONIC)
        }
    }
}

/// Ticks and nanoseconds read together, from which the tick rate follows.
#[derive(Debug, Clone, Copy)]
pub struct TickOrigin {
    ticks: u64,
    ns: u64,
}

impl TickOrigin {
    /// Reads both.
    pub fn new() -> Self {
        Self { ns: now().0, ticks: Tsc.cycles() }
    }

    /// Ticks since the origin.
    pub fn ticks(&self) -> u64 {
        Tsc.cycles().saturating_sub(self.ticks)
    }

    /// Ticks per second. The accuracy grows with the time since the origin; after 10 ms it is about 10⁻³.
    pub fn hz(&self) -> u64 {
        let ns = now().0.saturating_sub(self.ns).max(1);
        (u128::from(self.ticks()) * 1_000_000_000 / u128::from(ns)) as u64
    }
}

impl Default for TickOrigin {
    fn default() -> Self {
        Self::new()
    }
}
