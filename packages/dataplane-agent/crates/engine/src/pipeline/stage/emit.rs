//! Writes the headers a packet leaves with. Packets whose next hop is not known yet wait here; those
//! that are too long are fragmented.

use tollway_wire::{arp, ethernet, ipv6, ndp};

use crate::ids::{AdjacencyId, NONE, PortId};
use crate::ip::neighbor::arp::build;
use crate::ip::neighbor::nd::{NeighborMessage, RouterMessage, RouterSolicitation};
use crate::ip::neighbor::{Adjacency, NeighborRequest};
use crate::ip::options::{self, OptionEntry};
use crate::ip::router_advertisements::{Advertisement, LIFETIME, PREFIX_LIFETIMES};
use crate::packet::frame::{Frame, FrameSource, Gso};
use crate::packet::header::{lower_hop_limit, lower_ttl, write_ipv6_link, write_link};
use crate::packet::tuple::Addr;
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Meta, Packet, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::icmp::IcmpError;
use crate::pipeline::next_hop::{chosen_station, resolve};
use crate::pipeline::redirect;
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};
use crate::pipeline::state::WorkerState;
use crate::pipeline::translate::translate;
use crate::snapshot::{Interface, InterfaceIpv6, Snapshot};

/// Runs the stage. Returns the number of packets that entered it.
#[inline]
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    let state = &pass.state;
    let messages = state.solicits.len() | state.advertisements.len() | state.router_solicits.len();
    // Nothing of a pass whose packets the flow cache has forwarded, nothing that waits, and nothing to say to the links.
    if pass.batch.slow.len() | messages == 0 && state.holds.is_empty() { 0 } else { emit(pass) }
}

#[inline(never)]
fn emit<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    if !pass.state.holds.is_empty() {
        requeue_resolved(pass.state, pass.batch);
    }
    redirect::send(pass.snapshot, pass.state, pass.batch, pass.source);
    let mut last = None;
    let entered = each_slow(pass, |snapshot, state, packet| {
        if packet.meta.verdict != Verdict::Forward {
            return StageOutcome::Skip;
        }
        transmit(snapshot, state, packet, &mut last)
    });
    let (snapshot, state, batch, source) = pass.parts();
    request(snapshot, state, batch, source);
    advertise(snapshot, state, batch, source);
    solicit_routers(snapshot, state, batch, source);
    entered
}

/// Inserts packets whose next hop has been resolved, or has failed, at the front of the pass and of its slow packets,
/// as they are older.
fn requeue_resolved<F: Frame>(state: &mut WorkerState<F>, batch: &mut Batch<F>) {
    let mut resolved = 0;
    let neighbors = &state.shared.neighbors;
    while let Some(waiting) = state.holds.take(|id| neighbors.adjacency(id) != Adjacency::Incomplete) {
        for packet in waiting {
            batch.packets.insert(batch.first + resolved, packet);
            resolved += 1;
        }
    }
    if resolved != 0 {
        batch.end += resolved;
        for index in &mut batch.slow {
            *index += resolved as u32;
        }
        let places = (batch.first..batch.first + resolved).map(|index| index as u32);
        batch.slow.splice(0..0, places);
    }
}

