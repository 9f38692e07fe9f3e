//! The next hops of configured routes: by their gateways, by other routes to these, and without gateways that are down.
//!
//! A gateway is looked up in the connected networks and in those configured routes whose scope is at most the target
//! scope of the route; the longest prefix decides, and of routes to one prefix the one with the lowest distance that has
//! a next hop. Routes that need each other have none.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use tollway_config::dataplane::{
    CONNECTED_SCOPE, Gateway, GatewayCheck, Route, RouteTarget, RowId, TableNumber,
};

use super::address::{Address, Prefix};
use super::checked_route::{CheckedRoute, ConnectedBase, NextHopTarget};
use super::group::GROUPS;
use super::lookup::{NextHop, RouteLookup};
use super::shares::limited;
use crate::error::BuildError;
use crate::ip::gateway_checks::{GatewayKey, GatewayProbe};

/// Routes that may lead to a gateway one after the other at most.
const MAX_DEPTH: usize = 16;

/// What the gateways of a table's routes are looked up in.
#[derive(Debug)]
pub struct GatewayScope<'a, A> {
    /// Row of the table; 0 for the main table.
    pub row: RowId,
    /// Connected networks and own addresses.
    pub base: &'a ConnectedBase<A>,
    /// The configured routes of the main table lead to gateways, too.
    pub sees_main: bool,
}

/// The configured routes of a table, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaticRoutes<A> {
    /// By prefix, then in configured order.
    pub routes: Vec<CheckedRoute<A>>,
    /// Gateways that are to be probed.
    pub probes: Vec<GatewayProbe>,
}

impl<A> Default for StaticRoutes<A> {
    fn default() -> Self {
        Self { routes: Vec::new(), probes: Vec::new() }
    }
}

/// Checks the configured routes of a family and finds their next hops. The zones and the result are in the order of the
/// numbers of the tables. Errors name the row.
pub fn resolve<A: Address>(
    zones: &[GatewayScope<'_, A>],
    routes: &[Route],
    down: &HashSet<GatewayKey>,
) -> Result<Vec<StaticRoutes<A>>, BuildError> {
    let routes: Vec<(A, &Route)> =
        routes.iter().filter_map(|route| Some((A::of(route.destination)?, route))).collect();
    let mut tables: Vec<StaticRoutes<A>> = zones.iter().map(|_| StaticRoutes::default()).collect();
    let mut resolver = Resolver::new(zones, &routes, down);
    let mut groups: HashMap<TableNumber, HashSet<_>> = HashMap::new();
    for (at, (network, route)) in routes.iter().enumerate() {
        let table = route.options.table;
        let no_table =
            || BuildError::row(route.row, format!("routing-table: there is no table of number {table}"));
        let zone = zones.get(usize::from(table)).ok_or_else(no_table)?;
        let mut checked = zone.base.check_one(*network, route)?;
        if let RouteTarget::Gateways { gateways } = &route.target
            && gateways.iter().any(|gateway| zones.get(usize::from(gateway.table.unwrap_or(0))).is_none())
        {
            return Err(BuildError::row(route.row, "gateway: names a table that does not exist".to_owned()));
        }
        if let RouteTarget::Gateways { gateways } = &route.target
            && gateways.len() > 1
        {
            // By what is configured and not by what is up now, so that no link that comes up makes them too many.
            let of_table = groups.entry(table).or_default();
            let parts = gateways.iter().map(|gateway| (gateway.address, gateway.interface, gateway.table));
            of_table.insert((parts.collect::<Vec<_>>(), route.distance, route.pref_src));
            if of_table.len() > GROUPS {
                let message = format!("gateway: a table has at most {GROUPS} different groups of gateways");
                return Err(BuildError::row(route.row, message));
            }
        }
        if resolver.concerns(route) {
            let hops = resolver.hops_of(at, 0);
            // What the connected networks alone say needs not be said once more.
            let plain = match checked.info.target {
                NextHopTarget::Gateway { address, interface } => zone.base.hop_to(address, interface),
                _ => None,
            };
            if plain.is_none() || plain.as_slice() != &*hops {
                let gateway = checked.info.gateway();
                checked.info.target = NextHopTarget::Hops { gateway, hops };
            }
        }
        if let Some(table) = tables.get_mut(usize::from(table)) {
            table.routes.push(checked);
        }
    }
    for (table, probes) in resolver.probes {
        if let Some(table) = tables.get_mut(usize::from(table)) {
            table.probes.extend(probes);
        }
    }
    for table in &mut tables {
        table.routes.sort_by_key(|checked| checked.prefix);
    }
    Ok(tables)
}

/// A gateway as its route says it.
struct Wanted<A> {
    address: Option<A>,
    interface: Option<RowId>,
    table: TableNumber,
    target_scope: u8,
    check: Option<GatewayCheck>,
}

struct Resolver<'a, A: Address> {
    zones: &'a [GatewayScope<'a, A>],
    routes: &'a [(A, &'a Route)],
    down: &'a HashSet<GatewayKey>,
    /// Routes that may lead to gateways, by table and prefix.
    leading: HashMap<(TableNumber, Prefix<A>), Vec<usize>>,
    /// Their prefix lengths.
    lengths: BTreeSet<u8>,
    /// Next hops by route; `None` while they are being looked for.
    known: HashMap<usize, Option<Arc<[NextHop<A>]>>>,
    probes: HashMap<TableNumber, Vec<GatewayProbe>>,
}

