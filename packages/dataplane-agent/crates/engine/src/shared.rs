//! The tables that all workers of a process share: neighbours, routes, address lists, flow directory, queues. None is
//! locked on the fast path.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tollway_config::dataplane::{DataplaneConfig, FIRST_AUTOCONFIGURED_ROW, RowId};
use tollway_config::protocol::{Ipv6AddressInfo, Ipv6Lifetimes, Ipv6NeighborInfo, NeighborInfo};

use crate::firewall::address_set::AddressSets;
use crate::flow::change_counters::ChangeCounters;
use crate::flow::directory::Directory;
use crate::flow::outside_ports::SharedFreePorts;
use crate::ip::address_states::AddressStates;
use crate::ip::fib::{Address, DynamicRoute, FibFull, Prefix, RouteChange, Table};
use crate::ip::heard_routers::HeardRouters;
use crate::ip::icmp_rate::IcmpErrorRate;
use crate::ip::learned_gateways::LearnedGateways;
use crate::ip::neighbor::{NeighborKey, Neighbors};
use crate::ip::redirect_rate::RedirectRate;
use crate::ip::router_advertisements::RouterAdvertisements;
use crate::observe::log::Log;
use crate::packet::family::Family;
use crate::packet::names::format_mac;
use crate::packet::tuple::{Addr, Zone};
use crate::qos::queues::shared::SharedQueues;
use crate::random::{STEP, split_mix};
use crate::snapshot::{ChangedRoutes, Interface, InterfaceIpv6, OwnAddress, Snapshot};
use crate::time::{Now, WallClock};

/// Length of a network of which stations make themselves addresses, bits (RFC 2464 §4).
const NETWORK_LEN: u8 = 64;

/// The state that all workers of a process share apart from the configuration.
#[derive(Debug)]
pub struct Shared {
    workers: u32,
    seed: u64,
    /// Neighbours of both families.
    pub(crate) neighbors: Neighbors,
    /// States of the router's own addresses of IPv6.
    pub(crate) address_states: AddressStates,
    /// When routers are advertised.
    pub(crate) router_advertisements: RouterAdvertisements,
    /// Which worker owns a connection.
    pub(crate) directory: Arc<Directory>,
    /// Outside ports that workers have free.
    pub(crate) free_ports: Arc<SharedFreePorts>,
    /// Change counts of the tables that all workers read.
    pub change_counters: Arc<ChangeCounters>,
    /// The part of the queues that workers share.
    pub(crate) queues: SharedQueues,
    /// Contents of the address lists.
    pub address_sets: Arc<AddressSets>,
    /// The rate limit of ICMP errors.
    pub(crate) icmp_errors: IcmpErrorRate,
    /// The rate limit of ICMP redirects.
    pub(crate) redirects: RedirectRate,
    /// Gateways that ICMP redirects have named.
    pub(crate) learned_gateways: LearnedGateways,
    /// Those of IPv6.
    pub(crate) learned_gateways6: LearnedGateways<u128>,
    /// Routers and networks that advertisements have told of.
    pub heard_routers: HeardRouters,
    /// Memory of waiting fragments of IPv4, bytes.
    pub(crate) fragment_bytes: Arc<AtomicUsize>,
    /// Memory of waiting fragments of IPv6, bytes.
    pub(crate) fragment6_bytes: Arc<AtomicUsize>,
    /// Lines for `/log`.
    pub log: Log,
    /// The time of day.
    pub wall_clock: WallClock,
}

impl Shared {
    /// Shared state of `workers` engines. `seed` keys the hash functions; take it from the system's random source.
    pub fn new(workers: u32, seed: u64) -> Shared {
        Shared {
            workers,
            seed,
            neighbors: Neighbors::new(),
            address_states: AddressStates::default(),
            router_advertisements: RouterAdvertisements::new(seed),
            directory: Arc::default(),
            free_ports: Arc::default(),
            change_counters: Arc::default(),
            queues: SharedQueues::new(workers),
            address_sets: Arc::new(AddressSets::new(seed)),
            icmp_errors: IcmpErrorRate::default(),
            redirects: RedirectRate::default(),
            learned_gateways: LearnedGateways::default(),
            learned_gateways6: LearnedGateways::default(),
            heard_routers: HeardRouters::new(seed),
            fragment_bytes: Arc::default(),
            fragment6_bytes: Arc::default(),
            log: Log::default(),
            wall_clock: WallClock::default(),
        }
    }

