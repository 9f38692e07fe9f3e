//! How far each worker is with the change to another queue configuration, see `ordered_change`.

use std::sync::{Arc, PoisonError};

use crate::qos::classify::QueueTable;
use crate::qos::forest::Forest;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};

/// Progress of every worker with the queue-configuration change.
#[derive(Debug)]
pub struct ChangeProgress {
    workers: Vec<WorkerProgress>,
    /// Tables that no worker reads any more, to be freed by a thread that is not a worker.
    retired: Mutex<Vec<Tables>>,
}

/// Forest and classification of a configuration.
pub(super) type Tables = (Arc<Forest>, Arc<QueueTable>);

/// Progress of a worker with the queue-configuration change.
#[derive(Debug)]
struct WorkerProgress {
    /// The epoch of the configuration, above eight bits for the lowest phase of which, as of all phases above, the
    /// worker has sent all packets.
    word: AtomicU64,
    /// Packets that it had handed over to each worker by then, for a leaf there.
    departed: Vec<AtomicU64>,
    /// Packets for a leaf here that came from each worker.
    arrived: Vec<AtomicU64>,
}

impl ChangeProgress {
    /// Progress of `workers` workers.
    pub fn new(workers: u32) -> Self {
        let counts = || (0..workers).map(|_| AtomicU64::new(0)).collect();
        let progress = |_| WorkerProgress { word: AtomicU64::new(0), departed: counts(), arrived: counts() };
        Self { workers: (0..workers).map(progress).collect(), retired: Mutex::new(Vec::new()) }
    }

    /// Frees the retired tables. A worker does not call this: freeing large ones takes long.
    pub fn free_retired(&self) {
        let retired = std::mem::take(&mut *self.retired.lock().unwrap_or_else(PoisonError::into_inner));
        drop(retired);
    }

    /// Keeps the tables of a former configuration until they are dropped off the packet path.
    pub(super) fn retire(&self, tables: Tables) {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner).push(tables);
    }

    /// Publishes the progress of a worker: the epoch, the lowest phase whose packets it has sent, and the number of
    /// packets that it has handed over to each worker.
    pub(super) fn announce(&self, worker: u32, epoch: u32, phase: u8, departed: &[u64]) {
        let Some(progress) = self.workers.get(worker as usize) else { return };
        for (shared, count) in progress.departed.iter().zip(departed) {
            shared.store(*count, Ordering::Release);
        }
        progress.word.store(word(epoch, phase), Ordering::Release);
    }

    /// Publishes the number of packets that a worker has received from each worker.
    pub(super) fn note_arrived(&self, worker: u32, arrived: &[u64]) {
        let Some(progress) = self.workers.get(worker as usize) else { return };
        for (shared, count) in progress.arrived.iter().zip(arrived) {
            shared.store(*count, Ordering::Release);
        }
    }

    /// Whether every worker has sent its packets of `phase` and of the phases above, and all packets that were handed
    /// over before that have arrived.
    pub(super) fn is_sent_by_all(&self, epoch: u32, phase: u8) -> bool {
        let is_there = |progress: &WorkerProgress| {
            let word = progress.word.load(Ordering::Acquire);
            word >> 8 == u64::from(epoch) && word & 0xff <= u64::from(phase)
        };
        if !self.workers.iter().all(is_there) {
            return false;
        }
        (0..).zip(&self.workers).all(|(from, sender): (usize, _)| {
            sender.departed.iter().zip(&self.workers).all(|(departed, receiver)| {
                let arrived = receiver.arrived.get(from).map_or(0, |count| count.load(Ordering::Acquire));
                arrived >= departed.load(Ordering::Acquire)
            })
        })
    }
}

fn word(epoch: u32, phase: u8) -> u64 {
    u64::from(epoch) << 8 | u64::from(phase)
}
