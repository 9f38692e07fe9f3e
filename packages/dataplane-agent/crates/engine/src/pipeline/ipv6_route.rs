//! Routing of IPv6 packets: for the router itself, for a next hop on an interface, or nowhere.

use tollway_wire::{icmpv6, ipv6};

use crate::ids::{InterfaceIndex, NO_INTERFACE};
use crate::ip::fib::Lookup6;
use crate::packet::tuple::Addr;
use crate::packet::verdict::DropReason;
use crate::packet::{Hook, Meta, Origin, flag};
use crate::pipeline::icmp::IcmpError;
use crate::pipeline::routing::{FlowOf, Refusal, by_policy, delivered_to, discard_refusal, no_route};
use crate::shared::Shared;
use crate::snapshot::Snapshot;

/// Decides where a packet goes.
///
/// # Errors
/// The reason for which the packet is dropped.
#[inline(never)]
pub(crate) fn decide(snapshot: &Snapshot, shared: &Shared, meta: &mut Meta) -> Result<(), Refusal> {
    let (src, dst) = (meta.tuple.src.0, meta.tuple.dst.0);
    let from_port = meta.origin == Origin::Port;
    // The interface on which addresses of a link are meant.
    let link = match from_port {
        true => meta.in_interface,
        false => snapshot.interface_index(meta.tap).unwrap_or(NO_INTERFACE),
    };
    // Another station that has an address of the router says so from that address.
    let discovers = meta.tuple.protocol == ipv6::ICMPV6 && icmpv6::is_discovery(meta.tcp_flags_or_icmp_type);
    if from_port && !discovers && is_own(snapshot, link, src) {
        return Err((DropReason::MartianSource, None));
    }
    if ipv6::is_multicast(dst) {
        meta.flags |= flag::BROADCAST;
        return if from_port { to_router(meta, link) } else { out(snapshot, meta, link) };
    }
    let mut refused = None;
    let lookup = if ipv6::is_link_local(dst) {
        match is_own(snapshot, link, dst) {
            true => Lookup6::Local { interface: link },
            false => Lookup6::Connected { interface: link },
        }
    } else {
        // What decides between several next hops must be known when the source is translated.
        meta.next_hop = snapshot.flow_hash_of(&meta.tuple, meta.inner_hash);
        let flow = FlowOf::new(snapshot, meta);
        let lookup = match snapshot.policy6() {
            None => snapshot.fib6().lookup_for(dst, || flow.hash()),
            Some(tables) => {
                let decision = by_policy(&tables, meta, || flow.hash());
                refused = decision.refused;
                decision.lookup
            }
        };
        flow.note(meta);
        lookup
    };
    if let Lookup6::Local { interface } = lookup {
        let row = snapshot.interface(interface).map_or(0, |interface| interface.row);
        if from_port && !shared.address_states.is_usable((row, Addr(dst))) {
            return Err((DropReason::NotForUs, None));
        }
        return to_router(meta, delivered_to(snapshot, meta, interface));
    }
    if from_port {
        if meta.is(flag::LINK_BROADCAST) {
            return Err((DropReason::NotForUs, None));
        }
        if !snapshot.settings.ipv6.forward {
            return Err((DropReason::ForwardingOff, None));
        }
        if ipv6::is_link_local(src) || ipv6::is_link_local(dst) {
            return Err((DropReason::BeyondScope, Some(IcmpError::BEYOND_SCOPE)));
        }
        meta.hook = Hook::Forward;
    } else {
        meta.hook = Hook::Output;
    }
    match lookup {
        Lookup6::Connected { interface } | Lookup6::Via { interface, .. } => out(snapshot, meta, interface),
        Lookup6::Discard(discard) => Err(discard_refusal(discard)),
        Lookup6::Local { .. } | Lookup6::Broadcast { .. } | Lookup6::NoRoute => Err(no_route(refused)),
    }
}

/// Whether an address is the router's: a link-local one on this interface, any other on any in the zone of the interface.
fn is_own(snapshot: &Snapshot, on: InterfaceIndex, address: u128) -> bool {
    let interface = snapshot.interface(on);
    if ipv6::is_link_local(address) {
        let ipv6 = interface.and_then(|interface| interface.ipv6.as_ref());
        return ipv6.is_some_and(|ipv6| ipv6.has_address(address));
    }
    snapshot.home6(interface.map_or(0, |interface| interface.zone)).is_local(address)
}

fn to_router(meta: &mut Meta, interface: InterfaceIndex) -> Result<(), Refusal> {
    meta.hook = if meta.origin == Origin::Port { Hook::Input } else { Hook::Output };
    meta.out_interface = interface;
    meta.flags |= flag::TO_ROUTER;
    Ok(())
}

fn out(snapshot: &Snapshot, meta: &mut Meta, interface: InterfaceIndex) -> Result<(), Refusal> {
    if meta.origin != Origin::Port {
        meta.hook = Hook::Output;
    }
    if !snapshot.interface(interface).is_some_and(|interface| interface.up) {
        return Err((DropReason::OutInterfaceDown, Some(IcmpError::NETWORK)));
    }
    meta.out_interface = interface;
    Ok(())
}
