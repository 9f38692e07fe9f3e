//! A batch of packets on its way through the stages.

use crate::packet::Packet;
use tollway_config::dataplane::{Mark, PortRange, RowId};

use crate::flow::nat::Target;
use crate::ids::PortId;
use crate::ids::{Lane, Leads};
use crate::packet::frame::{Frame, VnetState};
use crate::packet::slow_reason::SlowReason;
use crate::packet::tuple::{Addr, Tuple};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Meta, Origin, flag};
use crate::pipeline::state::WorkerState;
use crate::qos::queues::course::Onward;

/// Most frames the worker puts in per call.
pub const BATCH: usize = 256;

/// Packets under way, reused from call to call.
#[derive(Debug)]
pub struct Batch<F> {
    pub(crate) packets: Vec<Packet<F>>,
    /// First packet of the pass that is running: packets the router makes itself take a pass of their
    /// own.
    pub(crate) first: usize,
    /// End of the pass that is running.
    pub(crate) end: usize,
    /// Places of the packets of this pass that did not take the fast path, in order.
    pub(crate) slow: Vec<u32>,
    /// What came with packets for queues of this worker.
    pub(crate) arrived: Tickets,
    /// What goes with packets for queues of other workers.
    pub(crate) departing: Tickets,
    /// What came with first packets of flows that have moved here.
    pub(crate) openings: Openings,
    /// What goes with first packets of flows that move to other workers.
    pub(crate) moving: Openings,
    /// Whether a frame was added whose owner is found only when it is parsed.
    unsorted: bool,
    /// Packets from other workers that are as they were received.
    unopened: u64,
}

/// What goes from one worker to another with a packet that is complete, for a queue there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    /// Configuration of who sends it.
    pub generation: u32,
    /// Who sends it.
    pub from: u32,
    /// Who gets it.
    pub to: u32,
    /// Its leaves.
    pub onward: Onward,
    /// Where the packet goes after them.
    pub exit: Verdict,
    /// Source before and destination after translation.
    pub addresses: (u32, u32),
}

/// What goes with a packet whose flow moves to another worker: what has been decided of it, up to the translation of
/// its source. The packet is as it was received otherwise.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    /// Where it goes after the translation of its destination: IPv4 in host order, and the port.
    pub destination: (u32, u16),
    /// What the NAT rules ask for.
    pub target: Option<TargetV4>,
    /// It is the packet with which the flow moves: if it does not arrive, the flow has not moved.
    pub first: bool,
    pub hook: Hook,
    /// Row of the out-interface; 0 for none.
    pub out_interface: RowId,
    pub next_hop: u32,
    pub marks: Marks,
    pub new_dscp: Option<u8>,
    pub fasttrack: bool,
}

/// Openings by number, with the original tuple of each, by which the directory has the flow.
pub(crate) type Openings = Vec<(Tuple, Opening)>;

/// A [`Target`] with IPv4 addresses, in host order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TargetV4 {
    addresses: Option<(u32, u32)>,
    ports: Option<PortRange>,
    randomise: bool,
    /// 0 for none.
    masquerade: RowId,
}

impl TargetV4 {
    /// `None` when it has other addresses.
    pub fn of(target: &Target) -> Option<Self> {
        let addresses = match target.addresses {
            Some((from, to)) => Some((from.as_v4()?, to.as_v4()?)),
            None => None,
        };
        let Target { ports, randomise, masquerade, .. } = *target;
        Some(Self { addresses, ports, randomise, masquerade: masquerade.unwrap_or(0) })
    }

    pub fn target(self) -> Target {
        Target {
            addresses: self.addresses.map(|(from, to)| (Addr::v4(from), Addr::v4(to))),
            ports: self.ports,
            randomise: self.randomise,
            masquerade: Some(self.masquerade).filter(|row| *row != 0),
        }
    }
}

/// Marks of a packet and of its connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marks {
    pub packet: Mark,
    pub routing: Mark,
    /// As the rules see it.
    pub connection: Mark,
}

/// Tickets by number.
#[derive(Debug, Default)]
pub(crate) struct Tickets(Vec<Ticket>);

