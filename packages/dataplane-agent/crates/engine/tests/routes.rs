//! Routes that change under traffic: configured ones by commits, others by other programs.

use std::net::Ipv4Addr;
use std::sync::Arc;

use tollway_config::dataplane::{Route, RouteTarget, RowId};
use tollway_config::protocol::TraceFilter;
use tollway_engine::ip::fib::{Discard, DynamicRoute, DynamicTarget, RouteChange};
use tollway_engine::snapshot::{Basis, PortFacts, Snapshot, SnapshotPart};
use tollway_testkit::config::{RouterConfig, prefix, rule};
use tollway_testkit::packet::{PacketBuilder, ip};
use tollway_testkit::router::{Output, Router, To, port_mac};

/// 10.1.0.1/24 on port 0, 10.2.0.1/24 on port 1, 10.3.0.1/24 on port 2.
fn base() -> RouterConfig {
    RouterConfig::new().interface("10.1.0.1/24").interface("10.2.0.1/24").interface("10.3.0.1/24")
}

fn start(config: RouterConfig) -> Router {
    Router::new(config).hosts(0, &["10.1.0.2"]).hosts(1, &["10.2.0.2", "10.2.0.3"]).hosts(2, &["10.3.0.2"])
}

fn route(row: RowId, destination: &str, gateway: &str) -> Route {
    let (address, prefix_len) = prefix(destination);
    Route {
        row,
        destination: address.into(),
        prefix_len,
        distance: 1,
        target: RouteTarget::Gateway { address: Ipv4Addr::from_bits(ip(gateway)).into(), interface: None },
        pref_src: None,
        options: Default::default(),
    }
}

fn dynamic(destination: &str, gateway: &str) -> DynamicRoute {
    let (address, prefix_len) = prefix(destination);
    DynamicRoute {
        destination: address.to_bits(),
        prefix_len,
        metric: 20,
        protocol: 186,
        distance: 20,
        target: DynamicTarget::Gateway { address: ip(gateway), interface: None },
        multipath: false,
        source: 0,
    }
}

fn gone(destination: &str) -> RouteChange {
    let (address, prefix_len) = prefix(destination);
    RouteChange::Remove { destination: address.to_bits(), prefix_len, metric: 20 }
}

fn udp(destination: &str, port: u16) -> PacketBuilder {
    PacketBuilder::ipv4("10.1.0.2", destination).udp(4000, port)
}

/// The ports that packets left by, without ARP.
fn ways(out: &[Output]) -> Vec<To> {
    out.iter().filter(|output| output.arp().is_none()).map(|output| output.to).collect()
}

#[test]
fn packets_follow_routes_of_other_programs_as_they_come_and_go() {
    let mut router = start(base());
    let packet = udp("100.64.1.1", 53);
    let unreachable = |router: &mut Router| {
        let out = router.send(0, &packet);
        assert_eq!(out[0].packet().icmp, Some((3, 0)), "{out:?}");
    };
    unreachable(&mut router);
    router.change_routes(&[RouteChange::Replace(dynamic("100.64.0.0/16", "10.2.0.2"))]);
    assert_eq!(ways(&router.send(0, &packet)), [To::Port(1)]);
    router.change_routes(&[RouteChange::Replace(dynamic("100.64.1.0/24", "10.3.0.2"))]);
    assert_eq!(ways(&router.send(0, &packet)), [To::Port(2)]);
    // A configured route of a shorter distance wins, and gives way again.
    router.reconfigure(|config| config.routes = vec![route(31, "100.64.1.0/24", "10.2.0.3")]);
    assert_eq!(ways(&router.send(0, &packet)), [To::Port(1)]);
    router.reconfigure(|config| config.routes.clear());
    assert_eq!(ways(&router.send(0, &packet)), [To::Port(2)]);
    router.change_routes(&[gone("100.64.1.0/24")]);
    assert_eq!(ways(&router.send(0, &packet)), [To::Port(1)]);
    router.change_routes(&[gone("100.64.0.0/16"), gone("100.64.0.0/16")]);
    router.advance_ms(100);
    unreachable(&mut router);
}

