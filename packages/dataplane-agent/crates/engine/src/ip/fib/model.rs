//! Any sequence of changes to configured routes and to those of other programs, against a model that keeps
//! every route in a list and looks at all of them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use proptest::prelude::*;
use tollway_config::dataplane::{
    ArpMode, Interface, InterfaceAddress, InterfaceKind, IoChoice, Route, RouteTarget,
};

use super::*;
use crate::ip::mask;

const GATEWAYS: [&str; 4] = ["10.1.0.2", "10.1.0.3", "10.2.0.2", "99.9.9.9"];

fn interface(row: RowId) -> Interface {
    Interface {
        row,
        name: format!("ether{row}"),
        kind: InterfaceKind::Ethernet { port: format!("ether{row}"), io: IoChoice::Auto },
        disabled: false,
        mtu: 1500,
        mac_address: None,
        arp: ArpMode::Enabled,
        arp_timeout_ms: None,
        zone: 0,
    }
}

fn config(routes: Vec<Route>) -> DataplaneConfig {
    let address = |row: RowId, text: &str| {
        let address: Ipv4Addr = text.parse().unwrap();
        let network = Ipv4Addr::from_bits(address.to_bits() & mask(24));
        let (address, network) = (address.into(), network.into());
        InterfaceAddress {
            row: 10 + row,
            interface: row,
            address,
            prefix_len: 24,
            network,
            ipv6: Default::default(),
        }
    };
    DataplaneConfig {
        interfaces: vec![interface(1), interface(2)],
        addresses: vec![address(1, "10.1.0.1"), address(2, "10.2.0.1")],
        routes,
        ..DataplaneConfig::default()
    }
}

fn build(config: &DataplaneConfig) -> Fib {
    Fib::build(config, &InterfaceMap::new(&config.interfaces).unwrap(), &[true, true]).unwrap()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    network: u32,
    len: u8,
}

/// Few destinations, so that routes meet: nested ones, connected ones, a broadcast and an own address.
fn spot() -> impl Strategy<Value = Spot> {
    let listed = |spots: &'static [(u32, u8)]| proptest::sample::select(spots);
    listed(&[
        (0, 0),
        (0x0a00_0000, 8),
        (0x0a01_0000, 16),
        (0x0a01_0000, 24),
        (0x0a01_00ff, 32),
        (0x0a01_0001, 32),
        (0x0a02_0000, 24),
        (0x1400_0000, 7),
        (0x1400_0000, 15),
        (0x1401_0000, 20),
        (0x1401_0000, 24),
        (0x1401_0080, 25),
        (0x1401_0080, 32),
    ])
    .prop_map(|(network, len)| Spot { network, len })
}

#[derive(Debug, Clone)]
enum Step {
    /// Another set of configured routes: place, distance, gateway (the last place is a blackhole).
    Configure(Vec<(Spot, u8, usize)>),
    Replace(Spot, u32, u8, usize),
    Remove(Spot, u32),
}

fn step() -> impl Strategy<Value = Step> {
    let gateway = 0..=GATEWAYS.len();
    let configured = (spot(), 1_u8..4, gateway.clone());
    prop_oneof![
        1 => proptest::collection::vec(configured, 0..12).prop_map(Step::Configure),
        4 => (spot(), 0_u32..2, 1_u8..4, gateway).prop_map(|(s, m, d, g)| Step::Replace(s, m, d, g)),
        2 => (spot(), 0_u32..2).prop_map(|(s, m)| Step::Remove(s, m)),
    ]
}

fn bits(text: &str) -> u32 {
    text.parse::<Ipv4Addr>().unwrap().to_bits()
}

fn target(gateway: usize) -> RouteTarget {
    match GATEWAYS.get(gateway) {
        Some(text) => RouteTarget::Gateway { address: IpAddr::V4(text.parse().unwrap()), interface: None },
        None => RouteTarget::Blackhole,
    }
}

