//! Routing: where a destination address leads.
//!
//! Connected routes follow from the addresses, static ones are resolved through them (RouterOS's default
//! scopes: a static route's gateway must lie in a connected network). One trie answers local addresses
//! and broadcasts too.

#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr};

use tollway_config::dataplane::{DataplaneConfig, RouteTarget, RowId};
use tollway_config::protocol::RouteInfo;

use crate::error::BuildError;
use crate::interface::{InterfaceIndex, InterfaceMap};
use crate::trie::Trie;

/// Where a destination leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// An address of the router, on this interface.
    Local {
        /// Interface that has it.
        interface: InterfaceIndex,
    },
    /// The broadcast address of a connected network.
    Broadcast {
        /// Interface of the network.
        interface: InterfaceIndex,
    },
    /// A neighbour in a connected network.
    Connected {
        /// Interface of the network.
        interface: InterfaceIndex,
    },
    /// By a neighbour.
    Via {
        /// Interface of the neighbour.
        interface: InterfaceIndex,
        /// Its IPv4 address.
        gateway: u32,
    },
    /// Dropped silently.
    Blackhole,
    /// Nowhere.
    NoRoute,
}

impl Lookup {
    /// The interface, if there is one.
    pub fn interface(self) -> Option<InterfaceIndex> {
        match self {
            Self::Local { interface }
            | Self::Broadcast { interface }
            | Self::Connected { interface }
            | Self::Via { interface, .. } => Some(interface),
            Self::Blackhole | Self::NoRoute => None,
        }
    }
}

/// A shared next hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NextHop {
    lookup: Lookup,
    /// Source for the router's own packets; 0 without one.
    source: u32,
}

/// The forwarding table.
#[derive(Debug, Clone)]
pub struct Fib {
    trie: Trie,
    hops: Vec<NextHop>,
    routes: Vec<RouteInfo>,
    /// Own addresses with their prefix lengths, by interface.
    addresses: Vec<Vec<(u32, u8)>>,
}

/// A route that competes for its prefix.
struct Candidate {
    prefix: u32,
    len: u8,
    distance: u8,
    hop: NextHop,
    /// Its line in `routes`; `None` for local and broadcast addresses.
    line: Option<usize>,
}

/// How a prefix length is bounded.
const MAX_LEN: u8 = 32;

impl Fib {
    /// Builds the table. `running` says by interface index which interfaces have a carrier: others,
    /// and disabled ones, have no connected routes, and no route through them is active. Addresses stay
    /// the router's own unless their interface is disabled. Errors name the row:
    /// an IPv6 row, a prefix longer than 32, an unknown interface.
    pub fn build(
        config: &DataplaneConfig,
        interfaces: &InterfaceMap,
        running: &[bool],
    ) -> Result<Self, BuildError> {
        let mut fib = Self {
            trie: Trie::new(0),
            hops: vec![NextHop { lookup: Lookup::NoRoute, source: 0 }],
            routes: Vec::new(),
            addresses: vec![Vec::new(); interfaces.len()],
        };
        let disabled = |index: InterfaceIndex| {
            config.interfaces.get(usize::from(index)).is_none_or(|interface| interface.disabled)
        };
        let is_running = |index: InterfaceIndex| {
            !disabled(index) && running.get(usize::from(index)).copied().unwrap_or(false)
        };
        let mut candidates = Vec::new();
        for address in &config.addresses {
            let index = find(interfaces, address.row, address.interface)?;
            let own = v4(address.row, "address", address.address)?;
            let network = v4(address.row, "network", address.network)?;
            let len = checked_len(address.row, address.prefix_len)?;
            if !disabled(index) {
                if let Some(addresses) = fib.addresses.get_mut(usize::from(index)) {
                    addresses.push((own, len));
                }
                let lookup = Lookup::Local { interface: index };
                candidates.push(Candidate::host(own, NextHop { lookup, source: own }));
            }
            let prefix = network & mask(len);
            let active = is_running(index);
            fib.routes.push(RouteInfo {
                row: 0,
                address_row: address.row,
                destination: Ipv4Addr::from_bits(prefix).into(),
                prefix_len: len,
                distance: 0,
                active: false,
                gateway: None,
                interface: address.interface,
            });
            if !active {
                continue;
            }
            let lookup = Lookup::Connected { interface: index };
            let line = Some(fib.routes.len() - 1);
            let hop = NextHop { lookup, source: own };
            candidates.push(Candidate { prefix, len, distance: 0, hop, line });
            if len <= 30 {
                let lookup = Lookup::Broadcast { interface: index };
                candidates.push(Candidate::host(prefix | !mask(len), NextHop { lookup, source: own }));
            }
        }
        let connected = candidates.len();
        for route in &config.routes {
            let prefix = v4(route.row, "destination", route.destination)?;
            let len = checked_len(route.row, route.prefix_len)?;
            let prefix = prefix & mask(len);
            let pref_src = route.pref_src.map(|address| v4(route.row, "pref-src", address)).transpose()?;
            let mut gateway = None;
            let hop = match &route.target {
                RouteTarget::Blackhole => Some(NextHop { lookup: Lookup::Blackhole, source: 0 }),
                RouteTarget::Interface { interface } => {
                    let index = find(interfaces, route.row, *interface)?;
                    let source = fib.first_address(index);
                    is_running(index)
                        .then_some(NextHop { lookup: Lookup::Connected { interface: index }, source })
                }
                RouteTarget::Gateway { address, interface } => {
                    let address = v4(route.row, "gateway", *address)?;
                    gateway = Some(address);
                    let on = interface.map(|row| find(interfaces, route.row, row)).transpose()?;
                    let through = candidates.get(..connected).unwrap_or_default();
                    resolve(through, address, on)
                        .or_else(|| {
                            // `address%interface` needs no connected network.
                            on.filter(|index| is_running(*index))
                                .map(|index| (index, fib.first_address(index)))
                        })
                        .map(|(interface, source)| NextHop {
                            lookup: Lookup::Via { interface, gateway: address },
                            source,
                        })
                }
            };
            let hop = hop.map(|hop| NextHop { source: pref_src.unwrap_or(hop.source), ..hop });
            let interface =
                hop.and_then(|hop| hop.lookup.interface()).map_or(0, |index| interfaces.row(index));
            fib.routes.push(RouteInfo {
                row: route.row,
                address_row: 0,
                destination: Ipv4Addr::from_bits(prefix).into(),
                prefix_len: len,
                distance: route.distance,
                active: false,
                gateway: gateway.map(|address| Ipv4Addr::from_bits(address).into()),
                interface,
            });
            if let Some(hop) = hop {
                let line = Some(fib.routes.len() - 1);
                candidates.push(Candidate { prefix, len, distance: route.distance, hop, line });
            }
        }
        fib.install(candidates);
        Ok(fib)
    }

