//! A worker's leaves as far as other workers have to do with them: who has a queue, and what is handed over.

use std::sync::Arc;

use crate::ids::{QueueRef, QueueRefKind};
use crate::packet::frame::Frame;
use crate::packet::tuple::Addr;
use crate::qos::burst::Burst;
use crate::qos::forest::{Class, ClassId, Context, Forest, Identity, MAX_PATH_LEAVES, Part, PathClasses};
use crate::qos::htb::Htb;
use crate::qos::leaf::{AWAY, Backlog, Leaf, leaf_flag};
use crate::qos::ownership::{Claim, Ownership, PARTS};
use crate::qos::queues::queue_path::RemainingPath;
use crate::qos::queues::swap::SharedQueues;
use crate::qos::queues::{NIL, Plan, Queues};
use crate::time::Now;
use tollway_config::dataplane::{QueueLimit, QueueType};

/// Packets that others hand over, one after the other with none of its own between them, after which a worker lets
/// a queue go. Less than a worker's burst, so that a fast flow soon wakes one worker instead of two; more than one
/// or two, so that two workers' flows do not throw it to and fro.
const MAX_FOREIGN_RUN: u32 = 16;

/// Times that a worker which has nothing more to do lets a queue go for another one's sake, without that one taking it.
const MAX_IDLE_RELEASES: u8 = 16;

/// Most queues that it lets go before it sleeps: what comes meanwhile waits, some 0.3 µs for each.
const MAX_RELEASED_AT_ONCE: usize = 256;

/// A row of the configuration.
#[derive(Debug)]
pub struct QueueRow {
    /// Its first part.
    pub identity: Identity,
    /// That class.
    pub class: ClassId,
    /// Leaves of its parts; [`NIL`] where it has none, and until a packet of it comes to this worker.
    pub parts: [u32; PARTS],
    /// Who has it.
    pub ownership: Arc<Ownership>,
    /// Packets of other workers.
    pub foreign: Foreign,
}

/// Packets that other workers handed over.
#[derive(Debug, Clone, Copy, Default)]
pub struct Foreign {
    /// Those that have not left the router, as far as is known.
    pub unacknowledged: u64,
    /// Those since a packet of this worker's own.
    pub in_a_row: u32,
    /// Packets that had passed when the last one was through.
    pub passed: u64,
    /// Times that it still is let go when this worker has nothing to do; none of a row that no other worker uses.
    pub idle_releases: u8,
    /// In [`Queues::shared_rows`].
    pub is_listed: bool,
}

impl Foreign {
    /// The row is to be let go when this worker has nothing more to do.
    fn list(&mut self, at: u32, shared_rows: &mut Vec<u32>) {
        if !std::mem::replace(&mut self.is_listed, true) {
            shared_rows.push(at);
        }
    }
}

impl QueueRow {
    /// Those that it has at this worker.
    pub fn leaves(&self) -> impl Iterator<Item = u32> + use<> {
        self.parts.into_iter().filter(|leaf| *leaf != NIL)
    }
}

impl Plan<'_> {
    /// The leaves of packets between IPv4 addresses.
    pub fn path_classes(&self, (src, dst): (u32, u32), context: &Context) -> PathClasses {
        self.table.path_classes(Addr::v4(src), Addr::v4(dst), context, self.utc_ns)
    }

    /// Whether packets between these addresses pass a leaf.
    pub fn passes(&self, addresses: (u32, u32), context: &Context, class: ClassId) -> bool {
        self.path_classes(addresses, context).iter().any(|passed| passed == class)
    }
}

impl<F: Frame> Queues<F> {
    /// Where packets go that pass these leaves. `context` is kept with those that wait, as far as it decides.
    #[inline]
    pub fn queue_ref(
        &mut self,
        forest: &Forest,
        classes: &PathClasses,
        context: Context,
        now: Now,
    ) -> QueueRef {
        let mut all = classes.iter();
        let Some(first) = all.next() else { return QueueRef::NONE };
        let is_short = all.next().is_none();
        if is_short && context == Context::default() {
            return match self.class_leaves.get(first.0 as usize).copied().unwrap_or(NIL) {
                NIL => self.begin(forest, first, now).map_or(QueueRef::NONE, QueueRef::leaf),
                leaf => QueueRef::leaf(leaf),
            };
        }
        match self.paths.find(classes, context) {
            Some(number) if is_short => QueueRef::short(number),
            Some(number) => QueueRef::path(number, 0),
            None => self.add_path(forest, classes, context, now),
        }
    }

