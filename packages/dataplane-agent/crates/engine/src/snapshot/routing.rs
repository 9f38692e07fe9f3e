//! Policy routing of a snapshot: the tables of a family with the rules that choose between them.

use std::sync::Arc;

use tollway_config::dataplane::{RowId, TableNumber};

use super::Snapshot;
use crate::flow::change_counters::Stamp;
use crate::ids::{InterfaceIndex, NO_INTERFACE};
use crate::ip::fib::{Address, RouteLookup, Table, Tables};
use crate::ip::routing_policy::{Decision, RoutingPolicy, RoutingQuery, RoutingTables};
use crate::packet::tuple::Zone;

/// The tables of a family, where there is more to routing than the main table.
#[derive(Debug)]
pub(crate) struct FamilyTables<'a, A: Address> {
    policy: &'a RoutingPolicy<A>,
    tables: RoutingTables<'a, A>,
}

impl Snapshot {
    /// The tables of IPv4, if packets are looked up in others than the main table.
    #[inline]
    pub(crate) fn policy(&self) -> Option<FamilyTables<'_, u32>> {
        let policy = self.policy.as_ref()?;
        Some(FamilyTables { policy, tables: RoutingTables { main: &self.fib, others: &self.tables } })
    }

    /// The tables of IPv6, if packets are looked up in others than the main table.
    #[inline]
    pub(crate) fn policy6(&self) -> Option<FamilyTables<'_, u128>> {
        let policy = self.policy6.as_ref()?;
        Some(FamilyTables { policy, tables: RoutingTables { main: &self.fib6, others: &self.tables6 } })
    }

    /// Whether packets of a family may be looked up in other tables than the main table.
    pub(crate) fn has_policy(&self) -> bool {
        self.policy.is_some() || self.policy6.is_some()
    }

    /// The tables of IPv4 beside the main table.
    pub fn tables(&self) -> &Tables<u32> {
        &self.tables
    }

    /// The tables of IPv6 beside the main table.
    pub fn tables6(&self) -> &Tables<u128> {
        &self.tables6
    }

    /// The table of IPv4 in which packets of a zone are looked up if no rule and no mark decides. Own addresses are its.
    #[inline]
    pub fn home(&self, zone: Zone) -> &Arc<Table<u32>> {
        self.tables.home(&self.fib, zone).1
    }

    /// [`Self::home`] of IPv6.
    #[inline]
    pub fn home6(&self, zone: Zone) -> &Arc<Table<u128>> {
        self.tables6.home(&self.fib6, zone).1
    }

    /// The table of IPv6 with a number.
    #[inline]
    pub(crate) fn table6(&self, number: TableNumber) -> &Arc<Table<u128>> {
        self.tables6.get(number).unwrap_or(&self.fib6)
    }
}

impl<'a, A: Address> FamilyTables<'a, A> {
    /// See [`RoutingPolicy::decide`].
    pub fn decide(&self, query: &RoutingQuery<A>, flow: impl Fn() -> u64) -> Decision<A> {
        self.policy.decide(self.tables, query, flow)
    }

    /// See [`RoutingPolicy::changed_since`].
    pub fn changed_since(&self, query: &RoutingQuery<A>, stamp: Stamp, main: impl Fn() -> bool) -> bool {
        self.policy.changed_since(self.tables, query, stamp, main)
    }

    /// Whether packets can have routing marks that lead to a table.
    pub fn has_marks(&self) -> bool {
        self.policy.has_marks()
    }

    /// Whether a table other than the main table has changed since `stamp`.
    pub fn any_changed_since(&self, stamp: Stamp) -> bool {
        self.tables.others.iter().any(|(_, table)| table.changed().changed_since(stamp))
    }

    /// Rows of what a decision came from: the rule, the table unless it is the main table, and the configured route.
    pub fn rows_of(&self, query: &RoutingQuery<A>) -> Vec<RowId> {
        let decision = self.decide(query, || 0);
        let table = self.tables.others.get(decision.table).map_or(self.tables.main, |table| table);
        let route = table.row_of(query.destination).filter(|_| decision.refused.is_none());
        let rows = [decision.rule, self.tables.others.row(decision.table), route.unwrap_or(0)];
        rows.into_iter().filter(|row| *row != 0).collect()
    }

    /// The table in which packets of a zone from one address to another are found that have no mark and come in by no
    /// interface.
    fn table_of(&self, zone: Zone, source: A, destination: A) -> &'a Table<A> {
        let query = RoutingQuery { zone, source, destination, mark: 0, interface: NO_INTERFACE };
        let number = self.decide(&query, || 0).table;
        self.tables.others.get(number).map_or(self.tables.main, |table| table)
    }

    /// Whether packets to another station may leave by an interface, or by any. No rule that refuses them lets them leave.
    pub fn leaves_by(&self, query: &RoutingQuery<A>, interface: Option<InterfaceIndex>) -> bool {
        let decision = self.decide(query, || 0);
        let table = self.tables.others.get(decision.table).map_or(self.tables.main, |table| table);
        decision.lookup != RouteLookup::NoRoute && table.leaves_by(query.destination, interface)
    }

    /// Source address for packets of the router from a zone to a destination.
    pub fn source_for(&self, zone: Zone, destination: A) -> Option<A> {
        self.table_of(zone, A::default(), destination).source_for(destination)
    }
}
