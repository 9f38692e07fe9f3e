//! Loopback interfaces: their addresses are the router's, whatever its links do.

use tollway_config::dataplane::{DataplaneConfig, InterfaceKind, RouteTarget, RoutingTable};
use tollway_engine::packet::verdict::DropReason;
use tollway_testkit::router::To;
use tollway_testkit::{Counter, Ipv6Builder, PacketBuilder, Router, RouterConfig};
use tollway_wire::icmpv6;

/// Interface 3 is a loopback one.
fn config(change: impl FnOnce(&mut DataplaneConfig)) -> RouterConfig {
    RouterConfig::new()
        .interface("10.1.0.1/24")
        .interface("10.2.0.1/24")
        .interface("")
        .address(1, "2001:db8:1::1/64")
        .address(3, "192.0.2.1/32")
        .address(3, "2001:db8::1/128")
        .with(|config| {
            config.interfaces[2].kind = InterfaceKind::Loopback;
            change(config);
        })
}

/// Numbers of echo replies of IPv4 and IPv6 to a host behind interface 1.
fn answers(config: RouterConfig) -> (usize, usize) {
    let mut router = Router::new(config).hosts(0, &["10.1.0.9"]).hosts6(0, &["2001:db8:1::9"]);
    router.advance_ms(1_100);
    router.moved();
    let four = router.send(0, &PacketBuilder::ipv4("10.1.0.9", "192.0.2.1").echo_request(7, 1));
    let six = router.send6(0, &Ipv6Builder::new("2001:db8:1::9", "2001:db8::1").echo_request(7, 1));
    let four = four.iter().filter(|out| out.to == To::Port(0) && out.packet().icmp == Some((0, 0)));
    let six = six.iter().filter(|out| {
        out.to == To::Port(0) && out.ipv6().icmp.is_some_and(|(kind, ..)| kind == icmpv6::ECHO_REPLY)
    });
    (four.count(), six.count())
}

#[test]
fn addresses_of_a_loopback_interface_answer_by_every_link() {
    assert_eq!(answers(config(|_| {})), (1, 1));
    assert_eq!(answers(config(|config| config.interfaces[1].disabled = true)), (1, 1));
    assert_eq!(answers(config(|config| config.interfaces[2].disabled = true)), (0, 0));
}

#[test]
fn nothing_leaves_by_a_loopback_interface() {
    let config = config(|config| {
        config.addresses.retain(|address| address.address.to_string() != "192.0.2.1");
    });
    let mut router = Router::new(config.address(3, "192.0.2.1/24")).hosts(0, &["10.1.0.9"]);
    router.moved();
    let out = router.send(0, &PacketBuilder::ipv4("10.1.0.9", "192.0.2.7").udp(1000, 53));
    assert!(out.is_empty());
    assert_eq!(router.moved().get(&Counter::Drop(DropReason::OutInterfaceDown)), Some(&1));
}

#[test]
fn a_service_sends_from_the_address_of_a_loopback_interface() {
    let mut router = Router::new(config(|_| {})).hosts(0, &["10.1.0.9"]);
    let out = router.send_local(&PacketBuilder::ipv4("192.0.2.1", "10.1.0.9").udp(53, 1000).build_l3());
    assert_eq!((out.len(), out[0].to), (1, To::Port(0)));
}

/// An interface without an address of a family: the host behind it is told of errors by the address of a loopback
/// interface, and by that of another interface where there is none.
#[test]
fn errors_that_no_interface_on_their_way_has_an_address_for_come_from_a_loopback_interface() {
    let told = |change: fn(&mut DataplaneConfig)| {
        let config = RouterConfig::new()
            .interface("")
            .interface("10.2.0.1/24")
            .interface("")
            .address(1, "fe80::1/64")
            .address(2, "2001:db8:2::1/64")
            .address(3, "192.0.2.1/32")
            .address(3, "2001:db8::1/128")
            .route_to("10.9.0.0/16", RouteTarget::Interface { interface: 1 })
            .route_to("2001:db8:9::/48", RouteTarget::Interface { interface: 1 })
            .with(|config| {
                config.interfaces[2].kind = InterfaceKind::Loopback;
                change(config);
            });
        let mut router = Router::new(config).hosts(0, &["10.9.0.9"]).hosts6(0, &["2001:db8:9::9"]);
        router.advance_ms(1_100);
        router.moved();
        let four = router.send(0, &PacketBuilder::ipv4("10.9.0.9", "10.2.0.7").udp(1000, 53).ttl(1));
        let four = four.iter().find(|out| out.arp().is_none() && out.packet().icmp == Some((11, 0)));
        let six =
            router.send6(0, &Ipv6Builder::new("2001:db8:9::9", "2001:db8:2::7").udp(1000, 53).hop_limit(1));
        let is_error = |kind: u8| kind == icmpv6::TIME_EXCEEDED;
        let six = six.iter().find(|out| out.ipv6().icmp.is_some_and(|(kind, ..)| is_error(kind)));
        [
            four.map(|out| out.packet().src.to_string()).unwrap_or_default(),
            six.map(|out| out.ipv6().src.to_string()).unwrap_or_default(),
        ]
    };
    assert_eq!(told(|_| {}), ["192.0.2.1", "2001:db8::1"]);
    assert_eq!(told(|config| config.interfaces[2].disabled = true), ["10.2.0.1", "2001:db8:2::1"]);
    // One of another zone is none of theirs.
    assert_eq!(
        told(|config| {
            config.interfaces[2].zone = 7;
            config.routing_tables =
                vec![RoutingTable { row: 90, name: "blue".to_owned(), mark: 1, fib: true, zone: 7 }];
        }),
        ["10.2.0.1", "2001:db8:2::1"]
    );
}
