//! A batch of packets on its way through the stages.

use std::sync::Arc;

use tollway_config::dataplane::RowId;

use crate::ids::{LinkId, PortId, QueueRef};
use crate::packet::frame::{Frame, VnetState};
use crate::packet::tuple::Tuple;
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::vlan::{push_tag, push_tags};
use crate::packet::{Meta, Origin, Packet, flag};
use crate::pipeline::handover::{
    FlowHandover, FlowHandovers, Handover, HandoverContents, HandoverMeta, HandoverPurpose, QueueHandovers,
    purpose,
};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Encapsulations;

/// Maximum number of frames that a worker adds to a batch per call.
pub const BATCH: usize = 256;

/// A batch of packets, reused from call to call.
#[derive(Debug)]
pub struct Batch<F> {
    /// Packets, in order.
    pub(crate) packets: Vec<Packet<F>>,
    /// First packet of the current pass. Packets that the router generates during a pass take a pass of their own.
    pub(crate) first: usize,
    /// End of the current pass.
    pub(crate) end: usize,
    /// Indices of the packets of this pass that did not take the fast path, in order.
    pub(crate) slow: Vec<u32>,
    /// Queue hand-overs of packets that came from other workers.
    pub(crate) queue_handovers_in: QueueHandovers,
    /// Queue hand-overs of packets that go to other workers.
    pub(crate) queue_handovers_out: QueueHandovers,
    /// Flow hand-overs of packets that came from other workers.
    pub(crate) flow_handovers_in: FlowHandovers,
    /// Flow hand-overs of packets that go to other workers.
    pub(crate) flow_handovers_out: FlowHandovers,
    /// Whether a frame was added whose owner is found only when it is parsed.
    has_unsteered: bool,
    /// Number of packets from other workers that were handed over unparsed.
    unparsed_handovers: u64,
    /// What is put around frames as they are taken out.
    encapsulations: Arc<Encapsulations>,
    /// Number of packets that were not sent because their frames had no room for tags.
    without_headroom: u64,
}

impl<F: Frame> Default for Batch<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Frame> Batch<F> {
    /// An empty batch with room for [`BATCH`] packets and as many generated ones.
    pub fn new() -> Self {
        let handovers = || QueueHandovers::with_capacity(2 * BATCH);
        Self {
            packets: Vec::with_capacity(2 * BATCH),
            first: 0,
            end: 0,
            slow: Vec::with_capacity(2 * BATCH),
            queue_handovers_in: handovers(),
            queue_handovers_out: handovers(),
            flow_handovers_in: Vec::new(),
            flow_handovers_out: Vec::new(),
            has_unsteered: false,
            unparsed_handovers: 0,
            encapsulations: Arc::default(),
            without_headroom: 0,
        }
    }

    /// Sets what is put around frames as they are taken out, by the snapshot that decides about them.
    #[inline]
    pub(crate) fn set_encapsulations(&mut self, encapsulations: &Arc<Encapsulations>) {
        if !Arc::ptr_eq(&self.encapsulations, encapsulations) {
            self.encapsulations = Arc::clone(encapsulations);
        }
    }

