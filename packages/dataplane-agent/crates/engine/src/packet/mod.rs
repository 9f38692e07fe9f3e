//! What the stages know about a packet.

pub mod count;
pub mod frame;
pub(crate) mod header;
pub mod key;
pub mod membership_slot;
pub(crate) mod names;
pub mod slow_reason;
pub mod tuple;
pub mod verdict;

use tollway_config::dataplane::{ConnectionState, Mark, RowId};
use tollway_wire::{ipv4, tcp};

use crate::ids::{AdjacencyId, ConnRef, Direction, NO_INTERFACE, NONE, QueueRef};
use crate::packet::frame::{Gso, VnetState};
use crate::packet::key::FlowKey;
use crate::packet::membership_slot::MembershipSlot;
use crate::packet::slow_reason::SlowReason;
use crate::packet::tuple::Tuple;
use crate::packet::verdict::{DropReason, Verdict};

/// Origin of a packet, which decides the hooks it passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Origin {
    /// A port.
    #[default]
    Port,
    /// A TAP of the router namespace: enters at `output`.
    LocalService,
    /// Made by the engine: enters at `output`.
    Generated,
}

/// The hooks of netfilter, at which the rules of chains are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Hook {
    /// To the router itself.
    Input,
    /// Through the router.
    #[default]
    Forward,
    /// From the router itself.
    Output,
    /// Before it is routed; here the destination is translated.
    Prerouting,
    /// Before it leaves; here the source is translated.
    Postrouting,
}

impl Hook {
    /// Number of hooks.
    pub const COUNT: usize = 5;
}

/// Flag bits of [`Meta::flags`].
pub mod flag {
    /// Any fragment.
    pub const FRAGMENT: u32 = 1;
    /// Fragment other than the first: no L4 header.
    pub const LATER_FRAGMENT: u32 = 2;
    /// The IPv4 header has options.
    pub const OPTIONS: u32 = 4;
    /// The don't-fragment bit is set.
    pub const DONT_FRAGMENT: u32 = 8;
    /// The link-layer destination was broadcast or multicast.
    pub const LINK_BROADCAST: u32 = 16;
    /// An ICMP error: its flow is that of the packet it quotes.
    pub const ICMP_ERROR: u32 = 32;
    /// Must not take the fast path.
    pub const SLOW: u32 = 64;
    /// Took the fast path.
    pub const FAST: u32 = 128;
    /// Arrived from another worker that had parsed and reassembled it.
    pub const HANDED_OVER: u32 = 256;
    /// For a broadcast or multicast address.
    pub const BROADCAST: u32 = 512;
    /// An answer of the router to a packet: shares its connection, is not translated.
    pub const ROUTER_REPLY: u32 = 1024;
    /// Must not be cached: its rules were counted one by one because there are too many paths.
    pub const UNCACHED: u32 = 2048;
    /// The frame holds a transport header.
    pub const L4_HEADER: u32 = 4096;
    /// An ARP packet.
    pub const ARP: u32 = 8192;
    /// A fragment whose ports are known.
    pub const FRAGMENT_PORTS_KNOWN: u32 = 16384;
    /// Must not leave without the translation of its connection.
    pub const TRANSLATED: u32 = 32768;
    /// No room in the neighbour table.
    pub const NO_NEIGHBOR: u32 = 131_072;
    /// Packet of a fasttracked connection with `fasttrack-mode=bypass`: skips what such packets skip.
    pub const BYPASS: u32 = 524_288;
    /// For the router itself.
    pub const TO_ROUTER: u32 = 65536;
    /// Steered by its headers before it was parsed: this worker is the owner of its flow.
    pub const STEERED: u32 = 1_048_576;
    /// Rules must be evaluated for every packet of its flow, in a table that has no resume points.
    pub const EVALUATE_EVERY_PACKET: u32 = 2_097_152;
    /// A TCP segment out of order: see [`crate::flow::conntrack::tcp::Order`].
    pub const OUT_OF_ORDER: u32 = 8_388_608;
    /// Passes the stages once more, already parsed: see [`crate::pipeline::stage::track`].
    pub const RECIRCULATED: u32 = 16_777_216;
    /// Moves with its flow to the worker that can give it a reply tuple, which evaluates only the stages from `src_nat` on.
    pub const FLOW_MIGRATING: u32 = 4_194_304;
}