impl<'a, A: Address> Resolver<'a, A> {
    fn new(
        zones: &'a [GatewayScope<'a, A>],
        routes: &'a [(A, &'a Route)],
        down: &'a HashSet<GatewayKey>,
    ) -> Self {
        let widest = routes.iter().map(|(_, route)| route.options.target_scope).max().unwrap_or(0);
        let mut leading: HashMap<_, Vec<usize>> = HashMap::new();
        let mut lengths = BTreeSet::new();
        for (at, (network, route)) in routes.iter().enumerate() {
            if route.options.scope <= widest {
                let prefix = (network.masked(route.prefix_len), route.prefix_len);
                leading.entry((route.options.table, prefix)).or_default().push(at);
                lengths.insert(route.prefix_len);
            }
        }
        for same in leading.values_mut() {
            same.sort_by_key(|at| routes.get(*at).map(|(_, route)| route.distance));
        }
        Self { zones, routes, down, leading, lengths, known: HashMap::new(), probes: HashMap::new() }
    }

    /// Whether the next hops of a route need more than the connected networks.
    fn concerns(&self, route: &Route) -> bool {
        match &route.target {
            RouteTarget::Gateways { .. } => true,
            RouteTarget::Gateway { interface, .. } => {
                route.options.check_gateway.is_some()
                    || interface.is_none()
                        && (!self.leading.is_empty() || route.options.target_scope < CONNECTED_SCOPE)
            }
            RouteTarget::Interface { .. }
            | RouteTarget::Blackhole
            | RouteTarget::Unreachable
            | RouteTarget::Prohibit => false,
        }
    }

    /// Next hops of a route.
    fn hops_of(&mut self, at: usize, depth: usize) -> Arc<[NextHop<A>]> {
        match self.known.get(&at) {
            Some(Some(known)) => return Arc::clone(known),
            // It would lead to its own gateway.
            Some(None) => return Arc::new([]),
            None => {}
        }
        let Some((_, route)) = self.routes.get(at).filter(|_| depth < MAX_DEPTH) else { return Arc::new([]) };
        self.known.insert(at, None);
        let gateways: Vec<Gateway> = match &route.target {
            RouteTarget::Gateways { gateways } => gateways.clone(),
            RouteTarget::Gateway { address, interface } => {
                vec![Gateway { address: Some(*address), interface: *interface, table: None }]
            }
            RouteTarget::Interface { interface } => {
                vec![Gateway { address: None, interface: Some(*interface), table: None }]
            }
            RouteTarget::Blackhole | RouteTarget::Unreachable | RouteTarget::Prohibit => Vec::new(),
        };
        let mut hops = Vec::new();
        for gateway in gateways {
            let wanted = Wanted {
                address: gateway.address.and_then(A::of),
                interface: gateway.interface,
                table: gateway.table.unwrap_or(route.options.table),
                target_scope: route.options.target_scope,
                check: route.options.check_gateway,
            };
            self.add_hops(&wanted, depth, &mut hops);
        }
        let hops: Arc<[NextHop<A>]> = limited(hops).into();
        self.known.insert(at, Some(Arc::clone(&hops)));
        hops
    }

    fn add_hops(&mut self, wanted: &Wanted<A>, depth: usize, hops: &mut Vec<NextHop<A>>) {
        let Some(zone) = self.zones.get(usize::from(wanted.table)) else { return };
        let Some(address) = wanted.address else {
            hops.extend(wanted.interface.and_then(|interface| zone.base.hop_by(interface)));
            return;
        };
        let found: Arc<[NextHop<A>]> = match wanted.interface {
            Some(_) => zone.base.hop_to(address, wanted.interface).into_iter().collect(),
            None => self.hops_to(wanted, address, depth),
        };
        let (Some(check), Some(hop)) = (wanted.check, found.first()) else {
            hops.extend(found.iter());
            return;
        };
        let key = GatewayKey { table: zone.row, address: address.addr(), check };
        if let RouteLookup::Via { interface, gateway } = hop.lookup {
            let (interface, next_hop) = (zone.base.row(interface), gateway.addr());
            let probe = GatewayProbe { key, interface, next_hop, source: hop.source.addr() };
            self.probes.entry(wanted.table).or_default().push(probe);
        }
        if !self.down.contains(&key) {
            hops.extend(found.iter());
        }
    }

    /// Next hops to a gateway for which no interface is given.
    fn hops_to(&mut self, wanted: &Wanted<A>, address: A, depth: usize) -> Arc<[NextHop<A>]> {
        let Some(zone) = self.zones.get(usize::from(wanted.table)) else { return Arc::new([]) };
        if zone.base.is_own(address) {
            return Arc::new([]);
        }
        let connected = zone.base.neighbor_on(address, None);
        let connected = connected.filter(|_| wanted.target_scope >= CONNECTED_SCOPE);
        let direct = connected.map_or(0, |(len, ..)| len);
        let lengths: Vec<u8> = self
            .lengths
            .iter()
            .rev()
            .copied()
            .take_while(|len| *len > direct || connected.is_none())
            .collect();
        let tables = [Some(wanted.table), Some(0).filter(|_| zone.sees_main && wanted.table != 0)];
        for len in lengths {
            for table in tables.into_iter().flatten() {
                let prefix = (address.masked(len), len);
                if let Some(hops) = self.hops_by((table, prefix), wanted.target_scope, address, depth) {
                    return hops;
                }
            }
        }
        connected.and_then(|_| zone.base.hop_to(address, None)).into_iter().collect()
    }

    /// Next hops to a gateway by the routes to a prefix; `None` when none of them has one.
    fn hops_by(
        &mut self,
        key: (TableNumber, Prefix<A>),
        target_scope: u8,
        address: A,
        depth: usize,
    ) -> Option<Arc<[NextHop<A>]>> {
        let same = self.leading.get(&key)?.clone();
        let mut hops = Vec::new();
        let mut distance = None;
        for at in same {
            let Some((_, route)) = self.routes.get(at) else { continue };
            if route.options.scope > target_scope
                || distance.is_some_and(|distance| distance < route.distance)
            {
                continue;
            }
            let found = self.hops_of(at, depth + 1);
            if !found.is_empty() {
                distance = Some(route.distance);
            }
            hops.extend(found.iter().map(|hop| match hop.lookup {
                // The gateway is a neighbour on this interface.
                RouteLookup::Connected { interface } => {
                    NextHop { lookup: RouteLookup::Via { interface, gateway: address }, ..*hop }
                }
                _ => *hop,
            }));
        }
        Some(limited(hops)).filter(|hops| !hops.is_empty()).map(Into::into)
    }
}