    /// Where a packet goes on that leaves a leaf which is not its own any more: to those of its leaves that come later
    /// on any path, since packets before it may wait there.
    pub fn queue_after_rank(
        &mut self,
        plan: &Plan<'_>,
        addresses: (u32, u32),
        context: Context,
        rank: usize,
        now: Now,
    ) -> QueueRef {
        let classes = plan.path_classes(addresses, &context);
        let later = |id: ClassId| plan.forest.class(id).is_some_and(|class| class.rank() > rank);
        match classes.iter().position(later) {
            Some(step) => self.queue_ref(plan.forest, &classes, context, now).at(step as u8),
            None => QueueRef::NONE,
        }
    }

    /// Rank of a leaf.
    pub fn rank(&self, number: u32) -> usize {
        self.backlogs.get(number as usize).map_or(0, |backlog| usize::from(backlog.rank))
    }

    #[cold]
    fn add_path(&mut self, forest: &Forest, classes: &PathClasses, context: Context, now: Now) -> QueueRef {
        let mut leaves = [NIL; MAX_PATH_LEAVES];
        let mut free = leaves.iter_mut();
        for class in classes.iter() {
            let known = self.class_leaves.get(class.0 as usize).copied().filter(|leaf| *leaf != NIL);
            if let Some(leaf) = known.or_else(|| self.begin(forest, class, now))
                && let Some(place) = free.next()
            {
                *place = leaf;
            }
        }
        QueueRef::path(self.paths.add(classes, context, leaves), 0)
    }

    /// Gives the row of a class leaves at this worker. Says which is that of the class.
    #[cold]
    fn begin(&mut self, forest: &Forest, class: ClassId, now: Now) -> Option<u32> {
        let identity = forest.class(class)?.identity;
        let at = self.row_of(identity.first())?;
        self.begin_row(at, forest, now);
        self.rows.get(at)?.parts.get(identity.part.place()).copied().filter(|leaf| *leaf != NIL)
    }

    /// Gives a row the leaves that it does not have yet.
    pub(super) fn begin_row(&mut self, at: usize, forest: &Forest, now: Now) {
        let Some(first) = self.rows.get(at).map(|entry| entry.class) else { return };
        for (place, class) in forest.parts(first).into_iter().enumerate() {
            let Some((id, class)) = class.and_then(|id| Some((id, forest.class(id)?))) else { continue };
            let has = self.rows.get(at).and_then(|entry| entry.parts.get(place)) != Some(&NIL);
            if has || !class.is_leaf {
                continue;
            }
            let number = self.begin_leaf(at as u32, id, class, forest, now);
            if let Some(part) = self.rows.get_mut(at).and_then(|entry| entry.parts.get_mut(place)) {
                *part = number;
            }
            if let Some(known) = self.class_leaves.get_mut(id.0 as usize) {
                *known = number;
            }
        }
    }

    fn begin_leaf(&mut self, entry: u32, id: ClassId, class: &Class, forest: &Forest, now: Now) -> u32 {
        let kind = forest.type_of(class).unwrap_or(&QueueType::None);
        let limit = own_limit(class);
        let mut leaf = Leaf::new(id, &limit, now);
        let mut backlog = Backlog::new(class.identity, entry, kind, self.salt);
        backlog.max_limit = limit.max_limit;
        backlog.rank = class.rank() as u8;
        backlog.burst = Burst::new(&limit, now).map(Box::new);
        if let Some(burst) = &backlog.burst {
            leaf.bucket.set_rate(burst.ceiling(limit.max_limit), now, false);
        }
        leaf.set(leaf_flag::TREE, class.parent.is_some());
        leaf.set(leaf_flag::METERED, meters(kind));
        leaf.set(leaf_flag::BURST, backlog.burst.is_some());
        leaf.set(
            leaf_flag::WATCHED,
            self.scopes.has(class.identity.first()) && class.identity.part != Part::Total,
        );
        if class.identity.part == Part::Interface {
            leaf.waiting = 0;
        }
        let number = self.free.pop().unwrap_or(self.leaves.len() as u32);
        match (self.leaves.get_mut(number as usize), self.backlogs.get_mut(number as usize)) {
            (Some(old_leaf), Some(old_backlog)) => (*old_leaf, *old_backlog) = (leaf, backlog),
            _ => {
                self.leaves.push(leaf);
                self.backlogs.push(backlog);
            }
        }
        self.place_before_port(number, class, now);
        number
    }

