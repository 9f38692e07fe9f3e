//! Which queues take a packet: a leaf below `global`, a simple queue and its total, a leaf below the interface.
//!
//! The simple queue is the first in list order that the packet matches: as download if the packet's destination is in a
//! target of the queue, else as upload if its source is. If that queue has children, it is the first child that the
//! packet matches, and so on; a packet that matches no child is in no simple queue. Each list of queues is a
//! [`siblings::Siblings`]. Without conditions and interface targets, two lookups per level decide, regardless of the
//! number of queues.

mod address_map;
mod condition;
mod siblings;
mod tree;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use tollway_config::dataplane::{DataplaneConfig, QueueTarget, RowId, SimpleQueue, TreeQueue};

use super::forest::{ClassId, Context, Forest, Identity, PathClasses, RowPart};
use crate::error::BuildError;
use crate::ids::QueueDirection;
use crate::packet::tuple::Addr;
use condition::{PacketFields, QueueCondition};
use siblings::Siblings;
use tree::TreeClassifier;
pub(crate) use tree::vlans_in_trees_below;

/// No queue; above every position.
const NOBODY: u32 = i32::MAX as u32;
/// A queue without children.
const CHILDLESS: u32 = u32::MAX;

/// Classes that the packets of a queue pass.
#[derive(Debug, Clone, Copy)]
struct Queue {
    upload: ClassId,
    total: Option<ClassId>,
    /// Index of its children in [`QueueTable::siblings`], or [`CHILDLESS`].
    children: u32,
}

/// Classification of packets into queues, for one generation of the configuration.
#[derive(Debug, Default)]
pub struct QueueTable {
    /// Queues by their position in the list.
    queues: Vec<Queue>,
    conditions: Vec<Option<Box<QueueCondition>>>,
    /// Queues without a parent first.
    siblings: Vec<Siblings>,
    tree: TreeClassifier,
    has_tree: bool,
    has_time: bool,
    /// A result depends on more than addresses and time.
    asks_context: bool,
    /// If `asks_context`: the generation since which every table has done so.
    asks_since: u32,
    /// Digest of everything that classification depends on.
    digest: [u64; 2],
}

impl QueueTable {
    /// Builds the classification of a configuration.
    ///
    /// # Errors
    /// Names the row that has a prefix or time out of range.
    pub fn build(config: &DataplaneConfig, forest: &Forest) -> Result<Self, BuildError> {
        let queues = &config.simple_queues;
        if queues.len() >= 1 << 24 {
            return Err(BuildError { row: None, message: "more than 16777215 simple queues".to_owned() });
        }
        let mut table = Self {
            tree: TreeClassifier::new(config, forest),
            has_tree: !config.tree_queues.is_empty(),
            digest: [0, 1].map(|salt| digest(config, salt)),
            ..Self::default()
        };
        for queue in queues {
            table.conditions.push(QueueCondition::of(queue)?.map(Box::new));
        }
        let times = table.conditions.iter().flatten();
        table.has_time = times.into_iter().any(|condition| condition.has_time());
        let is_interface = |target: &QueueTarget| matches!(target, QueueTarget::Interface(_));
        table.asks_context = table.has_tree
            || table.conditions.iter().flatten().any(|condition| condition.asks_context())
            || queues.iter().flat_map(|queue| &queue.targets).any(is_interface);
        let place_of: HashMap<RowId, u32> = queues.iter().map(|queue| queue.row).zip(0..).collect();
        let parent = |queue: &SimpleQueue| queue.parent.and_then(|row| place_of.get(&row)).copied();
        let mut families: Vec<(Option<u32>, Vec<u32>)> = vec![(None, Vec::new())];
        let mut family_of: HashMap<u32, usize> = HashMap::new();
        for (position, queue) in (0u32..).zip(queues) {
            let family = parent(queue).map_or(0, |parent| {
                *family_of.entry(parent).or_insert_with(|| {
                    families.push((Some(parent), Vec::new()));
                    families.len() - 1
                })
            });
            if let Some((_, positions)) = families.get_mut(family) {
                positions.push(position);
            }
            table.queues.push(Queue {
                upload: forest.simple(position, QueueDirection::Upload).unwrap_or(ClassId(0)),
                total: total(queues, position, &parent, forest),
                children: CHILDLESS,
            });
        }
        for (index, (parent, positions)) in (0u32..).zip(&families) {
            table.siblings.push(Siblings::new(queues, positions, &table.conditions)?);
            if let Some(queue) = parent.and_then(|parent| table.queues.get_mut(parent as usize)) {
                queue.children = index;
            }
        }
        Ok(table)
    }

