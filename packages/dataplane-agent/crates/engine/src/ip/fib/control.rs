//! The set of routes, and the choice of the route that each prefix uses.
//!
//! The candidates for a prefix are the router's own addresses and connected networks, the configured routes, and the
//! routes of other programs. The first two are few or in a sorted list. A route of another program is stored only in
//! the table itself while it is the only one to its prefix and is used, so that a full table of a routing daemon is
//! stored once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use tollway_config::dataplane::RowId;

use super::address::{Address, Prefix, PrefixTable};
use super::checked_route::{
    CheckedRoute, ConnectedBase, NextHopTarget, ResolvedHops, RouteInfo, RouteOrigin,
};
use super::group::{GROUPS, Group};
use super::lookup::{NextHop, RouteLookup};
use super::next_hops::{HOPS, NextHops};
use super::resolver::StaticRoutes;
use super::shares::limited;
use super::{DynamicRoute, FibFull, RouteChange};
use crate::ip::gateway_checks::GatewayProbe;

/// Number of the first route info. Number 0 means that only the default route covers the address, number 1 that there
/// is no route.
const FIRST: u16 = 2;

/// A configured route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Static<A> {
    network: A,
    /// Row of the configuration.
    pub row: RowId,
    /// Number of its route info.
    pub number: u16,
    len: u8,
}

impl<A: Address> Static<A> {
    /// Destination.
    pub fn prefix(&self) -> Prefix<A> {
        (self.network, self.len)
    }
}

/// The writer's half of a forwarding table.
#[derive(Debug)]
pub struct Control<A: Address> {
    /// Interfaces and own addresses on which the routes are resolved.
    pub connected_base: Arc<ConnectedBase<A>>,
    /// The connected networks are in the table.
    pub has_networks: bool,
    table: A::Table,
    /// Route infos by number, from [`FIRST`] on, and whether each is resolved.
    infos: Vec<(RouteInfo<A>, bool)>,
    numbers: HashMap<RouteInfo<A>, u16>,
    /// Groups that have been published.
    groups: usize,
    /// Numbers of groups that several routes to a prefix are together.
    joint: HashSet<u16>,
    /// Gateways of the configured routes that are to be probed.
    probes: Vec<GatewayProbe>,
    fixed: Vec<(Prefix<A>, u16)>,
    /// Static routes, by prefix, then in configured order.
    statics: Vec<Static<A>>,
    /// All routes of other programs to a prefix, for prefixes at which there are several of them or the only one is not
    /// used.
    shadowed: BTreeMap<Prefix<A>, Vec<u16>>,
    dynamics: usize,
}

/// The readers' half of a forwarding table, for the writer.
pub struct Published<'a, A: Address> {
    /// Numbers of route infos by destination.
    pub cells: &'a A::Cells,
    /// Next hops by number.
    pub hops: &'a NextHops<A>,
}

impl<A: Address> Clone for Published<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Address> Copy for Published<'_, A> {}

impl<A: Address> Control<A> {
    /// A table without routes.
    pub fn new(connected_base: Arc<ConnectedBase<A>>) -> Self {
        Self {
            connected_base,
            has_networks: false,
            table: A::Table::new(),
            infos: Vec::new(),
            numbers: HashMap::new(),
            groups: 0,
            joint: HashSet::new(),
            probes: Vec::new(),
            fixed: Vec::new(),
            statics: Vec::new(),
            shadowed: BTreeMap::new(),
            dynamics: 0,
        }
    }

    /// The set of prefixes.
    pub fn table(&self) -> &A::Table {
        &self.table
    }

    /// The route info of a number.
    pub fn info(&self, number: u16) -> Option<&RouteInfo<A>> {
        let place = usize::from(number).checked_sub(usize::from(FIRST))?;
        self.infos.get(place).map(|(info, _)| info)
    }

    fn is_resolved(&self, number: u16) -> bool {
        let place = usize::from(number).checked_sub(usize::from(FIRST));
        place.and_then(|place| self.infos.get(place)).is_some_and(|(_, resolved)| *resolved)
    }

    fn is_dynamic(&self, number: u16) -> bool {
        matches!(self.info(number), Some(RouteInfo { origin: RouteOrigin::Dynamic { .. }, .. }))
    }

    /// The numbers of all routes of other programs that there have been.
    pub fn dynamic_numbers(&self) -> impl Iterator<Item = u16> {
        (FIRST..).take(self.infos.len()).filter(|number| self.is_dynamic(*number))
    }

