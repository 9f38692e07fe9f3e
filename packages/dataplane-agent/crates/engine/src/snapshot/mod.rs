//! The compiled configuration: immutable, built outside the workers, and replaced as a whole.

mod interface;
mod ipv6;
mod ipv6_addresses;
mod links;
mod routing;
mod rules;
mod view;

use std::collections::HashSet;
use std::sync::Arc;

use tollway_config::dataplane::{
    DataplaneConfig, InterfaceAddress, IpSettings, Route, RoutingTable, RowId, Tracking, TrackingMode,
};

pub use crate::error::BuildError;
use crate::firewall::address_set::Contents;
use crate::firewall::marks::MarkNames;
use crate::firewall::rules::TableKind;
use crate::flow::conntrack::Timeouts;
use crate::interface::InterfaceMap;
use crate::ip::fib::{Address, Bases, ChangedTables, Fib, Fib6, Table, Tables, gateway_scopes, resolve};
use crate::ip::gateway_checks::{GatewayChecks, GatewayKey};
use crate::ip::neighbor::StaticNeighbor;
use crate::ip::routing_policy::RoutingPolicy;
use crate::packet::family::Family;
use crate::qos::classify::{QueueTable, vlans_in_trees_below};
use crate::qos::forest::Forest;

use interface::{Built, add_networks, build_interfaces, build_links, build_static_neighbors};
pub use interface::{Interface, Port, PortFacts};
pub use ipv6::{InterfaceIpv6, OwnAddress};
use ipv6_addresses::{add_ipv6, addresses_with_identifiers};
use links::LinkIds;
pub use links::{Encapsulation, Encapsulations, VlanTable};
pub(crate) use routing::FamilyTables;
use rules::{BuiltLists, FamilyRules, build_lists, fasttracks};

/// A part of the configuration that snapshots share when it did not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotPart {
    /// The routes of IPv4.
    Routes,
    /// The routes of IPv6.
    Ipv6Routes,
    /// Configured entries of address lists.
    AddressLists,
    /// `/ip/firewall/filter`.
    Filter,
    /// `/ip/firewall/nat`.
    Nat,
    /// `/ip/firewall/mangle`.
    Mangle,
    /// `/ipv6/firewall/filter`.
    Ipv6Filter,
    /// `/ipv6/firewall/nat`.
    Ipv6Nat,
    /// `/ipv6/firewall/mangle`.
    Ipv6Mangle,
    /// Queues and their trees.
    Queues,
}

impl SnapshotPart {
    /// Every part.
    pub const ALL: [Self; 10] = [
        Self::Routes,
        Self::Ipv6Routes,
        Self::AddressLists,
        Self::Filter,
        Self::Nat,
        Self::Mangle,
        Self::Ipv6Filter,
        Self::Ipv6Nat,
        Self::Ipv6Mangle,
        Self::Queues,
    ];
}

/// Everything the stages look up, for one generation of the configuration.
#[derive(Debug)]
pub struct Snapshot {
    generation: u32,
    workers: u32,
    /// Settings of `/ip/settings`.
    pub(crate) settings: IpSettings,
    tracking: bool,
    /// The fast path is on, and there is no connection tracking, no filter or mangle rule and no table but the main table,
    /// for IPv4 and IPv6.
    by_route_alone: [bool; 2],
    /// The configured mode of connection tracking.
    pub(crate) tracking_mode: TrackingMode,
    /// Timeouts of connections.
    pub(crate) timeouts: Timeouts,
    /// Maximum number of connections of all workers together.
    pub(crate) max_connections: u32,
    interfaces: Vec<Interface>,
    ports: Vec<Port>,
    link_ids: LinkIds,
    /// Tags of received frames.
    pub(crate) vlans: VlanTable,
    /// Tags of sent frames.
    encapsulations: Arc<Encapsulations>,
    fib: Arc<Fib>,
    fib6: Arc<Fib6>,
    /// The other tables of IPv4.
    tables: Tables<u32>,
    /// The other tables of IPv6.
    tables6: Tables<u128>,
    /// How a table is chosen for packets of IPv4; `None` where it is always the main table.
    policy: Option<RoutingPolicy<u32>>,
    /// How a table is chosen for packets of IPv6.
    policy6: Option<RoutingPolicy<u128>>,
    /// Gateways that are probed.
    pub(crate) gateway_checks: Arc<GatewayChecks>,
    /// Addresses of IPv6, with those that are made from link-layer addresses.
    addresses6: Vec<InterfaceAddress>,
    list_contents: Arc<Contents>,
    /// Rules of IPv4.
    rules: FamilyRules,
    /// Rules of IPv6.
    rules6: FamilyRules,
    mark_names: Arc<MarkNames>,
    /// There are rules, of either family, that read or set marks.
    pub(crate) knows_marks: bool,
    rule_rows: Vec<RowId>,
    /// Static neighbours.
    pub(crate) static_neighbors: Vec<StaticNeighbor>,
    /// A fasttrack rule exists, of IPv4 and IPv6.
    has_fasttrack: [bool; 2],
    /// The trees of queues.
    pub(crate) forest: Arc<Forest>,
    /// The classification of packets into leaves.
    pub(crate) queues: Arc<QueueTable>,
    /// Cache epoch: generation of the first of the consecutive snapshots under which decisions about flows of at least one
    /// family are the same.
    cache_epoch: u32,
    /// The same for each family by itself.
    family_epochs: [u32; 2],
}

