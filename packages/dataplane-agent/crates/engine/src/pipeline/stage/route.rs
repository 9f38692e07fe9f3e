//! Routing: decides whether a packet is for the router itself, or leaves by an interface and a next hop.

use tollway_config::dataplane::RpFilter;

use crate::ids::NO_INTERFACE;
use crate::ip::fib::{Discard, Lookup};
use crate::ip::{is_group, options};
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Meta, Origin, Packet, flag};
use crate::pipeline::icmp::IcmpError;
use crate::pipeline::ipv6_route;
use crate::pipeline::redirect;
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    each_slow(pass, |snapshot, state, packet| {
        if packet.meta.verdict != Verdict::Continue {
            return StageOutcome::Skip;
        }
        let decided = match packet.meta.is_ipv6() {
            true => ipv6_route::decide(snapshot, &state.shared, &mut packet.meta),
            false => decide_ipv4(snapshot, state, packet),
        };
        match decided {
            Ok(()) => StageOutcome::Next,
            Err((reason, None)) => StageOutcome::Drop(reason),
            Err((reason, Some(error))) => StageOutcome::Error(reason, error),
        }
    })
}

type Refusal = (DropReason, Option<IcmpError>);

/// Refuses malformed options, and strict source routes to another network or by another router.
#[inline]
fn check_options<F: Frame>(packet: &Packet<F>) -> Result<(), Refusal> {
    let meta = &packet.meta;
    if !meta.is(flag::OPTIONS) || meta.origin != Origin::Port {
        return Ok(());
    }
    let head = packet.frame.as_ref().map(Frame::head).unwrap_or_default();
    let l3 = head.get(usize::from(meta.l3)..).unwrap_or_default();
    options::check(l3)
        .map_err(|pointer| (DropReason::BadIpOptions, Some(IcmpError::parameter_problem(pointer))))?;
    if meta.hook == Hook::Forward && options::source_route(l3).is_some_and(|route| route.strict) {
        let connected = meta.tuple.dst.as_v4() == Some(meta.next_hop);
        if !connected || !meta.is(flag::SOURCE_ROUTED) {
            return Err((DropReason::SourceRouteFailed, Some(IcmpError::SOURCE_ROUTE_FAILED)));
        }
    }
    Ok(())
}

/// As [`decide`], and checks the options; packets of the router itself may have another gateway by a redirect.
fn decide_ipv4<F: Frame>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    packet: &mut Packet<F>,
) -> Result<(), Refusal> {
    decide(snapshot, &mut packet.meta)?;
    check_options(packet)?;
    let meta = &mut packet.meta;
    if snapshot.settings.accept_redirects && meta.hook == Hook::Output {
        meta.next_hop = redirect::gateway(snapshot, state, meta, meta.next_hop).unwrap_or(meta.next_hop);
    }
    Ok(())
}

fn decide(snapshot: &Snapshot, meta: &mut Meta) -> Result<(), Refusal> {
    let (Some(src), Some(dst)) = (meta.tuple.src.as_v4(), meta.tuple.dst.as_v4()) else {
        return Err((DropReason::NoRoute, None));
    };
    let from_port = meta.origin == Origin::Port;
    if from_port {
        check_source(snapshot, meta, src)?;
    }
    let lookup = if is_group(dst) {
        // Limited broadcast and multicast addresses are on every link; the interface decides.
        let interface = if from_port {
            meta.in_interface
        } else {
            snapshot.interface_index(meta.tap).unwrap_or(NO_INTERFACE)
        };
        Lookup::Broadcast { interface }
    } else {
        snapshot.lookup_for(dst, &meta.tuple)
    };
    match lookup {
        Lookup::Local { interface } => {
            meta.hook = if from_port { Hook::Input } else { Hook::Output };
            meta.out_interface = if from_port { meta.in_interface } else { interface };
            meta.flags |= flag::TO_ROUTER;
            return Ok(());
        }
        Lookup::Broadcast { interface } if from_port => {
            if interface != meta.in_interface {
                return Err((DropReason::DirectedBroadcast, None));
            }
            meta.hook = Hook::Input;
            meta.out_interface = interface;
            meta.flags |= flag::BROADCAST | flag::TO_ROUTER;
            return Ok(());
        }
        _ => {}
    }
    if from_port {
        if meta.is(flag::LINK_BROADCAST) {
            return Err((DropReason::NotForUs, None));
        }
        if !snapshot.settings.ip_forward {
            return Err((DropReason::ForwardingOff, None));
        }
        meta.hook = Hook::Forward;
    } else {
        meta.hook = Hook::Output;
    }
    let (interface, next_hop) = match lookup {
        Lookup::Connected { interface } => (interface, dst),
        Lookup::Via { interface, gateway } => (interface, gateway),
        Lookup::Broadcast { interface } => {
            meta.flags |= flag::BROADCAST;
            (interface, dst)
        }
        Lookup::Discard(discard) => return Err(refusal(discard)),
        Lookup::Local { .. } | Lookup::NoRoute => {
            return Err((DropReason::NoRoute, Some(IcmpError::NETWORK)));
        }
    };
    if !snapshot.interface(interface).is_some_and(|interface| interface.up) {
        return Err((DropReason::OutInterfaceDown, Some(IcmpError::NETWORK)));
    }
    (meta.out_interface, meta.next_hop) = (interface, next_hop);
    Ok(())
}

/// Drop reason and ICMP error of a discarding route, as in Linux.
fn refusal(discard: Discard) -> Refusal {
    match discard {
        Discard::Blackhole => (DropReason::Blackhole, None),
        Discard::Unreachable => (DropReason::UnreachableRoute, Some(IcmpError::HOST)),
        Discard::Prohibit => (DropReason::ProhibitRoute, Some(IcmpError::PROHIBITED)),
    }
}

/// Drops packets with a source address of the router, or with the broadcast address of a connected network (RFC 1812
/// §5.3.7); and the reverse path check (RFC 3704 §2).
fn check_source(snapshot: &Snapshot, meta: &Meta, src: u32) -> Result<(), Refusal> {
    if snapshot.is_local_or_broadcast(src) {
        return Err((DropReason::MartianSource, None));
    }
    // A DHCP client has no address yet that could be checked.
    if src == 0 {
        return Ok(());
    }
    let by = match snapshot.settings.rp_filter {
        RpFilter::No => return Ok(()),
        RpFilter::Strict => Some(meta.in_interface),
        RpFilter::Loose => None,
    };
    if snapshot.leaves_by(src, by) { Ok(()) } else { Err((DropReason::ReversePath, None)) }
}
