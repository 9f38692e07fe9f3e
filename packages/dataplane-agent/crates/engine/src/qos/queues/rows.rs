//! The rows of a configuration at a worker, and their leaves: made when the first packet of a row comes to the worker.

use std::sync::Arc;

use tollway_config::dataplane::{QueueLimit, QueueType};

use crate::ids::{LeafId, QueueRef, QueueRefKind};
use crate::packet::frame::Frame;
use crate::qos::addresses::QueueAddresses;
use crate::qos::burst::Burst;
use crate::qos::forest::{Class, ClassId, Context, Forest, Identity, MAX_PATH_LEAVES, PathClasses, RowPart};
use crate::qos::kind::LeafQdisc;
use crate::qos::leaf::{Leaf, LeafQueue, leaf_flag};
use crate::qos::queues::{LeafLookup, Queues};
use crate::time::Now;

impl LeafLookup<'_> {
    /// The leaves of packets between these addresses.
    pub fn path_classes(&self, addresses: &QueueAddresses, context: &Context) -> PathClasses {
        self.table.path_classes(addresses.src, addresses.dst, context, self.utc_ns)
    }

    /// Whether both have the same leaves, and the same packets pass them.
    pub fn shares_queues_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.forest, other.forest) && Arc::ptr_eq(self.table, other.table)
    }

    /// Whether packets between these addresses pass a leaf.
    pub fn passes(&self, addresses: &QueueAddresses, context: &Context, class: ClassId) -> bool {
        self.path_classes(addresses, context).iter().any(|passed| passed == class)
    }
}