    /// Takes a leaf to the ports behind it.
    pub(super) fn place_before_port(&mut self, number: u32, class: &Class, now: Now) {
        let Some(interface) = class.interface.filter(|_| class.parent.is_none()) else { return };
        if class.identity.part == Part::Interface {
            self.ports.add_queue(interface, number);
        } else {
            self.ports.add_below(interface, number);
        }
        self.block(number, self.ports.is_blocked(interface), now);
    }

    fn row_of(&self, row: Identity) -> Option<usize> {
        self.rows.binary_search_by_key(&row, |entry| entry.identity).ok()
    }

    /// A leaf by its number in this configuration.
    #[inline]
    pub fn leaf_at(&self, class: ClassId) -> Option<u32> {
        self.class_leaves.get(class.0 as usize).copied().filter(|leaf| *leaf != NIL)
    }

    /// A leaf by its name.
    pub fn leaf_of(&self, identity: Identity) -> Option<u32> {
        let entry = self.rows.get(self.row_of(identity.first())?)?;
        let leaf = entry.parts.get(identity.part.place()).copied()?;
        let is_it = |backlog: &Backlog| backlog.identity == identity;
        self.backlogs.get(leaf as usize).filter(|backlog| is_it(backlog)).map(|_| leaf)
    }

    /// Whether this worker has a row.
    pub(super) fn has_row(&self, row: Identity) -> bool {
        let entry = self.row_of(row).and_then(|at| self.rows.get(at));
        entry.is_some_and(|entry| entry.leaves().any(|leaf| !self.is_away(leaf)))
    }

    /// Name of a leaf.
    pub fn identity(&self, number: u32) -> Option<Identity> {
        self.backlogs.get(number as usize).map(|backlog| backlog.identity)
    }

    /// Names of the leaves that a queue leads to.
    pub fn leaves_of(&self, queue: QueueRef) -> Vec<Identity> {
        let leaves = match queue.kind() {
            QueueRefKind::Leaf(leaf) => vec![leaf],
            QueueRefKind::Path(path, step) => {
                (step..).map_while(|step| self.leaf_at_step(path, step)).collect()
            }
            QueueRefKind::NoQueue | QueueRefKind::Handover(_) => Vec::new(),
        };
        leaves.into_iter().filter_map(|leaf| self.identity(leaf)).collect()
    }

    /// Number of a leaf in this configuration.
    pub fn class(&self, number: u32) -> Option<ClassId> {
        self.leaves.get(number as usize).map(|leaf| leaf.class)
    }

    /// The leaf at a step of a path; `None` behind the last one.
    #[inline]
    pub fn leaf_at_step(&self, path: u32, step: u8) -> Option<u32> {
        self.paths.leaf(path, step)
    }

    /// Where a packet goes that has passed the first leaf of a queue.
    pub fn queue_after(&self, queue: QueueRef) -> QueueRef {
        self.paths.after(queue, queue.step())
    }

    /// Whether another worker may have a leaf.
    #[inline]
    pub fn is_away(&self, number: u32) -> bool {
        self.leaves.get(number as usize).is_some_and(Leaf::is_away)
    }

    /// Takes a queue that nobody has, for a packet of this leaf. Otherwise says who has it; the packet must go
    /// there, or else [`Self::cancel_handover`] be told.
    #[cold]
    pub fn take(&mut self, number: u32, now: Now) -> Option<u32> {
        let at = self.backlogs.get(number as usize)?.row;
        let entry = self.rows.get_mut(at as usize)?;
        match entry.ownership.claim(self.worker) {
            Claim::OwnedBy(worker) => {
                entry.foreign.idle_releases = MAX_IDLE_RELEASES;
                Some(worker)
            }
            Claim::Taken => {
                // What it owes to others, among it what comes after this row, is still to be settled.
                (entry.foreign.in_a_row, entry.foreign.passed) = (0, 0);
                if entry.foreign.idle_releases != 0 {
                    // Nobody else had it meanwhile.
                    let in_vain = entry.ownership.was_last_at(self.worker);
                    entry.foreign.idle_releases =
                        if in_vain { entry.foreign.idle_releases - 1 } else { MAX_IDLE_RELEASES };
                    entry.foreign.list(at, &mut self.shared_rows);
                }
                let left = entry.parts.into_iter().zip(entry.ownership.tokens());
                for (part, (number, (tokens, counted))) in left.enumerate() {
                    let place = number as usize;
                    let (Some(leaf), Some(backlog)) =
                        (self.leaves.get_mut(place), self.backlogs.get_mut(place))
                    else {
                        continue;
                    };
                    if let Some(burst) = &mut backlog.burst {
                        entry.ownership.resume_burst(part, burst);
                        burst.advance(now);
                        leaf.bucket.set_rate(burst.ceiling(backlog.max_limit), now, false);
                    }
                    leaf.bucket.resume(tokens, counted);
                    leaf.waiting = 0;
                    if leaf.is(leaf_flag::TREE) {
                        take_in_tree(&mut self.htb, leaf.class, tokens, now);
                    }
                }
                None
            }
        }
    }