/// Snapshot and tables that a new snapshot is compared with: parts that did not change are shared with it.
#[derive(Debug, Clone, Copy)]
pub struct Basis<'a> {
    /// The configuration that the snapshot was made from.
    pub config: &'a DataplaneConfig,
    /// The snapshot made from it.
    pub snapshot: &'a Snapshot,
}

/// What a snapshot has from the one before even if nothing is shared otherwise.
#[derive(Clone, Copy)]
struct Kept<'a> {
    link_ids: &'a LinkIds,
    gateway_checks: &'a Arc<GatewayChecks>,
}

/// A snapshot that shares parts with its predecessor.
#[derive(Debug)]
pub struct Rebuilt {
    /// The new snapshot.
    pub snapshot: Snapshot,
    /// Configured routes that are to replace those in tables that both share; see
    /// [`Shared::take_over_routes`](crate::shared::Shared::take_over_routes).
    pub routes: ChangedRoutes,
}

/// Configured routes by family.
#[derive(Debug, Clone, Default)]
pub struct ChangedRoutes {
    /// Routes of IPv4.
    pub v4: ChangedTables<u32>,
    /// Routes of IPv6.
    pub v6: ChangedTables<u128>,
}

/// Number of deep blocks without routes from which on a commit that changes routes builds a new table.
const UNUSED_BLOCKS: usize = 1 << 14;
/// Number of routes up to which a commit that changes routes and other parts builds a new table, so that all changes
/// take effect together.
const FEW_ROUTES: usize = 1 << 14;
/// Number of tables beside the main one up to which it is so; each takes memory of a few huge pages.
const FEW_TABLES: usize = 16;

impl Snapshot {
    /// Builds the tables. `ports` is indexed by [`PortId`](crate::ids::PortId); `generation` must differ from that of
    /// every snapshot that is still in use.
    ///
    /// # Errors
    /// Names the row that makes the configuration impossible.
    pub fn build(
        config: &DataplaneConfig,
        ports: &[PortFacts],
        workers: u32,
        generation: u32,
    ) -> Result<Snapshot, BuildError> {
        let kept = Kept { link_ids: &LinkIds::default(), gateway_checks: &Arc::default() };
        Self::assemble(config, ports, workers, generation, kept, None).map(|rebuilt| rebuilt.snapshot)
    }

    /// Builds like [`Self::build`] what is to follow another snapshot: nothing is shared, but links keep their numbers.
    ///
    /// # Errors
    /// Names the row that makes the configuration impossible.
    pub fn build_after(
        before: &Snapshot,
        config: &DataplaneConfig,
        ports: &[PortFacts],
        generation: u32,
    ) -> Result<Snapshot, BuildError> {
        Self::assemble(config, ports, before.workers, generation, before.kept(), None)
            .map(|rebuilt| rebuilt.snapshot)
    }

