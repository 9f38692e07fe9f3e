//! The hand-over of a packet from one worker to another: its frame, and the metadata that go with it.

use tollway_config::dataplane::{Mark, PortRange, RowId};
use tollway_wire::{field, ipv6};

use crate::flow::nat::NatTarget;
use crate::ids::{PortId, QueueRef, QueueRefKind};
use crate::packet::frame::VnetState;
use crate::packet::slow_reason::SlowReason;
use crate::packet::tuple::{Addr, Tuple, Zone};
use crate::packet::verdict::Verdict;
use crate::packet::{Hook, Meta, Origin, flag};
use crate::qos::addresses::QueueAddresses;
use crate::qos::queues::queue_path::RemainingPath;

/// The metadata of a complete packet that is handed over to the worker that owns its queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueueHandover {
    /// Generation of the configuration of the worker that sends the packet.
    pub generation: u32,
    /// Worker that sends the packet.
    pub from: u32,
    /// Worker that gets the packet.
    pub to: u32,
    /// The leaves that the packet has still to pass.
    pub remaining: RemainingPath,
    /// The verdict after the packet has passed these leaves.
    pub final_verdict: Verdict,
    /// Source before and destination after translation.
    pub addresses: (AddressWords, AddressWords),
}

impl QueueHandover {
    /// The addresses by which the leaves were found.
    pub fn queue_addresses(&self) -> QueueAddresses {
        QueueAddresses { src: self.addresses.0.into(), dst: self.addresses.1.into() }
    }
}

/// The metadata of a packet whose flow moves to another worker: the decisions before the translation of its source. The
/// frame itself is as it was received.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlowHandover {
    /// Destination after translation: address and port.
    pub destination: (AddressWords, u16),
    /// The source translation that the NAT rules ask for.
    pub target: Option<HandedTarget>,
    /// The packet is the first of the flow and moves it: if it does not arrive, the flow has not moved.
    pub first: bool,
    /// Hook of the last rules that were evaluated: input or forward.
    pub hook: Hook,
    /// Row of the out-interface; 0 for none.
    pub out_interface: RowId,
    /// IPv4 address of the next hop, host order. That of IPv6 is looked up where it is needed.
    pub next_hop: u32,
    /// Row of the table that the route of an IPv6 packet is in; 0 for the main table.
    pub table: RowId,
    /// Marks that rules have set.
    pub marks: Marks,
    /// DSCP that a rule has set.
    pub new_dscp: Option<u8>,
    /// A rule marks the connection for FastTrack.
    pub fasttrack: bool,
}

/// Flow hand-overs by index, each with the original tuple of the flow, which is its key in the directory.
pub(crate) type FlowHandovers = Vec<(Tuple, FlowHandover)>;

/// An address of either family in two words, which do not make the metadata of each packet longer by their alignment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AddressWords(u64, u64);

impl From<Addr> for AddressWords {
    fn from(address: Addr) -> Self {
        Self((address.0 >> 64) as u64, address.0 as u64)
    }
}

impl From<AddressWords> for Addr {
    fn from(AddressWords(high, low): AddressWords) -> Self {
        Self(u128::from(high) << 64 | u128::from(low))
    }
}

/// A [`NatTarget`] between workers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HandedTarget {
    addresses: Option<(AddressWords, AddressWords)>,
    ports: Option<PortRange>,
    keeps_host: bool,
    randomise: bool,
    /// 0 for none.
    masquerade: RowId,
}

impl From<NatTarget> for HandedTarget {
    fn from(target: NatTarget) -> Self {
        let NatTarget { addresses, keeps_host, ports, randomise, masquerade } = target;
        let addresses = addresses.map(|(from, to)| (from.into(), to.into()));
        Self { addresses, ports, keeps_host, randomise, masquerade: masquerade.unwrap_or(0) }
    }
}

impl From<HandedTarget> for NatTarget {
    fn from(target: HandedTarget) -> Self {
        Self {
            addresses: target.addresses.map(|(from, to)| (from.into(), to.into())),
            keeps_host: target.keeps_host,
            ports: target.ports,
            randomise: target.randomise,
            masquerade: Some(target.masquerade).filter(|row| *row != 0),
        }
    }
}

/// Marks of a packet and of its connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marks {
    /// Packet mark.
    pub packet: Mark,
    /// Routing mark.
    pub routing: Mark,
    /// Connection mark as the rules see it.
    pub connection: Mark,
}

/// Queue hand-overs by index.
#[derive(Debug, Default)]
pub(crate) struct QueueHandovers(Vec<QueueHandover>);

impl QueueHandovers {
    /// An empty list with room for `capacity` hand-overs.
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    /// Adds a hand-over. Returns the reference by which the packet finds it.
    pub fn push(&mut self, handover: QueueHandover) -> QueueRef {
        self.0.push(handover);
        QueueRef::handover(self.0.len() - 1)
    }

