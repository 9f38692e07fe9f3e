//! Memory that queues will need, asked for before they do: with thousands of leaves, each of which packets meet rarely,
//! next to nothing of what a packet needs is in the cache.
//!
//! ```text
//!  comes: flow cache ─► leaf ─► (queue stage) what waits before it ─► the last frame ─► work
//!  goes:  wheel ─► leaf ─► (turns before) leaf, its queue ─► the first frame ─► work
//! ```

use super::kind::End;
use super::leaf::leaf_flag;
use super::queues::Queues;
use crate::ids::{QueueRef, QueueRefKind};
use crate::packet::frame::Frame;

/// Turns before its own at which what a leaf needs is fetched.
const LEAF_DISTANCE: usize = 8;
/// The same for the frame that it will send, which the leaf has to be there for.
const FRAME_DISTANCE: usize = 4;

/// Packets before its own at which the leaf of a packet in a tree is fetched.
pub(crate) const PREFETCH_DISTANCE: usize = 8;
/// The same for its class, which the leaf has to be there for.
const CLASS_DISTANCE: usize = 4;

/// The leaves of the packets that come next.
#[derive(Debug, Default)]
pub(crate) struct LeafPrefetch {
    leaves: [u32; PREFETCH_DISTANCE],
    at: usize,
}

impl LeafPrefetch {
    /// The leaf of the packet whose turn it is. Has fetched what that with the queue `later` needs, [`PREFETCH_DISTANCE`] packets on.
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

/// So many leaves stay in the cache between two packets of each: 64 KiB.
const CACHED_LEAVES: usize = 1024;

impl<F: Frame> Queues<F> {
    /// Has the leaf fetched that a packet meets at the end of its way.
    #[inline]
    pub fn prefetch(&self, queue: QueueRef) {
        if self.leaves.len() > CACHED_LEAVES
            && let QueueRefKind::Leaf(number) = queue.kind()
            && let Some(leaf) = self.leaves.get(number as usize)
        {
            tollway_prefetch::fetch_to_write(leaf);
        }
    }

    /// Whether nothing waits, and all leaves are in the cache or near it.
    #[inline]
    pub fn is_cached(&self) -> bool {
        self.leaves.len() <= CACHED_LEAVES && self.slab.len() == 0
    }

    /// Whether packets may need classes of trees.
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

    /// Reads of a leaf what brings it into the cache.
    #[inline]
    pub fn touch(&self, number: u32) -> u32 {
        let place = number as usize;
        let Some(leaf) = self.leaves.get(place) else { return 0 };
        if leaf.is(leaf_flag::TREE) {
            self.htb.touch(leaf.class);
        }
        if leaf.queued() != 0
            && let Some(backlog) = self.backlogs.get(place)
        {
            backlog.prefetch();
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

    /// Some time after [`Self::touch`]: if packets wait in the leaf, has fetched what another one needs to join them.
    #[inline]
    pub fn prefetch_end(&self, number: u32) {
        let place = number as usize;
        if let (Some(leaf), Some(backlog)) = (self.leaves.get(place), self.backlogs.get(place))
            && leaf.queued() != 0
        {
            backlog.queue.prefetch(&self.slab, End::Last);
        }
    }

    /// Has fetched what leaves need whose turn is soon.
    #[inline]
    pub(super) fn prefetch_due(&self) {
        let later = |turns: usize| {
            let place = *self.due.get(turns)? as usize;
            Some((self.leaves.get(place)?, self.backlogs.get(place)?))
        };
        if let Some((leaf, backlog)) = later(LEAF_DISTANCE) {
            tollway_prefetch::fetch_to_write(leaf);
            backlog.prefetch();
            backlog.prefetch_waits();
        }
        if let Some((_, backlog)) = later(FRAME_DISTANCE) {
            backlog.queue.prefetch(&self.slab, End::First);
        }
    }
}
