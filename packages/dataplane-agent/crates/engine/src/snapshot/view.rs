//! Accessors of a snapshot for stages and workers.

use std::sync::Arc;

use tollway_config::dataplane::{DataplaneConfig, FasttrackMode, RowId, RpFilter};

use super::rules::FamilyRules;
use super::{BuildError, ChangedRoutes, Encapsulations, Interface, OwnAddress, Port, Snapshot};
use crate::firewall::address_set::Contents;
use crate::firewall::marks::MarkNames;
use crate::firewall::rules::{Position, RuleTable, TableKind};
use crate::ids::LinkId;
use crate::ip::address_states::ConfiguredAddress;
use crate::ip::fib::{
    Address, Bases, ChangedTables, Fib, Fib6, Lookup, Table, Tables, gateway_scopes, resolve,
};
use crate::ip::fragments::FragmentLimits;
use crate::ip::gateway_checks::GatewayChecks;
use crate::ip::multipath::flow_hash;
use crate::ip::router_advertisements::AdvertisingInterface;
use crate::ip::routing_policy::RoutingQuery;
use crate::packet::family::Family;
use crate::packet::tuple::{Addr, Tuple, Zone};
use crate::packet::{Hook, Meta, flag};
use crate::qos::forest::Context;
use crate::qos::queues::{LeafLookup, LinkInterface};

impl Snapshot {
    /// The rules of a family.
    #[inline]
    pub(crate) fn rules(&self, family: Family) -> &FamilyRules {
        match family {
            Family::V4 => &self.rules,
            Family::V6 => &self.rules6,
        }
    }

    /// The rules that packets like this one meet.
    #[inline]
    pub(crate) fn rules_for(&self, meta: &Meta) -> &FamilyRules {
        self.rules(meta.family())
    }

    /// The configured contents of address lists.
    pub(crate) fn list_contents(&self) -> &Arc<Contents> {
        &self.list_contents
    }

    /// Whether a table has rules of either family.
    pub(crate) fn has_rules(&self, table: impl Fn(&FamilyRules) -> &Arc<RuleTable>) -> bool {
        Family::ALL.iter().any(|family| !table(self.rules(*family)).is_empty())
    }

    /// Generation given at build.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Names of marks.
    pub fn mark_names(&self) -> &MarkNames {
        &self.mark_names
    }

    /// Rule rows of every table, ascending.
    pub fn rule_rows(&self) -> &[RowId] {
        &self.rule_rows
    }

    /// The interfaces, by index.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// An interface by its index.
    #[inline]
    pub fn interface(&self, index: u16) -> Option<&Interface> {
        self.interfaces.get(usize::from(index))
    }

    /// An interface by its row.
    pub fn interface_of(&self, row: RowId) -> Option<&Interface> {
        self.interfaces.iter().find(|interface| interface.row == row)
    }

    /// Dense number of the interface with a row.
    pub(crate) fn interface_index(&self, row: RowId) -> Option<u16> {
        let position = self.interfaces.iter().position(|interface| interface.row == row)?;
        u16::try_from(position).ok()
    }

    /// A link.
    #[inline]
    pub fn port(&self, port: LinkId) -> Option<&Port> {
        self.ports.get(usize::from(port))
    }

    /// The tags of sent frames.
    pub fn encapsulations(&self) -> &Arc<Encapsulations> {
        &self.encapsulations
    }

    /// One more than the largest number of a link.
    pub(crate) fn ports(&self) -> usize {
        self.ports.len()
    }

    /// Number of workers it was built for.
    pub fn workers(&self) -> u32 {
        self.workers
    }

    /// Connections are tracked.
    #[inline]
    pub fn tracking(&self) -> bool {
        self.tracking
    }

    /// Whether packets of a family may be forwarded without the slow path (`allow-fast-path`).
    #[inline]
    pub(crate) fn allows_fast_path(&self, family: Family) -> bool {
        match family {
            Family::V4 => self.settings.allow_fast_path,
            Family::V6 => self.settings.ipv6.allow_fast_path,
        }
    }

    /// Whether a rule of a family marks connections for FastTrack.
    pub(crate) fn has_fasttrack(&self, family: Family) -> bool {
        match family {
            Family::V4 => self.has_fasttrack[0],
            Family::V6 => self.has_fasttrack[1],
        }
    }