    /// The hand-over of a reference.
    pub fn get(&self, index: usize) -> Option<QueueHandover> {
        self.0.get(index).copied()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all of them.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The reason for which a packet is handed over.
#[inline]
pub(super) fn purpose(
    meta: &Meta,
    queue_handovers_out: &QueueHandovers,
    flow_handovers_out: &[(Tuple, FlowHandover)],
) -> HandoverPurpose {
    match meta.queue.kind() {
        QueueRefKind::Handover(index) if meta.is(flag::FLOW_MIGRATING) => flow_handovers_out
            .get(index)
            .map_or(HandoverPurpose::Flow, |(_, flow)| HandoverPurpose::NewFlow(*flow)),
        QueueRefKind::Handover(index) => {
            queue_handovers_out.get(index).map_or(HandoverPurpose::Flow, HandoverPurpose::Queue)
        }
        QueueRefKind::NoQueue | QueueRefKind::Leaf(_) | QueueRefKind::Path(..) => HandoverPurpose::Flow,
    }
}

/// A packet between two workers. `M` is the type of the metadata of a parsed packet.
#[derive(Debug)]
pub struct Handover<F, M = HandoverMeta> {
    /// The frame.
    pub frame: F,
    /// Offload state.
    pub vnet: VnetState,
    /// Metadata of the packet.
    pub contents: HandoverContents<M>,
}

/// Metadata that goes with the frame.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "it is taken apart where it is made; a box would be an allocation per packet"
)]
pub enum HandoverContents<M = HandoverMeta> {
    /// The frame is unparsed, as received on this port. See [`crate::pipeline::steering`].
    Received(PortId),
    /// The frame has been parsed.
    Parsed(M),
}

/// The reason for which a packet is handed over.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HandoverPurpose {
    /// The flow is another worker's.
    Flow,
    /// The packet is complete and only waits for its queue.
    Queue(QueueHandover),
    /// The flow moves.
    NewFlow(FlowHandover),
}

/// Metadata of a parsed packet that is handed over; opaque. It holds only the fields that are read from the headers: a
/// packet is handed over either before any decision, or with its decisions in `HandoverPurpose`.
#[derive(Debug, Clone, Copy)]
pub struct HandoverMeta {
    /// Source and destination of an IPv4 packet, in host order. Those of an IPv6 packet are read from its frame again.
    addresses: (u32, u32),
    ports: (u16, u16),
    flags: u32,
    l3_len: u32,
    segments: u32,
    trace: u32,
    tap: RowId,
    in_port: u16,
    in_interface: u16,
    l3: u16,
    l4: u16,
    l4_len: u16,
    sequence: u32,
    zone: Zone,
    protocol: u8,
    icmp: u8,
    tcp_flags_or_icmp_type: u8,
    icmp_code: u8,
    ttl: u8,
    handovers: u8,
    trace_part: u8,
    origin: Origin,
    slow: Option<SlowReason>,
    /// The reason for which it is handed over.
    pub(crate) purpose: HandoverPurpose,
}

impl HandoverMeta {
    /// Copies the fields that were read from the headers of a packet.
    #[inline]
    pub(super) fn new(meta: &Meta, purpose: HandoverPurpose) -> Self {
        let Tuple { src, dst, src_port, dst_port, protocol, icmp, zone } = meta.tuple;
        Self {
            addresses: (src.as_v4().unwrap_or(0), dst.as_v4().unwrap_or(0)),
            ports: (src_port, dst_port),
            flags: meta.flags,
            l3_len: meta.l3_len,
            segments: meta.segments,
            trace: meta.trace,
            tap: meta.tap,
            in_port: meta.in_port,
            in_interface: meta.in_interface,
            l3: meta.l3,
            l4: meta.l4,
            l4_len: meta.l4_len,
            sequence: meta.sequence,
            zone,
            protocol,
            icmp,
            tcp_flags_or_icmp_type: meta.tcp_flags_or_icmp_type,
            icmp_code: meta.icmp_code,
            ttl: meta.ttl,
            handovers: meta.handovers,
            trace_part: meta.trace_part,
            origin: meta.origin,
            slow: meta.slow,
            purpose,
        }
    }

    /// Tuple of the packet.
    pub(crate) fn tuple(&self) -> Tuple {
        let ((src, dst), (src_port, dst_port)) = (self.addresses, self.ports);
        let (src, dst) = (Addr::v4(src), Addr::v4(dst));
        Tuple { src, dst, src_port, dst_port, protocol: self.protocol, icmp: self.icmp, zone: self.zone }
    }

    /// The metadata that the packet had after the stage `fragment`; `head` is the front of its frame.
    #[inline]
    pub(super) fn meta(&self, head: &[u8]) -> Meta {
        let mut tuple = self.tuple();
        if self.flags & flag::IPV6 != 0 {
            let address = |at: usize| Addr(field::get128(head, usize::from(self.l3) + at));
            (tuple.src, tuple.dst) = (address(ipv6::offset::SRC), address(ipv6::offset::DST));
        }
        Meta {
            tuple,
            flags: self.flags | flag::HANDED_OVER,
            l3_len: self.l3_len,
            segments: self.segments,
            trace: self.trace,
            tap: self.tap,
            in_port: self.in_port,
            in_interface: self.in_interface,
            l3: self.l3,
            l4: self.l4,
            l4_len: self.l4_len,
            sequence: self.sequence,
            tcp_flags_or_icmp_type: self.tcp_flags_or_icmp_type,
            icmp_code: self.icmp_code,
            ttl: self.ttl,
            handovers: self.handovers,
            trace_part: self.trace_part,
            origin: self.origin,
            slow: self.slow,
            ..Meta::default()
        }
    }
}
