//! Routing: where a destination address leads.
//!
//! Connected routes follow from the addresses, static ones are resolved through them (RouterOS's default
//! scopes: a static route's gateway must lie in a connected network), and other programs may add their own.
//! One table for each family answers local addresses and broadcasts too.
//!
//! The table is shared by all workers and changed in place: a route that is added, replaced or removed does not affect
//! the other routes. Lookups take no lock (see [`cells`]); changes are made by one thread at a time. A change of a
//! route becomes visible cell by cell: each lookup sees either the old or the new route. Interfaces and addresses, on
//! which routes depend, are fixed for a table: a change of them builds a new one.

mod address;
mod cells;
mod checked_route;
mod control;
mod family;
mod group;
mod listing;
mod lookup;
#[cfg(test)]
mod model;
mod next_hops;
mod prefix_set;
mod resolver;
mod shares;
mod table;
mod tables;
#[cfg(test)]
mod tests;
mod trie;
mod trie_writer;

use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tollway_config::dataplane::{DataplaneConfig, RowId};

use crate::error::BuildError;
use crate::flow::change_counters::TableStamp;
use crate::ids::InterfaceIndex;
use crate::interface::InterfaceMap;
use crate::ip::gateway_checks::GatewayProbe;
use address::LookupCells;
pub use address::{Address, Prefix};
pub use checked_route::CheckedRoute;
pub use checked_route::ConnectedBase;
use checked_route::{NextHopTarget, RouteInfo, RouteOrigin};
use control::{Control, Published};
pub use listing::{ListedRoute, RouteSource};
pub use lookup::{Discard, Lookup, Lookup6, NextHop, RouteLookup};
use next_hops::NextHops;
pub use resolver::{GatewayScope, StaticRoutes, resolve};
#[cfg(test)]
pub(crate) use tables::tests as tables_for_tests;
pub use tables::{Bases, ChangedTables, Tables, gateway_scopes};
pub use trie::TOGETHER;

/// Route number that means "no route".
const NOWHERE: u16 = 1;

/// The forwarding table of IPv4.
pub type Fib = Table<u32>;

/// The forwarding table of IPv6. Link-local addresses are not in it.
pub type Fib6 = Table<u128>;

/// A forwarding table.
#[derive(Debug)]
pub struct Table<A: Address> {
    cells: A::Cells,
    hops: NextHops<A>,
    /// Route number of the default route; it applies to cells that hold 0.
    default: AtomicU16,
    own: OwnAddresses<A>,
    /// When it was last changed, unless it is the main table.
    changed: TableStamp,
    /// Own addresses with their prefix lengths, by interface.
    addresses: Vec<Vec<(A, u8)>>,
    control: Mutex<Control<A>>,
}

/// Error: more different next hops than a table can number. A new table numbers only the next hops that are in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FibFull;

/// A route that another program has made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DynamicRoute<A = u32> {
    /// Destination network, host order.
    pub destination: A,
    /// Prefix length, bits.
    pub prefix_len: u8,
    /// Preference among routes of other programs to the same prefix; lower wins.
    pub metric: u32,
    /// Routing protocol number (rtnetlink(7)).
    pub protocol: u8,
    /// Preference among all routes to the same prefix; lower wins.
    pub distance: u8,
    /// Target of the route.
    pub target: DynamicTarget<A>,
    /// The route has more next hops than `target`, which are not used.
    pub multipath: bool,
    /// Source for the router's own packets; unspecified for an address of the interface.
    pub source: A,
}

/// Target of a route of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DynamicTarget<A = u32> {
    /// Next hop: a neighbour.
    Gateway {
        /// Address of the next hop.
        address: A,
        /// Interface row, if the route names one.
        interface: Option<RowId>,
    },
    /// Straight out of an interface.
    Interface {
        /// Interface row.
        interface: RowId,
    },
    /// Nowhere.
    Discard(Discard),
}

impl<A: Address> DynamicRoute<A> {
    fn info(&self) -> RouteInfo<A> {
        let target = match self.target {
            DynamicTarget::Gateway { address, interface } => NextHopTarget::Gateway { address, interface },
            DynamicTarget::Interface { interface } => NextHopTarget::Interface { interface },
            DynamicTarget::Discard(discard) => NextHopTarget::Discard(discard),
        };
        let DynamicRoute { metric, protocol, multipath, .. } = *self;
        let origin = RouteOrigin::Dynamic { metric, protocol, multipath };
        RouteInfo { origin, distance: self.distance, target, source: self.source }
    }

