//! Prefetching of leaves and frames into the CPU cache. With thousands of leaves, each of which few packets meet, nearly
//! every access to a leaf would be a cache miss.
//!
//! ```text
//!  enqueue:  flow cache hit ─► leaf ─► (queue stage) its queue ─► its last frame
//!  dequeue:  timer wheel ─► leaf ─► (turns before its own) leaf and queue ─► its first frame
//! ```

use super::kind::End;
use super::leaf::leaf_flag;
use super::queues::Queues;
use crate::ids::{QueueRef, QueueRefKind};
use crate::packet::frame::Frame;

/// Turns before its own at which a leaf is prefetched.
const LEAF_DISTANCE: usize = 8;
/// Packets between the prefetch of the first frame of a queue and its use; finding the frame reads the leaf.
const FRAME_DISTANCE: usize = 4;

/// Packets before its own at which the leaf of a packet is prefetched, where leaves are in trees.
pub(crate) const PREFETCH_DISTANCE: usize = 8;
/// Packets between the prefetch of the HTB class of a leaf and its use; finding the class reads the leaf.
const CLASS_DISTANCE: usize = 4;

/// The first leaves of the packets that come next.
#[derive(Debug, Default)]
pub(crate) struct LeafPrefetch {
    leaves: [u32; PREFETCH_DISTANCE],
    at: usize,
}

impl LeafPrefetch {
    /// The first leaf of the current packet. Prefetches that of the queue `later`, [`PREFETCH_DISTANCE`] packets on.
    #[inline(always)]
    pub(crate) fn advance<F: Frame>(&mut self, queues: &Queues<F>, later: QueueRef) -> u32 {
        let place = self.at % PREFETCH_DISTANCE;
        let (first, later) = (self.leaves[place], queues.first_leaf(later));
        self.leaves[place] = later;
        if let Some(leaf) = queues.leaves.get(later as usize) {
            tollway_prefetch::fetch_to_write(leaf);
        }
        if let Some(leaf) =
            queues.leaves.get(self.leaves[(place + CLASS_DISTANCE) % PREFETCH_DISTANCE] as usize)
        {
            queues.htb.touch(leaf.class);
        }
        self.at += 1;
        first
    }
}

/// So many leaves stay in the cache without prefetching: 64 KiB.
const CACHED_LEAVES: usize = 1024;

impl<F: Frame> Queues<F> {
    /// Prefetches the leaf of a packet, many packets before it comes to the queue stage.
    #[inline]
    pub fn prefetch(&self, queue: QueueRef) {
        if self.leaves.len() > CACHED_LEAVES
            && let QueueRefKind::Leaf(number) = queue.kind()
            && let Some(leaf) = self.leaves.get(number as usize)
        {
            tollway_prefetch::fetch_to_write(leaf);
        }
    }

    /// Whether nothing waits, and the leaves are so few that they stay in the cache.
    #[inline]
    pub fn is_cached(&self) -> bool {
        self.leaves.len() <= CACHED_LEAVES && self.slab.len() == 0
    }

    /// Whether some leaves are in trees.
    pub fn has_trees(&self) -> bool {
        !self.htb.is_empty()
    }

    /// The leaf to which a queue leads first, or the number of none.
    #[inline]
    pub fn first_leaf(&self, queue: QueueRef) -> u32 {
        if queue.is_path() {
            self.paths.leaf_or_nil(queue.path_number(), queue.path_step())
        } else {
            queue.leaf_number()
        }
    }

    /// Brings a leaf into the cache by reading it; what is returned is of no use.
    #[inline]
    pub fn preload(&self, number: u32) -> u32 {
        let place = number as usize;
        let Some(leaf) = self.leaves.get(place) else { return 0 };
        if leaf.is(leaf_flag::TREE) {
            self.htb.touch(leaf.class);
        }
        if leaf.queued() != 0
            && let Some(queue) = self.leaf_queues.get(place)
        {
            queue.prefetch();
        }
        leaf.waiting
    }

    /// The leaf to which a queue leads first.
    #[inline]
    pub fn first(&self, queue: QueueRef) -> Option<u32> {
        match queue.kind() {
            QueueRefKind::Leaf(leaf) => Some(leaf),
            QueueRefKind::Path(path, step) => self.paths.leaf(path, step),
            QueueRefKind::NoQueue | QueueRefKind::Handover(_) => None,
        }
    }

    /// Prefetches what an enqueue needs, if packets wait in the leaf; some time after [`Self::preload`].
    #[inline]
    pub fn prefetch_end(&self, number: u32) {
        let place = number as usize;
        if let (Some(leaf), Some(queue)) = (self.leaves.get(place), self.leaf_queues.get(place))
            && leaf.queued() != 0
        {
            queue.kind.prefetch(&self.slab, End::Last);
        }
    }

    /// Prefetches leaves and frames that will be sent a few turns from now.
    #[inline]
    pub(super) fn prefetch_due(&self) {
        let later = |turns: usize| {
            let place = *self.due.get(turns)? as usize;
            Some((self.leaves.get(place)?, self.leaf_queues.get(place)?))
        };
        if let Some((leaf, queue)) = later(LEAF_DISTANCE) {
            tollway_prefetch::fetch_to_write(leaf);
            queue.prefetch();
            queue.prefetch_waits();
        }
        if let Some((_, queue)) = later(FRAME_DISTANCE) {
            queue.kind.prefetch(&self.slab, End::First);
        }
    }
}
