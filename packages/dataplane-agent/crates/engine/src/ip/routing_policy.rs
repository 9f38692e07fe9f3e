//! Policy routing: in which table a packet is looked up. The rules of `/routing/rule` decide in their order; then the
//! table that a packet's routing mark names, if it has a route; then the table of the packet's zone, which is the main table
//! for interfaces in no VRF (ip-rule(8)). An address of the router and a broadcast address of its networks are found in that
//! table before any rule. A rule is for the packets of the zone of its interface; without one for those of the main zone.

use std::collections::HashMap;
use std::sync::Arc;

use tollway_config::dataplane::{
    Action, Chain, DataplaneConfig, Mark, Prefix as ConfiguredPrefix, RoutingAction, RoutingRule, RowId,
    TableNumber,
};

use crate::error::BuildError;
use crate::ids::InterfaceIndex;
use crate::interface::InterfaceMap;
use crate::ip::fib::{Address, Prefix, RouteLookup, Table, Tables};
use crate::packet::tuple::{Tuple, Zone};

/// A rule, as far as it concerns a family.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule<A> {
    row: RowId,
    source: Option<Prefix<A>>,
    destination: Option<Prefix<A>>,
    mark: Option<Mark>,
    interface: Option<InterfaceIndex>,
    /// Zone of the packets that it is for.
    zone: Zone,
    action: RoutingAction,
}

/// The rules of a family, and the tables of routing marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutingPolicy<A> {
    rules: Vec<Rule<A>>,
    marks: HashMap<Mark, TableNumber>,
    /// Packets can have routing marks.
    has_marks: bool,
}

/// What of a packet decides its table.
#[derive(Debug, Clone, Copy)]
pub struct RoutingQuery<A> {
    /// Zone whose table decides at last.
    pub zone: Zone,
    /// Source address, before its translation.
    pub source: A,
    /// Destination address, after its translation.
    pub destination: A,
    /// Routing mark; 0 none.
    pub mark: Mark,
    /// Interface that it came in on; [`NO_INTERFACE`](crate::ids::NO_INTERFACE) for the router's own packets.
    pub interface: InterfaceIndex,
}

impl<A: Address> RoutingQuery<A> {
    /// The query for packets with a tuple, a routing mark and an in-interface.
    #[inline]
    pub fn of(tuple: &Tuple, mark: Mark, interface: InterfaceIndex) -> Self {
        let [source, destination] =
            [tuple.src, tuple.dst].map(|address| A::of(address.into()).unwrap_or_default());
        Self { zone: tuple.zone, source, destination, mark, interface }
    }
}

/// Where a packet goes, and by which rule and table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision<A> {
    /// Result of the lookup in the table; [`RouteLookup::NoRoute`] if a rule refuses the packet.
    pub lookup: RouteLookup<A>,
    /// The table.
    pub table: TableNumber,
    /// Row of the rule that led to the table or refuses the packet; 0 if none did.
    pub rule: RowId,
    /// A rule refuses the packet.
    pub refused: Option<RuleRefusal>,
    /// The last rule allows no other table.
    only: bool,
}

impl<A> Decision<A> {
    /// By a table, with or without a rule.
    const fn by(table: TableNumber, rule: RowId, lookup: RouteLookup<A>) -> Self {
        Self { lookup, table, rule, refused: None, only: false }
    }
}

/// How a rule refuses packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleRefusal {
    /// Silently.
    Drop,
    /// With network unreachable.
    Unreachable,
}

/// The tables of a family.
#[derive(Debug)]
pub struct RoutingTables<'a, A: Address> {
    /// The main table.
    pub main: &'a Arc<Table<A>>,
    /// The others.
    pub others: &'a Tables<A>,
}

impl<A: Address> Clone for RoutingTables<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Address> Copy for RoutingTables<'_, A> {}

