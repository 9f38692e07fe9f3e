//! Records that the engine packs for others, read.

use std::collections::BTreeSet;

use tollway_config::dataplane::RowId;

use crate::dual_stack::protocol_in_ipv6;
use crate::packet::ip;

/// Records of the queue dump, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueRecord {
    /// Row.
    pub row: RowId,
    /// Worker at which most of its packets passed.
    pub worker: u32,
    /// Part of a single record; else 0.
    pub part: u8,
    /// Upload, download; all workers together.
    pub directions: [QueuePartRecord; 2],
    /// The other parts: total of a simple queue, node of a tree, queue of an interface.
    pub others: [QueuePartRecord; 3],
}

/// A part of a queue: a direction, a total, a node of a tree, an interface's queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueuePartRecord {
    /// L3 bytes that passed.
    pub bytes: u64,
    /// Wire segments that passed.
    pub packets: u64,
    /// Wire segments dropped.
    pub dropped: u64,
    /// Bits/s.
    pub rate: u64,
    /// Packets/s.
    pub packet_rate: u64,
    /// L3 bytes that wait.
    pub queued_bytes: u64,
    /// Wire segments that wait.
    pub queued_packets: u32,
    /// TCP segments that came out of order.
    pub out_of_order: u64,
}

impl QueueRecord {
    /// The records of one queue by several workers, each of which has at most one of each part, added up.
    pub fn together(row: RowId, records: Vec<Self>) -> Self {
        let passed = |record: &Self| record.all().map(|way| way.packets).sum::<u64>();
        let worker = records.iter().max_by_key(|record| passed(record)).map_or(0, |record| record.worker);
        let parts: BTreeSet<(u32, u8)> = records.iter().map(|record| (record.worker, record.part)).collect();
        assert_eq!(parts.len(), records.len(), "a worker reports a queue's parts once: {records:?}");
        let sum = |one: QueuePartRecord, other: QueuePartRecord| QueuePartRecord {
            bytes: one.bytes + other.bytes,
            packets: one.packets + other.packets,
            dropped: one.dropped + other.dropped,
            rate: one.rate + other.rate,
            packet_rate: one.packet_rate + other.packet_rate,
            queued_bytes: one.queued_bytes + other.queued_bytes,
            queued_packets: one.queued_packets + other.queued_packets,
            out_of_order: one.out_of_order + other.out_of_order,
        };
        let both = |one: Self, other: Self| Self {
            directions: std::array::from_fn(|part| sum(one.directions[part], other.directions[part])),
            others: std::array::from_fn(|part| sum(one.others[part], other.others[part])),
            ..one
        };
        let none = Self { row, worker, part: 0, directions: Default::default(), others: Default::default() };
        Self { worker, part: 0, ..records.into_iter().reduce(both).unwrap_or(none) }
    }

    /// Parts of the record.
    fn all(&self) -> impl Iterator<Item = &QueuePartRecord> {
        self.directions.iter().chain(&self.others)
    }

    /// Unpacks one, which has one of the directions.
    pub fn read(bytes: &[u8]) -> Self {
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let part_at = |at: usize| QueuePartRecord {
            bytes: u64_at(at),
            packets: u64_at(at + 8),
            dropped: u64_at(at + 16),
            rate: u64_at(at + 24),
            packet_rate: u64_at(at + 32),
            queued_bytes: u64_at(at + 40),
            queued_packets: u32_at(at + 48),
            out_of_order: u64_at(at + 88),
        };
        let (mut directions, mut others) = ([QueuePartRecord::default(); 2], [QueuePartRecord::default(); 3]);
        let part = usize::from(bytes[6]);
        match part.checked_sub(directions.len()) {
            None => directions[part] = part_at(8),
            Some(part) => others[part] = part_at(8),
        }
        Self { row: u32_at(0), worker: u32_at(4) & 0xffff, part: bytes[6], directions, others }
    }
}

/// A record of the connection dump, read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionRecord {
    /// Id.
    pub id: u64,
    /// Protocol.
    pub protocol: u8,
    /// 4 or 6.
    pub family: u8,
    /// Zone of the first packet; 0 outside of VRFs.
    pub zone: u16,
    /// Flag letters as RouterOS prints them: `SACFsd`, in this order.
    pub flags: String,
    /// TCP state number; 255 for other protocols.
    pub tcp_state: u8,
    /// Original source, destination, reply source, destination: address and port. Of IPv6 the last four bytes of the
    /// address: that of IPv4 which it stands for in [`dual_stack`](crate::dual_stack).
    pub endpoints: [(std::net::Ipv4Addr, u16); 4],
    /// Time to expiry, ms.
    pub timeout_ms: u32,
    /// Connection mark; 0 none.
    pub mark: u32,
    /// Packets and bytes, original then reply direction.
    pub counts: [(u64, u64); 2],
    /// The fasttracked ones among them.
    pub fasttrack: [(u64, u64); 2],
}

/// What the opener of a flow knows of it.
#[derive(Debug, Clone, Copy)]
pub struct Opener<'a> {
    /// The flow is of IPv6.
    pub v6: bool,
    /// Zone of the opener's interface.
    pub zone: u16,
    /// Protocol number of IPv4.
    pub protocol: u8,
    /// Address, of IPv4 or that which one of IPv6 stands for.
    pub host: &'a str,
    /// Source port or identifier.
    pub port: u16,
    /// Destination port; not looked at for ICMP.
    pub service: u16,
}

impl ConnectionRecord {
    /// Whether it is the connection of a flow.
    pub fn is_of(&self, opener: &Opener<'_>) -> bool {
        let Opener { v6, zone, protocol, host, port, service } = *opener;
        let [src, dst, ..] = self.endpoints;
        u32::from(src.0) == ip(host)
            && self.zone == zone
            && (self.family == 6) == v6
            && self.protocol == if v6 { protocol_in_ipv6(protocol) } else { protocol }
            && src.1 == port
            && (protocol == 1 || dst.1 == service)
    }

    /// Address and port of the opener and of the other end, as the other end sees them.
    pub fn outside(&self) -> (u32, u16, u32, u16) {
        let [.., src, dst] = self.endpoints;
        (dst.0.to_bits(), dst.1, src.0.to_bits(), src.1)
    }

    /// Unpacks one.
    pub fn read(bytes: &[u8]) -> Self {
        let u16_at = |at: usize| u16::from_le_bytes(bytes[at..at + 2].try_into().expect("2 bytes"));
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let address = |at: usize| {
            let octets: [u8; 4] = bytes[at + 12..at + 16].try_into().expect("4 bytes");
            std::net::Ipv4Addr::from(octets)
        };
        let flags = u16_at(10);
        let letters = [(1, 'S'), (2, 'A'), (4, 'C'), (8, 'F'), (16, 's'), (32, 'd'), (64, 'D')];
        Self {
            id: u64_at(0),
            protocol: bytes[8],
            family: bytes[9],
            zone: u16_at(160),
            flags: letters.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, letter)| letter).collect(),
            tcp_state: bytes[12],
            endpoints: [
                (address(16), u16_at(80)),
                (address(32), u16_at(82)),
                (address(48), u16_at(84)),
                (address(64), u16_at(86)),
            ],
            timeout_ms: u32_at(88),
            mark: u32_at(92),
            counts: [(u64_at(96), u64_at(104)), (u64_at(112), u64_at(120))],
            fasttrack: [(u64_at(128), u64_at(136)), (u64_at(144), u64_at(152))],
        }
    }
}
