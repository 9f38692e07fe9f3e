//! Routing tables, the rules that choose between them, and routing marks.

mod reference;
mod reverse_path;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use tollway_config::dataplane::{
    Action, ArpMode, DataplaneConfig, Matcher, Route, RouteTarget, RoutingAction, RoutingRule, RoutingTable,
    TableNumber, TrackingMode,
};
use tollway_config::protocol::PacketDescription;
use tollway_engine::packet::frame::VnetState;
use tollway_engine::packet::slow_reason::SlowReason;
use tollway_engine::packet::verdict::DropReason;
use tollway_engine::snapshot::Snapshot;
use tollway_testkit::config::{RouterConfig, rule};
use tollway_testkit::packet::{PacketBuilder, arp_frame};
use tollway_testkit::random::Random;
use tollway_testkit::router::{Output, Router, To, port_facts};
use tollway_testkit::routing::{lookup, network, routing_rule, table_mark, table_row};
use tollway_testkit::{Counter, Ipv6Builder, seeds};
use tollway_wire::arp;

use reference::{DESTINATIONS, random_routes, random_rule, reference, six_routes, six_rule, six_text};

/// Clients on ports 0 and 1, gateways on ports 2 to 4: those of the main table, of table 1 and of table 2.
fn base() -> RouterConfig {
    let mut config = RouterConfig::new();
    for net in 1..=5 {
        config = config.interface(&format!("10.{net}.0.1/24")).address(net, &format!("2001:db8:{net}::1/64"));
    }
    for (table, net) in [(0, 3), (1, 4), (2, 5)] {
        if table != 0 {
            config = config.routing_table();
        }
        config = config.route_in(table, "0.0.0.0/0", &format!("10.{net}.0.2")).route_in(
            table,
            "::/0",
            &format!("2001:db8:{net}::2"),
        );
    }
    config
}

/// A router that knows its neighbours.
fn start(config: RouterConfig, workers: u32) -> Router {
    let wanted = config.config.clone();
    let without_rules = config.with(|config| {
        config.routing_rules.clear();
        config.mangle.clear();
        config.ipv6_mangle.clear();
    });
    let mut router = Router::with_workers(without_rules, workers);
    for port in 0..5 {
        let net = port + 1;
        router = router
            .hosts(port, &[&format!("10.{net}.0.2"), &format!("10.{net}.0.3")])
            .hosts6(port, &[&format!("2001:db8:{net}::2"), &format!("2001:db8:{net}::3")]);
    }
    router.advance_ms(1_100);
    for net in 1..=5 {
        for host in 2..=3 {
            let (own, other) = (format!("10.{net}.0.1"), format!("10.{net}.0.{host}"));
            router.send_local(&PacketBuilder::ipv4(&own, &other).udp(9, 9).build_l3());
            let (own, other) = (format!("2001:db8:{net}::1"), format!("2001:db8:{net}::{host}"));
            router.send_local(&Ipv6Builder::new(&own, &other).udp(9, 9).build_l3());
        }
    }
    router.advance_ms(1_000);
    router.reconfigure(|config| *config = wanted);
    router
}

fn mark(conditions: Vec<Matcher>, table: TableNumber) -> (Vec<Matcher>, Action, Option<String>) {
    (conditions, Action::MarkRouting { mark: table_mark(table), passthrough: true }, None)
}

fn udp(client: u8, dst: &str, flow: u16) -> PacketBuilder {
    PacketBuilder::ipv4(&format!("10.1.0.{client}"), dst).udp(4_000 + flow, 53)
}

fn udp6(client: u8, dst: &str, flow: u16) -> Ipv6Builder {
    Ipv6Builder::new(&format!("2001:db8:1::{client}"), dst).udp(4_000 + flow, 53)
}

/// Where a packet left that is not the router's own.
fn way(out: &[Output]) -> Option<To> {
    out.iter().find(|output| !output.own && output.arp().is_none()).map(|output| output.to)
}

