//! Conditions of a simple queue beside its targets: `dst`, packet marks, time.

use tollway_config::dataplane::{Mark, QueueTarget, RowId, SimpleQueue};

use super::QueueDirection;
use super::address_map::network;
use crate::error::BuildError;
use crate::firewall::rules::TimeOfDay;
use crate::ip::fib::Address;
use crate::packet::tuple::Addr;
use crate::qos::forest::Context;

/// The fields of a packet by which its queues are found.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketFields<'a> {
    /// Source before its translation.
    pub src: Addr,
    /// Destination after its translation.
    pub dst: Addr,
    /// The properties of the packet beside its addresses.
    pub context: &'a Context,
    /// Wall clock, ns since 1970.
    pub utc_ns: i64,
    /// Conditions of all queues, by position in the list.
    pub conditions: &'a [Option<Box<QueueCondition>>],
}

/// The condition `dst`, on the peer of the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Peer {
    Anything,
    V4 { address: u32, mask: u32 },
    V6 { address: u128, mask: u128 },
    Interface(RowId),
}

/// The conditions of a queue, of which there is at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueueCondition {
    peer: Peer,
    /// Ascending; empty for all.
    marks: Box<[Mark]>,
    time: Option<TimeOfDay>,
}

impl QueueCondition {
    /// Returns `None` if the queue takes all packets from and to its targets.
    pub fn of(queue: &SimpleQueue) -> Result<Option<Self>, BuildError> {
        let peer = match &queue.dst {
            None => Peer::Anything,
            Some(QueueTarget::Interface(target)) => Peer::Interface(target.interface),
            Some(QueueTarget::Prefix(prefix)) => {
                let v4 = network(queue.row, prefix)?;
                let v4 = v4.map(|(address, len)| Peer::V4 { address, mask: u32::MAX.masked(len) });
                let v6 = network(queue.row, prefix)?;
                let v6 = v6.map(|(address, len)| Peer::V6 { address, mask: u128::MAX.masked(len) });
                v4.or(v6).unwrap_or(Peer::Anything)
            }
        };
        let mut marks = queue.packet_marks.clone();
        marks.sort_unstable();
        let time = match &queue.time {
            None => None,
            Some(time) => {
                let moments = (time.from_ms, time.to_ms);
                let built = TimeOfDay::new(moments, time.days, time.utc_offset_s, time.negate);
                Some(built.map_err(|message| BuildError::row(queue.row, message))?)
            }
        };
        let none = peer == Peer::Anything && marks.is_empty() && time.is_none();
        Ok((!none).then(|| Self { peer, marks: marks.into(), time }))
    }

    /// Whether it depends on more than the addresses and the time.
    pub fn asks_context(&self) -> bool {
        !self.marks.is_empty() || matches!(self.peer, Peer::Interface(_))
    }

    /// Whether it holds at some times only.
    pub fn has_time(&self) -> bool {
        self.time.is_some()
    }

    /// Whether a packet matches in this direction. If the time of day decides, `holds_ns` is reduced to the time for
    /// which the answer stays the same, ns.
    pub fn fits(&self, packet: &PacketFields<'_>, direction: QueueDirection, holds_ns: &mut u64) -> bool {
        let (other, by) = match direction {
            QueueDirection::Upload => (packet.dst, packet.context.out_interface),
            QueueDirection::Download => (packet.src, packet.context.in_interface),
        };
        let goes = match self.peer {
            Peer::Anything => true,
            Peer::V4 { address, mask } => other.as_v4().is_some_and(|other| (address ^ other) & mask == 0),
            Peer::V6 { address, mask } => other.as_v4().is_none() && (address ^ other.0) & mask == 0,
            Peer::Interface(row) => row == by,
        };
        goes && (self.marks.is_empty() || self.marks.binary_search(&packet.context.mark).is_ok())
            && self.time.is_none_or(|time| {
                *holds_ns = (*holds_ns).min(time.stays_for_ns(packet.utc_ns));
                time.holds(packet.utc_ns)
            })
    }
}