    /// Number of packets since the last call whose frames had no room for tags.
    pub(crate) fn take_without_headroom(&mut self) -> u64 {
        std::mem::take(&mut self.without_headroom)
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
        self.queue_handovers_in.clear();
        self.queue_handovers_out.clear();
        self.flow_handovers_in.clear();
        self.flow_handovers_out.clear();
        self.first = 0;
        self.has_unsteered = false;
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

    /// [`Self::push_rx`] for a frame whose owner is known only when it is parsed.
    #[inline]
    pub(crate) fn push_unsteered(&mut self, frame: F, port: PortId, vnet: VnetState) {
        self.has_unsteered = true;
        self.push_rx(frame, port, vnet);
    }

    /// [`Self::push_rx`] for a frame that is steered to this worker.
    #[inline]
    pub(crate) fn push_steered(&mut self, frame: F, port: PortId, vnet: VnetState) {
        let meta = Meta { in_port: port, flags: flag::STEERED, ..Meta::default() };
        self.packets.push(Packet { frame: Some(frame), vnet, meta });
    }

    /// Marks the packets as steered to this worker, regardless of their hash.
    pub(crate) fn mark_steered(&mut self) {
        self.packets.iter_mut().for_each(|packet| packet.meta.flags |= flag::STEERED);
    }

    /// Whether it holds frames whose owner is found only when they are parsed.
    #[inline]
    pub(crate) fn has_unsteered(&self) -> bool {
        self.has_unsteered
    }

    /// Number of packets from other workers that were added unparsed since the last call.
    pub(crate) fn take_unparsed_handovers(&mut self) -> u64 {
        std::mem::take(&mut self.unparsed_handovers)
    }

    /// Adds a frame from a TAP of the router namespace, of the interface with row `tap`: it enters at `output`. The
    /// destination of its Ethernet header is used if it is a unicast address and the packet leaves by that interface: a
    /// service that answers a client without an IP address names the client's station (arp(7), SIOCSARP; RFC 2131
    /// §4.1).
    #[inline]
    pub fn push_local(&mut self, frame: F, tap: RowId, vnet: VnetState) {
        let meta = Meta { origin: Origin::LocalService, tap, ..Meta::default() };
        self.packets.push(Packet { frame: Some(frame), vnet, meta });
    }

    /// Adds a packet from another worker.
    #[inline]
    pub fn push_handover(&mut self, packet: Handover<F>) {
        // Prefetches the headers: the frame is in the cache of another core, and its headers are to be written.
        if let Some(first) = packet.frame.head().first() {
            tollway_prefetch::fetch_to_write(first);
        }
        let meta = match packet.contents {
            HandoverContents::Received(port) => {
                self.unparsed_handovers += 1;
                Meta { in_port: port, flags: flag::STEERED, handovers: 1, ..Meta::default() }
            }
            HandoverContents::Parsed(parsed) => {
                let mut meta = parsed.meta(packet.frame.head());
                match parsed.purpose {
                    HandoverPurpose::Flow => {}
                    HandoverPurpose::Queue(handover) => {
                        meta.verdict = handover.final_verdict;
                        meta.queue = self.queue_handovers_in.push(handover);
                    }
                    HandoverPurpose::NewFlow(flow) => {
                        meta.flags |= flag::FLOW_MIGRATING | flag::SLOW;
                        meta.queue = QueueRef::handover(self.flow_handovers_in.len());
                        self.flow_handovers_in.push((meta.tuple, flow));
                    }
                }
                meta
            }
        };
        self.packets.push(Packet { frame: Some(packet.frame), vnet: packet.vnet, meta });
    }

    /// Takes all finished packets, in order. Dropped and held packets have no frame any more and are skipped.
    /// Afterwards the batch is empty.
    #[inline]
    pub fn drain(&mut self) -> Drain<'_, F> {
        self.first = 0;
        self.has_unsteered = false;
        self.slow.clear();
        Drain {
            next: 0,
            packets: &mut self.packets,
            queue_handovers_out: &self.queue_handovers_out,
            flow_handovers_out: &self.flow_handovers_out,
            encapsulations: &self.encapsulations,
            without_headroom: &mut self.without_headroom,
        }
    }

    /// The packet at an index of the slow list.
    pub(crate) fn slow_packet(&mut self, at: usize) -> Option<(usize, &mut Packet<F>)> {
        let index = *self.slow.get(at)? as usize;
        Some((index, self.packets.get_mut(index)?))
    }

    /// Drops a packet and counts the reason.
    pub(crate) fn drop(&mut self, state: &mut WorkerState<F>, index: usize, reason: DropReason) {
        if let Some(packet) = self.packets.get_mut(index) {
            state.drop(packet, reason);
        }
    }

    /// Adds a packet that the router has generated.
    pub(crate) fn push_generated(&mut self, frame: F, meta: Meta) {
        let meta = Meta { origin: Origin::Generated, ..meta };
        self.packets.push(Packet { frame: Some(frame), vnet: VnetState::default(), meta });
    }
}

/// The iterator of [`Batch::drain`]. Packets are read in place: their metadata is long and was just written field by
/// field, so a copy would stall on the store buffer.
#[derive(Debug)]
pub struct Drain<'a, F> {
    next: usize,
    packets: &'a mut Vec<Packet<F>>,
    queue_handovers_out: &'a QueueHandovers,
    flow_handovers_out: &'a [(Tuple, FlowHandover)],
    encapsulations: &'a Encapsulations,
    without_headroom: &'a mut u64,
}

