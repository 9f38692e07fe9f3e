//! A change of the rules, routing tables, addresses or static neighbours of one family leaves the flows of the other one in the flow cache, with their rule counters.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tollway_config::dataplane::{
    Action, Chain, DataplaneConfig, InterfaceAddress, Matcher, Rule, StaticNeighbor, TrackingMode,
};
use tollway_engine::engine::fast_path_handlers::handlers;
use tollway_engine::packet::slow_reason::SlowReason;
use tollway_testkit::dual_stack::IPV6_ROWS;
use tollway_testkit::networks::UPLINK;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::port_mac;
use tollway_testkit::routing::{lookup, network, routing_rule};
use tollway_testkit::{Output, Router, RouterConfig, rule};

const HOST: &str = "192.168.88.10";
const SERVER: &str = "203.0.113.5";
/// Row of a rule that is added.
const ADDED: u32 = 90_000;

fn config() -> RouterConfig {
    let small = Matcher::PacketSize { from: 0, to: 1000, negate: false };
    RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", UPLINK)
        .routing_table()
        .route_in(1, "0.0.0.0/0", UPLINK)
        .with(|config| config.tracking.enabled = TrackingMode::Yes)
        .address_list("known", &[HOST])
        .filter("forward", rule().matcher(small).passthrough())
        .filter("forward", rule().accept())
        .mangle("prerouting", rule().passthrough())
        .nat("srcnat", rule().out_interface(2).masquerade())
        .dual_stack()
}

fn frame(v6: bool, flow: u16) -> Vec<u8> {
    let packet = PacketBuilder::ipv4(HOST, SERVER).udp(4000 + flow, 53).eth_dst(port_mac(0));
    if v6 { packet.in_ipv6().build() } else { packet.build() }
}

/// Whether the flow cache forwards the next packet of a flow of IPv4, and one of IPv6.
#[track_caller]
fn fast(router: &mut Router, flow: u16) -> [bool; 2] {
    [false, true].map(|v6| {
        let out = router.inject(0, frame(v6, flow), Default::default());
        let [Output { fast, own: false, .. }] = out[..] else {
            panic!("IPv6 {v6}, flow {flow}: {out:?}, {:?}", router.moved())
        };
        fast
    })
}

fn router(config: RouterConfig, workers: u32) -> Router {
    let mut router =
        Router::with_workers(config, workers).hosts(0, &[HOST]).hosts(1, &[UPLINK]).hosts_in_ipv6();
    router.advance_ms(1_100);
    for flow in 0..4 {
        // The first packets wait for their next hop, wherever they are.
        for v6 in [false, true] {
            router.inject(0, frame(v6, flow), Default::default());
            router.advance_ms(5);
        }
        fast(&mut router, flow);
        assert_eq!(fast(&mut router, flow), [true; 2]);
    }
    router
}

fn added(chains: &mut [Chain]) {
    chains[0].rules.push(Rule { row: ADDED, matchers: Vec::new(), action: Action::Passthrough, log: None });
}

fn fasttracks(chains: &mut [Chain]) {
    let action = Action::FasttrackConnection;
    chains[0].rules.push(Rule { row: ADDED, matchers: Vec::new(), action, log: None });
}

/// Another route and another rule at once: the small table is built anew.
fn routed(config: &mut DataplaneConfig, v6: bool, chains: fn(&mut DataplaneConfig) -> &mut Vec<Chain>) {
    let mut route =
        config.routes.iter().find(|route| route.destination.is_ipv6() == v6).cloned().expect("a route");
    let (destination, prefix_len) = if v6 { ("2001:db8:77::", 48) } else { ("10.77.0.0", 16) };
    (route.row, route.destination, route.prefix_len) =
        (ADDED + 1, destination.parse().expect("an address"), prefix_len);
    config.routes.push(route);
    added(chains(config));
}

fn address(interface: u32, address: &str, prefix_len: u8) -> InterfaceAddress {
    let (address, ipv6) = (address.parse().expect("an address"), Default::default());
    InterfaceAddress {
        row: ADDED,
        interface,
        address,
        prefix_len,
        network: masked(address, prefix_len),
        ipv6,
    }
}

fn masked(address: IpAddr, prefix_len: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() & u32::MAX << (32 - prefix_len)).into(),
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & u128::MAX << (128 - prefix_len)).into(),
    }
}

fn neighbor(address: &str) -> StaticNeighbor {
    let (address, mac_address) = (address.parse().expect("an address"), "02:01:0a:00:00:77".to_owned());
    StaticNeighbor { row: ADDED, interface: 1, address, mac_address, published: false }
}

