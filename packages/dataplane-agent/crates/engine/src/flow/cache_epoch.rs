//! The cache epoch: a number that changes whenever something changes on which cached actions depend and which
//! [`ChangeCounters`] does not count separately: rules, interfaces, settings, queues and static neighbours. A cached
//! action of another epoch is not used.

use crate::flow::change_counters::{ChangeCounters, Stamp, StampWindow};

/// The epoch and the stamp by which a worker decides whether a cached action is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheEpoch {
    /// Number of the epoch. It changes with every configuration that may lead to other decisions about IPv4; never 0.
    pub number: u32,
    /// Count of changes of routes and lists, read at the start of the batch.
    pub stamp: Stamp,
    window: StampWindow,
}

impl Default for CacheEpoch {
    fn default() -> Self {
        Self { number: 1, stamp: 0, window: StampWindow::default() }
    }
}

impl CacheEpoch {
    /// Begins a new epoch. The caller ends the [flow actions](crate::flow::actions::FlowActions) of the former one, or those
    /// of the family that has other rules.
    pub fn advance(&mut self) {
        self.number = self.number.checked_add(1).unwrap_or(1);
    }

    /// Called at the start of a batch: reads the count of changes. Returns whether a new epoch must begin, because the
    /// stamps no longer tell which flows a change concerns.
    #[inline]
    pub fn follow(&mut self, change_counters: &ChangeCounters) -> bool {
        let count = change_counters.count();
        self.stamp = count as Stamp;
        self.window.follow(count)
    }
}
