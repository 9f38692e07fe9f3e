//! IPv6 without rules, packets in and packets out: forwarding, echo, errors, extension headers, what is
//! refused.

use std::net::Ipv6Addr;

use tollway_config::dataplane::{RouteTarget, TrackingMode};
use tollway_engine::packet::frame::VnetState;
use tollway_engine::packet::verdict::DropReason;
use tollway_testkit::ipv6_packet::{host_mac6, ip6};
use tollway_testkit::packet::tcp_flag;
use tollway_testkit::router::{To, port_mac};
use tollway_testkit::{Counter, Ipv6Builder, Output, Packet, PacketBuilder, Router, RouterConfig};
use tollway_wire::{ethernet, icmpv6, ipv6};

use super::discovery_v6::{ASKER, solicitation};

pub(super) const LAN: &str = "2001:db8:1::10";
pub(super) const WAN: &str = "2001:db8:2::fe";
pub(super) const FAR: &str = "2001:db8:ff::1";

pub(super) fn config() -> RouterConfig {
    RouterConfig::new()
        .interface("2001:db8:1::1/64")
        .interface("2001:db8:2::1/64")
        .address(1, "192.168.88.1/24")
        .address(2, "10.2.0.1/24")
        .route("::/0", WAN)
}

/// A router whose addresses are in use, with a host on each side.
pub(super) fn router_of(config: RouterConfig) -> Router {
    let mut router = Router::new(config).hosts6(0, &[LAN]).hosts6(1, &[WAN]);
    router.advance_ms(1_100);
    router.moved();
    router
}

pub(super) fn router() -> Router {
    router_of(config())
}

pub(super) fn from_lan(dst: &str) -> Ipv6Builder {
    Ipv6Builder::new(LAN, dst).udp(1000, 53).payload_len(20)
}

pub(super) fn dropped(router: &mut Router, reason: DropReason) -> i64 {
    router.moved().get(&Counter::Drop(reason)).copied().unwrap_or(0)
}

pub(super) fn link_local(port: u16) -> Ipv6Addr {
    Ipv6Addr::from_bits(ipv6::link_local_of(port_mac(port)))
}

#[test]
fn unknown_options_of_packets_for_the_router_act_by_their_highest_bits() {
    let mut router = router();
    let own = "2001:db8:1::1";
    let request = |dst: &str| Ipv6Builder::new(LAN, dst).echo_request(7, 1).payload_len(8);
    for (option, dst, problem) in [
        (0x1e, own, None),
        (0x5e, own, Some(false)),
        (0x9e, own, Some(true)),
        (0xde, own, Some(true)),
        (0x9e, "ff02::1", Some(true)),
        (0xde, "ff02::1", Some(false)),
    ] {
        for header in [ipv6::HOP_BY_HOP, ipv6::DESTINATION_OPTIONS] {
            router.advance_ms(1_000);
            router.moved();
            let packet = request(dst).extension(header, &[0, option, 3, 1, 2, 3]);
            let out = router.send6(0, &packet);
            let told: Vec<_> = out.iter().filter(|out| out.to == To::Port(0)).map(Output::ipv6).collect();
            let icmp: Vec<_> =
                told.iter().filter_map(|told| told.icmp).filter(|icmp| icmp.0 != 135).collect();
            let case = format!("{option:#x} in {header} to {dst}");
            match problem {
                None => assert_eq!(icmp[0].0, icmpv6::ECHO_REPLY, "{case}"),
                Some(false) => assert_eq!(icmp, [], "{case}"),
                Some(true) => {
                    assert_eq!(icmp, [(icmpv6::PARAMETER_PROBLEM, icmpv6::UNKNOWN_OPTION, 43)], "{case}");
                    assert_eq!(told[0].src.to_string(), own, "{case}");
                    assert_eq!(told[0].quoted().expect("a quoted packet").dst.to_string(), dst);
                }
            }
            assert_eq!(
                dropped(&mut router, DropReason::BadIpOptions),
                i64::from(problem.is_some()),
                "{case}"
            );
            // Those of forwarded packets are for others.
            let out = router.send6(0, &from_lan(FAR).extension(header, &[0, option, 3, 1, 2, 3]));
            assert_eq!(out.iter().filter(|out| out.to == To::Port(1)).count(), 1, "{case}");
        }
    }
    // An option beyond its header.
    router.moved();
    let out = router.send6(0, &request(own).extension(ipv6::DESTINATION_OPTIONS, &[1, 5, 0, 0, 0, 0]));
    assert_eq!((out, dropped(&mut router, DropReason::BadIpOptions)), (vec![], 1));
}