/// Where a flow of each family leaves, which must be the same for both and for later packets.
fn ways(router: &mut Router, client: u8, flow: u16) -> Option<To> {
    let mut found = Vec::new();
    for _ in 0..3 {
        found.push(way(&router.send(0, &udp(client, "203.0.113.9", flow))));
        found.push(way(&router.send6(0, &udp6(client, "2001:db8:ffff::9", flow))));
    }
    // What waits for a neighbour leaves with the first answer.
    let last = *found.last().expect("a packet");
    assert_eq!(found[found.len() - 2], last, "both families");
    last
}

const MAIN: Option<To> = Some(To::Port(2));
const ONE: Option<To> = Some(To::Port(3));
const TWO: Option<To> = Some(To::Port(4));

#[test]
fn the_first_rule_whose_table_has_a_route_decides() {
    for workers in [1, 3] {
        let of = |rules: &[RoutingRule]| {
            let config = rules.iter().fold(base(), |config, rule| config.routing_rule(rule.clone()));
            start(config, workers)
        };
        let one = routing_rule(lookup(1));
        assert_eq!(ways(&mut of(&[]), 2, 0), MAIN);
        assert_eq!(ways(&mut of(&[one.clone(), routing_rule(lookup(2))]), 2, 0), ONE);
        // By source, of each family.
        let sources = ["10.1.0.3/32", "2001:db8:1::3/128"];
        let by_source = sources.map(|text| RoutingRule { source: network(text), ..one.clone() });
        let mut router = of(&by_source);
        assert_eq!((ways(&mut router, 2, 0), ways(&mut router, 3, 0)), (MAIN, ONE));
        // By destination.
        let destinations = ["203.0.113.0/24", "2001:db8:ffff::/48"];
        let mut router =
            of(&destinations.map(|text| RoutingRule { destination: network(text), ..one.clone() }));
        assert_eq!(ways(&mut router, 2, 0), ONE);
        assert_eq!(way(&router.send(0, &udp(2, "198.51.100.1", 0))), MAIN);
        // By interface.
        let mut router = of(&[RoutingRule { interface: Some(2), ..one.clone() }]);
        assert_eq!(ways(&mut router, 2, 0), MAIN);
        let other = PacketBuilder::ipv4("10.2.0.2", "203.0.113.9").udp(1, 2);
        assert_eq!(way(&router.send(1, &other)), ONE);
        // Own addresses and broadcasts stay the router's.
        let mut router = of(&[one]);
        let echo = PacketBuilder::ipv4("10.1.0.2", "10.5.0.1").echo_request(1, 1);
        let answer = router.send(0, &echo);
        assert!(
            answer.iter().any(|output| output.own && output.to == To::Port(3)),
            "by rule too: {answer:?}"
        );
    }
}

#[test]
fn a_table_without_a_route_leaves_it_to_the_following_rules_unless_the_rule_allows_no_other() {
    let without = |only| {
        // The router's own answers go by the main table.
        let action = RoutingAction::Lookup { table: 1, only, min_prefix: None };
        let rule = RoutingRule { interface: Some(1), ..routing_rule(action) };
        let mut router = start(base().routing_rule(rule), 1);
        assert_eq!(ways(&mut router, 2, 0), ONE);
        router.reconfigure(|config| config.routes.retain(|route| route.options.table != 1));
        router
    };
    assert_eq!(ways(&mut without(false), 2, 0), MAIN);
    let mut router = without(true);
    router.moved();
    let error = router.send(0, &udp(2, "203.0.113.9", 0));
    assert_eq!(way(&error), None);
    assert!(error.iter().any(|output| output.own), "network unreachable");
    assert_eq!(router.moved()[&Counter::Drop(DropReason::NoRoute)], 1);
}

