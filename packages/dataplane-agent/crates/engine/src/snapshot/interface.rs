//! Interfaces and links of a snapshot, and the neighbours that are configured on them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use tollway_config::dataplane::{ArpMode, DataplaneConfig, InterfaceKind, MAX_VLAN_TAGS, RowId};

use super::ipv6::InterfaceIpv6;
use super::links::{Encapsulation, Encapsulations, LinkIds, Tag, VlanTable};
use crate::error::BuildError;
use crate::ids::{LinkId, NO_INTERFACE, NO_LINK, PortId};
use crate::interface::InterfaceMap;
use crate::ip::mask;
use crate::ip::neighbor::StaticNeighbor;
use crate::packet::family::Family;
use crate::packet::tuple::{Addr, Zone};

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
    /// Row of `/interface/ethernet`, `/interface/vlan` or `/interface/loopback`.
    pub row: RowId,
    /// Name for users.
    pub name: String,
    /// Link of the interface, if its port exists; a loopback interface has none.
    pub port: Option<LinkId>,
    /// Link-layer address in effect; zero without one.
    pub mac: [u8; 6],
    /// L3 MTU in effect, bytes: for a VLAN at most what the interfaces below it can carry.
    pub mtu: u16,
    /// ARP mode.
    pub arp: ArpMode,
    /// Base reachable time of ARP entries, ms.
    pub reachable_ms: u32,
    /// Not disabled.
    pub enabled: bool,
    /// Enabled, with a port that has carrier, or a loopback interface.
    pub up: bool,
    /// Zone of the packets that it receives and sends.
    pub zone: Zone,
    /// Own addresses with their prefix lengths, in configured order.
    pub addresses: Vec<(u32, u8)>,
    /// Connected networks: first address and prefix length.
    pub networks: Vec<(u32, u8)>,
    /// Addresses of other stations that the router answers ARP for.
    pub published: Vec<u32>,
    /// IPv6; `None` without an address of it.
    pub ipv6: Option<InterfaceIpv6>,
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

    /// Whether all that concerns packets of a family is the same.
    pub(super) fn is_as(&self, other: &Self, family: Family) -> bool {
        let Self { row, name, port, mac, mtu, arp, reachable_ms, enabled, up, zone, .. } = self;
        let Self { addresses, networks, published, ipv6, .. } = self;
        (row, name, port, mac, mtu) == (&other.row, &other.name, &other.port, &other.mac, &other.mtu)
            && (arp, reachable_ms) == (&other.arp, &other.reachable_ms)
            && (enabled, up, zone) == (&other.enabled, &other.up, &other.zone)
            && match family {
                Family::V4 => {
                    let others = (&other.addresses, &other.networks, &other.published);
                    (addresses, networks, published) == others
                }
                Family::V6 => *ipv6 == other.ipv6,
            }
    }

    /// Whether it is a loopback interface that is up: any other has a link then.
    pub(crate) fn is_loopback(&self) -> bool {
        self.up && self.port.is_none()
    }

    /// Own address in the network of a neighbour, else the first one.
    pub fn address_for(&self, neighbor: u32) -> Option<u32> {
        let same = |&&(own, len): &&(u32, u8)| (neighbor ^ own) & mask(len) == 0;
        self.addresses.iter().find(same).or(self.addresses.first()).map(|(own, _)| *own)
    }
}

/// Fields of a link that a received or sent frame needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// Link-layer address in effect.
    pub mac: [u8; 6],
    /// Dense number of its interface, or [`NO_INTERFACE`].
    pub interface: u16,
    /// L3 MTU of its interface.
    pub mtu: u16,
    /// Zone of its interface.
    pub zone: Zone,
    /// It has an interface that is not disabled, and so have the links below.
    pub enabled: bool,
    /// Enabled, with carrier.
    pub up: bool,
    /// Its interface has IPv6.
    pub ipv6: bool,
}