    /// What goes with a packet to the worker that has its next leaf, which [`Self::take`] has just named.
    pub fn remaining_path(&self, number: u32, queue: QueueRef) -> Option<RemainingPath> {
        let backlog = self.backlogs.get(number as usize)?;
        let (classes, context, step) = match (self.paths.of(queue), queue.step()) {
            (Some(path), step) => (path.classes, path.context, step),
            (None, _) => {
                let mut classes = PathClasses::default();
                classes.push(self.leaves.get(number as usize)?.class);
                (classes, Context::default(), 0)
            }
        };
        let before = step.checked_sub(1).and_then(|step| self.paths.at(queue, step));
        let before =
            before.filter(|leaf| !self.is_away(*leaf)).and_then(|leaf| self.backlogs.get(leaf as usize));
        if let Some(entry) = before.and_then(|before| self.rows.get(before.row as usize)) {
            entry.ownership.note_in_flight();
        }
        let before = before.map(|before| before.identity.first());
        let rank = usize::from(backlog.rank);
        Some(RemainingPath { leaf: backlog.identity, rank, step, classes, context, before })
    }

    /// A packet will not arrive at the worker that expects it.
    pub fn cancel_handover(&self, remaining: &RemainingPath) {
        for row in [Some(remaining.leaf.first()), remaining.before].into_iter().flatten() {
            if let Some(entry) = self.row_of(row).and_then(|at| self.rows.get(at)) {
                entry.ownership.acknowledge(1);
            }
        }
    }

    /// A packet came for a leaf that this worker does not have.
    pub fn acknowledge_missed(&self, remaining: &RemainingPath) {
        if let Some(entry) = self.row_of(remaining.leaf.first()).and_then(|at| self.rows.get(at)) {
            entry.ownership.acknowledge(1);
        }
    }

    /// A packet has come that passed this row at another worker, which may let the row go when the packet has left.
    pub fn expect_upstream(&mut self, row: Identity) {
        if let Some(at) = self.row_of(row) {
            self.expect(at as u32);
        }
    }

    fn expect(&mut self, at: u32) {
        let Some(entry) = self.rows.get_mut(at as usize) else { return };
        if entry.foreign.unacknowledged == 0 {
            self.unacknowledged.push(at);
        }
        entry.foreign.unacknowledged = entry.foreign.unacknowledged.saturating_add(1);
    }

    /// A packet of another worker is about to enter a leaf.
    pub fn begin_foreign(&mut self, number: u32) {
        let Some(at) = self.backlogs.get(number as usize).map(|backlog| backlog.row) else { return };
        let passed = self.passed(at);
        if let Some(QueueRow { foreign, .. }) = self.rows.get_mut(at as usize) {
            foreign.in_a_row = if passed == foreign.passed { foreign.in_a_row.saturating_add(1) } else { 0 };
            foreign.idle_releases = MAX_IDLE_RELEASES;
            foreign.list(at, &mut self.shared_rows);
        }
        self.expect(at);
    }

    /// The packet of [`Self::begin_foreign`] has passed, or waits, or was dropped.
    pub fn end_foreign(&mut self, number: u32) {
        let Some(at) = self.backlogs.get(number as usize).map(|backlog| backlog.row) else { return };
        let passed = self.passed(at);
        if let Some(entry) = self.rows.get_mut(at as usize) {
            entry.foreign.passed = passed;
        }
    }

    /// A packet that came for a leaf that is not its own any more goes on at once, charged.
    #[cold]
    pub fn pass_reclassified(&mut self, number: u32, segments: u32, bytes: u64, now: Now) {
        let place = number as usize;
        if let (Some(leaf), Some(backlog)) = (self.leaves.get_mut(place), self.backlogs.get_mut(place)) {
            backlog.pass(leaf, segments, bytes);
            if leaf.is(leaf_flag::TREE) {
                self.htb.sent(leaf.class, segments, bytes, now);
            }
        }
    }

