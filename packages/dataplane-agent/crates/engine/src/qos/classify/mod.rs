//! Which queues take a packet: a leaf below `global`, a simple queue and its total, a leaf below the interface.
//!
//! Of the simple queues it is the first in list order that the packet fits, as download if its destination is in a
//! target, else as upload if its source is; then the first of that one's children, and so on. Each list of queues is a
//! [`level::Level`]. With plain queues two lookups per level decide, however many there are.

mod condition;
mod level;
mod lookup;
mod tree;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use tollway_config::dataplane::{DataplaneConfig, QueueTarget, QueueTime, RowId, SimpleQueue, TreeParent};

use super::Way;
use super::forest::{ClassId, Context, Forest, Identity, Part, Stations};
use crate::error::BuildError;
use crate::tuple::Addr;
use condition::{Condition, Packet};
use level::Level;
use tree::Tree;

/// No queue; above every place.
const NOBODY: u32 = i32::MAX as u32;
/// A queue without children.
const CHILDLESS: u32 = u32::MAX;

/// Where the packets of a queue go.
#[derive(Debug, Clone, Copy)]
struct Queue {
    upload: ClassId,
    total: Option<ClassId>,
    /// Its children's place in [`QueueTable::levels`], or [`CHILDLESS`].
    children: u32,
}

/// What decides whether a simple queue takes a packet.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    row: RowId,
    parent: Option<RowId>,
    targets: Box<[QueueTarget]>,
    dst: Option<QueueTarget>,
    marks: Box<[u32]>,
    time: Option<QueueTime>,
    total: bool,
}

/// How packets of one generation find their queues.
#[derive(Debug, Default)]
pub struct QueueTable {
    /// By place in the list.
    queues: Vec<Queue>,
    conditions: Vec<Option<Condition>>,
    /// Queues without a parent first.
    levels: Vec<Level>,
    tree: Tree,
    has_tree: bool,
    has_time: bool,
    shapes: Vec<Shape>,
    nodes: Vec<(RowId, TreeParent, Box<[u32]>)>,
}

impl QueueTable {
    /// Sorts out which queue takes what. IPv6 targets match nothing, as there is no IPv6 traffic.
    ///
    /// # Errors
    /// Names the row that has a prefix or time out of range.
    pub fn build(config: &DataplaneConfig, forest: &Forest) -> Result<Self, BuildError> {
        let queues = &config.simple_queues;
        if queues.len() >= 1 << 24 {
            return Err(BuildError { row: None, message: "more than 16777215 simple queues".to_owned() });
        }
        let mut table = Self {
            tree: Tree::new(config, forest),
            has_tree: !config.tree_queues.is_empty(),
            shapes: queues.iter().map(shape).collect(),
            nodes: config
                .tree_queues
                .iter()
                .map(|node| (node.row, node.parent, node.packet_marks.as_slice().into()))
                .collect(),
            ..Self::default()
        };
        for queue in queues {
            table.conditions.push(Condition::of(queue)?);
        }
        let times = table.conditions.iter().flatten();
        table.has_time = times.into_iter().any(Condition::has_time);
        let place_of: HashMap<RowId, u32> = queues.iter().map(|queue| queue.row).zip(0..).collect();
        let parent = |queue: &SimpleQueue| queue.parent.and_then(|row| place_of.get(&row)).copied();
        let mut families: Vec<(Option<u32>, Vec<u32>)> = vec![(None, Vec::new())];
        let mut family_of: HashMap<u32, usize> = HashMap::new();
        for (place, queue) in (0u32..).zip(queues) {
            let family = parent(queue).map_or(0, |parent| {
                *family_of.entry(parent).or_insert_with(|| {
                    families.push((Some(parent), Vec::new()));
                    families.len() - 1
                })
            });
            if let Some((_, places)) = families.get_mut(family) {
                places.push(place);
            }
            table.queues.push(Queue {
                upload: forest.simple(place, Way::Upload).unwrap_or(ClassId(0)),
                total: total(queues, place, &parent, forest),
                children: CHILDLESS,
            });
        }
        for (number, (parent, places)) in (0u32..).zip(&families) {
            table.levels.push(Level::new(queues, places, &table.conditions)?);
            if let Some(queue) = parent.and_then(|parent| table.queues.get_mut(parent as usize)) {
                queue.children = number;
            }
        }
        Ok(table)
    }

