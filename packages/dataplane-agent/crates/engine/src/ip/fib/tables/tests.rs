//! Tables of both families from the same configuration.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};

use tollway_testkit::RouterConfig;
use tollway_testkit::dual_stack::in_ipv6;

use super::super::{RouteLookup, resolve};
use super::*;

/// An address of IPv4, or the one of IPv6 that stands for it.
pub(crate) fn address<A: Address>(text: &str) -> A {
    let v4: Ipv4Addr = text.parse().unwrap();
    let both = [IpAddr::V4(v4), IpAddr::V6(in_ipv6(v4.to_bits()).into())];
    both.into_iter().find_map(A::of).unwrap()
}

pub(crate) struct Built<A: Address> {
    pub(crate) main: Arc<Table<A>>,
    pub(crate) others: Tables<A>,
    changed: NumberedRoutes<A>,
}

pub(crate) fn build<A: Address>(
    config: &DataplaneConfig,
    before: Option<&Tables<A>>,
) -> Result<Built<A>, BuildError> {
    let map = InterfaceMap::new(&config.interfaces)?;
    let running = vec![true; config.interfaces.len()];
    let bases = Bases::new(config, &config.addresses, &map, &running)?;
    let scopes = gateway_scopes(&bases, &config.routing_tables)?;
    let mut routes = resolve(&scopes, &config.routes, &HashSet::new())?.into_iter();
    let main = Arc::new(Table::with_routes(Arc::clone(bases.of(0)), &routes.next().unwrap_or_default())?);
    let (others, changed) = Tables::build(&bases, &config.routing_tables, routes, before)?;
    Ok(Built { main, others, changed })
}

/// Table 1 has a route, table 2 is that of a VRF with the network of interface 0, table 3 has no routes.
pub(crate) fn config() -> DataplaneConfig {
    let config = RouterConfig::new()
        .interface("10.1.0.1/24")
        .interface("10.2.0.1/24")
        .interface("10.1.0.1/24")
        .routing_table()
        .vrf(7, &[3])
        .routing_table()
        .route("0.0.0.0/0", "10.2.0.254")
        .route_in(1, "203.0.113.0/24", "10.2.0.253")
        .route_in(2, "0.0.0.0/0", "10.1.0.254");
    config.dual_stack().config
}

fn look_up<A: Address>(table: &Table<A>, text: &str) -> RouteLookup<A> {
    table.lookup_for(address(text), || 0)
}

fn a_vrf_sees_its_own<A: Address>() {
    let Built { main, others, .. } = build::<A>(&config(), None).unwrap();
    let (number, vrf) = others.home(&main, 7);
    assert_eq!(number, 2);
    assert_eq!(look_up(vrf, "10.1.0.1"), RouteLookup::Local { interface: 2 });
    assert_eq!(look_up(vrf, "10.1.0.9"), RouteLookup::Connected { interface: 2 });
    let gateway = address("10.1.0.254");
    assert_eq!(look_up(vrf, "10.2.0.9"), RouteLookup::Via { interface: 2, gateway });
    assert_eq!(look_up(&main, "10.1.0.9"), RouteLookup::Connected { interface: 0 });
    // Every other zone has the main table.
    for zone in [0, 8] {
        let (number, table) = others.home(&main, zone);
        assert!(number == 0 && Arc::ptr_eq(table, &main));
    }
    let mut config = config();
    config.routes.retain(|route| route.options.table != 2);
    let Built { main, others, .. } = build::<A>(&config, None).unwrap();
    let (_, vrf) = others.home(&main, 7);
    for elsewhere in ["10.2.0.9", "10.2.0.1", "203.0.113.9"] {
        assert_eq!(look_up(vrf, elsewhere), RouteLookup::NoRoute, "{elsewhere}");
    }
}

#[test]
fn a_vrf_has_the_networks_of_its_interfaces_and_sees_nothing_of_the_main_table() {
    a_vrf_sees_its_own::<u32>();
    a_vrf_sees_its_own::<u128>();
}

fn numbers<A: Address>() {
    let mut config = config();
    config.routing_tables[0].fib = false;
    let Built { others, .. } = build::<A>(&config, None).unwrap();
    let made = [0, 1, 2, 3, 4].map(|number| others.get(number).is_some());
    assert_eq!(made, [false, true, true, false, false]);
    assert_eq!(others.iter().map(|(number, _)| number).collect::<Vec<_>>(), [1, 2]);
    assert!(others.for_packets(1).is_none(), "packets are not looked up in it");
    assert!(others.for_packets(2).is_some());
    for (number, table) in (1..).zip(&config.routing_tables) {
        assert_eq!((others.row(number), others.number_of(table.row)), (table.row, number));
    }
    assert_eq!((others.row(0), others.row(4), others.number_of(9)), (0, 0, 0));
}

#[test]
fn a_table_is_made_once_it_has_routes_or_is_that_of_a_vrf() {
    numbers::<u32>();
    numbers::<u128>();
}

fn tables_stay<A: Address>() {
    let before = build::<A>(&config(), None).unwrap();
    assert!(before.changed.is_empty());
    let mut config = config();
    // Table 3 gets the first place, so that the others have other numbers; table 1 gets another gateway.
    config.routing_tables.rotate_right(1);
    for route in config.routes.iter_mut().filter(|route| route.options.table != 0) {
        route.options.table += 1;
    }
    config.routes.retain(|route| route.options.table != 2);
    let after = build::<A>(&config, Some(&before.others)).unwrap();
    for (old, new) in [(1, 2), (2, 3)] {
        assert!(Arc::ptr_eq(before.others.get(old).unwrap(), after.others.get(new).unwrap()));
    }
    assert!(!after.others.are_those_of(&before.others), "the numbers differ");
    assert_eq!(after.changed.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [2, 3]);
    let table = after.others.get(2).unwrap();
    let gateway = address("10.2.0.253");
    assert_eq!(look_up(table, "203.0.113.9"), RouteLookup::Via { interface: 1, gateway }, "not replaced yet");
    let stamps = after.others.replace_static(&after.changed).unwrap();
    assert_eq!(look_up(table, "203.0.113.9"), RouteLookup::NoRoute);
    assert_eq!(stamps.len(), 1, "the routes of the VRF are as before");
    assert!(std::ptr::eq(stamps[0], table.changed()));
    let again = build::<A>(&config, Some(&after.others)).unwrap();
    assert!(again.others.are_those_of(&after.others));
}

#[test]
fn tables_stay_with_their_rows_and_get_their_new_routes_later() {
    tables_stay::<u32>();
    tables_stay::<u128>();
}

fn refused<A: Address>() {
    let error = |change: &dyn Fn(&mut DataplaneConfig)| {
        let mut config = config();
        change(&mut config);
        let error = build::<A>(&config, None).err().unwrap();
        (error.row, error.message)
    };
    let row = config().routing_tables[2].row;
    let twice = error(&|config| config.routing_tables[2].zone = 7);
    assert_eq!(twice, (Some(row), "zone 7 has another routing table".to_owned()));
    let without = error(&|config| config.interfaces[0].zone = 8);
    assert_eq!(without, (Some(1), "zone 8 has no routing table".to_owned()));
}

#[test]
fn a_zone_has_one_table() {
    refused::<u32>();
    refused::<u128>();
}
