//! Routes, for clients.

use std::net::IpAddr;
use std::sync::Arc;

use tollway_config::dataplane::{RowId, TableNumber};
use tollway_config::protocol::record::route_flag::{
    ACTIVE, BLACKHOLE, CONNECTED, ECMP, FURTHER, MULTIPATH, PROHIBIT, STATIC, UNREACHABLE,
};
use tollway_config::protocol::record::{Ipv6RouteRecord, PackedAddress, RouteRecord};
use tollway_config::protocol::{ROUTE_RECORD, ReplyBody};
use tollway_engine::ids::InterfaceIndex;
use tollway_engine::ip::fib::{Address, Discard, ListedRoute, RouteLookup, RouteSource, Table, Tables};
use tollway_engine::snapshot::Snapshot;

/// Every route, packed.
pub fn all(snapshot: &Snapshot) -> ReplyBody {
    let mut records = Vec::with_capacity((snapshot.fib().dynamic_len() + 64) * ROUTE_RECORD);
    let mut tell = |table: TableNumber, route: &ListedRoute| {
        let Described { flags, row, metric, protocol } = described(route);
        let record = RouteRecord {
            destination: route.destination,
            prefix_len: route.prefix_len,
            flags,
            distance: route.distance,
            protocol,
            table,
            gateway: route.gateway.unwrap_or(0),
            interface: route.interface,
            row,
            metric,
        };
        record.write(&mut records);
    };
    in_order(snapshot.fib(), snapshot.tables(), &mut tell);
    ReplyBody::Routes { records }
}

/// Every route of IPv6, packed.
pub fn all_ipv6(snapshot: &Snapshot) -> ReplyBody {
    let mut records = Vec::with_capacity((snapshot.fib6().dynamic_len() + 64) * Ipv6RouteRecord::SIZE);
    let mut tell = |table: TableNumber, route: &ListedRoute<u128>| {
        let Described { flags, row, metric, protocol } = described(route);
        let record = Ipv6RouteRecord {
            destination: PackedAddress(route.destination),
            gateway: PackedAddress(route.gateway.unwrap_or(0)),
            prefix_len: route.prefix_len,
            flags,
            distance: route.distance,
            protocol,
            table,
            interface: route.interface,
            row,
            metric,
        };
        record.write(&mut records);
    };
    in_order(snapshot.fib6(), snapshot.tables6(), &mut tell);
    ReplyBody::Ipv6Routes { records }
}

/// Tells the connected routes of all tables, then their configured ones, then those of other programs.
fn in_order<A: Address>(
    main: &Arc<Table<A>>,
    others: &Tables<A>,
    tell: &mut impl FnMut(TableNumber, &ListedRoute<A>),
) {
    let tables = || std::iter::once((0, main)).chain(others.iter());
    tables().for_each(|(number, table)| table.for_each_connected(|route| tell(number, route)));
    tables().for_each(|(number, table)| table.for_each_static(|route| tell(number, route)));
    tables().for_each(|(number, table)| table.for_each_learned(|route| tell(number, route)));
}

/// What records of both families say of a route in the same way.
struct Described {
    flags: u16,
    row: RowId,
    metric: u32,
    protocol: u16,
}

fn described<A>(route: &ListedRoute<A>) -> Described {
    let (kind, row, metric, protocol) = match route.source {
        RouteSource::Connected { address } => (CONNECTED, address, 0, 0),
        RouteSource::Static { row } => (STATIC, row, 0, 0),
        RouteSource::Dynamic { metric, protocol, multipath } => {
            (if multipath { MULTIPATH } else { 0 }, 0, metric, protocol)
        }
    };
    let flag = |set: bool, flag: u16| if set { flag } else { 0 };
    let discard = match route.discard {
        None => 0,
        Some(Discard::Blackhole) => BLACKHOLE,
        Some(Discard::Unreachable) => UNREACHABLE,
        Some(Discard::Prohibit) => PROHIBIT,
    };
    Described {
        flags: kind
            | flag(route.active, ACTIVE)
            | flag(route.ecmp, ECMP)
            | flag(route.further, FURTHER)
            | discard,
        row,
        metric,
        protocol: protocol.into(),
    }
}

