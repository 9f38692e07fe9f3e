//! Masqueraded connections whose packets now leave by another interface: replies to the address of the old one would not
//! come back, so the packet becomes the first of a new connection with another address. Linux drops it
//! (nf_nat_oif_changed).
//!
//! Where only routes and routing rules decide, `track` finds it, before any rule has seen the packet. Where marks decide, it
//! is known once mangle's prerouting has set them, and the stage `dst_nat` opens the new connection; of packets of the router
//! itself, once mangle's output has, in the stage `mangle`.

use tollway_config::dataplane::{Mark, RowId};
use tollway_wire::{ipv4, ipv6};

use crate::firewall::rules::TableKind;
use crate::flow::conntrack::{Flow, HotState, Transport};
use crate::flow::nat::bind_destination;
use crate::ids::{ConnRef, Direction, InterfaceIndex, NO_ENTRY};
use crate::ip::fib::{Address, RouteLookup};
use crate::ip::is_group;
use crate::ip::routing_policy::RoutingQuery;
use crate::packet::frame::Frame;
use crate::packet::tuple::Tuple;
use crate::packet::verdict::DropReason;
use crate::packet::{Hook, Meta, Origin, Packet, flag};
use crate::pipeline::state::WorkerState;
use crate::snapshot::{FamilyTables, Snapshot};

/// What beside its tuple decides the route of a packet.
#[derive(Clone, Copy)]
struct RoutedBy {
    interface: InterfaceIndex,
    mark: Mark,
    /// The packet that it encapsulates chooses between several next hops.
    by_inner: bool,
}

impl RoutedBy {
    fn query<A: Address>(self, routed: &Tuple) -> RoutingQuery<A> {
        RoutingQuery::of(routed, self.mark, self.interface)
    }
}

/// Whether marks of packets decide on routes.
pub(crate) fn routed_by_marks(snapshot: &Snapshot) -> bool {
    snapshot.policy().is_some_and(|tables| tables.has_marks())
        || snapshot.policy6().is_some_and(|tables| tables.has_marks())
}

/// Ends the masqueraded connection of a packet that now leaves by another interface. Nothing happens where marks decide,
/// which no rule has set yet.
// Not inlined, as few packets on the slow path need it.
#[inline(never)]
pub(crate) fn end_if_elsewhere<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    flow: &Flow<'_>,
    meta: &Meta,
) {
    if !routed_by_marks(snapshot) {
        let by = RoutedBy { interface: meta.in_interface, mark: 0, by_inner: meta.inner_hash != 0 };
        state.table.replace_masqueraded(flow, |row, routed| leaves_by_another(snapshot, row, routed, by));
    }
}

/// Whether it is known only behind mangle's output where a packet leaves: one of the router itself, which a rule may mark.
pub(crate) fn is_marked_in_output(snapshot: &Snapshot, meta: &Meta) -> bool {
    meta.origin != Origin::Port && snapshot.start_for(meta, TableKind::Mangle, Hook::Output).is_some()
}

/// Opens another connection for a packet of a masqueraded one whose mark leads it out by another interface. The new one has
/// the mark of the old one.
#[cold]
pub(crate) fn open_anew_if_elsewhere<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    reference: ConnRef,
) {
    let meta = &packet.meta;
    let by =
        RoutedBy { interface: meta.in_interface, mark: meta.routing_mark, by_inner: meta.inner_hash != 0 };
    open_anew_if(snapshot, state, packet, reference, |row, routed| {
        leaves_by_another(snapshot, row, routed, by)
    });
}

/// [`open_anew_if_elsewhere`] for a packet of the router itself, which has been routed by the mark that it has now. The
/// destination of the new connection is not translated.
///
/// # Errors
/// There is no room for another connection.
pub(crate) fn open_own_anew_if_elsewhere<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
) -> Result<(), DropReason> {
    let meta = &packet.meta;
    let translated = |hot: &HotState| hot.status.srcnat() && hot.status.confirmed();
    let Some(before) =
        meta.conn.filter(|_| !meta.is(flag::ROUTER_REPLY | flag::ICMP_ERROR | flag::TO_ROUTER))
    else {
        return Ok(());
    };
    if !state.table.hot(before).is_some_and(translated) {
        return Ok(());
    }
    let out = snapshot.interface(meta.out_interface).map_or(0, |out| out.row);
    open_anew_if(snapshot, state, packet, before, |row, _| row != out);
    let Some(now) = packet.meta.conn else { return Err(DropReason::ConnectionTableFull) };
    if now == before {
        return Ok(());
    }
    let random = state.random();
    bind_destination(&mut state.table, now, None, random).map_err(|_| DropReason::NatExhausted)
}