/// Changes of a family, and whether it is IPv6.
type Change = (&'static str, bool, fn(&mut DataplaneConfig));

const CHANGES: [Change; 19] = [
    ("filter", false, |config| added(&mut config.filter)),
    ("filter", true, |config| added(&mut config.ipv6_filter)),
    ("filter in another order", false, |config| config.filter[0].rules.reverse()),
    ("filter in another order", true, |config| config.ipv6_filter[0].rules.reverse()),
    ("mangle", false, |config| added(&mut config.mangle)),
    ("mangle", true, |config| added(&mut config.ipv6_mangle)),
    ("nat", false, |config| config.nat.clear()),
    ("nat", true, |config| config.ipv6_nat.clear()),
    ("first fasttrack rule", false, |config| fasttracks(&mut config.filter)),
    ("first fasttrack rule", true, |config| fasttracks(&mut config.ipv6_filter)),
    ("routing table built anew", false, |config| routed(config, false, |config| &mut config.filter)),
    ("routing table built anew", true, |config| routed(config, true, |config| &mut config.ipv6_filter)),
    ("no rules", true, |config| config.ipv6_filter.clear()),
    ("address", false, |config| config.addresses.push(address(1, "10.78.0.1", 24))),
    ("address", true, |config| config.addresses.push(address(1, "2001:db8:78::1", 64))),
    ("static neighbour", false, |config| config.neighbors.push(neighbor("192.168.88.77"))),
    ("static neighbour", true, |config| config.neighbors.push(neighbor("fe80::77"))),
    ("routing rule", false, |config| {
        config.routing_rules =
            vec![tollway_config::dataplane::RoutingRule { source: network(HOST), ..routing_rule(lookup(1)) }];
    }),
    ("routing rule", true, |config| {
        let source = network("2001:db8::/32");
        config.routing_rules =
            vec![tollway_config::dataplane::RoutingRule { source, ..routing_rule(lookup(1)) }];
    }),
];

#[test]
fn a_change_of_rules_concerns_the_flows_of_its_family_alone() {
    for workers in [1, 3] {
        for (what, v6, change) in CHANGES {
            let mut router = router(config(), workers);
            router.reconfigure(change);
            for flow in 0..4 {
                assert_eq!(
                    fast(&mut router, flow),
                    [v6, !v6],
                    "{what}, IPv6 {v6}, {workers} workers, flow {flow}"
                );
                fast(&mut router, flow);
                assert_eq!(fast(&mut router, flow), [true; 2], "{what}, IPv6 {v6}, {workers} workers, later");
            }
            // Back again: the same numbers of paths and resume points.
            let before = config().config;
            router.reconfigure(|config| *config = before);
            assert_eq!(fast(&mut router, 0), [v6, !v6], "{what}, back");
        }
    }
}

/// Whether connections are tracked because it is configured, or because there are rules.
#[test]
fn flows_of_both_families_stay_while_connections_are_tracked_in_any_case() {
    let mut router = router(config(), 3);
    for mode in [TrackingMode::Auto, TrackingMode::Yes] {
        router.reconfigure(|config| config.tracking.enabled = mode);
        assert_eq!(fast(&mut router, 0), [true; 2], "{mode:?}");
    }
    router.reconfigure(|config| config.tracking.enabled = TrackingMode::No);
    assert_eq!(fast(&mut router, 0), [false; 2]);
}

#[test]
fn changes_of_both_families_or_of_what_both_rest_on_concern_all_flows() {
    let both: [fn(&mut DataplaneConfig); 3] = [
        |config| {
            added(&mut config.filter);
            config.ipv6_filter[0].rules.reverse();
        },
        |config| config.interfaces[1].mtu = 1400,
        |config| config.tracking.loose_tcp_tracking = !config.tracking.loose_tcp_tracking,
    ];
    for change in both {
        let mut router = router(config(), 1);
        router.reconfigure(change);
        assert_eq!(fast(&mut router, 0), [false; 2]);
    }
}

#[test]
fn rules_count_exactly_while_those_of_the_other_family_change() {
    let mut router = router(config(), 1);
    let counts =
        |router: &Router| [1000, 1001, 1002].map(|row| [router.rule(row).0, router.rule(row + IPV6_ROWS).0]);
    let before = counts(&router);
    for round in 1..=40 {
        router.reconfigure(|config| match round % 4 {
            0 => config.filter[0].rules.reverse(),
            1 => added(&mut config.ipv6_filter),
            2 => config.ipv6_filter[0].rules.rotate_left(1),
            _ => config.ipv6_filter[0].rules.retain(|rule| rule.row != ADDED),
        });
        fast(&mut router, 0);
        // A rule behind the one that accepts counts nothing, and the order of both families differs.
        let now = counts(&router);
        assert_eq!(now[2], before[2].map(|count| count + round), "mangle sees every packet, round {round}");
        let accepted: [u64; 2] = [now[1][0] - before[1][0], now[1][1] - before[1][1]];
        assert_eq!(accepted, [round; 2], "the rule that accepts");
    }
}

/// Packets that a family's ways past the slow path have forwarded: by route alone, fasttracked, from the flow cache.
fn forwarded(router: &Router, family: &str) -> [u64; 3] {
    let counted = handlers(router.snapshot(), &router.stats());
    ["fast-path", "fasttrack", "flow-cache"].map(|way| {
        let name = format!("{family}-{way}");
        counted.iter().find(|handler| handler.name == name).expect("a handler").packets
    })
}

#[test]
fn each_family_has_a_switch_of_the_fast_path_of_its_own() {
    let switch = |config: &mut DataplaneConfig, v6: bool, on: bool| match v6 {
        false => config.settings.allow_fast_path = on,
        true => config.settings.ipv6.allow_fast_path = on,
    };
    for (workers, v6) in [(1, false), (1, true), (3, false), (3, true)] {
        let mut router = router(config(), workers);
        router.reconfigure(|config| switch(config, v6, false));
        for flow in 0..4 {
            for _ in 0..3 {
                assert_eq!(fast(&mut router, flow), [v6, !v6], "IPv6 {v6}, {workers} workers, flow {flow}");
            }
        }
        router.reconfigure(|config| switch(config, v6, true));
        // The other family has been in the flow cache all along.
        assert_eq!(fast(&mut router, 0), [v6, !v6]);
        fast(&mut router, 0);
        assert_eq!(fast(&mut router, 0), [true; 2]);
    }
}

#[test]
fn without_tracking_each_family_has_its_switch_too() {
    let mut router = router(config(), 1);
    router.reconfigure(|config| {
        (config.filter, config.mangle, config.nat) = Default::default();
        (config.ipv6_filter, config.ipv6_mangle, config.ipv6_nat) = Default::default();
        config.tracking.enabled = TrackingMode::No;
    });
    let slow = |router: &Router| router.slow().get(&SlowReason::FastPathOff).copied().unwrap_or(0);
    for (v4, v6) in [(true, true), (false, true), (true, false), (false, false), (true, true)] {
        router.reconfigure(|config| {
            (config.settings.allow_fast_path, config.settings.ipv6.allow_fast_path) = (v4, v6);
        });
        let before = slow(&router);
        for _ in 0..2 {
            assert_eq!(fast(&mut router, 0), [v4, v6]);
        }
        assert_eq!(slow(&router) - before, 2 * (u64::from(!v4) + u64::from(!v6)), "IPv4 {v4}, IPv6 {v6}");
    }
}

#[test]
fn what_each_family_forwards_past_the_slow_path_is_counted_for_itself() {
    let mut router = router(config(), 1);
    let before = ["ipv4", "ipv6"].map(|family| forwarded(&router, family));
    let bytes = |router: &Router| {
        let counted = handlers(router.snapshot(), &router.stats());
        counted.iter().map(|handler| (handler.name.clone(), handler.bytes)).collect::<Vec<_>>()
    };
    for _ in 0..5 {
        assert_eq!(fast(&mut router, 0), [true; 2]);
    }
    router.inject(0, frame(true, 0), Default::default());
    let after = ["ipv4", "ipv6"].map(|family| forwarded(&router, family));
    assert_eq!(after[0].iter().zip(&before[0]).map(|(now, then)| now - then).collect::<Vec<_>>(), [0, 0, 5]);
    assert_eq!(after[1].iter().zip(&before[1]).map(|(now, then)| now - then).collect::<Vec<_>>(), [0, 0, 6]);
    // Without tracking, by route alone.
    router.reconfigure(|config| {
        (config.filter, config.mangle, config.nat) = Default::default();
        (config.ipv6_filter, config.ipv6_mangle, config.ipv6_nat) = Default::default();
        config.tracking.enabled = TrackingMode::No;
    });
    let then = bytes(&router);
    for _ in 0..3 {
        router.inject(0, frame(true, 0), Default::default());
    }
    router.inject(0, frame(false, 0), Default::default());
    let routed = ["ipv4", "ipv6"].map(|family| forwarded(&router, family));
    assert_eq!(routed, [[after[0][0] + 1, 0, after[0][2]], [after[1][0] + 3, 0, after[1][2]]]);
    let more: Vec<u64> = bytes(&router).iter().zip(&then).map(|(now, then)| now.1 - then.1).collect();
    assert_eq!(more, [28, 0, 0, 3 * 48, 0, 0, 0], "L3 bytes");
    // Fasttracked ones, of each family by a rule of its own.
    router.reconfigure(|config| {
        *config = self::config().config;
        config.settings.fasttrack_mode = tollway_config::dataplane::FasttrackMode::Bypass;
        config.ipv6_filter[0].rules.insert(
            0,
            Rule { row: ADDED, matchers: Vec::new(), action: Action::FasttrackConnection, log: None },
        );
    });
    for _ in 0..6 {
        fast(&mut router, 0);
    }
    let [v4, v6] = ["ipv4", "ipv6"].map(|family| forwarded(&router, family));
    assert_eq!((v4[1], v6[0]), (0, routed[1][0]));
    assert!(v4[2] > routed[0][2] && v6[1] >= 4, "{v4:?} {v6:?}");
    let stats = router.stats();
    assert_eq!((stats.connections_fasttracked, stats.connections_fasttracked_ip6), (1, 1));
    let active = handlers(router.snapshot(), &stats);
    let active: Vec<_> = active.iter().filter(|way| way.active).map(|way| way.name.as_str()).collect();
    assert_eq!(active, ["ipv4-flow-cache", "ipv6-fasttrack", "ipv6-flow-cache"]);
}
