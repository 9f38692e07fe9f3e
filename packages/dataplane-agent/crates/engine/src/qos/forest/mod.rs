//! The trees of queues of one configuration: every class with its parent, its limits and its queue type.
//!
//! A class is one direction of a simple queue, its total, a node of `/queue/tree`, or the queue of an interface. A
//! class with children distributes; one without is a leaf and holds packets. A class without a parent is a root.
//! [`crate::qos::classify`] decides which packets go into which leaf.

mod build;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use tollway_config::dataplane::MAX_QUEUE_LEVELS as MAX_LEVELS;
use tollway_config::dataplane::{Mark, QueueLimit, QueueType, RowId};
use tollway_config::protocol::record::queue_part;

use crate::ids::QueueDirection;

/// A class of one configuration: its index in [`Forest::classes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u32);

/// The part of a configuration row that a class implements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RowPart {
    /// Upload: from the targets of a simple queue.
    Upload = queue_part::UPLOAD,
    /// To the targets of a simple queue.
    Download = queue_part::DOWNLOAD,
    /// Both directions of a simple queue.
    Total = queue_part::TOTAL,
    /// A node of `/queue/tree`.
    Whole = queue_part::WHOLE,
    /// The queue of an interface; the row is the interface's.
    Interface = queue_part::INTERFACE,
}

impl RowPart {
    /// Index among the parts of the row: 0, 1 and 2 for upload, download and total; 0 for the only part of another row.
    pub const fn index(self) -> usize {
        match self {
            Self::Upload | Self::Whole | Self::Interface => 0,
            Self::Download => 1,
            Self::Total => 2,
        }
    }
}

/// Most leaves that a packet passes: of a tree below `global`, of a simple queue, its total, of a tree below the
/// interface by which it leaves. The queue of the interface itself is not among them, as it is the same for all
/// packets of a port.
pub const MAX_PATH_LEAVES: usize = 4;

/// The leaves that a packet passes, in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PathClasses {
    /// Ids of the classes plus one, then zeros.
    leaves: [u32; MAX_PATH_LEAVES],
}

impl PathClasses {
    /// Appends a leaf, unless there are [`MAX_PATH_LEAVES`] already.
    pub fn push(&mut self, leaf: ClassId) {
        if let Some(free) = self.leaves.iter_mut().find(|leaf| **leaf == 0) {
            *free = leaf.0 + 1;
        }
    }

    /// The leaves in order.
    pub fn iter(&self) -> impl Iterator<Item = ClassId> {
        self.leaves.into_iter().filter_map(|leaf| leaf.checked_sub(1)).map(ClassId)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.leaves[0] == 0
    }
}

/// The properties of a packet, beside its addresses, by which its leaves are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Context {
    /// Packet mark; 0 none.
    pub mark: Mark,
    /// Row of the interface it came in by; 0 none.
    pub in_interface: RowId,
    /// Row of the interface it leaves by; 0 none.
    pub out_interface: RowId,
}

/// Identifies a class in every configuration that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// Row.
    pub row: RowId,
    /// Part of the row.
    pub part: RowPart,
}

impl Identity {
    /// Identity of the first part of the row, by which the row is found.
    #[must_use]
    pub const fn first(self) -> Self {
        match self.part {
            RowPart::Upload | RowPart::Whole | RowPart::Interface => self,
            RowPart::Download | RowPart::Total => Self { part: RowPart::Upload, ..self },
        }
    }
}

/// A class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// Identity of the class.
    pub identity: Identity,
    /// The class that it borrows from.
    pub parent: Option<ClassId>,
    /// The class above all; itself for a root.
    pub root: ClassId,
    /// Row of the interface by which all packets of the class's tree leave.
    pub interface: Option<RowId>,
    /// The class has no children.
    pub is_leaf: bool,
    /// Number of edges to the farthest leaf below; 0 for a leaf.
    pub level: u8,
    /// Rates, bucket, priority and the index of its queue type in [`Forest::types`].
    pub limit: Arc<QueueLimit>,
}

