//! The routes of a configuration, checked and resolved, before they are added to a table.

use std::net::IpAddr;
use std::sync::Arc;

use tollway_config::dataplane::{DataplaneConfig, InterfaceAddress, MAX_GATEWAYS, Route, RouteTarget, RowId};

use super::address::{Address, Prefix};
use super::lookup::{Discard, NextHop, RouteLookup};
use crate::error::BuildError;
use crate::ids::InterfaceIndex;
use crate::interface::InterfaceMap;

/// A route without its prefix, as Linux's `fib_info`. Routes with the same content share a number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RouteInfo<A> {
    /// Where the route comes from.
    pub origin: RouteOrigin,
    /// Of the routes to a prefix the one with the lowest distance is used.
    pub distance: u8,
    /// What happens to the packets.
    pub target: NextHopTarget<A>,
    /// Source for the router's own packets; unspecified for an address of the interface.
    pub source: A,
}

impl<A: Address> RouteInfo<A> {
    /// The gateway, if the route has one.
    pub fn gateway(&self) -> Option<A> {
        match self.target {
            NextHopTarget::Gateway { address, .. } => Some(address),
            NextHopTarget::Hops { gateway, .. } => gateway,
            NextHopTarget::Resolved(_) | NextHopTarget::Interface { .. } | NextHopTarget::Discard(_) => None,
        }
    }

    /// The type of discard, for a route that forwards nothing.
    pub fn discard(&self) -> Option<Discard> {
        match self.target {
            NextHopTarget::Discard(discard) => Some(discard),
            NextHopTarget::Resolved(_)
            | NextHopTarget::Interface { .. }
            | NextHopTarget::Gateway { .. }
            | NextHopTarget::Hops { .. } => None,
        }
    }
}

/// Origin of a route. At equal distance the origin that is listed first here is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RouteOrigin {
    /// The router's addresses and the broadcast addresses of their networks, which are not listed as routes.
    Own,
    Connected,
    Static,
    /// Route of another program.
    Dynamic {
        /// Preference among the routes of other programs to the same prefix; lower wins.
        metric: u32,
        /// Routing protocol number (rtnetlink(7)).
        protocol: u8,
        /// The route has more next hops, which are not used.
        multipath: bool,
    },
}

/// What a route does with packets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NextHopTarget<A> {
    /// The lookup result itself.
    Resolved(RouteLookup<A>),
    Gateway {
        address: A,
        /// Row of the interface, if the route specifies one.
        interface: Option<RowId>,
    },
    Interface {
        interface: RowId,
    },
    /// Next hops that were found for the gateways of a route; none if it cannot be used now.
    Hops {
        /// The first gateway.
        gateway: Option<A>,
        hops: Arc<[NextHop<A>]>,
    },
    Discard(Discard),
}

/// The next hops of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolvedHops<A> {
    /// There is none now, so that the route is not active.
    Nothing,
    /// One.
    One(NextHop<A>),
    /// Several, of which some may be the same.
    Several(Arc<[NextHop<A>]>),
}

/// A route of the configuration, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedRoute<A = u32> {
    /// Destination.
    pub(super) prefix: Prefix<A>,
    /// Everything but the destination.
    pub(super) info: RouteInfo<A>,
    /// Row of the configuration.
    pub(super) row: RowId,
}

/// The interfaces and own addresses on which routes are resolved. Routes can be replaced one by one only while it does
/// not change.
#[derive(Debug, Clone, Default)]
pub struct ConnectedBase<A> {
    interfaces: InterfaceMap,
    /// Whether an interface is enabled and has carrier, by interface.
    running: Vec<bool>,
    /// Own addresses with their prefix lengths, by interface, in configured order.
    pub addresses: Vec<Vec<(A, u8)>>,
    /// Own addresses, broadcasts and connected networks, by prefix.
    pub fixed: Vec<CheckedRoute<A>>,
    /// The router's addresses, those of every router of their networks, and the broadcast addresses of these, sorted.
    own: Vec<A>,
    /// Connected networks for `/ip/route`, in configured order; those of interfaces without carrier too.
    pub connected: Vec<Connected<A>>,
}

/// A connected network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connected<A> {
    /// The network.
    pub prefix: Prefix<A>,
    /// Row of the address that the network belongs to.
    pub address_row: RowId,
    /// Row of the interface.
    pub interface: RowId,
    /// The route info, if its interface is running.
    pub info: Option<RouteInfo<A>>,
}