/// Most hand-overs of one packet; more means that two workers disagree about its owner.
pub const MAX_HANDOVERS: u8 = 4;

/// Metadata of a packet. Offsets are from the start of the frame, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// Addresses and ports as rules and routing see them: as in the frame until translation, then as they
    /// will be. An ICMP error has the outer addresses and no ports.
    pub tuple: Tuple,
    /// The connection.
    pub conn: Option<ConnRef>,
    /// Version of the connection when the packet was tracked: decisions about the packet are valid for that version.
    pub conn_version: u16,
    /// The tuple the packet came with, as the connection table compares it.
    pub key: FlowKey,
    /// Hash of it.
    pub hash: u32,
    /// Direction entry found for the tuple, or [`NONE`].
    pub entry: u32,
    /// Path of the rules hit up to now.
    pub path: u32,
    /// Path of the rules before the resume point, which may be cached.
    pub cacheable_path: u32,
    /// Resume point: number of the first rule that must be evaluated for every packet of the flow; 0 none.
    pub resume: u32,
    /// Validity of the rules' outcome: place among the validities of the batch plus one; 0 unlimited.
    pub validity: u16,
    /// L3 bytes of both directions of the connection up to this packet.
    pub connection_bytes: u64,
    /// Next hop's neighbour, or [`NONE`].
    pub adjacency: AdjacencyId,
    /// Next hop, IPv4 in host order.
    pub next_hop: u32,
    /// Length of the IP packet (of the whole super-frame), bytes.
    pub l3_len: u32,
    /// Wire segments.
    pub segments: u32,
    /// Flag bits, see [`flag`].
    pub flags: u32,
    /// Address-list lookups that the cacheable result depends on.
    pub lists: [MembershipSlot; 2],
    /// Packet mark; 0 none.
    pub mark: Mark,
    /// Mark of its connection as its rules see it; 0 none.
    pub connection_mark: Mark,
    /// Mark of its connection before its rules were evaluated.
    pub connection_mark_before: Mark,
    /// Routing mark; 0 none. Nothing is routed by it yet.
    pub routing_mark: Mark,
    /// Queue that takes it.
    pub queue: QueueRef,
    /// Source before its translation, IPv4 in host order; known when a stage has chosen the queue.
    pub untranslated_src: u32,
    /// Row of the interface whose TAP it came from; 0 unless `origin` is [`Origin::LocalService`]. A row, because it
    /// goes with the packet from worker to worker, and indices change with the configuration.
    pub tap: RowId,
    /// Ingress port; `u16::MAX` unless `origin` is [`Origin::Port`].
    pub in_port: u16,
    /// Dense interface index, or [`NO_INTERFACE`].
    pub in_interface: u16,
    /// Dense interface index, or [`NO_INTERFACE`].
    pub out_interface: u16,
    /// Start of the IP header.
    pub l3: u16,
    /// Start of the transport header.
    pub l4: u16,
    /// Length of the transport header, bytes; 0 when it is not known.
    pub l4_len: u16,
    /// For fragments of a TCP segment: sequence number after the segment, less the length of its datagram's payload.
    pub sequence: u32,
    /// TCP flags as on the wire; ICMP type for ICMP.
    pub tcp_flags_or_icmp_type: u8,
    /// ICMP code.
    pub icmp_code: u8,
    /// Time to live as received.
    pub ttl: u8,
    /// DSCP that a rule has written.
    pub new_dscp: Option<u8>,
    /// Hand-overs up to now.
    pub handovers: u8,
    /// Origin.
    pub origin: Origin,
    /// Hook of the filter: `Input`, `Forward` or `Output`.
    pub hook: Hook,
    /// Number of the packet in traces; 0 when none wants it.
    pub trace: u32,
    /// Parts of its path that the trace has already.
    pub trace_part: u8,
    /// Slow reason; also set if the cached action needed rule evaluation.
    pub slow: Option<SlowReason>,
    /// State for the rules.
    pub state: ConnectionState,
    /// Direction within the connection.
    pub direction: Direction,
    /// Verdict.
    pub verdict: Verdict,
}

