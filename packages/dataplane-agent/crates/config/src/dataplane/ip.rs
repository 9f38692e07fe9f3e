//! `/ip/address`, `/ip/route` and `/ip/arp`, and their counterparts of IPv6.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RowId;

/// An address of the router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct InterfaceAddress {
    /// Row of `/ip/address` or `/ipv6/address`.
    pub row: RowId,
    /// Interface row.
    pub interface: RowId,
    /// The router's own address.
    pub address: IpAddr,
    /// Prefix length of the connected network, bits.
    pub prefix_len: u8,
    /// Address of the connected network; differs from `address` masked only for point-to-point pairs.
    pub network: IpAddr,
    /// Only of IPv6.
    #[serde(default, skip_serializing_if = "Ipv6AddressOptions::is_default")]
    pub ipv6: Ipv6AddressOptions,
}

/// Options of an IPv6 address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ipv6AddressOptions {
    /// The lower 64 bits of the address are made from the link-layer address of the interface (RFC 4291 appendix A).
    #[serde(default)]
    pub eui_64: bool,
    /// Do not look for another station with the address before it is used (RFC 4862 §5.4).
    #[serde(default)]
    pub no_dad: bool,
    /// Routers advertise the network, so that stations make themselves addresses of it (RFC 4861 §6.2.3, RFC 4862 §5.5).
    #[serde(default)]
    pub advertise: bool,
}

impl Ipv6AddressOptions {
    /// Whether every option has its default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A static route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Route {
    /// Row of `/ip/route` or `/ipv6/route`.
    pub row: RowId,
    /// Destination network.
    pub destination: IpAddr,
    /// Prefix length, bits.
    pub prefix_len: u8,
    /// Preference among routes to the same prefix; lower wins. 1…255.
    pub distance: u8,
    /// Target of the route.
    pub target: RouteTarget,
    /// Source address for packets of the router itself.
    pub pref_src: Option<IpAddr>,
}

/// Target of a route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "kind")]
pub enum RouteTarget {
    /// By a neighbour; the interface is found through the connected routes unless given.
    Gateway {
        /// The neighbour's address.
        address: IpAddr,
        /// Interface row, when the gateway was written `address%interface`.
        interface: Option<RowId>,
    },
    /// Straight out of an interface; destinations are neighbours.
    Interface {
        /// Interface row.
        interface: RowId,
    },
    /// Dropped silently.
    Blackhole,
}

/// A static entry of a neighbour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StaticNeighbor {
    /// Row of `/ip/arp` or `/ipv6/neighbor`.
    pub row: RowId,
    /// Interface row.
    pub interface: RowId,
    /// The neighbour's address.
    pub address: IpAddr,
    /// The neighbour's link-layer address, `aa:bb:cc:dd:ee:ff`.
    pub mac_address: String,
    /// Answer ARP requests for the address. Only of IPv4.
    pub published: bool,
}