impl<'a, A: Address> RoutingTables<'a, A> {
    /// The table of a zone, and its number.
    fn home(self, zone: Zone) -> (TableNumber, &'a Table<A>) {
        let (number, table) = self.others.home(self.main, zone);
        (number, table)
    }
}

fn sets_mark(chains: &[Chain]) -> bool {
    let mut rules = chains.iter().flat_map(|chain| &chain.rules);
    rules.any(|rule| matches!(rule.action, Action::MarkRouting { mark, .. } if mark != 0))
}

impl<A: Address> RoutingPolicy<A> {
    /// The policy of a configuration for a family, whose mangle rules these are; `None` if every packet is looked up in the
    /// main table.
    ///
    /// # Errors
    /// Names the rule that names a table or an interface that does not exist, or networks that do not fit each other.
    pub fn build(
        config: &DataplaneConfig,
        mangle: &[Chain],
        map: &InterfaceMap,
    ) -> Result<Option<Self>, BuildError> {
        let mut rules = Vec::new();
        for rule in &config.routing_rules {
            rules.extend(Self::rule(rule, config, map)?);
        }
        let has_marks = sets_mark(mangle) && !config.routing_tables.is_empty();
        let has_vrfs = config.routing_tables.iter().any(|table| table.zone != 0);
        if rules.is_empty() && !has_marks && !has_vrfs {
            return Ok(None);
        }
        let marks = (1..).zip(&config.routing_tables).map(|(number, table)| (table.mark, number)).collect();
        Ok(Some(Self { rules, marks, has_marks }))
    }

    /// A rule; `None` if it does not concern the family.
    fn rule(
        configured: &RoutingRule,
        config: &DataplaneConfig,
        map: &InterfaceMap,
    ) -> Result<Option<Rule<A>>, BuildError> {
        let row = configured.row;
        let wrong = |message: String| BuildError::row(row, message);
        let networks = [configured.source, configured.destination];
        if let [Some(one), Some(other)] = networks
            && one.address.is_ipv4() != other.address.is_ipv4()
        {
            return Err(wrong("src-address and dst-address are of different families".to_owned()));
        }
        let too_long = |network: &ConfiguredPrefix| {
            network.prefix_len > if network.address.is_ipv4() { 32 } else { 128 }
        };
        if let Some(network) = networks.iter().flatten().find(|network| too_long(network)) {
            return Err(wrong(format!("prefix length {} is too long", network.prefix_len)));
        }
        if let RoutingAction::Lookup { table, .. } = configured.action
            && usize::from(table) > config.routing_tables.len()
        {
            return Err(wrong(format!("table: there is no table of number {table}")));
        }
        let find = |interface: RowId| {
            let missing = || wrong(format!("names interface row {interface}, which does not exist"));
            map.index(interface).ok_or_else(missing)
        };
        let interface = configured.interface.map(find).transpose()?;
        let of = interface.and_then(|index| config.interfaces.get(usize::from(index)));
        let zone = of.map_or(0, |interface| interface.zone);
        let prefix = |network: ConfiguredPrefix| {
            A::of(network.address).map(|address| (address.masked(network.prefix_len), network.prefix_len))
        };
        let [source, destination] = networks.map(|network| network.map(prefix));
        if source == Some(None) || destination == Some(None) {
            return Ok(None);
        }
        let (source, destination) = (source.flatten(), destination.flatten());
        let mark = configured.routing_mark;
        Ok(Some(Rule { row, source, destination, mark, interface, zone, action: configured.action }))
    }

    /// Whether packets can have routing marks that lead to a table.
    pub fn has_marks(&self) -> bool {
        self.has_marks
    }

