//! Routing tables and rules of a configuration under construction.

use std::net::IpAddr;

use tollway_config::dataplane::{
    DataplaneConfig, Gateway, Mark, Prefix, RouteTarget, RoutingAction, RoutingRule, RoutingTable, RowId,
    TableNumber,
};

use crate::config::{RouterConfig, any_prefix};

/// Row of the first routing table.
const FIRST_TABLE: RowId = 700;
/// Row of the first routing rule.
const FIRST_RULE: RowId = 800;

/// The routing mark that leads to a table.
pub const fn table_mark(table: TableNumber) -> Mark {
    0x7000 + table as Mark
}

/// The row of a table.
pub const fn table_row(table: TableNumber) -> RowId {
    FIRST_TABLE + table as RowId - 1
}

/// A lookup in a table, after which the following rules decide if it has no route.
pub const fn lookup(table: TableNumber) -> RoutingAction {
    RoutingAction::Lookup { table, only: false, min_prefix: None }
}

/// A rule for every packet; to be narrowed by its fields. The row is that of its place once it is added.
pub const fn routing_rule(action: RoutingAction) -> RoutingRule {
    RoutingRule { row: 0, source: None, destination: None, routing_mark: None, interface: None, action }
}

/// A network of either family.
pub fn network(text: &str) -> Option<Prefix> {
    let (address, prefix_len) = any_prefix(text);
    Some(Prefix { address, prefix_len })
}

/// The target that is a gateway in another table.
fn gateway_in(table: TableNumber, address: IpAddr) -> RouteTarget {
    RouteTarget::Gateways {
        gateways: vec![Gateway { address: Some(address), interface: None, table: Some(table) }],
    }
}

/// Makes black holes of the routes of a table that lead by a gateway of the main table, or leads them there again: by one
/// gateway of IPv4, one of IPv6.
pub fn toggle_leak(config: &mut DataplaneConfig, table: TableNumber, gateways: [IpAddr; 2]) {
    for route in config.routes.iter_mut().filter(|route| route.options.table == table) {
        route.target = match route.target {
            RouteTarget::Gateways { .. } => RouteTarget::Blackhole,
            _ => gateway_in(0, gateways[usize::from(route.destination.is_ipv6())]),
        };
    }
}

impl RouterConfig {
    /// Adds the next routing table: table 1, 2 …
    pub fn routing_table(mut self) -> Self {
        let tables = &mut self.config.routing_tables;
        let number = tables.len() as TableNumber + 1;
        let (row, name) = (table_row(number), format!("table{number}"));
        tables.push(RoutingTable { row, name, mark: table_mark(number), fib: true, zone: 0 });
        self
    }

    /// Adds the next routing table, which is that of a VRF of these interfaces. Its zone is `zone`.
    pub fn vrf(mut self, zone: u16, interfaces: &[RowId]) -> Self {
        self = self.routing_table();
        if let Some(table) = self.config.routing_tables.last_mut() {
            table.zone = zone;
        }
        for interface in self.config.interfaces.iter_mut().filter(|each| interfaces.contains(&each.row)) {
            interface.zone = zone;
        }
        self
    }

    /// Adds a static route to a table, by a gateway that is looked up in another one.
    pub fn leak(self, table: TableNumber, destination: &str, gateway: &str, by: TableNumber) -> Self {
        let gateway = gateway_in(by, gateway.parse().expect("an address"));
        let mut config = self.route_to(destination, gateway);
        if let Some(route) = config.config.routes.last_mut() {
            route.options.table = table;
        }
        config
    }

    /// Adds a static route by a gateway to a table.
    pub fn route_in(mut self, table: TableNumber, destination: &str, gateway: &str) -> Self {
        self = self.route(destination, gateway);
        if let Some(route) = self.config.routes.last_mut() {
            route.options.table = table;
        }
        self
    }

    /// Adds a routing rule behind the others, with rows from 800 on.
    pub fn routing_rule(mut self, rule: RoutingRule) -> Self {
        let row = FIRST_RULE + self.config.routing_rules.len() as RowId;
        self.config.routing_rules.push(RoutingRule { row, ..rule });
        self
    }
}
