//! What the workers share of their queues.

use crate::qos::htb::SharedTrees;
use crate::qos::ownership::Ownerships;
use crate::qos::queues::change_progress::ChangeProgress;

/// State of the queues that all workers share.
#[derive(Debug)]
pub struct SharedQueues {
    /// Owners of rows.
    pub ownerships: Ownerships,
    /// Tokens of trees.
    pub shared_trees: SharedTrees,
    /// Progress of every worker with the queue-configuration change.
    pub progress: ChangeProgress,
}

impl SharedQueues {
    /// Shared state of `workers` workers.
    pub fn new(workers: u32) -> Self {
        let (ownerships, shared_trees) = Default::default();
        Self { ownerships, shared_trees, progress: ChangeProgress::new(workers) }
    }
}
