//! The cache epoch: a number that changes with everything cached actions depend on and that is not counted on its own
//! in [`ChangeCounters`]: rules, interfaces, settings, queues and static neighbours. An action of another epoch is not used.

use crate::flow::change_counters::{ChangeCounters, Stamp, StampWindow};

/// The numbers by which a worker decides whether a cached action is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheEpoch {
    /// Changes with every configuration that decides otherwise than the one before; never 0.
    pub number: u32,
    /// Changes of routes and lists, as they were counted at the start of the batch.
    pub stamp: Stamp,
    window: StampWindow,
}

impl Default for CacheEpoch {
    fn default() -> Self {
        Self { number: 1, stamp: 0, window: StampWindow::default() }
    }
}

impl CacheEpoch {
    /// Begins a new epoch: every cached action becomes invalid.
    pub fn advance(&mut self) {
        self.number = self.number.checked_add(1).unwrap_or(1);
    }

    /// At the start of a batch: reads the counts of changes. `true` when a new epoch began, because no count says which
    /// flows a change concerns.
    #[inline]
    pub fn follow(&mut self, change_counters: &ChangeCounters) -> bool {
        let count = change_counters.count();
        self.stamp = count as Stamp;
        let all = self.window.follow(count);
        if all {
            self.advance();
        }
        all
    }
}
