//! Packets for the router itself: echo requests are answered, those that have a queue when it lets them pass;
//! everything else goes to the TAP of the interface.

use tollway_wire::{ethernet, icmp, ipv4};

use crate::packet::Packet;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::icmp::{echo_meta, make_echo_reply};
use crate::pipeline::stage::emit::translate;
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

pub(crate) fn run<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    _source: &mut S,
) -> u64 {
    let mut entered = 0;
    for at in 0..batch.slow.len() {
        let Some((_, packet)) = batch.slow_packet(at) else { continue };
        if packet.meta.verdict != Verdict::Continue || !packet.meta.is(flag::TO_ROUTER) {
            continue;
        }
        entered += 1;
        if let Err(reason) = translate(state, packet, false) {
            state.drop(packet, reason);
            continue;
        }
        let meta = packet.meta;
        let whole = packet.frame.as_ref().is_some_and(|frame| frame.head().len() == frame.len());
        let echo = meta.hook == Hook::Input
            && meta.tuple.protocol == ipv4::ICMP
            && meta.l4_kind == icmp::ECHO_REQUEST
            && !meta.is(flag::FRAGMENT | flag::BROADCAST | flag::LINK_BROADCAST)
            && whole;
        if !echo {
            packet.meta.verdict = match snapshot.interface(meta.out_interface) {
                Some(interface) => Verdict::Local(interface.row),
                None => {
                    state.drop(packet, DropReason::OutInterfaceDown);
                    continue;
                }
            };
            continue;
        }
        packet.meta.verdict = Verdict::Echo;
        if meta.queue.is_none()
            && let Some(reply) = answer(state, packet)
        {
            batch.push_generated(reply, echo_meta());
        }
    }
    entered
}

/// Ends an echo request with its reply, which is to take a pass of its own.
pub(crate) fn answer<F: Frame>(state: &mut WorkerState<F>, packet: &mut Packet<F>) -> Option<F> {
    let ident = state.next_ident();
    let answered = packet.frame.as_mut().is_some_and(|frame| {
        let l3 = frame.head_mut().get_mut(ethernet::HEADER..).unwrap_or_default();
        let header = ipv4::Packet::new_checked(&mut *l3).map(|ip| (ip.header_len(), ip.total_len()));
        let Ok((header, total)) = header else { return false };
        l3.get_mut(..usize::from(total)).is_some_and(|l3| make_echo_reply(l3, header, ident))
    });
    let reply = packet.frame.take().filter(|_| answered);
    let reason = if answered { DropReason::EchoAnswered } else { DropReason::BadIcmpChecksum };
    state.drop(packet, reason);
    state.generated += u64::from(answered);
    reply
}
