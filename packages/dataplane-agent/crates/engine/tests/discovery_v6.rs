//! Neighbour discovery: who is asked, who is answered, what is believed; duplicates of the router's addresses.

use std::net::Ipv6Addr;

use tollway_config::protocol::{Ipv6AddressState, NeighborStatus};
use tollway_engine::packet::frame::VnetState;
use tollway_engine::packet::verdict::DropReason;
use tollway_testkit::ipv6_packet::ip6;
use tollway_testkit::router::{To, port_mac};
use tollway_testkit::{Counter, Ipv6Builder, Output, Router};
use tollway_wire::{icmpv6, ipv6, ndp};

use super::forwarding_v6::{FAR, LAN, WAN, config, dropped, from_lan, link_local, router, router_of};

pub(super) fn solicitation(src: &str, target: u128, link: Option<[u8; 6]>) -> Ipv6Builder {
    let message = ndp::NeighborRepr { icmp_type: icmpv6::NEIGHBOR_SOLICITATION, flags: 0, target, link };
    Ipv6Builder::of_bits(ip6(src), ipv6::solicited_node(target)).eth_src([2, 9, 9, 9, 9, 9]).neighbor(message)
}

fn advertisement(src: &str, dst: &str, target: &str, flags: u8, link: Option<[u8; 6]>) -> Ipv6Builder {
    let (icmp_type, target) = (icmpv6::NEIGHBOR_ADVERTISEMENT, ip6(target));
    Ipv6Builder::new(src, dst).neighbor(ndp::NeighborRepr { icmp_type, flags, target, link })
}

pub(super) const ASKER: [u8; 6] = [2, 9, 9, 9, 9, 9];

#[test]
fn solicitations_for_own_addresses_are_answered_and_teach() {
    let mut router = router();
    let target = ip6("2001:db8:1::1");
    let out = router.send6(0, &solicitation(LAN, target, Some(ASKER)));
    assert_eq!((out.len(), out[0].to), (1, To::Port(0)));
    let answer = out[0].ipv6();
    assert_eq!((answer.eth_dst, answer.eth_src, answer.hop_limit), (ASKER, port_mac(0), 255));
    assert_eq!(
        (answer.src.to_bits(), answer.dst, answer.checksum_right),
        (target, LAN.parse().unwrap(), true)
    );
    let Some(ndp::Message::NeighborAdvertisement { target: told, flags, options }) = answer.discovery()
    else {
        panic!("{answer:?}");
    };
    assert_eq!((told, flags), (target, ndp::flag::ROUTER | ndp::flag::SOLICITED | ndp::flag::OVERRIDE));
    assert_eq!(options.link(ndp::option::TARGET_LINK), Some(port_mac(0)));
    let known = router.shared().neighbors6(router.snapshot());
    assert_eq!((known.len(), known[0].status), (1, NeighborStatus::Stale));
    assert!(router.shared().neighbors(router.snapshot()).is_empty(), "ARP's table has none of it");
    // From the unspecified address: the answer is for all.
    let out = router.send6(0, &solicitation("::", target, None));
    assert_eq!(
        (out[0].ipv6().dst.to_bits(), out[0].ipv6().eth_dst),
        (ipv6::ALL_NODES, [0x33, 0x33, 0, 0, 0, 1])
    );
    router.moved();
    assert!(router.send6(0, &solicitation(LAN, ip6("2001:db8:1::2"), Some(ASKER))).is_empty());
    assert!(router.send6(0, &solicitation(LAN, ip6("2001:db8:2::1"), Some(ASKER))).is_empty());
    assert_eq!(dropped(&mut router, DropReason::NdIgnored), 2);
}