impl<F: Frame> Iterator for Drain<'_, F> {
    type Item = Done<F>;

    #[inline]
    fn next(&mut self) -> Option<Done<F>> {
        loop {
            let packet = self.packets.get_mut(self.next)?;
            self.next += 1;
            let meta = &packet.meta;
            let outcome = match meta.verdict {
                Verdict::Tx(link) if link < self.encapsulations.ports() => Outcome::Tx { port: link, link },
                Verdict::Tx(link) => return self.encapsulated(link),
                Verdict::Local(interface) => Outcome::Local { interface },
                Verdict::Handover(worker) => {
                    let purpose = purpose(meta, self.queue_handovers_out, self.flow_handovers_out);
                    Outcome::Handover { worker: u32::from(worker), packet: HandoverMeta::new(meta, purpose) }
                }
                Verdict::Continue
                | Verdict::DecidedElsewhere
                | Verdict::Forward
                | Verdict::Echo
                | Verdict::Held
                | Verdict::Drop(_) => continue,
            };
            let Some(frame) = packet.frame.take() else { continue };
            return Some(Done::of(packet, frame, outcome));
        }
    }
}

impl<F: Frame> Drain<'_, F> {
    /// The packet that has just been passed, with the tags of its link; the next one if its frame has no room for them. Not
    /// inlined, so that packets of ports do without its registers.
    #[inline(never)]
    fn encapsulated(&mut self, link: LinkId) -> Option<Done<F>> {
        let packet = self.packets.get_mut(self.next.wrapping_sub(1))?;
        // The frame is taken first: its fields would be read as one word just after one of them was written, which stalls.
        if let Some(mut frame) = packet.frame.take() {
            if let Some(port) = encapsulate(self.encapsulations, &mut frame, &mut packet.vnet, link) {
                return Some(Done::of(packet, frame, Outcome::Tx { port, link }));
            }
            *self.without_headroom += u64::from(packet.meta.segments);
        }
        // No deeper than a batch is long.
        self.next()
    }
}

/// Puts the tags of a link around a frame. Returns the port; `None` if there is no room.
#[inline(always)]
fn encapsulate<F: Frame>(
    encapsulations: &Encapsulations,
    frame: &mut F,
    vnet: &mut VnetState,
    link: LinkId,
) -> Option<PortId> {
    let encapsulation = encapsulations.get(link)?;
    let pushed = match encapsulation.one_tag() {
        Some(tag) => push_tag(frame, vnet, tag),
        None => push_tags(frame, vnet, encapsulation.tags()),
    };
    pushed.then_some(encapsulation.port)
}

impl<F> Drop for Drain<'_, F> {
    #[inline]
    fn drop(&mut self) {
        self.packets.clear();
    }
}

/// A finished packet.
#[derive(Debug)]
pub struct Done<F> {
    /// The frame.
    pub frame: F,
    /// Offload state to send it with.
    pub vnet: VnetState,
    /// The destination of the packet.
    pub outcome: Outcome,
    /// The flow cache forwarded it.
    pub fast: bool,
    /// The packet was generated by the router or by a service in its namespace: it is not forwarded.
    pub own: bool,
    /// Wire segments.
    pub segments: u32,
}

impl<F> Done<F> {
    #[inline(always)]
    fn of(packet: &Packet<F>, frame: F, outcome: Outcome) -> Self {
        let meta = &packet.meta;
        Self {
            frame,
            vnet: packet.vnet,
            outcome,
            fast: meta.is(flag::FAST),
            own: meta.is_locally_generated(),
            segments: meta.segments,
        }
    }
}

/// Where a finished packet goes.
#[derive(Debug, Clone, Copy)]
#[allow(
    clippy::large_enum_variant,
    reason = "it is taken apart where it is made; a box would be an allocation per packet"
)]
pub enum Outcome {
    /// Out of a port; the Ethernet header is complete, with its tags.
    Tx {
        /// The port.
        port: PortId,
        /// The link that the packet leaves by: the port itself, or one above it.
        link: LinkId,
    },
    /// To the router itself; the worker writes the TAP's address as link-layer destination.
    Local {
        /// Row of the L3 interface whose TAP takes it.
        interface: RowId,
    },
    /// To the worker that owns the flow or the queue. If that worker cannot take the packet, the caller calls
    /// [`crate::Engine::not_handed_over`].
    Handover {
        /// The owner.
        worker: u32,
        /// To be passed with the frame to [`Batch::push_handover`], as [`HandoverContents::Parsed`].
        packet: HandoverMeta,
    },
}
