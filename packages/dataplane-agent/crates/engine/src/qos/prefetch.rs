//! Prefetching of leaves and frames into the CPU cache. With thousands of leaves, each used by few packets, nearly
//! every access to a leaf would be a cache miss.
//!
//! ```text
//!  enqueue:  flow cache hit ─► leaf ─► (queue stage) its queue ─► its last frame
//!  dequeue:  timer wheel ─► leaf ─► (turns before its own) leaf and queue ─► its first frame
//! ```

use super::kind::End;
use super::leaf::leaf_flag;
use super::queues::Queues;
use crate::ids::{LeafId, QueueRef, QueueRefKind};
use crate::packet::frame::Frame;

/// Number of turns ahead at which a leaf is prefetched.
const LEAF_DISTANCE: usize = 8;
/// Number of turns ahead at which the first frame of a leaf is prefetched: after the leaf, which is read to find the
/// frame.
const FRAME_DISTANCE: usize = 4;

/// Number of packets ahead at which the leaf of a packet is prefetched, where leaves are in trees.
pub(crate) const PREFETCH_DISTANCE: usize = 8;
/// Number of packets ahead at which the HTB class of a packet's leaf is prefetched: after the leaf, which is read to
/// find the class.
const CLASS_DISTANCE: usize = 4;

/// The first leaves of the packets that come next.
#[derive(Debug)]
pub(crate) struct LeafPrefetch {
    leaves: [LeafId; PREFETCH_DISTANCE],
    at: usize,
}

impl Default for LeafPrefetch {
    fn default() -> Self {
        Self { leaves: [LeafId(0); PREFETCH_DISTANCE], at: 0 }
    }
}

impl LeafPrefetch {
    /// Returns the first leaf of the current packet. Prefetches the first leaf of `later`, the queue of the packet that
    /// comes [`PREFETCH_DISTANCE`] packets later.
    #[inline(always)]
    pub(crate) fn advance<F: Frame>(&mut self, queues: &Queues<F>, later: QueueRef) -> LeafId {
        let index = self.at % PREFETCH_DISTANCE;
        let (first, later) = (self.leaves[index], queues.first_leaf(later));
        self.leaves[index] = later;
        if let Some(hot) = queues.leaves.get(later.index()) {
            tollway_prefetch::fetch_to_write(hot);
        }
        if let Some(hot) =
            queues.leaves.get(self.leaves[(index + CLASS_DISTANCE) % PREFETCH_DISTANCE].index())
        {
            queues.htb.touch(hot.class);
        }
        self.at += 1;
        first
    }
}

/// Number of leaves that stay in the cache without prefetching: 64 KiB.
const CACHED_LEAVES: usize = 1024;

impl<F: Frame> Queues<F> {
    /// Prefetches the leaf of a packet, many packets before it comes to the queue stage.
    #[inline]
    pub fn prefetch(&self, queue: QueueRef) {
        if self.leaves.len() > CACHED_LEAVES
            && let QueueRefKind::Leaf(leaf) = queue.kind()
            && let Some(hot) = self.leaves.get(leaf.index())
        {
            tollway_prefetch::fetch_to_write(hot);
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

    /// The first leaf of a queue reference, or an id of no leaf.
    #[inline]
    pub fn first_leaf(&self, queue: QueueRef) -> LeafId {
        if queue.is_path() {
            self.paths.leaf_or_none(queue.path_index(), queue.path_step())
        } else {
            queue.leaf_id()
        }
    }

    /// Brings a leaf into the cache by reading it. The returned value has no meaning.
    #[inline]
    pub fn preload(&self, leaf: LeafId) -> u32 {
        let Some(hot) = self.leaves.get(leaf.index()) else { return 0 };
        if hot.is(leaf_flag::TREE) {
            self.htb.touch(hot.class);
        }
        if hot.queued() != 0
            && let Some(queue) = self.leaf_queues.get(leaf.index())
        {
            queue.prefetch();
        }
        hot.waiting
    }

    /// The first leaf of a queue reference.
    #[inline]
    pub fn first(&self, queue: QueueRef) -> Option<LeafId> {
        match queue.kind() {
            QueueRefKind::Leaf(leaf) => Some(leaf),
            QueueRefKind::Path(path, step) => self.paths.leaf(path, step),
            QueueRefKind::NoQueue | QueueRefKind::Handover(_) => None,
        }
    }

    /// Prefetches what an enqueue needs, if packets wait in the leaf. To be called some packets after
    /// [`Self::preload`].
    #[inline]
    pub fn prefetch_end(&self, leaf: LeafId) {
        if let (Some(hot), Some(queue)) = (self.leaves.get(leaf.index()), self.leaf_queues.get(leaf.index()))
            && hot.queued() != 0
        {
            queue.kind.prefetch(&self.slab, End::Last);
        }
    }

    /// Prefetches the leaves and frames that will be served a few turns from now.
    #[inline]
    pub(super) fn prefetch_due(&self) {
        let later = |turns: usize| {
            let leaf = *self.due.get(turns)?;
            Some((self.leaves.get(leaf.index())?, self.leaf_queues.get(leaf.index())?))
        };
        if let Some((hot, queue)) = later(LEAF_DISTANCE) {
            tollway_prefetch::fetch_to_write(hot);
            queue.prefetch();
            queue.prefetch_waits();
        }
        if let Some((_, queue)) = later(FRAME_DISTANCE) {
            queue.kind.prefetch(&self.slab, End::First);
        }
    }
}