    /// A copy for a dry run: tables that packets change are copied, the others are read and not written.
    pub(crate) fn fork(&self) -> Shared {
        Shared {
            neighbors: self.neighbors.copy(),
            address_states: self.address_states.copy(),
            directory: Arc::new(Directory::over(Arc::clone(&self.directory))),
            free_ports: Arc::clone(&self.free_ports),
            change_counters: Arc::clone(&self.change_counters),
            address_sets: Arc::clone(&self.address_sets),
            icmp_errors: self.icmp_errors.copy(),
            redirects: self.redirects.copy(),
            learned_gateways: self.learned_gateways.copy(),
            learned_gateways6: self.learned_gateways6.copy(),
            wall_clock: self.wall_clock.copy(),
            ..Shared::new(self.workers, self.seed)
        }
    }

    /// Number of engines it was made for.
    pub fn workers(&self) -> u32 {
        self.workers
    }

    /// Key of hash functions.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Identifier of the echo requests by which gateways are probed (RFC 792): another one at each start, so that others
    /// cannot know which answers count.
    pub(crate) fn probe_identifier(&self) -> u16 {
        split_mix(self.seed.wrapping_add(STEP)) as u16
    }

    /// Directory of the workers that own flows whose first packets are not steered to them.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The neighbours of IPv4.
    pub fn neighbors(&self, snapshot: &Snapshot) -> Vec<NeighborInfo> {
        let known =
            self.neighbors.list().into_iter().filter(|(key, ..)| snapshot.interface_of(key.0).is_some());
        let info = |((interface, address), row, mac, status): (NeighborKey, RowId, Option<[u8; 6]>, _)| {
            let address = Ipv4Addr::from_bits(address.as_v4()?);
            Some(NeighborInfo { row, interface, address, mac_address: mac.map(format_mac), status })
        };
        known.filter_map(info).collect()
    }

    /// The neighbours of IPv6.
    pub fn neighbors6(&self, snapshot: &Snapshot) -> Vec<Ipv6NeighborInfo> {
        let routers = self.neighbors.routers();
        let known =
            self.neighbors.list().into_iter().filter(|(key, ..)| snapshot.interface_of(key.0).is_some());
        let v6 = known.filter(|((_, address), ..)| address.as_v4().is_none());
        v6.map(|(key, row, mac, status)| Ipv6NeighborInfo {
            row,
            interface: key.0,
            address: Ipv6Addr::from_bits(key.1.0),
            mac_address: mac.map(format_mac),
            router: routers.contains(&key),
            status,
        })
        .collect()
    }

    /// The router's addresses of IPv6 and their states.
    pub fn ipv6_addresses(&self, snapshot: &Snapshot, now: Now) -> Vec<Ipv6AddressInfo> {
        let of = |interface: &Interface| {
            let own = interface.ipv6.as_ref().map_or(&[][..], |ipv6| &ipv6.addresses);
            let lifetimes = |own: &OwnAddress| {
                let made = own.row >= FIRST_AUTOCONFIGURED_ROW;
                let network = (own.address.masked(NETWORK_LEN), NETWORK_LEN);
                made.then(|| self.heard_routers.lifetimes(interface.row, network, now)).flatten()
            };
            let info = |own: &OwnAddress| Ipv6AddressInfo {
                row: own.row,
                interface: interface.row,
                address: Ipv6Addr::from_bits(own.address),
                prefix_len: own.prefix_len,
                state: self.address_states.state((interface.row, Addr(own.address))),
                lifetimes: lifetimes(own)
                    .map(|left| Ipv6Lifetimes { valid_s: left.valid, preferred_s: left.preferred }),
            };
            own.iter().map(info).collect::<Vec<_>>()
        };
        snapshot.interfaces().iter().flat_map(of).collect()
    }

