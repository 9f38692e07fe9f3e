//! VRFs against one table.

use tollway_config::dataplane::{DataplaneConfig, Gateway, Route, RouteTarget, RoutingTable};

use crate::measure::{CaseResult, compare};
use crate::scenario::{LAN, Scenario, WAN};
use crate::timed_engine::{Setup, lan_row};
use crate::traffic::Traffic;

/// VRFs, each of a VLAN.
const VRFS: u16 = 16;
/// Row of the first routing table.
const FIRST_TABLE: u32 = 700;

/// 65,536 established flows in random order, tracked and masqueraded, from 16 VLANs of a port to another one of it: each of
/// the 16 is a VRF with the same network, a table of its own and a leak to the main table; and all of them in the main table,
/// in turns.
pub fn vrf_16(windows: usize) -> Result<CaseResult, String> {
    let setup = |vrfs: bool| {
        let mut setup = Setup::of(Scenario::MASQUERADE, Traffic::new(65_536, false)).over_lans(VRFS);
        if vrfs {
            into_vrfs(&mut setup.config);
        }
        setup
    };
    compare(windows, ("16 VRFs", setup(true)), ("one table", setup(false)))
}

/// Puts each of the networks that flows come from into a VRF of its own.
fn into_vrfs(config: &mut DataplaneConfig) {
    let (addresses, neighbors, routes) =
        (config.addresses.clone(), config.neighbors.clone(), config.routes.clone());
    for vrf in 0..VRFS {
        let (row, zone, number) = (lan_row(vrf), vrf + 1, vrf + 1);
        for interface in config.interfaces.iter_mut().filter(|interface| interface.row == row) {
            interface.zone = zone;
        }
        let name = format!("vrf{number}");
        config.routing_tables.push(RoutingTable {
            row: FIRST_TABLE + u32::from(vrf),
            name,
            mark: 0,
            fib: true,
            zone,
        });
        if row != LAN {
            // The same address, neighbour and networks as in the first one.
            let there = |interface| interface == LAN;
            let of_first = addresses.iter().filter(|address| there(address.interface)).cloned();
            config.addresses.extend(of_first.map(|mut address| {
                (address.row, address.interface) = (address.row + 100 * u32::from(number), row);
                address
            }));
            let of_first = neighbors.iter().filter(|neighbor| there(neighbor.interface)).cloned();
            config.neighbors.extend(of_first.map(|mut neighbor| {
                (neighbor.row, neighbor.interface) = (neighbor.row + 100 * u32::from(number), row);
                neighbor
            }));
        }
        for route in &routes {
            config
                .routes
                .push(Route { row: route.row + 100 * u32::from(number), ..in_vrf(route, number, row) });
        }
    }
}

/// A route of the main table in that of a VRF: straight to its own interface, or leaking to the uplink.
fn in_vrf(route: &Route, table: u16, interface: u32) -> Route {
    let mut route = route.clone();
    route.options.table = table;
    if let RouteTarget::Gateway { address, interface: by } = route.target {
        let leaks = by == Some(WAN);
        let gateway = Gateway {
            address: Some(address),
            interface: Some(if leaks { WAN } else { interface }),
            table: leaks.then_some(0),
        };
        route.target = RouteTarget::Gateways { gateways: vec![gateway] };
    }
    route
}
