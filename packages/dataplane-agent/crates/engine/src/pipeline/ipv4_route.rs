//! Routing of IPv4 packets: for the router itself, for a next hop on an interface, or nowhere.

use tollway_config::dataplane::RpFilter;

use crate::ids::NO_INTERFACE;
use crate::ip::fib::Lookup;
use crate::ip::is_group;
use crate::ip::routing_policy::RoutingQuery;
use crate::packet::verdict::DropReason;
use crate::packet::{Hook, Meta, Origin, flag};
use crate::pipeline::icmp::IcmpError;
use crate::pipeline::routing::{FlowOf, Refusal, by_policy, delivered_to, discard_refusal, no_route};
use crate::snapshot::Snapshot;

/// Decides where a packet goes.
///
/// # Errors
/// The reason for which the packet is dropped.
pub(crate) fn decide(snapshot: &Snapshot, meta: &mut Meta) -> Result<(), Refusal> {
    let (Some(src), Some(dst)) = (meta.tuple.src.as_v4(), meta.tuple.dst.as_v4()) else {
        return Err((DropReason::NoRoute, None));
    };
    let from_port = meta.origin == Origin::Port;
    if from_port {
        check_source(snapshot, meta, src)?;
    }
    let mut refused = None;
    let lookup = if is_group(dst) {
        // Limited broadcast and multicast addresses are on every link; the interface decides.
        let interface = if from_port {
            meta.in_interface
        } else {
            snapshot.interface_index(meta.tap).unwrap_or(NO_INTERFACE)
        };
        Lookup::Broadcast { interface }
    } else if let Some(tables) = snapshot.policy() {
        let flow = FlowOf::new(snapshot, meta);
        let decision = by_policy(&tables, meta, || flow.hash());
        flow.note(meta);
        refused = decision.refused;
        decision.lookup
    } else {
        let flow = FlowOf::new(snapshot, meta);
        let lookup = snapshot.fib().lookup_for(dst, || flow.hash());
        flow.note(meta);
        lookup
    };
    match lookup {
        Lookup::Local { interface } => {
            meta.hook = if from_port { Hook::Input } else { Hook::Output };
            meta.out_interface = delivered_to(snapshot, meta, interface);
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
        Lookup::Discard(discard) => return Err(discard_refusal(discard)),
        Lookup::Local { .. } | Lookup::NoRoute => return Err(no_route(refused)),
    };
    if !snapshot.interface(interface).is_some_and(|interface| interface.up) {
        return Err((DropReason::OutInterfaceDown, Some(IcmpError::NETWORK)));
    }
    (meta.out_interface, meta.next_hop) = (interface, next_hop);
    Ok(())
}

/// Drops packets with a source address of the router, or with the broadcast address of a connected network (RFC 1812
/// §5.3.7); and the reverse path check (RFC 3704 §2).
fn check_source(snapshot: &Snapshot, meta: &Meta, src: u32) -> Result<(), Refusal> {
    // A reply is routed by the zone of its connection, and its source by that which it comes by.
    let zone = snapshot.zone_of_ingress(meta);
    if snapshot.is_local_or_broadcast(zone, src) {
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
    // The way back goes by the tables of packets from the destination to the source, which come in by no interface
    // (fib_validate_source). It may also be that of the packet's own mark, as with Linux's src_valid_mark; a host whose mark
    // names a table of uplinks alone passes by the table without marks.
    let query = |mark| RoutingQuery {
        zone,
        source: meta.tuple.dst.as_v4().unwrap_or_default(),
        destination: src,
        mark,
        interface: NO_INTERFACE,
    };
    let leaves = |mark| snapshot.leaves_by(&query(mark), by);
    let mark = meta.routing_mark;
    if leaves(0) || mark != 0 && leaves(mark) { Ok(()) } else { Err((DropReason::ReversePath, None)) }
}