    /// Whether an interface has a link-local address that is in use.
    pub(crate) fn has_link_local(&self, snapshot: &Snapshot, row: RowId) -> bool {
        let ipv6 = snapshot.interface_of(row).and_then(|interface| interface.ipv6.as_ref());
        let own = ipv6.and_then(InterfaceIpv6::link_local);
        own.is_some_and(|own| self.address_states.is_usable((row, Addr(own))))
    }

    /// Removes a learned neighbour. Returns `false` if there is none (static entries are configuration).
    pub fn remove_neighbor(&self, interface: RowId, address: IpAddr) -> bool {
        self.neighbors.remove((interface, address.into()))
    }

    /// Activates the routes of a new snapshot; to be called just before the workers take it over. If both snapshots
    /// share a table, it is changed route by route, and every lookup sees either the old or the new route. Otherwise
    /// the new table gets the routes that other programs have added.
    ///
    /// # Errors
    /// There are more different next hops than can be numbered; then some routes may still be the old ones.
    pub fn take_over_routes(
        &self,
        old: &Snapshot,
        new: &Snapshot,
        routes: &ChangedRoutes,
    ) -> Result<(), FibFull> {
        self.replace_static(new, routes)?;
        if !Arc::ptr_eq(old.fib6(), new.fib6()) {
            new.fib6().adopt(old.fib6())?;
        }
        new.tables().adopt(old.tables())?;
        new.tables6().adopt(old.tables6())?;
        new.probe_gateways();
        if Arc::ptr_eq(old.fib(), new.fib()) { Ok(()) } else { new.fib().adopt(old.fib()) }
    }

    /// Replaces the configured routes in the tables of a snapshot, and counts the changes.
    fn replace_static(&self, snapshot: &Snapshot, routes: &ChangedRoutes) -> Result<(), FibFull> {
        let ChangedRoutes { v4, v6 } = routes;
        if let Some(routes) = &v4.main {
            self.change_counters.routes_changed(snapshot.fib().replace_static(routes)?);
        }
        if let Some(routes) = &v6.main {
            self.change_counters.ipv6_routes_changed(snapshot.fib6().replace_static(routes)?);
        }
        let mut stamps = snapshot.tables().replace_static(&v4.others)?;
        stamps.extend(snapshot.tables6().replace_static(&v6.others)?);
        if !stamps.is_empty() {
            self.change_counters.tables_changed(stamps);
        }
        Ok(())
    }

    /// Resolves the configured routes anew after gateways have gone down or come up. `config` is what the snapshot was
    /// built from.
    ///
    /// # Errors
    /// As [`Self::change_routes`].
    pub fn follow_gateways(&self, snapshot: &Snapshot, config: &DataplaneConfig) -> Result<(), FibFull> {
        // The routes were possible when the snapshot was built.
        let Ok(routes) = snapshot.resolve_routes(config) else { return Ok(()) };
        let ChangedRoutes { v4, v6 } = &routes;
        let of_main = v4.main.as_ref().is_none_or(|routes| snapshot.fib().has_room(routes))
            && v6.main.as_ref().is_none_or(|routes| snapshot.fib6().has_room(routes));
        if !of_main || !snapshot.tables().have_room(&v4.others) || !snapshot.tables6().have_room(&v6.others) {
            return Err(FibFull);
        }
        self.replace_static(snapshot, &routes)?;
        // The way to another gateway may be another one now.
        snapshot.probe_gateways();
        Ok(())
    }

    /// Updates the configured contents of the address lists, and binds the lists of a new snapshot to them; to be
    /// called just before the workers take it over.
    pub fn take_over_lists(&self, new: &Snapshot) {
        let lists = Family::ALL.map(|family| &new.rules(family).lists);
        let names: Vec<String> = lists.iter().flat_map(|lists| lists.names()).cloned().collect();
        let numbers = self.address_sets.take_over(&names, new.list_contents(), &self.change_counters);
        let mut rest = &*numbers;
        for lists in lists {
            let (own, others) = rest.split_at_checked(lists.len()).unwrap_or_default();
            lists.bind(&self.address_sets, own.into());
            rest = others;
        }
    }

