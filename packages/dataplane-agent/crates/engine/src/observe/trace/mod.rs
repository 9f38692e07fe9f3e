//! Packet traces: the decision about a packet at each stage.
//!
//! The stages do not know about traces. After each stage `pipeline::trace_packets` compares the metadata of packets
//! that match a [`PacketFilter`] with that before the stage, and records the difference. So a trace cannot affect a
//! packet, and records what really happened. Without a trace a stage costs one more branch per batch.
//!
//! [`TraceRecord`]s are in a [`TraceBuffer`], which the control thread creates, from time to time exchanges for an
//! empty one, and reads ([`text`] converts records to sentences). Packets for which it has no room count as lost. A
//! packet keeps its id while it waits and when it is handed over to other workers, so that its parts can be joined.

pub mod collect;
mod filter;
pub mod text;
pub(crate) mod waiting;

use tollway_config::dataplane::{ConnectionState, Mark, RowId};

pub use collect::Collector;
pub use filter::PacketFilter;

pub(crate) use waiting::{Ended, tag};

use crate::ids::{ConnRef, Direction, QueueDirection};
use crate::packet::Meta;
use crate::packet::slow_reason::SlowReason;
use crate::packet::tuple::{Addr, Tuple};
use crate::packet::verdict::{DropReason, Verdict};
use crate::time::Now;
use waiting::WaitingPackets;

/// Maximum number of traces at a time.
pub const TRACES: usize = tollway_config::protocol::MAX_TRACES;
/// Filters of the traces that run, by place.
pub type Filters = [Option<PacketFilter>; TRACES];
/// Number of packets that a buffer can hold.
pub const RECORDS: usize = 512;
/// Number of steps and rows for which a record reserves memory.
const STEPS: usize = 20;

/// Decision of a stage about a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Dropped in this stage.
    Dropped(DropReason),
    /// Headers are valid.
    Parsed {
        /// IP protocol.
        protocol: u8,
        /// TCP flags, or ICMP type.
        kind: u8,
        /// ICMP code.
        code: u8,
        /// Time to live.
        ttl: u8,
    },
    /// Waits for the first fragment of its datagram.
    WaitsForFragment,
    /// Ports of the datagram are known.
    FragmentKnown,
    /// The flow cache forwards it.
    FromCache {
        /// Rules from the resume point on were evaluated nevertheless.
        resumed: bool,
        /// New source, if it is translated.
        source: Option<(Addr, u16)>,
        /// New destination, if it is translated.
        destination: Option<(Addr, u16)>,
    },
    /// The flow cache would forward it; the decisions of the other stages follow.
    Cached {
        /// Rules from the resume point on would be evaluated nevertheless.
        resumed: bool,
    },
    /// The other stages decide.
    ToStages(SlowReason),
    /// Handed over: the flow or the queue is another worker's.
    ToWorker(u16),
    /// Connection found or created.
    Tracked {
        /// For the rules.
        state: ConnectionState,
        /// Within the connection.
        direction: Direction,
    },
    /// A new source or destination.
    Translated {
        /// Address after it.
        address: Addr,
        /// Port after it; 0 without.
        port: u16,
    },
    /// The address stays.
    NotTranslated,
    /// For the router itself.
    ToRouter,
    /// For all stations of a network: broadcast or multicast.
    ToAll,
    /// Out of an interface.
    Routed {
        /// The next hop.
        next_hop: Addr,
        /// The neighbour is the destination itself.
        direct: bool,
    },
    /// Forwarded with this time to live.
    TimeToLive(u8),
    /// The rules accept it.
    Accepted,
    /// The connection is fasttracked: rules are not evaluated.
    Bypassed,
    /// Rules of mangle have changed it.
    Mangled(Mangled),
    /// Queues take it.
    InQueue {
        /// A queue of the queue tree.
        tree: bool,
        /// Its direction in a simple one.
        simple: Option<QueueDirection>,
    },
    /// Decided completely.
    Decided {
        /// Belongs to a connection.
        tracked: bool,
        /// Why later packets are not cached; `None` if they are.
        uncached: Option<SlowReason>,
    },
    /// Given to the router's services.
    Delivered,
    /// An echo request, answered when its queue dequeues it.
    Echo,
    /// Waits for its next hop's link-layer address.
    WaitsForNeighbor,
    /// Complete.
    Complete,
    /// Complete, and its queue has it.
    ToQueue,
    /// Passed its queue without waiting.
    Passed,
    /// Waits in its queue.
    WaitsInQueue,
    /// Waits in the queue of the interface by which it leaves.
    WaitsForInterface,
    /// Released by its queue.
    LeftQueue {
        /// Time in the queue, ns.
        after: u64,
    },
}

/// Changes of a packet by rules of mangle; `None` where unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mangled {
    /// Packet mark.
    pub packet_mark: Option<Mark>,
    /// The mark of its connection.
    pub connection_mark: Option<Mark>,
    /// Routing mark.
    pub routing_mark: Option<Mark>,
    /// DSCP.
    pub dscp: Option<u8>,
}

impl Mangled {
    /// Difference between the metadata before and after a stage.
    pub(crate) fn between(before: &Meta, after: &Meta) -> Self {
        let changed = |before: Mark, after: Mark| (before != after).then_some(after);
        Self {
            packet_mark: changed(before.mark, after.mark),
            connection_mark: changed(before.connection_mark, after.connection_mark),
            routing_mark: changed(before.routing_mark, after.routing_mark),
            dscp: after.new_dscp.filter(|_| before.new_dscp != after.new_dscp),
        }
    }
}

