//! The configuration as the workers use it: immutable, built off the workers, swapped as a whole.

use std::sync::Arc;

use tollway_config::dataplane::{
    Action, ArpMode, Chain, DataplaneConfig, FasttrackMode, IpSettings, RowId, RpFilter, TrackingMode,
};
use tollway_config::protocol::RouteInfo;

use crate::classifier::{AddressLists, Position, Table, TableKind};
use crate::conntrack::Timeouts;
pub use crate::error::BuildError;
use crate::fib::{Fib, Lookup, Planned};
use crate::interface::InterfaceMap;
use crate::lists::Contents;
use crate::neighbor::Fixed;
use crate::packet::{Hook, Meta, NO_INTERFACE, flag};
use crate::qos::classify::QueueTable;
use crate::qos::forest::{Context, Forest};
use crate::qos::queues::Plan;
use crate::tuple::Addr;

/// Index of a claimed port, stable for the life of the process.
pub type PortId = u16;

/// What the configuration cannot know about a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortFacts {
    /// Factory name (`ether1` …).
    pub name: String,
    /// The netdev's own link-layer address.
    pub mac: [u8; 6],
    /// Has carrier.
    pub running: bool,
}

/// Smallest L3 MTU of an IPv4 interface, bytes (RFC 791 §3.2).
const MIN_MTU: u16 = 68;

/// An L3 interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Row of `/interface/ethernet`.
    pub row: RowId,
    /// Name as the user sees it.
    pub name: String,
    /// Port that carries it, if it is there.
    pub port: Option<PortId>,
    /// Link-layer address in effect.
    pub mac: [u8; 6],
    /// L3 MTU, bytes.
    pub mtu: u16,
    /// How ARP behaves.
    pub arp: ArpMode,
    /// Base reachable time of ARP entries, ms.
    pub reachable_ms: u32,
    /// Not disabled.
    pub enabled: bool,
    /// Enabled, with a port that has carrier.
    pub up: bool,
    /// Own addresses with their prefix lengths, in configured order.
    pub addresses: Vec<(u32, u8)>,
    /// Connected networks: first address and prefix length.
    pub networks: Vec<(u32, u8)>,
    /// Addresses of other stations that the router answers ARP for.
    pub published: Vec<u32>,
}

impl Interface {
    /// Whether an address is the router's, on this interface.
    pub fn has_address(&self, address: u32) -> bool {
        self.addresses.iter().any(|(own, _)| *own == address)
    }

    /// Whether a neighbour with this address can be on the interface.
    pub fn reaches(&self, address: u32) -> bool {
        let inside = |&(network, len): &(u32, u8)| (address ^ network) & mask(len) == 0;
        self.networks.iter().any(inside)
    }

    /// Own address in the network of a neighbour, else the first one.
    pub fn address_for(&self, neighbor: u32) -> Option<u32> {
        let same = |&&(own, len): &&(u32, u8)| (neighbor ^ own) & mask(len) == 0;
        self.addresses.iter().find(same).or(self.addresses.first()).map(|(own, _)| *own)
    }
}

const fn mask(len: u8) -> u32 {
    if len == 0 { 0 } else { u32::MAX << (32 - len as u32 % 33) }
}

/// What a received or sent frame needs to know of its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// Link-layer address in effect.
    pub mac: [u8; 6],
    /// Dense number of its interface, or [`NO_INTERFACE`].
    pub interface: u16,
    /// L3 MTU of its interface.
    pub mtu: u16,
    /// Carries an interface that is not disabled.
    pub enabled: bool,
    /// Enabled, with carrier.
    pub up: bool,
}

/// Where evaluation of the built-in chains starts; `None` without rules.
#[derive(Debug, Clone, Copy, Default)]
struct Hooks {
    input: Option<Position>,
    forward: Option<Position>,
    output: Option<Position>,
    srcnat: Option<Position>,
    dstnat: Option<Position>,
    mangle: MangleHooks,
}

/// The same for mangle.
#[derive(Debug, Clone, Copy, Default)]
struct MangleHooks {
    prerouting: Option<Position>,
    input: Option<Position>,
    forward: Option<Position>,
    output: Option<Position>,
    postrouting: Option<Position>,
}