    /// Builds like [`Self::build`], but parts that did not change are taken from the snapshot before. Nothing that is
    /// in use is changed yet, even if the configuration is refused.
    ///
    /// # Errors
    /// Names the row that makes the configuration impossible.
    pub fn rebuild(
        basis: Basis<'_>,
        config: &DataplaneConfig,
        ports: &[PortFacts],
        generation: u32,
    ) -> Result<Rebuilt, BuildError> {
        Self::assemble(config, ports, basis.snapshot.workers, generation, basis.snapshot.kept(), Some(basis))
    }

    fn kept(&self) -> Kept<'_> {
        Kept { link_ids: &self.link_ids, gateway_checks: &self.gateway_checks }
    }

    fn assemble(
        config: &DataplaneConfig,
        ports: &[PortFacts],
        workers: u32,
        generation: u32,
        kept: Kept<'_>,
        basis: Option<Basis<'_>>,
    ) -> Result<Rebuilt, BuildError> {
        let map = InterfaceMap::new(&config.interfaces)?;
        let Built { mut interfaces, ids, end, vlans, encapsulations } =
            build_interfaces(config, ports, kept.link_ids)?;
        let down = kept.gateway_checks.down();
        let known = basis.map(|Basis { config, snapshot }| FormerTables {
            main: &snapshot.fib,
            others: &snapshot.tables,
            addresses: &config.addresses,
        });
        let BuiltRoutes { main: fib, others: tables, changed: v4 } =
            build_routes(config, &config.addresses, &map, &interfaces, &down, basis.zip(known))?;
        let addresses6 = if config.settings.ipv6.disable_ipv6 {
            Vec::new()
        } else {
            addresses_with_identifiers(config, &map, &interfaces)?
        };
        let known = basis.map(|Basis { snapshot, .. }| FormerTables {
            main: &snapshot.fib6,
            others: &snapshot.tables6,
            addresses: &snapshot.addresses6,
        });
        let BuiltRoutes { main: fib6, others: tables6, changed: v6 } =
            build_routes(config, &addresses6, &map, &interfaces, &down, basis.zip(known))?;
        let routes = ChangedRoutes { v4, v6 };
        for (index, interface) in interfaces.iter_mut().enumerate() {
            let (_, home) = tables.home(&fib, interface.zone);
            interface.addresses = home.addresses(index as u16).to_vec();
        }
        add_networks(config, &map, &mut interfaces);
        add_ipv6(&addresses6, &config.settings.ipv6, &map, &mut interfaces);
        let links = build_links(ports, end, &interfaces);
        let static_neighbors = build_static_neighbors(config, &map, &mut interfaces)?;
        let BuiltLists { v4: lists, v6: lists6, contents: list_contents } = build_lists(config, basis)?;
        let policy = RoutingPolicy::build(config, &config.mangle, &map)?;
        let policy6 = RoutingPolicy::build(config, &config.ipv6_mangle, &map)?;
        let rules = FamilyRules::build(Family::V4, config, lists, &map, basis)?;
        let rules6 = FamilyRules::build(Family::V6, config, lists6, &map, basis)?;
        let same_queues = |basis: &Basis<'_>| {
            basis.config.simple_queues == config.simple_queues
                && basis.config.tree_queues == config.tree_queues
                && basis.config.interface_queues == config.interface_queues
                && basis.config.queue_types == config.queue_types
                && vlans_in_trees_below(basis.config) == vlans_in_trees_below(config)
        };
        let (forest, queues) = match basis.filter(same_queues) {
            Some(Basis { snapshot, .. }) => (Arc::clone(&snapshot.forest), Arc::clone(&snapshot.queues)),
            None => {
                let forest = Forest::build(config)?;
                let mut queues = QueueTable::build(config, &forest)?;
                if let Some(Basis { snapshot, .. }) = basis {
                    queues.follow(&snapshot.queues, generation);
                }
                (Arc::new(forest), Arc::new(queues))
            }
        };
        let tracking = match config.tracking.enabled {
            // What a table is chosen by is looked at for each packet unless the flow cache remembers it.
            TrackingMode::Auto => {
                !rules.is_empty() || !rules6.is_empty() || policy.is_some() || policy6.is_some()
            }
            TrackingMode::Yes => true,
            TrackingMode::No => false,
        };
        let mut rule_rows: Vec<RowId> = rules.rows().chain(rules6.rows()).collect();
        rule_rows.sort_unstable();
        rule_rows.dedup();
        let mark_names = match basis.filter(|basis| basis.config.mark_names == config.mark_names) {
            Some(basis) => Arc::clone(&basis.snapshot.mark_names),
            None => Arc::new(MarkNames::new(&config.mark_names)),
        };
        let settings = config.settings.clone();
        let mut snapshot = Snapshot {
            generation,
            workers,
            tracking,
            by_route_alone: [
                settings.allow_fast_path && rules.has_no_decisions() && policy.is_none() && !tracking,
                settings.ipv6.allow_fast_path && rules6.has_no_decisions() && policy6.is_none() && !tracking,
            ],
            settings,
            tracking_mode: config.tracking.enabled,
            timeouts: Timeouts::new(&config.tracking),
            max_connections: config.tracking.max_entries,
            ports: links,
            interfaces,
            link_ids: ids,
            vlans,
            encapsulations: Arc::new(encapsulations),
            fib,
            fib6,
            tables,
            tables6,
            policy,
            policy6,
            gateway_checks: Arc::clone(kept.gateway_checks),
            addresses6,
            list_contents,
            rule_rows,
            knows_marks: rules.knows_marks() || rules6.knows_marks(),
            rules,
            rules6,
            mark_names,
            static_neighbors,
            forest,
            queues,
            cache_epoch: generation,
            family_epochs: [generation; 2],
            has_fasttrack: fasttracks(config),
        };
        if let Some(basis) = basis.filter(|basis| snapshot.decides_as(basis, config)) {
            let before = basis.snapshot;
            let same = Family::ALL.map(|family| snapshot.decides_in(family, &basis, config));
            let epochs = snapshot.family_epochs.iter_mut().zip(before.family_epochs);
            for ((epoch, before), _) in epochs.zip(same).filter(|(_, same)| *same) {
                *epoch = before;
            }
            let like = snapshot.interfaces == before.interfaces
                && snapshot.ports == before.ports
                && basis.config.neighbors == config.neighbors;
            if like && same != [false; 2] {
                snapshot.cache_epoch = before.cache_epoch;
            }
        }
        Ok(Rebuilt { snapshot, routes })
    }

    /// Whether everything that decisions about the flows of both families rest on is the same as with another snapshot, but
    /// for interfaces, of which [`Self::decides_in`] knows what concerns a family. How it was configured that connections are tracked, or not, decides about none.
    fn decides_as(&self, basis: &Basis<'_>, config: &DataplaneConfig) -> bool {
        let (other, before) = (basis.snapshot, basis.config);
        let Tracking { enabled, .. } = config.tracking;
        self.shares(SnapshotPart::Queues, other)
            && self.tracking == other.tracking
            && self.vlans == other.vlans
            && self.encapsulations == other.encapsulations
            && differ_in_fast_path_alone(&before.settings, &config.settings)
            && Tracking { enabled, ..before.tracking.clone() } == config.tracking
    }

    /// Whether the interfaces as a family knows them, its static neighbours, its rules, its switch of the fast path and its
    /// routing tables are those of another snapshot, except for routes in a table that both share, whose changes
    /// [`crate::flow::change_counters::ChangeCounters`] counts.
    fn decides_in(&self, family: Family, basis: &Basis<'_>, config: &DataplaneConfig) -> bool {
        let other = basis.snapshot;
        let interfaces = self.interfaces.len() == other.interfaces.len()
            && self.interfaces.iter().zip(&other.interfaces).all(|(own, other)| own.is_as(other, family));
        let ports = self.ports.len() == other.ports.len()
            && self.ports.iter().zip(&other.ports).all(|(own, other)| own.is_as(other, family));
        let (own, others) = (self.rules(family), other.rules(family));
        let routing = match family {
            Family::V4 => self.policy == other.policy && self.shares(SnapshotPart::Routes, other),
            Family::V6 => self.policy6 == other.policy6 && self.shares(SnapshotPart::Ipv6Routes, other),
        };
        // The change counters count changes of list contents, but not of the numbers of lists.
        interfaces
            && ports
            && neighbors_of(basis.config, family).eq(neighbors_of(config, family))
            && routing
            && self.allows_fast_path(family) == other.allows_fast_path(family)
            && [TableKind::Filter, TableKind::Nat, TableKind::Mangle]
                .iter()
                .all(|kind| own.shares(*kind, others))
            && Arc::ptr_eq(&own.lists, &others.lists)
    }

    /// Cache epoch of the snapshot: the generation of the first snapshot with the same interfaces, addresses and static
    /// neighbours under which decisions about flows of at least one family are the same.
    pub(crate) fn cache_epoch(&self) -> u32 {
        self.cache_epoch
    }

    /// Whether interfaces, addresses and static neighbours are the same, and cached actions of at least one family stay valid
    /// from one snapshot to the other, except for changes that [`crate::flow::change_counters::ChangeCounters`] counts.
    pub(crate) fn shares_cache_epoch_with(&self, other: &Snapshot) -> bool {
        self.cache_epoch == other.cache_epoch
    }

    /// The families whose cached actions do not stay valid from one snapshot to the other.
    pub(crate) fn decided_anew(&self, other: &Snapshot) -> impl Iterator<Item = Family> {
        let epochs = self.family_epochs.into_iter().zip(other.family_epochs);
        Family::ALL.into_iter().zip(epochs).filter(|(_, (own, other))| own != other).map(|(family, _)| family)
    }

    /// Whether this snapshot and another one have a part in common.
    pub fn shares(&self, part: SnapshotPart, other: &Snapshot) -> bool {
        let same_table =
            |family: Family, kind: TableKind| self.rules(family).shares(kind, other.rules(family));
        match part {
            SnapshotPart::Routes => {
                Arc::ptr_eq(&self.fib, &other.fib) && self.tables.are_those_of(&other.tables)
            }
            SnapshotPart::Ipv6Routes => {
                Arc::ptr_eq(&self.fib6, &other.fib6) && self.tables6.are_those_of(&other.tables6)
            }
            SnapshotPart::AddressLists => Arc::ptr_eq(&self.list_contents, &other.list_contents),
            SnapshotPart::Filter => same_table(Family::V4, TableKind::Filter),
            SnapshotPart::Nat => same_table(Family::V4, TableKind::Nat),
            SnapshotPart::Mangle => same_table(Family::V4, TableKind::Mangle),
            SnapshotPart::Ipv6Filter => same_table(Family::V6, TableKind::Filter),
            SnapshotPart::Ipv6Nat => same_table(Family::V6, TableKind::Nat),
            SnapshotPart::Ipv6Mangle => same_table(Family::V6, TableKind::Mangle),
            SnapshotPart::Queues => Arc::ptr_eq(&self.queues, &other.queues),
        }
    }
}

