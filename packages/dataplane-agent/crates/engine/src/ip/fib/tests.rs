//! Routes as configured, and lookups through them.

use std::net::{IpAddr, Ipv4Addr};

use tollway_config::dataplane::{
    ArpMode, CONNECTED_SCOPE, Gateway, Interface, InterfaceAddress, InterfaceKind, IoChoice, Route,
    RouteTarget,
};

use super::*;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn bits(text: &str) -> u32 {
    text.parse::<Ipv4Addr>().unwrap().to_bits()
}

fn interface(row: RowId) -> Interface {
    Interface {
        row,
        name: format!("ether{row}"),
        kind: InterfaceKind::Ethernet { port: format!("ether{row}"), io: IoChoice::Auto },
        disabled: row == 9,
        mtu: 1500,
        mac_address: None,
        arp: ArpMode::Enabled,
        arp_timeout_ms: None,
        zone: 0,
    }
}

fn address(row: RowId, interface: RowId, address: &str, prefix_len: u8, network: &str) -> InterfaceAddress {
    InterfaceAddress {
        row,
        interface,
        address: ip(address),
        prefix_len,
        network: ip(network),
        ipv6: Default::default(),
    }
}

fn route(row: RowId, destination: &str, prefix_len: u8, distance: u8, target: RouteTarget) -> Route {
    Route {
        row,
        destination: ip(destination),
        prefix_len,
        distance,
        target,
        pref_src: None,
        options: Default::default(),
    }
}

fn via(gateway: &str) -> RouteTarget {
    RouteTarget::Gateway { address: ip(gateway), interface: None }
}

fn config(routes: Vec<Route>) -> DataplaneConfig {
    DataplaneConfig {
        interfaces: vec![interface(1), interface(2), interface(9)],
        addresses: vec![
            address(11, 1, "192.168.88.1", 24, "192.168.88.0"),
            address(12, 2, "10.1.1.1", 30, "10.1.1.0"),
            address(13, 2, "172.16.0.1", 32, "172.16.0.9"),
            address(19, 9, "10.9.9.1", 24, "10.9.9.0"),
            address(20, 1, "203.0.113.7", 32, "203.0.113.7"),
        ],
        routes,
        ..DataplaneConfig::default()
    }
}

fn build(routes: Vec<Route>, running: &[bool]) -> Fib {
    let config = config(routes);
    Fib::build(&config, &InterfaceMap::new(&config.interfaces).unwrap(), running).unwrap()
}

fn active(fib: &Fib) -> Vec<RowId> {
    let row = |route: &ListedRoute| match route.source {
        RouteSource::Connected { address } => address,
        RouteSource::Static { row } => row,
        RouteSource::Dynamic { .. } => 0,
    };
    fib.routes().iter().filter(|route| route.active).map(row).collect()
}

#[test]
fn addresses_make_local_connected_and_broadcast() {
    let fib = build(vec![], &[true, true, true]);
    assert_eq!(fib.lookup(bits("192.168.88.1")), Lookup::Local { interface: 0 });
    assert_eq!(fib.lookup(bits("192.168.88.255")), Lookup::Broadcast { interface: 0 });
    assert_eq!(fib.lookup(bits("192.168.88.77")), Lookup::Connected { interface: 0 });
    assert_eq!(fib.lookup(bits("10.1.1.3")), Lookup::Broadcast { interface: 1 });
    assert_eq!(fib.lookup(bits("172.16.0.1")), Lookup::Local { interface: 1 });
    assert_eq!(fib.lookup(bits("172.16.0.9")), Lookup::Connected { interface: 1 });
    assert_eq!(fib.lookup(bits("10.9.9.1")), Lookup::NoRoute);
    assert_eq!(fib.lookup(bits("8.8.8.8")), Lookup::NoRoute);
    assert_eq!(fib.source_for(bits("192.168.88.77")), Some(bits("192.168.88.1")));
    assert_eq!(fib.source_for(bits("172.16.0.9")), Some(bits("172.16.0.1")));
    assert_eq!(fib.source_for(bits("8.8.8.8")), None);
    assert_eq!(fib.addresses(1), [(bits("10.1.1.1"), 30), (bits("172.16.0.1"), 32)]);
    for nobodys in ["192.168.88.1", "192.168.88.255", "10.1.1.1", "10.1.1.3", "172.16.0.1"] {
        assert!(fib.is_local_or_broadcast(bits(nobodys)), "{nobodys}");
    }
    for hosts in ["192.168.88.254", "10.1.1.2", "10.1.1.255", "172.16.0.9", "8.8.8.8", "255.255.255.255"] {
        assert!(!fib.is_local_or_broadcast(bits(hosts)), "{hosts}");
    }
    assert_eq!(active(&fib), [11, 12, 13, 20]);
}