impl MangleHooks {
    fn of(table: &Table) -> Self {
        Self {
            prerouting: table.hook("prerouting"),
            input: table.hook("input"),
            forward: table.hook("forward"),
            output: table.hook("output"),
            postrouting: table.hook("postrouting"),
        }
    }
}

/// Everything the stages look up, for one generation of the configuration.
#[derive(Debug)]
pub struct Snapshot {
    generation: u32,
    workers: u32,
    settings: IpSettings,
    tracking: bool,
    tracking_mode: TrackingMode,
    timeouts: Timeouts,
    max_connections: u32,
    interfaces: Vec<Interface>,
    ports: Vec<Port>,
    fib: Arc<Fib>,
    lists: Arc<AddressLists>,
    list_contents: Arc<Contents>,
    filter: Arc<Table>,
    nat: Arc<Table>,
    mangle: Arc<Table>,
    knows_marks: bool,
    filter_resumes: bool,
    rule_rows: Vec<RowId>,
    hooks: Hooks,
    fixed: Vec<Fixed>,
    has_fasttrack: bool,
    forest: Arc<Forest>,
    queues: Arc<QueueTable>,
    /// Generation of the first of those snapshots that decide about flows alike.
    policy: u32,
}

/// What a new snapshot is compared with: parts that did not change are shared with it.
#[derive(Debug, Clone, Copy)]
pub struct Basis<'a> {
    /// The configuration that the snapshot was made from.
    pub config: &'a DataplaneConfig,
    /// It.
    pub snapshot: &'a Snapshot,
}

/// A snapshot that shares parts with the one before.
#[derive(Debug)]
pub struct Renewed {
    /// It.
    pub snapshot: Snapshot,
    /// Configured routes that are to replace those in the table that both share; see
    /// [`Shared::take_over_routes`](crate::shared::Shared::take_over_routes).
    pub routes: Option<Vec<Planned>>,
}

/// Blocks without routes from which on a commit that changes routes gets a new table.
const UNUSED_BLOCKS: usize = 1 << 14;
/// Routes up to which a commit that changes more than routes gets a new table of them too, which takes
/// effect together with the rest.
const FEW_ROUTES: usize = 1 << 14;

/// Parts that snapshots share.
const PARTS: usize = 6;

impl Snapshot {
    /// Builds the tables. `ports` is indexed by [`PortId`]; `generation` must differ from that of every
    /// snapshot that is still in use.
    ///
    /// # Errors
    /// Names the row that makes the configuration impossible.
    pub fn build(
        config: &DataplaneConfig,
        ports: &[PortFacts],
        workers: u32,
        generation: u32,
    ) -> Result<Snapshot, BuildError> {
        Self::assemble(config, ports, workers, generation, None).map(|renewed| renewed.snapshot)
    }

    /// As [`Self::build`], but parts that did not change are taken from the snapshot before. Nothing that is in
    /// use changes yet, whether the configuration is possible or not.
    ///
    /// # Errors
    /// Names the row that makes the configuration impossible.
    pub fn renew(
        basis: Basis<'_>,
        config: &DataplaneConfig,
        ports: &[PortFacts],
        generation: u32,
    ) -> Result<Renewed, BuildError> {
        Self::assemble(config, ports, basis.snapshot.workers, generation, Some(basis))
    }