impl Tickets {
    /// Adds one; the lane stands for it.
    pub fn push(&mut self, ticket: Ticket) -> Lane {
        self.0.push(ticket);
        Lane::ticket(self.0.len() - 1)
    }

    pub fn get(&self, number: usize) -> Option<Ticket> {
        self.0.get(number).copied()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl<F: Frame> Default for Batch<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Frame> Batch<F> {
    /// An empty batch with room for [`BATCH`] packets and as many generated ones.
    pub fn new() -> Self {
        let tickets = || Tickets(Vec::with_capacity(2 * BATCH));
        Self {
            packets: Vec::with_capacity(2 * BATCH),
            first: 0,
            end: 0,
            slow: Vec::with_capacity(2 * BATCH),
            arrived: tickets(),
            departing: tickets(),
            openings: Vec::new(),
            moving: Vec::new(),
            unsorted: false,
            unopened: 0,
        }
    }

    /// Packets in it.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether it holds no packet.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Frees every frame.
    pub fn clear(&mut self) {
        self.packets.clear();
        self.slow.clear();
        self.arrived.clear();
        self.departing.clear();
        self.openings.clear();
        self.moving.clear();
        self.first = 0;
        self.unsorted = false;
    }

    /// Packets that can be added without growing.
    pub(crate) fn room(&self) -> usize {
        (2 * BATCH).saturating_sub(self.packets.len())
    }

    /// Adds a frame received on `port`; `vnet` is the offload state as received.
    #[inline]
    pub fn push_rx(&mut self, frame: F, port: PortId, vnet: VnetState) {
        let meta = Meta { in_port: port, ..Meta::default() };
        self.packets.push(Packet { frame: Some(frame), vnet, meta });
    }

    /// The same, of a frame whose owner is found only when it is parsed.
    #[inline]
    pub(crate) fn push_unsorted(&mut self, frame: F, port: PortId, vnet: VnetState) {
        self.unsorted = true;
        self.push_rx(frame, port, vnet);
    }

    /// The same, of a frame that is steered here.
    #[inline]
    pub(crate) fn push_sorted(&mut self, frame: F, port: PortId, vnet: VnetState) {
        let meta = Meta { in_port: port, flags: flag::SORTED, ..Meta::default() };
        self.packets.push(Packet { frame: Some(frame), vnet, meta });
    }

    /// Its packets are at the worker that has their flows, wherever they are steered to.
    pub(crate) fn has_come_to_its_owner(&mut self) {
        self.packets.iter_mut().for_each(|packet| packet.meta.flags |= flag::SORTED);
    }

    /// Whether it holds frames whose owner is found only when they are parsed.
    #[inline]
    pub(crate) fn has_unsorted(&self) -> bool {
        self.unsorted
    }

    /// Packets from other workers that were added as they were received, since the last call.
    pub(crate) fn take_unopened(&mut self) -> u64 {
        std::mem::take(&mut self.unopened)
    }

    /// Adds a frame from a TAP of the router namespace, of the interface with row `tap`: it enters at `output`. Of its
    /// Ethernet header the destination counts, if it is one of a station: a service that answers somebody who has no
    /// address yet names the station (arp(7), SIOCSARP; RFC 2131 §4.1). It holds when the packet leaves by that interface.
    #[inline]
    pub fn push_local(&mut self, frame: F, tap: RowId, vnet: VnetState) {
        let meta = Meta { origin: Origin::LocalService, tap, ..Meta::default() };
        self.packets.push(Packet { frame: Some(frame), vnet, meta });
    }

    /// Adds a packet from another worker.
    #[inline]
    pub fn push_handover(&mut self, packet: Handover<F>) {
        // It lies in the cache of another core, and its headers are to be written.
        if let Some(first) = packet.frame.head().first() {
            tollway_prefetch::fetch_to_write(first);
        }
        let meta = match packet.told {
            Told::AsReceived(port) => {
                self.unopened += 1;
                Meta { in_port: port, flags: flag::SORTED, hops: 1, ..Meta::default() }
            }
            Told::Parsed(told) => {
                let mut meta = told.parsed();
                match told.errand {
                    Errand::None => {}
                    Errand::Queue(ticket) => {
                        meta.verdict = ticket.exit;
                        meta.lane = self.arrived.push(ticket);
                    }
                    Errand::Open(opening) => {
                        meta.flags |= flag::MOVED | flag::SLOW;
                        meta.lane = Lane::ticket(self.openings.len());
                        self.openings.push((meta.tuple, opening));
                    }
                }
                meta
            }
        };
        self.packets.push(Packet { frame: Some(packet.frame), vnet: packet.vnet, meta });
    }

    /// Takes all finished packets, in order. Dropped and held ones have no frame any more and are passed
    /// over; afterwards the batch is empty.
    #[inline]
    pub fn drain(&mut self) -> Drain<'_, F> {
        self.first = 0;
        self.unsorted = false;
        self.slow.clear();
        Drain { next: 0, packets: &mut self.packets, departing: &self.departing, moving: &self.moving }
    }

    /// The packet at a place of the slow list.
    pub(crate) fn slow_packet(&mut self, at: usize) -> Option<(usize, &mut Packet<F>)> {
        let index = *self.slow.get(at)? as usize;
        Some((index, self.packets.get_mut(index)?))
    }

    /// Ends a packet and counts why.
    pub(crate) fn drop(&mut self, state: &mut WorkerState<F>, index: usize, reason: DropReason) {
        if let Some(packet) = self.packets.get_mut(index) {
            state.drop(packet, reason);
        }
    }

    pub(crate) fn push_generated(&mut self, frame: F, meta: Meta) {
        let meta = Meta { origin: Origin::Generated, ..meta };
        self.packets.push(Packet { frame: Some(frame), vnet: VnetState::default(), meta });
    }
}

/// What [`Batch::drain`] takes. Packets are read where they lie: their metadata is long, and was just written field by
/// field, so that a copy would wait for the store buffer.
#[derive(Debug)]
pub struct Drain<'a, F> {
    next: usize,
    packets: &'a mut Vec<Packet<F>>,
    departing: &'a Tickets,
    moving: &'a [(Tuple, Opening)],
}