/// Writes the headers of a packet and sets its port. `last` is the link-layer destination of the previous packet, which
/// most packets of a batch share.
#[inline]
fn transmit<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    last: &mut Option<(AdjacencyId, [u8; 6])>,
) -> StageOutcome<F> {
    let Some(out) = snapshot.interface(packet.meta.out_interface).filter(|out| out.up) else {
        return StageOutcome::Drop(DropReason::OutInterfaceDown);
    };
    let Some(port) = out.port else { return StageOutcome::Drop(DropReason::OutInterfaceDown) };
    let as_before = last.filter(|(id, _)| {
        *id == packet.meta.adjacency && !packet.meta.is(flag::BROADCAST | flag::NO_NEIGHBOR)
    });
    let found = match as_before {
        Some((_, mac)) => Ok(mac),
        None => link_address(snapshot, state, out, packet),
    };
    let mac = match found {
        Ok(mac) => {
            *last = Some((packet.meta.adjacency, mac)).filter(|(id, _)| *id != NONE);
            mac
        }
        Err(Wait::Hold) => {
            hold(state, packet);
            return StageOutcome::Next;
        }
        Err(Wait::Full) => return StageOutcome::Drop(DropReason::NeighborTableFull),
        Err(Wait::Failed) => return StageOutcome::Error(DropReason::NeighborFailed, IcmpError::HOST),
    };
    let too_long = packet.meta.largest_segment(&packet.vnet) > u32::from(out.mtu);
    let fragmented = too_long && packet.vnet.gso != Gso::Tcp4;
    if let Err(reason) = translate(state, packet, fragmented) {
        return StageOutcome::Drop(reason);
    }
    let meta = &mut packet.meta;
    let Some(frame) = &mut packet.frame else { return StageOutcome::Next };
    let head = frame.head_mut();
    if meta.is_ipv6() {
        write_ipv6_headers(head, meta, mac, out);
    } else {
        if meta.hook == Hook::Forward
            && let Some(l3) = head.get_mut(usize::from(meta.l3)..)
        {
            lower_ttl(l3);
            if meta.is(flag::OPTIONS)
                && let Some(address) = out.address_for(meta.next_hop)
            {
                let entry = OptionEntry::at(address, state.utc_ns());
                let zone = meta.tuple.zone;
                options::fill(l3, entry, |own| snapshot.is_local(zone, own));
            }
        }
        write_link(head, mac, out.mac);
    }
    if !too_long {
        meta.verdict = Verdict::Tx(port);
    } else if !fragmented {
        // A TCP super-frame is sent with smaller segments instead.
        let payload = meta.l3_len.saturating_sub(meta.headers());
        packet.vnet.gso_size = (u32::from(out.mtu).saturating_sub(meta.headers())).max(8) as u16;
        meta.segments = packet.vnet.segments(payload as usize);
        meta.verdict = Verdict::Tx(port);
    } else {
        return StageOutcome::Fragment(port);
    }
    StageOutcome::Next
}

/// Writes the headers of a packet of IPv6.
#[inline(never)]
fn write_ipv6_headers(head: &mut [u8], meta: &Meta, mac: [u8; 6], out: &Interface) {
    if meta.hook == Hook::Forward
        && let Some(l3) = head.get_mut(usize::from(meta.l3)..)
    {
        lower_hop_limit(l3);
    }
    write_ipv6_link(head, mac, out.mac);
}

enum Wait {
    Hold,
    Failed,
    Full,
}

/// Link-layer destination of a packet.
fn link_address<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    out: &Interface,
    packet: &mut Packet<F>,
) -> Result<[u8; 6], Wait> {
    // `install` does not resolve the next hop of such a packet.
    if packet.meta.adjacency == NONE
        && let Some(mac) = chosen_station(out, packet)
    {
        return Ok(mac);
    }
    let meta = &mut packet.meta;
    if meta.is(flag::BROADCAST) && meta.is_ipv6() {
        return Ok(ethernet::group_of_ipv6(meta.tuple.dst.0).unwrap_or(ethernet::BROADCAST));
    }
    if meta.is(flag::BROADCAST) {
        return Ok(ethernet::group_of_ipv4(meta.next_hop).unwrap_or(ethernet::BROADCAST));
    }
    if meta.is(flag::NO_NEIGHBOR) {
        return Err(Wait::Full);
    }
    for attempt in 0..2 {
        match state.shared.neighbors.adjacency(meta.adjacency) {
            Adjacency::Ready(_) | Adjacency::Stale(_) if state.holds.contains(meta.adjacency) => {
                return Err(Wait::Hold);
            }
            Adjacency::Ready(mac) | Adjacency::Stale(mac) => return Ok(mac),
            Adjacency::Incomplete => return Err(Wait::Hold),
            Adjacency::Failed => return Err(Wait::Failed),
            // The adjacency was removed while the packet waited. There may be another, a static one; it is not asked
            // for again, as neighbours for which there is no room would displace each other for ever.
            Adjacency::Gone if attempt == 0 && meta.adjacency != NONE => {
                resolve(snapshot, state, meta, false);
                if meta.adjacency == NONE {
                    return Err(Wait::Full);
                }
            }
            Adjacency::Gone => return Err(Wait::Failed),
        }
    }
    Err(Wait::Failed)
}

/// Holds a packet until its next hop is resolved.
fn hold<F: Frame>(state: &mut WorkerState<F>, packet: &mut Packet<F>) {
    let adjacency = packet.meta.adjacency;
    let frame = packet.frame.take();
    let held = Packet { frame, vnet: packet.vnet, meta: packet.meta };
    packet.meta.verdict = Verdict::Held;
    for mut out in state.holds.push(adjacency, held) {
        state.drop(&mut out, DropReason::NeighborQueueFull);
    }
}