#[test]
fn static_routes_resolve_through_connected_networks_by_distance() {
    let routes = vec![
        route(31, "0.0.0.0", 0, 2, via("192.168.88.254")),
        route(32, "0.0.0.0", 0, 1, via("10.1.1.2")),
        route(33, "20.0.0.0", 8, 1, RouteTarget::Blackhole),
        route(34, "20.1.0.0", 16, 1, RouteTarget::Interface { interface: 1 }),
        route(35, "30.0.0.0", 8, 1, via("99.9.9.9")),
        route(36, "40.0.0.0", 8, 1, RouteTarget::Gateway { address: ip("99.9.9.9"), interface: Some(2) }),
        route(37, "192.168.88.0", 24, 1, via("10.1.1.2")),
    ];
    let fib = build(routes.clone(), &[true, true, true]);
    let wan = Lookup::Via { interface: 1, gateway: bits("10.1.1.2") };
    assert_eq!(fib.lookup(bits("8.8.8.8")), wan);
    assert_eq!(fib.source_for(bits("8.8.8.8")), Some(bits("10.1.1.1")));
    assert_eq!(fib.lookup(bits("20.9.9.9")), Lookup::Discard(Discard::Blackhole));
    assert_eq!(fib.lookup(bits("20.1.2.3")), Lookup::Connected { interface: 0 });
    assert_eq!(fib.lookup(bits("30.0.0.1")), wan);
    assert_eq!(fib.lookup(bits("40.0.0.1")), Lookup::Via { interface: 1, gateway: bits("99.9.9.9") });
    assert_eq!(fib.lookup(bits("192.168.88.5")), Lookup::Connected { interface: 0 });
    assert_eq!(active(&fib), [11, 12, 13, 20, 32, 33, 34, 36]);

    let fib = build(routes, &[true, false, true]);
    let backup = Lookup::Via { interface: 0, gateway: bits("192.168.88.254") };
    assert_eq!(fib.lookup(bits("8.8.8.8")), backup);
    assert_eq!(fib.lookup(bits("40.0.0.1")), backup);
    assert_eq!(fib.lookup(bits("10.1.1.1")), Lookup::Local { interface: 1 });
    assert_eq!(active(&fib), [11, 20, 31, 33, 34]);
}

/// A route by four gateways that is there for gateways of others.
fn by_four(row: RowId, destination: String, gateways: impl Fn(u8) -> String) -> Route {
    let gateway = |at| Gateway { address: Some(ip(&gateways(at))), interface: None, table: None };
    let target = RouteTarget::Gateways { gateways: (1..=4).map(gateway).collect() };
    let mut route = route(row, &destination, 24, 1, target);
    route.options.scope = CONNECTED_SCOPE;
    route
}

#[test]
fn shares_of_routes_that_lead_to_each_other_do_not_multiply() {
    const LEVELS: u8 = 6;
    let mut routes = vec![by_four(30, "20.0.0.0".into(), |at| format!("192.168.88.{}", 10 + at))];
    for level in 1..=LEVELS {
        let row = 30 + RowId::from(level);
        routes.push(by_four(row, format!("20.0.{level}.0"), |at| format!("20.0.{}.{at}", level - 1)));
    }
    let fib = build(routes, &[true, true, true]);
    let of_last =
        |route: &&ListedRoute| route.source == RouteSource::Static { row: 30 + RowId::from(LEVELS) };
    let listed = fib.routes();
    let mut gateways: Vec<_> = listed.iter().filter(of_last).filter_map(|route| route.gateway).collect();
    assert!(gateways.len() <= shares::SHARES, "{}", gateways.len());
    gateways.sort_unstable();
    let (each, _) = gateways.split_at(gateways.len() / 4);
    for at in 1..=4 {
        let gateway = bits("192.168.88.10") + at;
        assert_eq!(gateways.iter().filter(|known| **known == gateway).count(), each.len());
    }
}