    /// Frees former queue tables that workers no longer read. Not to be called on a worker, as it takes long.
    pub fn free_retired(&self) {
        self.queues.progress.free_retired();
    }

    /// Removes expired entries from address lists; to be called about ten times a second. Looks at no more than about
    /// `budget` entries.
    pub fn expire_list_entries(&self, now: Now, budget: usize) {
        self.address_sets.expire(now, budget, &self.change_counters);
    }

    /// Applies changes that other programs made to their routes in the namespace of a zone, in the table of that zone. Returns
    /// the number of destinations whose route has changed.
    ///
    /// # Errors
    /// There are more different next hops than can be numbered; the changes before the failing one are applied. A new
    /// snapshot with its own table has room again.
    pub fn change_routes(
        &self,
        snapshot: &Snapshot,
        zone: Zone,
        changes: &[RouteChange],
    ) -> Result<usize, FibFull> {
        self.change(snapshot.home(zone), zone, changes, |changed| {
            self.change_counters.routes_changed(changed)
        })
    }

    /// Applies changes like [`Self::change_routes`], of routes of IPv6.
    ///
    /// # Errors
    /// As [`Self::change_routes`], and when there is no memory for further routes.
    pub fn change_ipv6_routes(
        &self,
        snapshot: &Snapshot,
        zone: Zone,
        changes: &[RouteChange<u128>],
    ) -> Result<usize, FibFull> {
        self.change(snapshot.home6(zone), zone, changes, |changed| {
            self.change_counters.ipv6_routes_changed(changed);
        })
    }

    /// Changes a table, and counts what has changed: `of_main` the destinations of the main table, other tables as a whole.
    fn change<A: Address>(
        &self,
        table: &Table<A>,
        zone: Zone,
        changes: &[RouteChange<A>],
        of_main: impl FnOnce(Vec<Prefix<A>>),
    ) -> Result<usize, FibFull> {
        let mut changed = Vec::with_capacity(changes.len());
        let result = table.change(changes, &mut changed);
        let count = changed.len();
        if zone == 0 {
            of_main(changed);
        } else if count != 0 {
            self.change_counters.tables_changed([table.changed()]);
        }
        result.map(|()| count)
    }

    /// The router ends: links on which it has been advertised are told so with the next timers that run.
    pub fn end_advertising(&self, now: Now) {
        self.router_advertisements.end(now);
    }

    /// Replaces the routes of other programs in the table of a zone by these; routes that are in both are not touched. Returns
    /// the number of destinations whose route has changed.
    ///
    /// # Errors
    /// As [`Self::change_routes`].
    pub fn replace_dynamic_routes(
        &self,
        snapshot: &Snapshot,
        zone: Zone,
        routes: &[DynamicRoute],
    ) -> Result<usize, FibFull> {
        self.change_routes(snapshot, zone, &replacing(snapshot.home(zone), routes))
    }

    /// Replaces routes like [`Self::replace_dynamic_routes`], those of IPv6.
    ///
    /// # Errors
    /// As [`Self::change_ipv6_routes`].
    pub fn replace_dynamic_ipv6_routes(
        &self,
        snapshot: &Snapshot,
        zone: Zone,
        routes: &[DynamicRoute<u128>],
    ) -> Result<usize, FibFull> {
        self.change_ipv6_routes(snapshot, zone, &replacing(snapshot.home6(zone), routes))
    }
}

/// The changes that make the routes of other programs in a table these.
fn replacing<A: Address>(table: &Table<A>, routes: &[DynamicRoute<A>]) -> Vec<RouteChange<A>> {
    let key = |route: &DynamicRoute<A>| (route.destination, route.prefix_len, route.metric);
    let wanted: HashSet<_> = routes.iter().map(key).collect();
    let gone = table.dynamic_routes().filter(|route| !wanted.contains(&key(route)));
    let gone = gone.map(|route| {
        let (destination, prefix_len, metric) = key(&route);
        RouteChange::Remove { destination, prefix_len, metric }
    });
    gone.chain(routes.iter().copied().map(RouteChange::Replace)).collect()
}