#[test]
fn routes_up_to_the_length_of_min_prefix_are_passed_over() {
    let rules = |shortest| {
        let action = RoutingAction::Lookup { table: 0, only: false, min_prefix: Some(shortest) };
        base()
            .route("203.0.113.0/24", "10.2.0.2")
            .route("2001:db8:ffff::/48", "2001:db8:2::2")
            .routing_rule(routing_rule(action))
            .routing_rule(routing_rule(lookup(1)))
    };
    // Only the default route is passed over.
    let mut router = start(rules(0), 1);
    assert_eq!(ways(&mut router, 2, 0), Some(To::Port(1)));
    assert_eq!(way(&router.send(0, &udp(2, "198.51.100.1", 0))), ONE);
    let (mut router, mut longer) = (start(rules(23), 1), start(rules(24), 1));
    assert_eq!(way(&router.send(0, &udp(2, "203.0.113.9", 0))), Some(To::Port(1)));
    assert_eq!(way(&longer.send(0, &udp(2, "203.0.113.9", 0))), ONE);
    assert_eq!(way(&longer.send(0, &udp(2, "10.2.0.3", 0))), ONE, "a connected network of 24 bits");
}

#[test]
fn rules_drop_and_answer() {
    for (action, answers) in [(RoutingAction::Drop, false), (RoutingAction::Unreachable, true)] {
        let mut router = start(base().routing_rule(routing_rule(action)), 1);
        router.moved();
        let out = router.send(0, &udp(2, "203.0.113.9", 0));
        let out6 = router.send6(0, &udp6(2, "2001:db8:ffff::9", 0));
        assert_eq!((way(&out), way(&out6)), (None, None));
        assert_eq!(router.moved()[&Counter::Drop(DropReason::RoutingRule)], if answers { 4 } else { 2 });
        // The rule holds for the router's own answer too: nothing comes back.
        assert!(out.iter().chain(&out6).all(|output| !output.own), "{out:?}");
        let client = RoutingRule { source: network("10.1.0.0/24"), ..routing_rule(action) };
        let mut router = start(base().routing_rule(client), 1);
        let out = router.send(0, &udp(2, "203.0.113.9", 0));
        let error = out.iter().find(|output| output.own && output.arp().is_none());
        assert!(error.is_none() || answers);
    }
}

#[test]
fn a_routing_mark_names_a_table_and_falls_back_to_the_main_table() {
    for workers in [1, 3] {
        let config = base()
            .mangle("prerouting", mark(vec![Matcher::InInterface { interfaces: vec![1], negate: false }], 2))
            .ipv6_mangle(
                "prerouting",
                mark(vec![Matcher::InInterface { interfaces: vec![1], negate: false }], 2),
            );
        let mut router = start(config, workers);
        assert_eq!(ways(&mut router, 2, 0), TWO);
        let other = PacketBuilder::ipv4("10.2.0.2", "203.0.113.9").udp(1, 2);
        assert_eq!(way(&router.send(1, &other)), MAIN);
        router.reconfigure(|config| config.routes.retain(|route| route.options.table != 2));
        assert_eq!(ways(&mut router, 2, 0), MAIN);
        // A rule may ask for the mark, and it comes before the table of that name.
        router.reconfigure(|config| {
            let marked = RoutingRule { routing_mark: Some(table_mark(2)), ..routing_rule(lookup(1)) };
            config.routing_rules.push(RoutingRule { row: 850, ..marked });
        });
        assert_eq!(ways(&mut router, 2, 0), ONE);
        // The filter sees it.
        router.reconfigure(|config| {
            let marked = Matcher::RoutingMark { mark: table_mark(2), negate: false };
            config.filter =
                RouterConfig::new().filter("forward", rule().matcher(marked).drop()).config.filter;
        });
        assert_eq!(way(&router.send(0, &udp(2, "203.0.113.9", 7))), None);
    }
}