    fn assemble(
        config: &DataplaneConfig,
        ports: &[PortFacts],
        workers: u32,
        generation: u32,
        basis: Option<Basis<'_>>,
    ) -> Result<Renewed, BuildError> {
        let map = InterfaceMap::new(&config.interfaces)?;
        let mut interfaces = build_interfaces(config, ports)?;
        let (fib, routes) = build_routes(config, &map, &interfaces, basis)?;
        for (index, interface) in interfaces.iter_mut().enumerate() {
            interface.addresses = fib.addresses(index as u16).to_vec();
        }
        add_networks(config, &map, &mut interfaces);
        let fixed = build_fixed(config, &map, &mut interfaces)?;
        let (lists, list_contents) = build_lists(config, basis)?;
        // Rules hold lists by reference and interfaces by number.
        let same = basis
            .filter(|basis| Arc::ptr_eq(&basis.snapshot.lists, &lists) && same_numbers(basis.config, config));
        let table = |kind: TableKind| {
            let before = basis.map(|basis| basis.snapshot.table(kind));
            match same.filter(|basis| chains(basis.config, kind) == chains(config, kind)) {
                Some(basis) => Ok(Arc::clone(basis.snapshot.table(kind))),
                None => {
                    let before = before.map(|table| &**table);
                    Table::compile(kind, chains(config, kind), &lists, &map, before).map(Arc::new)
                }
            }
        };
        let (filter, nat, mangle) =
            (table(TableKind::Filter)?, table(TableKind::Nat)?, table(TableKind::Mangle)?);
        let same_queues = |basis: &Basis<'_>| {
            basis.config.simple_queues == config.simple_queues
                && basis.config.tree_queues == config.tree_queues
                && basis.config.interface_queues == config.interface_queues
                && basis.config.queue_types == config.queue_types
        };
        let (forest, queues) = match basis.filter(same_queues) {
            Some(Basis { snapshot, .. }) => (Arc::clone(&snapshot.forest), Arc::clone(&snapshot.queues)),
            None => {
                let forest = Forest::build(config)?;
                let queues = QueueTable::build(config, &forest)?;
                (Arc::new(forest), Arc::new(queues))
            }
        };
        let hooks = Hooks {
            input: filter.hook("input"),
            forward: filter.hook("forward"),
            output: filter.hook("output"),
            srcnat: nat.hook("srcnat"),
            dstnat: nat.hook("dstnat"),
            mangle: MangleHooks::of(&mangle),
        };
        let tracking = match config.tracking.enabled {
            TrackingMode::Auto => !filter.is_empty() || !nat.is_empty() || !mangle.is_empty(),
            TrackingMode::Yes => true,
            TrackingMode::No => false,
        };
        let fasttracks = |rule: &tollway_config::dataplane::Rule| rule.action == Action::FasttrackConnection;
        let mut rule_rows: Vec<RowId> = filter.rows().chain(nat.rows()).chain(mangle.rows()).collect();
        rule_rows.sort_unstable();
        rule_rows.dedup();
        let mut snapshot = Snapshot {
            generation,
            workers,
            settings: config.settings.clone(),
            tracking,
            tracking_mode: config.tracking.enabled,
            timeouts: Timeouts::new(&config.tracking),
            max_connections: config.tracking.max_entries,
            ports: build_ports(ports, &interfaces),
            interfaces,
            fib,
            lists,
            list_contents,
            rule_rows,
            knows_marks: !mangle.is_empty() || filter.asks_connection_mark() || nat.asks_connection_mark(),
            filter_resumes: mangle.is_empty() || hooks.mangle.postrouting.is_none() && !filter.asks_packet(),
            filter,
            nat,
            mangle,
            hooks,
            fixed,
            forest,
            queues,
            policy: generation,
            has_fasttrack: config
                .filter
                .iter()
                .chain(&config.mangle)
                .any(|chain| chain.rules.iter().any(fasttracks)),
        };
        if let Some(basis) = basis.filter(|basis| snapshot.decides_as(basis, config)) {
            snapshot.policy = basis.snapshot.policy;
        }
        Ok(Renewed { snapshot, routes })
    }

    /// Whether flows are decided as with another snapshot, but for routes in the table that both share.
    /// Changes of those are counted by [`crate::epochs::Epochs`].
    fn decides_as(&self, basis: &Basis<'_>, config: &DataplaneConfig) -> bool {
        let (other, before) = (basis.snapshot, basis.config);
        // What is in lists is counted by the epochs too, but not which list has which number.
        let parts = self.shares_with(other).into_iter().filter(|name| *name != "address lists").count();
        parts == PARTS - 1
            && Arc::ptr_eq(&self.lists, &other.lists)
            && self.interfaces == other.interfaces
            && self.ports == other.ports
            && before.settings == config.settings
            && before.tracking == config.tracking
            && before.neighbors == config.neighbors
    }

    /// Whether flows are decided as with the other one, but for what [`crate::epochs::Epochs`] counts.
    pub(crate) fn has_policy_of(&self, other: &Snapshot) -> bool {
        self.policy == other.policy
    }

    /// Names of the parts that this snapshot and another one have in common.
    pub fn shares_with(&self, other: &Snapshot) -> Vec<&'static str> {
        let parts: [_; PARTS] = [
            ("routes", Arc::ptr_eq(&self.fib, &other.fib)),
            ("address lists", Arc::ptr_eq(&self.list_contents, &other.list_contents)),
            ("filter", Arc::ptr_eq(&self.filter, &other.filter)),
            ("nat", Arc::ptr_eq(&self.nat, &other.nat)),
            ("mangle", Arc::ptr_eq(&self.mangle, &other.mangle)),
            ("queues", Arc::ptr_eq(&self.queues, &other.queues)),
        ];
        parts.into_iter().filter(|(_, shared)| *shared).map(|(name, _)| name).collect()
    }

    /// The address lists, and what the configuration holds in them.
    pub(crate) fn lists(&self) -> (&AddressLists, &Arc<Contents>) {
        (&self.lists, &self.list_contents)
    }

    /// Generation given at build.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Connected and static routes with their state, for `/ip/route`.
    pub fn routes(&self) -> Vec<RouteInfo> {
        self.fib.routes()
    }

    /// Rule rows of every table, ascending.
    pub fn rule_rows(&self) -> &[RowId] {
        &self.rule_rows
    }

    /// The interfaces, by dense number.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// An interface by its dense number.
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

    /// A port.
    #[inline]
    pub fn port(&self, port: PortId) -> Option<&Port> {
        self.ports.get(usize::from(port))
    }

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

    /// When connections are tracked, as configured.
    pub(crate) fn tracking_mode(&self) -> TrackingMode {
        self.tracking_mode
    }

    /// The flow cache may be used.
    #[inline]
    pub(crate) fn allow_fast_path(&self) -> bool {
        self.settings.allow_fast_path
    }

    /// What the flow cache knows may be forwarded elsewhere.
    pub(crate) fn offloads_flows(&self) -> bool {
        self.settings.flow_offload
    }

    /// Forwarding needs no more than a route: nothing is tracked, filtered or checked backwards.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        !self.tracking
            && self.filter.is_empty()
            && self.mangle.is_empty()
            && self.settings.ip_forward
            && self.settings.rp_filter == RpFilter::No
    }

    /// Packets of fasttracked connections skip rules and queues.
    #[inline]
    pub(crate) fn fasttrack_bypasses(&self) -> bool {
        self.settings.fasttrack_mode == FasttrackMode::Bypass
            && self.settings.allow_fast_path
            && self.tracking
    }

    /// A fasttrack rule exists.
    pub(crate) fn has_fasttrack(&self) -> bool {
        self.has_fasttrack
    }

    pub(crate) fn forwards(&self) -> bool {
        self.settings.ip_forward
    }

    pub(crate) fn rp_filter(&self) -> RpFilter {
        self.settings.rp_filter
    }

    pub(crate) fn icmp_rate_limit_ms(&self) -> u32 {
        self.settings.icmp_rate_limit_ms
    }

    pub(crate) fn max_neighbors(&self) -> u32 {
        self.settings.max_neighbor_entries
    }

    #[inline]
    pub(crate) fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// Bound of the connection table over all workers.
    pub(crate) fn max_connections(&self) -> u32 {
        self.max_connections
    }

    /// Where an address leads. Limited broadcast and multicast are not known here.
    #[inline]
    pub(crate) fn lookup(&self, address: u32) -> Lookup {
        self.fib.lookup(address)
    }

    /// The routes.
    #[inline]
    pub(crate) fn fib(&self) -> &Arc<Fib> {
        &self.fib
    }

    /// Whether an address is the router's own.
    #[inline]
    pub(crate) fn is_local(&self, address: u32) -> bool {
        self.fib.is_local(address)
    }

    /// Whether connections may be masqueraded behind an address of an interface row.
    pub(crate) fn masquerades(&self, row: RowId, address: Addr) -> bool {
        let own = address.as_v4().unwrap_or(0);
        self.interface_of(row).is_some_and(|interface| interface.up && interface.has_address(own))
    }

    /// Whether an address is a broadcast address here.
    pub(crate) fn is_broadcast(&self, address: u32) -> bool {
        address == u32::MAX || matches!(self.fib.lookup(address), Lookup::Broadcast { .. })
    }

    /// Interface that packets to an address of another station leave by.
    pub(crate) fn way_out(&self, address: u32) -> Option<u16> {
        match self.fib.lookup(address) {
            Lookup::Connected { interface } | Lookup::Via { interface, .. } => Some(interface),
            Lookup::Local { .. } | Lookup::Broadcast { .. } | Lookup::Blackhole | Lookup::NoRoute => None,
        }
    }

    /// Source address for packets of the router to a destination.
    pub(crate) fn source_for(&self, destination: u32) -> Option<u32> {
        self.fib.source_for(destination)
    }

    pub(crate) fn filter(&self) -> &Table {
        &self.filter
    }

    pub(crate) fn nat(&self) -> &Table {
        &self.nat
    }

    fn table(&self, kind: TableKind) -> &Arc<Table> {
        match kind {
            TableKind::Filter => &self.filter,
            TableKind::Nat => &self.nat,
            TableKind::Mangle => &self.mangle,
        }
    }

    pub(crate) fn mangle(&self) -> &Table {
        &self.mangle
    }

    /// Whether what is cached may rest on volume, time, DSCP or lists.
    pub(crate) fn has_bounds(&self) -> bool {
        self.filter.has_bounds() || self.mangle.has_bounds() || self.queues.has_time()
    }

    /// Whether rules ask for marks, or set them.
    #[inline]
    pub(crate) fn knows_marks(&self) -> bool {
        self.knows_marks
    }

    /// Whether marks of connections may change.
    #[inline]
    pub(crate) fn changes_marks(&self) -> bool {
        !self.mangle.is_empty()
    }

    /// Whether the flow cache can go on with a rule of the filter that must be asked for every packet: no rule from
    /// there on asks for what only the stages know, and no chain of mangle follows.
    pub(crate) fn filter_resumes(&self) -> bool {
        self.filter_resumes
    }

    /// Where mangle starts for a hook of the filter.
    #[inline]
    pub(crate) fn mangle_hook(&self, hook: Hook) -> Option<&Position> {
        match hook {
            Hook::Input => self.hooks.mangle.input.as_ref(),
            Hook::Forward => self.hooks.mangle.forward.as_ref(),
            Hook::Output => self.hooks.mangle.output.as_ref(),
        }
    }

    pub(crate) fn prerouting(&self) -> Option<&Position> {
        self.hooks.mangle.prerouting.as_ref()
    }

    pub(crate) fn postrouting(&self) -> Option<&Position> {
        self.hooks.mangle.postrouting.as_ref()
    }

    /// Where the filter starts for a hook, and the hook's name.
    #[inline]
    pub(crate) fn filter_hook(&self, hook: Hook) -> Option<&Position> {
        match hook {
            Hook::Input => self.hooks.input.as_ref(),
            Hook::Forward => self.hooks.forward.as_ref(),
            Hook::Output => self.hooks.output.as_ref(),
        }
    }

    pub(crate) fn srcnat(&self) -> Option<&Position> {
        self.hooks.srcnat.as_ref()
    }

    pub(crate) fn dstnat(&self) -> Option<&Position> {
        self.hooks.dstnat.as_ref()
    }

    /// The trees of queues.
    #[inline]
    pub(crate) fn forest(&self) -> &Arc<Forest> {
        &self.forest
    }

    /// How packets find their leaves at a time, ns since 1970 UTC.
    #[inline]
    pub(crate) fn plan(&self, utc_ns: i64) -> Plan<'_> {
        Plan { forest: &self.forest, table: &self.queues, utc_ns }
    }

    /// Rows of the interfaces of ports.
    pub(crate) fn port_interfaces(&self) -> Vec<Option<RowId>> {
        let row = |port: &Port| self.interface(port.interface).map(|interface| interface.row);
        self.ports.iter().map(row).collect()
    }

    /// Which of their leaves a packet passes.
    #[inline]
    pub(crate) fn queues(&self) -> &QueueTable {
        &self.queues
    }

    /// What decides about a packet's queues beside its addresses.
    pub(crate) fn queue_context(&self, meta: &Meta) -> Context {
        let row = |index: u16| self.interface(index).map_or(0, |interface| interface.row);
        self.queues.relevant(Context {
            mark: meta.mark,
            in_interface: if meta.hook == Hook::Output { 0 } else { row(meta.in_interface) },
            out_interface: if meta.is(flag::TO_ROUTER) { 0 } else { row(meta.out_interface) },
        })
    }

    pub(crate) fn fixed_neighbors(&self) -> &[Fixed] {
        &self.fixed
    }
}

