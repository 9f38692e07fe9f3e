//! Routes with several gateways, routes that lead to the gateways of others, and gateways that are probed.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use tollway_config::dataplane::{
    Gateway, GatewayCheck, MultipathHash, Route, RouteOptions, RouteTarget, RpFilter, TrackingMode,
};
use tollway_engine::packet::slow_reason::SlowReason;
use tollway_testkit::config::{RouterConfig, rule};
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::random::Random;
use tollway_testkit::router::{Output, Router, To, port_mac};
use tollway_testkit::{Ipv6Builder, ipv6_packet::ip6};

const FAR: &str = "100.64.0.0/16";

fn gateway(address: &str) -> Gateway {
    Gateway { address: Some(address.parse().expect("an address")), interface: None, table: None }
}

fn several(gateways: &[&str]) -> RouteTarget {
    RouteTarget::Gateways { gateways: gateways.iter().map(|address| gateway(address)).collect() }
}

/// Clients on port 0, gateways on ports 1 to 3.
fn base() -> RouterConfig {
    RouterConfig::new()
        .interface("10.1.0.1/24")
        .interface("10.2.0.1/24")
        .interface("10.3.0.1/24")
        .interface("10.4.0.1/24")
}

const GATEWAYS: [&str; 3] = ["10.2.0.2", "10.3.0.2", "10.4.0.2"];

fn start(config: RouterConfig, workers: u32) -> Router {
    let mut router = Router::with_workers(config, workers).hosts(0, &["10.1.0.2", "10.1.0.3"]);
    for (port, address) in (1..).zip(GATEWAYS) {
        router = router.hosts(port, &[address]);
    }
    router
}

fn tracked(config: RouterConfig) -> RouterConfig {
    config
        .filter("forward", rule().passthrough())
        .with(|config| config.settings.multipath_hash = MultipathHash::L4)
}

fn udp(flow: u16) -> PacketBuilder {
    PacketBuilder::ipv4("10.1.0.2", "100.64.1.1").udp(4_000 + flow, 53)
}

/// The port that a packet left by, whether the flow cache sent it.
fn way(out: &[Output]) -> (To, bool) {
    let sent = out.iter().find(|output| output.arp().is_none()).expect("a packet");
    (sent.to, sent.fast)
}

/// Ports of flows, after their packets are in the flow cache.
fn ways(router: &mut Router, flows: u16) -> Vec<To> {
    (0..flows)
        .map(|flow| {
            for _ in 0..2 {
                router.send(0, &udp(flow));
            }
            way(&router.send(0, &udp(flow))).0
        })
        .collect()
}

fn counts(ways: &[To]) -> BTreeMap<To, usize> {
    let mut counts = BTreeMap::new();
    for way in ways {
        *counts.entry(*way).or_default() += 1;
    }
    counts
}

#[test]
fn only_flows_of_a_gateway_that_goes_move_and_the_others_stay_in_the_cache() {
    for workers in [1, 3] {
        let mut router = start(tracked(base().route_to(FAR, several(&GATEWAYS))), workers);
        let before = ways(&mut router, 300);
        let divided = counts(&before);
        assert!(divided.len() == 3 && divided.values().all(|count| (70..130).contains(count)), "{divided:?}");
        router.reconfigure(|config| config.routes[0].target = several(&[GATEWAYS[0], GATEWAYS[2]]));
        for (flow, before) in (0..).zip(&before) {
            let (now, fast) = way(&router.send(0, &udp(flow)));
            match *before {
                To::Port(2) => assert_ne!(now, To::Port(2), "flow {flow}"),
                before => assert_eq!((now, fast), (before, true), "flow {flow}"),
            }
        }
        // Back again, each flow is where it was.
        router.reconfigure(|config| config.routes[0].target = several(&GATEWAYS));
        assert_eq!(ways(&mut router, 300), before);
        // A link that goes takes only its flows along; they come back with it.
        router.carrier(1, false);
        for (now, before) in ways(&mut router, 300).into_iter().zip(&before) {
            if *before == To::Port(1) { assert_ne!(now, *before) } else { assert_eq!(now, *before) }
        }
        router.carrier(1, true);
        assert_eq!(ways(&mut router, 300), before);
    }
}

