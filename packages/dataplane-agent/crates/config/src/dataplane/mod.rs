//! The compiled configuration.

mod firewall;
mod interface;
mod ip;
mod queue;
mod settings;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use firewall::{
    Action, AddressList, AddressRange, Chain, ConnectionState, LimitUnit, Matcher, PortRange, RejectWith,
    Rule,
};
pub use interface::{ArpMode, Interface, IoChoice};
pub use ip::{InterfaceAddress, Route, RouteTarget, StaticNeighbor};
pub use queue::{Prefix, QueueLimit, SimpleQueue};
pub use settings::{FasttrackMode, IpSettings, RpFilter, Tracking, TrackingMode};

/// Stable identity of a configuration row, unique over all menus of one router and never reused.
/// Counters follow it through edits and moves. Rows the data plane makes itself start at
/// [`FIRST_DYNAMIC_ROW`].
pub type RowId = u32;

/// First row id of the range that the data plane gives to rows it makes itself.
pub const FIRST_DYNAMIC_ROW: RowId = 0x8000_0000;

/// Version of this format. The agent reads this one and the one before.
pub const FORMAT: u32 = 3;

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
    /// `/ip/address`, without disabled and invalid rows.
    pub addresses: Vec<InterfaceAddress>,
    /// `/ip/route`, static routes only; connected ones follow from `addresses`.
    pub routes: Vec<Route>,
    /// `/ip/arp`, static entries.
    pub neighbors: Vec<StaticNeighbor>,
    /// `/ip/firewall/address-list`, grouped; matchers name a list by its index here.
    pub address_lists: Vec<AddressList>,
    /// `/ip/firewall/filter`; the chains `input`, `forward` and `output` are the hooks.
    pub filter: Vec<Chain>,
    /// `/ip/firewall/nat`; the chains `srcnat` and `dstnat` are the hooks.
    pub nat: Vec<Chain>,
    /// `/queue/simple` in list order, without disabled and invalid rows. Absent in format 1.
    #[serde(default)]
    pub simple_queues: Vec<SimpleQueue>,
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
            neighbors: Vec::new(),
            address_lists: Vec::new(),
            filter: Vec::new(),
            nat: Vec::new(),
            simple_queues: Vec::new(),
        }
    }
}