/// The chains of a table.
fn chains(config: &DataplaneConfig, kind: TableKind) -> &[Chain] {
    match kind {
        TableKind::Filter => &config.filter,
        TableKind::Nat => &config.nat,
        TableKind::Mangle => &config.mangle,
    }
}

/// Lists that have the same names in the same order keep their numbers, and rules need not be compiled.
fn build_lists(
    config: &DataplaneConfig,
    basis: Option<Basis<'_>>,
) -> Result<(Arc<AddressLists>, Arc<Contents>), BuildError> {
    let lists = &config.address_lists;
    let Some(Basis { config: before, snapshot }) = basis else {
        return Ok((Arc::new(AddressLists::named(lists)?), Arc::new(Contents::build(lists, None)?)));
    };
    if before.address_lists == *lists {
        return Ok((Arc::clone(&snapshot.lists), Arc::clone(&snapshot.list_contents)));
    }
    let contents = Contents::build(lists, Some(&snapshot.list_contents))?;
    let same_names = snapshot.lists.names().iter().eq(lists.iter().map(|list| &list.name));
    let names = if same_names { Arc::clone(&snapshot.lists) } else { Arc::new(AddressLists::named(lists)?) };
    Ok((names, Arc::new(contents)))
}

fn parse_mac(row: RowId, text: &str) -> Result<[u8; 6], BuildError> {
    let wrong = || {
        BuildError::row(
            row,
            format!("mac-address {text}: expected six hexadecimal pairs, as 02:00:00:00:00:01"),
        )
    };
    let mut mac = [0; 6];
    let mut parts = text.split(':');
    for byte in &mut mac {
        let part = parts.next().filter(|part| part.len() == 2).ok_or_else(wrong)?;
        *byte = u8::from_str_radix(part, 16).map_err(|_| wrong())?;
    }
    let group = tollway_wire::ethernet::is_group(mac);
    if parts.next().is_some() || group || mac == [0; 6] { Err(wrong()) } else { Ok(mac) }
}