#[test]
fn weights_are_repetitions_and_the_policy_says_what_a_flow_is() {
    let target = several(&[GATEWAYS[0], GATEWAYS[1], GATEWAYS[1], GATEWAYS[1]]);
    let mut router = start(tracked(base().route_to(FAR, target)), 1);
    let divided = counts(&ways(&mut router, 400));
    assert!((70..130).contains(&divided[&To::Port(1)]), "{divided:?}");
    router.reconfigure(|config| config.settings.multipath_hash = MultipathHash::L3);
    assert_eq!(counts(&ways(&mut router, 50)).len(), 1, "one pair of addresses is one flow");
}

#[test]
fn routes_of_equal_distance_share_flows_as_one_with_several_gateways_does() {
    let one = tracked(base().route_to(FAR, several(&GATEWAYS)));
    let three = GATEWAYS.iter().fold(tracked(base()), |config, gateway| config.route(FAR, gateway));
    let (mut one, mut three) = (start(one, 1), start(three, 1));
    assert_eq!(ways(&mut one, 100), ways(&mut three, 100));
    let active = |router: &Router| {
        let routes = router.snapshot().fib().routes();
        routes.iter().filter(|route| route.active && route.ecmp).count()
    };
    assert_eq!((active(&one), active(&three)), (3, 3));
    three.reconfigure(|config| config.routes[1].distance = 2);
    let divided = counts(&ways(&mut three, 100));
    assert_eq!(divided.keys().collect::<Vec<_>>(), [&To::Port(1), &To::Port(3)]);
    assert_eq!(active(&three), 2);
    // A blackhole of the same distance, listed first, has all.
    three.reconfigure(|config| config.routes[0].target = RouteTarget::Blackhole);
    assert!(three.send(0, &udp(1)).is_empty());
}

#[test]
fn without_tracking_and_with_a_reverse_path_check_it_is_the_same() {
    let config = |check| {
        base().route_to(FAR, several(&GATEWAYS)).with(|config| {
            config.tracking.enabled = TrackingMode::No;
            config.settings.multipath_hash = MultipathHash::L4;
            config.settings.rp_filter = check;
        })
    };
    let (mut plain, mut checked) = (start(config(RpFilter::No), 1), start(config(RpFilter::Strict), 1));
    let found = ways(&mut plain, 100);
    assert_eq!(found, ways(&mut checked, 100));
    assert_eq!(counts(&found).len(), 3);
    // Answers may come by each of the gateways.
    for port in 1..=3 {
        let answer = PacketBuilder::ipv4("100.64.1.1", "10.1.0.2").udp(53, 4_000);
        assert_eq!(way(&checked.send(port, &answer)).0, To::Port(0), "by port {port}");
    }
    let elsewhere = PacketBuilder::ipv4("100.65.1.1", "10.1.0.2").udp(53, 4_000);
    assert!(checked.send(1, &elsewhere).is_empty());
}

#[test]
fn flows_of_ipv6_are_divided_too() {
    let target = several(&["2001:db8:2::2", "2001:db8:3::2"]);
    let config = RouterConfig::new()
        .interface("2001:db8:1::1/64")
        .interface("2001:db8:2::1/64")
        .interface("2001:db8:3::1/64")
        .route_to("2001:db8:f::/48", target)
        .with(|config| {
            config.tracking.enabled = TrackingMode::Yes;
            config.settings.ipv6.multipath_hash = MultipathHash::L4;
        });
    let mut router = Router::new(config)
        .hosts6(0, &["2001:db8:1::2"])
        .hosts6(1, &["2001:db8:2::2"])
        .hosts6(2, &["2001:db8:3::2"]);
    router.advance_ms(1_100);
    let ways = |router: &mut Router| -> Vec<To> {
        let flow = |flow: u16| Ipv6Builder::new("2001:db8:1::2", "2001:db8:f::1").udp(4_000 + flow, 53);
        let to_far = |out: &[Output]| {
            let sent = out
                .iter()
                .find(|output| output.ipv6().dst == std::net::Ipv6Addr::from_bits(ip6("2001:db8:f::1")));
            sent.map(|output| output.to)
        };
        let mut found = Vec::new();
        for at in 0..100 {
            let first = to_far(&router.send6(0, &flow(at)));
            router.advance_ms(2);
            let cached = to_far(&router.send6(0, &flow(at))).expect("a packet");
            assert!(first.is_none_or(|first| first == cached));
            found.push(cached);
        }
        found
    };
    let before = ways(&mut router);
    let divided = counts(&before);
    assert!(divided.len() == 2 && divided.values().all(|count| *count > 30), "{divided:?}");
    router.carrier(2, false);
    assert!(ways(&mut router).iter().all(|way| *way == To::Port(1)));
    router.carrier(2, true);
    router.advance_ms(1_100);
    assert_eq!(ways(&mut router), before);
}