/// Opens another connection for a packet of a masqueraded one if that is so of the row of the interface whose address it
/// uses, and of the tuple by which the packet is routed.
fn open_anew_if<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    reference: ConnRef,
    elsewhere: impl FnOnce(RowId, &Tuple) -> bool,
) {
    let Packet { frame: Some(frame), meta, .. } = packet else { return };
    // The TCP header is in another fragment.
    let has_header = !meta.is(flag::LATER_FRAGMENT) || meta.tuple.protocol != ipv4::TCP;
    if meta.direction != Direction::Original || !has_header {
        return;
    }
    let Some(transport) = Transport::read(meta, frame.head()).filter(Transport::may_open_anew) else {
        return;
    };
    if !state.table.replace_masqueraded_of(reference, &meta.tuple, elsewhere) {
        return;
    }
    let flow = Flow { tuple: &meta.tuple, key: &meta.key, hash: meta.hash, entry: NO_ENTRY };
    let tracked = state.table.track_flow(&flow, &transport, state.now, &snapshot.timeouts);
    (meta.state, meta.conn, meta.direction) = (tracked.state, tracked.conn, tracked.direction);
    let Some(reference) = tracked.conn else { return };
    state.table.set_mark(reference, meta.connection_mark);
    state.table.count_slow(reference, tracked.direction, meta.segments, meta.wire_bytes());
    meta.connection_bytes = state.table.carried(reference.slot);
    if let Some(hot) = state.table.get_mut(reference) {
        // What the rules of prerouting have said of the old connection is not cached for the new one.
        meta.conn_version = hot.version;
        hot.invalidate();
    }
}

/// Whether packets that are routed by a tuple leave by an interface other than that of `row`.
fn leaves_by_another(snapshot: &Snapshot, row: RowId, routed: &Tuple, by: RoutedBy) -> bool {
    let dst = routed.dst.0;
    if by.by_inner {
        // It goes by several interfaces at once; it ends when that of its address is none of them.
        let own = snapshot.interface_index(row);
        return match routed.dst.as_v4() {
            Some(_) => !snapshot.leaves_by(&by.query(routed), own),
            None => !snapshot.ipv6_leaves_by(&by.query(routed), own),
        };
    }
    let egress = match routed.dst.as_v4() {
        Some(v4) if is_group(v4) => None,
        Some(v4) => egress(
            snapshot.policy(),
            routed,
            by,
            || snapshot.lookup_for(v4, routed),
            || u64::from(snapshot.flow_hash(routed)),
        ),
        None if ipv6::is_multicast(dst) || ipv6::is_link_local(dst) => None,
        None => {
            let flow = || u64::from(snapshot.ipv6_flow_hash(routed));
            egress(snapshot.policy6(), routed, by, || snapshot.fib6().lookup_for(dst, flow), flow)
        }
    };
    let out = egress.and_then(|interface| snapshot.interface(interface));
    out.is_some_and(|out| out.row != row && out.up)
}

/// The interface by which packets leave to another station.
fn egress<A: Address>(
    tables: Option<FamilyTables<'_, A>>,
    routed: &Tuple,
    by: RoutedBy,
    main: impl FnOnce() -> RouteLookup<A>,
    flow: impl Fn() -> u64,
) -> Option<InterfaceIndex> {
    let lookup = match tables {
        None => main(),
        Some(tables) => tables.decide(&by.query(routed), flow).lookup,
    };
    match lookup {
        RouteLookup::Connected { interface } | RouteLookup::Via { interface, .. } => Some(interface),
        RouteLookup::Local { .. }
        | RouteLookup::Broadcast { .. }
        | RouteLookup::Discard(_)
        | RouteLookup::NoRoute => None,
    }
}