fn build_interfaces(config: &DataplaneConfig, ports: &[PortFacts]) -> Result<Vec<Interface>, BuildError> {
    let mut interfaces: Vec<Interface> = Vec::with_capacity(config.interfaces.len());
    for interface in &config.interfaces {
        if interface.mtu < MIN_MTU {
            let message = format!("mtu {}: expected {MIN_MTU} to 65535", interface.mtu);
            return Err(BuildError::row(interface.row, message));
        }
        let position = ports.iter().position(|port| port.name == interface.port);
        let facts = position.and_then(|position| ports.get(position));
        let port = position.and_then(|position| PortId::try_from(position).ok());
        if port.is_some() && interfaces.iter().any(|other| other.port == port) {
            let message = format!("port {} carries another interface already", interface.port);
            return Err(BuildError::row(interface.row, message));
        }
        let own = facts.map(|facts| facts.mac).unwrap_or_default();
        let mac = match &interface.mac_address {
            Some(text) => parse_mac(interface.row, text)?,
            None => own,
        };
        interfaces.push(Interface {
            row: interface.row,
            name: interface.name.clone(),
            port,
            mac,
            mtu: interface.mtu,
            arp: interface.arp,
            reachable_ms: interface.arp_timeout_ms.unwrap_or(config.settings.arp_timeout_ms),
            enabled: !interface.disabled,
            up: !interface.disabled && facts.is_some_and(|facts| facts.running),
            addresses: Vec::new(),
            networks: Vec::new(),
            published: Vec::new(),
        });
    }
    Ok(interfaces)
}