impl<A: Address> ConnectedBase<A> {
    /// Addresses of the other family are passed over. Errors name the row: a network of the other family, a prefix that
    /// is too long, an unknown interface.
    pub fn new(
        config: &DataplaneConfig,
        addresses: &[InterfaceAddress],
        interfaces: &InterfaceMap,
        running: &[bool],
    ) -> Result<Self, BuildError> {
        let enabled = |index: InterfaceIndex| {
            config.interfaces.get(usize::from(index)).is_some_and(|interface| !interface.disabled)
        };
        let mut connected_base = Self {
            interfaces: interfaces.clone(),
            running: (0..).zip(running).map(|(index, running)| *running && enabled(index)).collect(),
            addresses: vec![Vec::new(); interfaces.len()],
            ..Self::default()
        };
        for address in addresses {
            let Some(own) = A::of(address.address) else { continue };
            let interface = find(interfaces, address.row, address.interface)?;
            let network: A = of_family(address.row, "network", address.network)?;
            let len = checked_len::<A>(address.row, address.prefix_len)?;
            if enabled(interface) {
                if let Some(addresses) = connected_base.addresses.get_mut(usize::from(interface)) {
                    addresses.push((own, len));
                }
                if !own.is_link_local() {
                    connected_base.host(address.row, own, RouteLookup::Local { interface }, own);
                }
            }
            if own.is_link_local() {
                // On every link: its interface decides.
                continue;
            }
            let prefix = (network.masked(len), len);
            let info: Option<RouteInfo<A>> = connected_base.runs(interface).then_some(RouteInfo {
                origin: RouteOrigin::Connected,
                distance: 0,
                target: NextHopTarget::Resolved(RouteLookup::Connected { interface }),
                source: own,
            });
            connected_base.connected.push(Connected {
                prefix,
                address_row: address.row,
                interface: address.interface,
                info: info.clone(),
            });
            let Some(info) = info else { continue };
            connected_base.fixed.push(CheckedRoute { prefix, info, row: address.row });
            // Both ends of a link between two routers are addresses of one of them (RFC 6164 §5).
            if A::HAS_SUBNET_ROUTER && config.settings.ipv6.forward && len <= A::BITS - 2 {
                connected_base.host(address.row, prefix.0, RouteLookup::Local { interface }, own);
            }
            if A::HAS_BROADCAST && len <= A::BITS - 2 {
                let lookup = RouteLookup::Broadcast { interface };
                connected_base.host(address.row, prefix.0.last(len), lookup, own);
            }
        }
        // Of equal prefixes and origins the one configured first is used.
        connected_base.fixed.sort_by_key(|checked| (checked.prefix, checked.info.origin));
        let own = connected_base.fixed.iter().filter(|checked| checked.info.origin == RouteOrigin::Own);
        connected_base.own = own.map(|checked| checked.prefix.0).collect();
        Ok(connected_base)
    }

    /// The router's addresses, those of every router of their networks, and the broadcast addresses of these.
    pub fn own_addresses(&self) -> impl Iterator<Item = A> {
        self.own.iter().copied()
    }

    fn host(&mut self, row: RowId, address: A, lookup: RouteLookup<A>, source: A) {
        let info = RouteInfo {
            origin: RouteOrigin::Own,
            distance: 0,
            target: NextHopTarget::Resolved(lookup),
            source,
        };
        self.fixed.push(CheckedRoute { prefix: (address, A::BITS), info, row });
    }

    fn runs(&self, interface: InterfaceIndex) -> bool {
        self.running.get(usize::from(interface)).copied().unwrap_or(false)
    }

    fn first_address(&self, interface: InterfaceIndex) -> A {
        let addresses = self.addresses.get(usize::from(interface));
        addresses.and_then(|addresses| addresses.first()).map_or(A::default(), |(address, _)| *address)
    }

    /// Row of an interface's number.
    pub fn row(&self, interface: InterfaceIndex) -> RowId {
        self.interfaces.row(interface)
    }

    /// The interface on which an address is a neighbour, the router's address in that network, and its prefix length.
    pub fn neighbor_on(&self, address: A, on: Option<InterfaceIndex>) -> Option<(u8, InterfaceIndex, A)> {
        let mut best: Option<(u8, InterfaceIndex, A)> = None;
        for connected in &self.connected {
            let (network, len) = connected.prefix;
            let Some(info) = connected.info.as_ref().filter(|_| address.masked(len) == network) else {
                continue;
            };
            let NextHopTarget::Resolved(RouteLookup::Connected { interface }) = info.target else { continue };
            if on.is_none_or(|on| on == interface) && best.is_none_or(|best| len > best.0) {
                best = Some((len, interface, info.source));
            }
        }
        best
    }

    /// Whether an address is the router's own.
    pub fn is_own(&self, address: A) -> bool {
        self.own.binary_search(&address).is_ok()
    }

    /// Number of an interface by its row.
    pub fn index(&self, row: RowId) -> Option<InterfaceIndex> {
        self.interfaces.index(row)
    }

    /// Next hops of a route info.
    pub fn resolve(&self, info: &RouteInfo<A>) -> ResolvedHops<A> {
        match &info.target {
            NextHopTarget::Hops { hops, .. } => match &**hops {
                [] => ResolvedHops::Nothing,
                [hop] => ResolvedHops::One(with_source(*hop, info.source)),
                _ => ResolvedHops::Several(Arc::clone(hops)),
            },
            other => match self.resolve_one(other, info.source) {
                Some(hop) => ResolvedHops::One(with_source(hop, info.source)),
                None => ResolvedHops::Nothing,
            },
        }
    }

