//! The router as a host of IPv6: redirects of what it sends itself, and routers and networks that it hears of.

use tollway_config::dataplane::{DataplaneConfig, RouteTarget, RoutingTable, TrackingMode};
use tollway_engine::ip::heard_routers::{HeardNetwork, HeardRouter};
use tollway_testkit::ipv6_packet::{host_mac6, ip6};
use tollway_testkit::router::{To, port_mac};
use tollway_testkit::{Ipv6Builder, Router, RouterConfig};
use tollway_wire::{icmpv6, ipv6, ndp};

const FAR: &str = "2001:db8:9::9";
/// The gateway, and another one.
const GATEWAYS: [&str; 2] = ["fe80::fe", "fe80::fd"];

fn router(change: fn(&mut DataplaneConfig)) -> Router {
    let config = RouterConfig::new()
        .interface("2001:db8:1::1/64")
        .interface("2001:db8:2::1/64")
        .route_to(
            "2001:db8:9::/48",
            RouteTarget::Gateway { address: GATEWAYS[0].parse().expect("an address"), interface: Some(1) },
        )
        .with(change);
    let stations = [GATEWAYS[0], GATEWAYS[1], "fe80::fc", "2001:db8:1::10", FAR];
    let mut router = Router::new(config).hosts6(0, &stations).hosts6(1, &["2001:db8:2::10"]);
    router.advance_ms(1_100);
    router.moved();
    router
}

/// Link-layer destination of what leaves of an echo request of the router itself to a destination.
fn own_next_hop(router: &mut Router, destination: &str) -> [u8; 6] {
    let packet = Ipv6Builder::new("2001:db8:1::1", destination).udp(1000, 53).build_l3();
    let mut out = router.send_local(&packet);
    out.extend(router.advance_ms(10));
    let sent = out.iter().find(|out| out.to == To::Port(0) && out.ipv6().dst.to_bits() == ip6(destination));
    sent.expect("a packet").ipv6().eth_dst
}

/// A redirect about packets to a destination.
fn redirect(sender: &str, destination: &str, target: &str) -> Ipv6Builder {
    let mut body = [ip6(target).to_be_bytes(), ip6(destination).to_be_bytes()].concat();
    body.extend([ndp::option::TARGET_LINK, 1]);
    body.extend(host_mac6(ip6(target)));
    Ipv6Builder::new(sender, "2001:db8:1::1").hop_limit(255).icmp(icmpv6::REDIRECT, 0, [0; 4]).payload(&body)
}

/// RFC 4861 §8.1 and §8.3; what is forwarded follows the routes.
#[test]
fn the_router_follows_redirects_with_what_it_sends_itself() {
    let (routed, other) = (host_mac6(ip6(GATEWAYS[0])), host_mac6(ip6(GATEWAYS[1])));
    for change in
        [(|config| config.settings.ipv6.accept_redirects = true) as fn(&mut DataplaneConfig), |config| {
            config.settings.ipv6.accept_redirects = true;
            config.tracking.enabled = TrackingMode::Yes;
        }]
    {
        let mut router = router(change);
        assert_eq!(own_next_hop(&mut router, FAR), routed);
        for wrong in [
            // From another station; from afar; to what is neither a router of the link nor the destination; to the same.
            redirect("fe80::fc", FAR, GATEWAYS[1]),
            redirect(GATEWAYS[0], FAR, GATEWAYS[1]).hop_limit(254),
            redirect(GATEWAYS[0], FAR, "2001:db8:1::10"),
            redirect(GATEWAYS[0], FAR, GATEWAYS[0]),
            redirect(GATEWAYS[0], "ff0e::9", GATEWAYS[1]),
            // About a network that is not behind a gateway.
            redirect(GATEWAYS[0], "2001:db8:1::10", GATEWAYS[1]),
        ] {
            router.send6(0, &wrong);
            assert_eq!(own_next_hop(&mut router, FAR), routed);
        }
        router.send6(0, &redirect(GATEWAYS[0], FAR, GATEWAYS[1]));
        assert_eq!(own_next_hop(&mut router, FAR), other);
        assert_eq!(own_next_hop(&mut router, "2001:db8:9::8"), routed);
        let out = router.send6(1, &Ipv6Builder::new("2001:db8:2::10", FAR).udp(1000, 53));
        let forwarded = out.iter().find(|out| out.to == To::Port(0)).expect("a packet");
        assert_eq!(forwarded.ipv6().eth_dst, routed);
        // The destination itself is on the link.
        router.send6(0, &redirect(GATEWAYS[1], FAR, FAR));
        assert_eq!(own_next_hop(&mut router, FAR), host_mac6(ip6(FAR)));
        router.reconfigure(|config| config.settings.ipv6.accept_redirects = false);
        assert_eq!(own_next_hop(&mut router, FAR), routed);
    }
    let mut router = router(|_| {});
    router.send6(0, &redirect(GATEWAYS[0], FAR, GATEWAYS[1]));
    assert_eq!(own_next_hop(&mut router, FAR), routed);
}