impl<F> Iterator for Drain<'_, F> {
    type Item = Done<F>;

    #[inline]
    fn next(&mut self) -> Option<Done<F>> {
        loop {
            let packet = self.packets.get_mut(self.next)?;
            self.next += 1;
            let meta = &packet.meta;
            let outcome = match meta.verdict {
                Verdict::Tx(port) => Outcome::Tx { port },
                Verdict::Local(interface) => Outcome::Local { interface },
                Verdict::Handover(worker) => {
                    let errand = errand(meta, self.departing, self.moving);
                    Outcome::Handover { worker: u32::from(worker), packet: HandoverMeta::new(meta, errand) }
                }
                Verdict::Continue
                | Verdict::Resume
                | Verdict::Forward
                | Verdict::Echo
                | Verdict::Held
                | Verdict::Drop(_) => continue,
            };
            let Some(frame) = packet.frame.take() else { continue };
            return Some(Done {
                frame,
                vnet: packet.vnet,
                outcome,
                fast: meta.is(flag::FAST),
                own: meta.is_own(),
                segments: meta.segments,
            });
        }
    }
}

impl<F> Drop for Drain<'_, F> {
    #[inline]
    fn drop(&mut self) {
        self.packets.clear();
    }
}

/// What a packet is handed over for.
#[inline]
fn errand(meta: &Meta, departing: &Tickets, moving: &[(Tuple, Opening)]) -> Errand {
    match meta.lane.leads() {
        Leads::Ticket(number) if meta.is(flag::MOVED) => {
            moving.get(number).map_or(Errand::None, |(_, opening)| Errand::Open(*opening))
        }
        Leads::Ticket(number) => departing.get(number).map_or(Errand::None, Errand::Queue),
        Leads::Nowhere | Leads::Leaf(_) | Leads::Course(..) => Errand::None,
    }
}