/// Routes by two gateways each, no two by the same.
fn by_pairs(count: u16) -> Vec<Route> {
    let pair = |at: u16| {
        let [high, low] = at.to_be_bytes();
        let gateway = |text: String| Gateway { address: Some(ip(&text)), interface: None, table: None };
        let gateways =
            [format!("192.168.88.{}", 2 + low % 64), format!("192.168.88.{}", 100 + low / 64 * 8 + high)];
        let target = RouteTarget::Gateways { gateways: gateways.into_iter().map(gateway).collect() };
        route(100 + RowId::from(at), &format!("20.{high}.{low}.0"), 24, 1, target)
    };
    (0..count).map(pair).collect()
}

#[test]
fn groups_that_a_table_cannot_have_are_refused_whether_their_interface_is_up_or_not() {
    const MOST: u16 = group::GROUPS as u16;
    for up in [true, false] {
        let built = |count| {
            let config = config(by_pairs(count));
            Fib::build(&config, &InterfaceMap::new(&config.interfaces).unwrap(), &[up, true, true])
        };
        assert!(built(MOST).is_ok(), "up: {up}");
        let error = built(MOST + 1).err().unwrap();
        assert_eq!(error.row, Some(100 + RowId::from(MOST)), "up: {up}, {error:?}");
    }
}

#[test]
fn a_table_has_room_for_as_many_groups_as_it_can_number_and_forwards_without_too() {
    let fib = build(by_pairs(100), &[true, true, true]);
    let routes = |count| {
        let mut config = config(by_pairs(count));
        config.routes.iter_mut().for_each(|route| route.distance = 2);
        let scope = GatewayScope { row: 0, base: &fib.base(), sees_main: false };
        resolve(&[scope], &config.routes, &HashSet::new()).unwrap().remove(0)
    };
    assert!(fib.has_room(&routes(400)));
    assert!(!fib.has_room(&routes(1_000)));
    // What nobody has asked that for: the last routes have one next hop.
    assert!(fib.replace_static(&routes(1_000)).is_ok());
    let [high, low] = 999_u16.to_be_bytes();
    let last = u32::from_be_bytes([20, high, low, 1]);
    assert!(matches!(fib.lookup(last), Lookup::Via { interface: 0, .. }));
    assert!(fib.hops.group_of(fib.number(last)).is_none());
}

#[test]
fn equal_routes_to_a_prefix_have_no_more_shares_than_one_route() {
    let gateway = |at: RowId| via(&format!("192.168.88.{}", 10 + at));
    let routes: Vec<Route> = (0..200).map(|at| route(100 + at, "20.0.0.0", 8, 1, gateway(at))).collect();
    let fib = build(routes, &[true, true, true]);
    let group = fib.hops.group_of(fib.number(bits("20.1.2.3")));
    assert_eq!(group.map(|group| group.hops().count()), Some(shares::SHARES));
}

#[test]
fn the_router_itself_and_a_broadcast_address_are_no_gateways() {
    let nobodys = ["192.168.88.1", "10.1.1.1", "172.16.0.1", "192.168.88.255", "10.1.1.3"];
    for gateway in nobodys {
        for interface in [None, Some(2)] {
            let target = RouteTarget::Gateway { address: ip(gateway), interface };
            let fib = build(vec![route(31, "0.0.0.0", 0, 1, target)], &[true, true, true]);
            assert_eq!(fib.lookup(bits("8.8.8.8")), Lookup::NoRoute, "{gateway} {interface:?}");
            assert_eq!(active(&fib), [11, 12, 13, 20], "{gateway} {interface:?}");
        }
    }
}