#[test]
fn packets_of_the_router_itself_are_routed_again_by_the_mark_that_output_sets() {
    let config = base().mangle("output", mark(Vec::new(), 1)).ipv6_mangle("output", mark(Vec::new(), 1));
    let mut router = start(config, 1);
    let own = PacketBuilder::ipv4("10.3.0.1", "203.0.113.9").udp(5_000, 53).build_l3();
    let own6 = Ipv6Builder::new("2001:db8:3::1", "2001:db8:ffff::9").udp(5_000, 53).build_l3();
    for packet in [own, own6] {
        router.send_local(&packet);
        let out = router.send_local(&packet);
        assert_eq!(out.iter().find(|output| output.arp().is_none()).map(|output| output.to), ONE);
    }
    let own = PacketBuilder::ipv4("10.3.0.1", "10.3.0.1").udp(5_000, 53).build_l3();
    assert!(router.send_local(&own).iter().all(|output| matches!(output.to, To::Local(_))));
}

#[test]
fn a_change_of_a_table_concerns_the_flows_that_it_routes_alone() {
    let clients = [(2, 1), (3, 2)];
    let config =
        clients.iter().fold(base().filter("forward", rule().passthrough()), |config, (client, table)| {
            let source = network(&format!("10.1.0.{client}"));
            config.routing_rule(RoutingRule { source, ..routing_rule(lookup(*table)) })
        });
    let mut router = start(config.route_in(1, "198.51.100.0/24", "10.4.0.2"), 1);
    let flows = |router: &mut Router, client: u8| {
        for flow in 0..50 {
            router.send(0, &udp(client, "203.0.113.9", flow));
        }
    };
    let stale = |router: &Router| router.slow().get(&SlowReason::Stale).copied().unwrap_or(0);
    for client in [2, 3, 2, 3] {
        flows(&mut router, client);
    }
    let before = stale(&router);
    router.reconfigure(|config| {
        let of_one = config.routes.iter_mut().filter(|route| route.options.table == 1);
        of_one.for_each(|route| {
            let gateway: IpAddr =
                if route.destination.is_ipv4() { "10.4.0.3" } else { "2001:db8:4::3" }.parse().unwrap();
            route.target = RouteTarget::Gateway { address: gateway, interface: None };
        });
    });
    // Flows of the other table, and of the main table, stay in the cache.
    flows(&mut router, 3);
    assert_eq!(stale(&router), before);
    flows(&mut router, 2);
    assert_eq!(stale(&router), before + 50);
    // A route that comes to the main table concerns none of them.
    flows(&mut router, 2);
    let before = stale(&router);
    router.reconfigure(|config| {
        let mut route = config.routes[0].clone();
        (route.row, route.prefix_len) = (990, 24);
        route.destination = "203.0.113.0".parse().unwrap();
        config.routes.push(route);
    });
    flows(&mut router, 2);
    flows(&mut router, 3);
    assert_eq!(stale(&router), before);
}

#[test]
fn gateways_are_found_in_the_table_that_is_named() {
    // Table 1 has the way to 192.0.2.0/24 by port 3; the main table has one by port 2.
    let config = base()
        .route_in(1, "192.0.2.0/24", "10.4.0.2")
        .route_in(0, "192.0.2.0/24", "10.3.0.2")
        .route_in(2, "100.64.0.0/10", "192.0.2.1")
        .routing_rule(routing_rule(lookup(2)))
        .with(|config| {
            let lead = |route: &mut Route| route.options.scope = 10;
            config.routes.iter_mut().filter(|route| route.prefix_len == 24).for_each(lead);
        });
    let mut router = start(config, 1);
    assert_eq!(way(&router.send(0, &udp(2, "100.64.0.1", 0))), MAIN, "table 2 sees the main table");
    router.reconfigure(|config| {
        let route = config.routes.iter_mut().find(|route| route.prefix_len == 10).unwrap();
        let gateway = tollway_config::dataplane::Gateway {
            address: "192.0.2.1".parse().ok(),
            interface: None,
            table: Some(1),
        };
        route.target = RouteTarget::Gateways { gateways: vec![gateway] };
    });
    assert_eq!(way(&router.send(0, &udp(2, "100.64.0.1", 0))), ONE);
}