/// Whether interfaces have the same dense numbers in both.
fn same_numbers(one: &DataplaneConfig, other: &DataplaneConfig) -> bool {
    let rows = |config: &DataplaneConfig| {
        config.interfaces.iter().map(|interface| interface.row).collect::<Vec<RowId>>()
    };
    rows(one) == rows(other)
}

/// The routes: the table before if what routes rest on has not changed, with the configured ones that are to
/// replace those in it if they have; else a new table.
fn build_routes(
    config: &DataplaneConfig,
    map: &InterfaceMap,
    interfaces: &[Interface],
    basis: Option<Basis<'_>>,
) -> Result<(Arc<Fib>, Option<Vec<Planned>>), BuildError> {
    let running: Vec<bool> = interfaces.iter().map(|interface| interface.up).collect();
    let stays = |basis: &Basis<'_>| {
        let states = |interfaces: &[Interface]| -> Vec<_> {
            interfaces.iter().map(|interface| (interface.row, interface.enabled, interface.up)).collect()
        };
        basis.config.addresses == config.addresses && states(&basis.snapshot.interfaces) == states(interfaces)
    };
    if let Some(basis) = basis.filter(stays) {
        let fib = &basis.snapshot.fib;
        if basis.config.routes == config.routes {
            return Ok((Arc::clone(fib), None));
        }
        let few = fib.len() <= FEW_ROUTES && config.routes.len() <= FEW_ROUTES;
        if !(few && differs_in_more(basis.config, config)) {
            let planned = fib.plan(&config.routes)?;
            if fib.has_room(&planned) && fib.unused_blocks() < UNUSED_BLOCKS {
                return Ok((Arc::clone(fib), Some(planned)));
            }
        }
    }
    Ok((Arc::new(Fib::build(config, map, &running)?), None))
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
        neighbors,
        address_lists,
        filter,
        nat,
        mangle,
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
        || *neighbors != other.neighbors
        || *address_lists != other.address_lists
        || *filter != other.filter
        || *nat != other.nat
        || *mangle != other.mangle
        || *mark_names != other.mark_names
        || *queue_types != other.queue_types
        || *simple_queues != other.simple_queues
        || *tree_queues != other.tree_queues
        || *interface_queues != other.interface_queues
}