    /// Whether there are no queues.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty() && !self.has_tree
    }

    /// The context, or an empty one if no queue depends on it, so that packets of queues without conditions need no
    /// path.
    #[inline]
    pub fn relevant(&self, context: Context) -> Context {
        if self.asks_context { context } else { Context::default() }
    }

    /// The part of a context noted under an older generation that is still valid. Empty if a generation in between did
    /// not ask for contexts: packets of the same flow that came then have none, and must pass the same leaves.
    pub fn still_relevant(&self, context: Context, generation: u32) -> Context {
        if generation < self.asks_since { Context::default() } else { self.relevant(context) }
    }

    /// Notes the table used before this one, and the generation of this one.
    pub fn follow(&mut self, before: &Self, generation: u32) {
        let begins = self.asks_context && !before.asks_context;
        self.asks_since = if begins { generation } else { before.asks_since };
    }

    /// Whether the contexts of packets that arrived under an older table are still valid: see [`Self::still_relevant`].
    pub fn keeps_context_of(&self, before: &Self) -> bool {
        self.asks_context && self.asks_since <= before.asks_since
    }

    /// Whether the classification depends on the time of day.
    pub fn has_time(&self) -> bool {
        self.has_time
    }

    /// Whether the classification depends on more than addresses and the time.
    pub fn asks_context(&self) -> bool {
        self.asks_context
    }

    /// Whether every packet goes to the same rows and directions in this table and one before it.
    pub fn matches_as(&self, before: &Self) -> bool {
        self.digest == before.digest && (!self.asks_context || self.keeps_context_of(before))
    }

    /// The leaves that a packet passes. `src` is the source before and `dst` the destination after translation;
    /// `utc_ns` is the wall clock, ns since 1970 UTC.
    #[inline]
    pub fn path_classes(&self, src: Addr, dst: Addr, context: &Context, utc_ns: i64) -> PathClasses {
        self.path_classes_for(src, dst, context, utc_ns).0
    }

    /// Classes of the path, and for how long they stay the same, ns; `u64::MAX` without end.
    #[inline]
    pub fn path_classes_for(
        &self,
        src: Addr,
        dst: Addr,
        context: &Context,
        utc_ns: i64,
    ) -> (PathClasses, u64) {
        let (mut classes, mut holds_ns) = (PathClasses::default(), u64::MAX);
        if let Some(leaf) = self.tree.global(context.mark) {
            classes.push(leaf);
        }
        let packet = PacketFields { src, dst, context, utc_ns, conditions: &self.conditions };
        if let Some((queue, direction)) = self.simple(&packet, &mut holds_ns) {
            classes.push(ClassId(queue.upload.0 + direction.index()));
            if let Some(total) = queue.total {
                classes.push(total);
            }
        }
        self.push_interface(&mut classes, context);
        (classes, holds_ns)
    }

    /// Path classes of a packet that skips all queues but those of the interface.
    pub fn interface_path_classes(&self, context: &Context) -> PathClasses {
        let mut classes = PathClasses::default();
        self.push_interface(&mut classes, context);
        classes
    }

    #[inline]
    fn push_interface(&self, classes: &mut PathClasses, context: &Context) {
        if self.has_tree
            && let Some(leaf) = self.tree.interface(context.out_interface, context.mark)
        {
            classes.push(leaf);
        }
    }

    /// The simple queue that takes a packet, and in which direction.
    #[inline]
    fn simple(&self, packet: &PacketFields<'_>, holds_ns: &mut u64) -> Option<(&Queue, QueueDirection)> {
        let mut siblings = self.siblings.first()?;
        loop {
            let (position, direction) = siblings.first(packet, holds_ns)?;
            let queue = self.queues.get(position as usize)?;
            if queue.children == CHILDLESS {
                return Some((queue, direction));
            }
            siblings = self.siblings.get(queue.children as usize)?;
        }
    }
}

/// Hash of everything that the classification depends on. A table has two that differ only in the salt: two tables
/// whose hashes both agree are equal except with a probability of 2⁻¹²⁸. The hashed data itself would take more memory
/// than the queues.
fn digest(config: &DataplaneConfig, salt: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    salt.hash(&mut hasher);
    for queue in &config.simple_queues {
        let SimpleQueue { row, targets, dst, packet_marks, parent, time, upload: _, download: _, total } =
            queue;
        (row, targets, dst, packet_marks, parent, time, total.is_some()).hash(&mut hasher);
    }
    config.simple_queues.len().hash(&mut hasher);
    for node in &config.tree_queues {
        let TreeQueue { row, parent, packet_marks, limit: _ } = node;
        (row, parent, packet_marks).hash(&mut hasher);
    }
    vlans_in_trees_below(config).hash(&mut hasher);
    hasher.finish()
}

/// The total of a queue without children: its own, or else that of the nearest queue above that has one. `None` if that
/// total is not a leaf, because other queues below it have totals of their own.
fn total(
    queues: &[SimpleQueue],
    mut position: u32,
    parent: &impl Fn(&SimpleQueue) -> Option<u32>,
    forest: &Forest,
) -> Option<ClassId> {
    // The loop ends, as the forest has no cycles.
    loop {
        let queue = queues.get(position as usize)?;
        if let Some(id) = forest.find(Identity { row: queue.row, part: RowPart::Total }) {
            return forest.class(id).filter(|class| class.is_leaf).map(|_| id);
        }
        position = parent(queue)?;
    }
}