/// A packet in a tunnel between two hosts, from one to another host behind them: encapsulated as `protocol` says.
fn in_tunnel(protocol: u8, inner: u8) -> Vec<u8> {
    let source = format!("172.16.0.{}", inner + 1);
    let v4 = PacketBuilder::ipv4(&source, "172.17.0.1").udp(4_000, 53).build_l3();
    match protocol {
        4 => v4,
        41 => Ipv6Builder::new(&format!("2001:db8:a::{}", inner + 1), "2001:db8:b::1").udp(1, 2).build_l3(),
        _ => [&[0x20, 0, 8, 0, 0, 0, 0, 7][..], &v4].concat(),
    }
}

#[test]
fn l3_inner_divides_the_flows_in_a_tunnel_and_no_others() {
    for (tracking, workers) in [(TrackingMode::No, 1), (TrackingMode::Yes, 1), (TrackingMode::Yes, 3)] {
        let config = base().route_to(FAR, several(&GATEWAYS)).with(|config| {
            config.tracking.enabled = tracking;
            config.settings.multipath_hash = MultipathHash::L3Inner;
        });
        let mut router = start(config, workers);
        for protocol in [4, 41, 47] {
            let ways = |router: &mut Router| -> Vec<To> {
                let sent = (0..60).map(|flow| {
                    let packet = PacketBuilder::ipv4("10.1.0.2", "100.64.1.1").protocol(protocol);
                    way(&router.send(0, &packet.payload(&in_tunnel(protocol, flow)))).0
                });
                sent.collect()
            };
            let before = ways(&mut router);
            let divided = counts(&before);
            assert!(
                divided.len() == 3 && divided.values().all(|count| *count >= 8),
                "{protocol}: {divided:?}"
            );
            // Whatever connection tracking knows of the tunnel by now.
            assert_eq!(ways(&mut router), before, "{protocol}, {tracking:?}");
            router.carrier(1, false);
            for (now, before) in ways(&mut router).into_iter().zip(&before) {
                if *before == To::Port(1) { assert_ne!(now, *before) } else { assert_eq!(now, *before) }
            }
            router.carrier(1, true);
            // With one gateway they are a flow like any other, of which the flow cache knows the next hop.
            router.reconfigure(|config| config.routes[0].target = several(&GATEWAYS[..1]));
            for _ in 0..2 {
                ways(&mut router);
            }
            let packet = PacketBuilder::ipv4("10.1.0.2", "100.64.1.1").protocol(protocol);
            let sent = way(&router.send(0, &packet.payload(&in_tunnel(protocol, 1))));
            assert_eq!(sent, (To::Port(1), true), "{protocol}");
            router.reconfigure(|config| config.routes[0].target = several(&GATEWAYS));
            assert_eq!(ways(&mut router), before, "{protocol}, {tracking:?}, again");
        }
        let packets = [&udp(0), &udp(1), &udp(2)].map(|packet| way(&router.send(0, packet)).0);
        assert!(packets.iter().all(|to| *to == packets[0]), "between two addresses there is one flow");
        if tracking == TrackingMode::Yes {
            assert!(router.slow()[&SlowReason::InnerFlow] > 100);
        }
    }
}