/// Entry of a stage in a [`TraceRecord`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageDecision {
    /// Name of the stage.
    pub stage: &'static str,
    /// Decision of the stage.
    pub decision: Decision,
    /// Number of the record's rows that belong to the stage, in order.
    pub rows: u16,
}

/// The path of a packet through one worker, or a part of it.
#[derive(Debug, Clone)]
pub struct TraceRecord {
    /// Number of the packet, the same in each part.
    pub id: u32,
    /// Number of the part. The first is 0; the fields below are filled in only for the first part.
    pub part: u8,
    /// Traces that record the packet, a bit for each.
    pub traces: u8,
    /// Time of the batch in which the record began.
    pub at: Now,
    /// Worker.
    pub worker: u32,
    /// Interface row it came in on; 0 for a packet of the router.
    pub in_interface: RowId,
    /// Addresses and ports as it came in.
    pub tuple: Tuple,
    /// Length of the IP packet, bytes; of a super-frame that of its full segments.
    pub length: u32,
    /// Wire segments.
    pub segments: u32,
    /// The flow cache forwarded it.
    pub fast: bool,
    /// Why the flow cache did not forward it, or not without evaluating rules.
    pub slow: Option<SlowReason>,
    /// Decisions of the stages.
    pub steps: Vec<StageDecision>,
    /// Rows of the steps, one after the other.
    pub rows: Vec<RowId>,
    /// Verdict at the end of the part.
    pub verdict: Verdict,
    /// Interface row it left by, or was to leave by when it came to its queue; 0 for none.
    pub out_interface: RowId,
    /// Metadata after the last stage.
    pub(crate) seen: Meta,
}

impl TraceRecord {
    fn new() -> Self {
        Self {
            id: 0,
            part: 0,
            traces: 0,
            at: Now(0),
            worker: 0,
            in_interface: 0,
            tuple: Tuple::default(),
            length: 0,
            segments: 1,
            fast: false,
            slow: None,
            steps: Vec::with_capacity(STEPS),
            rows: Vec::with_capacity(STEPS),
            verdict: Verdict::Continue,
            out_interface: 0,
            seen: Meta::default(),
        }
    }

    /// Clears the record for another packet.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.rows.clear();
    }

    /// Whether it is the first part.
    pub fn begins(&self) -> bool {
        self.part == 0
    }

    /// Whether the packet was dropped.
    pub fn is_dropped(&self) -> bool {
        matches!(self.verdict, Verdict::Drop(reason) if reason != DropReason::EchoAnswered)
    }
}

/// Memory for the packets that one worker records.
#[derive(Debug)]
pub struct TraceBuffer {
    /// Records of packets, in the order of their arrival.
    pub(crate) records: Vec<TraceRecord>,
    /// Records that are free, with their memory.
    pub(crate) blank: Vec<TraceRecord>,
    /// Packets for which there was no record, by trace.
    pub(crate) lost: [u64; TRACES],
}

impl Default for TraceBuffer {
    fn default() -> Self {
        Self::with_room(RECORDS)
    }
}

impl TraceBuffer {
    /// A buffer for `packets` packets.
    pub(crate) fn with_room(packets: usize) -> Self {
        Self {
            records: Vec::with_capacity(packets),
            blank: (0..packets).map(|_| TraceRecord::new()).collect(),
            lost: [0; TRACES],
        }
    }

    /// The records.
    pub fn records(&self) -> &[TraceRecord] {
        &self.records
    }

    /// Number of packets for which there was no room, by trace.
    pub fn lost(&self) -> [u64; TRACES] {
        self.lost
    }

    /// Empties the buffer for reuse.
    pub fn clear(&mut self) {
        self.blank.append(&mut self.records);
        self.lost = [0; TRACES];
    }
}

/// A worker's state of its traces.
#[derive(Debug)]
pub(crate) struct Tracer {
    /// Filters of the traces that run.
    pub(crate) filters: Filters,
    /// Where records are written to.
    pub(crate) buffer: TraceBuffer,
    /// Records of packets that are in the batch.
    pub(crate) live: Vec<TraceRecord>,
    /// Index at which the search for the next packet's record begins.
    pub(crate) cursor: usize,
    /// NAT rules that matched in the current stage.
    pub(crate) nat: Vec<(ConnRef, RowId)>,
    /// Packets that wait in queues of this worker.
    pub(crate) waiting: WaitingPackets,
}

impl Tracer {
    /// Begins to trace.
    pub fn new(filters: Filters, buffer: TraceBuffer) -> Self {
        Self {
            filters,
            buffer,
            live: Vec::with_capacity(RECORDS),
            cursor: 0,
            nat: Vec::with_capacity(STEPS),
            waiting: WaitingPackets::default(),
        }
    }

    /// Changes the filters; records are kept.
    pub fn set_filters(&mut self, filters: Filters) {
        self.filters = filters;
    }

    /// Returns the buffer with its records, and continues with an empty one.
    pub fn exchange(&mut self, buffer: TraceBuffer) -> TraceBuffer {
        std::mem::replace(&mut self.buffer, buffer)
    }

    /// Ends tracing and returns the buffer.
    pub fn into_buffer(self) -> TraceBuffer {
        self.buffer
    }

    /// Notes the NAT rules that a connection's first packet matched.
    pub fn nat_rules(&mut self, conn: Option<ConnRef>, rows: &[RowId]) {
        if let Some(conn) = conn {
            self.nat.extend(rows.iter().map(|row| (conn, *row)));
        }
    }
}
