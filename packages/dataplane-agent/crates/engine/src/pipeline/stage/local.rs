//! Packets for the router itself: answers echo requests (after they have left their queue, if they have one), and
//! delivers all other packets to the TAP of the interface.

use tollway_wire::{icmp, ipv4};

use crate::packet::frame::{Frame, FrameSource};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Packet, flag};
use crate::pipeline::echo::answer;
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};
use crate::pipeline::translate::translate;

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    each_slow(pass, |snapshot, state, packet| {
        if packet.meta.verdict != Verdict::Continue || !packet.meta.is(flag::TO_ROUTER) {
            return StageOutcome::Skip;
        }
        if let Err(reason) = translate(state, packet, false) {
            return StageOutcome::Drop(reason);
        }
        if !is_echo_request(packet) {
            return match snapshot.interface(packet.meta.out_interface) {
                Some(interface) => {
                    packet.meta.verdict = Verdict::Local(interface.row);
                    StageOutcome::Next
                }
                None => StageOutcome::Drop(DropReason::OutInterfaceDown),
            };
        }
        packet.meta.verdict = Verdict::Echo;
        if packet.meta.queue.is_none() {
            answer(state, packet).map_or(StageOutcome::Next, StageOutcome::Reply)
        } else {
            StageOutcome::Next
        }
    })
}

/// Whether the router itself answers a packet: a whole echo request for one of its addresses.
fn is_echo_request<F: Frame>(packet: &Packet<F>) -> bool {
    let meta = &packet.meta;
    meta.hook == Hook::Input
        && meta.tuple.protocol == ipv4::ICMP
        && meta.tcp_flags_or_icmp_type == icmp::ECHO_REQUEST
        && !meta.is(flag::FRAGMENT | flag::BROADCAST | flag::LINK_BROADCAST)
        && packet.frame.as_ref().is_some_and(|frame| frame.head().len() == frame.len())
}
