//! The routing tables of a family beside the main table, by number.
//!
//! They hold configured routes alone. Their gateways are found by these, and by the connected networks and configured
//! routes of the main table. Own addresses are those of the main table, in which every destination is looked up first.
//!
//! The table of a VRF has the connected networks and own addresses of the interfaces in its zone, as the main table has those
//! of the others, and sees nothing of the main table.

use std::collections::BTreeMap;
use std::sync::Arc;

use tollway_config::dataplane::{
    DataplaneConfig, InterfaceAddress, MAX_ROUTING_TABLES, RoutingTable, RowId, TableNumber,
};

use super::checked_route::ConnectedBase;
use super::resolver::{GatewayScope, StaticRoutes};
use super::{Address, FibFull, Prefix, Table};
use crate::error::BuildError;
use crate::flow::change_counters::TableStamp;
use crate::interface::InterfaceMap;
use crate::packet::tuple::Zone;
use crate::pages;

/// A table with a number.
#[derive(Debug, Clone)]
struct Numbered<A: Address> {
    /// Row of `/routing/table`.
    row: RowId,
    /// Packets are looked up in it.
    fib: bool,
    /// Zone of its VRF; 0 for none.
    zone: Zone,
    /// Not made before it has routes, unless it is that of a VRF.
    table: Option<Arc<Table<A>>>,
}

/// The tables of a family, without the main table.
#[derive(Debug, Clone)]
pub struct Tables<A: Address> {
    /// From number 1 on.
    numbered: Vec<Numbered<A>>,
    /// Tables of VRFs.
    zones: BTreeMap<Zone, TableNumber>,
}

impl<A: Address> Default for Tables<A> {
    fn default() -> Self {
        Self { numbered: Vec::new(), zones: BTreeMap::new() }
    }
}

/// Configured routes that are to replace those in tables; none for tables that stay as they are or are new.
#[derive(Debug, Clone)]
pub struct ChangedTables<A> {
    /// Of the main table.
    pub main: Option<StaticRoutes<A>>,
    /// Of the others, by number.
    pub others: NumberedRoutes<A>,
}

/// Configured routes by the number of their table.
type NumberedRoutes<A> = Vec<(TableNumber, StaticRoutes<A>)>;

impl<A> Default for ChangedTables<A> {
    fn default() -> Self {
        Self { main: None, others: Vec::new() }
    }
}

/// Connected networks and own addresses, by zone.
#[derive(Debug)]
pub struct Bases<A> {
    main: Arc<ConnectedBase<A>>,
    /// Those of VRFs.
    others: BTreeMap<Zone, Arc<ConnectedBase<A>>>,
}

impl<A: Address> Bases<A> {
    /// Those of a configuration; see [`ConnectedBase::new`].
    ///
    /// # Errors
    /// Names the row, too, of an interface in a zone that has no table.
    pub fn new(
        config: &DataplaneConfig,
        addresses: &[InterfaceAddress],
        map: &InterfaceMap,
        running: &[bool],
    ) -> Result<Self, BuildError> {
        let of = |addresses: &[InterfaceAddress]| {
            Ok(Arc::new(ConnectedBase::new(config, addresses, map, running)?))
        };
        let tables = config.routing_tables.iter().filter(|table| table.zone != 0);
        let mut others: BTreeMap<Zone, Vec<InterfaceAddress>> =
            tables.map(|table| (table.zone, Vec::new())).collect();
        let interfaces = config.interfaces.iter().filter(|interface| interface.zone != 0);
        let zones: BTreeMap<RowId, Zone> =
            interfaces.map(|interface| (interface.row, interface.zone)).collect();
        if let Some((row, zone)) = zones.iter().find(|(_, zone)| !others.contains_key(zone)) {
            return Err(BuildError::row(*row, format!("zone {zone} has no routing table")));
        }
        if others.is_empty() {
            return Ok(Self { main: of(addresses)?, others: BTreeMap::new() });
        }
        let mut main = Vec::with_capacity(addresses.len());
        for address in addresses {
            let zone = zones.get(&address.interface);
            zone.and_then(|zone| others.get_mut(zone)).unwrap_or(&mut main).push(address.clone());
        }
        let others = others.into_iter().map(|(zone, addresses)| Ok((zone, of(&addresses)?)));
        Ok(Self { main: of(&main)?, others: others.collect::<Result<_, BuildError>>()? })
    }