    /// Takes the best candidate of each prefix: own addresses and broadcasts, then the lowest distance,
    /// then the first.
    fn install(&mut self, mut candidates: Vec<Candidate>) {
        candidates.sort_by_key(|candidate| {
            (candidate.len, candidate.prefix, candidate.line.is_some(), candidate.distance)
        });
        let mut last = None;
        for candidate in candidates {
            let prefix = (candidate.len, candidate.prefix);
            let wins = last != Some(prefix);
            last = Some(prefix);
            // A /32 address is both local and its own connected network: the address answers lookups.
            let shadowed_by_own = !wins && candidate.len == MAX_LEN && candidate.distance == 0;
            if let Some(line) = candidate.line.and_then(|line| self.routes.get_mut(line)) {
                line.active = wins || shadowed_by_own;
            }
            if wins {
                let hop = self.hop(candidate.hop);
                self.trie.insert(candidate.prefix, candidate.len, hop);
            }
        }
    }

    /// Number of a next hop, shared between routes.
    fn hop(&mut self, hop: NextHop) -> u32 {
        let at = self.hops.iter().rposition(|known| *known == hop).unwrap_or_else(|| {
            self.hops.push(hop);
            self.hops.len() - 1
        });
        at as u32
    }

    fn first_address(&self, interface: InterfaceIndex) -> u32 {
        self.addresses(interface).first().map_or(0, |(address, _)| *address)
    }

    #[inline]
    fn next_hop(&self, destination: u32) -> NextHop {
        let at = self.trie.lookup(destination) as usize;
        self.hops.get(at).copied().unwrap_or(NextHop { lookup: Lookup::NoRoute, source: 0 })
    }

    /// Where an IPv4 destination leads. Limited broadcast and multicast are not known here.
    #[inline]
    pub fn lookup(&self, destination: u32) -> Lookup {
        self.next_hop(destination).lookup
    }

    /// Source address for packets of the router to a destination; `None` when nothing leads there or the
    /// way has no address.
    pub fn source_for(&self, destination: u32) -> Option<u32> {
        Some(self.next_hop(destination).source).filter(|source| *source != 0)
    }

    /// Own addresses of an interface with their prefix lengths, in configured order.
    pub fn addresses(&self, interface: InterfaceIndex) -> &[(u32, u8)] {
        self.addresses.get(usize::from(interface)).map_or(&[], Vec::as_slice)
    }

    /// Connected and static routes with their state.
    pub fn routes(&self) -> Vec<RouteInfo> {
        self.routes.clone()
    }
}

impl Candidate {
    fn host(address: u32, hop: NextHop) -> Self {
        Self { prefix: address, len: MAX_LEN, distance: 0, hop, line: None }
    }
}

/// The interface that a gateway is a neighbour on, and the own address there.
fn resolve(
    connected: &[Candidate],
    gateway: u32,
    on: Option<InterfaceIndex>,
) -> Option<(InterfaceIndex, u32)> {
    connected
        .iter()
        .filter(|candidate| gateway & mask(candidate.len) == candidate.prefix)
        .filter_map(|candidate| match candidate.hop.lookup {
            Lookup::Connected { interface } if on.is_none_or(|on| on == interface) => {
                Some((candidate.len, interface, candidate.hop.source))
            }
            _ => None,
        })
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .filter(|(_, _, own)| *own != gateway)
        .map(|(_, interface, own)| (interface, own))
}

const fn mask(len: u8) -> u32 {
    if len == 0 { 0 } else { u32::MAX << (32 - len) }
}

fn checked_len(row: RowId, len: u8) -> Result<u8, BuildError> {
    if len > MAX_LEN {
        return Err(BuildError::row(row, format!("prefix length {len}: expected 0 to 32")));
    }
    Ok(len)
}

fn v4(row: RowId, property: &str, address: IpAddr) -> Result<u32, BuildError> {
    match address {
        IpAddr::V4(v4) => Ok(v4.to_bits()),
        IpAddr::V6(_) => Err(BuildError::row(row, format!("{property} {address}: expected an IPv4 address"))),
    }
}

fn find(interfaces: &InterfaceMap, row: RowId, interface: RowId) -> Result<InterfaceIndex, BuildError> {
    interfaces
        .index(interface)
        .ok_or_else(|| BuildError::row(row, format!("names interface row {interface}, which does not exist")))
}