fn dynamic(spot: Spot, metric: u32, distance: u8, gateway: usize) -> DynamicRoute {
    let target = match GATEWAYS.get(gateway) {
        Some(text) => DynamicTarget::Gateway { address: bits(text), interface: None },
        None => DynamicTarget::Discard(Discard::Blackhole),
    };
    let (destination, prefix_len) = (spot.network, spot.len);
    DynamicRoute {
        destination,
        prefix_len,
        metric,
        protocol: 11,
        distance,
        target,
        multipath: false,
        source: 0,
    }
}

/// Lookup of a gateway in the connected networks; the last of them is nobody's neighbour.
fn resolved(gateway: usize) -> Option<Lookup> {
    Some(match gateway {
        0 | 1 => Lookup::Via { interface: 0, gateway: bits(GATEWAYS[gateway]) },
        2 => Lookup::Via { interface: 1, gateway: bits(GATEWAYS[2]) },
        3 => return None,
        _ => Lookup::Discard(Discard::Blackhole),
    })
}

/// Distance, whether it is another program's, order; the lowest wins.
type Rank = (u8, u8, u64);

#[derive(Default)]
struct Model {
    configured: Vec<(Spot, u8, usize)>,
    dynamic: BTreeMap<(Spot, u32), (u8, usize)>,
}

impl Model {
    fn lookup(&self, address: u32) -> Lookup {
        let own = [(bits("10.1.0.1"), 0), (bits("10.2.0.1"), 1)];
        let mut best: Option<((u8, Reverse<Rank>), Lookup)> = None;
        let mut offer = |network: u32, len: u8, rank: Rank, lookup: Lookup| {
            let key = (len, Reverse(rank));
            if (address ^ network) & mask(len) == 0 && best.is_none_or(|(known, _)| key > known) {
                best = Some((key, lookup));
            }
        };
        for (address, interface) in own {
            offer(address, 32, (0, 0, 0), Lookup::Local { interface });
            offer(address | 0xff, 32, (0, 0, 0), Lookup::Broadcast { interface });
            offer(address & mask(24), 24, (0, 0, 1), Lookup::Connected { interface });
        }
        for (order, (spot, distance, gateway)) in (0..).zip(&self.configured) {
            if let Some(lookup) = resolved(*gateway) {
                offer(spot.network & mask(spot.len), spot.len, (*distance, 0, order), lookup);
            }
        }
        for ((spot, metric), (distance, gateway)) in &self.dynamic {
            if let Some(lookup) = resolved(*gateway) {
                let rank = (*distance, 1, u64::from(*metric));
                offer(spot.network & mask(spot.len), spot.len, rank, lookup);
            }
        }
        best.map_or(Lookup::NoRoute, |(_, lookup)| lookup)
    }
}

fn routes(configured: &[(Spot, u8, usize)]) -> Vec<Route> {
    let route = |(row, (spot, distance, gateway)): (RowId, &(Spot, u8, usize))| Route {
        row,
        destination: Ipv4Addr::from_bits(spot.network).into(),
        prefix_len: spot.len,
        distance: *distance,
        target: target(*gateway),
        pref_src: None,
        options: Default::default(),
    };
    (100..).zip(configured).map(route).collect()
}

/// The configured routes of a table, checked.
fn checked(fib: &Fib, configured: &[(Spot, u8, usize)]) -> StaticRoutes<u32> {
    let base = fib.base();
    let tables = resolve(
        &[GatewayScope { row: 0, base: &base, sees_main: false }],
        &routes(configured),
        &HashSet::new(),
    );
    tables.unwrap().remove(0)
}