    /// The number of a route info; a new one is published first. Numbers are not reused in the life of a table, since a
    /// reader may still hold one.
    fn number(&mut self, published: Published<'_, A>, info: &RouteInfo<A>) -> Result<u16, FibFull> {
        if !self.table.has_room() {
            return Err(FibFull);
        }
        if let Some(number) = self.numbers.get(info) {
            return Ok(*number);
        }
        let place = self.infos.len() + usize::from(FIRST);
        let number = u16::try_from(place).ok().filter(|_| place < HOPS).ok_or(FibFull)?;
        let hops = self.connected_base.resolve(info);
        match &hops {
            ResolvedHops::Nothing => {}
            ResolvedHops::One(hop) => published.hops.publish(number, *hop),
            ResolvedHops::Several(hops) => {
                let first = hops.first().map_or(A::default(), |hop| hop.source);
                let source = if info.source == A::default() { first } else { info.source };
                if self.groups < GROUPS {
                    let row = |lookup: RouteLookup<A>| {
                        lookup.interface().map_or(0, |interface| self.connected_base.row(interface))
                    };
                    published.hops.publish_group(number, self.groups, Group::new(hops, row), source);
                    self.groups += 1;
                } else if let Some(first) = hops.first() {
                    // Which routes have several next hops depends on links: a table that cannot be built for it would end all
                    // forwarding. The first one has all flows.
                    published.hops.publish(number, NextHop { source, ..*first });
                }
            }
        }
        self.infos.push((info.clone(), hops != ResolvedHops::Nothing));
        self.numbers.insert(info.clone(), number);
        Ok(number)
    }

    /// Gateways of the configured routes that are to be probed.
    pub fn probes(&self) -> &[GatewayProbe] {
        &self.probes
    }

    /// Whether these routes can be numbered, and groups of some of them too.
    pub fn has_room(&self, routes: &[CheckedRoute<A>]) -> bool {
        let room = HOPS - usize::from(FIRST) - self.infos.len();
        let mut new = HashSet::new();
        for route in routes {
            if new.len() <= room && !self.numbers.contains_key(&route.info) {
                new.insert(&route.info);
            }
        }
        let is_group =
            |info: &RouteInfo<A>| matches!(&info.target, NextHopTarget::Hops { hops, .. } if hops.len() > 1);
        let groups = new.iter().filter(|info| is_group(info)).count();
        // Half of them are for routes that get next hops together.
        new.len() <= room && (groups == 0 || self.groups + groups <= GROUPS / 2)
    }

    /// Installs the router's own addresses and connected networks.
    pub fn install_connected(
        &mut self,
        published: Published<'_, A>,
        changed: &mut Vec<Prefix<A>>,
    ) -> Result<(), FibFull> {
        let connected_base = Arc::clone(&self.connected_base);
        self.has_networks = true;
        for checked in &connected_base.fixed {
            let number = self.number(published, &checked.info)?;
            self.fixed.push((checked.prefix, number));
        }
        for at in 0..self.fixed.len() {
            if let Some((prefix, _)) = self.fixed.get(at).copied() {
                self.update_best(published, prefix, Vec::new(), changed);
            }
        }
        Ok(())
    }

    /// Replaces the configured routes. Prefixes whose routes do not change are not touched.
    pub fn replace_statics(
        &mut self,
        published: Published<'_, A>,
        routes: &StaticRoutes<A>,
        changed: &mut Vec<Prefix<A>>,
    ) -> Result<(), FibFull> {
        let mut statics = Vec::with_capacity(routes.routes.len());
        for route in &routes.routes {
            let number = self.number(published, &route.info)?;
            let (network, len) = route.prefix;
            statics.push(Static { network, row: route.row, number, len });
        }
        let touched = differing(&self.statics, &statics);
        self.statics = statics;
        self.probes.clone_from(&routes.probes);
        for prefix in touched {
            let dynamics = self.dynamics_of(prefix);
            self.update_best(published, prefix, dynamics, changed);
        }
        Ok(())
    }

    /// Applies a change that another program has made.
    pub fn change(
        &mut self,
        published: Published<'_, A>,
        change: &RouteChange<A>,
        changed: &mut Vec<Prefix<A>>,
    ) -> Result<(), FibFull> {
        match change {
            RouteChange::Replace(route) => self.replace_dynamic(published, route, changed),
            RouteChange::Remove { destination, prefix_len, metric } => {
                let prefix = super::masked(*destination, *prefix_len);
                self.remove_dynamic(published, prefix, *metric, changed);
                Ok(())
            }
        }
    }