#[test]
fn without_tracking_rules_hold_for_each_packet() {
    let config = base()
        .routing_rule(routing_rule(lookup(1)))
        .with(|config| config.tracking.enabled = TrackingMode::No);
    let mut router = start(config, 1);
    assert_eq!(ways(&mut router, 2, 0), ONE);
    assert!(!router.snapshot().tracking());
    let mut auto = start(base().routing_rule(routing_rule(lookup(1))), 1);
    assert_eq!(ways(&mut auto, 2, 0), ONE);
    assert!(auto.snapshot().tracking(), "the flow cache remembers what the rules decide");
    let plain = start(base(), 1);
    assert!(!plain.snapshot().tracking(), "tables alone change nothing");
}

#[test]
fn a_dry_run_names_rule_table_and_route() {
    let router = start(base().routing_rule(routing_rule(lookup(1))), 1);
    let packet = PacketDescription {
        in_interface: Some(1),
        protocol: 17,
        src_address: "10.1.0.2".parse().unwrap(),
        dst_address: "203.0.113.9".parse().unwrap(),
        src_port: 4_000,
        dst_port: 53,
        icmp_type: 8,
        icmp_code: 0,
        tcp_flags: 0,
        length: 100,
        ttl: 64,
    };
    let traced = router.dry_run(&packet).expect("a path");
    let step = traced.steps.iter().find(|step| step.stage == "route").expect("the stage");
    let route = router.config().routes.iter().find(|route| route.options.table == 1).expect("a route").row;
    assert_eq!(step.rows, [800, table_row(1), route]);
}

/// [`base`] with addresses, routes and marks of IPv6 as those of IPv4 are: packets of client 3 have the mark of table 2.
fn twin_base() -> RouterConfig {
    let mut config = base();
    for net in 1..=5 {
        config = config.address(net, &format!("{}/120", six_text(&format!("10.{net}.0.1"))));
    }
    let of_client = |address: &str| mark(rule().src(address).passthrough().0, 2);
    config
        .mangle("prerouting", of_client("10.1.0.3"))
        .ipv6_mangle("prerouting", of_client(&six_text("10.1.0.3")))
        .with(six_routes)
}

fn twin_hosts(mut router: Router) -> Router {
    for port in 0..5 {
        let host = |last: u8| six_text(&format!("10.{}.0.{last}", port + 1));
        router = router.hosts6(port, &[&host(2), &host(3)]);
    }
    router.advance_ms(1_100);
    for port in 0..5 {
        let [own, two, three] = [1, 2, 3].map(|last| six_text(&format!("10.{}.0.{last}", port + 1)));
        for other in [two, three] {
            router.send_local(&Ipv6Builder::new(&own, &other).udp(9, 9).build_l3());
        }
    }
    router.advance_ms(1_000);
    router
}

