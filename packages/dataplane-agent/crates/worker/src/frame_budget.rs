//! The frame budget: the number of frames, and how many of them may wait in queues.
//!
//! A frame belongs to the partition of the worker that received it, but may wait in a queue of another worker. So in
//! the worst case all waiting frames belong to one partition. Each partition has room for these in addition to the
//! frames that its worker needs to receive and to send: regardless of how queues and reception are distributed, a
//! partition is never empty because frames wait. Frames that are never used cost address space, not memory.

use tollway_engine::EngineLimits;
use tollway_io::pool::{HEAD_FOOTPRINT, PartitionSize};

use crate::workers::MAX_CONNECTIONS;

/// Memory of all frames that wait, over all workers, bytes: some 113,000 packets, which is the default limit
/// of 50 both ways in more than a thousand queues that are full at the same time.
const QUEUE_MEMORY: usize = 256 << 20;
/// Maximum share of the machine's memory that waiting frames may use, 1/x. Memory that the partitions of two workers
/// have used at different times adds up, so twice this share may be used.
const QUEUE_SHARE: usize = 16;

/// Sizes that depend on the machine.
#[derive(Debug, Clone, Copy)]
pub struct FrameBudget {
    workers: usize,
    queue_memory: usize,
}

impl FrameBudget {
    /// For `workers` workers on a machine with `memory` bytes.
    pub fn new(workers: usize, memory: usize) -> Self {
        Self { workers: workers.max(1), queue_memory: QUEUE_MEMORY.min(memory / QUEUE_SHARE) }
    }

    /// The partition of one worker.
    pub fn partition(&self) -> PartitionSize {
        PartitionSize::WORKER.with_waiting(self.queue_memory)
    }

    /// The partition of the traffic generator, whose frames wait in the workers' queues like others.
    pub fn generator(&self) -> PartitionSize {
        PartitionSize { heads: 4096, tails: 0 }.with_waiting(self.queue_memory)
    }

    /// Bounds of one worker's engine.
    pub fn limits(&self) -> EngineLimits {
        let share = self.queue_memory / self.workers;
        EngineLimits {
            max_connections: MAX_CONNECTIONS / self.workers as u32,
            queue_frames: (share / HEAD_FOOTPRINT) as u32,
            queue_bytes: share as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollway_io::pool::TAIL_CAPACITY;

    #[test]
    fn what_waits_anywhere_fits_into_one_partition_beside_what_its_worker_needs() {
        for workers in [1, 2, 3, 64] {
            for memory in [0, 512 << 20, 1 << 30, 8 << 30, 1 << 40] {
                let frames = FrameBudget::new(workers, memory);
                let (limits, partition) = (frames.limits(), frames.partition());
                let waiting = workers * limits.queue_frames as usize;
                assert!(partition.heads >= PartitionSize::WORKER.heads + waiting, "{frames:?}");
                let bytes = limits.queue_bytes as usize * workers;
                let super_frames = bytes / (HEAD_FOOTPRINT + TAIL_CAPACITY);
                assert!(partition.tails >= PartitionSize::WORKER.tails + super_frames, "{frames:?}");
                assert!(frames.generator().heads >= 4096 + waiting);
                assert!(bytes <= memory / 16);
            }
        }
        assert!(FrameBudget::new(2, 8 << 30).limits().queue_frames > 50_000);
    }
}