/// RFC 4291 §2.6.1, RFC 4861 §7.2.7, RFC 6164.
#[test]
fn the_address_of_every_router_of_a_network_is_answered_while_the_router_forwards() {
    let anycast = "2001:db8:1::";
    let mut router = router_of(config().interface("2001:db8:3::1/127").interface("2001:db8:4::/64"));
    let asked = |router: &mut Router, port: u16, src: &str, target: &str| {
        let out = router.send6(port, &solicitation(src, ip6(target), Some(ASKER)));
        out.iter().find_map(|out| match out.ipv6().discovery() {
            Some(ndp::Message::NeighborAdvertisement { target, flags, .. }) => Some((target, flags)),
            _ => None,
        })
    };
    let flags = ndp::flag::ROUTER | ndp::flag::SOLICITED;
    assert_eq!(asked(&mut router, 0, LAN, anycast), Some((ip6(anycast), flags)));
    // Who looks for a duplicate of it, or asks for it elsewhere, is not told; nor where there are two stations alone.
    assert!(router.send6(0, &solicitation("::", ip6(anycast), None)).is_empty());
    assert_eq!(asked(&mut router, 1, WAN, anycast), None);
    assert_eq!(asked(&mut router, 2, "2001:db8:3::", "2001:db8:3::"), None);
    // One that is configured as the router's own is an address like others.
    let own = asked(&mut router, 3, "2001:db8:4::9", "2001:db8:4::");
    assert_eq!(own, Some((ip6("2001:db8:4::"), flags | ndp::flag::OVERRIDE)));
    let ping = |router: &mut Router| {
        [(0, LAN), (1, WAN)].map(|(port, from)| {
            let out = router.send6(port, &Ipv6Builder::new(from, anycast).echo_request(1, 1));
            let answer = |out: &Output| out.to == To::Port(port) && out.ipv6().src.to_bits() == ip6(anycast);
            out.iter()
                .filter(|out| answer(out))
                .filter_map(|out| out.ipv6().icmp)
                .any(|icmp| icmp.0 == icmpv6::ECHO_REPLY)
        })
    };
    assert_eq!(ping(&mut router), [true; 2]);
    // The router sends nothing else from it.
    let out = router.send6(0, &Ipv6Builder::new(LAN, FAR).udp(1, 2).hop_limit(1));
    assert_eq!(out[0].ipv6().src.to_string(), "2001:db8:1::1");
    router.reconfigure(|config| config.settings.ipv6.forward = false);
    assert_eq!((ping(&mut router), asked(&mut router, 0, LAN, anycast)), ([false; 2], None));
    router.reconfigure(|config| config.settings.ipv6.forward = true);
    assert_eq!(ping(&mut router), [true; 2]);
}

#[test]
fn discovery_is_believed_only_from_the_link_and_whole() {
    let mut router = router();
    let target = ip6("2001:db8:1::1");
    let ask = || solicitation(LAN, target, Some(ASKER));
    for packet in [
        ask().hop_limit(254),
        ask().damaged(),
        ask().extension(ipv6::DESTINATION_OPTIONS, &[0; 6]),
        ask().fragment(0, false, 1),
        solicitation("::", target, Some(ASKER)),
        solicitation(LAN, ipv6::ALL_NODES, Some(ASKER)),
        advertisement(WAN, "ff02::1", WAN, ndp::flag::SOLICITED, Some(ASKER)),
    ] {
        // A group that the router is in, so that it looks at the message.
        let mut frame = packet.eth_dst(port_mac(0)).build();
        frame[..6].copy_from_slice(&port_mac(0));
        let out = router.inject(0, frame, VnetState::default());
        assert!(out.iter().all(|out| matches!(out.to, To::Local(_))), "{out:?}");
    }
    let moved = router.moved();
    assert_eq!(moved.get(&Counter::Drop(DropReason::BadNd)), Some(&7), "{moved:?}");
    assert!(router.shared().neighbors6(router.snapshot()).is_empty());
}

#[test]
fn a_neighbour_is_asked_by_multicast_and_probed_by_unicast() {
    let mut router = Router::new(config());
    router.advance_ms(1_100);
    let out = router.send6(0, &from_lan(FAR));
    assert_eq!((out.len(), out[0].to), (1, To::Port(1)));
    let ask = out[0].ipv6();
    assert_eq!(ask.dst.to_bits(), ipv6::solicited_node(ip6(WAN)));
    assert_eq!((ask.eth_dst, ask.hop_limit), ([0x33, 0x33, 0xff, 0, 0, 0xfe], 255));
    assert_eq!(ask.src, "2001:db8:2::1".parse::<Ipv6Addr>().unwrap());
    let mac = [2, 7, 7, 7, 7, 7];
    let answer =
        advertisement(WAN, "2001:db8:2::1", WAN, ndp::flag::SOLICITED | ndp::flag::ROUTER, Some(mac));
    let out = router.send6(1, &answer);
    assert_eq!((out.len(), out[0].ipv6().eth_dst), (1, mac), "what has waited leaves");
    let known = router.shared().neighbors6(router.snapshot());
    assert_eq!((known[0].status, known[0].router), (NeighborStatus::Reachable, true));
    router.advance_ms(31_000);
    let out = router.send6(0, &from_lan(FAR));
    let probe = out.iter().map(Output::ipv6).find(|packet| packet.discovery().is_some()).expect("a probe");
    assert_eq!((probe.eth_dst, probe.dst), (mac, WAN.parse().unwrap()));
    assert_eq!(out.len(), 2, "the packet does not wait");
}