    fn replace_dynamic(
        &mut self,
        published: Published<'_, A>,
        route: &DynamicRoute<A>,
        changed: &mut Vec<Prefix<A>>,
    ) -> Result<(), FibFull> {
        let prefix = super::masked(route.destination, route.prefix_len);
        let number = self.number(published, &route.info())?;
        let current = self.table.get(prefix);
        let alone = self.shadowed.is_empty() || !self.shadowed.contains_key(&prefix);
        if alone && self.is_resolved(number) {
            if current == 0 {
                self.dynamics += 1;
                self.table.set(published.cells, prefix, number);
                changed.push(prefix);
                return Ok(());
            }
            let no_worse = self.info(current).is_some_and(|info| info.distance >= route.distance);
            if self.metric(current) == Some(route.metric) && no_worse {
                if current != number {
                    self.table.set(published.cells, prefix, number);
                    changed.push(prefix);
                }
                return Ok(());
            }
        }
        let mut dynamics = self.dynamics_of(prefix);
        let before = dynamics.len();
        dynamics.retain(|known| self.metric(*known) != Some(route.metric));
        dynamics.push(number);
        self.dynamics = self.dynamics + dynamics.len() - before;
        self.update_best(published, prefix, dynamics, changed);
        Ok(())
    }

    fn remove_dynamic(
        &mut self,
        published: Published<'_, A>,
        prefix: Prefix<A>,
        metric: u32,
        changed: &mut Vec<Prefix<A>>,
    ) {
        if !self.shadowed.contains_key(&prefix) {
            // There is only the route that the prefix uses, or none.
            if self.metric(self.table.get(prefix)) == Some(metric) {
                self.dynamics -= 1;
                self.update_best(published, prefix, Vec::new(), changed);
            }
            return;
        }
        let mut dynamics = self.dynamics_of(prefix);
        let before = dynamics.len();
        dynamics.retain(|known| self.metric(*known) != Some(metric));
        if dynamics.len() != before {
            self.dynamics = self.dynamics + dynamics.len() - before;
            self.update_best(published, prefix, dynamics, changed);
        }
    }

    fn metric(&self, number: u16) -> Option<u32> {
        match self.info(number)?.origin {
            RouteOrigin::Dynamic { metric, .. } => Some(metric),
            RouteOrigin::Own | RouteOrigin::Connected | RouteOrigin::Static => None,
        }
    }

    /// Routes of other programs to a prefix.
    fn dynamics_of(&self, prefix: Prefix<A>) -> Vec<u16> {
        match self.shadowed.get(&prefix) {
            Some(dynamics) => dynamics.clone(),
            None => {
                Some(self.table.get(prefix)).filter(|number| self.is_dynamic(*number)).into_iter().collect()
            }
        }
    }

    /// Sets the best route of a prefix. `dynamics` are its routes of other programs.
    fn update_best(
        &mut self,
        published: Published<'_, A>,
        prefix: Prefix<A>,
        dynamics: Vec<u16>,
        changed: &mut Vec<Prefix<A>>,
    ) {
        let winner = self.best(published, prefix, &dynamics);
        if matches!(dynamics.as_slice(), [] | [_]) && dynamics.first().is_none_or(|only| *only == winner) {
            self.shadowed.remove(&prefix);
        } else {
            self.shadowed.insert(prefix, dynamics);
        }
        if self.table.set(published.cells, prefix, winner) != winner {
            changed.push(prefix);
        }
    }

    /// The best route of a prefix: own addresses and connected networks first, then the lowest distance, then
    /// configured routes before others, then the first configured one or the one with the lowest metric. Configured routes
    /// with the same distance share the flows. 0 if there is none.
    fn best(&mut self, published: Published<'_, A>, prefix: Prefix<A>, dynamics: &[u16]) -> u16 {
        let at = self.fixed.partition_point(|(known, _)| *known < prefix);
        if let Some((_, number)) = self.fixed.get(at).filter(|(known, _)| *known == prefix) {
            return *number;
        }
        let rank = |number: u16| {
            let info = self.info(number)?;
            Some((info.distance, info.origin)).filter(|_| self.is_resolved(number))
        };
        let statics = self.statics_of(prefix).iter().map(|route| route.number);
        let ranked =
            statics.chain(dynamics.iter().copied()).filter_map(|number| Some((rank(number)?, number)));
        let best = ranked.min_by_key(|(rank, _)| *rank).map_or(0, |(_, number)| number);
        if self.statics_of(prefix).len() < 2 {
            return best;
        }
        // Without a number for the group the first route has all flows.
        self.joint_of(published, prefix, best).unwrap_or(best)
    }

