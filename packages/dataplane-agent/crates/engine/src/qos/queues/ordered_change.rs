//! The ordered change to another queue configuration: how the packets of a flow stay in order while the workers
//! reconfigure their queues, each at a different time.
//!
//! Of two packets of a flow, the older one has passed more leaves. So every worker first sends the packets that have
//! passed all leaves, then those that have passed all but one, and so on; those that have passed none are last:
//!
//! ```text
//! phase  has passed                      goes
//!  5    the queue of its interface      at once
//!  4    a tree below its interface      when every worker has the new queues and has
//!                                       sent its phase 5, and all packets on their way
//!                                       between two workers by then have arrived
//!  3    the queue for the total         likewise, after phase 4
//!  2    a simple queue                  likewise, after phase 3
//!  1    a tree below global             likewise, after phase 2
//!  0    nothing                         likewise, after phase 1
//! ```
//!
//! Until a phase may be sent, its packets are deferred, unless the leaves of their flow do not change. A worker that
//! waits for other workers polls their progress and does not block.

use std::sync::Arc;

use crate::packet::frame::Frame;
use crate::qos::addresses::QueueAddresses;
use crate::qos::forest::{Identity, RANKS};
use crate::qos::ownership::Ownership;
use crate::qos::queues::change_progress::Tables;
use crate::qos::queues::shared::SharedQueues;
use crate::qos::queues::{LeafLookup, Queues, Waiting};
use crate::qos::slab::NodeQueue;
use crate::time::Now;

/// Number of phases: one for packets that have passed no leaf, and one for each rank of the last leaf that a packet has
/// passed.
pub const PHASES: usize = RANKS + 1;
/// Phase of packets that passed the last queue; sent first.
const FIRST: u8 = RANKS as u8;
/// Time after which a change no longer keeps the order of flows: a port that accepts no packets, or a worker that is
/// stuck, does not stop the packets of the other workers for ever.
const CHANGE_TIMEOUT_NS: u64 = 250_000_000;

/// Flows whose packets have to wait for their phase.
#[derive(Debug, Default)]
enum AffectedFlows {
    /// None: every flow passes the same leaves as before.
    #[default]
    None,
    /// Packets of flows whose leaves differ from the leaves in these former tables.
    Since(Tables),
    /// Packets of all flows: the leaves of a flow depend on more than its addresses, or the last change was not
    /// complete.
    All,
}

/// State of this worker in the queue-configuration change.
#[derive(Debug)]
pub(super) struct OrderedChange {
    epoch: Option<u32>,
    /// Lowest phase whose packets may go; those of lower phases wait. 0 while no change is under way.
    lowest_allowed: u8,
    /// Lowest phase that was announced to the other workers as sent.
    announced: u8,
    began: Now,
    affected: AffectedFlows,
    /// Packets handed over to each worker, for a leaf there.
    departed: Vec<u64>,
    /// Packets for a leaf here that came from each worker.
    arrived: Vec<u64>,
    /// Removed rows that this worker owns: until all workers have the new configuration, others hand over packets for
    /// them to this worker.
    removed_rows: Vec<(Identity, Arc<Ownership>)>,
}

impl OrderedChange {
    /// No change is under way.
    pub fn new(workers: u32) -> Self {
        Self {
            epoch: None,
            lowest_allowed: 0,
            announced: 0,
            began: Now(0),
            affected: AffectedFlows::None,
            departed: vec![0; workers as usize],
            arrived: vec![0; workers as usize],
            removed_rows: Vec::new(),
        }
    }

    /// Lowest phase whose packets may go.
    pub fn lowest_allowed(&self) -> usize {
        usize::from(self.lowest_allowed)
    }

    /// Releases a row of this worker that was removed, or all of whose leaves were removed: at once, or during the
    /// ordered change if one is under way.
    pub fn release_removed_row(&mut self, worker: u32, row: Identity, ownership: &Arc<Ownership>) {
        if self.lowest_allowed == 0 {
            ownership.release_unconditionally(worker);
        } else {
            self.removed_rows.push((row, Arc::clone(ownership)));
        }
    }
}