impl<F: Frame> Queues<F> {
    /// The queue reference of packets that pass these leaves. `context` is kept with the path, for packets that wait.
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
            return match self.class_leaves.get(first.0 as usize).copied().unwrap_or(LeafId::NONE) {
                LeafId::NONE => self.begin(forest, first, now).map_or(QueueRef::NONE, QueueRef::leaf),
                leaf => QueueRef::leaf(leaf),
            };
        }
        match self.paths.find(classes, context) {
            Some(path) if is_short => QueueRef::short(path),
            Some(path) => QueueRef::path(path, 0),
            None => self.add_path(forest, classes, context, now),
        }
    }

    /// The next queue of a packet that leaves a leaf which is no longer on its path: the leaves of its new path with a
    /// rank above `rank`, since earlier packets of its flow may wait there.
    pub fn queue_after_rank(
        &mut self,
        lookup: &LeafLookup<'_>,
        addresses: &QueueAddresses,
        context: Context,
        rank: usize,
        now: Now,
    ) -> QueueRef {
        let classes = lookup.path_classes(addresses, &context);
        let later = |id: ClassId| lookup.forest.class(id).is_some_and(|class| class.rank() > rank);
        match classes.iter().position(later) {
            Some(step) => self.queue_ref(lookup.forest, &classes, context, now).at(step as u8),
            None => QueueRef::NONE,
        }
    }

    /// Rank of a leaf.
    pub fn rank(&self, leaf: LeafId) -> usize {
        self.leaf_queues.get(leaf.index()).map_or(0, |queue| usize::from(queue.rank))
    }

    #[cold]
    fn add_path(&mut self, forest: &Forest, classes: &PathClasses, context: Context, now: Now) -> QueueRef {
        let mut leaves = [LeafId::NONE; MAX_PATH_LEAVES];
        let mut free = leaves.iter_mut();
        for class in classes.iter() {
            let known = self.class_leaves.get(class.0 as usize).copied().filter(|leaf| *leaf != LeafId::NONE);
            if let Some(leaf) = known.or_else(|| self.begin(forest, class, now))
                && let Some(step) = free.next()
            {
                *step = leaf;
            }
        }
        QueueRef::path(self.paths.add(classes, context, leaves), 0)
    }

    /// Creates the leaves of the row of a class at this worker. Returns the leaf of the class.
    #[cold]
    fn begin(&mut self, forest: &Forest, class: ClassId, now: Now) -> Option<LeafId> {
        let identity = forest.class(class)?.identity;
        let at = self.row_of(identity.first())?;
        self.begin_row(at, forest, now);
        self.rows.get(at)?.parts.get(identity.part.index()).copied().filter(|leaf| *leaf != LeafId::NONE)
    }

    /// Creates the leaves of a row that do not exist yet.
    pub(super) fn begin_row(&mut self, at: usize, forest: &Forest, now: Now) {
        let Some(first) = self.rows.get(at).map(|queue_row| queue_row.class) else { return };
        for (index, class) in forest.parts(first).into_iter().enumerate() {
            let Some((id, class)) = class.and_then(|id| Some((id, forest.class(id)?))) else { continue };
            let has =
                self.rows.get(at).and_then(|queue_row| queue_row.parts.get(index)) != Some(&LeafId::NONE);
            if has || !class.is_leaf {
                continue;
            }
            let leaf = self.begin_leaf(at as u32, id, class, forest, now);
            if let Some(part) = self.rows.get_mut(at).and_then(|queue_row| queue_row.parts.get_mut(index)) {
                *part = leaf;
            }
            if let Some(known) = self.class_leaves.get_mut(id.0 as usize) {
                *known = leaf;
            }
        }
    }

    fn begin_leaf(&mut self, row: u32, id: ClassId, class: &Class, forest: &Forest, now: Now) -> LeafId {
        let kind = forest.type_of(class).unwrap_or(&QueueType::None);
        let limit = own_limit(class);
        let mut hot = Leaf::new(id, &limit, now);
        let mut queue = LeafQueue::new(class.identity, row, kind, self.salt);
        queue.max_limit = limit.max_limit;
        queue.rank = class.rank() as u8;
        queue.burst = Burst::new(&limit, now).map(Box::new);
        if let Some(burst) = &queue.burst {
            hot.bucket.set_rate(burst.ceiling(limit.max_limit), now, false);
        }
        hot.set(leaf_flag::TREE, class.parent.is_some());
        hot.set(leaf_flag::EVERY_PACKET, LeafQdisc::needs_every_packet(kind));
        hot.set(leaf_flag::BURST, queue.burst.is_some());
        hot.set(
            leaf_flag::WATCHED,
            self.watches.has(class.identity.first()) && class.identity.part != RowPart::Total,
        );
        if class.identity.part == RowPart::Interface {
            hot.waiting = 0;
        }
        let leaf = self.free.pop().unwrap_or(LeafId(self.leaves.len() as u32));
        match (self.leaves.get_mut(leaf.index()), self.leaf_queues.get_mut(leaf.index())) {
            (Some(old_hot), Some(old_queue)) => (*old_hot, *old_queue) = (hot, queue),
            _ => {
                self.leaves.push(hot);
                self.leaf_queues.push(queue);
            }
        }
        self.place_before_port(leaf, class, now);
        leaf
    }

    /// Registers a leaf with the ports of its interface.
    pub(super) fn place_before_port(&mut self, leaf: LeafId, class: &Class, now: Now) {
        let Some(interface) = class.interface.filter(|_| class.parent.is_none()) else { return };
        if class.identity.part == RowPart::Interface {
            self.ports.add_queue(interface, leaf);
        } else {
            self.ports.add_below(interface, leaf);
        }
        self.block(leaf, self.ports.is_blocked(interface), now);
    }

    /// Position of a row in [`Self::rows`].
    pub(super) fn row_of(&self, row: Identity) -> Option<usize> {
        self.rows.binary_search_by_key(&row, |queue_row| queue_row.identity).ok()
    }

    /// The leaf of a class of this configuration.
    #[inline]
    pub fn leaf_at(&self, class: ClassId) -> Option<LeafId> {
        self.class_leaves.get(class.0 as usize).copied().filter(|leaf| *leaf != LeafId::NONE)
    }

    /// The leaf of an identity.
    pub fn leaf_of(&self, identity: Identity) -> Option<LeafId> {
        let queue_row = self.rows.get(self.row_of(identity.first())?)?;
        let leaf = queue_row.parts.get(identity.part.index()).copied()?;
        let is_it = |queue: &LeafQueue| queue.identity == identity;
        self.leaf_queues.get(leaf.index()).filter(|queue| is_it(queue)).map(|_| leaf)
    }

    /// Whether this worker owns a row.
    pub(super) fn has_row(&self, row: Identity) -> bool {
        let queue_row = self.row_of(row).and_then(|at| self.rows.get(at));
        queue_row.is_some_and(|queue_row| queue_row.leaves().any(|leaf| !self.is_unowned(leaf)))
    }

    /// Identity of a leaf.
    pub fn identity(&self, leaf: LeafId) -> Option<Identity> {
        self.leaf_queues.get(leaf.index()).map(|queue| queue.identity)
    }

    /// Identities of the leaves of a queue reference.
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

    /// Class of a leaf in this configuration.
    pub fn class(&self, leaf: LeafId) -> Option<ClassId> {
        self.leaves.get(leaf.index()).map(|hot| hot.class)
    }

    /// The leaf at a step of a path; `None` behind the last one.
    #[inline]
    pub fn leaf_at_step(&self, path: u32, step: u8) -> Option<LeafId> {
        self.paths.leaf(path, step)
    }

    /// The queue of a packet that has passed the first leaf of a queue.
    pub fn queue_after(&self, queue: QueueRef) -> QueueRef {
        self.paths.after(queue, queue.step())
    }

    /// Whether another worker may own a leaf.
    #[inline]
    pub fn is_unowned(&self, leaf: LeafId) -> bool {
        self.leaves.get(leaf.index()).is_some_and(Leaf::is_unowned)
    }
}

/// The limits of the bucket of a leaf: none if the leaf is in a tree.
pub(super) fn own_limit(class: &Class) -> QueueLimit {
    if class.parent.is_none() {
        return *class.limit;
    }
    QueueLimit { max_limit: 0, burst_limit: 0, ..*class.limit }
}