#[test]
fn a_packet_is_forwarded_by_its_route_with_a_lower_hop_limit() {
    let mut router = router();
    for (packet, count) in [(from_lan(FAR), 1), (from_lan(WAN).traffic_class(0xb9), 2)] {
        let out = router.send6(0, &packet);
        assert_eq!(out.len(), 1, "{count}");
        let sent = out[0].ipv6();
        assert_eq!(out[0].to, To::Port(1));
        assert_eq!((sent.eth_dst, sent.eth_src), (host_mac6(ip6(WAN)), port_mac(1)));
        assert_eq!((sent.hop_limit, sent.ports, sent.checksum_right), (63, (1000, 53), true));
        // Nothing else of the packet has changed.
        let mut expected = packet.build();
        expected[..12].copy_from_slice(&out[0].bytes[..12]);
        expected[21] = 63;
        assert_eq!(out[0].bytes, expected);
    }
    assert_eq!(router.resolved, 1, "one solicitation for both");
}

#[test]
fn an_interface_without_addresses_of_ipv6_takes_none() {
    let mut router = Router::new(RouterConfig::new().interface("10.1.0.1/24").interface("10.2.0.1/24"));
    assert!(router.send6(0, &from_lan(FAR)).is_empty());
    assert_eq!(dropped(&mut router, DropReason::Ipv6NotEnabled), 1);
    assert_eq!(router.deadline(), None, "nothing is announced");
    let disabled = config().with(|config| config.settings.ipv6.disable_ipv6 = true);
    let mut router = Router::new(disabled);
    assert!(router.send6(0, &from_lan(FAR)).is_empty());
    assert_eq!(dropped(&mut router, DropReason::Ipv6NotEnabled), 1);
}

#[test]
fn echo_requests_for_each_own_address_are_answered() {
    let mut router = router().hosts6(0, &["fe80::10"]);
    let own = link_local(0).to_string();
    for (src, dst) in [(LAN, "2001:db8:1::1"), (LAN, "2001:db8:2::1"), ("fe80::10", own.as_str())] {
        let out = router.send6(0, &Ipv6Builder::new(src, dst).echo_request(7, 1).payload_len(33));
        assert_eq!(out.len(), 1, "{dst}");
        let reply = out[0].ipv6();
        assert_eq!((reply.src, reply.dst), (dst.parse().unwrap(), src.parse().unwrap()));
        assert_eq!((reply.icmp, reply.hop_limit), (Some((icmpv6::ECHO_REPLY, 0, 7 << 16 | 1)), 64));
        assert!(reply.checksum_right && reply.eth_dst == host_mac6(ip6(src)));
    }
    router.moved();
    assert!(router.send6(0, &Ipv6Builder::new(LAN, "2001:db8:1::1").echo_request(7, 1).damaged()).is_empty());
    assert_eq!(dropped(&mut router, DropReason::BadIcmpChecksum), 1);
    // Not for a group, and the link-local address of another link is not the router's.
    let to_all = Ipv6Builder::new(LAN, "ff02::1").echo_request(7, 1);
    assert!(router.send6(0, &to_all).iter().all(|out| matches!(out.to, To::Local(_))));
    assert!(
        router
            .send6(1, &Ipv6Builder::new(WAN, &own).echo_request(7, 1))
            .iter()
            .all(|out| { out.ipv6().icmp.is_some_and(|(icmp_type, ..)| icmp_type != icmpv6::ECHO_REPLY) })
    );
}

