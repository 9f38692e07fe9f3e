//! `/interface`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RowId;

/// An L3 interface on a claimed port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Interface {
    /// Row of `/interface/ethernet`.
    pub row: RowId,
    /// Name as the user sees it; used in log lines and as the alternative name of the TAP.
    pub name: String,
    /// Factory name of the port that carries it (`ether1`, `ether2` …). A port that is absent makes
    /// the interface not running; it is no error.
    pub port: String,
    /// Administratively down: nothing is received or sent.
    pub disabled: bool,
    /// L3 MTU, bytes.
    pub mtu: u16,
    /// Link-layer address to use instead of the port's own, `aa:bb:cc:dd:ee:ff`.
    pub mac_address: Option<String>,
    /// ARP mode.
    pub arp: ArpMode,
    /// Base reachable time of this interface's ARP entries, milliseconds; `None` follows the settings.
    pub arp_timeout_ms: Option<u32>,
    /// Method of exchanging frames with the port.
    #[serde(default)]
    pub io: IoChoice,
}

/// Port backend that is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IoChoice {
    /// The agent chooses and says why.
    #[default]
    Auto,
    /// Packet sockets with vnet headers (packet(7)).
    AfPacket,
    /// AF_XDP sockets.
    AfXdp,
}

/// ARP mode of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArpMode {
    /// Neither asks nor answers; static entries only.
    Disabled,
    /// Asks and answers.
    Enabled,
    /// Answers also for addresses that are routed elsewhere.
    ProxyArp,
    /// Answers, but takes neighbours from static entries only.
    ReplyOnly,
    /// Answers also for addresses that are routed to this same interface.
    LocalProxyArp,
}

impl ArpMode {
    /// Whether neighbours are asked for and learned, beside the static entries.
    pub const fn learns(self) -> bool {
        matches!(self, Self::Enabled | Self::ProxyArp | Self::LocalProxyArp)
    }
}
