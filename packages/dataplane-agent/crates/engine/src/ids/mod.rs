//! Identifiers of objects that modules share: ports, interfaces, connections, neighbours, queues. Every module may use
//! this one; it uses no other.

mod queue_ref;

pub use queue_ref::{QueueRef, QueueRefKind};

/// Index of a claimed port, stable for the life of the process.
pub type PortId = u16;

/// Number of a link, by which packets come and leave: the untagged frames of the port with this [`PortId`], or, from the
/// number of ports on, an interface above a port. Stable while the interface's row exists.
pub type LinkId = u16;

/// "No link".
pub const NO_LINK: LinkId = u16::MAX;

/// Position of an interface in `DataplaneConfig::interfaces`. Valid within one snapshot only.
pub type InterfaceIndex = u16;

/// "No connection", "no adjacency" in the index fields of [`Meta`](crate::packet::Meta).
pub const NONE: u32 = u32::MAX;

/// "No interface" in the 16-bit index fields of [`Meta`](crate::packet::Meta).
pub const NO_INTERFACE: u16 = u16::MAX;

/// Slot of a neighbour and the number of times that the slot was reused, so that an old id never identifies a later
/// neighbour in the same slot. When the number of reuses is exhausted, the slot is not used until no worker has an old
/// id any more: see `Neighbors::age` in [`crate::ip::neighbor`].
pub type AdjacencyId = u32;

/// Direction of a packet within its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Direction {
    /// Direction of the first packet.
    Original = 0,
    /// The opposite direction.
    Reply = 1,
}

impl Direction {
    /// The other one.
    pub const fn reverse(self) -> Self {
        match self {
            Self::Original => Self::Reply,
            Self::Reply => Self::Original,
        }
    }
    /// 0 or 1.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A reference to a connection. After the connection is gone the reference finds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConnRef {
    /// Index in the table.
    pub slot: u32,
    /// Number of allocations of the slot.
    pub serial: u32,
}

/// Index of a flow entry: connection slot × 2 + direction.
pub type EntryIndex = u32;

/// Number of a flow action among those of a worker: see [`crate::flow::actions`].
pub type ActionId = u32;

/// No flow action.
pub const NO_ACTION: ActionId = 0;

/// No entry.
pub const NO_ENTRY: EntryIndex = u32::MAX;

/// A leaf of one worker's [`Queues`](crate::qos::queues::Queues), by its index. The index of a removed leaf is reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct LeafId(pub u32);

impl LeafId {
    /// No leaf.
    pub const NONE: Self = Self(u32::MAX);

    /// Index of the leaf.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Direction of a packet relative to a queue's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum QueueDirection {
    /// From the target: upload.
    Upload = 0,
    /// To the target.
    Download = 1,
}

impl QueueDirection {
    /// 0 or 1.
    pub const fn index(self) -> u32 {
        self as u32
    }
}
