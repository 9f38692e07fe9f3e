use super::*;
use tollway_config::dataplane::{
    ArpMode, Gateway, InterfaceKind, IoChoice, Ipv6AddressOptions, Route, RouteOptions, RouteTarget,
    RoutingTable,
};
use tollway_engine::snapshot::PortFacts;

fn config() -> DataplaneConfig {
    let interface = |row: RowId, name: &str| Interface {
        row,
        name: name.into(),
        kind: InterfaceKind::Ethernet { port: name.into(), io: IoChoice::Auto },
        disabled: false,
        mtu: 1500,
        mac_address: None,
        arp: ArpMode::Enabled,
        arp_timeout_ms: None,
        zone: 0,
    };
    let address = |interface: RowId, address: [u8; 4], prefix_len: u8, network: [u8; 4]| InterfaceAddress {
        row: 100 + interface,
        interface,
        address: IpAddr::from(address),
        prefix_len,
        network: IpAddr::from(network),
        ipv6: Default::default(),
    };
    DataplaneConfig {
        interfaces: vec![interface(1, "ether1"), interface(2, "a b"), interface(3, "ether3")],
        addresses: vec![
            address(1, [192, 168, 88, 1], 24, [192, 168, 88, 0]),
            address(2, [10, 0, 0, 1], 32, [10, 0, 0, 2]),
        ],
        ..DataplaneConfig::default()
    }
}