    fn of(prefix: Prefix<A>, info: &RouteInfo<A>) -> Option<Self> {
        let RouteOrigin::Dynamic { metric, protocol, multipath } = info.origin else { return None };
        let target = match info.target {
            NextHopTarget::Gateway { address, interface } => DynamicTarget::Gateway { address, interface },
            NextHopTarget::Interface { interface } => DynamicTarget::Interface { interface },
            NextHopTarget::Discard(discard) => DynamicTarget::Discard(discard),
            NextHopTarget::Resolved(_) | NextHopTarget::Hops { .. } => return None,
        };
        let (destination, prefix_len) = prefix;
        let RouteInfo { distance, source, .. } = *info;
        Some(Self { destination, prefix_len, metric, protocol, distance, target, multipath, source })
    }
}

/// Change of a route by another program. Destination and metric identify the route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteChange<A = u32> {
    /// Adds the route, or replaces the one with the same destination and metric.
    Replace(DynamicRoute<A>),
    /// Removes the route.
    Remove {
        /// Destination network, host order.
        destination: A,
        /// Prefix length, bits.
        prefix_len: u8,
        /// Metric.
        metric: u32,
    },
}

impl Table<u128> {
    /// Bytes of what lookups read, beside the fixed tables.
    pub fn node_bytes(&self) -> usize {
        self.control().table().node_bytes()
    }
}

fn masked<A: Address>(network: A, len: u8) -> Prefix<A> {
    (network.masked(len), len.min(A::BITS))
}

impl<A: Address> Table<A> {
    /// Builds the main table of a configuration that has no other. `running` says by interface index which interfaces
    /// have a carrier. Interfaces without a carrier and disabled ones have no connected routes, and routes through them are
    /// inactive. Addresses remain the router's own unless their interface is disabled. Rows of the other family are passed
    /// over. Errors name the row: a gateway of the other family, a prefix that is too long, an unknown interface.
    pub fn build(
        config: &DataplaneConfig,
        interfaces: &InterfaceMap,
        running: &[bool],
    ) -> Result<Self, BuildError> {
        let base = ConnectedBase::new(config, &config.addresses, interfaces, running)?;
        let routes = resolve(
            &[GatewayScope { row: 0, base: &base, sees_main: false }],
            &config.routes,
            &HashSet::new(),
        )?;
        Self::with_routes(Arc::new(base), routes.first().unwrap_or(&StaticRoutes::default()))
    }

    /// A table of the connected networks and own addresses of `base`, and of these configured routes.
    ///
    /// # Errors
    /// There are too many different next hops.
    pub fn with_routes(base: Arc<ConnectedBase<A>>, routes: &StaticRoutes<A>) -> Result<Self, BuildError> {
        Self::assemble(base, routes, true)
    }

    /// A table of these configured routes alone, whose gateways are neighbours in the connected networks of `base`.
    ///
    /// # Errors
    /// There are too many different next hops.
    pub fn without_networks(
        base: Arc<ConnectedBase<A>>,
        routes: &StaticRoutes<A>,
    ) -> Result<Self, BuildError> {
        Self::assemble(base, routes, false)
    }

    fn assemble(
        base: Arc<ConnectedBase<A>>,
        routes: &StaticRoutes<A>,
        networks: bool,
    ) -> Result<Self, BuildError> {
        let own = base.own_addresses().filter(|_| networks);
        let fib = Self {
            cells: A::Cells::new(),
            hops: NextHops::new(),
            default: AtomicU16::new(NOWHERE),
            own: OwnAddresses::new(own),
            changed: TableStamp::default(),
            addresses: base.addresses.clone(),
            control: Mutex::new(Control::new(base)),
        };
        {
            let mut control = fib.control();
            let mut changed = Vec::new();
            let connected = match networks {
                true => control.install_connected(fib.published(), &mut changed),
                false => Ok(()),
            };
            let result =
                connected.and_then(|()| control.replace_statics(fib.published(), routes, &mut changed));
            fib.follow_default(&control);
            result.map_err(|FibFull| BuildError {
                row: None,
                message: "gateway: the routes have too many different next hops: at most 32,766 are possible"
                    .to_owned(),
            })?;
        }
        Ok(fib)
    }

    fn control(&self) -> MutexGuard<'_, Control<A>> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn published(&self) -> Published<'_, A> {
        Published { cells: &self.cells, hops: &self.hops }
    }

    fn follow_default(&self, control: &Control<A>) {
        let number = control.winner((A::default(), 0));
        self.default.store(if number == 0 { NOWHERE } else { number }, Ordering::Release);
    }

    /// The count of changes at which it was last changed.
    pub fn changed(&self) -> &TableStamp {
        &self.changed
    }

    /// The connected networks and own addresses that routes are resolved by.
    pub fn base(&self) -> Arc<ConnectedBase<A>> {
        Arc::clone(&self.control().connected_base)
    }

    /// Whether enough numbers for next hops are left for [`Self::replace_static`] to install these routes.
    pub fn has_room(&self, routes: &StaticRoutes<A>) -> bool {
        self.control().has_room(&routes.routes)
    }