    fn resolve_one(&self, target: &NextHopTarget<A>, source: A) -> Option<NextHop<A>> {
        let unspecified = A::default();
        Some(match *target {
            NextHopTarget::Hops { .. } => return None,
            NextHopTarget::Resolved(lookup) => NextHop { lookup, source },
            NextHopTarget::Discard(discard) => {
                NextHop { lookup: RouteLookup::Discard(discard), source: unspecified }
            }
            NextHopTarget::Interface { interface } => {
                let interface = self.interfaces.index(interface).filter(|index| self.runs(*index))?;
                NextHop {
                    lookup: RouteLookup::Connected { interface },
                    source: self.first_address(interface),
                }
            }
            NextHopTarget::Gateway { address, interface } => self.hop_to(address, interface)?,
        })
    }

    /// The next hop that is a neighbour, found through the connected networks. A gateway that is the router's own address
    /// forwards nothing.
    pub fn hop_to(&self, address: A, interface: Option<RowId>) -> Option<NextHop<A>> {
        if self.is_own(address) {
            return None;
        }
        let on = match interface {
            Some(row) => Some(self.interfaces.index(row)?),
            None => None,
        };
        let neighbor = self.neighbor_on(address, on).map(|(_, interface, source)| (interface, source));
        let (interface, source) = neighbor.or_else(|| {
            // `address%interface` needs no connected network.
            on.filter(|index| self.runs(*index)).map(|index| (index, self.first_address(index)))
        })?;
        Some(NextHop { lookup: RouteLookup::Via { interface, gateway: address }, source })
    }

    /// The next hop of packets that leave straight out of an interface.
    pub fn hop_by(&self, interface: RowId) -> Option<NextHop<A>> {
        self.resolve_one(&NextHopTarget::Interface { interface }, A::default())
    }

    /// A configured route whose gateway is a neighbour, an interface or none, without what depends on other routes or on
    /// gateways that are down. Errors name the row.
    pub fn check_one(&self, network: A, route: &Route) -> Result<CheckedRoute<A>, BuildError> {
        let len = checked_len::<A>(route.row, route.prefix_len)?;
        let target = match &route.target {
            RouteTarget::Blackhole => NextHopTarget::Discard(Discard::Blackhole),
            RouteTarget::Unreachable => NextHopTarget::Discard(Discard::Unreachable),
            RouteTarget::Prohibit => NextHopTarget::Discard(Discard::Prohibit),
            RouteTarget::Interface { interface } => {
                find(&self.interfaces, route.row, *interface)?;
                NextHopTarget::Interface { interface: *interface }
            }
            RouteTarget::Gateway { address, interface } => {
                interface.map(|row| find(&self.interfaces, route.row, row)).transpose()?;
                let address = of_family(route.row, "gateway", *address)?;
                NextHopTarget::Gateway { address, interface: *interface }
            }
            RouteTarget::Gateways { gateways } => {
                if gateways.is_empty() || gateways.len() > MAX_GATEWAYS {
                    let message = format!("gateway: expected 1 to {MAX_GATEWAYS} gateways");
                    return Err(BuildError::row(route.row, message));
                }
                for gateway in gateways {
                    gateway.interface.map(|row| find(&self.interfaces, route.row, row)).transpose()?;
                    gateway
                        .address
                        .map(|address| of_family::<A>(route.row, "gateway", address))
                        .transpose()?;
                }
                let first = gateways.first().and_then(|gateway| A::of(gateway.address?));
                NextHopTarget::Hops { gateway: first, hops: Arc::new([]) }
            }
        };
        let source = route.pref_src.map(|address| of_family(route.row, "pref-src", address)).transpose()?;
        let info = RouteInfo {
            origin: RouteOrigin::Static,
            distance: route.distance,
            target,
            source: source.unwrap_or_default(),
        };
        Ok(CheckedRoute { prefix: (network.masked(len), len), info, row: route.row })
    }
}

fn with_source<A: Address>(hop: NextHop<A>, source: A) -> NextHop<A> {
    if source == A::default() { hop } else { NextHop { source, ..hop } }
}

fn checked_len<A: Address>(row: RowId, len: u8) -> Result<u8, BuildError> {
    if len > A::BITS {
        return Err(BuildError::row(row, format!("prefix length {len}: expected 0 to {}", A::BITS)));
    }
    Ok(len)
}

fn of_family<A: Address>(row: RowId, property: &str, address: IpAddr) -> Result<A, BuildError> {
    let other = || BuildError::row(row, format!("{property} {address}: expected an {} address", A::FAMILY));
    A::of(address).ok_or_else(other)
}

fn find(interfaces: &InterfaceMap, row: RowId, interface: RowId) -> Result<InterfaceIndex, BuildError> {
    interfaces
        .index(interface)
        .ok_or_else(|| BuildError::row(row, format!("names interface row {interface}, which does not exist")))
}