#[test]
fn what_is_for_the_router_goes_to_its_services() {
    let mut router = router();
    let out = router.send6(0, &Ipv6Builder::new(LAN, "2001:db8:2::1").udp(1000, 53));
    assert_eq!((out.len(), out[0].to), (1, To::Local(1)));
    let out = router.send6(0, &Ipv6Builder::new("fe80::10", "ff02::1:2").udp(546, 547));
    assert_eq!((out.len(), out[0].to), (1, To::Local(1)));
    // And back: a service answers.
    let answer = Ipv6Builder::new("2001:db8:1::1", LAN).udp(53, 1000).payload_len(9);
    let out = router.send_local(&answer.build_l3());
    assert_eq!((out.len(), out[0].to, out[0].ipv6().hop_limit), (1, To::Port(0), 64));
    assert_eq!(out[0].ipv6().eth_dst, host_mac6(ip6(LAN)));
    let to_group = Ipv6Builder::new(&link_local(0).to_string(), "ff02::5").protocol(89);
    let out = router.send_local(&to_group.build_l3());
    assert_eq!((out.len(), out[0].ipv6().eth_dst), (1, [0x33, 0x33, 0, 0, 0, 5]));
}

#[test]
fn without_link_local_addresses_only_configured_ones_are_the_routers() {
    let without = |set| {
        let mut router = router_of(config().with(|config| {
            config.settings.ipv6.disable_link_local_address = set;
        }));
        router = router.hosts6(0, &["fe80::10"]);
        let own = link_local(0).to_string();
        let mut answers = |dst: &str| {
            let out = router.send6(0, &Ipv6Builder::new(LAN, dst).echo_request(7, 1));
            out.iter()
                .filter(|out| out.ipv6().icmp.is_some_and(|(kind, ..)| kind == icmpv6::ECHO_REPLY))
                .count()
        };
        (answers("2001:db8:1::1"), answers(&own))
    };
    assert_eq!(without(false), (1, 1));
    assert_eq!(without(true), (1, 0));
}

fn error_of(out: &[Output]) -> (u8, u8, u32) {
    assert_eq!(out.len(), 1);
    let error = out[0].ipv6();
    assert!(error.checksum_right);
    assert_eq!((error.src.to_bits(), error.dst.to_bits()), (ip6("2001:db8:1::1"), ip6(LAN)));
    let quoted = error.quoted().expect("a quoted packet");
    assert_eq!(quoted.src.to_bits(), ip6(LAN));
    error.icmp.expect("an ICMPv6 message")
}

#[test]
fn senders_are_told_why_a_packet_was_not_forwarded() {
    let config = config()
        .route_to("2001:db8:bad::/48", RouteTarget::Blackhole)
        .with(|config| config.routes.retain(|route| route.prefix_len != 0))
        .with(|config| config.interfaces[1].mtu = 1280);
    let mut router = router_of(config);
    let limited = from_lan(WAN).hop_limit(1);
    assert_eq!(error_of(&router.send6(0, &limited)), (icmpv6::TIME_EXCEEDED, 0, 0));
    assert_eq!(error_of(&router.send6(0, &from_lan(FAR))), (icmpv6::UNREACHABLE, 0, 0));
    let long = Ipv6Builder::new(LAN, WAN).udp(1, 2).payload_len(1300);
    let out = router.send6(0, &long);
    assert_eq!(error_of(&out), (icmpv6::PACKET_TOO_BIG, 0, 1280));
    assert_eq!(out[0].bytes.len(), ethernet::HEADER + 1280, "as much as fits is quoted");
    assert!(router.send6(0, &from_lan("2001:db8:bad::1")).is_empty());
    assert_eq!(dropped(&mut router, DropReason::Blackhole), 1);
    // A neighbour that does not answer: the packet waits, and then its sender is told.
    router.advance_ms(100);
    assert!(router.send6(0, &from_lan("2001:db8:2::77")).iter().all(|out| out.ipv6().discovery().is_some()));
    let out = router.advance_ms(4_000);
    let out: Vec<Output> = out.into_iter().filter(|out| out.ipv6().discovery().is_none()).collect();
    assert_eq!(error_of(&out), (icmpv6::UNREACHABLE, icmpv6::unreachable::ADDRESS, 0));
}

