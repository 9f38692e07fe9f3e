//! `/interface/ethernet`, `/interface/vlan` and `/interface/loopback`.

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::RowId;

/// An L3 interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(deny_unknown_fields)]
pub struct Interface {
    /// Row of `/interface/ethernet`, `/interface/vlan` or `/interface/loopback`.
    pub row: RowId,
    /// Name as the user sees it; used in log lines and as the alternative name of the TAP.
    pub name: String,
    /// The frames that are its own.
    pub kind: InterfaceKind,
    /// Administratively down: nothing is received or sent.
    pub disabled: bool,
    /// L3 MTU, bytes.
    pub mtu: u16,
    /// Link-layer address to use instead of the port's own or, for a VLAN, that of the interface below,
    /// `aa:bb:cc:dd:ee:ff`.
    pub mac_address: Option<String>,
    /// ARP mode.
    pub arp: ArpMode,
    /// Base reachable time of this interface's ARP entries, milliseconds; `None` follows the settings.
    pub arp_timeout_ms: Option<u32>,
    /// Zone of its packets, which is that of its VRF; 0 for an interface in no VRF.
    #[serde(default, skip_serializing_if = "is_main_zone")]
    pub zone: u16,
}

/// Whether a zone is that of the interfaces in no VRF.
pub(super) fn is_main_zone(zone: &u16) -> bool {
    *zone == 0
}

/// The frames that belong to an interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "type")]
pub enum InterfaceKind {
    /// The frames of a claimed port that carry no tag.
    Ethernet {
        /// Factory name of the port (`ether1`, `ether2` …). A port that is absent makes the interface not running; it
        /// is no error.
        port: String,
        /// Method of exchanging frames with the port.
        io: IoChoice,
    },
    /// The frames of another interface that carry a tag (IEEE 802.1Q-2018 §9.3).
    Vlan {
        /// Row of the interface below, which may be a VLAN itself.
        parent: RowId,
        /// VLAN identifier, 1…4094.
        vlan_id: u16,
        /// The tag is a service tag (EtherType 0x88a8), not a customer tag (0x8100).
        service_tag: bool,
    },
    /// None: it is up unless it is disabled, for addresses that are those of the router whatever its links do.
    Loopback,
}

impl InterfaceKind {
    /// Factory name of the port, for the interface of a port.
    pub fn port(&self) -> Option<&str> {
        match self {
            Self::Ethernet { port, .. } => Some(port),
            Self::Vlan { .. } | Self::Loopback => None,
        }
    }

    /// Port backend that is asked for.
    pub fn io(&self) -> IoChoice {
        match self {
            Self::Ethernet { io, .. } => *io,
            Self::Vlan { .. } | Self::Loopback => IoChoice::Auto,
        }
    }
}

/// [`Interface`] as this format and the one before have it: before format 5 every interface was that of a port.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ReadInterface {
    row: RowId,
    name: String,
    kind: Option<InterfaceKind>,
    port: Option<String>,
    io: Option<IoChoice>,
    disabled: bool,
    mtu: u16,
    mac_address: Option<String>,
    arp: ArpMode,
    arp_timeout_ms: Option<u32>,
    #[serde(default)]
    zone: u16,
}

impl<'de> Deserialize<'de> for Interface {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = ReadInterface::deserialize(deserializer)?;
        let kind = match (read.kind, read.port) {
            (Some(kind), None) => kind,
            (None, Some(port)) => InterfaceKind::Ethernet { port, io: read.io.unwrap_or_default() },
            (Some(_), Some(_)) => return Err(D::Error::custom("an interface has both a kind and a port")),
            (None, None) => return Err(D::Error::missing_field("kind")),
        };
        let ReadInterface { row, name, disabled, mtu, mac_address, arp, arp_timeout_ms, zone, .. } = read;
        Ok(Self { row, name, kind, disabled, mtu, mac_address, arp, arp_timeout_ms, zone })
    }
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