/// Positions that leaves have on a path: see [`Class::rank`].
pub const RANKS: usize = MAX_PATH_LEAVES + 1;

impl Class {
    /// The position of its leaves on the path of a packet: a tree below `global` first, then a simple queue, its total,
    /// a tree below an interface, and the queue of the interface.
    pub const fn rank(&self) -> usize {
        match (self.identity.part, self.interface) {
            (RowPart::Whole, None) => 0,
            (RowPart::Upload | RowPart::Download, _) => 1,
            (RowPart::Total, _) => 2,
            (RowPart::Whole, Some(_)) => 3,
            (RowPart::Interface, _) => 4,
        }
    }
}

/// The classes, parents before children.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Forest {
    classes: Vec<Class>,
    types: Vec<QueueType>,
    /// Classes by identity. Only filled while the forest is built.
    by_identity: HashMap<Identity, ClassId>,
    /// Upload class of each simple queue, by its position in the list; the download class is the next one.
    simple: Vec<ClassId>,
    /// Class of each row of `/queue/tree`, by its position in the list.
    tree: Vec<ClassId>,
    /// First class of each row, by ascending identity. The classes of a row follow each other.
    rows: Vec<ClassId>,
    /// Distinct limits, so that classes with equal limits share them: subscribers have a handful of tariffs. Only
    /// filled while the forest is built.
    limits: HashSet<Arc<QueueLimit>>,
}

impl Forest {
    /// The first class of each row, by ascending identity; the others of the row follow it.
    pub fn rows(&self) -> &[ClassId] {
        &self.rows
    }

    /// The classes of a row, of which this is the first, by [`RowPart::index`].
    pub fn parts(&self, first: ClassId) -> [Option<ClassId>; 3] {
        let mut parts = [None; 3];
        let row = self.class(first).map(|class| class.identity);
        for id in (first.0..first.0.saturating_add(3)).map(ClassId) {
            let Some(identity) = self.class(id).map(|class| class.identity) else { break };
            if row.map(Identity::first) != Some(identity.first()) {
                break;
            }
            if let Some(part) = parts.get_mut(identity.part.index()) {
                *part = Some(id);
            }
        }
        parts
    }

    /// Every class, by its id.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The queue types.
    pub fn types(&self) -> &[QueueType] {
        &self.types
    }

    /// A class.
    #[inline]
    pub fn class(&self, id: ClassId) -> Option<&Class> {
        self.classes.get(id.0 as usize)
    }

    /// The queue type of a class.
    pub fn type_of(&self, class: &Class) -> Option<&QueueType> {
        self.types.get(class.limit.queue_type as usize)
    }

    /// A class by its identity.
    pub fn find(&self, identity: Identity) -> Option<ClassId> {
        // `rows` is sorted by the first part of each row; the other parts follow it in `classes`.
        let first =
            |id: &ClassId| self.class(*id).map(|class| (class.identity.row, class.identity.part as u8 / 3));
        let wanted = (identity.row, identity.part as u8 / 3);
        let at = self.rows.partition_point(|id| first(id).is_some_and(|name| name < wanted));
        let ClassId(start) = *self.rows.get(at)?;
        (start..start + 3)
            .map(ClassId)
            .find(|id| self.class(*id).is_some_and(|class| class.identity == identity))
    }

    /// Class of one direction of the simple queue at a position of the list.
    #[inline]
    pub fn simple(&self, position: u32, direction: QueueDirection) -> Option<ClassId> {
        self.simple.get(position as usize).map(|upload| ClassId(upload.0 + direction.index()))
    }

    /// The node at a position of `/queue/tree`.
    pub fn tree(&self, position: u32) -> Option<ClassId> {
        self.tree.get(position as usize).copied()
    }
}

/// No limit at all.
pub(super) const NO_LIMIT: QueueLimit = QueueLimit {
    limit_at: 0,
    max_limit: 0,
    burst_limit: 0,
    burst_threshold: 0,
    burst_time_ms: 0,
    bucket_ms: 0,
    priority: 8,
    queue_type: 0,
};