#[test]
fn the_number_of_neighbours_is_limited_for_each_family() {
    let config = config().with(|config| config.settings.ipv6.max_neighbor_entries = 100);
    let mut router = router_of(config);
    for host in 0..300 {
        router.send6(0, &from_lan(&format!("2001:db8:2::1:{host:x}")));
    }
    assert_eq!(router.shared().neighbors6(router.snapshot()).len(), 64);
    assert!(dropped(&mut router, DropReason::NeighborTableFull) > 200);
    // A neighbour on the other interface still has room, and so has IPv4.
    assert_eq!(router.send6(1, &Ipv6Builder::new(WAN, LAN).udp(1, 2)).len(), 1);
    // One that has had time to answer makes room; what waited for it is not sent, and not asked for again.
    router.advance_ms(20);
    router.moved();
    assert_eq!(asked(&router.send6(0, &from_lan("2001:db8:2::2:1"))), ["2001:db8:2::2:1"]);
    router.advance_ms(20);
    assert_eq!(dropped(&mut router, DropReason::NeighborTableFull), 1);
    assert_eq!(router.shared().neighbors6(router.snapshot()).len(), 65);
}

/// The addresses that are asked for.
fn asked(out: &[Output]) -> Vec<String> {
    let targets = out.iter().filter_map(|out| match out.ipv6().discovery()? {
        ndp::Message::NeighborSolicitation { target, .. } => Some(Ipv6Addr::from_bits(target).to_string()),
        _ => None,
    });
    targets.collect()
}

fn states(router: &Router) -> Vec<(u32, Ipv6AddressState)> {
    let own = router.shared().ipv6_addresses(router.snapshot(), router.now());
    own.iter().map(|own| (own.row, own.state)).collect()
}

#[test]
fn addresses_are_used_when_no_other_station_has_them() {
    let mut router = Router::new(config()).hosts6(0, &[LAN]);
    let asked = router.advance_ms(10);
    let targets: Vec<_> = asked
        .iter()
        .map(Output::ipv6)
        .map(|packet| {
            assert_eq!((packet.src.to_bits(), packet.hop_limit), (0, 255));
            let Some(ndp::Message::NeighborSolicitation { target, options }) = packet.discovery() else {
                panic!()
            };
            assert_eq!(options.link(ndp::option::SOURCE_LINK), None);
            assert_eq!(packet.dst.to_bits(), ipv6::solicited_node(target));
            target
        })
        .collect();
    assert_eq!(targets.len(), 4);
    assert!(targets.contains(&ip6("2001:db8:1::1")) && targets.contains(&link_local(1).to_bits()));
    // Nothing is answered meanwhile.
    let ask = solicitation(LAN, ip6("2001:db8:1::1"), Some(ASKER));
    assert!(router.send6(0, &ask).is_empty());
    assert!(router.send6(0, &Ipv6Builder::new(LAN, "2001:db8:1::1").echo_request(1, 1)).is_empty());
    // Another station has one address, and looks for another.
    let other = advertisement("2001:db8:2::1", "ff02::1", "2001:db8:2::1", ndp::flag::OVERRIDE, Some(ASKER));
    router.send6(1, &other);
    router.send6(1, &solicitation("::", link_local(1).to_bits(), None));
    router.advance_ms(2_000);
    use Ipv6AddressState::{Duplicate, Preferred};
    assert_eq!(states(&router), [(0, Preferred), (100, Preferred), (0, Duplicate), (101, Duplicate)]);
    assert_eq!(router.send6(0, &ask).len(), 1);
    assert!(router.send6(1, &solicitation(WAN, ip6("2001:db8:2::1"), Some(ASKER))).is_empty());
    // A carrier that comes back begins anew.
    router.carrier(1, false);
    router.carrier(1, true);
    router.advance_ms(2_000);
    assert!(states(&router).iter().all(|(_, state)| *state == Preferred));
}

#[test]
fn an_address_without_detection_is_used_at_once_and_an_identifier_is_made() {
    let config = config().with(|config| {
        for address in config.addresses.iter_mut().filter(|address| address.address.is_ipv6()) {
            (address.ipv6.no_dad, address.ipv6.eui_64) = (true, true);
        }
    });
    let mut router = Router::new(config).hosts6(0, &[LAN]);
    let own = Ipv6Addr::from_bits(ip6("2001:db8:1::") | u128::from(ipv6::eui_64(port_mac(0))));
    let out = router.send6(0, &Ipv6Builder::new(LAN, &own.to_string()).echo_request(1, 1));
    assert!(out.iter().any(|out| out.ipv6().src == own), "{out:?}");
}

#[test]
fn static_neighbours_need_no_solicitation() {
    let mac = "02:00:00:00:00:77";
    let mut router = Router::new(config().neighbor(2, WAN, mac, false));
    let out = router.send6(0, &from_lan(FAR));
    assert_eq!((out.len(), out[0].ipv6().eth_dst), (1, [2, 0, 0, 0, 0, 0x77]));
}