#[test]
fn l3_inner_divides_what_is_in_tunnels_of_ipv6() {
    let config = RouterConfig::new()
        .interface("2001:db8:1::1/64")
        .interface("2001:db8:2::1/64")
        .interface("2001:db8:3::1/64")
        .route_to("2001:db8:f::/48", several(&["2001:db8:2::2", "2001:db8:3::2"]))
        .with(|config| config.settings.ipv6.multipath_hash = MultipathHash::L3Inner);
    for tracking in [TrackingMode::No, TrackingMode::Yes] {
        let mut router = Router::new(config.clone().with(|config| config.tracking.enabled = tracking))
            .hosts6(0, &["2001:db8:1::2"])
            .hosts6(1, &["2001:db8:2::2"])
            .hosts6(2, &["2001:db8:3::2"]);
        router.advance_ms(1_100);
        for protocol in [4, 41, 47] {
            let ways = |router: &mut Router| -> Vec<Option<To>> {
                let sent = (0..60).map(|flow| {
                    let packet = Ipv6Builder::new("2001:db8:1::2", "2001:db8:f::1").protocol(protocol);
                    let out = router.send6(0, &packet.payload(&in_tunnel(protocol, flow)));
                    router.advance_ms(2);
                    let far = std::net::Ipv6Addr::from_bits(ip6("2001:db8:f::1"));
                    out.iter().find(|output| output.ipv6().dst == far).map(|output| output.to)
                });
                sent.collect()
            };
            // Next hops are found.
            ways(&mut router);
            let before = ways(&mut router);
            let to = |port| before.iter().filter(|way| **way == Some(To::Port(port))).count();
            assert!(to(1) > 15 && to(2) > 15 && to(1) + to(2) == 60, "{protocol}: {before:?}");
            assert_eq!(ways(&mut router), before);
        }
    }
}

/// A tunnel that is masqueraded goes by all uplinks; its connection does not end because a packet leaves by another one.
#[test]
fn a_masqueraded_tunnel_keeps_its_connection_while_its_uplink_is_one_of_the_next_hops() {
    let config = base().route_to(FAR, several(&GATEWAYS)).nat("srcnat", rule().masquerade()).with(|config| {
        config.settings.multipath_hash = MultipathHash::L3Inner;
    });
    let mut router = start(config, 1);
    let send = |router: &mut Router, flow| {
        let packet = PacketBuilder::ipv4("10.1.0.2", "100.64.1.1").protocol(47);
        router.send(0, &packet.payload(&in_tunnel(47, flow)));
        router.connections()
    };
    let first = send(&mut router, 0);
    for flow in 1..40 {
        assert_eq!(send(&mut router, flow)[0].endpoints[3], first[0].endpoints[3], "flow {flow}");
    }
    let own = GATEWAYS.iter().position(|gateway| {
        first[0].endpoints[3].0.to_string().split('.').take(3).eq(gateway.split('.').take(3))
    });
    let own = own.expect("one of the uplinks");
    let others: Vec<&str> =
        GATEWAYS.iter().enumerate().filter(|(at, _)| *at != own).map(|(_, gateway)| *gateway).collect();
    router.reconfigure(|config| config.routes[0].target = several(&others));
    assert_ne!(send(&mut router, 0)[0].endpoints[3], first[0].endpoints[3]);
}

fn route(
    row: u32,
    destination: Ipv4Addr,
    prefix_len: u8,
    target: RouteTarget,
    options: RouteOptions,
) -> Route {
    Route { row, destination: destination.into(), prefix_len, distance: 1, target, pref_src: None, options }
}

fn via(address: &str) -> RouteTarget {
    RouteTarget::Gateway { address: address.parse().expect("an address"), interface: None }
}

#[test]
fn a_gateway_is_found_by_other_routes_within_the_target_scope() {
    let far = |target_scope| {
        let options = RouteOptions { target_scope, ..RouteOptions::default() };
        route(301, Ipv4Addr::new(100, 64, 0, 0), 16, via("172.16.0.9"), options)
    };
    let near = |scope, target| {
        route(
            302,
            Ipv4Addr::new(172, 16, 0, 0),
            24,
            target,
            RouteOptions { scope, ..RouteOptions::default() },
        )
    };
    let mut router = start(tracked(base()), 1);
    let mut way_of = |routes: Vec<Route>| {
        router.reconfigure(|config| config.routes = routes);
        router.advance_ms(1_000);
        let out = router.send(0, &udp(1));
        out.into_iter().find(|output| output.arp().is_none()).map(|output| (output.to, output.packet().icmp))
    };
    let (out, unreachable) = (|port| Some((To::Port(port), None)), Some((To::Port(0), Some((3, 0)))));
    assert_eq!(way_of(vec![far(10), near(30, via(GATEWAYS[1]))]), unreachable, "beyond the target scope");
    assert_eq!(way_of(vec![far(10), near(10, via(GATEWAYS[1]))]), out(2));
    assert_eq!(way_of(vec![far(30), near(30, via(GATEWAYS[2]))]), out(3));
    // Several next hops on the way are several for the route.
    let both = way_of(vec![far(10), near(10, several(&GATEWAYS[..2]))]);
    assert!(both == out(1) || both == out(2), "{both:?}");
    // Routes that need each other have no next hop; nor does one that needs itself.
    let back = RouteOptions { scope: 10, ..RouteOptions::default() };
    let circle = route(303, Ipv4Addr::new(172, 16, 0, 0), 24, via("100.64.9.9"), back);
    assert_eq!(way_of(vec![Route { options: back, ..far(10) }, circle]), unreachable);
    let itself = route(304, Ipv4Addr::UNSPECIFIED, 0, via("172.16.0.9"), back);
    assert_eq!(way_of(vec![itself]), unreachable);
}

