//! ARP (RFC 826): learns the link-layer addresses of neighbours, and answers requests.

use tollway_config::dataplane::ArpMode;
use tollway_wire::{arp, ethernet};

use crate::ip::is_group;
use crate::ip::neighbor::LearnedFrom;
use crate::ip::neighbor::arp::build;
use crate::ip::routing_policy::RoutingQuery;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::tuple::Addr;
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Meta, flag};
use crate::pipeline::slow_path::Pass;
use crate::pipeline::state::WorkerState;
use crate::snapshot::{Interface, Snapshot};

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    let (snapshot, state, batch, source) = pass.parts();
    if !std::mem::take(&mut state.arp_pending) {
        return 0;
    }
    let mut entered = 0;
    for index in batch.first..batch.packets.len() {
        let Some(packet) = batch.packets.get_mut(index) else { break };
        if packet.meta.verdict != Verdict::Continue || !packet.meta.is(flag::ARP) {
            continue;
        }
        entered += 1;
        let received = packet.frame.as_ref().map(|frame| frame.head()).and_then(|head| {
            // The source of the Ethernet header may differ from the ARP sender: clusters hide their address from
            // switches in this way.
            Some(arp::Repr::parse(&arp::Packet::new_checked(head.get(ethernet::HEADER..)?).ok()?))
        });
        let interface = snapshot.interface(packet.meta.in_interface);
        let in_interface = packet.meta.in_interface;
        let (Some(request), Some(interface)) = (received, interface) else {
            state.drop(packet, DropReason::BadArp);
            continue;
        };
        let malformed = ethernet::is_group(request.sender_mac)
            || request.sender_mac == [0; 6]
            || !matches!(request.operation, arp::REQUEST | arp::REPLY);
        if malformed {
            state.drop(packet, DropReason::BadArp);
            continue;
        }
        let (reason, answer) = judge(snapshot, state, interface, in_interface, &request);
        if let Some(packet) = batch.packets.get_mut(index) {
            state.drop(packet, reason);
        }
        if let Some(port) = interface.port.filter(|_| answer) {
            let packet = arp::Repr {
                operation: arp::REPLY,
                sender_mac: interface.mac,
                sender_addr: request.target_addr,
                target_mac: request.sender_mac,
                target_addr: request.sender_addr,
            };
            match build(source, request.sender_mac, packet) {
                Some(frame) => {
                    state.generated += 1;
                    batch.push_generated(frame, Meta { verdict: Verdict::Tx(port), ..Meta::default() });
                }
                None => state.count_drop(DropReason::NoFrame, 1),
            }
        }
    }
    entered
}

/// Learns the neighbour from an ARP packet. Returns the reason under which the packet counts, and whether it is to be
/// answered.
fn judge<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    interface: &Interface,
    in_interface: u16,
    packet: &arp::Repr,
) -> (DropReason, bool) {
    if interface.arp == ArpMode::Disabled {
        return (DropReason::ArpIgnored, false);
    }
    if is_group(packet.sender_addr) || snapshot.is_broadcast(interface.zone, packet.sender_addr) {
        return (DropReason::ArpIgnored, false);
    }
    let own = interface.has_address(packet.target_addr);
    let announcement = packet.sender_addr == packet.target_addr;
    let how = match packet.operation {
        arp::REPLY if own && packet.target_mac == interface.mac => LearnedFrom::Reply,
        arp::REQUEST if own && !announcement => LearnedFrom::Request,
        _ => LearnedFrom::Announcement,
    };
    let plausible = packet.sender_addr != 0 && !snapshot.is_local(interface.zone, packet.sender_addr);
    // Stations outside the networks of the interface, on-link gateways for example, are not learned from their own
    // requests: they become neighbours only if a route leads to them and the router has asked.
    let asks_from_outside = how == LearnedFrom::Request && !interface.reaches(packet.sender_addr);
    if plausible && !asks_from_outside && interface.arp != ArpMode::ReplyOnly {
        let (limit, now) = (snapshot.settings.max_neighbor_entries, state.now);
        let key = (interface.row, Addr::v4(packet.sender_addr));
        state.shared.neighbors.learn(key, packet.sender_mac, how, interface.reachable_ms, limit, now);
        if how == LearnedFrom::Reply && snapshot.gateway_checks().any() {
            snapshot.gateway_checks().neighbor_answered(key.0, key.1);
        }
    }
    if packet.operation == arp::REPLY {
        return if own { (DropReason::ArpConsumed, false) } else { (DropReason::ArpIgnored, false) };
    }
    let answer = !announcement && (own || proxies(snapshot, interface, in_interface, packet));
    let known = own || answer || how == LearnedFrom::Announcement && announcement;
    (if known { DropReason::ArpConsumed } else { DropReason::ArpIgnored }, answer)
}

/// Whether the router answers for another station's address.
fn proxies(snapshot: &Snapshot, interface: &Interface, in_interface: u16, packet: &arp::Repr) -> bool {
    let target = packet.target_addr;
    if interface.published.contains(&target) {
        return true;
    }
    let usable = !matches!(target >> 24, 0 | 127 | 224..) && !snapshot.is_broadcast(interface.zone, target);
    if !usable || packet.sender_addr == 0 {
        return false;
    }
    // A proxy ARP answer from a router that does not forward would cut the target off.
    let query = RoutingQuery {
        zone: interface.zone,
        source: packet.sender_addr,
        destination: target,
        mark: 0,
        interface: in_interface,
    };
    let leaves_by = |by| snapshot.settings.ip_forward && snapshot.leaves_by(&query, by);
    let back = || leaves_by(Some(in_interface));
    match interface.arp {
        // The router's own addresses on other interfaces count as reachable through it.
        ArpMode::ProxyArp => snapshot.is_local(interface.zone, target) || leaves_by(None) && !back(),
        ArpMode::LocalProxyArp => back(),
        ArpMode::Enabled | ArpMode::Disabled | ArpMode::ReplyOnly => false,
    }
}
