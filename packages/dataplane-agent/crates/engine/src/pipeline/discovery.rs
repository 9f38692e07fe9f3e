//! Neighbour discovery (RFC 4861): learns the link-layer addresses of neighbours, answers solicitations for the router's
//! own addresses, and finds duplicates of them (RFC 4862 §5.4).

use tollway_config::protocol::Ipv6AddressState;
use tollway_wire::{ethernet, icmpv6, ipv6, ndp};

use crate::ip::neighbor::nd::NeighborMessage;
use crate::ip::neighbor::{Advertised, LearnedFrom};
use crate::packet::frame::Frame;
use crate::packet::tuple::Addr;
use crate::packet::verdict::DropReason;
use crate::packet::{Hook, Meta, Packet, flag};
use crate::pipeline::ipv6_redirect::{self, Redirect};
use crate::pipeline::state::WorkerState;
use crate::snapshot::{Interface, InterfaceIpv6, Snapshot};

/// Whether a packet for the router is a message of neighbour discovery that the engine deals with. Solicitations of
/// routers are left to services where the interface advertises nothing.
pub(crate) fn is_discovery(snapshot: &Snapshot, meta: &Meta) -> bool {
    const HERE: [u8; 4] = [
        icmpv6::NEIGHBOR_SOLICITATION,
        icmpv6::NEIGHBOR_ADVERTISEMENT,
        icmpv6::ROUTER_ADVERTISEMENT,
        icmpv6::REDIRECT,
    ];
    let kind = meta.tcp_flags_or_icmp_type;
    let advertises = || {
        let ipv6 = snapshot.interface(meta.in_interface).and_then(|interface| interface.ipv6.as_ref());
        snapshot.settings.ipv6.forward && ipv6.is_some_and(InterfaceIpv6::advertises)
    };
    meta.hook == Hook::Input
        && meta.tuple.protocol == ipv6::ICMPV6
        && meta.tuple.src.as_v4().is_none()
        && (HERE.contains(&kind) || kind == icmpv6::ROUTER_SOLICITATION && advertises())
}

/// Deals with a message. Returns the reason under which it counts, and the answer, which is made of its frame.
pub(crate) fn receive<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
) -> (DropReason, Option<F>) {
    let Some(interface) = snapshot.interface(packet.meta.in_interface) else {
        return (DropReason::NdIgnored, None);
    };
    let Some(ipv6) = &interface.ipv6 else { return (DropReason::NdIgnored, None) };
    let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
    let (reason, answer) = match Received::read(&packet.meta, head) {
        Some(received) => judge(snapshot, state, interface, ipv6, &received),
        None => (DropReason::BadNd, None),
    };
    let frame = answer.and_then(|answer| {
        let mut frame = packet.frame.take()?;
        answer.replace(&mut frame).then_some(frame)
    });
    (reason, frame)
}

/// A message that is valid by RFC 4861 §6.1 and §7.1.
struct Received<'a> {
    src: u128,
    /// Link-layer source.
    station: [u8; 6],
    message: ndp::Message<'a>,
}

impl<'a> Received<'a> {
    fn read(meta: &Meta, head: &'a [u8]) -> Option<Self> {
        let (l3, l4) = (usize::from(meta.l3), usize::from(meta.l4));
        let link = ethernet::Frame::new_checked(head).ok()?;
        let packet = ipv6::Packet::new_checked(head.get(l3..)?).ok()?;
        let (src, dst) = (packet.src_addr(), packet.dst_addr());
        let bytes = head.get(l4..l3 + meta.l3_len as usize)?;
        // A message in fragments may hide what it is (RFC 6980 §5).
        let is_plain = l4 == l3 + ipv6::HEADER && !meta.is(flag::FRAGMENT);
        if packet.hop_limit() != ndp::HOP_LIMIT || !is_plain {
            return None;
        }
        if !icmpv6::Packet::new_checked(bytes).ok()?.verify_checksum_between(src, dst) {
            return None;
        }
        let message = ndp::parse(bytes).ok()?;
        let is_valid = match message {
            ndp::Message::NeighborSolicitation { target, options } => {
                let detects = src == 0;
                let to_group = dst == ipv6::solicited_node(target);
                !ipv6::is_multicast(target)
                    && (!detects || to_group && options.find(ndp::option::SOURCE_LINK).is_none())
            }
            ndp::Message::NeighborAdvertisement { target, flags, .. } => {
                let answers_all = ipv6::is_multicast(dst) && flags & ndp::flag::SOLICITED != 0;
                !ipv6::is_multicast(target) && !answers_all
            }
            ndp::Message::RouterAdvertisement { .. } | ndp::Message::Redirect { .. } => {
                ipv6::is_link_local(src)
            }
            // A station without an address has none to give.
            ndp::Message::RouterSolicitation { options } => {
                src != 0 || options.find(ndp::option::SOURCE_LINK).is_none()
            }
        };
        is_valid.then(|| Self { src, station: link.src_addr(), message })
    }
}

