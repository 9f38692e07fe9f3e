//! What keeps flows on the fast path, and what takes them off it at once: routes and lists that change
//! while packets flow.

use std::net::{IpAddr, Ipv4Addr};

use tollway_config::dataplane::{AddressRange, Matcher};
use tollway_engine::ip::fib::{DynamicRoute, DynamicTarget, RouteChange};
use tollway_testkit::config::{RouterConfig, prefix, rule};
use tollway_testkit::packet::{PacketBuilder, ip};
use tollway_testkit::router::{Router, To};

/// 10.1.0.1/24 on port 0, 10.2.0.1/24 on port 1, 10.3.0.1/24 on port 2; the rest of the world behind
/// 10.2.0.2. Connections are tracked.
fn start(config: RouterConfig) -> Router {
    let config = config
        .interface("10.1.0.1/24")
        .interface("10.2.0.1/24")
        .interface("10.3.0.1/24")
        .route("0.0.0.0/0", "10.2.0.2")
        .filter("forward", rule().passthrough());
    Router::new(config).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2", "10.2.0.3"]).hosts(2, &["10.3.0.2"])
}

fn udp() -> PacketBuilder {
    PacketBuilder::ipv4("10.1.0.2", "100.64.1.1").udp(4000, 53)
}

/// Sends packets until the flow cache has the flow.
fn establish(router: &mut Router) {
    for _ in 0..3 {
        router.send(0, &udp());
    }
    assert!(router.send(0, &udp())[0].fast);
}

fn dynamic(address: u32, prefix_len: u8, gateway: &str) -> RouteChange {
    RouteChange::Replace(DynamicRoute {
        destination: address,
        prefix_len,
        metric: 20,
        protocol: 186,
        distance: 20,
        target: DynamicTarget::Gateway { address: ip(gateway), interface: None },
        multipath: false,
        source: 0,
    })
}

#[test]
fn routes_of_others_that_change_leave_a_flow_on_the_fast_path() {
    let mut router = start(RouterConfig::new());
    establish(&mut router);
    for round in 0..1000_u32 {
        // Elsewhere, and in the block of the flow's own destination but past it.
        let elsewhere = ip("20.0.0.0") + (round << 8);
        let beside = ip("100.64.2.0") + ((round % 64) << 8);
        let gateway = if round % 2 == 0 { "10.3.0.2" } else { "10.2.0.3" };
        router.change_routes(&[dynamic(elsewhere, 24, gateway), dynamic(beside, 24, gateway)]);
        let out = router.send(0, &udp());
        assert!(out[0].fast, "round {round}");
        assert_eq!(out[0].to, To::Port(1));
    }
}

#[test]
fn a_flow_follows_its_route_with_the_next_packet() {
    let mut router = start(RouterConfig::new());
    establish(&mut router);
    for round in 0..20 {
        let (gateway, port) = if round % 2 == 0 { ("10.3.0.2", 2) } else { ("10.2.0.3", 1) };
        router.change_routes(&[dynamic(ip("100.64.1.0"), 24, gateway)]);
        let out = router.send(0, &udp());
        let sent = out.iter().find(|output| output.arp().is_none()).expect("a packet");
        assert_eq!(sent.to, To::Port(port), "round {round}");
        assert!(!sent.fast);
        assert!(router.send(0, &udp())[0].fast);
    }
    // To another gateway by the same port, too.
    router.change_routes(&[dynamic(ip("100.64.1.0"), 24, "10.2.0.2")]);
    assert!(!router.send(0, &udp())[0].fast);
    // And no further when the last route is gone.
    let (destination, prefix_len) = prefix("100.64.1.0/24");
    let gone = RouteChange::Remove { destination: destination.to_bits(), prefix_len, metric: 20 };
    router.change_routes(&[gone]);
    assert_eq!(router.send(0, &udp())[0].to, To::Port(1));
    router.reconfigure(|config| config.routes.clear());
    assert_eq!(router.send(0, &udp())[0].packet().icmp, Some((3, 0)));
}

#[test]
fn a_commit_that_changes_only_routes_leaves_other_flows_on_the_fast_path() {
    let mut router = start(RouterConfig::new());
    establish(&mut router);
    let other = |router: &mut Router, row: u32, destination: &str| {
        router.reconfigure(|config| {
            let mut route = config.routes[0].clone();
            let (address, prefix_len) = prefix(destination);
            (route.row, route.destination, route.prefix_len) = (row, address.into(), prefix_len);
            config.routes.push(route);
        });
    };
    other(&mut router, 900, "20.0.0.0/8");
    assert!(router.send(0, &udp())[0].fast);
    let rule = router.config().filter[0].rules[0].clone();
    router.reconfigure(|config| {
        config.filter[0].rules.push(tollway_config::dataplane::Rule { row: 901, ..rule })
    });
    assert!(!router.send(0, &udp())[0].fast);
    assert!(router.send(0, &udp())[0].fast);
    assert_eq!(router.rule(901).0, 2);
}