impl<F: Frame> Queues<F> {
    /// Begins the change to another configuration.
    pub(super) fn begin_ordered_change(
        &mut self,
        before: &LeafLookup<'_>,
        lookup: &LeafLookup<'_>,
        epoch: u32,
        shared: &SharedQueues,
        now: Now,
    ) {
        let is_pending = self.ordered_change.lowest_allowed != 0 || self.has_sendable();
        let is_first = self.ordered_change.epoch.replace(epoch).is_none();
        if self.ordered_change.departed.len() < 2 {
            return;
        }
        let is_same = lookup.table.matches_as(before.table);
        if is_first || is_same && !is_pending {
            return shared.progress.announce(self.worker, epoch, 0, &self.ordered_change.departed);
        }
        if !(is_same && self.ordered_change.lowest_allowed != 0) {
            let asks_context = before.table.asks_context() || lookup.table.asks_context();
            let affected = if is_pending || asks_context {
                AffectedFlows::All
            } else {
                AffectedFlows::Since((Arc::clone(before.forest), Arc::clone(before.table)))
            };
            self.replace_affected(affected, shared);
        }
        let change = &mut self.ordered_change;
        (change.lowest_allowed, change.announced, change.began) = (FIRST, FIRST + 1, now);
    }

    fn replace_affected(&mut self, affected: AffectedFlows, shared: &SharedQueues) {
        if let AffectedFlows::Since(tables) = std::mem::replace(&mut self.ordered_change.affected, affected) {
            shared.progress.retire(tables);
        }
    }

    /// Whether an ordered change is under way.
    #[inline]
    pub fn is_changing(&self) -> bool {
        self.ordered_change.lowest_allowed != 0
    }

    /// Whether a packet between these addresses has to wait until older packets of its flow have been sent. `passed` is
    /// the rank of the last leaf that the packet has passed, if any.
    #[inline]
    pub fn waits_for_older(
        &self,
        lookup: &LeafLookup<'_>,
        passed: Option<usize>,
        addresses: &QueueAddresses,
    ) -> bool {
        phase_after(passed) < self.ordered_change.lowest_allowed() && self.is_affected(lookup, addresses)
    }