    /// Packets that have passed a row here, whatever part.
    fn passed(&self, at: u32) -> u64 {
        let leaves = self.rows.get(at as usize).into_iter().flat_map(QueueRow::leaves);
        let packets = |number: u32| self.leaves.get(number as usize).map_or(0, |leaf| leaf.passed().packets);
        leaves.map(packets).fold(0, u64::wrapping_add)
    }

    /// All packets that came out of the queues so far have left the router. Lets go of queues that only other
    /// workers use.
    pub fn acknowledge(&mut self, shared: &SharedQueues, now: Now) {
        if self.is_changing() {
            self.follow_changeover(shared);
            if self.is_changing() {
                return;
            }
        }
        if self.unacknowledged.is_empty() || self.waits_for_ports() {
            return;
        }
        while let Some(at) = self.unacknowledged.pop() {
            let Some(entry) = self.rows.get_mut(at as usize) else { continue };
            entry.ownership.acknowledge(std::mem::take(&mut entry.foreign.unacknowledged));
            if entry.foreign.in_a_row >= MAX_FOREIGN_RUN {
                self.release_row(at, now);
            }
        }
    }

    /// The worker is about to sleep, and everything that came out of the queues has left the router, but for what waits for
    /// a port. Lets go of queues that other workers use too, or each of their packets would wake this one. What is left of
    /// thousands has its turn before the next sleep. Says whether there were any.
    pub fn before_sleep(&mut self, now: Now) -> bool {
        if self.shared_rows.is_empty()
            || self.is_changing()
            || !self.unacknowledged.is_empty()
            || self.waits_for_ports()
        {
            return false;
        }
        for _ in 0..MAX_RELEASED_AT_ONCE {
            let Some(at) = self.shared_rows.pop() else { break };
            let Some(entry) = self.rows.get_mut(at as usize) else { continue };
            entry.foreign.is_listed = false;
            let leaf = |number: u32| self.leaves.get(number as usize);
            // What a kind that has rates of its own has counted stays here.
            let may_go = |leaf: &Leaf| !leaf.is_away() && !leaf.is(leaf_flag::METERED);
            if entry.foreign.idle_releases != 0 && entry.leaves().filter_map(leaf).all(may_go) {
                self.release_row(at, now);
            }
        }
        true
    }

    fn release_row(&mut self, at: u32, now: Now) {
        let Some(entry) = self.rows.get(at as usize) else { return };
        let idle = |number: u32| self.leaves.get(number as usize).is_some_and(|leaf| leaf.waiting == 0);
        if !entry.leaves().all(idle) {
            return;
        }
        let tokens = entry.parts.map(|number| {
            let Some(leaf) = self.leaves.get(number as usize) else { return (0, now) };
            let tokens = match leaf.is(leaf_flag::TREE) {
                true => i64::from(self.htb.give_up(leaf.class, now)),
                false => leaf.bucket.tokens(),
            };
            (tokens, leaf.bucket.counted())
        });
        let bursts = entry.parts.map(|number| self.backlogs.get(number as usize)?.burst.as_deref());
        if bursts.iter().any(Option::is_some) {
            entry.ownership.store_bursts(bursts);
        }
        if entry.ownership.release(self.worker, tokens) {
            for number in entry.leaves() {
                if let Some(leaf) = self.leaves.get_mut(number as usize) {
                    leaf.waiting = AWAY;
                }
            }
        } else {
            for (number, (tokens, _)) in entry.parts.into_iter().zip(tokens) {
                if let Some(leaf) = self.leaves.get(number as usize).filter(|leaf| leaf.is(leaf_flag::TREE)) {
                    take_in_tree(&mut self.htb, leaf.class, tokens, now);
                }
            }
        }
    }
}

/// Takes a leaf in a tree. Instead of tokens, of which it has none of its own, the row says whether the tree has kept some.
fn take_in_tree(htb: &mut Htb, class: ClassId, tokens: i64, now: Now) {
    match tokens {
        0 => htb.take_full(class, now),
        _ => htb.take(class, now),
    }
}

/// The limits of the bucket of a leaf: none where a tree decides.
pub(super) fn own_limit(class: &Class) -> QueueLimit {
    if class.parent.is_none() {
        return *class.limit;
    }
    QueueLimit { max_limit: 0, burst_limit: 0, ..*class.limit }
}

/// Whether a queue kind has rates of its own, or changes packets.
pub(super) fn meters(kind: &QueueType) -> bool {
    match kind {
        QueueType::Pcq { rate, .. } => *rate != 0,
        QueueType::Cake(cake) => cake.bandwidth != 0 || cake.autorate_ingress || cake.wash,
        _ => false,
    }
}