/// Builds the routes of a family. If interfaces and addresses have not changed, former tables stay, with the configured
/// routes that are to replace those in them if these have changed; otherwise tables are new.
fn build_routes<A: Address>(
    config: &DataplaneConfig,
    addresses: &[InterfaceAddress],
    map: &InterfaceMap,
    interfaces: &[Interface],
    down: &HashSet<GatewayKey>,
    basis: Option<(Basis<'_>, FormerTables<'_, A>)>,
) -> Result<BuiltRoutes<A>, BuildError> {
    let running: Vec<bool> = interfaces.iter().map(|interface| interface.up).collect();
    let configured = &config.routing_tables;
    let stays = |(basis, before): &(Basis<'_>, FormerTables<'_, A>)| {
        let states = |interfaces: &[Interface]| -> Vec<_> {
            let state = |of: &Interface| (of.row, of.enabled, of.up, of.zone);
            interfaces.iter().map(state).collect()
        };
        let of_family = |address: &&InterfaceAddress| A::of(address.address).is_some();
        before.addresses.iter().filter(of_family).eq(addresses.iter().filter(of_family))
            && states(&basis.snapshot.interfaces) == states(interfaces)
            && vrfs(&basis.config.routing_tables).eq(vrfs(configured))
            // The addresses of every router of a network are those of one that forwards.
            && (!A::HAS_SUBNET_ROUTER || basis.config.settings.ipv6.forward == config.settings.ipv6.forward)
    };
    if let Some((basis, FormerTables { main, others, .. })) = basis.filter(stays) {
        let of_family = |route: &&Route| A::of(route.destination).is_some();
        let same_routes =
            basis.config.routes.iter().filter(of_family).eq(config.routes.iter().filter(of_family));
        if same_routes && basis.config.routing_tables == *configured {
            let changed = ChangedTables::default();
            return Ok(BuiltRoutes { main: Arc::clone(main), others: others.clone(), changed });
        }
        let few =
            main.len() <= FEW_ROUTES && config.routes.len() <= FEW_ROUTES && configured.len() <= FEW_TABLES;
        if !(few && differs_in_more(basis.config, config)) {
            let bases = Bases::of_tables(main, others);
            let mut checked =
                resolve(&gateway_scopes(&bases, configured)?, &config.routes, down)?.into_iter();
            let of_main = checked.next().unwrap_or_default();
            if main.has_room(&of_main) && main.unused_blocks() < UNUSED_BLOCKS {
                let (others, changed) = Tables::build(&bases, configured, checked, Some(others))?;
                let changed = ChangedTables { main: Some(of_main), others: changed };
                return Ok(BuiltRoutes { main: Arc::clone(main), others, changed });
            }
        }
    }
    let bases = Bases::new(config, addresses, map, &running)?;
    let mut routes = resolve(&gateway_scopes(&bases, configured)?, &config.routes, down)?.into_iter();
    let main = Table::with_routes(Arc::clone(bases.of(0)), &routes.next().unwrap_or_default())?;
    let (others, _) = Tables::build(&bases, configured, routes, None)?;
    Ok(BuiltRoutes { main: Arc::new(main), others, changed: ChangedTables::default() })
}