    /// Those that tables were built with.
    pub fn of_tables(main: &Table<A>, tables: &Tables<A>) -> Self {
        let vrfs =
            tables.zones.iter().filter_map(|(zone, number)| Some((*zone, tables.get(*number)?.base())));
        Self { main: main.base(), others: vrfs.collect() }
    }

    /// That of a zone.
    pub fn of(&self, zone: Zone) -> &Arc<ConnectedBase<A>> {
        self.others.get(&zone).unwrap_or(&self.main)
    }
}

/// What the gateways of routes are looked up in: the main table, then the configured ones.
///
/// # Errors
/// There are too many tables.
pub fn gateway_scopes<'a, A: Address>(
    bases: &'a Bases<A>,
    tables: &[RoutingTable],
) -> Result<Vec<GatewayScope<'a, A>>, BuildError> {
    if let Some(beyond) = tables.get(MAX_ROUTING_TABLES) {
        let message = format!("at most {MAX_ROUTING_TABLES} routing tables are possible");
        return Err(BuildError::row(beyond.row, message));
    }
    let main = GatewayScope { row: 0, base: &bases.main, sees_main: false };
    let others = tables.iter().map(|&RoutingTable { row, zone, .. }| GatewayScope {
        row,
        base: bases.of(zone),
        sees_main: zone == 0,
    });
    Ok(std::iter::once(main).chain(others).collect())
}

impl<A: Address> Tables<A> {
    /// The configured tables with these routes. A table of `before` that has room stays, and its routes are to be replaced;
    /// VRFs must be the same as then.
    ///
    /// # Errors
    /// A table has too many different next hops, or two tables have the same zone.
    pub fn build(
        bases: &Bases<A>,
        configured: &[RoutingTable],
        routes: impl Iterator<Item = StaticRoutes<A>>,
        before: Option<&Self>,
    ) -> Result<(Self, NumberedRoutes<A>), BuildError> {
        let mut tables = Self { numbered: Vec::with_capacity(configured.len()), zones: BTreeMap::new() };
        let mut changed = Vec::new();
        for ((number, &RoutingTable { row, fib, zone, .. }), routes) in (1..).zip(configured).zip(routes) {
            let known = before.and_then(|before| before.of_row(row)).filter(|table| table.has_room(&routes));
            let table = match known {
                Some(table) => {
                    changed.push((number, routes));
                    Some(Arc::clone(table))
                }
                None if zone == 0 && routes.routes.is_empty() => None,
                None => Some(Arc::new(new_table(bases.of(zone), zone, &routes)?)),
            };
            if zone != 0 && tables.zones.insert(zone, number).is_some() {
                return Err(BuildError::row(row, format!("zone {zone} has another routing table")));
            }
            tables.numbered.push(Numbered { row, fib, zone, table });
        }
        Ok((tables, changed))
    }