/// Sends the pending ARP requests and neighbour solicitations.
pub(crate) fn request<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    source: &mut S,
) {
    while let Some(NeighborRequest { key: (row, target), unicast }) = state.solicits.pop() {
        let Some(interface) = snapshot.interface_of(row).filter(|interface| interface.up) else { continue };
        let Some(port) = interface.port else { continue };
        let Some(target) = target.as_v4() else {
            if let Some(message) = solicitation(state, interface, target, unicast) {
                send(state, batch, port, message.build(source));
            }
            continue;
        };
        // A request for an address of our own is an announcement (RFC 5227 section 2.3).
        let own = interface.has_address(target).then_some(target);
        let packet = arp::Repr {
            operation: arp::REQUEST,
            sender_mac: interface.mac,
            sender_addr: own.or_else(|| interface.address_for(target)).unwrap_or(0),
            target_mac: [0; 6],
            target_addr: target,
        };
        send(state, batch, port, build(source, unicast.unwrap_or(ethernet::BROADCAST), packet));
    }
}

/// Networks of an advertisement, so that it fits into the least MTU of IPv6; of more networks there are more
/// advertisements (RFC 4861 §6.2.3).
const NETWORKS: usize = 32;

/// Sends the pending router advertisements.
fn advertise<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    source: &mut S,
) {
    while let Some(Advertisement { row, is_final, withdrawn }) = state.advertisements.pop() {
        let Some(interface) = snapshot.interface_of(row).filter(|interface| interface.up) else { continue };
        let Some(port) = interface.port else { continue };
        let usable = |own: u128| state.shared.address_states.is_usable((row, Addr(own)));
        let ipv6 = interface.ipv6.as_ref();
        // An interface that has lost its last address has its link-local address for this once more.
        let own = ipv6.map_or(Some(ipv6::link_local_of(interface.mac)), |ipv6| {
            ipv6.link_local().filter(|own| usable(*own))
        });
        let Some(src) = own else { continue };
        let advertised = ipv6.filter(|_| !is_final).map(|ipv6| ipv6.advertised(usable)).unwrap_or_default();
        let (valid, preferred) = PREFIX_LIFETIMES;
        let option = |(prefix, len), preferred| ndp::PrefixRepr { prefix, len, valid, preferred };
        let mut prefixes: Vec<ndp::PrefixRepr> =
            advertised.into_iter().map(|network| option(network, preferred)).collect();
        prefixes.extend(withdrawn.into_iter().map(|network| option(network, 0)));
        let mut rest = prefixes.as_slice();
        loop {
            let (prefixes, more) = rest.split_at(rest.len().min(NETWORKS));
            let lifetime = if is_final { 0 } else { LIFETIME };
            let (link, mtu) = (interface.mac, u32::from(interface.mtu));
            let message = ndp::RouterRepr { hop_limit: 0, lifetime, link, mtu, prefixes };
            send(state, batch, port, RouterMessage { src, message }.build(source));
            rest = more;
            if rest.is_empty() {
                break;
            }
        }
    }
}

/// Sends the pending router solicitations.
fn solicit_routers<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    source: &mut S,
) {
    while let Some(row) = state.router_solicits.pop() {
        let Some(interface) = snapshot.interface_of(row).filter(|interface| interface.up) else { continue };
        let src = interface.ipv6.as_ref().and_then(InterfaceIpv6::link_local);
        if let (Some(src), Some(port)) = (src, interface.port) {
            send(state, batch, port, RouterSolicitation { src, link: interface.mac }.build(source));
        }
    }
}

/// Sends a frame of the router's own; `None` counts as dropped.
fn send<F: Frame>(state: &mut WorkerState<F>, batch: &mut Batch<F>, port: PortId, frame: Option<F>) {
    match frame {
        Some(frame) => {
            state.generated += 1;
            batch.push_generated(frame, Meta { verdict: Verdict::Tx(port), ..Meta::default() });
        }
        None => state.count_drop(DropReason::NoFrame, 1),
    }
}

/// The solicitation of an address; of one of the router's own from the unspecified address, to find a duplicate (RFC 4862
/// §5.4.2). `None` while the interface has no address that may be used.
fn solicitation<F>(
    state: &WorkerState<F>,
    interface: &Interface,
    target: Addr,
    unicast: Option<[u8; 6]>,
) -> Option<NeighborMessage> {
    let ipv6 = interface.ipv6.as_ref()?;
    let Addr(target) = target;
    let usable = |own: u128| state.shared.address_states.is_usable((interface.row, Addr(own)));
    let src = match ipv6.has_address(target) {
        true => 0,
        false => ipv6.address_for(target, usable).or_else(|| ipv6.link_local().filter(|own| usable(*own)))?,
    };
    Some(NeighborMessage::solicitation(interface.mac, src, target, unicast))
}
