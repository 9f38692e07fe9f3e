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