fn add_networks(config: &DataplaneConfig, map: &InterfaceMap, interfaces: &mut [Interface]) {
    for address in &config.addresses {
        let interface = map.index(address.interface).and_then(|index| interfaces.get_mut(usize::from(index)));
        if let (Some(interface), std::net::IpAddr::V4(network)) = (interface, address.network) {
            interface.networks.push((network.to_bits() & mask(address.prefix_len), address.prefix_len));
        }
    }
}

fn build_fixed(
    config: &DataplaneConfig,
    map: &InterfaceMap,
    interfaces: &mut [Interface],
) -> Result<Vec<Fixed>, BuildError> {
    let mut fixed: Vec<Fixed> = Vec::with_capacity(config.neighbors.len());
    for neighbor in &config.neighbors {
        let mac = parse_mac(neighbor.row, &neighbor.mac_address)?;
        let interface =
            map.index(neighbor.interface).and_then(|index| interfaces.get_mut(usize::from(index)));
        let Some(interface) = interface else {
            let message = format!("interface row {} does not exist", neighbor.interface);
            return Err(BuildError::row(neighbor.row, message));
        };
        let key = (interface.row, neighbor.address.to_bits());
        if fixed.iter().any(|other| other.key == key) {
            let message = format!("address {} has another entry on the same interface", neighbor.address);
            return Err(BuildError::row(neighbor.row, message));
        }
        if neighbor.published {
            interface.published.push(neighbor.address.to_bits());
        }
        fixed.push(Fixed { key, row: neighbor.row, mac });
    }
    Ok(fixed)
}

fn build_ports(facts: &[PortFacts], interfaces: &[Interface]) -> Vec<Port> {
    facts
        .iter()
        .enumerate()
        .map(|(port, facts)| {
            let on_port = |interface: &&Interface| interface.port.map(usize::from) == Some(port);
            let interface = interfaces.iter().find(on_port);
            let index = interfaces.iter().position(|interface| on_port(&interface));
            Port {
                mac: interface.map_or(facts.mac, |interface| interface.mac),
                interface: index.and_then(|index| u16::try_from(index).ok()).unwrap_or(NO_INTERFACE),
                mtu: interface.map_or(0, |interface| interface.mtu),
                enabled: interface.is_some_and(|interface| interface.enabled),
                up: interface.is_some_and(|interface| interface.up),
            }
        })
        .collect()
}
