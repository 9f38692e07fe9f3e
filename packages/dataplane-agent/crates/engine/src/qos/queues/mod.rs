//! A worker's queues: its leaves, the packets that wait in them, and the leaves that are due.

mod change_progress;
mod dequeue;
mod enqueue;
mod ordered_change;
mod pass;
mod port;
pub(crate) mod queue_path;
mod queue_row;
mod reconfigure;
mod record;
mod row_ownership;
mod rows;
mod schedule;
pub mod shared;
mod watch;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tollway_config::protocol::QueueTotals;

use crate::ids::{LeafId, QueueRef};
use crate::observe::trace::Ended;
use crate::packet::frame::Frame;
use crate::qos::classify::QueueTable;
use crate::qos::forest::{Forest, Identity};
use crate::qos::htb::Htb;
use crate::qos::leaf::{Leaf, LeafQueue};
use crate::qos::longest::Longest;
use crate::qos::queues::ordered_change::{OrderedChange, PHASES};
use crate::qos::queues::port::PortQueues;
use crate::qos::queues::queue_path::QueuePaths;
use crate::qos::queues::queue_row::QueueRow;
use crate::qos::queues::record::{CarriedCounters, ResetCounters};
use crate::qos::queues::watch::Watches;
use crate::qos::slab::{NodeQueue, Slab};
use crate::time::Now;
use crate::time::wheel::Wheel;

pub use super::slab::Waiting;
pub use port::LinkInterface;

/// Resolution of the wheel, ns. Tokens go on gathering while a leaf waits for its tick, so none are lost.
const TICK: u64 = 100_000;
/// Frames a due leaf sends before others get their turn.
pub(super) const QUANTUM: usize = 16;

/// Wire segments that the queues dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The queue's kind had no room for them, or dropped them to keep delays short.
    pub full: u32,
    /// Packets dropped because there was no memory for more in all queues.
    pub memory: u32,
}

/// Result of enqueuing a frame in a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnqueueOutcome {
    /// The frame waits.
    Waits,
    /// The leaf's queue dropped the frame, but may accept the next one.
    Dropped,
    /// The leaf's queue has no room for it, nor for more of the same.
    NoRoom,
    /// No memory for the frame.
    NoMemory,
}

/// The forest and the classification by which the leaves of a packet are found.
#[derive(Debug, Clone, Copy)]
pub struct LeafLookup<'a> {
    /// The leaves.
    pub forest: &'a Arc<Forest>,
    /// Table by which the leaves of a packet are found.
    pub table: &'a Arc<QueueTable>,
    /// Wall clock, ns since 1970 UTC.
    pub utc_ns: i64,
}

/// A step of a packet on its queue path.
#[derive(Debug, Clone, Copy)]
pub struct PathStep {
    /// Queue reference from that leaf on.
    pub queue: QueueRef,
    /// The leaf.
    pub leaf: LeafId,
}

/// The queues.
#[derive(Debug)]
pub struct Queues<F> {
    /// Number of this worker.
    pub(super) worker: u32,
    /// See [`LeafQueue::seed`].
    pub(super) salt: u64,
    /// Leaves of rows whose packets have come to this worker.
    pub(super) leaves: Vec<Leaf>,
    /// The seldom accessed part of each leaf.
    pub(super) leaf_queues: Vec<LeafQueue>,
    /// Every row of the configuration, by ascending identity.
    pub(super) rows: Vec<QueueRow>,
    /// Leaf of each class, or [`LeafId::NONE`].
    pub(super) class_leaves: Vec<LeafId>,
    /// Leaves that belong to no row.
    pub(super) free: Vec<LeafId>,
    /// Queues that packets pass one after the other.
    pub(super) paths: QueuePaths,
    /// The class trees.
    pub(super) htb: Htb,
    /// Queues in front of the ports.
    pub(super) ports: PortQueues,
    /// Counters of classes in trees that were reset.
    pub(super) reset_counters: HashMap<Identity, ResetCounters>,
    /// Counters of classes from before they became leaves, or ceased to be leaves.
    pub(super) carried: HashMap<Identity, CarriedCounters>,
    /// Queues whose token buckets are watched.
    pub(super) watches: Watches,
    /// The packets that wait in queues.
    pub(super) slab: Slab<F>,
    wheel: Wheel<TICK>,
    /// Leaves that are due, in the order in which they are served.
    pub(super) due: VecDeque<LeafId>,
    /// Whether the next leaf to be served is one in a tree.
    serve_trees_next: bool,
    /// Leaves of interfaces that were served. They are due again after the port has been offered their packets.
    due_after_port: Vec<LeafId>,
    /// Packets outside the leaves during a change of the configuration, by the last leaf that they have passed: see
    /// [`ordered_change`].
    pub(super) deferred: [NodeQueue; PHASES],
    ordered_change: OrderedChange,
    /// When the queues were reconfigured last.
    pub(super) reconfigured_at: Now,
    /// Rows with packets of other workers to acknowledge.
    pub(super) unacknowledged: Vec<u32>,
    /// Rows of this worker that other workers use too: candidates for release before a sleep.
    pub(super) shared_rows: Vec<u32>,
    longest: Longest,
    totals: QueueTotals,
    dropped: Dropped,
    /// Traced packets that were dropped while they waited.
    pub(crate) ended: Ended,
}

