//! Interfaces and ports of a snapshot, and the neighbours that are configured on them.

use tollway_config::dataplane::{ArpMode, DataplaneConfig, RowId};

use crate::error::BuildError;
use crate::ids::{NO_INTERFACE, PortId};
use crate::interface::InterfaceMap;
use crate::ip::mask;
use crate::ip::neighbor::StaticNeighbor;

/// Properties of a port that are not part of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortFacts {
    /// Factory name (`ether1` …).
    pub name: String,
    /// The netdev's own link-layer address.
    pub mac: [u8; 6],
    /// The interface has carrier.
    pub running: bool,
}

/// Smallest L3 MTU of an IPv4 interface, bytes (RFC 791 §3.2).
const MIN_MTU: u16 = 68;

/// An L3 interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Row of `/interface/ethernet`.
    pub row: RowId,
    /// Name for users.
    pub name: String,
    /// Port of the interface, if the port exists.
    pub port: Option<PortId>,
    /// Link-layer address in effect.
    pub mac: [u8; 6],
    /// L3 MTU, bytes.
    pub mtu: u16,
    /// ARP mode.
    pub arp: ArpMode,
    /// Base reachable time of ARP entries, ms.
    pub reachable_ms: u32,
    /// Not disabled.
    pub enabled: bool,
    /// Enabled, with a port that has carrier.
    pub up: bool,
    /// Own addresses with their prefix lengths, in configured order.
    pub addresses: Vec<(u32, u8)>,
    /// Connected networks: first address and prefix length.
    pub networks: Vec<(u32, u8)>,
    /// Addresses of other stations that the router answers ARP for.
    pub published: Vec<u32>,
}

impl Interface {
    /// Whether an address is the router's, on this interface.
    pub fn has_address(&self, address: u32) -> bool {
        self.addresses.iter().any(|(own, _)| *own == address)
    }

    /// Whether a neighbour with this address can be on the interface.
    pub fn reaches(&self, address: u32) -> bool {
        let inside = |&(network, len): &(u32, u8)| (address ^ network) & mask(len) == 0;
        self.networks.iter().any(inside)
    }

    /// Own address in the network of a neighbour, else the first one.
    pub fn address_for(&self, neighbor: u32) -> Option<u32> {
        let same = |&&(own, len): &&(u32, u8)| (neighbor ^ own) & mask(len) == 0;
        self.addresses.iter().find(same).or(self.addresses.first()).map(|(own, _)| *own)
    }
}

/// Fields of a port that a received or sent frame needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// Link-layer address in effect.
    pub mac: [u8; 6],
    /// Dense number of its interface, or [`NO_INTERFACE`].
    pub interface: u16,
    /// L3 MTU of its interface.
    pub mtu: u16,
    /// The port has an interface that is not disabled.
    pub enabled: bool,
    /// Enabled, with carrier.
    pub up: bool,
}

fn parse_mac(row: RowId, text: &str) -> Result<[u8; 6], BuildError> {
    let wrong = || {
        BuildError::row(
            row,
            format!("mac-address {text}: expected six hexadecimal pairs, as 02:00:00:00:00:01"),
        )
    };
    let mut mac = [0; 6];
    let mut parts = text.split(':');
    for byte in &mut mac {
        let part = parts.next().filter(|part| part.len() == 2).ok_or_else(wrong)?;
        *byte = u8::from_str_radix(part, 16).map_err(|_| wrong())?;
    }
    let group = tollway_wire::ethernet::is_group(mac);
    if parts.next().is_some() || group || mac == [0; 6] { Err(wrong()) } else { Ok(mac) }
}