    /// Whether there are no queues.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty() && !self.has_tree
    }

    /// Whether the time decides about packets.
    pub fn has_time(&self) -> bool {
        self.has_time
    }

    /// Whether every packet goes to the same rows and directions in both tables.
    pub fn matches_as(&self, other: &Self) -> bool {
        self.shapes == other.shapes && self.nodes == other.nodes
    }

    /// The leaves that a packet passes: destination after, source before its translation; wall clock, ns since 1970 UTC.
    #[inline]
    pub fn stations(&self, src: Addr, dst: Addr, context: &Context, utc_ns: i64) -> Stations {
        self.stations_for(src, dst, context, utc_ns).0
    }

    /// The same, and for how long that stays so, ns; `u64::MAX` without end.
    #[inline]
    pub fn stations_for(&self, src: Addr, dst: Addr, context: &Context, utc_ns: i64) -> (Stations, u64) {
        let (mut stations, mut holds_ns) = (Stations::default(), u64::MAX);
        if let Some(leaf) = self.tree.global(context.mark) {
            stations.push(leaf);
        }
        if let (Some(src), Some(dst)) = (src.as_v4(), dst.as_v4()) {
            let packet = Packet { src, dst, context, utc_ns, conditions: &self.conditions };
            if let Some((queue, way)) = self.simple(&packet, &mut holds_ns) {
                stations.push(ClassId(queue.upload.0 + way.index()));
                if let Some(total) = queue.total {
                    stations.push(total);
                }
            }
        }
        self.push_interface(&mut stations, context);
        (stations, holds_ns)
    }

    /// What is left of them for a packet that skips all queues but those of the interface.
    pub fn interface_stations(&self, context: &Context) -> Stations {
        let mut stations = Stations::default();
        self.push_interface(&mut stations, context);
        stations
    }

    #[inline]
    fn push_interface(&self, stations: &mut Stations, context: &Context) {
        if self.has_tree
            && let Some(leaf) = self.tree.interface(context.out_interface, context.mark)
        {
            stations.push(leaf);
        }
    }

    /// The simple queue that takes a packet, and as what.
    #[inline]
    fn simple(&self, packet: &Packet<'_>, holds_ns: &mut u64) -> Option<(&Queue, Way)> {
        let mut level = self.levels.first()?;
        loop {
            let (place, way) = level.first(packet, holds_ns)?;
            let queue = self.queues.get(place as usize)?;
            if queue.children == CHILDLESS {
                return Some((queue, way));
            }
            level = self.levels.get(queue.children as usize)?;
        }
    }
}

fn shape(queue: &SimpleQueue) -> Shape {
    Shape {
        row: queue.row,
        parent: queue.parent,
        targets: queue.targets.as_slice().into(),
        dst: queue.dst,
        marks: queue.packet_marks.as_slice().into(),
        time: queue.time,
        total: queue.total.is_some(),
    }
}

/// The total of a queue without children: its own, or else that of the nearest queue above that has one, unless
/// others share that one through totals of their own.
fn total(
    queues: &[SimpleQueue],
    mut place: u32,
    parent: &impl Fn(&SimpleQueue) -> Option<u32>,
    forest: &Forest,
) -> Option<ClassId> {
    // The forest has refused circles.
    loop {
        let queue = queues.get(place as usize)?;
        if let Some(id) = forest.find(Identity { row: queue.row, part: Part::Total }) {
            return forest.class(id).filter(|class| class.is_leaf).map(|_| id);
        }
        place = parent(queue)?;
    }
}