impl<F: Frame> Queues<F> {
    /// No queues yet. At most `max_frames` frames that keep at most `max_footprint` bytes will wait. `salt` should be
    /// hard to guess.
    pub fn new(worker: u32, workers: u32, (max_frames, max_footprint): (u32, u64), salt: u64) -> Self {
        Self {
            worker,
            salt,
            leaves: Vec::new(),
            leaf_queues: Vec::new(),
            rows: Vec::new(),
            class_leaves: Vec::new(),
            free: Vec::new(),
            paths: QueuePaths::default(),
            htb: Htb::new(worker, workers),
            ports: PortQueues::default(),
            reset_counters: HashMap::new(),
            carried: HashMap::new(),
            watches: Watches::default(),
            slab: Slab::new(max_frames, max_footprint),
            wheel: Wheel::new(0),
            due: VecDeque::new(),
            serve_trees_next: false,
            due_after_port: Vec::new(),
            deferred: [NodeQueue::default(); PHASES],
            ordered_change: OrderedChange::new(workers),
            reconfigured_at: Now(0),
            unacknowledged: Vec::new(),
            shared_rows: Vec::new(),
            longest: Longest::default(),
            totals: QueueTotals::default(),
            dropped: Dropped::default(),
            ended: Ended::default(),
        }
    }

    /// Called when all packets of a batch have passed the queue stage.
    #[inline]
    pub fn end_batch(&mut self) {
        self.htb.end_runs();
    }

    /// Reserves memory for `leaves` leaves, so that none is allocated on the packet path.
    pub(super) fn reserve(&mut self, leaves: usize) {
        self.due.reserve(leaves.saturating_sub(self.due.len()));
        self.wheel.reserve(leaves);
        self.leaves.reserve(leaves.saturating_sub(self.leaves.len()));
        self.leaf_queues.reserve(leaves.saturating_sub(self.leaf_queues.len()));
        for rows in [&mut self.unacknowledged, &mut self.shared_rows] {
            rows.reserve(self.rows.len().saturating_sub(rows.len()));
        }
    }
}

impl<F> Queues<F> {
    /// Whether there is nothing to queue and nothing queued.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.rows.is_empty() && self.slab.len() == 0 && self.ordered_change.lowest_allowed() == 0
    }

    /// Whether there are deferred frames that may go; they go before any others.
    #[inline]
    pub fn has_sendable(&self) -> bool {
        self.deferred.iter().skip(self.ordered_change.lowest_allowed()).any(|all| all.len() != 0)
    }

    /// Whether any leaf is due.
    fn has_turns(&self) -> bool {
        !self.due.is_empty() || !self.due_after_port.is_empty()
    }

    /// Frames that wait.
    pub fn frames(&self) -> u32 {
        self.slab.len()
    }

    /// Totals of all queues.
    pub fn totals(&self) -> QueueTotals {
        self.totals
    }

    /// Packets dropped since the last call.
    pub fn take_dropped(&mut self) -> Dropped {
        std::mem::take(&mut self.dropped)
    }
}