/// Whether settings are the same but for the switches of the fast path.
fn differ_in_fast_path_alone(one: &IpSettings, other: &IpSettings) -> bool {
    let mut like = other.clone();
    (like.allow_fast_path, like.ipv6.allow_fast_path) = (one.allow_fast_path, one.ipv6.allow_fast_path);
    *one == like
}

/// The static neighbours of a family.
fn neighbors_of(
    config: &DataplaneConfig,
    family: Family,
) -> impl Iterator<Item = &tollway_config::dataplane::StaticNeighbor> {
    config.neighbors.iter().filter(move |neighbor| neighbor.address.is_ipv6() == (family == Family::V6))
}

/// Tables of VRFs: rows and zones.
fn vrfs(tables: &[RoutingTable]) -> impl Iterator<Item = (RowId, u16)> {
    tables.iter().filter(|table| table.zone != 0).map(|table| (table.row, table.zone))
}

/// The tables of a family, and the configured routes that are to replace those in them.
struct BuiltRoutes<A: Address> {
    main: Arc<Table<A>>,
    others: Tables<A>,
    changed: ChangedTables<A>,
}

/// The tables of the snapshot before, and the addresses that they were built with.
#[derive(Clone, Copy)]
struct FormerTables<'a, A: Address> {
    main: &'a Arc<Table<A>>,
    others: &'a Tables<A>,
    addresses: &'a [InterfaceAddress],
}

