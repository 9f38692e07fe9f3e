//! `rp-filter` by rules and marks.

use tollway_config::dataplane::{Matcher, RoutingAction, RoutingRule, RpFilter};
use tollway_engine::packet::verdict::DropReason;
use tollway_testkit::Counter;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::To;
use tollway_testkit::routing::{lookup, network, routing_rule};

use super::{TWO, base, mark, start, udp, way};

#[test]
fn the_reverse_path_is_that_of_the_rules() {
    let client = RoutingRule { destination: network("203.0.113.0/24"), ..routing_rule(lookup(1)) };
    let config = base().routing_rule(client).with(|config| config.settings.rp_filter = RpFilter::Strict);
    let mut router = start(config, 1);
    let answer = PacketBuilder::ipv4("203.0.113.9", "10.1.0.2").udp(53, 4_000);
    assert_eq!(way(&router.send(3, &answer)), Some(To::Port(0)));
    assert_eq!(way(&router.send(2, &answer)), None);
}

#[test]
fn the_reverse_path_may_be_that_of_the_packets_mark() {
    for workers in [1, 3] {
        let by = |port: u32| vec![Matcher::InInterface { interfaces: vec![port], negate: false }];
        let config = base()
            .mangle("prerouting", mark(by(4), 1))
            .mangle("prerouting", mark(by(1), 2))
            .routing_rule(RoutingRule { destination: network("10.1.0.0/24"), ..routing_rule(lookup(0)) })
            .with(|config| config.settings.rp_filter = RpFilter::Strict);
        let mut router = start(config, workers);
        let answer = PacketBuilder::ipv4("203.0.113.9", "10.1.0.2").udp(53, 4_000);
        // The mark of port 3 names the table whose way to the sender is by port 3; that of main is by port 2.
        assert_eq!(way(&router.send(3, &answer)), Some(To::Port(0)));
        let other = PacketBuilder::ipv4("203.0.113.10", "10.1.0.2").udp(53, 4_000);
        assert_eq!(way(&router.send(2, &other)), Some(To::Port(0)));
        let third = PacketBuilder::ipv4("203.0.113.11", "10.1.0.2").udp(53, 4_000);
        assert_eq!(way(&router.send(4, &third)), None, "neither the main table nor a mark");
        // The table of a host's mark has the way of an uplink alone; the host is found by the main table.
        assert_eq!(way(&router.send(0, &udp(2, "198.51.100.9", 0))), TWO);
        let spoofed = PacketBuilder::ipv4("203.0.113.9", "198.51.100.9").udp(7, 7);
        assert_eq!(way(&router.send(0, &spoofed)), None);
    }
}

#[test]
fn a_rule_that_refuses_the_way_back_is_no_reverse_path() {
    let back = RoutingRule { destination: network("203.0.113.0/24"), ..routing_rule(RoutingAction::Drop) };
    for filter in [RpFilter::Strict, RpFilter::Loose] {
        let config = base().routing_rule(back.clone()).with(|config| config.settings.rp_filter = filter);
        let mut router = start(config, 1);
        router.moved();
        let answer = PacketBuilder::ipv4("203.0.113.9", "10.1.0.2").udp(53, 4_000);
        assert_eq!(way(&router.send(2, &answer)), None);
        assert_eq!(router.moved()[&Counter::Drop(DropReason::ReversePath)], 1);
    }
}
