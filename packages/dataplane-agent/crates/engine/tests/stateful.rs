//! Rules that count for all workers together, and lists that change while flows are cached.

use tollway_config::dataplane::{Action, LimitUnit, Matcher};
use tollway_engine::firewall::address_set::MAX_DYNAMIC;
use tollway_engine::packet::frame::VnetState;
use tollway_engine::packet::tuple::Addr;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::port_mac;
use tollway_testkit::{Output, Router, RouterConfig, rule};

const SERVER: &str = "203.0.113.5";

fn base() -> RouterConfig {
    RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .address_list("list", &[])
}

fn packet(port: u16) -> PacketBuilder {
    PacketBuilder::ipv4("192.168.88.10", SERVER).udp(port, 53).payload_len(100).eth_dst(port_mac(0))
}

fn started(config: RouterConfig, workers: u32) -> Router {
    let mut router =
        Router::with_workers(config, workers).hosts(0, &["192.168.88.10"]).hosts(1, &["10.2.0.254"]);
    // The next hop is known from here on.
    router.send(0, &PacketBuilder::ipv4("192.168.88.10", SERVER).echo_request(1, 1));
    router
}

#[test]
fn nth_random_and_limit_match_as_often_with_any_number_of_workers() {
    let limit = Matcher::Limit { rate: 50, per_ms: 1000, burst: 20, unit: LimitUnit::Packet, negate: false };
    let udp = || rule().protocol(17);
    let config = || {
        base()
            .filter(
                "forward",
                udp().matcher(Matcher::Nth { every: 3, packet: 2, negate: false }).passthrough(),
            )
            .filter("forward", udp().matcher(Matcher::Random { percent: 30 }).passthrough())
            .filter("forward", udp().matcher(limit.clone()).passthrough())
    };
    let totals = |workers: u32| {
        let mut router = started(config(), workers);
        for turn in 0..20 {
            for receiver in 0..workers as usize {
                let share = 96 / workers as u16;
                let from = receiver as u16 * share;
                let frames = (from..from + share)
                    .map(|flow| (0, packet(4000 + flow).build(), VnetState::default()))
                    .collect();
                router.inject_batch(receiver, frames);
            }
            router.advance_ms(if turn % 5 == 0 { 300 } else { 7 });
        }
        let rows: Vec<_> =
            router.config().filter[0].rules.iter().map(|rule| router.rule(rule.row).0).collect();
        rows
    };
    let one = totals(1);
    assert_eq!(one[0], 20 * 96 / 3);
    assert!((450..700).contains(&one[1]), "{one:?}");
    assert!((40..130).contains(&one[2]), "{one:?}");
    for workers in [2, 4, 8] {
        assert_eq!(totals(workers), one, "{workers} workers");
    }
}

fn is_fast(out: &[Output]) -> bool {
    assert_eq!(out.len(), 1);
    out[0].fast
}

#[test]
fn an_entry_lives_as_long_as_packets_come_and_nearly_all_of_them_are_forwarded_from_the_cache() {
    let add = Action::AddSrcToAddressList { list: 0, timeout_ms: 8000 };
    let mut router = started(base().filter("forward", rule().protocol(17).then(add)), 1);
    let entries = |router: &Router| router.shared().address_sets.dynamic();
    let mut fast = 0;
    for _ in 0..200 {
        fast += u32::from(is_fast(&router.send(0, &packet(4000))));
        assert_eq!(entries(&router), 1);
        router.advance_ms(100);
    }
    assert!(fast >= 170, "{fast}");
    // The life began at most a second before the last packet.
    router.advance_ms(6800);
    assert_eq!(entries(&router), 1);
    router.advance_ms(1300);
    assert_eq!(entries(&router), 0);
    router.send(0, &packet(4000));
    assert_eq!(entries(&router), 1);
}

#[test]
fn an_address_that_finds_no_room_in_a_list_is_not_in_it_for_the_rules_that_follow() {
    let add = Action::AddSrcToAddressList { list: 0, timeout_ms: 8000 };
    let listed = Matcher::SrcAddressList { list: 0, negate: false };
    let config = base()
        .filter("forward", rule().protocol(17).then(add))
        .filter("forward", rule().protocol(17).matcher(listed).drop());
    let mut router = started(config, 1);
    assert!(router.send(0, &packet(4000)).is_empty());
    router.advance_ms(9000);
    let now = router.now();
    let shared = router.shared();
    for address in 1..=MAX_DYNAMIC as u32 {
        shared.address_sets.add_to("list", Addr::v4(address), 32, 60_000, now, &shared.change_counters);
    }
    assert!(shared.address_sets.is_full());
    assert_eq!(router.send(0, &packet(4001)).len(), 1);
    let shared = router.shared();
    assert!(shared.address_sets.remove_from("list", Addr::v4(1), 32, &shared.change_counters));
    assert!(router.send(0, &packet(4002)).is_empty());
}

#[test]
fn cached_flows_follow_changes_of_the_lists_that_they_rest_on() {
    let listed = Matcher::DstAddressList { list: 0, negate: false };
    let mut router = started(base().filter("forward", rule().matcher(listed).drop()), 1);
    router.send(0, &packet(4000));
    assert!(is_fast(&router.send(0, &packet(4000))));
    let server = std::net::IpAddr::from([203, 0, 113, 5]);
    let (now, network) = (router.now(), std::net::IpAddr::from([203, 0, 113, 0]));
    for (address, len) in [(server, 32), (network, 24)] {
        let shared = router.shared();
        shared.address_sets.add_to("list", address.into(), len, 1000, now, &shared.change_counters);
        assert!(router.send(0, &packet(4000)).is_empty());
        let shared = router.shared();
        assert!(shared.address_sets.remove_from("list", address.into(), len, &shared.change_counters));
        assert!(!is_fast(&router.send(0, &packet(4000))));
        assert!(is_fast(&router.send(0, &packet(4000))));
    }
    // The configuration's own entries come and go without a new set of rules; those of others stay.
    let shared = router.shared();
    shared.address_sets.add_to(
        "list",
        std::net::IpAddr::from([198, 51, 100, 1]).into(),
        32,
        0,
        now,
        &shared.change_counters,
    );
    let range = tollway_config::dataplane::AddressRange { from: server, to: server };
    router.reconfigure(|config| config.address_lists[0].entries = vec![range]);
    assert!(router.send(0, &packet(4000)).is_empty());
    router.reconfigure(|config| config.address_lists[0].entries.clear());
    assert_eq!(router.send(0, &packet(4000)).len(), 1);
    assert_eq!(router.shared().address_sets.dynamic(), 1);
}
