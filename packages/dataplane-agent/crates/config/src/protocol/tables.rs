//! Entries of tables that change by themselves: address lists, neighbours, routes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dataplane::RowId;

/// An entry that a list has beside the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DynamicAddress {
    /// Name of the list.
    pub list: String,
    /// First address.
    pub address: std::net::IpAddr,
    /// Length of the prefix, bits.
    pub prefix_len: u8,
    /// Life, milliseconds; 0 until the agent ends.
    pub timeout_ms: u64,
}

/// A neighbour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NeighborInfo {
    /// Static entry's row; 0 for a learned one.
    pub row: RowId,
    /// Interface row.
    pub interface: RowId,
    /// Address.
    pub address: std::net::Ipv4Addr,
    /// Link-layer address; absent while incomplete.
    pub mac_address: Option<String>,
    /// State.
    pub status: NeighborStatus,
}

/// State of a neighbour (RFC 4861 §7.3.2's names, as Linux applies them to ARP).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NeighborStatus {
    /// Being resolved.
    Incomplete,
    /// Confirmed recently.
    Reachable,
    /// Not confirmed recently.
    Stale,
    /// Being confirmed.
    Probe,
    /// No answer.
    Failed,
    /// Static.
    Permanent,
}

/// A route and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RouteInfo {
    /// Static route's row; 0 for a connected one.
    pub row: RowId,
    /// Row of the address a connected route follows from; 0 for a static one.
    pub address_row: RowId,
    /// Destination network.
    pub destination: std::net::IpAddr,
    /// Prefix length, bits.
    pub prefix_len: u8,
    /// Preference; 0 for connected.
    pub distance: u8,
    /// In the FIB.
    pub active: bool,
    /// Resolved next hop, if any.
    pub gateway: Option<std::net::IpAddr>,
    /// Interface row the route leaves by; 0 when unresolved or blackhole.
    pub interface: RowId,
    /// Routing protocol number (rtnetlink(7)) of a route that another program has put into the router's
    /// namespace; 0 for connected and static ones. Such a route has neither `row` nor `address-row`.
    #[serde(default)]
    pub protocol: u8,
}