#[test]
fn only_addressed_interfaces_get_a_tap() {
    let taps = taps(&config());
    assert_eq!(taps.keys().copied().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(
        tap_lines(1, None, &taps[&1]),
        [
            "link set dev tw1 arp off",
            "link set dev tw1 mtu 1500",
            "link property add dev tw1 altname ether1",
            "link set dev tw1 up",
            "address add 192.168.88.1/24 brd + dev tw1",
        ]
    );
    assert_eq!(taps[&2].altname, None);
    assert!(taps[&2].addresses.contains("10.0.0.1 peer 10.0.0.2/32"));
    assert!(tap_lines(1, Some(&taps[&1]), &taps[&1]).is_empty());
    assert!(freed_names(&taps, &taps).is_empty());
}

#[test]
fn settings_for_services_are_sysctls() {
    let values = |settings: IpSettings| sysctls(&settings).map(|(_, value)| value);
    assert_eq!(values(IpSettings::default()), ["0", "1", "10", "6168", "0"]);
    let other = IpSettings {
        tcp_syncookies: true,
        tcp_timestamps: TcpTimestamps::Enabled,
        icmp_rate_limit_ms: u32::MAX,
        icmp_rate_mask: u32::MAX,
        accept_source_route: true,
        ..IpSettings::default()
    };
    assert_eq!(values(other), ["1", "2", "2147483647", "-1", "1"]);
}

#[test]
fn interfaces_that_swap_names_keep_one() {
    let named = |first: &str, second: &str| {
        let mut config = config();
        for (interface, name) in config.interfaces.iter_mut().zip([first, second]) {
            interface.name = name.into();
        }
        taps(&config)
    };
    let (has, wanted) = (named("lan", "wan"), named("wan", "lan"));
    assert_eq!(
        freed_names(&has, &wanted),
        ["link property del dev tw1 altname lan", "link property del dev tw2 altname wan"]
    );
    let added: Vec<String> =
        wanted.iter().flat_map(|(row, wanted)| tap_lines(*row, has.get(row), wanted)).collect();
    assert_eq!(added, ["link property add dev tw1 altname wan", "link property add dev tw2 altname lan"]);
}

fn snapshot(config: &DataplaneConfig, running: impl Fn(&str) -> bool) -> Snapshot {
    let facts = |interface: &Interface| PortFacts {
        name: interface.kind.port().unwrap().to_owned(),
        mac: [2, 0, 0, 0, 0, interface.row as u8],
        running: running(interface.kind.port().unwrap()),
    };
    let facts: Vec<PortFacts> = config.interfaces.iter().map(facts).collect();
    Snapshot::build(config, &facts, 1, 1).unwrap()
}

fn taps(config: &DataplaneConfig) -> BTreeMap<RowId, TapState> {
    wanted_taps(config, &snapshot(config, |_| true), &BTreeSet::new(), 0)
}

/// The routes of the namespace while these interfaces have a carrier.
fn wanted_words(config: &DataplaneConfig, running: impl Fn(&str) -> bool) -> Vec<String> {
    let snapshot = snapshot(config, running);
    words_of(config, &snapshot, 0)
}

/// The routes of the namespace of a zone.
fn words_of(config: &DataplaneConfig, snapshot: &Snapshot, zone: Zone) -> Vec<String> {
    let taps = wanted_taps(config, snapshot, &BTreeSet::new(), zone);
    let ways = Ways::new(config, &taps, zone);
    let mut routes = wanted_routes(snapshot.home(zone), &ways);
    routes.append(&mut wanted_routes(snapshot.home6(zone), &ways));
    routes.into_iter().collect()
}

#[test]
fn the_namespace_of_a_vrf_has_its_interfaces_and_routes() {
    let mut config = config();
    config.interfaces[1].zone = 7;
    config.routing_tables =
        vec![RoutingTable { row: 300, name: "blue".to_owned(), mark: 0, fib: true, zone: 7 }];
    let route = |destination: [u8; 4], prefix_len: u8, table, gateway: Gateway| Route {
        row: 200,
        destination: IpAddr::from(destination),
        prefix_len,
        distance: 1,
        target: RouteTarget::Gateways { gateways: vec![gateway] },
        pref_src: None,
        options: RouteOptions { table, ..Default::default() },
    };
    let by =
        |address: [u8; 4], table| Gateway { address: Some(IpAddr::from(address)), interface: None, table };
    let through = |interface| Gateway { address: None, interface: Some(interface), table: None };
    config.routes = vec![
        route([0, 0, 0, 0], 0, 0, by([192, 168, 88, 254], None)),
        route([10, 7, 0, 0], 16, 0, through(2)),
        route([10, 8, 0, 0], 16, 1, by([10, 0, 0, 2], None)),
        // To the main table.
        route([0, 0, 0, 0], 0, 1, by([192, 168, 88, 254], Some(0))),
    ];
    let snapshot = snapshot(&config, |_| true);
    assert_eq!(wanted_taps(&config, &snapshot, &BTreeSet::new(), 0).into_keys().collect::<Vec<_>>(), [1]);
    assert_eq!(wanted_taps(&config, &snapshot, &BTreeSet::new(), 7).into_keys().collect::<Vec<_>>(), [2]);
    assert_eq!(
        words_of(&config, &snapshot, 0),
        [
            "0.0.0.0/0 via 192.168.88.254 dev tw1 onlink proto 84 metric 1",
            "10.7.0.0/16 dev tw1 scope link proto 84 metric 1",
        ]
    );
    assert_eq!(
        words_of(&config, &snapshot, 7),
        [
            "0.0.0.0/0 dev tw2 scope link proto 84 metric 1",
            "10.8.0.0/16 via 10.0.0.2 dev tw2 onlink proto 84 metric 1",
        ]
    );
}

#[test]
fn addresses_and_routes_of_ipv6_are_there_while_the_interface_is_enabled() {
    let mut config = config();
    config.addresses.push(InterfaceAddress {
        row: 200,
        interface: 3,
        address: "2001:db8::".parse().unwrap(),
        prefix_len: 64,
        network: "2001:db8::".parse().unwrap(),
        ipv6: Ipv6AddressOptions { eui_64: true, ..Default::default() },
    });
    let route = |destination: &str, prefix_len, gateway: &str, interface| Route {
        row: 201,
        destination: destination.parse().unwrap(),
        prefix_len,
        distance: 1,
        target: RouteTarget::Gateway { address: gateway.parse().unwrap(), interface },
        pref_src: None,
        options: Default::default(),
    };
    config.routes = vec![route("::", 0, "fe80::9", Some(3)), route("2001:db8:9::", 48, "2001:db8::9", None)];
    assert_eq!(
        wanted_words(&config, |_| true),
        [
            "2001:db8:9::/48 via 2001:db8::9 dev tw3 onlink proto 84 metric 1",
            "::/0 via fe80::9 dev tw3 onlink proto 84 metric 1",
        ]
    );
    let up = taps(&config).remove(&3).unwrap();
    let added = [
        "address replace 2001:db8::ff:fe00:3/64 dev tw3 nodad",
        "address replace fe80::ff:fe00:3/64 dev tw3 nodad",
    ];
    assert_eq!(tap_lines(3, None, &up)[4..], added);
    // One of them is not to be used any more, and again.
    let deprecated = wanted_taps(&config, &snapshot(&config, |_| true), &[200].into(), 0).remove(&3).unwrap();
    let changed = "address replace 2001:db8::ff:fe00:3/64 dev tw3 nodad preferred_lft 0";
    assert_eq!(tap_lines(3, None, &deprecated)[4..], [changed, added[1]]);
    assert_eq!(tap_lines(3, Some(&up), &deprecated), [changed]);
    assert_eq!(tap_lines(3, Some(&deprecated), &up), [added[0]]);
    // A device that goes down loses them.
    config.interfaces[2].disabled = true;
    let down = taps(&config).remove(&3).unwrap();
    assert_eq!(tap_lines(3, Some(&up), &down), ["link set dev tw3 down"]);
    assert_eq!(tap_lines(3, Some(&down), &up)[1..], added);
    config.interfaces[2].disabled = false;
    config.addresses[2].ipv6.eui_64 = false;
    config.addresses[2].address = "2001:db8::1".parse().unwrap();
    assert_eq!(
        tap_lines(3, Some(&up), &taps(&config)[&3]),
        ["address del 2001:db8::ff:fe00:3/64 dev tw3", "address replace 2001:db8::1/64 dev tw3 nodad",]
    );
    // Linux has no IPv6 on it.
    config.interfaces[2].mtu = 1_000;
    assert_eq!(taps(&config).get(&3), None);
}

#[test]
fn routes_leave_by_the_connected_tap() {
    let mut config = config();
    let route = |destination: [u8; 4], prefix_len: u8, target: RouteTarget| Route {
        row: 200,
        destination: IpAddr::from(destination),
        prefix_len,
        distance: 1,
        target,
        pref_src: Some(IpAddr::from([192, 168, 88, 1])),
        options: Default::default(),
    };
    let gateway = |address: [u8; 4]| RouteTarget::Gateway { address: IpAddr::from(address), interface: None };
    config.routes = vec![
        route([0, 0, 0, 0], 0, gateway([192, 168, 88, 254])),
        route([10, 9, 0, 0], 16, gateway([172, 16, 0, 1])),
        route([10, 8, 0, 0], 16, RouteTarget::Blackhole),
        route([10, 7, 0, 0], 16, RouteTarget::Interface { interface: 3 }),
        // Of one destination and distance the router uses the first that works.
        route([0, 0, 0, 0], 0, RouteTarget::Blackhole),
        route([0, 0, 0, 0], 0, gateway([192, 168, 88, 253])),
        route([10, 6, 0, 0], 16, gateway([192, 168, 88, 1])),
        route([10, 6, 0, 0], 16, gateway([192, 168, 88, 255])),
        route([10, 6, 0, 0], 16, gateway([192, 168, 88, 2])),
    ];
    assert_eq!(
        wanted_words(&config, |_| true),
        [
            "0.0.0.0/0 via 192.168.88.254 dev tw1 onlink proto 84 metric 1 src 192.168.88.1",
            "10.6.0.0/16 via 192.168.88.2 dev tw1 onlink proto 84 metric 1 src 192.168.88.1",
            "blackhole 10.8.0.0/16 proto 84 metric 1",
        ]
    );
}

#[test]
fn routes_are_those_that_the_router_can_use() {
    let mut config = config();
    // Addresses of an interface that is disabled are not the router's, and its networks not connected.
    config.interfaces[2].disabled = true;
    let address = |address: [u8; 4], prefix_len: u8, network: [u8; 4]| InterfaceAddress {
        row: 103,
        interface: 3,
        address: IpAddr::from(address),
        prefix_len,
        network: IpAddr::from(network),
        ipv6: Default::default(),
    };
    config.addresses.push(address([192, 168, 88, 66], 32, [192, 168, 88, 66]));
    config.addresses.push(address([192, 168, 88, 80], 28, [192, 168, 88, 80]));
    let route = |distance: u8, gateway: [u8; 4]| Route {
        row: 200,
        destination: IpAddr::from([10, 9, 0, 0]),
        prefix_len: 16,
        distance,
        target: RouteTarget::Gateway { address: IpAddr::from(gateway), interface: None },
        pref_src: None,
        options: Default::default(),
    };
    config.routes = vec![route(1, [192, 168, 88, 66]), route(2, [192, 168, 88, 95]), route(3, [10, 0, 0, 2])];
    let first = "10.9.0.0/16 via 192.168.88.66 dev tw1 onlink proto 84 metric 1";
    let second = "10.9.0.0/16 via 192.168.88.95 dev tw1 onlink proto 84 metric 2";
    let third = "10.9.0.0/16 via 10.0.0.2 dev tw2 onlink proto 84 metric 3";
    assert_eq!(wanted_words(&config, |_| true), [third, first, second]);
    assert_eq!(wanted_words(&config, |port| port != "ether1"), [third]);
}
