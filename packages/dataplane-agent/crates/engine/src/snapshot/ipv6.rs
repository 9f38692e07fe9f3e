//! IPv6 of an interface: its addresses and groups.

use tollway_config::dataplane::RowId;
use tollway_wire::ipv6;

use crate::ip::fib::Address;
use crate::ip::router_advertisements::Network;

/// An address of the router on an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnAddress {
    /// The address.
    pub address: u128,
    /// Length of its prefix, bits.
    pub prefix_len: u8,
    /// Row of `/ipv6/address`; 0 for a link-local address that is made from the link-layer address.
    pub row: RowId,
    /// Another station with the address is looked for before it is used (RFC 4862 §5.4).
    pub detects_duplicates: bool,
    /// Its network is advertised to the stations of the link.
    pub advertises: bool,
}

/// IPv6 of an interface that has an address of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InterfaceIpv6 {
    /// Addresses in configured order, the made link-local address first.
    pub addresses: Vec<OwnAddress>,
    /// Router advertisements are taken, as by a host.
    pub accepts_advertisements: bool,
}

impl InterfaceIpv6 {
    /// Whether an address is the router's, on this interface.
    pub fn has_address(&self, address: u128) -> bool {
        self.addresses.iter().any(|own| own.address == address)
    }

    /// Whether an address is that of every router of a network of the interface, and not one of a station (RFC 4291 §2.6.1, RFC
    /// 6164 §5).
    pub fn is_subnet_router(&self, address: u128) -> bool {
        let is_first =
            |own: &OwnAddress| own.prefix_len <= 126 && own.address.masked(own.prefix_len) == address;
        !ipv6::is_link_local(address) && !self.has_address(address) && self.addresses.iter().any(is_first)
    }

    /// Whether a neighbour with this address can be on the interface.
    pub fn reaches(&self, address: u128) -> bool {
        let inside = |own: &OwnAddress| own.address.masked(own.prefix_len) == address.masked(own.prefix_len);
        ipv6::is_link_local(address) || self.addresses.iter().any(inside)
    }

    /// The link-local address: the first one, as configured ones come behind the one that is made.
    pub fn link_local(&self) -> Option<u128> {
        self.addresses.iter().map(|own| own.address).find(|own| ipv6::is_link_local(*own))
    }

    /// Own address for packets to a destination that `usable` allows: one of the same scope, of the same network if there
    /// is one, else one that is unique local (RFC 4193) as the destination is or is not (RFC 6724 §5, rules 2, 8 and 6).
    pub fn address_for(&self, destination: u128, usable: impl Fn(u128) -> bool) -> Option<u128> {
        let on_link = ipv6::is_link_local(destination)
            || ipv6::is_multicast(destination) && ipv6::multicast_scope(destination) <= 2;
        let of_scope = || {
            self.addresses
                .iter()
                .filter(|own| ipv6::is_link_local(own.address) == on_link && usable(own.address))
        };
        let same_network =
            |own: &&OwnAddress| own.address.masked(own.prefix_len) == destination.masked(own.prefix_len);
        let same_label =
            |own: &&OwnAddress| ipv6::is_unique_local(own.address) == ipv6::is_unique_local(destination);
        let own = of_scope().find(same_network).or_else(|| of_scope().find(same_label));
        own.or_else(|| of_scope().next()).map(|own| own.address)
    }

    /// Whether networks are advertised.
    pub fn advertises(&self) -> bool {
        self.addresses.iter().any(|own| own.advertises)
    }

    /// Networks that are advertised, of addresses that `usable` allows, each once.
    pub fn advertised(&self, usable: impl Fn(u128) -> bool) -> Vec<Network> {
        let mut networks = Vec::new();
        for own in self.addresses.iter().filter(|own| own.advertises && usable(own.address)) {
            let network = (own.address.masked(own.prefix_len), own.prefix_len);
            if !networks.contains(&network) {
                networks.push(network);
            }
        }
        networks
    }

    /// Whether the router belongs to a group on this interface: all nodes, all routers, and the solicited-node groups of
    /// its addresses (RFC 4291 §2.8).
    pub fn is_member(&self, group: u128) -> bool {
        group == ipv6::ALL_NODES
            || group == ipv6::ALL_ROUTERS
            || self.addresses.iter().any(|own| ipv6::solicited_node(own.address) == group)
    }
}