#[test]
fn the_flow_cache_sends_packets_where_rules_marks_and_tables_say() {
    for seed in seeds(12) {
        let random = &mut Random::new(seed);
        let slow = || twin_base().fast_path(false);
        let mut routers = [start(twin_base(), 1), start(twin_base(), 3), start(slow(), 1)].map(twin_hosts);
        let mut fast = [0; 2];
        for _ in 0..12 {
            let (rules, seed, keeps) = (random.below(5) as u32, random.bits(), random.one_in(2));
            for router in &mut routers {
                router.reconfigure(|config| {
                    let random = &mut Random::new(seed);
                    if !keeps {
                        let rules = (0..rules).map(|at| random_rule(random, 800 + at));
                        config.routing_rules =
                            rules.flat_map(|rule| [Some(rule.clone()), six_rule(&rule)]).flatten().collect();
                    }
                    random_routes(random, config);
                    six_routes(config);
                });
            }
            for _ in 0..60 {
                let port = random.below(2) as u16;
                let client = 2 + random.below(2) as u8;
                let dst = DESTINATIONS[random.below(4) as usize];
                let flow = random.below(4) as u16 + 1;
                if (port, dst) == (1, DESTINATIONS[3]) {
                    continue;
                }
                let src = format!("10.{}.0.{client}", port + 1);
                let mark = if (port, client) == (0, 3) { table_mark(2) } else { 0 };
                let bits = |text: &str| text.parse::<Ipv4Addr>().expect("an address").to_bits();
                let wanted =
                    reference(routers[0].config(), (bits(&src), bits(dst)), mark, u32::from(port) + 1);
                for (at, router) in routers.iter_mut().enumerate() {
                    let four = router.send(port, &PacketBuilder::ipv4(&src, dst).udp(flow, 53));
                    let six = Ipv6Builder::new(&six_text(&src), &six_text(dst)).udp(flow, 53);
                    let six = router.send6(port, &six);
                    for (family, out) in [four, six].iter().enumerate() {
                        fast[family] += usize::from(at == 0 && out.iter().any(|output| output.fast));
                        let rules = &router.config().routing_rules;
                        let what = format!("seed {seed}, router {at}, family {family}, {src} to {dst}");
                        assert_eq!(way(out), wanted, "{what}: {rules:?}");
                    }
                }
            }
        }
        assert!(fast.iter().all(|fast| *fast > 50), "seed {seed}: {fast:?}");
    }
}

#[test]
fn numbers_of_tables_may_change_while_flows_go_on() {
    let third = RoutingRule { source: network("10.1.0.3"), ..routing_rule(lookup(2)) };
    let mut router = start(base().routing_rule(third).filter("forward", rule().passthrough()), 3);
    let mut seen = BTreeMap::new();
    for _ in 0..3 {
        seen.insert(way(&router.send(0, &udp(3, "203.0.113.9", 1))), ());
    }
    router.reconfigure(|config| {
        config.routing_tables.remove(0);
        config.routes.retain(|route| route.options.table != 1);
        config
            .routes
            .iter_mut()
            .filter(|route| route.options.table == 2)
            .for_each(|route| route.options.table = 1);
        config.routing_rules[0].action = lookup(1);
    });
    for _ in 0..3 {
        seen.insert(way(&router.send(0, &udp(3, "203.0.113.9", 1))), ());
    }
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), [TWO]);
}

#[test]
fn what_does_not_fit_is_refused_by_its_row() {
    let error = |change: &dyn Fn(&mut DataplaneConfig)| {
        let mut config = base().routing_rule(routing_rule(lookup(1))).config;
        change(&mut config);
        let error = Snapshot::build(&config, &port_facts(5), 1, 1).expect_err("an impossible configuration");
        (error.row, error.message)
    };
    let of_rule = |change: &dyn Fn(&mut RoutingRule)| error(&|config| change(&mut config.routing_rules[0]));
    let (row, message) = of_rule(&|rule| rule.action = lookup(3));
    assert_eq!((row, message.as_str()), (Some(800), "table: there is no table of number 3"));
    assert_eq!(of_rule(&|rule| rule.interface = Some(77)).0, Some(800));
    let mixed = of_rule(&|rule| (rule.source, rule.destination) = (network("10.0.0.0/8"), network("::/0")));
    assert!(mixed.1.contains("different families"), "{mixed:?}");
    assert_eq!(of_rule(&|rule| rule.source = network("10.0.0.0/33")).0, Some(800));
    let (row, message) = error(&|config| config.routes[0].options.table = 3);
    assert_eq!(row, Some(200));
    assert!(message.contains("routing-table"), "{message}");
    let (row, message) = error(&|config| {
        let table = config.routing_tables[0].clone();
        config.routing_tables =
            (0..4_097).map(|at| RoutingTable { row: 10_000 + at, ..table.clone() }).collect();
    });
    assert_eq!((row, message.as_str()), (Some(14_096), "at most 4096 routing tables are possible"));
}