#[test]
fn no_error_is_sent_about_errors_groups_and_packets_from_nobody() {
    let mut router = router();
    let quoted = from_lan(FAR).build_l3();
    let error = Ipv6Builder::new(LAN, FAR).icmp(icmpv6::TIME_EXCEEDED, 0, [0; 4]).payload(&quoted);
    for packet in [
        error.hop_limit(1),
        Ipv6Builder::new(LAN, "ff0e::1").udp(1, 2).hop_limit(1),
        from_lan(FAR).fragment(8, true, 3).payload_len(16).hop_limit(1),
    ] {
        let out = router.send6(0, &packet);
        assert!(out.iter().all(|out| matches!(out.to, To::Local(_))), "{packet:?}");
    }
    // To one target as many errors in a row as IPv4 has, by the same clock.
    router.advance_ms(10_000);
    let sent = (0..50).filter(|_| !router.send6(0, &from_lan(FAR).hop_limit(1)).is_empty()).count();
    assert_eq!(sent, 6);
}

#[test]
fn addresses_that_no_packet_may_have_are_refused() {
    let mut router = router();
    let (own, other) = (link_local(0).to_string(), link_local(1).to_string());
    for (src, dst, reason) in [
        ("ff02::1", FAR, DropReason::MartianSource),
        ("::1", FAR, DropReason::MartianSource),
        ("::", FAR, DropReason::MartianSource),
        ("::ffff:10.2.0.5", FAR, DropReason::MartianSource),
        ("2001:db8:2::1", FAR, DropReason::MartianSource),
        (own.as_str(), FAR, DropReason::MartianSource),
        (LAN, "::1", DropReason::MartianDestination),
        (LAN, "::", DropReason::MartianDestination),
        (LAN, "::ffff:10.2.0.5", DropReason::MartianDestination),
        (LAN, "ff01::1", DropReason::MartianDestination),
    ] {
        let packet = Ipv6Builder::new(src, dst).udp(1, 2);
        assert!(router.send6(0, &packet).is_empty(), "{src} {dst}");
        assert_eq!(dropped(&mut router, reason), 1, "{src} {dst}");
    }
    // Addresses of a link do not leave it (RFC 4291 §2.5.6), and their senders are told.
    for (src, dst) in [("fe80::10", FAR), (LAN, "fe80::99"), (LAN, other.as_str())] {
        let out = router.send6(0, &Ipv6Builder::new(src, dst).udp(1, 2));
        assert!(out.iter().all(|out| out.to != To::Port(1)), "{src} {dst}");
        assert_eq!(dropped(&mut router, DropReason::BeyondScope), 1, "{src} {dst}");
    }
}

#[test]
fn forwarding_can_be_switched_off_for_ipv6_alone() {
    let config = config().with(|config| config.settings.ipv6.forward = false);
    let mut router = router_of(config).hosts(1, &["10.2.0.5"]);
    assert!(router.send6(0, &from_lan(FAR)).is_empty());
    assert_eq!(dropped(&mut router, DropReason::ForwardingOff), 1);
    assert_eq!(router.send6(0, &Ipv6Builder::new(LAN, "2001:db8:1::1").echo_request(1, 1)).len(), 1);
    let v4 = PacketBuilder::ipv4("192.168.88.10", "10.2.0.5").udp(1, 2);
    assert_eq!(router.send(0, &v4).iter().filter_map(|out| Packet::read(&out.bytes)).count(), 1);
}