#[test]
fn errors_name_the_row() {
    let refused = |routes: Vec<Route>| {
        let config = config(routes);
        let map = InterfaceMap::new(&config.interfaces).unwrap();
        Fib::build(&config, &map, &[true; 3]).unwrap_err().row
    };
    assert_eq!(refused(vec![route(41, "0.0.0.0", 0, 1, via("fe80::1"))]), Some(41));
    assert_eq!(refused(vec![route(42, "0.0.0.0", 33, 1, RouteTarget::Blackhole)]), Some(42));
    assert_eq!(refused(vec![route(43, "0.0.0.0", 0, 1, RouteTarget::Interface { interface: 77 })]), Some(43));
}

#[test]
fn pref_src_is_the_source() {
    let mut own = route(51, "0.0.0.0", 0, 1, via("10.1.1.2"));
    own.pref_src = Some(ip("192.168.88.1"));
    let fib = build(vec![own], &[true; 3]);
    assert_eq!(fib.source_for(bits("8.8.8.8")), Some(bits("192.168.88.1")));
}

#[test]
fn each_family_has_its_own_addresses_and_routes() {
    let mut config = config(vec![
        route(31, "0.0.0.0", 0, 1, via("10.1.1.2")),
        route(32, "::", 0, 1, via("2001:db8:2::2")),
        route(33, "2001:db8:f000::", 36, 1, RouteTarget::Blackhole),
        route(34, "2001:db8:5::", 48, 1, RouteTarget::Gateway { address: ip("fe80::5"), interface: Some(1) }),
        route(35, "2001:db8:6::", 48, 1, via("fe80::5")),
        route(36, "2001:db8:7::", 48, 1, via("2001:db8:1::1")),
    ]);
    config.addresses.push(address(51, 1, "2001:db8:1::1", 64, "2001:db8:1::"));
    config.addresses.push(address(52, 2, "2001:db8:2::1", 127, "2001:db8:2::"));
    let map = InterfaceMap::new(&config.interfaces).unwrap();
    let fib = Fib6::build(&config, &map, &[true; 3]).unwrap();
    let bits = |text: &str| text.parse::<std::net::Ipv6Addr>().unwrap().to_bits();
    let default = Lookup6::NoRoute;
    for (address, lookup) in [
        ("2001:db8:1::1", Lookup6::Local { interface: 0 }),
        ("2001:db8:1::2", Lookup6::Connected { interface: 0 }),
        ("2001:db8:1::ffff:ffff:ffff:ffff", Lookup6::Connected { interface: 0 }),
        ("2001:db8:2::", Lookup6::Connected { interface: 1 }),
        ("2001:db8:ffff::1", Lookup6::Discard(Discard::Blackhole)),
        ("2001:db8:5::1", Lookup6::Via { interface: 0, gateway: bits("fe80::5") }),
        // Their gateways are on no link, or the router itself, and the default route's gateway is not in a network.
        ("2001:db8:6::1", default),
        ("2001:db8:7::1", default),
        ("2001:db9::1", default),
    ] {
        assert_eq!(fib.lookup(bits(address)), lookup, "{address}");
    }
    assert!(fib.is_local(bits("2001:db8:2::1")) && !fib.is_local(bits("2001:db8:2::")));
    assert_eq!(fib.source_for(bits("2001:db8:5::1")), Some(bits("2001:db8:1::1")));
    assert_eq!((active(&build_v4(&config)), fib.routes().len()), (vec![11, 12, 13, 20, 31], 7));
    config.routes[1].target = via("2001:db8:2::");
    let fib = Fib6::build(&config, &map, &[true; 3]).unwrap();
    let by_default = Lookup6::Via { interface: 1, gateway: bits("2001:db8:2::") };
    assert_eq!(fib.lookup(bits("2001:db9::1")), by_default);
}

fn build_v4(config: &DataplaneConfig) -> Fib {
    Fib::build(config, &InterfaceMap::new(&config.interfaces).unwrap(), &[true; 3]).unwrap()
}