#[test]
fn lists_of_other_addresses_that_change_leave_a_flow_on_the_fast_path_and_its_own_stop_it() {
    let listed = Matcher::DstAddressList { list: 0, negate: false };
    let config =
        RouterConfig::new().address_list("blocked", &[]).filter("forward", rule().matcher(listed).drop());
    let mut router = start(config);
    establish(&mut router);
    let add = |router: &mut Router, address: u32| {
        router.reconfigure(|config| {
            let address = std::net::Ipv4Addr::from_bits(address).into();
            let range = AddressRange { from: address, to: address };
            config.address_lists[0].entries.push(range);
        });
    };
    for number in 0..50 {
        add(&mut router, ip("20.0.0.1") + (number << 8));
        assert!(router.send(0, &udp())[0].fast, "entry {number}");
    }
    add(&mut router, ip("100.64.1.1"));
    assert_eq!(router.send(0, &udp()).len(), 0);
    router.reconfigure(|config| {
        config.address_lists[0].entries.pop();
    });
    assert_eq!(router.send(0, &udp())[0].to, To::Port(1));
    assert!(router.send(0, &udp())[0].fast);
}

#[test]
fn networks_in_lists_concern_the_flows_that_they_may_hold() {
    for (side, network) in [
        (Matcher::DstAddressList { list: 0, negate: false }, "100.64.1.0"),
        (Matcher::SrcAddressList { list: 0, negate: false }, "10.1.0.0"),
    ] {
        let config =
            RouterConfig::new().address_list("blocked", &[]).filter("forward", rule().matcher(side).drop());
        let mut router = start(config);
        establish(&mut router);
        let now = router.now();
        for number in 0..50 {
            let shared = router.shared();
            let address = Ipv4Addr::from_bits(ip("20.0.0.0") + (number << 8));
            shared.address_sets.add_to(
                "blocked",
                IpAddr::V4(address).into(),
                24,
                0,
                now,
                &shared.change_counters,
            );
            assert!(router.send(0, &udp())[0].fast, "network {number}");
        }
        // One beside it in the same block has the flow decided again, to the same end.
        let change = |router: &Router, address: u32, len: u8, add: bool| {
            let shared = router.shared();
            let address = IpAddr::V4(Ipv4Addr::from_bits(address)).into();
            if add {
                shared.address_sets.add_to("blocked", address, len, 0, now, &shared.change_counters);
            } else {
                assert!(shared.address_sets.remove_from("blocked", address, len, &shared.change_counters));
            }
        };
        change(&router, ip(network) + (1 << 8), 24, true);
        assert!(!router.send(0, &udp())[0].fast);
        assert!(router.send(0, &udp())[0].fast);
        for len in [24, 10, 1] {
            let covering = ip(network) & u32::MAX << (32 - len);
            change(&router, covering, len, true);
            assert_eq!(router.send(0, &udp()).len(), 0, "/{len} at {network}");
            change(&router, covering, len, false);
            assert_eq!(router.send(0, &udp()).len(), 1);
            assert!(router.send(0, &udp())[0].fast);
        }
    }
}

#[test]
fn a_network_in_a_list_stops_replies_to_the_host_behind_masquerade() {
    let listed = Matcher::DstAddressList { list: 0, negate: false };
    let config = RouterConfig::new()
        .address_list("blocked", &[])
        .filter("forward", rule().matcher(listed).drop())
        .nat("srcnat", rule().out_interface(2).masquerade());
    let mut router = start(config);
    establish(&mut router);
    let reply = PacketBuilder::ipv4("100.64.1.1", "10.2.0.1").udp(53, 4000);
    router.send(1, &reply);
    assert!(router.send(1, &reply)[0].fast);
    let (shared, network) = (router.shared(), IpAddr::from([10, 1, 0, 0]).into());
    shared.address_sets.add_to("blocked", network, 24, 0, router.now(), &shared.change_counters);
    assert_eq!(router.send(1, &reply).len(), 0);
    assert_eq!(router.send(0, &udp()).len(), 1);
}
