//! Router advertisements, packets in and packets out: of which networks, when, and the last ones.

use std::net::Ipv6Addr;

use tollway_testkit::ipv6_packet::ip6;
use tollway_testkit::router::{To, port_mac};
use tollway_testkit::{Ipv6Builder, Output, Router, RouterConfig};
use tollway_wire::{field, icmpv6, ipv6, ndp};

/// Interface 1 advertises its network, interface 2 does not.
fn config() -> RouterConfig {
    RouterConfig::new().interface("2001:db8:1::1/64").interface("2001:db8:2::1/64").with(|config| {
        for address in &mut config.addresses {
            address.ipv6.advertise = address.interface == 1;
        }
    })
}

/// What an advertisement says: lifetime of the router, s; networks with their lifetimes, s.
type Said = (u16, Vec<(u128, u8, u32, u32)>);

/// The advertisements among sent frames, all by port 0.
fn advertisements(out: &[Output]) -> Vec<Said> {
    let all = out.iter().filter_map(|out| {
        let packet = out.ipv6();
        let Some(ndp::Message::RouterAdvertisement { lifetime, options, .. }) = packet.discovery() else {
            return None;
        };
        assert_eq!((out.to, packet.dst.to_bits(), packet.hop_limit), (To::Port(0), ipv6::ALL_NODES, 255));
        assert_eq!(packet.src, Ipv6Addr::from_bits(ipv6::link_local_of(port_mac(0))));
        assert_eq!((packet.eth_dst, packet.eth_src), ([0x33, 0x33, 0, 0, 0, 1], port_mac(0)));
        assert!(packet.checksum_right);
        assert_eq!(options.link(ndp::option::SOURCE_LINK), Some(port_mac(0)));
        assert_eq!(
            options.find(ndp::option::MTU).map(|option| option[4..8].to_vec()),
            Some(vec![0, 0, 5, 220])
        );
        let prefixes = options.into_iter().filter(|option| option[0] == ndp::option::PREFIX);
        let said = prefixes.map(|option| {
            assert_eq!(option[3], 0xc0, "on-link and autonomous");
            (field::get128(option, 16), option[2], field::get32(option, 4), field::get32(option, 8))
        });
        Some((lifetime, said.collect()))
    });
    all.collect()
}

fn network(preferred: u32) -> Vec<(u128, u8, u32, u32)> {
    vec![(ip6("2001:db8:1::"), 64, 2_592_000, preferred)]
}

/// A solicitation of routers, from an address or from none.
fn solicitation(src: &str) -> Ipv6Builder {
    Ipv6Builder::new(src, "ff02::2").hop_limit(255).icmp(icmpv6::ROUTER_SOLICITATION, 0, [0; 4])
}

#[test]
fn the_networks_of_addresses_that_are_in_use_are_advertised() {
    let mut router = Router::new(config());
    assert_eq!(advertisements(&router.advance_ms(999)), []);
    assert_eq!(advertisements(&router.advance_ms(1_600)), [(1_800, network(604_800))]);
    assert_eq!(advertisements(&router.advance_ms(16_100)), [(1_800, network(604_800))]);
}

#[test]
fn with_several_workers_each_advertisement_is_sent_once() {
    let mut router = Router::with_workers(config(), 3);
    assert_eq!(advertisements(&router.advance_ms(2_600)).len(), 1);
}

#[test]
fn solicitations_are_answered_where_a_network_is_advertised() {
    let mut router = Router::new(config());
    router.advance_ms(60_000);
    router.send6(0, &solicitation("::"));
    assert_eq!(advertisements(&router.advance_ms(600)).len(), 1);
    router.send6(0, &solicitation("fe80::10"));
    assert_eq!(advertisements(&router.advance_ms(2_000)), [], "not within three seconds");
    assert_eq!(advertisements(&router.advance_ms(2_000)).len(), 1);
    // From afar, and by an interface that advertises nothing: those are for services.
    router.advance_ms(10_000);
    router.send6(0, &solicitation("fe80::10").hop_limit(64));
    assert_eq!(router.send6(1, &solicitation("fe80::10")).len(), 1);
    assert_eq!(advertisements(&router.advance_ms(3_000)), []);
}

#[test]
fn a_router_that_forwards_no_more_says_so() {
    let mut router = Router::new(config());
    router.advance_ms(60_000);
    router.reconfigure(|config| config.settings.ipv6.forward = false);
    let last = advertisements(&router.advance_ms(7_000));
    assert_eq!(last, vec![(0, network(0)); 3]);
    assert_eq!(advertisements(&router.advance_ms(700_000)), []);
}

#[test]
fn a_network_is_withdrawn_with_the_last_address_of_its_interface() {
    let mut router = Router::new(config());
    router.advance_ms(60_000);
    router.reconfigure(|config| config.addresses.retain(|address| address.interface != 1));
    assert_eq!(advertisements(&router.advance_ms(7_000)), vec![(0, network(0)); 3]);
}