/// Answers the echo requests among some packets that are for these addresses.
fn answer(router: &mut Router, out: &[Output], alive: &[&str]) -> usize {
    let mut answered = 0;
    for output in out.iter().filter(|output| output.arp().is_none()) {
        let (packet, To::Port(port)) = (output.packet(), output.to) else { continue };
        assert!(packet.checksums_right && packet.icmp == Some((8, 0)), "{packet:?}");
        if alive.contains(&packet.dst.to_string().as_str()) {
            let sequence = u16::from_be_bytes([output.bytes[40], output.bytes[41]]);
            let reply = PacketBuilder::ipv4(&packet.dst.to_string(), &packet.src.to_string())
                .eth_dst(port_mac(port))
                .echo_reply(packet.ports.0, sequence);
            assert!(router.send(port, &reply).is_empty(), "no service sees the answer");
            answered += 1;
        }
    }
    answered
}

#[test]
fn a_gateway_that_does_not_answer_twice_is_not_used_until_it_answers_again() {
    let check = RouteOptions { check_gateway: Some(GatewayCheck::Ping), ..RouteOptions::default() };
    // The firewall takes no answers: those of gateways do not pass it.
    let config = tracked(base().route_to(FAR, several(&GATEWAYS[..2]))).filter("input", rule().drop());
    let mut router = start(config.with(|config| config.routes[0].options = check), 2);
    let rounds = |router: &mut Router, count: usize, alive: &[&str]| {
        let mut answered = 0;
        for _ in 0..count {
            for _ in 0..10 {
                let out = router.advance_ms(1_000);
                answered += answer(router, &out, alive);
                router.follow_gateways();
            }
        }
        answered
    };
    assert!(rounds(&mut router, 2, &GATEWAYS) >= 4);
    let before = ways(&mut router, 100);
    assert_eq!(counts(&before).len(), 2);
    // One missing answer changes nothing.
    rounds(&mut router, 1, &GATEWAYS[..1]);
    rounds(&mut router, 1, &GATEWAYS);
    assert_eq!(ways(&mut router, 100), before);
    rounds(&mut router, 3, &GATEWAYS[..1]);
    for (flow, before) in (0..).zip(&before) {
        let (now, fast) = way(&router.send(0, &udp(flow)));
        assert_eq!(now, To::Port(1));
        assert_eq!(fast, *before == To::Port(1), "flows of the other gateway stay in the cache");
    }
    let routes = router.snapshot().fib().routes();
    assert_eq!(routes.iter().filter(|route| route.active && route.ecmp).count(), 0);
    rounds(&mut router, 2, &GATEWAYS);
    assert_eq!(ways(&mut router, 100), before);
    // All gone: there is no route, and the interfaces do not matter.
    rounds(&mut router, 3, &[]);
    let mut out = router.send(0, &udp(7));
    out.extend(router.advance_ms(100));
    let answer =
        out.iter().find(|output| output.to == To::Port(0) && output.arp().is_none()).expect("an error");
    assert_eq!(answer.packet().icmp, Some((3, 0)));
}

#[test]
fn arp_probes_say_the_same_of_a_neighbour() {
    let check = RouteOptions { check_gateway: Some(GatewayCheck::Arp), ..RouteOptions::default() };
    let config = tracked(base().route(FAR, GATEWAYS[0]).route(FAR, GATEWAYS[1])).with(|config| {
        config.routes[0].options = check;
        config.routes[1].distance = 2;
    });
    let mut router = start(config, 1);
    let wait = |router: &mut Router| {
        for _ in 0..40 {
            router.advance_ms(1_000);
            router.follow_gateways();
        }
    };
    wait(&mut router);
    assert_eq!(way(&router.send(0, &udp(1))).0, To::Port(1));
    router.remove_host(1, GATEWAYS[0]);
    wait(&mut router);
    assert_eq!(way(&router.send(0, &udp(1))).0, To::Port(2));
    let mut router = router.hosts(1, &[GATEWAYS[0]]);
    wait(&mut router);
    assert_eq!(way(&router.send(0, &udp(1))).0, To::Port(1));
}

