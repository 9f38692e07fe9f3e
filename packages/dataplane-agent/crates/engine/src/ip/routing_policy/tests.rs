//! Decisions of both families by the same rules.

use tollway_config::dataplane::RoutingAction::{Drop, Lookup, Unreachable};
use tollway_testkit::routing::{routing_rule, table_mark};

use super::*;
use crate::ids::NO_INTERFACE;
use crate::ip::fib::tables_for_tests::{Built, address, build, config};
use crate::packet::family::Family;

const ONE: RoutingAction = Lookup { table: 1, only: false, min_prefix: None };
const MAIN: RoutingAction = Lookup { table: 0, only: false, min_prefix: None };

/// Rules and the tables that they choose between.
struct Scene<A: Address> {
    policy: RoutingPolicy<A>,
    built: Built<A>,
}

fn policy<A: Address>(config: &DataplaneConfig) -> Result<Option<RoutingPolicy<A>>, BuildError> {
    RoutingPolicy::build(config, &config.mangle, &InterfaceMap::new(&config.interfaces).unwrap())
}

impl<A: Address> Scene<A> {
    fn new(rules: Vec<RoutingRule>) -> Self {
        let mut config = config();
        config.routing_rules = (800..).zip(rules).map(|(row, rule)| RoutingRule { row, ..rule }).collect();
        Self { policy: policy(&config).unwrap().unwrap(), built: build(&config, None).unwrap() }
    }

    fn tables(&self) -> RoutingTables<'_, A> {
        RoutingTables { main: &self.built.main, others: &self.built.others }
    }

    fn decide(&self, query: RoutingQuery<A>) -> Decision<A> {
        self.policy.decide(self.tables(), &query, || 0)
    }

    /// Table and row of the decision about a packet.
    fn led(&self, query: RoutingQuery<A>) -> (TableNumber, RowId) {
        let Decision { table, rule, .. } = self.decide(query);
        (table, rule)
    }
}

/// A packet from interface 0 to an address that table 1 has a route to.
fn query<A: Address>() -> RoutingQuery<A> {
    let (source, destination) = (address("10.1.0.9"), address("203.0.113.9"));
    RoutingQuery { zone: 0, source, destination, mark: 0, interface: 0 }
}

/// A network of the family.
fn network<A: Address>(text: &str, len: u8) -> Option<ConfiguredPrefix> {
    let address = address::<A>(text).addr().into();
    let prefix_len = len + if Family::of(address) == Family::V6 { 96 } else { 0 };
    Some(ConfiguredPrefix { address, prefix_len })
}

fn first_with_a_route<A: Address>() {
    let from = |rule: RoutingRule| RoutingRule { source: network::<A>("10.1.0.0", 24), ..rule };
    let scene = Scene::<A>::new(vec![from(routing_rule(ONE)), routing_rule(MAIN)]);
    assert_eq!(scene.led(query()), (1, 800));
    let other = RoutingQuery { source: address("10.1.1.9"), ..query() };
    assert_eq!(scene.led(other), (0, 801));
    // Table 1 has no route there.
    let destination = address("198.51.100.9");
    assert_eq!(scene.led(RoutingQuery { destination, ..query() }), (0, 801));
    let only = Lookup { table: 1, only: true, min_prefix: None };
    let scene = Scene::<A>::new(vec![routing_rule(only)]);
    let none = scene.decide(RoutingQuery { destination, ..query() });
    assert_eq!((none.lookup, none.table, none.rule, none.refused), (RouteLookup::NoRoute, 1, 800, None));
    // Table 3 has not been made.
    let empty = Lookup { table: 3, only: false, min_prefix: None };
    assert_eq!(Scene::<A>::new(vec![routing_rule(empty)]).led(query()), (0, 0));
}

#[test]
fn the_first_rule_whose_table_has_a_route_decides() {
    first_with_a_route::<u32>();
    first_with_a_route::<u128>();
}

fn conditions<A: Address>() {
    let none = routing_rule(ONE);
    let rules = [
        RoutingRule { destination: network::<A>("203.0.113.0", 24), ..none.clone() },
        RoutingRule { source: network::<A>("10.1.0.9", 32), ..none.clone() },
        RoutingRule { interface: Some(1), ..none.clone() },
        RoutingRule { routing_mark: Some(5), ..none },
    ];
    let matching = RoutingQuery { mark: 5, ..query() };
    let others = [
        RoutingQuery { destination: address("203.0.114.9"), ..matching },
        RoutingQuery { source: address("10.1.0.8"), ..matching },
        RoutingQuery { interface: NO_INTERFACE, ..matching },
        RoutingQuery { mark: 6, ..matching },
    ];
    for (rule, other) in rules.into_iter().zip(others) {
        let scene = Scene::<A>::new(vec![rule.clone()]);
        assert_eq!(scene.led(matching), (1, 800), "{rule:?}");
        assert_eq!(scene.led(other), (0, 0), "{rule:?}");
    }
}

#[test]
fn each_condition_of_a_rule_excludes_packets() {
    conditions::<u32>();
    conditions::<u128>();
}

