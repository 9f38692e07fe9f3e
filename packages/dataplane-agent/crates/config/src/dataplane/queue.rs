//! `/queue`: simple queues, queue trees and the queues of interfaces.
//!
//! Rates are L3 bits per second over wire segments. Every node that has children only distributes; what has none
//! is a leaf and holds packets, as its queue type says.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::DataplaneConfig;
use super::{Mark, RowId};

/// An IPv4 or IPv6 network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Prefix {
    /// First address; host bits are zero.
    pub address: IpAddr,
    /// 0…32 or 0…128.
    pub prefix_len: u8,
}

/// Whose traffic a simple queue holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum QueueTarget {
    /// Stations with these addresses.
    Prefix(Prefix),
    /// Whatever is behind an interface: what enters by it is upload, what leaves by it download.
    Interface(TargetInterface),
}

/// An interface as the target of a simple queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TargetInterface {
    /// Row of the interface.
    pub interface: RowId,
}

/// A simple queue. The first one in list order that a packet fits takes it: as *download* when the
/// destination (after its translation) is in a target, else as *upload* when the source (before its
/// translation) is. Then the first of its children that the packet fits, and so on; what fits no child of a queue
/// that has some is in none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SimpleQueue {
    /// Row of `/queue/simple`.
    pub row: RowId,
    /// Whose traffic it holds; not empty.
    pub targets: Vec<QueueTarget>,
    /// Only traffic between the targets and this.
    #[serde(default)]
    pub dst: Option<QueueTarget>,
    /// Only packets with one of these marks, 0 for those without; empty for all.
    #[serde(default)]
    pub packet_marks: Vec<Mark>,
    /// Row of the simple queue whose child it is. At most eight levels; no circles.
    #[serde(default)]
    pub parent: Option<RowId>,
    /// When it works; always without.
    #[serde(default)]
    pub time: Option<QueueTime>,
    /// From the targets.
    pub upload: QueueLimit,
    /// To the targets.
    pub download: QueueLimit,
    /// Both together, after the one of the direction. Its parent is the `total` of the queue's parent.
    #[serde(default)]
    pub total: Option<QueueLimit>,
}

/// Time of day and days of the week, in the router's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct QueueTime {
    /// First moment, milliseconds after midnight.
    pub from_ms: u32,
    /// Last moment, milliseconds after midnight; before `from_ms` the span passes midnight.
    pub to_ms: u32,
    /// Days, bit 0 is Sunday.
    pub days: u8,
    /// Offset of the router's clock from UTC, seconds.
    pub utc_offset_s: i32,
    /// At all other times instead.
    pub negate: bool,
}

/// Rates of a node of a tree of queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct QueueLimit {
    /// Rate it gets in any case, bits/s; 0 none. Without a parent of no effect.
    #[serde(default)]
    pub limit_at: u64,
    /// Highest rate, bits/s; 0 no limit.
    pub max_limit: u64,
    /// Highest rate while a burst lasts, bits/s; 0 no bursts.
    #[serde(default)]
    pub burst_limit: u64,
    /// A burst is allowed while the average is below this, bits/s.
    #[serde(default)]
    pub burst_threshold: u64,
    /// Time over which the average is taken, ms; 0 no bursts. It is taken anew every sixteenth of it.
    #[serde(default)]
    pub burst_time_ms: u32,
    /// Depth of the token bucket: what `max_limit` brings in this time, ms.
    pub bucket_ms: u32,
    /// 1 (first) to 8, among those that borrow from the same parent. Leaves only.
    #[serde(default = "lowest_priority")]
    pub priority: u8,
    /// Index into [`DataplaneConfig::queue_types`]. Leaves only.
    #[serde(default)]
    pub queue_type: u32,
}

fn lowest_priority() -> u8 {
    8
}

/// A node of `/queue/tree`. Of the leaves below one root, a packet goes to the first one in list order that has its
/// mark, else to the first one without marks; into none if there is neither. A packet may pass a leaf below
/// `global`, then a simple queue, then a leaf below the interface by which it leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TreeQueue {
    /// Row of `/queue/tree`.
    pub row: RowId,
    /// Whose child it is.
    pub parent: TreeParent,
    /// Packets with one of these marks, 0 for those without; empty for what no sibling's leaf takes.
    pub packet_marks: Vec<Mark>,
    /// Rates.
    pub limit: QueueLimit,
}

/// Whose child a node of `/queue/tree` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "kind")]
pub enum TreeParent {
    /// Root of a tree that all packets pass.
    Global,
    /// Root of a tree that packets pass which leave by an interface.
    Interface {
        /// Row of the interface.
        interface: RowId,
    },
    /// Another node. At most eight levels; no circles.
    Queue {
        /// Row of the node.
        row: RowId,
    },
}

impl TreeParent {
    /// Row of the interface, for the root of the tree of an interface.
    pub fn interface(self) -> Option<RowId> {
        match self {
            Self::Interface { interface } => Some(interface),
            Self::Global | Self::Queue { .. } => None,
        }
    }
}

/// Queue of packets for a port that takes no more of them (`/queue/interface`). Interfaces without an entry keep
/// only what the port itself keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct InterfaceQueue {
    /// Row of the interface.
    pub interface: RowId,
    /// Index into [`DataplaneConfig::queue_types`].
    pub queue_type: u32,
}