/// Learns from a message. Returns the reason under which it counts, and the answer.
fn judge<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    interface: &Interface,
    ipv6: &InterfaceIpv6,
    received: &Received<'_>,
) -> (DropReason, Option<NeighborMessage>) {
    // The router's own frames may come back from a hub.
    if received.station == interface.mac {
        return (DropReason::NdIgnored, None);
    }
    match received.message {
        ndp::Message::NeighborSolicitation { target, options } => {
            let link = options.link(ndp::option::SOURCE_LINK);
            solicited(snapshot, state, interface, ipv6, received, target, link)
        }
        ndp::Message::NeighborAdvertisement { target, flags, options } => {
            let key = (interface.row, Addr(target));
            if ipv6.has_address(target) {
                state.shared.address_states.conflict(key);
                return (DropReason::NdConsumed, None);
            }
            let advertised = Advertised {
                mac: options.link(ndp::option::TARGET_LINK),
                solicited: flags & ndp::flag::SOLICITED != 0,
                overrides: flags & ndp::flag::OVERRIDE != 0,
                router: flags & ndp::flag::ROUTER != 0,
            };
            state.shared.neighbors.learn_advertised(key, advertised, interface.reachable_ms, state.now);
            if advertised.solicited {
                snapshot.gateway_checks().neighbor_answered(key.0, key.1);
            }
            (DropReason::NdConsumed, None)
        }
        ndp::Message::RouterSolicitation { options } => {
            learn_asker(snapshot, state, interface, ipv6, received, options.link(ndp::option::SOURCE_LINK));
            let answered = state.shared.router_advertisements.solicited(interface.row, state.now);
            (if answered { DropReason::NdConsumed } else { DropReason::NdIgnored }, None)
        }
        ndp::Message::RouterAdvertisement { lifetime, flags, options } => {
            if !ipv6.accepts_advertisements {
                return (DropReason::NdIgnored, None);
            }
            learn_asker(snapshot, state, interface, ipv6, received, options.link(ndp::option::SOURCE_LINK));
            let heard = &state.shared.heard_routers;
            heard.learn(interface.row, received.src, (lifetime, flags), options, state.now);
            (DropReason::NdConsumed, None)
        }
        ndp::Message::Redirect { target, destination, options } => {
            let redirect = Redirect { sender: received.src, target, destination };
            if !ipv6_redirect::learn(snapshot, state, interface, redirect) {
                return (DropReason::NdIgnored, None);
            }
            if let Some(mac) = options.link(ndp::option::TARGET_LINK) {
                learn_station(snapshot, state, interface, target, mac);
            }
            (DropReason::NdConsumed, None)
        }
    }
}

/// Learns the link-layer address that a solicitation carries.
fn learn_asker<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    interface: &Interface,
    ipv6: &InterfaceIpv6,
    received: &Received<'_>,
    link: Option<[u8; 6]>,
) {
    let asks = received.src != 0 && ipv6.reaches(received.src);
    let Some(mac) = link.filter(|_| asks) else { return };
    learn_station(snapshot, state, interface, received.src, mac);
}

/// Learns a link-layer address that is not known to work in both directions.
fn learn_station<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    interface: &Interface,
    address: u128,
    mac: [u8; 6],
) {
    let (limit, now) = (snapshot.settings.ipv6.max_neighbor_entries, state.now);
    let neighbors = &state.shared.neighbors;
    let key = (interface.row, Addr(address));
    neighbors.learn(key, mac, LearnedFrom::Request, interface.reachable_ms, limit, now);
}

/// A solicitation for `target`; `link` is the source link-layer address that it carries.
fn solicited<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    interface: &Interface,
    ipv6: &InterfaceIpv6,
    received: &Received<'_>,
    target: u128,
    link: Option<[u8; 6]>,
) -> (DropReason, Option<NeighborMessage>) {
    let detects = received.src == 0;
    let of_routers = snapshot.settings.ipv6.forward && ipv6.is_subnet_router(target);
    if !ipv6.has_address(target) && (detects || !of_routers) {
        return (DropReason::NdIgnored, None);
    }
    let key = (interface.row, Addr(target));
    match state.shared.address_states.state(key) {
        Ipv6AddressState::Preferred => {}
        Ipv6AddressState::Tentative if detects => {
            // Another station looks for the same address.
            state.shared.address_states.conflict(key);
            return (DropReason::NdConsumed, None);
        }
        Ipv6AddressState::Tentative | Ipv6AddressState::Duplicate => return (DropReason::NdIgnored, None),
    }
    if detects {
        let answer = NeighborMessage::advertisement(interface.mac, target, None);
        return (DropReason::NdConsumed, Some(answer));
    }
    learn_asker(snapshot, state, interface, ipv6, received, link);
    let asker = (received.src, link.unwrap_or(received.station));
    let mut answer = NeighborMessage::advertisement(interface.mac, target, Some(asker));
    if of_routers {
        // Another router may answer as well (RFC 4861 §7.2.7).
        answer.message.flags &= !ndp::flag::OVERRIDE;
    }
    (DropReason::NdConsumed, Some(answer))
}
