//! The routing tables of a family beside the main table, by number.
//!
//! They hold configured routes alone. Their gateways are found by these, and by the connected networks and configured
//! routes of the main table. Own addresses are those of the main table, in which every destination is looked up first.

use std::sync::Arc;

use tollway_config::dataplane::{MAX_ROUTING_TABLES, RoutingTable, RowId, TableNumber};

use super::checked_route::ConnectedBase;
use super::resolver::{StaticRoutes, Zone};
use super::{Address, FibFull, Prefix, Table};
use crate::error::BuildError;
use crate::flow::change_counters::TableStamp;

/// A table with a number.
#[derive(Debug, Clone)]
struct Numbered<A: Address> {
    /// Row of `/routing/table`.
    row: RowId,
    /// Packets are looked up in it.
    fib: bool,
    /// Not made before it has routes.
    table: Option<Arc<Table<A>>>,
}

/// The tables of a family, without the main table.
#[derive(Debug, Clone)]
pub struct Tables<A: Address>(Vec<Numbered<A>>);

impl<A: Address> Default for Tables<A> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Configured routes that are to replace those in tables; none for tables that stay as they are or are new.
#[derive(Debug, Clone)]
pub struct ChangedTables<A> {
    /// Of the main table.
    pub main: Option<StaticRoutes<A>>,
    /// Of the others, by number.
    pub others: Vec<(TableNumber, StaticRoutes<A>)>,
}

impl<A> Default for ChangedTables<A> {
    fn default() -> Self {
        Self { main: None, others: Vec::new() }
    }
}

/// What the gateways of routes are looked up in: the main table, then the configured ones.
///
/// # Errors
/// There are too many tables.
pub fn zones<'a, A: Address>(
    base: &'a ConnectedBase<A>,
    tables: &[RoutingTable],
) -> Result<Vec<Zone<'a, A>>, BuildError> {
    if let Some(beyond) = tables.get(MAX_ROUTING_TABLES) {
        let message = format!("at most {MAX_ROUTING_TABLES} routing tables are possible");
        return Err(BuildError::row(beyond.row, message));
    }
    let main = Zone { row: 0, base, sees_main: false };
    Ok(std::iter::once(main)
        .chain(tables.iter().map(|table| Zone { row: table.row, base, sees_main: true }))
        .collect())
}

impl<A: Address> Tables<A> {
    /// The configured tables with these routes. A table of `before` that has room stays, and its routes are to be replaced.
    ///
    /// # Errors
    /// A table has too many different next hops.
    pub fn build(
        base: &Arc<ConnectedBase<A>>,
        configured: &[RoutingTable],
        routes: impl Iterator<Item = StaticRoutes<A>>,
        before: Option<&Self>,
    ) -> Result<(Self, Vec<(TableNumber, StaticRoutes<A>)>), BuildError> {
        let (mut tables, mut changed) = (Vec::with_capacity(configured.len()), Vec::new());
        for ((number, RoutingTable { row, fib, .. }), routes) in (1..).zip(configured).zip(routes) {
            let known = before.and_then(|before| before.of_row(*row)).filter(|table| table.has_room(&routes));
            let table = match known {
                Some(table) => {
                    changed.push((number, routes));
                    Some(Arc::clone(table))
                }
                None if routes.routes.is_empty() => None,
                None => Some(Arc::new(Table::without_networks(Arc::clone(base), &routes)?)),
            };
            tables.push(Numbered { row: *row, fib: *fib, table });
        }
        Ok((Self(tables), changed))
    }

    fn of_row(&self, row: RowId) -> Option<&Arc<Table<A>>> {
        self.0.iter().find(|numbered| numbered.row == row)?.table.as_ref()
    }

    fn numbered(&self, number: TableNumber) -> Option<&Numbered<A>> {
        self.0.get(usize::from(number).checked_sub(1)?)
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
        (1..).zip(&self.0).find(|(_, numbered)| numbered.row == row).map_or(0, |(number, _)| number)
    }

    /// Every table that has routes, with its number.
    pub fn iter(&self) -> impl Iterator<Item = (TableNumber, &Arc<Table<A>>)> {
        (1..).zip(&self.0).filter_map(|(number, numbered)| Some((number, numbered.table.as_ref()?)))
    }

    /// Whether these are the very tables of another snapshot, with the same numbers.
    pub fn are_those_of(&self, other: &Self) -> bool {
        let same = |(one, other): (&Numbered<A>, &Numbered<A>)| {
            let table = match (&one.table, &other.table) {
                (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                (one, other) => one.is_none() && other.is_none(),
            };
            table && one.row == other.row && one.fib == other.fib
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(same)
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
