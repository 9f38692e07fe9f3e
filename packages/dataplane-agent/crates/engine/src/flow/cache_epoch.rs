//! What cached decisions rest on beside the tables that change by themselves: the rules, interfaces,
//! settings, queues and static neighbours of the configuration.

use crate::flow::epochs::{Epochs, Era, Stamp};

/// What a worker compares cached decisions with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheEpoch {
    /// Changes with every configuration that decides otherwise than the one before; never 0.
    pub number: u32,
    /// Changes of routes and lists, as they were counted at the start of the batch.
    pub stamp: Stamp,
    era: Era,
}

impl Default for CacheEpoch {
    fn default() -> Self {
        Self { number: 1, stamp: 0, era: Era::default() }
    }
}

impl CacheEpoch {
    /// Every flow is decided anew.
    pub fn renew(&mut self) {
        self.number = self.number.checked_add(1).unwrap_or(1);
    }

    /// At the start of a batch: what has changed meanwhile. `true` when everything has, so that every flow is decided
    /// anew.
    #[inline]
    pub fn follow(&mut self, epochs: &Epochs) -> bool {
        let count = epochs.count();
        self.stamp = count as Stamp;
        let all = self.era.follow(count);
        if all {
            self.renew();
        }
        all
    }
}
