//! The compiled configuration.

mod firewall;
mod interface;
mod ip;
mod queue;
mod routing;
mod settings;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use firewall::{
    Action, AddressList, AddressRange, Chain, ConnectionState, LimitUnit, Mark, MarkName, Matcher, NewMss,
    PortRange, RejectWith, Rule,
};
pub use interface::{ArpMode, Interface, InterfaceKind, IoChoice};
pub use ip::{
    CONNECTED_SCOPE, Gateway, GatewayCheck, InterfaceAddress, Ipv6AddressOptions, MAX_GATEWAYS, ROUTE_SCOPE,
    Route, RouteOptions, RouteTarget, StaticNeighbor, TableNumber,
};
pub use queue::{
    Cake, CakeAckFilter, CakeAtm, CakeDiffserv, CakeFlowmode, Codel, InterfaceQueue, PcqClassifier, Prefix,
    QueueLimit, QueueTarget, QueueTime, QueueType, SimpleQueue, TargetInterface, TreeParent, TreeQueue,
};
pub use routing::{MAX_ROUTING_TABLES, RoutingAction, RoutingRule, RoutingTable};
pub use settings::{
    FasttrackMode, IpSettings, Ipv6Settings, MultipathHash, NeighborCollection, RpFilter, TcpTimestamps,
    Tracking, TrackingMode,
};

/// Stable identity of a configuration row, unique over all menus of one router and never reused.
/// Counters follow it through edits and moves. Rows the data plane makes itself start at
/// [`FIRST_DYNAMIC_ROW`].
pub type RowId = u32;

/// First row id of the range that the data plane gives to rows it makes itself.
pub const FIRST_DYNAMIC_ROW: RowId = 0x8000_0000;

/// First row id of the range of addresses that the router makes itself in networks that are advertised to it. It is below
/// [`FIRST_DYNAMIC_ROW`], as clients name what follows from a row by the sum of both.
pub const FIRST_AUTOCONFIGURED_ROW: RowId = 0x3000_0000;

/// Version of this format. The agent reads this one and the one before.
pub const FORMAT: u32 = 7;

/// Interfaces at most, of all types.
pub const MAX_INTERFACES: usize = 4096;

/// VLANs one on the other that an interface has at most.
pub const MAX_VLAN_TAGS: usize = 4;

/// Levels that a tree of queues has at most, the root's included.
pub const MAX_QUEUE_LEVELS: usize = 8;

/// Jumps inside jumps that a chain of rules has at most.
pub const MAX_JUMP_DEPTH: usize = 16;

/// Everything the data plane needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DataplaneConfig {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// `/ip/settings`.
    pub settings: IpSettings,
    /// `/ip/firewall/connection/tracking`.
    pub tracking: Tracking,
    /// L3 interfaces. Every `RowId` that names an interface elsewhere is one of these rows.
    pub interfaces: Vec<Interface>,
    /// `/ip/address` and `/ipv6/address`, without disabled and invalid rows. An interface with an address of IPv6 has
    /// IPv6, and a link-local address.
    pub addresses: Vec<InterfaceAddress>,
    /// `/ip/route` and `/ipv6/route`, static routes only; connected ones follow from `addresses`.
    pub routes: Vec<Route>,
    /// `/routing/table` without the main table, in list order. Absent before format 7.
    #[serde(default)]
    pub routing_tables: Vec<RoutingTable>,
    /// `/routing/rule` in list order, without disabled and invalid rows. Absent before format 7.
    #[serde(default)]
    pub routing_rules: Vec<RoutingRule>,
    /// `/ip/arp` and `/ipv6/neighbor`, static entries.
    pub neighbors: Vec<StaticNeighbor>,
    /// `/ip/firewall/address-list`, grouped; matchers name a list by its index here.
    pub address_lists: Vec<AddressList>,
    /// `/ip/firewall/filter`; the chains `input`, `forward` and `output` are the hooks.
    pub filter: Vec<Chain>,
    /// `/ip/firewall/nat`; the chains `srcnat` and `dstnat` are the hooks.
    pub nat: Vec<Chain>,
    /// `/ip/firewall/mangle`; the chains `prerouting`, `input`, `forward`, `output` and `postrouting` are the hooks.
    /// Absent before format 4.
    #[serde(default)]
    pub mangle: Vec<Chain>,
    /// `/ipv6/firewall/address-list`, grouped; matchers of IPv6 name a list by its index here. A list of
    /// `address_lists` with the same name is another list. Absent before format 6.
    #[serde(default)]
    pub ipv6_address_lists: Vec<AddressList>,
    /// `/ipv6/firewall/filter`, with the hooks of `filter`. Absent before format 6.
    #[serde(default)]
    pub ipv6_filter: Vec<Chain>,
    /// `/ipv6/firewall/nat`, with the hooks of `nat`. Absent before format 6.
    #[serde(default)]
    pub ipv6_nat: Vec<Chain>,
    /// `/ipv6/firewall/mangle`, with the hooks of `mangle`. Absent before format 6.
    #[serde(default)]
    pub ipv6_mangle: Vec<Chain>,
    /// Names of all marks, for log lines and traces. Absent before format 4.
    #[serde(default)]
    pub mark_names: Vec<MarkName>,
    /// `/queue/type` as far as it is used; queues name a type by its index here. Absent before format 4.
    #[serde(default)]
    pub queue_types: Vec<QueueType>,
    /// `/queue/simple` in list order, without disabled and invalid rows. Absent in format 1.
    #[serde(default)]
    pub simple_queues: Vec<SimpleQueue>,
    /// `/queue/tree` in list order, without disabled and invalid rows. Absent before format 4.
    #[serde(default)]
    pub tree_queues: Vec<TreeQueue>,
    /// `/queue/interface`. Absent before format 4.
    #[serde(default)]
    pub interface_queues: Vec<InterfaceQueue>,
}

impl DataplaneConfig {
    /// Makes of a configuration in the format before this one the same in this format. What an interface has other than
    /// then, [`Interface`] reads.
    pub fn upgrade(&mut self) {
        if self.format == FORMAT - 1 {
            self.format = FORMAT;
        }
    }
}

impl Default for DataplaneConfig {
    fn default() -> Self {
        Self {
            format: FORMAT,
            settings: IpSettings::default(),
            tracking: Tracking::default(),
            interfaces: Vec::new(),
            addresses: Vec::new(),
            routes: Vec::new(),
            routing_tables: Vec::new(),
            routing_rules: Vec::new(),
            neighbors: Vec::new(),
            address_lists: Vec::new(),
            filter: Vec::new(),
            nat: Vec::new(),
            mangle: Vec::new(),
            ipv6_address_lists: Vec::new(),
            ipv6_filter: Vec::new(),
            ipv6_nat: Vec::new(),
            ipv6_mangle: Vec::new(),
            mark_names: Vec::new(),
            queue_types: Vec::new(),
            simple_queues: Vec::new(),
            tree_queues: Vec::new(),
            interface_queues: Vec::new(),
        }
    }
}