    /// The table in which packets of a zone are looked up if no rule and no mark decides, with its number. `main` is the main
    /// table.
    #[inline]
    pub fn home<'a>(&'a self, main: &'a Arc<Table<A>>, zone: Zone) -> (TableNumber, &'a Arc<Table<A>>) {
        match zone {
            0 => (0, main),
            _ => self
                .zones
                .get(&zone)
                .and_then(|number| Some((*number, self.get(*number)?)))
                .unwrap_or((0, main)),
        }
    }

    fn of_row(&self, row: RowId) -> Option<&Arc<Table<A>>> {
        self.numbered.iter().find(|numbered| numbered.row == row)?.table.as_ref()
    }

    fn numbered(&self, number: TableNumber) -> Option<&Numbered<A>> {
        self.numbered.get(usize::from(number).checked_sub(1)?)
    }

    /// A table; `None` for the main table, and while a table has no routes.
    pub fn get(&self, number: TableNumber) -> Option<&Arc<Table<A>>> {
        self.numbered(number)?.table.as_ref()
    }

    /// [`Self::get`] of a table in which packets are looked up.
    pub fn for_packets(&self, number: TableNumber) -> Option<&Arc<Table<A>>> {
        self.numbered(number).filter(|numbered| numbered.fib)?.table.as_ref()
    }

    /// Row of `/routing/table` of a number; 0 for the main table, and for a number without a table.
    pub fn row(&self, number: TableNumber) -> RowId {
        self.numbered(number).map_or(0, |numbered| numbered.row)
    }

    /// Number of a row of `/routing/table`; 0, that of the main table, if it is no table.
    pub fn number_of(&self, row: RowId) -> TableNumber {
        (1..).zip(&self.numbered).find(|(_, numbered)| numbered.row == row).map_or(0, |(number, _)| number)
    }

    /// Every table that has routes, with its number.
    pub fn iter(&self) -> impl Iterator<Item = (TableNumber, &Arc<Table<A>>)> {
        (1..).zip(&self.numbered).filter_map(|(number, numbered)| Some((number, numbered.table.as_ref()?)))
    }

    /// Whether these are the very tables of another snapshot, with the same numbers.
    pub fn are_those_of(&self, other: &Self) -> bool {
        let same = |(one, other): (&Numbered<A>, &Numbered<A>)| {
            let table = match (&one.table, &other.table) {
                (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                (one, other) => one.is_none() && other.is_none(),
            };
            table && (one.row, one.fib, one.zone) == (other.row, other.fib, other.zone)
        };
        self.numbered.len() == other.numbered.len() && self.numbered.iter().zip(&other.numbered).all(same)
    }

    /// Copies the routes of other programs from tables of the same rows in another snapshot that are not those of this one.
    ///
    /// # Errors
    /// A table has too many different next hops.
    pub fn adopt(&self, other: &Self) -> Result<(), FibFull> {
        let pairs = self.numbered.iter().filter(|numbered| numbered.zone != 0);
        let mut pairs =
            pairs.filter_map(|numbered| Some((numbered.table.as_ref()?, other.of_row(numbered.row)?)));
        pairs.try_for_each(|(new, old)| if Arc::ptr_eq(new, old) { Ok(()) } else { new.adopt(old) })
    }

    /// Whether enough numbers for next hops are left for [`Self::replace_static`] to install these routes.
    pub fn have_room(&self, routes: &[(TableNumber, StaticRoutes<A>)]) -> bool {
        routes.iter().all(|(number, routes)| self.get(*number).is_none_or(|table| table.has_room(routes)))
    }

    /// Replaces configured routes. Returns what to count as changed.
    ///
    /// # Errors
    /// A table has too many different next hops; some of the routes may be replaced.
    pub fn replace_static(
        &self,
        routes: &[(TableNumber, StaticRoutes<A>)],
    ) -> Result<Vec<&TableStamp>, FibFull> {
        let mut stamps = Vec::new();
        for (number, routes) in routes {
            let Some(table) = self.get(*number) else { continue };
            let changed: Vec<Prefix<A>> = table.replace_static(routes)?;
            if !changed.is_empty() {
                stamps.push(table.changed());
            }
        }
        Ok(stamps)
    }
}

/// Number of configured routes from which on a table is worth huge pages. Of a smaller one, each network may be in another
/// huge page, and there may be thousands of tables.
const LARGE: usize = 10_000;

fn new_table<A: Address>(
    base: &Arc<ConnectedBase<A>>,
    zone: Zone,
    routes: &StaticRoutes<A>,
) -> Result<Table<A>, BuildError> {
    let new = || match zone {
        0 => Table::without_networks(Arc::clone(base), routes),
        _ => Table::with_routes(Arc::clone(base), routes),
    };
    if routes.routes.len() < LARGE { pages::ordinary(new) } else { new() }
}

#[cfg(test)]
pub(crate) mod tests;
