//! A batch of packets on its way through the stages.

use tollway_config::dataplane::RowId;

use crate::frame::{Frame, VnetState};
use crate::packet::{Meta, Origin, flag};
use crate::qos::{Lane, Leads, Way};
use crate::snapshot::PortId;
use crate::state::WorkerState;
use crate::verdict::{DropReason, Verdict};

/// Most frames the worker puts in per call.
pub const BATCH: usize = 256;

/// One packet: its frame, until it is held or dropped, and what is known about it.
#[derive(Debug)]
pub struct Packet<F> {
    /// The frame; `None` once held or dropped.
    pub frame: Option<F>,
    /// Offload state.
    pub vnet: VnetState,
    /// What the stages know.
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
}

/// What goes from one worker to another with a packet that is complete, for a queue there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    /// Configuration that `entry` is of.
    pub generation: u32,
    /// Place of the queue among its rows.
    pub entry: u32,
    /// Row of the queue.
    pub row: RowId,
    /// Direction.
    pub way: Way,
    /// Where the packet goes after its queue.
    pub exit: Verdict,
    /// Source before and destination after translation.
    pub addresses: (u32, u32),
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
        self.first = 0;
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

    /// Adds a frame from a TAP of the router namespace: it enters at `output`. Its Ethernet header is
    /// ignored.
    #[inline]
    pub fn push_local(&mut self, frame: F, vnet: VnetState) {
        let meta = Meta { origin: Origin::LocalService, ..Meta::default() };
        self.packets.push(Packet { frame: Some(frame), vnet, meta });
    }

    /// Adds a packet from another worker.
    #[inline]
    pub fn push_handover(&mut self, packet: Handover<F>) {
        let HandoverMeta { mut meta, ticket } = packet.meta;
        // What one worker's cache does not know another's may.
        meta.flags = (meta.flags & !flag::MISS) | flag::HANDED_OVER;
        match ticket {
            Some(ticket) => {
                meta.verdict = ticket.exit;
                meta.lane = self.arrived.push(ticket);
            }
            None => meta.verdict = Verdict::Continue,
        }
        self.packets.push(Packet { frame: Some(packet.frame), vnet: packet.vnet, meta });
    }

    /// Takes all finished packets, in order. Dropped and held ones have no frame any more and are passed
    /// over; afterwards the batch is empty.
    pub fn drain(&mut self) -> impl Iterator<Item = Done<F>> {
        self.first = 0;
        self.slow.clear();
        let departing = &self.departing;
        self.packets.drain(..).filter_map(|packet| {
            let outcome = match packet.meta.verdict {
                Verdict::Tx(port) => Outcome::Tx { port },
                Verdict::Local(interface) => Outcome::Local { interface },
                Verdict::Handover(worker) => {
                    let ticket = match packet.meta.lane.leads() {
                        Leads::Ticket(number) => departing.get(number),
                        Leads::Nowhere | Leads::Leaf(_) => None,
                    };
                    let packet = HandoverMeta { meta: packet.meta, ticket };
                    Outcome::Handover { worker: u32::from(worker), packet }
                }
                Verdict::Continue | Verdict::Forward | Verdict::Echo | Verdict::Held | Verdict::Drop(_) => {
                    return None;
                }
            };
            let fast = packet.meta.is(flag::FAST);
            packet.frame.map(|frame| Done {
                frame,
                vnet: packet.vnet,
                outcome,
                fast,
                segments: packet.meta.segments,
            })
        })
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
        /// To be passed with the frame to [`Batch::push_handover`].
        packet: HandoverMeta,
    },
}

/// A packet between two workers.
#[derive(Debug)]
pub struct Handover<F> {
    /// The frame.
    pub frame: F,
    /// Offload state.
    pub vnet: VnetState,
    /// What the first worker found out.
    pub meta: HandoverMeta,
}

/// What the first worker found out about a handed-over packet; opaque.
#[derive(Debug, Clone, Copy)]
pub struct HandoverMeta {
    meta: Meta,
    /// For a packet that is complete and only waits for its queue.
    pub(crate) ticket: Option<Ticket>,
}