/// A finished packet.
#[derive(Debug)]
pub struct Done<F> {
    /// The frame.
    pub frame: F,
    /// Offload state to send it with.
    pub vnet: VnetState,
    /// Where it goes.
    pub outcome: Outcome,
    /// The flow cache forwarded it.
    pub fast: bool,
    /// The router or a service in its namespace made it: it is not forwarded.
    pub own: bool,
    /// Wire segments.
    pub segments: u32,
}

/// Where a finished packet goes.
#[derive(Debug, Clone, Copy)]
#[allow(
    clippy::large_enum_variant,
    reason = "it is taken apart where it is made; a box would be an allocation per packet"
)]
pub enum Outcome {
    /// Out of a port; the Ethernet header is complete.
    Tx {
        /// The port.
        port: PortId,
    },
    /// To the router itself; the worker writes the TAP's address as link-layer destination.
    Local {
        /// Row of the L3 interface whose TAP takes it.
        interface: RowId,
    },
    /// To the worker that owns the flow, or has the queue. If it can't take the packet, the engine is to be told by
    /// [`crate::Engine::not_handed_over`].
    Handover {
        /// The owner.
        worker: u32,
        /// To be passed with the frame to [`Batch::push_handover`], as [`Told::Parsed`].
        packet: HandoverMeta,
    },
}

/// A packet between two workers. `M` is what goes with one that was parsed.
#[derive(Debug)]
pub struct Handover<F, M = HandoverMeta> {
    /// The frame.
    pub frame: F,
    /// Offload state.
    pub vnet: VnetState,
    /// What the first worker says of it.
    pub told: Told<M>,
}

/// What the first worker says of a packet.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "it is taken apart where it is made; a box would be an allocation per packet"
)]
pub enum Told<M = HandoverMeta> {
    /// The port on which it was received: it is as it was then. See [`crate::pipeline::steering`].
    AsReceived(PortId),
    /// What it found out.
    Parsed(M),
}

/// What a packet is handed over for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Errand {
    /// Its flow is another worker's.
    None,
    /// It is complete and only waits for its queue.
    Queue(Ticket),
    /// Its flow moves.
    Open(Opening),
}

/// What the first worker found out about a handed-over packet; opaque. A packet is handed over before it is
/// decided about, when its flow moves, or when it is complete, so this is what its headers say.
#[derive(Debug, Clone, Copy)]
pub struct HandoverMeta {
    /// Source and destination, IPv4 in host order: other packets are not handed over.
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
    protocol: u8,
    icmp: u8,
    l4_kind: u8,
    icmp_code: u8,
    ttl: u8,
    hops: u8,
    trace_part: u8,
    origin: Origin,
    slow: Option<SlowReason>,
    pub(crate) errand: Errand,
}

impl HandoverMeta {
    #[inline]
    fn new(meta: &Meta, errand: Errand) -> Self {
        let Tuple { src, dst, src_port, dst_port, protocol, icmp } = meta.tuple;
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
            protocol,
            icmp,
            l4_kind: meta.l4_kind,
            icmp_code: meta.icmp_code,
            ttl: meta.ttl,
            hops: meta.hops,
            trace_part: meta.trace_part,
            origin: meta.origin,
            slow: meta.slow,
            errand,
        }
    }

    /// Tuple of the packet.
    pub(crate) fn tuple(&self) -> Tuple {
        let ((src, dst), (src_port, dst_port)) = (self.addresses, self.ports);
        let (src, dst) = (Addr::v4(src), Addr::v4(dst));
        Tuple { src, dst, src_port, dst_port, protocol: self.protocol, icmp: self.icmp }
    }

    /// As [`crate::pipeline::stage`]s up to `fragment` leave it.
    #[inline]
    fn parsed(&self) -> Meta {
        Meta {
            tuple: self.tuple(),
            // What one worker's cache does not know another's may.
            flags: (self.flags & !flag::MISS) | flag::HANDED_OVER,
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
            l4_kind: self.l4_kind,
            icmp_code: self.icmp_code,
            ttl: self.ttl,
            hops: self.hops,
            trace_part: self.trace_part,
            origin: self.origin,
            slow: self.slow,
            ..Meta::default()
        }
    }
}