#[test]
fn extension_headers_are_walked_and_pass_unchanged() {
    let mut router = router();
    for packet in [
        from_lan(FAR).extension(ipv6::HOP_BY_HOP, &[1, 4, 0, 0, 0, 0]),
        from_lan(FAR).extension(ipv6::DESTINATION_OPTIONS, &[0; 14]),
        from_lan(FAR).extension(ipv6::ROUTING, &[4, 0, 0, 0, 0, 0]),
        from_lan(FAR).fragment(0, false, 9),
        Ipv6Builder::new(LAN, FAR).protocol(ipv6::ESP).payload_len(40),
        Ipv6Builder::new(LAN, FAR).protocol(ipv6::NO_NEXT_HEADER),
    ] {
        let out = router.send6(0, &packet);
        assert_eq!(out.len(), 1, "{packet:?}");
        assert_eq!(out[0].bytes[22..], packet.build()[22..], "{packet:?}");
    }
    for (packet, reason) in [
        (from_lan(FAR).extension(ipv6::ROUTING, &[0; 6]), DropReason::BadIpOptions),
        (
            from_lan(FAR).extension(ipv6::DESTINATION_OPTIONS, &[0; 6]).extension(ipv6::HOP_BY_HOP, &[0; 6]),
            DropReason::BadIpOptions,
        ),
        (
            (0..9).fold(from_lan(FAR), |packet, _| packet.extension(ipv6::DESTINATION_OPTIONS, &[0; 6])),
            DropReason::BadIpOptions,
        ),
        (Ipv6Builder::new(LAN, FAR).protocol(17).payload_len(5), DropReason::BadL4Header),
    ] {
        assert!(router.send6(0, &packet).is_empty());
        assert_eq!(dropped(&mut router, reason), 1, "{packet:?}");
    }
    for (at, value) in [(14, 0x45), (18, 0xff)] {
        let mut frame = from_lan(FAR).eth_dst(port_mac(0)).build();
        frame[at] = value;
        router.inject(0, frame, VnetState::default());
        assert_eq!(dropped(&mut router, DropReason::BadIpHeader), 1);
    }
    // Padding of Ethernet does not leave.
    let mut padded = from_lan(FAR).eth_dst(port_mac(0)).build();
    let len = padded.len();
    padded.resize(len + 9, 0);
    assert_eq!(router.inject(0, padded, VnetState::default())[0].bytes.len(), len);
}

#[test]
fn a_gateway_may_be_a_link_local_address() {
    let far = "2001:db8:77::/48";
    let gateway = RouteTarget::Gateway { address: "fe80::9".parse().unwrap(), interface: Some(2) };
    let mut router = router_of(config().route_to(far, gateway)).hosts6(1, &["fe80::9"]);
    let out = router.send6(0, &from_lan("2001:db8:77::1"));
    assert_eq!((out.len(), out[0].to, out[0].ipv6().eth_dst), (1, To::Port(1), host_mac6(ip6("fe80::9"))));
}

#[test]
fn a_change_of_routes_leaves_the_other_family_alone() {
    let mut router = router().hosts(1, &["10.2.0.5"]);
    let before = router.snapshot().fib().routes();
    router.reconfigure(|config| config.routes.retain(|route| route.destination.is_ipv4()));
    assert!(router.send6(0, &from_lan(FAR)).iter().all(|out| out.to == To::Port(0)));
    assert_eq!(dropped(&mut router, DropReason::NoRoute), 1);
    assert_eq!(router.snapshot().fib().routes(), before);
}

fn tracking(config: RouterConfig) -> RouterConfig {
    config.with(|config| config.tracking.enabled = TrackingMode::Yes)
}

