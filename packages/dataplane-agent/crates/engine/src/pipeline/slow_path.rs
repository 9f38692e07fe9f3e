//! The slow path: the packets of a pass that the flow cache has left to the other stages, and the loop in which each of
//! these stages handles them one by one.

use tollway_config::dataplane::RejectWith;
use tollway_wire::ipv4;

use super::batch::Batch;
use super::echo::echo_meta;
use super::fragment_out::fragment;
use super::icmp::{IcmpError, send_error};
use super::state::WorkerState;
use super::tcp_reset::send_reset;
use crate::ids::PortId;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Meta, Packet};
use crate::snapshot::Snapshot;

/// A pass of a batch through the stages.
#[derive(Debug)]
pub(crate) struct Pass<'a, F, S> {
    /// The configuration.
    pub snapshot: &'a Snapshot,
    /// The state of the worker.
    pub state: &'a mut WorkerState<F>,
    /// The packets.
    pub batch: &'a mut Batch<F>,
    /// Source of frames for packets that the router generates.
    pub source: &'a mut S,
}

impl<F, S> Pass<'_, F, S> {
    /// The fields, to be borrowed one by one.
    #[inline(always)]
    pub fn parts(&mut self) -> (&Snapshot, &mut WorkerState<F>, &mut Batch<F>, &mut S) {
        (self.snapshot, self.state, self.batch, self.source)
    }
}

/// The result of a stage for a packet of the slow path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StageOutcome<F> {
    /// The stage does not apply to the packet.
    Skip,
    /// The packet has passed the stage.
    Next,
    /// Dropped.
    Drop(DropReason),
    /// Dropped, and an ICMP error is sent to its sender.
    Error(DropReason, IcmpError),
    /// A rule rejects it; an ICMP error or a TCP reset is sent to its sender.
    Reject(RejectWith),
    /// The packet was an echo request; this is the reply.
    Reply(F),
    /// The packet was a message that the router answers on its link: this is the answer, complete, for this port.
    Transmit(F, PortId),
    /// The packet is complete but too long: it leaves by this port in fragments.
    Fragment(PortId),
}

/// Calls `stage` for each packet of the slow path in order, and applies the outcome. Returns the number of packets that
/// entered the stage.
#[inline(always)]
pub(crate) fn each_slow<F: Frame, S: FrameSource<F>>(
    pass: &mut Pass<'_, F, S>,
    mut stage: impl FnMut(&Snapshot, &mut WorkerState<F>, &mut Packet<F>) -> StageOutcome<F>,
) -> u64 {
    let (snapshot, state, batch, source) = pass.parts();
    let mut entered = 0;
    for at in 0..batch.slow.len() {
        let Some((index, packet)) = batch.slow_packet(at) else { continue };
        match stage(snapshot, state, packet) {
            StageOutcome::Skip => continue,
            StageOutcome::Next => {}
            StageOutcome::Drop(reason) => state.drop(packet, reason),
            StageOutcome::Error(reason, error) => {
                send_error(snapshot, state, batch, index, error, source);
                batch.drop(state, index, reason);
            }
            StageOutcome::Reject(with) => reject(snapshot, state, batch, index, with, source),
            StageOutcome::Reply(reply) => {
                let meta = echo_meta(snapshot, &packet.meta);
                batch.push_generated(reply, meta);
            }
            StageOutcome::Transmit(frame, port) => {
                state.generated += 1;
                batch.push_generated(frame, Meta { verdict: Verdict::Tx(port), ..Meta::default() });
            }
            StageOutcome::Fragment(port) => {
                if let Some(out) = snapshot.interface(packet.meta.out_interface) {
                    fragment(state, batch, index, out, port, source);
                }
            }
        }
        entered += 1;
    }
    entered
}

/// Drops a packet that a rule rejects, and answers its sender.
#[cold]
pub(crate) fn reject<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    index: usize,
    with: RejectWith,
    source: &mut S,
) {
    let tcp = batch.packets.get(index).is_some_and(|packet| packet.meta.tuple.protocol == ipv4::TCP);
    match with {
        RejectWith::TcpReset if tcp => send_reset(snapshot, state, batch, index, source),
        _ => send_error(snapshot, state, batch, index, IcmpError::rejection(with), source),
    }
    batch.drop(state, index, DropReason::FilterReject);
}
