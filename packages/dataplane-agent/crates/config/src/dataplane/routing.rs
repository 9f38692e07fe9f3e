//! `/routing/table` and `/routing/rule`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::interface::is_main_zone;
use super::{Mark, Prefix, RowId, TableNumber};

/// Routing tables beside the main table that a router has at most.
pub const MAX_ROUTING_TABLES: usize = 4096;

/// A routing table other than the main table. Its number is its place and one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RoutingTable {
    /// Row of `/routing/table`.
    pub row: RowId,
    /// Name.
    pub name: String,
    /// The mark of packets that are looked up in this table: it is made from the name.
    pub mark: Mark,
    /// Packets can be looked up in it. The routes of any other table only lead to gateways.
    pub fib: bool,
    /// Zone of the VRF whose table it is: it has the networks and addresses of the interfaces in that zone, whose packets are
    /// looked up in it. 0 for the table of no VRF.
    #[serde(default, skip_serializing_if = "is_main_zone")]
    pub zone: u16,
}

/// A rule of `/routing/rule`. Every condition that it has must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RoutingRule {
    /// Row of `/routing/rule`.
    pub row: RowId,
    /// The source is in this network.
    pub source: Option<Prefix>,
    /// The destination is in this network. It is of the family of `source`, if both are there; a rule without either
    /// is for both families.
    pub destination: Option<Prefix>,
    /// The packet has this routing mark.
    pub routing_mark: Option<Mark>,
    /// Row of the interface that the packet came in on.
    pub interface: Option<RowId>,
    /// What becomes of the packet.
    pub action: RoutingAction,
}

/// Action of a routing rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "kind")]
pub enum RoutingAction {
    /// Look the destination up in a table.
    Lookup {
        /// Number of the table.
        table: TableNumber,
        /// Without a route in the table there is none; otherwise the following rules decide.
        only: bool,
        /// Routes with a prefix of this length or shorter are passed over, as by `suppress_prefixlength` of ip-rule(8).
        min_prefix: Option<u8>,
    },
    /// Drop silently.
    Drop,
    /// Drop, and answer with network unreachable.
    Unreachable,
}
