//! Packets for the router itself: answers echo requests (after they have left their queue, if they have one), deals with
//! messages of neighbour discovery, and delivers all other packets to the TAP of the interface.

use tollway_wire::extension::unknown_option;
use tollway_wire::{field, icmp, icmpv6, ipv4, ipv6};

use crate::ip::options::source_route;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Meta, Packet, flag};
use crate::pipeline::discovery;
use crate::pipeline::echo::answer;
use crate::pipeline::icmp::{IcmpError, may_send};
use crate::pipeline::redirect;
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};
use crate::pipeline::translate::translate;
use crate::snapshot::Snapshot;

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    each_slow(pass, |snapshot, state, packet| {
        if packet.meta.verdict != Verdict::Continue || !packet.meta.is(flag::TO_ROUTER) {
            return StageOutcome::Skip;
        }
        if packet.meta.is(flag::OPTIONS)
            && packet.meta.is_ipv6()
            && let Err(outcome) = check_options(packet)
        {
            return outcome;
        }
        if let Err(reason) = translate(state, packet, false) {
            return StageOutcome::Drop(reason);
        }
        if discovery::is_discovery(snapshot, &packet.meta) {
            let (reason, answer) = discovery::receive(snapshot, state, packet);
            state.drop(packet, reason);
            let port = snapshot.interface(packet.meta.in_interface).and_then(|interface| interface.port);
            return match (answer, port) {
                (Some(frame), Some(port)) => StageOutcome::Transmit(frame, port),
                _ => StageOutcome::Next,
            };
        }
        let is_error = packet.meta.is(flag::ICMP_ERROR) && !packet.meta.is_ipv6();
        let is_redirect = is_error && packet.meta.tcp_flags_or_icmp_type == icmp::REDIRECT;
        if is_redirect && snapshot.settings.accept_redirects {
            redirect::learn(snapshot, state, packet);
        }
        if !is_echo_request(snapshot, packet) {
            return match snapshot.interface(packet.meta.out_interface) {
                Some(interface) => {
                    packet.meta.verdict = Verdict::Local(interface.row);
                    StageOutcome::Next
                }
                None => StageOutcome::Drop(DropReason::OutInterfaceDown),
            };
        }
        let limited = |sender: u32| !may_send(snapshot, state, icmp::ECHO_REPLY, sender);
        if !packet.meta.is_ipv6() && packet.meta.tuple.src.as_v4().is_some_and(limited) {
            return StageOutcome::Drop(DropReason::IcmpRateLimited);
        }
        packet.meta.verdict = Verdict::Echo;
        if packet.meta.queue.is_none() {
            answer(state, packet).map_or(StageOutcome::Next, StageOutcome::Reply)
        } else {
            StageOutcome::Next
        }
    })
}

/// Discards a packet with an option that is not known, if the option says so (RFC 8200 §4.2). Those of packets that are
/// forwarded are not looked at (§4.3, RFC 9673 §5.2).
///
/// # Errors
/// What becomes of the packet instead.
#[cold]
fn check_options<F: Frame>(packet: &Packet<F>) -> Result<(), StageOutcome<F>> {
    let meta = &packet.meta;
    let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
    let ip = head.get(usize::from(meta.l3)..).unwrap_or_default();
    match unknown_option(ip, meta.l3_len as usize) {
        Ok(None) => Ok(()),
        Ok(Some(option)) if option.is_answered(field::get128(ip, ipv6::offset::DST)) => {
            Err(StageOutcome::Error(DropReason::BadIpOptions, IcmpError::unknown_option(option.at as u32)))
        }
        Ok(Some(_)) | Err(_) => Err(StageOutcome::Drop(DropReason::BadIpOptions)),
    }
}

/// Whether the router itself answers a packet: a whole echo request for one of its addresses. What came by a source
/// route goes back by it, which Linux does in the router's namespace, and it makes fragments of IPv6.
fn is_echo_request<F: Frame>(snapshot: &Snapshot, packet: &Packet<F>) -> bool {
    let meta = &packet.meta;
    let mtu = || snapshot.interface(meta.in_interface).map_or(u32::MAX, |interface| interface.mtu.into());
    meta.hook == Hook::Input
        && asks_for_echo(meta)
        && !meta.is(flag::FRAGMENT | flag::BROADCAST | flag::LINK_BROADCAST)
        && (!meta.is_ipv6() || meta.l3_len <= mtu())
        && packet.frame.as_ref().is_some_and(|frame| {
            let l3 = frame.head().get(usize::from(meta.l3)..).unwrap_or_default();
            let routed = || meta.is(flag::OPTIONS) && !meta.is_ipv6() && source_route(l3).is_some();
            frame.head().len() == frame.len() && !routed()
        })
}

fn asks_for_echo(meta: &Meta) -> bool {
    let asked = (meta.tuple.protocol, meta.tcp_flags_or_icmp_type);
    match meta.is_ipv6() {
        true => asked == (ipv6::ICMPV6, icmpv6::ECHO_REQUEST),
        false => asked == (ipv4::ICMP, icmp::ECHO_REQUEST),
    }
}
