//! Numbers by which modules name each other's things: ports, interfaces, connections, neighbours, queues. Every other
//! module may use this one; it uses none.

mod queue_ref;

pub use queue_ref::{QueueRef, QueueRefKind};

/// Index of a claimed port, stable for the life of the process.
pub type PortId = u16;

/// Position of an interface in `DataplaneConfig::interfaces`. Valid within one snapshot only.
pub type InterfaceIndex = u16;

/// "No connection", "no adjacency" in the index fields of [`Meta`](crate::packet::Meta).
pub const NONE: u32 = u32::MAX;

/// "No interface" in the 16-bit index fields of [`Meta`](crate::packet::Meta).
pub const NO_INTERFACE: u16 = u16::MAX;

/// A neighbour's slot and the use of the slot it was given for: an id kept for long never names a later
/// neighbour in the same slot. When the reuses of a slot are used up, it is not used until nobody has an id any
/// more: see `Neighbors::age` in [`crate::ip::neighbor`].
pub type AdjacencyId = u32;

/// Direction of a packet within its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Direction {
    /// Direction of the first packet.
    Original = 0,
    /// Against it.
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

/// A connection as packets hold it. A reference to a connection that is gone finds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConnRef {
    /// Index in the table.
    pub slot: u32,
    /// Number of allocations of the slot.
    pub serial: u32,
}

/// Index of a flow entry: connection slot × 2 + direction.
pub type EntryIndex = u32;

/// No entry.
pub const NO_ENTRY: EntryIndex = u32::MAX;

/// A leaf of one worker's [`Queues`](crate::qos::queues::Queues), by its index there. The index of a leaf that is
/// gone is given to another one.
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
