//! Packets for the router itself: echo requests are answered here, everything else goes to the TAP of
//! the interface.

use tollway_wire::{icmp, ipv4};

use crate::batch::Batch;
use crate::frame::{Frame, FrameSource};
use crate::icmp::{echo_meta, make_echo_reply};
use crate::packet::{Hook, flag};
use crate::snapshot::Snapshot;
use crate::stage::emit::translate;
use crate::state::WorkerState;
use crate::verdict::{DropReason, Verdict};

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
        if let Err(reason) = translate(state, packet) {
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
        let ident = state.next_ident();
        let header = usize::from(meta.l4.saturating_sub(meta.l3));
        let answered = packet.frame.as_mut().is_some_and(|frame| {
            let end = usize::from(meta.l3) + meta.l3_len as usize;
            let l3 = frame.head_mut().get_mut(usize::from(meta.l3)..end);
            l3.is_some_and(|l3| make_echo_reply(l3, header, ident))
        });
        if !answered {
            state.drop(packet, DropReason::BadIcmpChecksum);
            continue;
        }
        let reply = packet.frame.take();
        state.drop(packet, DropReason::EchoAnswered);
        if let Some(reply) = reply {
            state.generated += 1;
            batch.push_generated(reply, echo_meta());
        }
    }
    entered
}
