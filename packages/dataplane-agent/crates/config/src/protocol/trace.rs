//! Packet traces: which packets, and what became of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::{DropStats, RequestBody, SlowStats};
use crate::dataplane::RowId;

/// Packets that a trace notes: every condition given holds. Packets against the described direction are noted
/// too, and packets are compared as they come in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TraceFilter {
    /// Source.
    pub src_address: Option<crate::dataplane::Prefix>,
    /// Destination.
    pub dst_address: Option<crate::dataplane::Prefix>,
    /// Protocol number.
    pub protocol: Option<u8>,
    /// Source port; ICMP identifier.
    pub src_port: Option<u16>,
    /// Destination port.
    pub dst_port: Option<u16>,
    /// Interface the packet comes in on; compared for the described direction only.
    pub in_interface: Option<RowId>,
    /// Only packets that are dropped.
    pub dropped: bool,
}

/// A packet for [`RequestBody::DryRun`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PacketDescription {
    /// Interface it comes in on; `None` for a packet of the router itself.
    pub in_interface: Option<RowId>,
    /// Protocol number.
    pub protocol: u8,
    /// Source.
    pub src_address: std::net::IpAddr,
    /// Destination.
    pub dst_address: std::net::IpAddr,
    /// Source port; 0 without ports.
    pub src_port: u16,
    /// Destination port; 0 without ports.
    pub dst_port: u16,
    /// ICMP type; 8 (echo request) where nothing is said.
    pub icmp_type: u8,
    /// ICMP code.
    pub icmp_code: u8,
    /// TCP flags as on the wire; SYN where nothing is said.
    pub tcp_flags: u8,
    /// Length of the IP packet, bytes.
    pub length: u16,
    /// Time to live.
    pub ttl: u8,
}

/// A packet and what each stage did with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TracedPacket {
    /// Counts up from 1 within the trace.
    pub number: u64,
    /// When, milliseconds since 1970.
    pub time_ms: u64,
    /// Worker that handled it last.
    pub worker: u32,
    /// Interface it came in on; 0 for packets of the router itself.
    pub in_interface: RowId,
    /// Interface it left by, or was to leave by when it came to its queue; 0 for none.
    pub out_interface: RowId,
    /// Protocol number.
    pub protocol: u8,
    /// Source, as it came in.
    pub src_address: std::net::IpAddr,
    /// Destination, as it came in.
    pub dst_address: std::net::IpAddr,
    /// Source port, as it came in; ICMP identifier.
    pub src_port: u16,
    /// Destination port, as it came in.
    pub dst_port: u16,
    /// Length of the IP packet on the wire, bytes; of a super-frame that of its full segments.
    pub length: u32,
    /// Packets that it is on the wire: the segments of a super-frame, else 1.
    pub segments: u32,
    /// The flow cache forwarded it.
    pub fast: bool,
    /// [`SlowStats::reason`] for which the flow cache did not.
    pub slow_reason: Option<String>,
    /// Decisions of the stages that saw it, in order.
    pub steps: Vec<TraceStep>,
    /// Outcome of the packet.
    pub outcome: TraceOutcome,
    /// [`DropStats::reason`] of a dropped packet.
    pub drop_reason: Option<String>,
}

/// Decision of a stage about a packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TraceStep {
    /// Name of the stage.
    pub stage: String,
    /// Sentence for people, without names of the configuration.
    pub decision: String,
    /// Rows of the rules that matched, of the route, or of the queue, in order.
    pub rows: Vec<RowId>,
}

/// Outcome of a traced packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceOutcome {
    /// Left by an interface.
    Forwarded,
    /// Given to the router itself.
    Delivered,
    /// Answered by the router.
    Answered,
    /// Waits for a neighbour's address, for fragments or in a queue.
    Held,
    /// Ended.
    Dropped,
}