#[test]
fn connections_of_ipv6_are_tracked_by_ports_and_identifiers() {
    let mut router = router_of(tracking(config()));
    let syn = Ipv6Builder::new(LAN, WAN).tcp(1000, 80, tcp_flag::SYN, 1, 0);
    assert_eq!(router.send6(0, &syn).len(), 1);
    let answer = Ipv6Builder::new(WAN, LAN).tcp(80, 1000, tcp_flag::SYN | tcp_flag::ACK, 9, 2);
    assert_eq!(router.send6(1, &answer).len(), 1);
    assert_eq!(router.send6(0, &Ipv6Builder::new(LAN, WAN).echo_request(5, 1)).len(), 1);
    assert_eq!(router.send6(1, &Ipv6Builder::new(WAN, LAN).echo_reply(5, 1)).len(), 1);
    let stats = router.stats();
    assert_eq!((stats.connections_ip4, stats.connections_ip6), (0, 2));
    let known = router.connections_of(0);
    assert_eq!(known.len(), 2);
    // Neighbour discovery belongs to no connection.
    router.send6(0, &solicitation(LAN, ip6("2001:db8:1::1"), Some(ASKER)));
    assert_eq!(router.stats().connections_ip6, 2);
}

#[test]
fn fragments_pass_one_by_one_and_those_that_overlap_do_not() {
    let mut router = router_of(tracking(config()));
    let packet = Ipv6Builder::new(LAN, WAN).udp(1000, 53).payload_len(3000);
    let send = |router: &mut Router, mut frame: Vec<u8>| {
        frame[..6].copy_from_slice(&port_mac(0));
        router.inject(0, frame, VnetState::default())
    };
    // In any order; those before the first wait for it.
    let mut frames = packet.build_fragments(1200, 1);
    frames.reverse();
    let out: Vec<_> = frames.iter().flat_map(|frame| send(&mut router, frame.clone())).collect();
    assert_eq!(out.len(), 3);
    assert!(out.iter().all(|out| out.to == To::Port(1) && out.ipv6().hop_limit == 63));
    assert_eq!(router.stats().connections_ip6, 1);
    router.moved();
    // The second overlaps the first: neither it nor any other passes (RFC 5722).
    let mut frames = packet.build_fragments(1200, 2);
    frames[1] = packet.clone().fragment(1192, true, 2).payload_len(1192).build();
    let passed: Vec<_> = frames.iter().map(|frame| send(&mut router, frame.clone()).len()).collect();
    assert_eq!(passed, [1, 0, 0]);
    assert_eq!(dropped(&mut router, DropReason::FragmentInvalid), 2);
    // A fragment that comes twice is dropped alone.
    let frames = packet.build_fragments(1200, 3);
    let order = [0, 1, 1, 0, 2];
    let passed: usize = order.iter().map(|at| send(&mut router, frames[*at].clone()).len()).sum();
    assert_eq!(passed, 3);
}

#[test]
fn workers_deal_with_ipv6_together() {
    for workers in 1..=4 {
        let mut router =
            Router::with_workers(tracking(config()), workers).hosts6(0, &[LAN]).hosts6(1, &[WAN]);
        router.advance_ms(1_100);
        for port in 0..40 {
            // A worker looks every few milliseconds whether a next hop has answered to another one.
            let mut out = router.send6(0, &Ipv6Builder::new(LAN, WAN).udp(1000 + port, 53).payload_len(20));
            out.extend(router.advance_ms(5));
            assert_eq!(out.len(), 1, "{workers} workers, port {port}");
            let mut out = router.send6(1, &Ipv6Builder::new(WAN, LAN).udp(53, 1000 + port));
            out.extend(router.advance_ms(5));
            assert_eq!(out.len(), 1, "{workers} workers, port {port}");
        }
        assert_eq!(router.stats().connections_ip6, 40);
        let fragments = Ipv6Builder::new(LAN, WAN).udp(7, 53).payload_len(3000).build_fragments(1200, 1);
        let sent: usize = fragments
            .into_iter()
            .map(|mut frame| {
                frame[..6].copy_from_slice(&port_mac(0));
                router.inject_batch(0, vec![(0, frame, VnetState::default())]).len()
            })
            .sum();
        assert_eq!(sent, 3, "{workers} workers");
        let stats = router.stats();
        let drops: u64 = stats.drops.iter().sum();
        assert_eq!(router.emitted + drops + stats.held, router.injected + stats.generated);
    }
}