/// The interfaces in configured order. Errors name the row.
pub(super) fn build_interfaces(
    config: &DataplaneConfig,
    ports: &[PortFacts],
) -> Result<Vec<Interface>, BuildError> {
    let mut interfaces: Vec<Interface> = Vec::with_capacity(config.interfaces.len());
    for interface in &config.interfaces {
        if interface.mtu < MIN_MTU {
            let message = format!("mtu {}: expected {MIN_MTU} to 65535", interface.mtu);
            return Err(BuildError::row(interface.row, message));
        }
        let position = ports.iter().position(|port| port.name == interface.port);
        let facts = position.and_then(|position| ports.get(position));
        let port = position.and_then(|position| PortId::try_from(position).ok());
        if port.is_some() && interfaces.iter().any(|other| other.port == port) {
            let message = format!("port {} carries another interface already", interface.port);
            return Err(BuildError::row(interface.row, message));
        }
        let own = facts.map(|facts| facts.mac).unwrap_or_default();
        let mac = match &interface.mac_address {
            Some(text) => parse_mac(interface.row, text)?,
            None => own,
        };
        interfaces.push(Interface {
            row: interface.row,
            name: interface.name.clone(),
            port,
            mac,
            mtu: interface.mtu,
            arp: interface.arp,
            reachable_ms: interface.arp_timeout_ms.unwrap_or(config.settings.arp_timeout_ms),
            enabled: !interface.disabled,
            up: !interface.disabled && facts.is_some_and(|facts| facts.running),
            addresses: Vec::new(),
            networks: Vec::new(),
            published: Vec::new(),
        });
    }
    Ok(interfaces)
}

/// Whether interfaces have the same indices in both.
pub(super) fn same_numbers(one: &DataplaneConfig, other: &DataplaneConfig) -> bool {
    let rows = |config: &DataplaneConfig| {
        config.interfaces.iter().map(|interface| interface.row).collect::<Vec<RowId>>()
    };
    rows(one) == rows(other)
}

/// Adds the addresses to their interfaces.
pub(super) fn add_networks(config: &DataplaneConfig, map: &InterfaceMap, interfaces: &mut [Interface]) {
    for address in &config.addresses {
        let interface = map.index(address.interface).and_then(|index| interfaces.get_mut(usize::from(index)));
        if let (Some(interface), std::net::IpAddr::V4(network)) = (interface, address.network) {
            interface.networks.push((network.to_bits() & mask(address.prefix_len), address.prefix_len));
        }
    }
}

/// The configured neighbours. Errors name the row.
pub(super) fn build_static_neighbors(
    config: &DataplaneConfig,
    map: &InterfaceMap,
    interfaces: &mut [Interface],
) -> Result<Vec<StaticNeighbor>, BuildError> {
    let mut neighbors: Vec<StaticNeighbor> = Vec::with_capacity(config.neighbors.len());
    for neighbor in &config.neighbors {
        let mac = parse_mac(neighbor.row, &neighbor.mac_address)?;
        let interface =
            map.index(neighbor.interface).and_then(|index| interfaces.get_mut(usize::from(index)));
        let Some(interface) = interface else {
            let message = format!("interface row {} does not exist", neighbor.interface);
            return Err(BuildError::row(neighbor.row, message));
        };
        let key = (interface.row, neighbor.address.to_bits());
        if neighbors.iter().any(|other| other.key == key) {
            let message = format!("address {} has another entry on the same interface", neighbor.address);
            return Err(BuildError::row(neighbor.row, message));
        }
        if neighbor.published {
            interface.published.push(neighbor.address.to_bits());
        }
        neighbors.push(StaticNeighbor { key, row: neighbor.row, mac });
    }
    Ok(neighbors)
}

/// The ports, each with its interface.
pub(super) fn build_ports(facts: &[PortFacts], interfaces: &[Interface]) -> Vec<Port> {
    facts
        .iter()
        .enumerate()
        .map(|(port, facts)| {
            let on_port = |interface: &&Interface| interface.port.map(usize::from) == Some(port);
            let interface = interfaces.iter().find(on_port);
            let index = interfaces.iter().position(|interface| on_port(&interface));
            Port {
                mac: interface.map_or(facts.mac, |interface| interface.mac),
                interface: index.and_then(|index| u16::try_from(index).ok()).unwrap_or(NO_INTERFACE),
                mtu: interface.map_or(0, |interface| interface.mtu),
                enabled: interface.is_some_and(|interface| interface.enabled),
                up: interface.is_some_and(|interface| interface.up),
            }
        })
        .collect()
}
