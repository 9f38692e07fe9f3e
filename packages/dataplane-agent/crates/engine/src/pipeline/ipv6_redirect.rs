//! Redirects of IPv6 about packets of the router itself (RFC 4861 §8). The router sends none.

use tollway_wire::ipv6;

use crate::ip::fib::Lookup6;
use crate::ip::learned_gateways::Gateway;
use crate::packet::Meta;
use crate::pipeline::state::WorkerState;
use crate::snapshot::{Interface, Snapshot};

/// The fields of a redirect of IPv6 (RFC 4861 §4.5).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Redirect {
    /// Who sent it, a link-local address.
    pub sender: u128,
    /// Better first hop.
    pub target: u128,
    /// Address that is redirected.
    pub destination: u128,
}

/// Learns the gateway that a redirect of IPv6 names, if it may be followed (RFC 4861 §8.1): it comes from the gateway that is
/// used now, and names a router by its link-local address, or the destination as one of the link. Returns whether it was
/// learned.
#[cold]
pub(crate) fn learn<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    interface: &Interface,
    Redirect { sender, target, destination }: Redirect,
) -> bool {
    if !snapshot.settings.ipv6.accept_redirects {
        return false;
    }
    let Lookup6::Via { interface: index, gateway } = snapshot.home6(interface.zone).lookup(destination)
    else {
        return false;
    };
    if snapshot.interface(index).is_none_or(|out| out.row != interface.row) {
        return false;
    }
    let routed = Gateway { interface: interface.row, address: gateway };
    let gateways = &state.shared.learned_gateways6;
    let used = gateways.find(destination, routed, state.now).unwrap_or(gateway);
    sender == used
        && !ipv6::is_multicast(destination)
        && (ipv6::is_link_local(target) && target != sender || target == destination)
        && gateways.learn(destination, routed, target, state.now)
}

/// The gateway of a packet of IPv6 of the router itself, whose route has `next_hop`: the one that a redirect has
/// named, if any.
pub(crate) fn gateway<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    meta: &Meta,
    next_hop: u128,
) -> Option<u128> {
    let destination = Some(meta.tuple.dst.0).filter(|dst| *dst != next_hop)?;
    let interface = snapshot.interface(meta.out_interface)?.row;
    state.shared.learned_gateways6.find(destination, Gateway { interface, address: next_hop }, state.now)
}