/// Whether a looked up address is the router's own, and the interface that has it or leads to it.
fn way<A: Address>(lookup: RouteLookup<A>) -> (bool, Option<InterfaceIndex>) {
    (matches!(lookup, RouteLookup::Local { .. }), lookup.interface())
}

/// The route to an address.
pub fn to(snapshot: &Snapshot, address: IpAddr) -> ReplyBody {
    let (local, interface) = match address {
        IpAddr::V4(address) => way(snapshot.fib().lookup(address.to_bits())),
        IpAddr::V6(address) => way(snapshot.fib6().lookup(address.to_bits())),
    };
    let interface = interface.and_then(|index| snapshot.interface(index));
    ReplyBody::RouteTo { local, interface: interface.map(|interface| interface.row) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};
    use tollway_config::dataplane::{
        ArpMode, DataplaneConfig, Interface, InterfaceAddress, InterfaceKind, IoChoice, Route, RouteTarget,
    };
    use tollway_engine::ip::fib::{DynamicRoute, DynamicTarget, RouteChange};
    use tollway_engine::snapshot::PortFacts;

    /// Flags of a record.
    fn flags(record: &[u8]) -> u16 {
        u16::from_le_bytes([record[6], record[7]])
    }

    #[test]
    fn every_route_is_packed_however_many_there_are() {
        let snapshot = snapshot();
        let learned = |at: u32, metric| {
            RouteChange::Replace(DynamicRoute {
                destination: 0x2000_0000 | at << 8,
                prefix_len: 24,
                metric,
                protocol: 186,
                distance: 20,
                target: DynamicTarget::Gateway { address: 0x0a02_0002, interface: None },
                multipath: false,
                source: 0,
            })
        };
        let mut changes: Vec<RouteChange> = (0..60_000).map(|at| learned(at, 7)).collect();
        // Another to the same destination, of a larger distance.
        changes.push(learned(5, 9));
        snapshot.fib().change(&changes, &mut Vec::new()).unwrap();
        let ReplyBody::Routes { records } = all(&snapshot) else { panic!() };
        let records: Vec<&[u8]> = records.chunks_exact(ROUTE_RECORD).collect();
        let connected = records.iter().filter(|record| flags(record) & CONNECTED != 0).count();
        assert_eq!(connected, 2);
        let configured = records[connected];
        assert_eq!(configured[..6], [0, 0, 64, 100, 16, 1]);
        assert_eq!((flags(configured), &configured[8..12]), (ACTIVE | STATIC, &[0; 4][..]));
        assert_eq!(configured[12..16], 0x0a02_0002_u32.to_le_bytes());
        assert_eq!(configured[20..24], 31_u32.to_le_bytes());
        let learned = &records[connected + 1..];
        assert_eq!(learned.len(), 60_001);
        let of_five: Vec<_> = learned.iter().filter(|record| record[..4] == [0, 5, 0, 0x20]).collect();
        assert_eq!(of_five.len(), 2);
        for record in of_five {
            assert_eq!(flags(record), if record[24] == 7 { ACTIVE } else { 0 });
            assert_eq!((&record[4..6], &record[8..10]), (&[24, 20][..], &[186, 0][..]));
        }
    }

    #[test]
    fn a_route_that_discards_says_how() {
        let snapshot = snapshot();
        let types = [
            (Discard::Blackhole, BLACKHOLE),
            (Discard::Unreachable, UNREACHABLE),
            (Discard::Prohibit, PROHIBIT),
        ];
        for (discard, flag) in types {
            let route = DynamicRoute {
                destination: 0x2000_0000,
                prefix_len: 24,
                metric: 7,
                protocol: 186,
                distance: 20,
                target: DynamicTarget::Discard(discard),
                multipath: false,
                source: 0,
            };
            snapshot.fib().change(&[RouteChange::Replace(route)], &mut Vec::new()).unwrap();
            let ReplyBody::Routes { records } = all(&snapshot) else { panic!() };
            let record = records.chunks_exact(ROUTE_RECORD).last().unwrap();
            assert_eq!(record[..6], [0, 0, 0, 0x20, 24, 20]);
            assert_eq!((flags(record), record[8]), (ACTIVE | flag, 186));
            assert_eq!(record[12..20], [0; 8], "neither next hop nor interface");
        }
    }

    #[test]
    fn a_route_of_several_next_hops_says_so() {
        let snapshot = snapshot();
        let mut route = DynamicRoute {
            destination: 0x2000_0000,
            prefix_len: 24,
            metric: 7,
            protocol: 186,
            distance: 20,
            target: DynamicTarget::Gateway { address: 0x0a02_0002, interface: None },
            multipath: true,
            source: 0,
        };
        let flags_of = |route| {
            snapshot.fib().change(&[RouteChange::Replace(route)], &mut Vec::new()).unwrap();
            let ReplyBody::Routes { records } = all(&snapshot) else { panic!() };
            flags(records.chunks_exact(ROUTE_RECORD).last().unwrap())
        };
        assert_eq!(flags_of(route), ACTIVE | MULTIPATH);
        // It goes over into a new table as it is.
        assert_eq!(snapshot.fib().dynamic_routes().collect::<Vec<_>>(), [route]);
        route.multipath = false;
        assert_eq!(flags_of(route), ACTIVE);
    }

    #[test]
    fn the_way_to_an_address_is_that_of_its_packets() {
        let snapshot = snapshot();
        let way = |address: &str| match to(&snapshot, address.parse().unwrap()) {
            ReplyBody::RouteTo { local, interface } => (local, interface),
            _ => panic!(),
        };
        assert_eq!(way("100.64.7.7"), (false, Some(2)));
        assert_eq!(way("10.2.0.2"), (false, Some(2)));
        assert_eq!(way("10.1.0.9"), (false, Some(1)));
        assert_eq!(way("10.2.0.1"), (true, Some(2)));
        assert_eq!(way("9.9.9.9"), (false, None));
        assert_eq!(way("2001:db8:1::9"), (false, Some(1)));
        assert_eq!(way("2001:db8:1::1"), (true, Some(1)));
        assert_eq!(way("2001:db8:2::1"), (false, None));
    }

    /// Networks 10.1.0.0/24 and 10.2.0.0/24, and a route by the second.
    fn snapshot() -> Snapshot {
        let interface = |row| Interface {
            row,
            name: format!("ether{row}"),
            kind: InterfaceKind::Ethernet { port: format!("ether{row}"), io: IoChoice::Auto },
            disabled: false,
            mtu: 1500,
            mac_address: None,
            arp: ArpMode::Enabled,
            arp_timeout_ms: None,
            zone: 0,
        };
        let address = |row: u8| InterfaceAddress {
            row: 20 + u32::from(row),
            interface: row.into(),
            address: Ipv4Addr::new(10, row, 0, 1).into(),
            prefix_len: 24,
            network: Ipv4Addr::new(10, row, 0, 0).into(),
            ipv6: Default::default(),
        };
        let ipv6 = InterfaceAddress {
            row: 23,
            address: Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1).into(),
            prefix_len: 64,
            network: Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 0).into(),
            ..address(1)
        };
        let config = DataplaneConfig {
            interfaces: vec![interface(1), interface(2)],
            addresses: vec![address(1), address(2), ipv6],
            routes: vec![Route {
                row: 31,
                destination: Ipv4Addr::new(100, 64, 0, 0).into(),
                prefix_len: 16,
                distance: 1,
                target: RouteTarget::Gateway { address: Ipv4Addr::new(10, 2, 0, 2).into(), interface: None },
                pref_src: None,
                options: Default::default(),
            }],
            ..DataplaneConfig::default()
        };
        let facts =
            |row: u8| PortFacts { name: format!("ether{row}"), mac: [2, 0, 0, 0, 0, row], running: true };
        Snapshot::build(&config, &[facts(1), facts(2)], 1, 1).unwrap()
    }
}