    /// Decides where a packet goes. `flow` is asked for the hash of its flow where a route has several next hops.
    pub fn decide(
        &self,
        tables: RoutingTables<'_, A>,
        query: &RoutingQuery<A>,
        flow: impl Fn() -> u64,
    ) -> Decision<A> {
        let (number, home) = tables.home(query.zone);
        let by_home = || Decision::by(number, 0, home.lookup_for(query.destination, &flow));
        if home.is_local_or_broadcast(query.destination) {
            return by_home();
        }
        let mut steps = self.steps(query);
        let found = steps.find_map(|step| {
            let decision = step.look_up(tables, query.destination, &flow);
            (decision.only || decision.lookup != RouteLookup::NoRoute).then_some(decision)
        });
        found.unwrap_or_else(by_home)
    }

    /// Whether a decision about a packet may have changed since `stamp`: one of the tables in which it is looked up before
    /// the last one, or that one, other than the main table, for which `main` says it.
    pub fn changed_since(
        &self,
        tables: RoutingTables<'_, A>,
        query: &RoutingQuery<A>,
        stamp: u32,
        main: impl Fn() -> bool,
    ) -> bool {
        let (number, home) = tables.home(query.zone);
        if home.is_local_or_broadcast(query.destination) {
            return true;
        }
        for step in self.steps(query) {
            let changed = match step.action {
                RoutingAction::Lookup { table: 0, .. } => main(),
                RoutingAction::Lookup { table, .. } => {
                    tables.others.get(table).is_some_and(|table| table.changed().changed_since(stamp))
                }
                RoutingAction::Drop | RoutingAction::Unreachable => false,
            };
            if changed {
                return true;
            }
            let decision = step.look_up(tables, query.destination, &|| 0);
            if decision.only || decision.lookup != RouteLookup::NoRoute {
                return false;
            }
        }
        if number == 0 { main() } else { home.changed().changed_since(stamp) }
    }

    /// The rules that a packet meets, in order, and the lookup that its mark asks for behind them.
    fn steps<'a>(&'a self, query: &'a RoutingQuery<A>) -> impl Iterator<Item = Step> + 'a {
        let rules = self.rules.iter().filter(|rule| rule.matches(query));
        let rules = rules.map(|rule| Step { row: rule.row, action: rule.action });
        let marked = self.marks.get(&query.mark).filter(|_| query.mark != 0);
        rules.chain(marked.map(|&table| Step {
            row: 0,
            action: RoutingAction::Lookup { table, only: false, min_prefix: None },
        }))
    }
}

impl<A: Address> Rule<A> {
    fn matches(&self, query: &RoutingQuery<A>) -> bool {
        let inside = |network: Option<Prefix<A>>, address: A| {
            network.is_none_or(|(network, len)| address.masked(len) == network)
        };
        self.zone == query.zone
            && inside(self.source, query.source)
            && inside(self.destination, query.destination)
            && self.mark.is_none_or(|mark| mark == query.mark)
            && self.interface.is_none_or(|interface| interface == query.interface)
    }
}

/// What a rule that a packet meets does, or its mark.
struct Step {
    row: RowId,
    action: RoutingAction,
}

impl Step {
    fn look_up<A: Address>(
        &self,
        tables: RoutingTables<'_, A>,
        destination: A,
        flow: &impl Fn() -> u64,
    ) -> Decision<A> {
        let refused = |refusal| Decision {
            refused: Some(refusal),
            only: true,
            ..Decision::by(0, self.row, RouteLookup::NoRoute)
        };
        match self.action {
            RoutingAction::Drop => refused(RuleRefusal::Drop),
            RoutingAction::Unreachable => refused(RuleRefusal::Unreachable),
            RoutingAction::Lookup { table: number, only, min_prefix } => {
                let table = match number {
                    0 => Some(&**tables.main),
                    _ => tables.others.for_packets(number).map(|table| &**table),
                };
                let lookup = table.map_or(RouteLookup::NoRoute, |table| match min_prefix {
                    Some(shortest) => table.lookup_longer(destination, shortest, flow),
                    None => table.lookup_for(destination, flow),
                });
                Decision { only, ..Decision::by(number, self.row, lookup) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
