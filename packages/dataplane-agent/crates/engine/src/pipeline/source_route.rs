//! Source routes of packets (RFC 791 §3.1, RFC 1812 §5.2.4.1).

use tollway_wire::ipv4;
use tollway_wire::ipv4::option::{LOOSE_SOURCE_ROUTE, STRICT_SOURCE_ROUTE};

use crate::ip::fib::Lookup;
use crate::ip::options::{follow_source_route, source_route};
use crate::ip::routing_policy::RoutingQuery;
use crate::packet::frame::Frame;
use crate::packet::tuple::Addr;
use crate::packet::verdict::DropReason;
use crate::packet::{Origin, Packet, flag};
use crate::snapshot::Snapshot;

/// Whether a list of options asks for source routing. What is malformed is found later, where the sender is told of it.
#[cold]
pub(crate) fn asks_for_it(list: &[u8]) -> bool {
    let asks = |kind: u8| matches!(kind, LOOSE_SOURCE_ROUTE | STRICT_SOURCE_ROUTE);
    ipv4::options(list).flatten().any(|option| asks(option.kind))
}

/// Takes the next address of the source route of a packet for the router itself as its destination.
///
/// # Errors
/// The next address is none that a packet can have.
#[cold]
pub(crate) fn follow<F: Frame>(
    snapshot: &Snapshot,
    packet: &mut Packet<F>,
    check: impl Fn(u32, u32) -> Result<(), DropReason>,
) -> Result<(), DropReason> {
    let Packet { frame: Some(frame), meta, .. } = packet else { return Ok(()) };
    let Some(l3) = frame.head_mut().get_mut(usize::from(meta.l3)..) else { return Ok(()) };
    if meta.origin != Origin::Port || meta.is(flag::LINK_BROADCAST) {
        return Ok(());
    }
    let Some(route) = source_route(l3) else { return Ok(()) };
    let zone = meta.tuple.zone;
    let (source, interface) = (meta.tuple.src.as_v4().unwrap_or_default(), meta.in_interface);
    let query = |destination| RoutingQuery { zone, source, destination, mark: 0, interface };
    let leaves_by = |next: u32| match snapshot.lookup_by_rules(&query(next)) {
        Lookup::Connected { interface } => snapshot.interface(interface)?.address_for(next),
        Lookup::Via { interface, gateway } => snapshot.interface(interface)?.address_for(gateway),
        Lookup::Local { .. } => Some(next),
        Lookup::Broadcast { .. } | Lookup::Discard(_) | Lookup::NoRoute => None,
    };
    if !follow_source_route(l3, route, |own| snapshot.is_local(zone, own), leaves_by) {
        return Ok(());
    }
    let [src, dst] = [ipv4::offset::SRC, ipv4::offset::DST].map(|at| tollway_wire::field::get32(l3, at));
    check(src, dst)?;
    meta.tuple.dst = Addr::v4(dst);
    // The worker was chosen by the destination before.
    meta.flags = meta.flags & !flag::STEERED | flag::SOURCE_ROUTED;
    Ok(())
}