    /// Whether forwarding IPv4 needs only a route of the main table: there is no connection tracking, no filter, mangle
    /// or routing rule and no reverse path check, and the fast path is on.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.has_no_decisions(Family::V4)
            && self.settings.ip_forward
            && self.settings.rp_filter == RpFilter::No
    }

    /// Whether forwarding IPv6 needs only a route: there is no connection tracking and no filter or mangle rule, and the
    /// fast path is on.
    #[inline]
    pub(crate) fn is_plain_ipv6(&self) -> bool {
        self.has_no_decisions(Family::V6) && self.settings.ipv6.forward
    }

    #[inline]
    fn has_no_decisions(&self, family: Family) -> bool {
        match family {
            Family::V4 => self.by_route_alone[0],
            Family::V6 => self.by_route_alone[1],
        }
    }

    /// Whether packets of fasttracked connections of a family skip rules and queues.
    #[inline]
    pub(crate) fn fasttrack_bypasses(&self, family: Family) -> bool {
        self.settings.fasttrack_mode == FasttrackMode::Bypass
            && self.allows_fast_path(family)
            && self.tracking
    }

    /// Limits of the fragments that wait for the first one of their datagram.
    pub(crate) fn fragment_limits(&self) -> FragmentLimits {
        FragmentLimits {
            bytes: self.settings.fragment_bytes as usize,
            time: u64::from(self.settings.fragment_time_ms) * 1_000_000,
        }
    }

    /// Looks up the route to an address in the table of a zone. Not for limited broadcast and multicast addresses.
    #[inline]
    pub(crate) fn lookup(&self, zone: Zone, address: u32) -> Lookup {
        self.home(zone).lookup(address)
    }

    /// [`Self::lookup`] for a packet that is routed by this tuple and encapsulates none.
    #[inline(always)]
    pub(crate) fn lookup_for(&self, address: u32, tuple: &Tuple) -> Lookup {
        self.fib.lookup_for(address, || u64::from(self.flow_hash(tuple)))
    }

    /// Hash of the flow of an IPv4 packet, for a route with several next hops.
    #[inline]
    pub(crate) fn flow_hash(&self, tuple: &Tuple) -> u32 {
        flow_hash(self.settings.multipath_hash, tuple)
    }

    /// Hash of the flow of an IPv6 packet, for a route with several next hops.
    pub(crate) fn ipv6_flow_hash(&self, tuple: &Tuple) -> u32 {
        flow_hash(self.settings.ipv6.multipath_hash, tuple)
    }

    /// Hash of the flow of a packet, for a route with several next hops: that of the packet which it encapsulates
    /// ([`Meta::inner_hash`](crate::packet::Meta::inner_hash)), if there is one.
    #[inline]
    pub(crate) fn flow_hash_of(&self, tuple: &Tuple, inner_hash: u32) -> u32 {
        match (inner_hash, tuple.dst.as_v4()) {
            (0, Some(_)) => self.flow_hash(tuple),
            (0, None) => self.ipv6_flow_hash(tuple),
            (inner, _) => inner,
        }
    }

    /// The IPv6 addresses of interfaces that are up.
    pub(crate) fn ipv6_addresses(&self) -> Vec<ConfiguredAddress> {
        let up = self.interfaces.iter().filter(|interface| interface.up);
        let of = |interface: &Interface| {
            let own = interface.ipv6.as_ref().map_or(&[][..], |ipv6| &ipv6.addresses);
            let row = interface.row;
            let configured = |own: &OwnAddress| ConfiguredAddress {
                key: (row, Addr(own.address)),
                detects_duplicates: own.detects_duplicates,
            };
            own.iter().map(configured).collect::<Vec<_>>()
        };
        up.flat_map(of).collect()
    }

    /// The interfaces that are up and advertise networks. A router that forwards nothing is no default router (RFC 4861
    /// §6.2.1).
    pub(crate) fn advertising(&self) -> Vec<AdvertisingInterface> {
        let forwards = self.settings.ipv6.forward;
        let up = self.interfaces.iter().filter(|interface| interface.up && forwards);
        let of = |interface: &Interface| {
            let networks = interface.ipv6.as_ref()?.advertised(|_| true);
            (!networks.is_empty()).then_some(AdvertisingInterface { row: interface.row, networks })
        };
        up.filter_map(of).collect()
    }

    /// Rows of the interfaces that are up on which router advertisements are taken.
    pub(crate) fn accepting_advertisements(&self) -> Vec<RowId> {
        let accepts = |interface: &&Interface| {
            interface.up && interface.ipv6.as_ref().is_some_and(|ipv6| ipv6.accepts_advertisements)
        };
        self.interfaces.iter().filter(accepts).map(|interface| interface.row).collect()
    }

    /// The routes of IPv6.
    #[inline]
    pub fn fib6(&self) -> &Arc<Fib6> {
        &self.fib6
    }

    /// The routes of IPv4.
    #[inline]
    pub fn fib(&self) -> &Arc<Fib> {
        &self.fib
    }

    /// The configured routes of every table with the gateways that are up now. `config` is what the snapshot was built
    /// from.
    ///
    /// # Errors
    /// Names the row of a route that is impossible.
    pub(crate) fn resolve_routes(&self, config: &DataplaneConfig) -> Result<ChangedRoutes, BuildError> {
        Ok(ChangedRoutes {
            v4: self.resolve_family(&self.fib, &self.tables, config)?,
            v6: self.resolve_family(&self.fib6, &self.tables6, config)?,
        })
    }

    fn resolve_family<A: Address>(
        &self,
        main: &Table<A>,
        others: &Tables<A>,
        config: &DataplaneConfig,
    ) -> Result<ChangedTables<A>, BuildError> {
        let (bases, down) = (Bases::of_tables(main, others), self.gateway_checks.down());
        let scopes = gateway_scopes(&bases, &config.routing_tables)?;
        let mut routes = resolve(&scopes, &config.routes, &down)?.into_iter();
        Ok(ChangedTables { main: routes.next(), others: (1..).zip(routes).collect() })
    }

    /// Probes the gateways of the routes of this snapshot from now on, and no others.
    pub(crate) fn probe_gateways(&self) {
        let mut probes = self.fib.probes();
        probes.extend(self.fib6.probes());
        probes.extend(self.tables.iter().flat_map(|(_, table)| table.probes()));
        probes.extend(self.tables6.iter().flat_map(|(_, table)| table.probes()));
        self.gateway_checks.follow(&probes);
    }

    /// Gateways that are probed.
    pub fn gateway_checks(&self) -> &GatewayChecks {
        &self.gateway_checks
    }

    /// Zone of the interface that a packet came in on. [`Meta::tuple`] has another one if the packet is a reply to one from
    /// there.
    pub(crate) fn zone_of_ingress(&self, meta: &Meta) -> Zone {
        let ingress = self.interface(meta.in_interface).or_else(|| self.interface_of(meta.tap));
        ingress.map_or(meta.tuple.zone, |interface| interface.zone)
    }

    /// Whether an address is the router's own in a zone.
    #[inline]
    pub(crate) fn is_local(&self, zone: Zone, address: u32) -> bool {
        self.home(zone).is_local(address)
    }

    /// Whether an address is in a zone the router's own or the broadcast address of a connected network, so that no other
    /// station sends from it.
    #[inline]
    pub(crate) fn is_local_or_broadcast(&self, zone: Zone, address: u32) -> bool {
        self.home(zone).is_local_or_broadcast(address)
    }

    /// Whether connections may be masqueraded with this address of an interface row.
    pub(crate) fn masquerades(&self, row: RowId, address: Addr) -> bool {
        self.interface_of(row).is_some_and(|interface| {
            let has_address = match address.as_v4() {
                Some(own) => interface.has_address(own),
                None => interface.ipv6.as_ref().is_some_and(|ipv6| ipv6.has_address(address.0)),
            };
            interface.up && has_address
        })
    }

    /// Whether an address is the limited broadcast address or that of a connected network in a zone.
    pub(crate) fn is_broadcast(&self, zone: Zone, address: u32) -> bool {
        address == u32::MAX || matches!(self.home(zone).lookup(address), Lookup::Broadcast { .. })
    }

    /// Whether packets to an address of another station may leave by an interface, or by any if none is given.
    pub(crate) fn leaves_by(&self, query: &RoutingQuery<u32>, interface: Option<u16>) -> bool {
        match self.policy() {
            None => self.fib.leaves_by(query.destination, interface),
            Some(tables) => tables.leaves_by(query, interface),
        }
    }

    /// [`Self::leaves_by`] for an address of IPv6.
    pub(crate) fn ipv6_leaves_by(&self, query: &RoutingQuery<u128>, interface: Option<u16>) -> bool {
        match self.policy6() {
            None => self.fib6.leaves_by(query.destination, interface),
            Some(tables) => tables.leaves_by(query, interface),
        }
    }

    /// Where packets from a zone to an address of another station go that have no mark.
    pub(crate) fn lookup_by_rules(&self, query: &RoutingQuery<u32>) -> Lookup {
        match self.policy() {
            None => self.fib.lookup(query.destination),
            Some(tables) => tables.decide(query, || 0).lookup,
        }
    }

    /// Source address for packets of the router from a zone to a destination.
    pub(crate) fn source_for(&self, zone: Zone, destination: u32) -> Option<u32> {
        match self.policy() {
            None => self.fib.source_for(destination),
            Some(tables) => tables.source_for(zone, destination),
        }
    }

    /// An address for errors that no interface on their way has one for: of the loopback interfaces of a zone, or else of its
    /// other interfaces (as Linux's `inet_select_addr`).
    #[cold]
    pub(crate) fn other_source<A>(&self, zone: Zone, address: impl Fn(&Interface) -> Option<A>) -> Option<A> {
        let of = |is_loopback: bool| {
            let up = self.interfaces.iter().filter(|interface| interface.up && interface.zone == zone);
            up.filter(|interface| interface.is_loopback() == is_loopback).find_map(&address)
        };
        of(true).or_else(|| of(false))
    }

    /// [`Self::source_for`] of IPv6.
    pub(crate) fn ipv6_source_for(&self, zone: Zone, destination: u128) -> Option<u128> {
        match self.policy6() {
            None => self.fib6.source_for(destination),
            Some(tables) => tables.source_for(zone, destination),
        }
    }

    /// Whether cached actions may depend on volume, time, DSCP or lists.
    pub(crate) fn has_limited_validity(&self) -> bool {
        let limited = |family: &Family| {
            let rules = self.rules(*family);
            rules.filter.has_limited_validity() || rules.mangle.has_limited_validity()
        };
        Family::ALL.iter().any(limited) || self.queues.has_time()
    }

    /// Whether marks of connections may change.
    #[inline]
    pub(crate) fn changes_marks(&self) -> bool {
        self.has_rules(|rules| &rules.mangle)
    }

    /// Position at which evaluation of a table starts at a hook for a packet; `None` when it has no rules there.
    #[inline]
    pub(crate) fn start_for(&self, meta: &Meta, table: TableKind, hook: Hook) -> Option<&Position> {
        self.rules_for(meta).start(table, hook)
    }

    /// The [`LeafLookup`] for a time, ns since 1970 UTC.
    #[inline]
    pub(crate) fn leaf_lookup(&self, utc_ns: i64) -> LeafLookup<'_> {
        LeafLookup { forest: &self.forest, table: &self.queues, utc_ns }
    }

    /// The interfaces of links, by number.
    pub(crate) fn port_interfaces(&self) -> Vec<LinkInterface> {
        let of = |(link, port): (LinkId, &Port)| LinkInterface {
            interface: self.interface(port.interface).map(|interface| interface.row),
            lower: self.encapsulations.get(link).map(|above| above.lower),
        };
        (0..).zip(&self.ports).map(of).collect()
    }

    /// The properties of a packet, other than its addresses, by which its queues are found.
    pub(crate) fn queue_context(&self, meta: &Meta) -> Context {
        let row = |index: u16| self.interface(index).map_or(0, |interface| interface.row);
        self.queues.relevant(Context {
            mark: meta.mark,
            in_interface: if meta.hook == Hook::Output { 0 } else { row(meta.in_interface) },
            out_interface: if meta.is(flag::TO_ROUTER) { 0 } else { row(meta.out_interface) },
        })
    }
}