#[test]
fn a_route_that_discards_answers_as_its_type_says() {
    let mut router = start(base());
    let types = [
        (Discard::Blackhole, None, "blackhole"),
        (Discard::Unreachable, Some((3, 1)), "unreachable-route"),
        (Discard::Prohibit, Some((3, 13)), "prohibit-route"),
    ];
    router.change_routes(&[RouteChange::Replace(dynamic("100.64.0.0/16", "10.2.0.2"))]);
    for (discard, icmp, reason) in types {
        // Packets of a flow that is in the cache follow it too.
        assert_eq!(ways(&router.send(0, &udp("100.64.1.1", 53))), [To::Port(1)]);
        let target = DynamicTarget::Discard(discard);
        router.change_routes(&[RouteChange::Replace(DynamicRoute {
            target,
            ..dynamic("100.64.1.0/24", "10.2.0.2")
        })]);
        let trace = router.start_trace(&TraceFilter { dropped: true, ..TraceFilter::default() });
        let out = router.send(0, &udp("100.64.1.1", 53));
        let answers: Vec<_> = out.iter().map(|output| (output.to, output.packet().icmp)).collect();
        let answer = icmp.map(|icmp| (To::Port(0), Some(icmp)));
        assert_eq!(answers, answer.into_iter().collect::<Vec<_>>(), "{discard:?}");
        let reported: Vec<_> =
            router.traced(trace).packets.into_iter().map(|packet| packet.drop_reason).collect();
        assert_eq!(reported, [Some(reason.to_owned())]);
        router.change_routes(&[gone("100.64.1.0/24")]);
    }
    // No more of them than of other ICMP errors.
    let target = DynamicTarget::Discard(Discard::Unreachable);
    router.change_routes(&[RouteChange::Replace(DynamicRoute {
        target,
        ..dynamic("100.64.1.0/24", "10.2.0.2")
    })]);
    let answers: usize = (0..20).map(|port| router.send(0, &udp("100.64.1.1", port)).len()).sum();
    assert!((1..=6).contains(&answers), "{answers} answers");
}

#[test]
fn routes_of_other_programs_outlive_a_new_table() {
    let mut router = start(base());
    router.change_routes(&[RouteChange::Replace(dynamic("100.64.0.0/16", "10.3.0.2"))]);
    // Interfaces that change make a new table; one that is down takes its routes along.
    router.carrier(2, false);
    assert_eq!(router.send(0, &udp("100.64.1.1", 53))[0].packet().icmp, Some((3, 0)));
    router.carrier(2, true);
    assert_eq!(ways(&router.send(0, &udp("100.64.1.1", 53))), [To::Port(2)]);
    router.reconfigure(|config| config.addresses.truncate(3));
    assert_eq!(ways(&router.send(0, &udp("100.64.1.1", 53))), [To::Port(2)]);
}

fn ports() -> Vec<PortFacts> {
    let name = |port: u16| format!("ether{}", port + 1);
    (0..3).map(|port| PortFacts { name: name(port), mac: port_mac(port), running: true }).collect()
}

#[test]
fn a_refused_configuration_leaves_the_routes_alone() {
    let config = base().route("100.64.0.0/16", "10.2.0.2").config;
    let snapshot = Snapshot::build(&config, &ports(), 1, 1).unwrap();
    let before = snapshot.fib().routes();
    let basis = Basis { config: &config, snapshot: &snapshot };
    let mut wrong = config.clone();
    wrong.routes = vec![route(41, "100.65.0.0/16", "10.2.0.2"), route(42, "100.66.0.0/33", "10.2.0.2")];
    let error = Snapshot::rebuild(basis, &wrong, &ports(), 2).unwrap_err();
    assert_eq!(error.row, Some(42));
    // Nor does one that is possible, before it is put to work.
    wrong.routes.truncate(1);
    let rebuilt = Snapshot::rebuild(basis, &wrong, &ports(), 2).unwrap();
    assert!(rebuilt.routes.v4.main.is_some());
    assert_eq!(snapshot.fib().routes(), before);
    assert_eq!(rebuilt.snapshot.fib().routes(), before);
}