    /// The group of the configured routes to a prefix that are as good as the best one; `None` if that is alone.
    fn joint_of(&mut self, published: Published<'_, A>, prefix: Prefix<A>, best: u16) -> Option<u16> {
        let equal = self.statics_of(prefix).iter().map(|route| route.number);
        let equal: Vec<u16> = equal.filter(|number| self.is_as_good(*number, best)).collect();
        equal.iter().find(|number| **number != best)?;
        let mut hops = Vec::new();
        for info in equal.iter().filter_map(|number| self.info(*number)) {
            match self.connected_base.resolve(info) {
                ResolvedHops::Nothing => {}
                ResolvedHops::One(hop) => hops.push(hop),
                ResolvedHops::Several(several) => hops.extend(several.iter()),
            }
        }
        let first = self.info(best)?;
        let target = NextHopTarget::Hops { gateway: first.gateway(), hops: limited(hops).into() };
        let joint = RouteInfo { target, ..first.clone() };
        if self.groups >= GROUPS && !self.numbers.contains_key(&joint) {
            return None;
        }
        let number = self.number(published, &joint).ok()?;
        self.joint.insert(number);
        Some(number)
    }

    /// Whether a configured route may share the flows of another one to the same prefix.
    fn is_as_good(&self, number: u16, best: u16) -> bool {
        let (Some(info), Some(best)) = (self.info(number), self.info(best)) else { return false };
        let forwards = |info: &RouteInfo<A>| info.origin == RouteOrigin::Static && info.discard().is_none();
        self.is_resolved(number) && info.distance == best.distance && forwards(info) && forwards(best)
    }

    /// Whether lookups use a configured route to a prefix: alone, or with others.
    pub fn uses(&self, prefix: Prefix<A>, number: u16) -> bool {
        let winner = self.winner(prefix);
        winner == number || self.is_joint(winner) && self.is_as_good(number, winner)
    }

    /// Whether a number is that of a group that several routes to a prefix are together.
    pub fn is_joint(&self, number: u16) -> bool {
        self.joint.contains(&number)
    }

    /// Configured routes to a prefix.
    pub fn statics_of(&self, prefix: Prefix<A>) -> &[Static<A>] {
        let from = self.statics.partition_point(|known| known.prefix() < prefix);
        let rest = self.statics.get(from..).unwrap_or_default();
        let len = rest.partition_point(|known| known.prefix() == prefix);
        rest.get(..len).unwrap_or_default()
    }

    /// Configured routes, by prefix, then in configured order.
    pub fn statics(&self) -> &[Static<A>] {
        &self.statics
    }

    /// Number of the route info that exactly this prefix uses; 0 if there is no such route.
    pub fn winner(&self, prefix: Prefix<A>) -> u16 {
        self.table.get(prefix)
    }

    /// Number of a route info that is known.
    pub fn known(&self, info: &RouteInfo<A>) -> Option<u16> {
        self.numbers.get(info).copied()
    }

    /// Every route of another program, with its number, in no order.
    pub fn dynamics(&self) -> impl Iterator<Item = (Prefix<A>, u16)> {
        let alone = self
            .table
            .iter()
            .filter(|(prefix, number)| self.is_dynamic(*number) && !self.shadowed.contains_key(prefix));
        let shadowed = self.shadowed.iter();
        alone.chain(shadowed.flat_map(|(prefix, all)| all.iter().map(|number| (*prefix, *number))))
    }

    /// Routes of other programs.
    pub fn dynamic_routes(&self) -> usize {
        self.dynamics
    }

    /// Number of prefixes in the lookup structure, and of deep blocks without any prefix.
    pub fn sizes(&self) -> (usize, usize) {
        (self.table.len(), self.table.unused_blocks())
    }
}

/// Prefixes whose routes differ between both lists, which are sorted by prefix.
fn differing<A: Address>(old: &[Static<A>], new: &[Static<A>]) -> Vec<Prefix<A>> {
    let group = |list: &[Static<A>], prefix: Prefix<A>| {
        list.iter().position(|route| route.prefix() != prefix).unwrap_or(list.len())
    };
    let (mut old, mut new) = (old, new);
    let mut prefixes = Vec::new();
    loop {
        let next = old.first().into_iter().chain(new.first()).map(Static::prefix).min();
        let Some(prefix) = next else { return prefixes };
        let (was, rest) = old.split_at(group(old, prefix));
        old = rest;
        let (is, rest) = new.split_at(group(new, prefix));
        new = rest;
        if !was.iter().map(|route| route.number).eq(is.iter().map(|route| route.number)) {
            prefixes.push(prefix);
        }
    }
}