/// Queue type (`/queue/type`). Packets are wire segments; bytes are L3.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "kind")]
pub enum QueueType {
    /// None waits: as an interface's queue only what the port itself keeps; in a tree a packet waits alone.
    None,
    /// First in, first out.
    Pfifo {
        /// Packets that may wait.
        limit: u32,
    },
    /// First in, first out.
    Bfifo {
        /// Bytes that may wait.
        limit: u64,
    },
    /// A [`Self::Pfifo`] for each worker's queue of a port.
    MqPfifo {
        /// Packets that may wait in each.
        limit: u32,
    },
    /// Random early detection (Floyd and Jacobson, 1993).
    Red {
        /// Packets that may wait.
        limit: u32,
        /// Average from which packets are dropped at random, packets.
        min_threshold: u32,
        /// Average from which all packets are dropped, packets.
        max_threshold: u32,
        /// Packets of a burst that the average forgives.
        burst: u32,
        /// Length of a packet by which an idle time is counted, bytes.
        avg_packet: u32,
    },
    /// Stochastic fairness queuing (McKenney, 1990): 1,024 buckets, 128 packets in all.
    Sfq {
        /// Time after which the hash changes, s; 0 never.
        perturb_s: u32,
        /// Bytes per turn.
        allot: u32,
    },
    /// Per connection queuing: a sub-queue for each value of the classifier.
    Pcq {
        /// Highest rate of a sub-queue, bits/s; 0 shares what there is equally.
        rate: u64,
        /// Bytes that may wait in a sub-queue.
        limit: u64,
        /// Bytes that may wait in all of them.
        total_limit: u64,
        /// Fields that tell sub-queues apart.
        classifier: Vec<PcqClassifier>,
        /// Highest rate while a burst lasts, bits/s; 0 no bursts.
        burst_rate: u64,
        /// A burst is allowed while the sub-queue's average is below this, bits/s.
        burst_threshold: u64,
        /// Time over which the average is taken, ms.
        burst_time_ms: u32,
        /// Leading bits of an IPv4 source that count.
        src_address_mask: u8,
        /// Leading bits of an IPv4 destination that count.
        dst_address_mask: u8,
        /// Leading bits of an IPv6 source that count.
        src_address6_mask: u8,
        /// Leading bits of an IPv6 destination that count.
        dst_address6_mask: u8,
    },
    /// CoDel (RFC 8289).
    Codel(Codel),
    /// FQ-CoDel (RFC 8290).
    FqCodel {
        /// CoDel of each flow. Its limit is that of all flows together.
        codel: Codel,
        /// Buckets that flows are hashed into.
        flows: u32,
        /// Bytes per turn.
        quantum: u32,
        /// Bytes of memory that what waits may take.
        memory_limit: u64,
    },
    /// CAKE (Høiland-Jørgensen, Täht, Morton, 2018).
    Cake(Cake),
}

/// Field that tells sub-queues of a [`QueueType::Pcq`] apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PcqClassifier {
    /// Source address, before its translation.
    SrcAddress,
    /// Destination address, after its translation.
    DstAddress,
    /// Source port.
    SrcPort,
    /// Destination port.
    DstPort,
}

/// Controlled delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Codel {
    /// Packets that may wait.
    pub limit: u32,
    /// Delay that is acceptable, µs.
    pub target_us: u32,
    /// Time in which the delay must come below the target once, µs.
    pub interval_us: u32,
    /// Mark packets that can be marked (RFC 3168) instead of dropping them.
    pub ecn: bool,
    /// Mark every packet that has waited longer, µs; 0 none.
    pub ce_threshold_us: u32,
}

/// Parameters of CAKE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cake {
    /// Rate of its own shaper, bits/s with overhead; 0 none.
    pub bandwidth: u64,
    /// Follow the rate at which packets arrive instead.
    pub autorate_ingress: bool,
    /// Added to the L3 length of every packet, bytes.
    pub overhead: i32,
    /// Least length charged, bytes; 0 none.
    pub mpu: u32,
    /// Framing charged for.
    pub atm: CakeAtm,
    /// Round trip time it is tuned for, µs.
    pub rtt_us: u32,
    /// Tins.
    pub diffserv: CakeDiffserv,
    /// Definition of a flow.
    pub flowmode: CakeFlowmode,
    /// Hosts and flows are distinguished by addresses before source translation, and after that of the destination.
    pub nat: bool,
    /// Clear the DSCP after it has chosen the tin.
    pub wash: bool,
    /// Acknowledgements that later ones make redundant.
    pub ack_filter: CakeAckFilter,
    /// Bytes of memory that what waits may take; 0 chosen by rate and round trip time.
    pub memory_limit: u64,
}

/// Framing of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CakeAtm {
    /// No compensation.
    None,
    /// Cells of 53 bytes that hold 48.
    Atm,
    /// 65 bytes on the wire for 64.
    Ptm,
}

/// Tins of CAKE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CakeDiffserv {
    /// Bulk, best effort, voice.
    Diffserv3,
    /// Bulk, best effort, video, voice.
    Diffserv4,
    /// Eight by class.
    Diffserv8,
    /// A single tin.
    Besteffort,
    /// Eight by the precedence bits (RFC 791).
    Precedence,
}

/// Hosts and flows that CAKE isolates from one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CakeFlowmode {
    /// Nothing.
    Flowblind,
    /// Source hosts.
    Srchost,
    /// Destination hosts.
    Dsthost,
    /// Pairs of hosts.
    Hosts,
    /// Flows.
    Flows,
    /// Source hosts, then their flows.
    DualSrchost,
    /// Destination hosts, then their flows.
    DualDsthost,
    /// Both kinds of hosts, then flows.
    TripleIsolate,
}

/// ACK filter of CAKE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CakeAckFilter {
    /// Nothing.
    None,
    /// Drops those that are made redundant, two of three at most.
    Filter,
    /// Drops all that are made redundant.
    Aggressive,
}
