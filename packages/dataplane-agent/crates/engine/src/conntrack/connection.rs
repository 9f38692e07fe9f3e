//! The record of one connection.

use tollway_config::dataplane::RowId;

use super::tcp::Tracker;
use crate::slow::SlowReason;
use crate::time::Now;
use crate::tuple::Tuple;

/// Which way a packet of a connection goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Direction {
    /// As the first packet.
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
    /// Place in the table.
    pub slot: u32,
    /// Low half of the id.
    pub serial: u32,
}

/// Status bits; the values are those of the connection dump.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status(pub u16);

macro_rules! status_bits {
    ($($(#[$doc:meta])* $name:ident, $set:ident = $bit:literal;)*) => {
        impl Status {
            $(
                $(#[$doc])*
                pub const fn $name(self) -> bool {
                    self.0 & $bit != 0
                }
                pub(crate) const fn $set(&mut self) {
                    self.0 |= $bit;
                }
            )*
        }
    };
}

status_bits! {
    /// A packet of the reply direction was seen.
    seen_reply, set_seen_reply = 1;
    /// Not evicted when the table is full.
    assured, set_assured = 2;
    /// A packet of it has left the router.
    confirmed, set_confirmed = 4;
    /// A `fasttrack-connection` rule matched.
    fasttrack, set_fasttrack = 8;
    /// Its source is translated.
    srcnat, set_srcnat = 16;
    /// Its destination is translated.
    dstnat, set_dstnat = 32;
}

/// What NAT decided with the first packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NatInfo {
    /// The destination is decided, perhaps as "unchanged".
    pub destination_bound: bool,
    /// The source is decided, perhaps as "unchanged"; the reply tuple is reserved.
    pub source_bound: bool,
    /// Interface row whose address a masquerade rule took; 0 without masquerade.
    pub masquerade: RowId,
    /// The reply tuple stands in the directory, because its packets are steered to another worker.
    pub published: bool,
}

/// A connection. What every packet touches fills the first two cache lines: the TCP windows one, the rest
/// the other.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct Connection {
    /// TCP windows and state; untouched for other protocols.
    pub tcp: Tracker,
    /// Status bits.
    pub status: Status,
    /// Packets per direction, wire segments.
    pub packets: [u64; 2],
    /// L3 bytes per direction.
    pub bytes: [u64; 2],
    /// When it ends without another packet.
    pub expires: Now,
    /// Deadline the timer wheel knows; never later than `expires`.
    pub(super) armed: Now,
    /// Changes whenever state, mark or NAT change what cached actions of both directions rest on.
    pub version: u32,
    /// Number of the batch within which its packets must go slow; the packet path's own.
    pub slow_batch: u32,
    /// Worker in the top byte; 0 in a free place.
    pub id: u64,
    /// Of the packets those that were fasttracked.
    pub fasttrack_packets: [u64; 2],
    /// Of the bytes those that were fasttracked.
    pub fasttrack_bytes: [u64; 2],
    /// Connection mark.
    pub mark: u32,
    /// NAT decisions.
    pub nat: NatInfo,
    /// ICMP type of the first packet.
    pub icmp_type: u8,
    /// ICMP code of the first packet.
    pub icmp_code: u8,
    /// Why the last decision about a direction was not cached; `None` when it was, or there was none.
    pub(super) slow: [Option<SlowReason>; 2],
    /// Which directions the hash structure holds.
    pub(super) indexed: [bool; 2],
    /// Packets in flight that hold it while it is unconfirmed.
    pub(super) pending: u16,
    /// Neighbours in the list of evictable connections, oldest first.
    pub(super) older: u32,
    pub(super) newer: u32,
    /// Tuple of the original direction, as the first packet came.
    pub original: Tuple,
    /// Tuple of the reply direction, as answers come.
    pub reply: Tuple,
}

impl Connection {
    pub(super) fn new(id: u64, tuple: Tuple, tcp: Tracker) -> Self {
        Self {
            tcp,
            status: Status::default(),
            packets: [0; 2],
            bytes: [0; 2],
            fasttrack_packets: [0; 2],
            fasttrack_bytes: [0; 2],
            expires: Now(0),
            armed: Now(0),
            version: 1,
            slow_batch: 0,
            mark: 0,
            nat: NatInfo::default(),
            icmp_type: 0,
            icmp_code: 0,
            slow: [None; 2],
            indexed: [false; 2],
            pending: 0,
            older: NIL,
            newer: NIL,
            id,
            original: tuple,
            reply: tuple.reversed(),
        }
    }
    /// Tuple of the packets of a direction, as they arrive.
    pub fn tuple(&self, direction: Direction) -> Tuple {
        match direction {
            Direction::Original => self.original,
            Direction::Reply => self.reply,
        }
    }
    /// Tuple of the packets of a direction, as they leave.
    pub fn target(&self, direction: Direction) -> Tuple {
        self.tuple(direction.reverse()).reversed()
    }
    /// Why packets of a direction are not cached; `None` when the last one was, or there was none.
    pub fn slow_reason(&self, direction: Direction) -> Option<SlowReason> {
        self.slow.get(direction.index()).copied().flatten()
    }
    /// Notes whether the last decision about a direction was cached, or why not.
    pub(crate) fn note_slow(&mut self, direction: Direction, reason: Option<SlowReason>) {
        if let Some(cell) = self.slow.get_mut(direction.index()) {
            *cell = reason;
        }
    }
    /// L3 bytes of both directions together.
    #[inline]
    pub fn carried(&self) -> u64 {
        let [original, reply] = self.bytes;
        original.wrapping_add(reply)
    }
    /// Makes the cached actions of both directions invalid.
    pub fn invalidate(&mut self) {
        self.version = self.version.wrapping_add(1);
    }
}

pub(super) const NIL: u32 = u32::MAX;

const _: () = {
    assert!(std::mem::offset_of!(Connection, packets) == 64);
    assert!(std::mem::offset_of!(Connection, id) == 120);
};