/// A table takes memory of huge pages, so that hundreds are not made anew with each other one.
#[test]
fn beside_many_tables_another_one_leaves_them_as_they_are() {
    let tables = |count: usize| {
        let routed = base().route("100.64.0.0/16", "10.2.0.2");
        (0..count).fold(routed, |config, _| config.routing_table()).config
    };
    for (count, stays) in [(3, false), (20, true)] {
        let config = tables(count);
        let snapshot = Snapshot::build(&config, &ports(), 1, 1).unwrap();
        let basis = Basis { config: &config, snapshot: &snapshot };
        let rebuilt = Snapshot::rebuild(basis, &tables(count + 1), &ports(), 2).unwrap();
        assert_eq!(Arc::ptr_eq(snapshot.fib(), rebuilt.snapshot.fib()), stays, "{count} tables");
    }
}

fn shared_parts(one: &Snapshot, other: &Snapshot) -> Vec<SnapshotPart> {
    SnapshotPart::ALL.into_iter().filter(|part| one.shares(*part, other)).collect()
}

#[test]
fn only_what_changed_is_made_anew() {
    let config = base().route("100.64.0.0/16", "10.2.0.2").filter("forward", rule().accept());
    let config = config.ipv6_filter("forward", rule().accept()).config;
    let snapshot = Snapshot::build(&config, &ports(), 1, 1).unwrap();
    let basis = Basis { config: &config, snapshot: &snapshot };
    let shared = |change: &dyn Fn(&mut tollway_config::dataplane::DataplaneConfig)| {
        let mut other = config.clone();
        change(&mut other);
        let rebuilt = Snapshot::rebuild(basis, &other, &ports(), 2).unwrap();
        (shared_parts(&rebuilt.snapshot, &snapshot), rebuilt.routes.v4.main.is_some())
    };
    let but = |gone: &[SnapshotPart]| {
        SnapshotPart::ALL.into_iter().filter(|part| !gone.contains(part)).collect::<Vec<_>>()
    };
    assert_eq!(shared(&|_| {}), (but(&[]), false));
    assert_eq!(shared(&|config| config.filter.clear()), (but(&[SnapshotPart::Filter]), false));
    assert_eq!(shared(&|config| config.ipv6_filter.clear()), (but(&[SnapshotPart::Ipv6Filter]), false));
    assert_eq!(shared(&|config| config.routes.clear()), (but(&[]), true));
    assert_eq!(shared(&|config| config.interfaces[0].mtu = 1400), (but(&[]), false));
    assert_eq!(shared(&|config| config.addresses[0].prefix_len = 25), (but(&[SnapshotPart::Routes]), false));
    let renumbered = shared(&|config| config.interfaces.swap(0, 1));
    assert_eq!(
        renumbered,
        (
            but(&[
                SnapshotPart::Routes,
                SnapshotPart::Ipv6Routes,
                SnapshotPart::Filter,
                SnapshotPart::Nat,
                SnapshotPart::Mangle,
                SnapshotPart::Ipv6Filter,
                SnapshotPart::Ipv6Nat,
                SnapshotPart::Ipv6Mangle,
            ]),
            false
        )
    );
    // Routes that change together with rules take effect together with them.
    let both = shared(&|config| {
        config.routes.clear();
        config.filter.clear();
    });
    assert_eq!(both, (but(&[SnapshotPart::Routes, SnapshotPart::Filter]), false));
    let down = [ports()[0].clone(), PortFacts { running: false, ..ports()[1].clone() }, ports()[2].clone()];
    let rebuilt = Snapshot::rebuild(basis, &config, &down, 2).unwrap();
    let both = but(&[SnapshotPart::Routes, SnapshotPart::Ipv6Routes]);
    assert_eq!(shared_parts(&rebuilt.snapshot, &snapshot), both);
}