/// Random changes of the routes to some destinations.
fn change(random: &mut Random, config: &mut tollway_config::dataplane::DataplaneConfig) {
    let targets: [Vec<&str>; 5] = [
        GATEWAYS.to_vec(),
        GATEWAYS[..2].to_vec(),
        vec![GATEWAYS[2], GATEWAYS[2], GATEWAYS[0]],
        vec![GATEWAYS[1]],
        vec!["172.16.0.1", GATEWAYS[0]],
    ];
    let at = random.below(config.routes.len() as u64) as usize;
    config.routes[at].target = several(&targets[random.below(5) as usize]);
    config.routes[at].distance = 1 + random.below(2) as u8;
}

#[test]
fn the_flow_cache_does_what_the_stages_do_while_gateways_change() {
    for seed in 0..tollway_testkit::cases(12) {
        let mut random = Random::new(u64::from(seed) + 77);
        let config = |cache: bool| {
            let config = base()
                .route_to(FAR, several(&GATEWAYS))
                .route_to("100.64.1.0/24", several(&GATEWAYS[..2]))
                .route("100.64.1.0/24", GATEWAYS[2])
                .route_to("172.16.0.0/24", several(&GATEWAYS[1..]))
                .filter("forward", rule().passthrough())
                .nat("srcnat", rule().out_interface(2).masquerade());
            config.with(|config| {
                config.settings.allow_fast_path = cache;
                config.settings.multipath_hash = MultipathHash::L4;
                config.routes[3].options.scope = 10;
            })
        };
        let mut routers = [start(config(true), 1), start(config(false), 1), start(config(true), 3)];
        for router in &mut routers {
            // Later packets do not wait for their next hops.
            for gateway in GATEWAYS {
                router.send(0, &PacketBuilder::ipv4("10.1.0.2", gateway).udp(9, 9));
            }
        }
        for step in 0..300 {
            if random.one_in(30) {
                let from = random.clone();
                for router in &mut routers {
                    let mut same = from.clone();
                    router.reconfigure(|config| change(&mut same, config));
                    random = same;
                }
            }
            if random.one_in(80) {
                let (port, up) = (1 + random.below(3) as u16, random.one_in(2));
                for router in &mut routers {
                    router.carrier(port, up);
                }
            }
            let dst = ["100.64.1.1", "100.64.2.1", "100.64.1.2"][random.below(3) as usize];
            let packet = PacketBuilder::ipv4("10.1.0.2", dst).udp(4_000 + random.below(20) as u16, 53);
            let sent = routers.each_mut().map(|router| {
                let mut out = router.send(0, &packet);
                // A packet may wait for its next hop.
                out.extend(router.advance_ms(5));
                let asked = |output: &&Output| output.arp().is_none() && output.packet().ports.1 == 53;
                let ways: Vec<_> = out.iter().filter(asked).map(|output| output.to).collect();
                ways
            });
            assert_eq!(sent[0], sent[1], "seed {seed}, step {step}: cache and stages");
            let said = || routers.each_ref().map(|router| router.describe()).join("\n");
            assert_eq!(sent[0], sent[2], "seed {seed}, step {step}: one worker and three\n{}", said());
        }
    }
}

#[test]
fn a_group_is_listed_with_each_next_hop() {
    let router = start(base().route_to(FAR, several(&GATEWAYS)), 1);
    let mut found = Vec::new();
    router.snapshot().fib().for_each_static(|route| {
        found.push((
            route.further,
            route.gateway.map(|gateway| IpAddr::V4(Ipv4Addr::from_bits(gateway))),
            route.interface,
        ));
    });
    let expected: Vec<_> = (2..)
        .zip(GATEWAYS)
        .map(|(interface, gateway)| (interface != 2, Some(gateway.parse().unwrap()), interface))
        .collect();
    assert_eq!(found, expected);
}
