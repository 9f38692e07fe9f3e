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
    /// What few routes have other than by default.
    #[serde(default, skip_serializing_if = "RouteOptions::is_default")]
    pub options: RouteOptions,
}

/// Number of a routing table: 0 is the main table, any other the place in `routing_tables` and one.
pub type TableNumber = u16;

/// Gateways that a route has at most.
pub const MAX_GATEWAYS: usize = 64;

/// Scope of connected routes, and the target scope that routes have by default.
pub const CONNECTED_SCOPE: u8 = 10;
/// Scope that routes have by default.
pub const ROUTE_SCOPE: u8 = 30;

/// Options of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RouteOptions {
    /// The table that the route is in.
    #[serde(default)]
    pub table: TableNumber,
    /// Routes whose target scope is at least this may find their gateways by this route.
    pub scope: u8,
    /// Scope up to which routes may lead to the gateways of this one.
    pub target_scope: u8,
    /// How the gateways are probed; those that do not answer are not used.
    pub check_gateway: Option<GatewayCheck>,
}

impl Default for RouteOptions {
    fn default() -> Self {
        Self { table: 0, scope: ROUTE_SCOPE, target_scope: CONNECTED_SCOPE, check_gateway: None }
    }
}

impl RouteOptions {
    /// Whether every option has its default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How a gateway is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GatewayCheck {
    /// By echo requests of ICMP or ICMPv6.
    Ping,
    /// By ARP requests or neighbour solicitations.
    Arp,
}

/// One of several gateways of a route, or one in another table: an address, an interface or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Gateway {
    /// The neighbour's address.
    pub address: Option<IpAddr>,
    /// Interface row.
    pub interface: Option<RowId>,
    /// The table in which the way to the gateway is looked up, when it is not that of the route.
    pub table: Option<TableNumber>,
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
    /// By several gateways, between which flows are divided; one that is named more than once gets more of them. At most
    /// [`MAX_GATEWAYS`].
    Gateways {
        /// The gateways.
        gateways: Vec<Gateway>,
    },
    /// Dropped silently.
    Blackhole,
    /// Answered with host unreachable (RFC 792, RFC 4443 §3.1).
    Unreachable,
    /// Answered with communication administratively prohibited.
    Prohibit,
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