impl Default for Meta {
    fn default() -> Self {
        Self {
            tuple: Tuple::default(),
            conn: None,
            conn_version: 0,
            key: FlowKey::default(),
            hash: 0,
            entry: NONE,
            path: 0,
            cacheable_path: 0,
            resume: 0,
            validity: 0,
            connection_bytes: 0,
            adjacency: NONE,
            next_hop: 0,
            l3_len: 0,
            segments: 1,
            flags: 0,
            lists: [MembershipSlot::NONE; 2],
            mark: 0,
            connection_mark: 0,
            connection_mark_before: 0,
            routing_mark: 0,
            new_dscp: None,
            queue: QueueRef::NONE,
            untranslated_src: 0,
            tap: 0,
            in_port: u16::MAX,
            in_interface: NO_INTERFACE,
            out_interface: NO_INTERFACE,
            l3: 14,
            l4: 0,
            l4_len: 0,
            sequence: 0,
            tcp_flags_or_icmp_type: 0,
            icmp_code: 0,
            ttl: 0,
            handovers: 0,
            origin: Origin::Port,
            hook: Hook::Forward,
            trace: 0,
            trace_part: 0,
            slow: None,
            state: ConnectionState::Untracked,
            direction: Direction::Original,
            verdict: Verdict::Continue,
        }
    }
}

impl Meta {
    /// Whether any of the bits is set.
    #[inline]
    pub fn is(&self, bits: u32) -> bool {
        self.flags & bits != 0
    }

    /// Whether the router or a service in its namespace made it.
    #[inline]
    pub fn is_locally_generated(&self) -> bool {
        self.origin != Origin::Port
    }

    /// Length of the longest IP packet that the frame becomes on a wire, bytes.
    #[inline]
    pub(crate) fn largest_segment(&self, vnet: &VnetState) -> u32 {
        if vnet.gso == Gso::None || vnet.gso_size == 0 {
            self.l3_len
        } else {
            self.l3_len.min(self.headers() + u32::from(vnet.gso_size))
        }
    }

    /// Whether it is a TCP segment with FIN or RST.
    pub(crate) fn closes(&self) -> bool {
        self.tuple.protocol == ipv4::TCP
            && self.tcp_flags_or_icmp_type & (tcp::flag::FIN | tcp::flag::RST) != 0
    }

    /// Why the flow cache must not forward the packet, by its headers and origin alone; `None` when nothing there
    /// forbids it.
    pub(crate) fn slow_by_itself(&self) -> Option<SlowReason> {
        if self.origin != Origin::Port {
            Some(SlowReason::FromRouter)
        } else if self.is(flag::ICMP_ERROR) {
            Some(SlowReason::IcmpError)
        } else if self.is(flag::FRAGMENT) {
            Some(SlowReason::Fragment)
        } else if self.is(flag::OPTIONS) {
            Some(SlowReason::IpOptions)
        } else if self.is(flag::LINK_BROADCAST) {
            Some(SlowReason::Broadcast)
        } else if self.ttl <= 1 {
            Some(SlowReason::Ttl)
        } else {
            None
        }
    }

    /// Why a packet that may change the state of its connection is slow.
    pub(crate) fn slow_as_control(&self) -> SlowReason {
        if self.tuple.protocol == ipv4::TCP { SlowReason::TcpControl } else { SlowReason::IcmpOther }
    }

    /// Bytes of IP and transport header.
    #[inline]
    pub fn headers(&self) -> u32 {
        u32::from(self.l4.saturating_sub(self.l3)) + u32::from(self.l4_len)
    }

    /// L3 bytes on the wire: a super-frame counts the headers of each of its segments.
    #[inline]
    pub fn wire_bytes(&self) -> u64 {
        u64::from(self.l3_len) + u64::from(self.segments.saturating_sub(1)) * u64::from(self.headers())
    }
}

/// A packet: its frame, until it is held or dropped, and what is known about it.
#[derive(Debug)]
pub struct Packet<F> {
    /// The frame; `None` once held or dropped.
    pub frame: Option<F>,
    /// Offload state.
    pub vnet: VnetState,
    /// Metadata of the stages.
    pub meta: Meta,
}

impl<F> Packet<F> {
    /// Ends the packet and frees its frame.
    #[inline]
    pub fn drop_for(&mut self, reason: DropReason) {
        self.meta.verdict = Verdict::Drop(reason);
        self.frame = None;
    }
}