#[test]
fn without_tracking_packets_are_forwarded_by_their_route_alone() {
    let mut router = router();
    let packets = [
        from_lan(FAR),
        Ipv6Builder::new(LAN, FAR).tcp(1000, 80, tcp_flag::ACK, 1, 1).payload_len(9),
        Ipv6Builder::new(LAN, WAN).protocol(ipv6::ESP).payload_len(40),
        Ipv6Builder::new(LAN, FAR).echo_request(1, 1),
    ];
    let slow: Vec<Vec<u8>> = packets.iter().map(|packet| router.send6(0, packet)[0].bytes.clone()).collect();
    // The next hop is known now.
    for (packet, slow) in packets.iter().zip(slow) {
        let out = router.send6(0, packet);
        assert_eq!((out.len(), out[0].fast, &out[0].bytes), (1, true, &slow), "{packet:?}");
    }
    let stats = router.stats();
    assert_eq!(stats.routed.packets, 7);
    // Addresses of a link and of groups are not forwarded, whatever the default route.
    for dst in ["fe80::77", "ff0e::77"] {
        let out = router.inject(
            0,
            Ipv6Builder::new(LAN, dst).udp(1, 2).eth_dst(port_mac(0)).build(),
            VnetState::default(),
        );
        assert!(out.iter().all(|out| out.to != To::Port(1)), "{dst}: {out:?}");
    }
    // What is not plain takes the slow path, and is forwarded in the same way.
    for packet in [
        from_lan(FAR).extension(ipv6::HOP_BY_HOP, &[1, 4, 0, 0, 0, 0]),
        from_lan(FAR).fragment(8, true, 5).payload_len(16),
        Ipv6Builder::new(LAN, FAR).tcp(1000, 80, tcp_flag::SYN, 1, 1),
    ] {
        let out = router.send6(0, &packet);
        assert_eq!((out.len(), out[0].fast, out[0].ipv6().hop_limit), (1, false, 63), "{packet:?}");
    }
    // The limits are the same, and so is what happens when a route goes.
    assert_eq!(error_of(&router.send6(0, &from_lan(FAR).hop_limit(1))).0, icmpv6::TIME_EXCEEDED);
    let long = Ipv6Builder::new(LAN, FAR).udp(1, 2).payload_len(1500);
    assert_eq!(error_of(&router.send6(0, &long)), (icmpv6::PACKET_TOO_BIG, 0, 1500));
    router.reconfigure(|config| config.routes.clear());
    assert_eq!(error_of(&router.send6(0, &from_lan(FAR))).0, icmpv6::UNREACHABLE);
}

#[test]
fn over_vlans_it_is_the_same() {
    for tracked in [false, true] {
        let config = if tracked { tracking(config()) } else { config() };
        let mut router = router_of(config.trunk());
        let out = router.send6(0, &from_lan(FAR));
        assert_eq!((out.len(), out[0].to, out[0].ipv6().eth_dst), (1, To::Port(1), host_mac6(ip6(WAN))));
        assert!(router.send6(0, &from_lan(FAR))[0].fast);
        let out = router.send6(0, &Ipv6Builder::new(LAN, "2001:db8:1::1").echo_request(7, 1));
        assert_eq!((out.len(), out[0].to), (1, To::Port(0)));
        let out = router.send6(0, &solicitation(LAN, ip6("2001:db8:1::1"), Some(ASKER)));
        assert_eq!((out.len(), out[0].to, out[0].ipv6().eth_dst), (1, To::Port(0), ASKER));
        assert_eq!(error_of(&router.send6(0, &from_lan(FAR).hop_limit(1))).0, icmpv6::TIME_EXCEEDED);
    }
}