/// A tracked flow from port 0 to a destination behind port 1, in both directions until its packets are cached.
fn established(router: &mut Router, destination: &str) -> PacketBuilder {
    let packet = udp(destination, 53);
    let answer = PacketBuilder::ipv4(destination, "10.1.0.2").udp(53, 4000);
    for _ in 0..3 {
        router.send(0, &packet);
        router.send(1, &answer);
    }
    let out = router.send(0, &packet);
    assert!(out[0].fast, "{out:?}");
    packet
}

#[test]
fn ten_thousand_changes_elsewhere_leave_a_flow_on_the_fast_path() {
    let tracked = base().route("100.64.0.0/16", "10.2.0.2").filter("forward", rule().accept());
    let mut router = start(tracked);
    let packet = established(&mut router, "100.64.1.1");
    for number in 0..10_000_u32 {
        let network = Ipv4Addr::from_bits(0x2000_0000 | ((number % 0x1000) << 12));
        let gateway = if number % 3 == 0 { "10.2.0.3" } else { "10.3.0.2" };
        let elsewhere = format!("{network}/{}", 16 + number % 9);
        router.change_routes(&[RouteChange::Replace(dynamic(&elsewhere, gateway))]);
        if number % 7 == 0 {
            router.change_routes(&[gone(&elsewhere)]);
        }
        let out = router.send(0, &packet);
        assert!(out[0].fast && out[0].to == To::Port(1), "after {number} changes: {out:?}");
    }
    // The same for configured ones.
    for number in 0..100_u32 {
        let elsewhere = Ipv4Addr::from_bits(0x3000_0000 | number << 16);
        router.reconfigure(|config| {
            config.routes.truncate(1);
            config.routes.push(route(32, &format!("{elsewhere}/16"), "10.3.0.2"));
        });
        let out = router.send(0, &packet);
        assert!(out[0].fast, "after {number} commits: {out:?}");
    }
}

#[test]
fn a_flow_follows_its_own_route_with_its_next_packet() {
    let tracked = base().filter("forward", rule().accept());
    let mut router = start(tracked);
    router.change_routes(&[RouteChange::Replace(dynamic("100.64.0.0/16", "10.2.0.2"))]);
    let packet = established(&mut router, "100.64.1.1");
    router.change_routes(&[RouteChange::Replace(dynamic("100.64.0.0/16", "10.3.0.2"))]);
    assert_eq!(ways(&router.send(0, &packet)), [To::Port(2)]);
    // A more specific one, from an eighth to a host.
    for (destination, gateway, port) in
        [("100.64.1.0/24", "10.2.0.2", 1), ("100.64.1.1/32", "10.3.0.2", 2), ("100.64.1.0/24", "10.2.0.3", 2)]
    {
        router.change_routes(&[RouteChange::Replace(dynamic(destination, gateway))]);
        assert_eq!(ways(&router.send(0, &packet)), [To::Port(port)], "{destination}");
    }
    router.reconfigure(|config| config.routes = vec![route(31, "100.64.1.1/32", "10.2.0.2")]);
    assert_eq!(ways(&router.send(0, &packet)), [To::Port(1)]);
    router.reconfigure(|config| config.routes.clear());
    assert_eq!(ways(&router.send(0, &packet)), [To::Port(2)]);
    router.change_routes(&[gone("100.64.1.1/32"), gone("100.64.1.0/24")]);
    assert_eq!(ways(&router.send(0, &packet)), [To::Port(2)]);
    router.change_routes(&[gone("100.64.0.0/16")]);
    let out = router.send(0, &packet);
    assert_eq!((out[0].to, out[0].packet().icmp), (To::Port(0), Some((3, 0))));
}