fn refusals<A: Address>() {
    for (action, refusal) in [(Drop, RuleRefusal::Drop), (Unreachable, RuleRefusal::Unreachable)] {
        let scene = Scene::<A>::new(vec![routing_rule(action), routing_rule(MAIN)]);
        let refused = scene.decide(query());
        assert_eq!((refused.refused, refused.rule), (Some(refusal), 800));
        assert_eq!(refused.lookup, RouteLookup::NoRoute);
        // What is for the router itself meets no rule.
        let own = scene.decide(RoutingQuery { destination: address("10.2.0.1"), ..query() });
        assert_eq!((own.lookup, own.rule), (RouteLookup::Local { interface: 1 }, 0));
    }
}

#[test]
fn rules_refuse_packets_but_none_for_the_router() {
    refusals::<u32>();
    refusals::<u128>();
}

fn marks<A: Address>() {
    let min = if A::BITS == 32 { 24 } else { 120 };
    let passed_over = Lookup { table: 1, only: false, min_prefix: Some(min) };
    let scene = Scene::<A>::new(vec![routing_rule(passed_over)]);
    assert_eq!(scene.led(query()), (0, 0), "the route is not longer");
    let marked = RoutingQuery { mark: table_mark(1), ..query() };
    assert_eq!(scene.led(marked), (1, 0), "the mark decides behind the rules");
    let unknown = RoutingQuery { mark: table_mark(9), ..query() };
    assert_eq!(scene.led(unknown), (0, 0));
    let shorter = Lookup { table: 1, only: false, min_prefix: Some(min - 1) };
    assert_eq!(Scene::<A>::new(vec![routing_rule(shorter)]).led(query()), (1, 800));
}

#[test]
fn short_routes_are_passed_over_and_a_mark_names_a_table() {
    marks::<u32>();
    marks::<u128>();
}

fn zones<A: Address>() {
    let of_vrf = RoutingRule { interface: Some(3), ..routing_rule(ONE) };
    let scene = Scene::<A>::new(vec![of_vrf, routing_rule(Drop)]);
    let in_vrf = RoutingQuery { zone: 7, interface: 2, ..query() };
    assert_eq!(scene.led(in_vrf), (1, 800));
    // The rule without an interface is for the packets of no VRF; the table of the VRF comes last.
    let elsewhere = RoutingQuery { destination: address("198.51.100.9"), ..in_vrf };
    let decision = scene.decide(elsewhere);
    let gateway = address("10.1.0.254");
    assert_eq!(decision.lookup, RouteLookup::Via { interface: 2, gateway });
    assert_eq!((decision.table, decision.rule), (2, 0));
    assert_eq!(scene.decide(query()).refused, Some(RuleRefusal::Drop));
}

#[test]
fn rules_are_for_the_packets_of_their_zone() {
    zones::<u32>();
    zones::<u128>();
}

fn asks_no_more_than_it_needs<A: Address>() {
    let scene = Scene::<A>::new(vec![routing_rule(ONE)]);
    let main_changed =
        |query: RoutingQuery<A>| scene.policy.changed_since(scene.tables(), &query, 0, || true);
    assert!(!main_changed(query()), "table 1 decides");
    assert!(main_changed(RoutingQuery { destination: address("198.51.100.9"), ..query() }));
    assert!(main_changed(RoutingQuery { destination: address("10.2.0.1"), ..query() }), "own addresses");
    let of_vrf = RoutingQuery { zone: 7, destination: address("198.51.100.9"), ..query() };
    assert!(!main_changed(of_vrf), "the VRF's table decides");
    let unchanged = scene.policy.changed_since(
        scene.tables(),
        &RoutingQuery { destination: address("198.51.100.9"), ..query() },
        0,
        || false,
    );
    assert!(!unchanged);
}

#[test]
fn a_decision_depends_on_the_tables_that_it_was_looked_up_in() {
    asks_no_more_than_it_needs::<u32>();
    asks_no_more_than_it_needs::<u128>();
}

#[test]
fn without_rules_marks_and_vrfs_there_is_no_policy() {
    let mut config = config();
    assert!(policy::<u32>(&config).unwrap().is_some(), "a VRF");
    config.routing_tables.retain(|table| table.zone == 0);
    assert_eq!(policy::<u32>(&config).unwrap(), None);
    // A rule of one family is none of the other.
    config.routing_rules = vec![RoutingRule { source: network::<u32>("10.1.0.0", 24), ..routing_rule(ONE) }];
    assert!(policy::<u32>(&config).unwrap().is_some_and(|policy| !policy.has_marks()));
    assert_eq!(policy::<u128>(&config).unwrap(), None);
    config.routing_rules.clear();
    let mark = Action::MarkRouting { mark: table_mark(1), passthrough: true };
    let rule = tollway_config::dataplane::Rule { row: 1, matchers: Vec::new(), action: mark, log: None };
    config.mangle = vec![Chain { name: "prerouting".into(), rules: vec![rule] }];
    assert!(policy::<u32>(&config).unwrap().is_some_and(|policy| policy.has_marks()));
    config.routing_tables.clear();
    assert_eq!(policy::<u32>(&config).unwrap(), None, "a mark that leads to no table");
}