/// An advertisement of a network, from a gateway.
fn advertisement(lifetime: u16) -> Ipv6Builder {
    let prefixes = [ndp::PrefixRepr { prefix: ip6("2001:db8:7::"), len: 64, valid: 7_200, preferred: 3_600 }];
    let link = host_mac6(ip6(GATEWAYS[0]));
    let repr = ndp::RouterRepr { hop_limit: 64, lifetime, link, mtu: 1500, prefixes: &prefixes };
    let mut message = vec![0; repr.len()];
    repr.emit(&mut message, 0, 0);
    let rest = message[4..8].try_into().expect("4 bytes");
    Ipv6Builder::new(GATEWAYS[0], "ff02::1")
        .hop_limit(255)
        .icmp(icmpv6::ROUTER_ADVERTISEMENT, 0, rest)
        .payload(&message[8..])
}

/// Interface 2 has no address, and takes advertisements.
fn listening() -> RouterConfig {
    RouterConfig::new()
        .interface("2001:db8:1::1/64")
        .interface("")
        .with(|config| config.settings.ipv6.accept_advertisements_on = vec![2])
}

#[test]
fn routers_are_asked_for_and_heard_where_advertisements_are_taken() {
    let mut router = Router::with_workers(listening(), 2);
    let out = router.advance_ms(3_000);
    let asked: Vec<_> = out
        .iter()
        .filter(|out| matches!(out.ipv6().discovery(), Some(ndp::Message::RouterSolicitation { .. })))
        .collect();
    assert_eq!(asked.len(), 1);
    let packet = asked[0].ipv6();
    assert_eq!((asked[0].to, packet.dst.to_bits(), packet.hop_limit), (To::Port(1), ipv6::ALL_ROUTERS, 255));
    assert_eq!(packet.src.to_bits(), ipv6::link_local_of(port_mac(1)));
    assert!(packet.checksum_right);

    let heard = |router: &Router| router.shared().heard_routers.heard(router.now());
    for wrong in
        [(0, advertisement(60)), (1, advertisement(60).hop_limit(254)), (1, advertisement(60).damaged())]
    {
        router.send6(wrong.0, &wrong.1);
        assert_eq!(heard(&router).routers, []);
    }
    router.send6(1, &advertisement(60));
    let known = heard(&router);
    let gateway = HeardRouter { interface: 2, address: ip6(GATEWAYS[0]), preference: 1 };
    assert_eq!(known.routers, [gateway]);
    let network = HeardNetwork {
        interface: 2,
        network: (ip6("2001:db8:7::"), 64),
        on_link: true,
        autonomous: true,
        deprecated: false,
    };
    assert_eq!(known.networks, [network]);
    let asks = router.advance_ms(20_000);
    let solicits = |out: &tollway_testkit::Output| {
        matches!(out.ipv6().discovery(), Some(ndp::Message::RouterSolicitation { .. }))
    };
    assert!(!asks.iter().any(solicits), "it has been answered");
    router.send6(1, &advertisement(0));
    assert_eq!(heard(&router).routers, []);
    router.reconfigure(|config| config.settings.ipv6.accept_advertisements_on.clear());
    assert_eq!(heard(&router).networks, []);
}

#[test]
fn an_interface_of_a_vrf_hears_of_no_router() {
    let mut router = Router::new(listening().with(|config| {
        config.interfaces[1].zone = 5;
        config.routing_tables =
            vec![RoutingTable { row: 90, name: "blue".to_owned(), mark: 1, fib: true, zone: 5 }];
    }));
    router.advance_ms(3_000);
    router.send6(1, &advertisement(60));
    assert_eq!(router.shared().heard_routers.heard(router.now()).routers, []);
}
