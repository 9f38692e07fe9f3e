//! The fast path of IPv6 without connection tracking: a packet is forwarded by its route alone, the number of which has
//! been looked up.

use crate::ids::PortId;
use crate::ip::fib::Lookup6;
use crate::packet::Packet;
use crate::packet::frame::Frame;
use crate::packet::header::{lower_hop_limit, write_ipv6_link};
use crate::packet::slow_reason::SlowReason;
use crate::packet::tuple::Tuple;
use crate::pipeline::state::WorkerState;
use crate::pipeline::stateless_send::{Headers, send};
use crate::snapshot::{Interface, Snapshot};

/// Forwards a packet by its route, where [`Snapshot::is_plain_ipv6`]. `parse` has found that its headers do not forbid
/// it. If it cannot, changes nothing and returns the reason for which the packet takes the slow path.
#[inline(never)]
pub(crate) fn forward<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    number: u16,
) -> Result<(), SlowReason> {
    let meta = &packet.meta;
    let src = meta.tuple.src.0;
    if snapshot.fib6().is_local(src) {
        return Err(SlowReason::NotRoutable);
    }
    let (out, next_hop, port) = route(snapshot, (&meta.tuple, &meta.inner_hash), number)?;
    let adjacency = |state: &WorkerState<F>| state.adjacencies6.get((out.row, next_hop));
    send::<Ipv6Headers, F>(snapshot, state, packet, (out, port), adjacency)
}

/// Headers of IPv6.
struct Ipv6Headers;

impl Headers for Ipv6Headers {
    const IPV6: bool = true;

    #[inline(always)]
    fn write(head: &mut [u8], l3: usize, link: ([u8; 6], [u8; 6])) {
        if let Some(l3) = head.get_mut(l3..) {
            lower_hop_limit(l3);
        }
        write_ipv6_link(head, link.0, link.1);
    }
}

/// Interface, which is up, next hop and port of packets to a destination, or why they are not forwarded by their route
/// alone.
#[inline]
fn route<'a>(
    snapshot: &'a Snapshot,
    (tuple, inner): (&Tuple, &u32),
    number: u16,
) -> Result<(&'a Interface, u128, PortId), SlowReason> {
    let flow = || u64::from(snapshot.flow_hash_of(tuple, *inner));
    let (interface, next_hop) = match snapshot.fib6().lookup_of(number, flow) {
        Lookup6::Connected { interface } => (interface, tuple.dst.0),
        Lookup6::Via { interface, gateway } => (interface, gateway),
        Lookup6::Local { .. } => return Err(SlowReason::ToRouter),
        Lookup6::Broadcast { .. } | Lookup6::Discard(_) | Lookup6::NoRoute => {
            return Err(SlowReason::NotRoutable);
        }
    };
    let out = snapshot.interface(interface).filter(|out| out.up).ok_or(SlowReason::NotRoutable)?;
    Ok((out, next_hop, out.port.ok_or(SlowReason::NotRoutable)?))
}