#[test]
fn many_tables_that_are_not_used_cost_no_memory() {
    let config = base().with(|config| {
        let table = config.routing_tables[0].clone();
        let more =
            (0..4_000).map(|at| RoutingTable { row: 10_000 + at, mark: 100_000 + at, ..table.clone() });
        config.routing_tables.extend(more);
    });
    let snapshot = Snapshot::build(&config.config, &port_facts(5), 1, 1).expect("a possible configuration");
    assert_eq!(snapshot.tables().iter().map(|(number, _)| number).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn no_packet_is_lost_as_a_mark_moves_masqueraded_connections() {
    for (workers, marked) in [(1, false), (3, false), (1, true), (3, true)] {
        let uplinks = || vec![Matcher::OutInterface { interfaces: vec![3, 4, 5], negate: false }];
        let masquerade = || (uplinks(), rule().masquerade().1, None);
        let by = |table| mark(vec![Matcher::InInterface { interfaces: vec![1], negate: false }], table);
        let config = base()
            .nat("srcnat", masquerade())
            .ipv6_nat("srcnat", masquerade())
            .mangle("prerouting", by(1))
            .ipv6_mangle("prerouting", by(1));
        let mut router = start(config, workers);
        let all = |router: &mut Router, expected: Option<To>, net: u8| {
            for flow in 0..20 {
                for round in 0..3 {
                    let mut out = router.send(0, &udp(2, "203.0.113.9", flow));
                    out.extend(router.advance_ms(1));
                    let sent = out.iter().find(|output| !output.own && output.arp().is_none());
                    let sent = sent.unwrap_or_else(|| panic!("flow {flow}, round {round}: lost"));
                    assert_eq!(Some(sent.to), expected);
                    assert_eq!(sent.packet().src.to_string(), format!("10.{net}.0.1"));
                    let mut out = router.send6(0, &udp6(2, "2001:db8:ffff::9", flow));
                    out.extend(router.advance_ms(1));
                    let sent = out.iter().find(|output| !output.own && output.arp().is_none());
                    let sent = sent.unwrap_or_else(|| panic!("IPv6, flow {flow}, round {round}: lost"));
                    assert_eq!(Some(sent.to), expected);
                    assert_eq!(sent.ipv6().src.to_string(), format!("2001:db8:{net}::1"));
                }
            }
        };
        all(&mut router, ONE, 4);
        // A rule gives another mark, or the table of the mark another gateway.
        router.reconfigure(|config| match marked {
            true => {
                let to = |config: &mut Vec<tollway_config::dataplane::Chain>| {
                    for rule in config.iter_mut().flat_map(|chain| &mut chain.rules) {
                        rule.action = Action::MarkRouting { mark: table_mark(2), passthrough: true };
                    }
                };
                to(&mut config.mangle);
                to(&mut config.ipv6_mangle);
            }
            false => config.routes.iter_mut().filter(|route| route.options.table == 1).for_each(|route| {
                let gateway = if route.destination.is_ipv4() { "10.5.0.2" } else { "2001:db8:5::2" };
                let address = gateway.parse().expect("an address");
                route.target = RouteTarget::Gateway { address, interface: None };
            }),
        });
        router.moved();
        all(&mut router, TWO, 5);
        assert_eq!(router.moved().get(&Counter::Drop(DropReason::ConnectionGone)), None);
        // Each flow has one connection, with the address of its uplink.
        let flows = router.connections().iter().filter(|each| each.endpoints[1].1 == 53).count();
        assert_eq!(flows, 40);
    }
}

/// Packets of the router itself, masqueraded on each uplink, as rules of mangle's output begin to lead them elsewhere, lead
/// them on, and end.
#[test]
fn no_packet_of_the_router_is_lost_as_a_mark_moves_it() {
    let uplinks = || vec![Matcher::OutInterface { interfaces: vec![3, 4, 5], negate: false }];
    let masquerade = || (uplinks(), rule().masquerade().1, None);
    for named in [false, true] {
        let config = base().nat("srcnat", masquerade()).ipv6_nat("srcnat", masquerade());
        // With another rule in the chain, and without any.
        let config = match named {
            true => config.mangle("output", rule().passthrough()).ipv6_mangle("output", rule().passthrough()),
            false => config,
        };
        let mut router = start(config, 1);
        let plain = router.config().clone();
        let moved = |config: &mut DataplaneConfig, table| {
            let marked = base()
                .mangle("output", mark(Vec::new(), table))
                .ipv6_mangle("output", mark(Vec::new(), table));
            (config.mangle, config.ipv6_mangle) = (marked.config.mangle, marked.config.ipv6_mangle);
        };
        for (step, (table, expected, net)) in
            [(0, MAIN, 3), (1, ONE, 4), (2, TWO, 5), (0, MAIN, 3)].into_iter().enumerate()
        {
            router.reconfigure(|config| {
                *config = plain.clone();
                if table != 0 {
                    moved(config, table);
                }
            });
            router.moved();
            let ports: Vec<(u16, u16)> = (0..4)
                .map(|round| {
                    let own = PacketBuilder::ipv4("10.1.0.1", "203.0.113.9").udp(5_000, 53).build_l3();
                    let own6 =
                        Ipv6Builder::new("2001:db8:1::1", "2001:db8:ffff::9").udp(5_000, 53).build_l3();
                    let case = format!("step {step}, round {round}, a rule {named}");
                    let [sent, sent6] = [own, own6].map(|packet| {
                        let mut out = router.send_local(&packet);
                        out.extend(router.advance_ms(1));
                        let sent = out
                            .into_iter()
                            .find(|output| output.arp().is_none() && Some(output.to) == expected);
                        sent.unwrap_or_else(|| panic!("{case}: lost, {:?}", router.moved()))
                    });
                    assert_eq!(sent.packet().src.to_string(), format!("10.{net}.0.1"), "{case}");
                    assert_eq!(sent6.ipv6().src.to_string(), format!("2001:db8:{net}::1"), "{case}");
                    (sent.packet().ports.0, sent6.ipv6().ports.0)
                })
                .collect();
            assert!(ports.iter().all(|pair| *pair == ports[0]), "one connection each: {ports:?}");
            assert_eq!(router.moved().get(&Counter::Drop(DropReason::ConnectionGone)), None);
            let flows = router.connections().iter().filter(|each| each.endpoints[1].1 == 53).count();
            assert_eq!(flows, 2, "step {step}");
        }
    }
}

#[test]
fn proxy_arp_goes_by_the_rules_of_who_asks() {
    let only = RoutingAction::Lookup { table: 1, only: true, min_prefix: None };
    let rule = RoutingRule { source: network("10.1.0.2/32"), ..routing_rule(only) };
    let config = base().routing_rule(rule).with(|config| {
        config.interfaces[0].arp = ArpMode::ProxyArp;
        config.routes.retain(|route| route.options.table != 1);
    });
    let mut router = start(config, 1);
    let answers = |router: &mut Router, client: u8| {
        let request = arp::Repr {
            operation: arp::REQUEST,
            sender_mac: [2, 1, 10, 1, 0, client],
            sender_addr: u32::from_be_bytes([10, 1, 0, client]),
            target_mac: [0; 6],
            target_addr: u32::from_be_bytes([203, 0, 113, 9]),
        };
        router.inject(0, arp_frame([0xff; 6], request), VnetState::default()).len()
    };
    assert_eq!((answers(&mut router, 2), answers(&mut router, 3)), (0, 1));
}