    fn is_affected(&self, lookup: &LeafLookup<'_>, addresses: &QueueAddresses) -> bool {
        let (forest, table) = match &self.ordered_change.affected {
            AffectedFlows::None => return false,
            AffectedFlows::All => return true,
            AffectedFlows::Since((forest, table)) => (forest, table),
        };
        let before = LeafLookup { forest, table, ..*lookup };
        let identities = |lookup: &LeafLookup<'_>| {
            let classes = lookup.path_classes(addresses, &Default::default());
            let mut classes = classes.iter();
            [(); crate::qos::forest::MAX_PATH_LEAVES]
                .map(|()| classes.next().and_then(|id| lookup.forest.class(id)).map(|class| class.identity))
        };
        identities(&before) != identities(lookup)
    }

    /// Defers a packet until its phase may go. `false` when there was no memory for it.
    pub fn defer(&mut self, passed: Option<usize>, waiting: Waiting<F>, addresses: &QueueAddresses) -> bool {
        if !self.slab.has_room(waiting.frame.footprint() as u64) {
            self.drop_for_memory(waiting.segments);
            return false;
        }
        self.paths.add_waiting(waiting.queue);
        self.push_deferred(passed, waiting, addresses);
        true
    }

    /// As [`Self::defer`], for a packet dequeued from a leaf.
    pub(super) fn push_deferred(
        &mut self,
        passed: Option<usize>,
        waiting: Waiting<F>,
        addresses: &QueueAddresses,
    ) {
        let node = self.slab.insert(waiting, addresses);
        if let Some(deferred) = self.deferred.get_mut(phase_after(passed)) {
            deferred.push(&mut self.slab, node);
        }
    }

    /// Classifies again the deferred packets that have passed no leaf, as yet another configuration has come.
    pub(super) fn reclassify_unpassed(&mut self, lookup: &LeafLookup<'_>, now: Now) {
        let Some(unpassed) = self.deferred.first_mut() else { return };
        let mut all = std::mem::take(unpassed);
        let mut reclassified = NodeQueue::default();
        while let Some(node) = all.pop(&mut self.slab) {
            if let Some(waiting) = self.slab.get(node) {
                let (context, old) = (Self::context(&self.paths, waiting), waiting.queue);
                let classes = lookup.path_classes(&self.slab.addresses(node), &context);
                let queue = self.queue_ref(lookup.forest, &classes, context, now);
                self.paths.add_waiting(queue);
                self.paths.remove_waiting(old);
                if let Some(waiting) = self.slab.get_mut(node) {
                    waiting.queue = queue;
                }
            }
            reclassified.push(&mut self.slab, node);
        }
        if let Some(unpassed) = self.deferred.first_mut() {
            *unpassed = reclassified;
        }
    }

    /// Counts a packet that goes to a leaf of another worker.
    pub fn count_departed(&mut self, to: u32) {
        if let Some(count) = self.ordered_change.departed.get_mut(to as usize) {
            *count += 1;
        }
    }

    /// Takes a packet that could not be handed over back from the count.
    pub fn uncount_departed(&mut self, to: u32) {
        if let Some(count) = self.ordered_change.departed.get_mut(to as usize) {
            *count = count.saturating_sub(1);
        }
    }

    /// Counts a packet for a leaf that has come from another worker.
    pub fn count_arrived(&mut self, from: u32) {
        if let Some(count) = self.ordered_change.arrived.get_mut(from as usize) {
            *count += 1;
        }
    }

    /// Advances the change as far as the progress of the other workers allows. All packets dequeued so far have left
    /// the router.
    pub(super) fn advance_ordered_change(&mut self, shared: &SharedQueues) {
        let Some(epoch) = self.ordered_change.epoch else { return };
        shared.progress.note_arrived(self.worker, &self.ordered_change.arrived);
        while self.ordered_change.lowest_allowed != 0 && !self.has_sendable() && !self.waits_for_ports() {
            let change = &mut self.ordered_change;
            if change.announced != change.lowest_allowed {
                change.announced = change.lowest_allowed;
                shared.progress.announce(self.worker, epoch, change.lowest_allowed, &change.departed);
            }
            if !shared.progress.is_sent_by_all(epoch, change.lowest_allowed) {
                return;
            }
            change.lowest_allowed -= 1;
            // Before other workers can see the progress: the row may be back in the new configuration, and a worker
            // that sees it first would hand over packets for which this one has no leaf, or take the row while they are
            // in flight.
            self.release_removed_rows();
        }
        if self.ordered_change.lowest_allowed == 0 {
            self.end_ordered_change(shared);
        }
    }

    /// Ends the change if it has waited for other workers too long.
    pub fn expire_ordered_change(&mut self, shared: &SharedQueues, now: Now) {
        if self.ordered_change.lowest_allowed != 0
            && now.0.saturating_sub(self.ordered_change.began.0) >= CHANGE_TIMEOUT_NS
        {
            self.ordered_change.lowest_allowed = 0;
            self.end_ordered_change(shared);
        }
    }

    fn end_ordered_change(&mut self, shared: &SharedQueues) {
        self.replace_affected(AffectedFlows::None, shared);
        self.release_removed_rows();
    }

    /// Releases rows that are gone: no worker hands over packets for them any more.
    fn release_removed_rows(&mut self) {
        for (row, ownership) in std::mem::take(&mut self.ordered_change.removed_rows) {
            if !self.has_row(row) {
                ownership.release_unconditionally(self.worker);
            }
        }
    }
}

fn phase_after(passed: Option<usize>) -> usize {
    passed.map_or(0, |rank| rank + 1)
}