impl Port {
    /// Whether all that concerns packets of a family is the same.
    pub(super) fn is_as(&self, other: &Self, family: Family) -> bool {
        match family {
            Family::V4 => *self == Self { ipv6: self.ipv6, ..*other },
            Family::V6 => self == other,
        }
    }
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

/// The interfaces of a configuration, and the numbers of the links that they are on.
pub(super) struct Built {
    /// In configured order.
    pub interfaces: Vec<Interface>,
    /// Numbers of the links.
    pub ids: LinkIds,
    /// The number after the last one.
    pub end: LinkId,
    /// Tags of received frames.
    pub vlans: VlanTable,
    /// Tags of sent frames.
    pub encapsulations: Encapsulations,
}

/// Builds interfaces and links. Links of rows that `before` knows keep their numbers. Errors name the row.
pub(super) fn build_interfaces(
    config: &DataplaneConfig,
    ports: &[PortFacts],
    before: &LinkIds,
) -> Result<Built, BuildError> {
    let mut interfaces: Vec<Interface> = Vec::with_capacity(config.interfaces.len());
    let all = &config.interfaces;
    let vlans = || all.iter().filter(|interface| matches!(interface.kind, InterfaceKind::Vlan { .. }));
    let first = LinkId::try_from(ports.len()).unwrap_or(NO_LINK);
    let ids = LinkIds::following(before, first, vlans().map(|interface| interface.row));
    for interface in all {
        if interface.mtu < MIN_MTU {
            let message = format!("mtu {}: expected {MIN_MTU} to 65535", interface.mtu);
            return Err(BuildError::row(interface.row, message));
        }
        let (port, facts) = match &interface.kind {
            InterfaceKind::Ethernet { port: name, .. } => {
                let position = ports.iter().position(|port| port.name == *name);
                let port = position.and_then(|position| PortId::try_from(position).ok());
                if port.is_some() && interfaces.iter().any(|other| other.port == port) {
                    let message = format!("port {name} carries another interface already");
                    return Err(BuildError::row(interface.row, message));
                }
                (port, position.and_then(|position| ports.get(position)))
            }
            InterfaceKind::Vlan { .. } | InterfaceKind::Loopback => (None, None),
        };
        let own = facts.map(|facts| facts.mac).unwrap_or_default();
        let mac = match &interface.mac_address {
            Some(text) => parse_mac(interface.row, text)?,
            None => own,
        };
        let is_loopback = matches!(interface.kind, InterfaceKind::Loopback);
        interfaces.push(Interface {
            row: interface.row,
            name: interface.name.clone(),
            port,
            mac,
            mtu: interface.mtu,
            arp: interface.arp,
            reachable_ms: interface.arp_timeout_ms.unwrap_or(config.settings.arp_timeout_ms),
            enabled: !interface.disabled,
            up: !interface.disabled && (is_loopback || facts.is_some_and(|facts| facts.running)),
            zone: interface.zone,
            addresses: Vec::new(),
            networks: Vec::new(),
            published: Vec::new(),
            ipv6: None,
        });
    }
    let (tags, encapsulations) = stack_vlans(config, first, &ids, &mut interfaces)?;
    let encapsulations = Encapsulations::new(first, ids.end(first), &encapsulations);
    let end = ids.end(first);
    Ok(Built { interfaces, ids, end, vlans: VlanTable::new(&tags), encapsulations })
}

type Links = (BTreeMap<Tag, LinkId>, BTreeMap<LinkId, Encapsulation>);

/// Puts the VLANs onto the interfaces below them, which may come later in the configuration: each gets its link, and
/// what it has of the interface below. Errors name the row.
fn stack_vlans(
    config: &DataplaneConfig,
    ports: LinkId,
    ids: &LinkIds,
    interfaces: &mut [Interface],
) -> Result<Links, BuildError> {
    let (mut tags, mut encapsulations) = Links::default();
    let index: BTreeMap<RowId, usize> =
        config.interfaces.iter().enumerate().map(|(index, interface)| (interface.row, index)).collect();
    let mut seen = BTreeSet::new();
    for configured in &config.interfaces {
        let InterfaceKind::Vlan { parent, vlan_id, service_tag } = configured.kind else { continue };
        if !(1..=4094).contains(&vlan_id) {
            return Err(BuildError::row(configured.row, format!("vlan-id {vlan_id}: expected 1 to 4094")));
        }
        if !seen.insert((parent, service_tag, vlan_id)) {
            let message = format!("vlan-id {vlan_id}: another VLAN of the same interface has it");
            return Err(BuildError::row(configured.row, message));
        }
        // From the VLAN down to its port.
        let mut chain = Vec::new();
        let mut at = configured;
        while let InterfaceKind::Vlan { parent, .. } = at.kind {
            chain.push(at);
            if chain.len() > MAX_VLAN_TAGS {
                let message =
                    format!("more than {MAX_VLAN_TAGS} VLANs one on the other, or a VLAN on itself");
                return Err(BuildError::row(configured.row, message));
            }
            let below = index.get(&parent).and_then(|index| config.interfaces.get(*index));
            at = below.ok_or_else(|| {
                BuildError::row(configured.row, format!("interface row {parent} does not exist"))
            })?;
        }
        let get = |row: RowId, interfaces: &[Interface]| {
            index.get(&row).and_then(|index| interfaces.get(*index)).cloned()
        };
        let Some(mut below) = get(at.row, interfaces) else { continue };
        for layer in chain.into_iter().rev() {
            let InterfaceKind::Vlan { vlan_id, service_tag, .. } = layer.kind else { continue };
            let Some(interface) = index.get(&layer.row).and_then(|index| interfaces.get_mut(*index)) else {
                continue;
            };
            if layer.mac_address.is_none() {
                interface.mac = below.mac;
            }
            interface.enabled = !layer.disabled && below.enabled;
            interface.up = !layer.disabled && below.up;
            if let (Some(on), Some(link)) = (below.port, ids.of(layer.row)) {
                let tag = Tag { below: on, service: service_tag, vlan_id };
                let outer = encapsulations.get(&on).filter(|_| on >= ports);
                let Some(encapsulation) = Encapsulation::inside(outer, tag) else { continue };
                let used = outer.map_or(0, Encapsulation::excess);
                interface.mtu = layer.mtu.min(below.mtu.saturating_sub(encapsulation.excess() - used));
                interface.port = Some(link);
                tags.insert(tag, link);
                encapsulations.insert(link, encapsulation);
            } else {
                interface.mtu = layer.mtu.min(below.mtu);
            }
            below = interface.clone();
        }
    }
    Ok((tags, encapsulations))
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
        let key = (interface.row, Addr::from(neighbor.address));
        if neighbors.iter().any(|other| other.key == key) {
            let message = format!("address {} has another entry on the same interface", neighbor.address);
            return Err(BuildError::row(neighbor.row, message));
        }
        match neighbor.address {
            IpAddr::V4(address) if neighbor.published => interface.published.push(address.to_bits()),
            IpAddr::V6(address) if neighbor.published => {
                let message = format!("published: expected no for {address}, an address of IPv6");
                return Err(BuildError::row(neighbor.row, message));
            }
            IpAddr::V4(_) | IpAddr::V6(_) => {}
        }
        neighbors.push(StaticNeighbor { key, row: neighbor.row, mac });
    }
    Ok(neighbors)
}

/// The links, each with its interface, of which everything is known. Numbers that no interface has are links without one.
pub(super) fn build_links(facts: &[PortFacts], end: LinkId, interfaces: &[Interface]) -> Vec<Port> {
    let without = Port {
        mac: [0; 6],
        interface: NO_INTERFACE,
        mtu: 0,
        zone: 0,
        enabled: false,
        up: false,
        ipv6: false,
    };
    let mut links = vec![without; usize::from(end)];
    for (link, facts) in links.iter_mut().zip(facts) {
        link.mac = facts.mac;
    }
    for (index, interface) in (0..).zip(interfaces) {
        if let Some(link) = interface.port.and_then(|link| links.get_mut(usize::from(link))) {
            let &Interface { mac, mtu, zone, enabled, up, .. } = interface;
            let ipv6 = interface.ipv6.is_some();
            *link = Port { mac, interface: index, mtu, zone, enabled, up, ipv6 };
        }
    }
    links
}
