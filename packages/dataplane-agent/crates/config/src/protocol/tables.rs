//! Entries of tables that change by themselves: address lists, neighbours.

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

/// A neighbour of IPv6.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ipv6NeighborInfo {
    /// Static entry's row; 0 for a learned one.
    pub row: RowId,
    /// Interface row.
    pub interface: RowId,
    /// Address.
    pub address: std::net::Ipv6Addr,
    /// Link-layer address; absent while incomplete.
    pub mac_address: Option<String>,
    /// It has said that it is a router.
    pub router: bool,
    /// State.
    pub status: NeighborStatus,
}

/// State of an address of the router (RFC 4862 §5.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ipv6AddressState {
    /// It is not known yet whether another station has it; it is not used.
    Tentative,
    /// In use.
    Preferred,
    /// Another station has it; it is not used.
    Duplicate,
}

/// An address of the router, of IPv6.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ipv6AddressInfo {
    /// Row of `/ipv6/address`; 0 for a link-local address that the router has made, from
    /// [`FIRST_AUTOCONFIGURED_ROW`](crate::dataplane::FIRST_AUTOCONFIGURED_ROW) on for one of an advertised network.
    pub row: RowId,
    /// Interface row.
    pub interface: RowId,
    /// The address.
    pub address: std::net::Ipv6Addr,
    /// Prefix length of the connected network, bits.
    pub prefix_len: u8,
    /// State.
    pub state: Ipv6AddressState,
    /// What is left of an address of an advertised network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetimes: Option<Ipv6Lifetimes>,
}

/// The time that is left of an address (RFC 4862 §5.5.4); without end where it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ipv6Lifetimes {
    /// Until it is removed, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_s: Option<u64>,
    /// Until it is deprecated: no new connections are made from it, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_s: Option<u64>,
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