    /// Replaces the configured routes; unchanged routes are not touched. Returns the destinations whose target has
    /// changed. After an error some of the old routes may still be installed.
    pub fn replace_static(&self, routes: &StaticRoutes<A>) -> Result<Vec<Prefix<A>>, FibFull> {
        let mut control = self.control();
        let mut changed = Vec::new();
        let result = control.replace_statics(self.published(), routes, &mut changed);
        self.follow_default(&control);
        result.map(|()| changed)
    }

    /// Gateways of the configured routes that are to be probed.
    pub fn probes(&self) -> Vec<GatewayProbe> {
        self.control().probes().to_vec()
    }

    /// Applies the changes of another program in order and appends the destinations whose target has changed to
    /// `changed`. After an error the changes before the failed one remain applied.
    pub fn change(&self, changes: &[RouteChange<A>], changed: &mut Vec<Prefix<A>>) -> Result<(), FibFull> {
        let mut control = self.control();
        let result = changes.iter().try_for_each(|change| control.change(self.published(), change, changed));
        self.follow_default(&control);
        result
    }

    /// Copies the routes of other programs from another table.
    pub fn adopt(&self, other: &Self) -> Result<(), FibFull> {
        let routes: Vec<RouteChange<A>> = other.dynamic_routes().map(RouteChange::Replace).collect();
        self.change(&routes, &mut Vec::new())
    }

    /// The routes of other programs, active or not, in no particular order.
    pub fn dynamic_routes(&self) -> impl Iterator<Item = DynamicRoute<A>> {
        let control = self.control();
        let routes: Vec<_> = control
            .dynamics()
            .filter_map(|(prefix, number)| DynamicRoute::of(prefix, control.info(number)?))
            .collect();
        routes.into_iter()
    }

    #[inline]
    fn number(&self, destination: A) -> u16 {
        self.or_default(self.cells.number(destination))
    }

    #[inline]
    fn or_default(&self, number: u16) -> u16 {
        if number == 0 { self.default.load(Ordering::Acquire) } else { number }
    }

    /// Looks up a destination. Limited broadcast, multicast and link-local addresses are not known here. Of several next
    /// hops the first is found.
    #[inline]
    pub fn lookup(&self, destination: A) -> RouteLookup<A> {
        self.hops.lookup(self.number(destination))
    }

    /// [`Self::lookup`] for a packet of a flow, whose hash decides between several next hops; it is only asked for then.
    #[inline(always)]
    pub fn lookup_for(&self, destination: A, flow: impl FnOnce() -> u64) -> RouteLookup<A> {
        self.hops.lookup_for(self.number(destination), flow)
    }

    /// [`Self::lookup_for`], which finds no route whose prefix has this length or a shorter one. With a length other than 0
    /// it waits for changes of the table.
    pub fn lookup_longer(&self, destination: A, shortest: u8, flow: impl FnOnce() -> u64) -> RouteLookup<A> {
        // Cells without a number of their own are those of the default route.
        let is_longer = match shortest {
            0 => self.cells.number(destination) != 0,
            _ => {
                let control = self.control();
                let mut longer = (shortest.saturating_add(1)..=A::BITS).map(|len| masked(destination, len));
                longer.any(|prefix| control.winner(prefix) != 0)
            }
        };
        if is_longer { self.lookup_for(destination, flow) } else { RouteLookup::NoRoute }
    }

    /// Whether a destination has several next hops.
    pub fn is_divided(&self, destination: A) -> bool {
        self.hops.group_of(self.number(destination)).is_some()
    }

    /// Whether packets to a destination of another station may leave by an interface, or by any if none is given.
    pub fn leaves_by(&self, destination: A, interface: Option<InterfaceIndex>) -> bool {
        let number = self.number(destination);
        if let (Some(group), Some(interface)) = (self.hops.group_of(number), interface) {
            return group.leaves_by(interface);
        }
        match self.hops.lookup(number) {
            RouteLookup::Connected { interface: by } | RouteLookup::Via { interface: by, .. } => {
                interface.is_none_or(|interface| interface == by)
            }
            RouteLookup::Local { .. }
            | RouteLookup::Broadcast { .. }
            | RouteLookup::Discard(_)
            | RouteLookup::NoRoute => false,
        }
    }

    /// Whether an address is the router's own. For nearly all other addresses this takes no lookup.
    #[inline]
    pub fn is_local(&self, address: A) -> bool {
        self.own.may_hold(address) && matches!(self.lookup(address), RouteLookup::Local { .. })
    }

