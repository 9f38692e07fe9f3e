//! What the agent tells without being asked, and the ports that this is about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::ReplyBody;

/// A claimed port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PortInfo {
    /// Factory name: `ether1`, `ether2` … in claim order.
    pub name: String,
    /// Name of the Linux netdev; empty for memory ports.
    pub netdev: String,
    /// Backend in use and why.
    pub io: IoBackend,
    /// Why this backend, for people.
    pub io_reason: String,
    /// The netdev's own link-layer address, `aa:bb:cc:dd:ee:ff`.
    pub mac_address: String,
    /// Largest L2 payload, bytes.
    pub max_l2mtu: u32,
}

/// Port backends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IoBackend {
    /// AF_XDP.
    AfXdp,
    /// AF_PACKET with vnet headers.
    AfPacket,
    /// Memory rings fed by a generator.
    Memory,
}

/// Something happened in the data plane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "event")]
pub enum Event {
    /// A line for `/log`.
    Log {
        /// Wall clock, ms since 1970.
        time_ms: u64,
        /// Comma list: `firewall,info`, `interface,info`, `system,error` …
        topics: String,
        /// The line.
        message: String,
    },
    /// A port's link went up or down, or its netdev vanished or came back.
    Link {
        /// Factory name.
        port: String,
        /// Has carrier.
        running: bool,
        /// Netdev exists.
        present: bool,
    },
    /// The state of a port has changed.
    Port {
        /// State of the port, as in [`ReplyBody::Hello`].
        port: PortInfo,
    },
}