/// Addresses around every destination of [`spot`].
fn probes() -> impl Iterator<Item = u32> {
    let edges =
        [0, 0x0a00_0000, 0x0a01_0000, 0x0a02_0000, 0x1400_0000, 0x1401_0000, 0x1402_0000, 0xff00_0000];
    let near = [0_u32, 1, 2, 3, 0x7f, 0x80, 0x81, 0xff, 0x100, 0xfff, 0x1000, 0xffff_ffff];
    edges.into_iter().flat_map(move |edge: u32| near.map(|low| edge.wrapping_add(low)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(96)))]
    #[test]
    fn any_changes_leave_what_the_best_routes_say(steps in proptest::collection::vec(step(), 1..40)) {
        let mut model = Model::default();
        let fib = build(&config(Vec::new()));
        for step in steps {
            let before: Vec<(u32, Lookup)> =
                probes().map(|address| (address, fib.lookup(address))).collect();
            let mut changed = Vec::new();
            match step {
                Step::Configure(configured) => {
                    let checked = checked(&fib, &configured);
                    prop_assert!(fib.has_room(&checked));
                    changed = fib.replace_static(&checked).unwrap();
                    model.configured = configured;
                }
                Step::Replace(spot, metric, distance, gateway) => {
                    let route = dynamic(spot, metric, distance, gateway);
                    fib.change(&[RouteChange::Replace(route)], &mut changed).unwrap();
                    model.dynamic.insert((spot, metric), (distance, gateway));
                }
                Step::Remove(Spot { network: destination, len: prefix_len }, metric) => {
                    fib.change(&[RouteChange::Remove { destination, prefix_len, metric }], &mut changed).unwrap();
                    model.dynamic.remove(&(Spot { network: destination, len: prefix_len }, metric));
                }
            }
            prop_assert_eq!(fib.dynamic_len(), model.dynamic.len());
            for (address, before) in before {
                let now = fib.lookup(address);
                prop_assert_eq!(now, model.lookup(address), "{}", Ipv4Addr::from_bits(address));
                // A flow action that depends on a route is invalidated when the route changes.
                let reported = changed.iter().any(|(network, len)| (address ^ network) & mask(*len) == 0);
                prop_assert!(now == before || reported, "{} changed in silence", Ipv4Addr::from_bits(address));
            }
        }
        // A table built anew says the same.
        let again = build(&config(routes(&model.configured)));
        again.adopt(&fib).unwrap();
        prop_assert_eq!(again.routes(), fib.routes());
        prop_assert_eq!((again.len(), again.dynamic_len()), (fib.len(), fib.dynamic_len()));
        for address in probes() {
            prop_assert_eq!(again.lookup(address), fib.lookup(address));
        }
    }
}

#[test]
fn routes_that_stay_are_not_touched() {
    let fib = build(&config(Vec::new()));
    let spot = |network| Spot { network, len: 24 };
    let many: Vec<(Spot, u8, usize)> = (0..1000).map(|at| (spot(0x1400_0000 | at << 8), 1, 0)).collect();
    let first = fib.replace_static(&checked(&fib, &many)).unwrap();
    assert_eq!(first.len(), 1000);
    let mut one = many.clone();
    one[500].2 = 2;
    let second = fib.replace_static(&checked(&fib, &one)).unwrap();
    assert_eq!(second, [(0x1400_0000 | 500 << 8, 24)]);
    assert_eq!(fib.replace_static(&checked(&fib, &one)), Ok(Vec::new()));
}

#[test]
fn a_table_that_has_run_out_of_numbers_says_so_and_a_new_one_has_them_again() {
    let config = config(Vec::new());
    let fib = build(&config);
    let route = |gateway: u32| {
        RouteChange::Replace(DynamicRoute {
            target: DynamicTarget::Gateway { address: gateway, interface: Some(1) },
            ..dynamic(Spot { network: 0x1401_0000, len: 24 }, 0, 1, 0)
        })
    };
    let mut changed = Vec::new();
    let mut gateways = 0x0a01_0002..;
    let full = gateways.find(|gateway| fib.change(&[route(*gateway)], &mut changed).is_err()).unwrap();
    assert!(full - 0x0a01_0002 > 32_000, "only {} next hops", full - 0x0a01_0002);
    let kept = Lookup::Via { interface: 0, gateway: full - 1 };
    assert_eq!(fib.lookup(0x1401_0001), kept);
    assert!(!fib.has_room(&checked(&fib, &[(Spot { network: 0, len: 0 }, 1, 0)])));
    let anew = build(&config);
    anew.adopt(&fib).unwrap();
    assert_eq!(anew.lookup(0x1401_0001), kept);
    anew.change(&[route(full)], &mut changed).unwrap();
    assert_eq!(anew.lookup(0x1401_0001), Lookup::Via { interface: 0, gateway: full });
}