    /// Whether an address is the router's own or the broadcast address of a connected network; no other station uses
    /// either as a source. For nearly all other addresses this takes no lookup.
    #[inline]
    pub fn is_local_or_broadcast(&self, address: A) -> bool {
        self.own.may_hold(address) && self.leads_to_local_or_broadcast(address)
    }

    // Not inlined, so that the lookup takes no registers from those that nearly never need it.
    #[inline(never)]
    fn leads_to_local_or_broadcast(&self, address: A) -> bool {
        matches!(self.lookup(address), RouteLookup::Local { .. } | RouteLookup::Broadcast { .. })
    }

    /// Source address for packets of the router to a destination; `None` without a route, or when the route has no
    /// source address.
    pub fn source_for(&self, destination: A) -> Option<A> {
        Some(self.hops.source(self.number(destination))).filter(|source| *source != A::default())
    }

    /// Row of the configured route that a destination follows; `None` for a route that is not configured, and while
    /// routes are being changed.
    pub fn row_of(&self, destination: A) -> Option<RowId> {
        let control = self.control.try_lock().ok()?;
        let prefixes = (0..=A::BITS).rev().map(|len| masked(destination, len));
        let (prefix, _) =
            prefixes.map(|prefix| (prefix, control.winner(prefix))).find(|(_, number)| *number != 0)?;
        control
            .statics_of(prefix)
            .iter()
            .find(|route| control.uses(prefix, route.number))
            .map(|route| route.row)
    }

    /// Whether an address is the gateway of a configured route by an interface, or has been that of a route of another
    /// program; `false` while routes are being changed.
    pub fn is_gateway(&self, interface: InterfaceIndex, address: A) -> bool {
        let via = RouteLookup::Via { interface, gateway: address };
        let Ok(control) = self.control.try_lock() else { return false };
        let leads_there = |number: u16| match self.hops.group_of(number) {
            Some(group) => group.holds(via),
            None => self.hops.lookup(number) == via,
        };
        control.dynamic_numbers().any(leads_there)
            || control.statics().iter().any(|route| leads_there(route.number))
    }

    /// Own addresses of an interface with their prefix lengths, in configured order.
    pub fn addresses(&self, interface: InterfaceIndex) -> &[(A, u8)] {
        self.addresses.get(usize::from(interface)).map_or(&[], Vec::as_slice)
    }

    /// Number of prefixes that lookups can match.
    pub fn len(&self) -> usize {
        self.control().sizes().0
    }

    /// Whether lookups can match no prefix.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of blocks of cells that no route uses any more. They are freed when a new table is built.
    pub fn unused_blocks(&self) -> usize {
        self.control().sizes().1
    }

    /// Number of routes of other programs, active or not.
    pub fn dynamic_len(&self) -> usize {
        self.control().dynamic_routes()
    }
}

impl Fib {
    /// Prefetches the memory that [`Self::lookup`] will read. The result means nothing; it is there to be
    /// passed to [`std::hint::black_box`].
    #[inline]
    pub fn touch(&self, destination: u32) -> u16 {
        self.cells.touch(destination)
    }
}

impl Fib6 {
    /// Looks up some destinations together, at most [`TOGETHER`], which takes less time than one after the other. Each
    /// result is a number for [`Self::lookup_of`].
    pub fn numbers(&self, destinations: &[u128], numbers: &mut [u16; TOGETHER]) {
        self.cells.numbers(destinations, numbers);
    }

    /// The result of a lookup by [`Self::numbers`], for a packet of a flow, as [`Self::lookup_for`].
    #[inline]
    pub fn lookup_of(&self, number: u16, flow: impl FnOnce() -> u64) -> Lookup6 {
        self.hops.lookup_for(self.or_default(number), flow)
    }
}

/// Filter of addresses that may be the router's own or the broadcast addresses of its networks. It is a set of hash
/// values: one load excludes all but one in a few dozen of the other addresses.
#[derive(Debug)]
struct OwnAddresses<A> {
    /// A power of two of words.
    words: Box<[u64]>,
    of: PhantomData<A>,
}

impl<A: Address> OwnAddresses<A> {
    fn new(addresses: impl Iterator<Item = A>) -> Self {
        let addresses: Vec<A> = addresses.collect();
        let words = addresses.len().next_power_of_two().max(16);
        let mut own = Self { words: vec![0; words].into(), of: PhantomData };
        for address in addresses {
            let (word, bit) = own.place(address);
            if let Some(word) = own.words.get_mut(word) {
                *word |= bit;
            }
        }
        own
    }

    #[inline]
    fn place(&self, address: A) -> (usize, u64) {
        let mixed = address.folded().wrapping_mul(0x9e37_79b1);
        ((mixed >> 6) as usize & (self.words.len() - 1), 1 << (mixed >> 26))
    }

    #[inline]
    fn may_hold(&self, address: A) -> bool {
        let (word, bit) = self.place(address);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }
}
