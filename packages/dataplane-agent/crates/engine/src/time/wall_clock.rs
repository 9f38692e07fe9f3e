//! The time of day, which the caller sets, since the engine has no clock of its own.

use std::sync::atomic::{AtomicI64, Ordering};

use super::Now;

/// The offset of the wall clock from the clock of [`Now`], which all workers share.
#[derive(Debug, Default)]
pub struct WallClock {
    /// Wall clock minus the clock of [`Now`], ns.
    offset_ns: AtomicI64,
}

impl WallClock {
    /// Sets the wall clock time at `now`, ns since 1970 UTC. To be called again from time to time, since the wall clock
    /// may be changed.
    pub fn set(&self, now: Now, utc_ns: i64) {
        self.offset_ns.store(utc_ns.wrapping_sub_unsigned(now.0), Ordering::Relaxed);
    }

    /// Wall clock minus the clock of [`Now`], ns.
    pub(crate) fn offset_ns(&self) -> i64 {
        self.offset_ns.load(Ordering::Relaxed)
    }

    /// A copy in its present state.
    pub(crate) fn copy(&self) -> Self {
        Self { offset_ns: AtomicI64::new(self.offset_ns()) }
    }
}