/// Whether two configurations differ in anything but their routes.
fn differs_in_more(one: &DataplaneConfig, other: &DataplaneConfig) -> bool {
    let DataplaneConfig {
        format: _,
        settings,
        tracking,
        interfaces,
        addresses,
        routes: _,
        routing_tables,
        routing_rules,
        neighbors,
        address_lists,
        filter,
        nat,
        mangle,
        ipv6_address_lists,
        ipv6_filter,
        ipv6_nat,
        ipv6_mangle,
        mark_names,
        queue_types,
        simple_queues,
        tree_queues,
        interface_queues,
    } = one;
    *settings != other.settings
        || *tracking != other.tracking
        || *interfaces != other.interfaces
        || *addresses != other.addresses
        || *routing_tables != other.routing_tables
        || *routing_rules != other.routing_rules
        || *neighbors != other.neighbors
        || *address_lists != other.address_lists
        || *filter != other.filter
        || *nat != other.nat
        || *mangle != other.mangle
        || *ipv6_address_lists != other.ipv6_address_lists
        || *ipv6_filter != other.ipv6_filter
        || *ipv6_nat != other.ipv6_nat
        || *ipv6_mangle != other.ipv6_mangle
        || *mark_names != other.mark_names
        || *queue_types != other.queue_types
        || *simple_queues != other.simple_queues
        || *tree_queues != other.tree_queues
        || *interface_queues != other.interface_queues
}
