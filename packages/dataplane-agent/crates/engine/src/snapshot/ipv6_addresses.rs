//! The IPv6 addresses of a configuration, on their interfaces.

use std::net::{IpAddr, Ipv6Addr};

use tollway_config::dataplane::{DataplaneConfig, InterfaceAddress, Ipv6Settings};
use tollway_wire::ipv6;

use super::interface::Interface;
use super::ipv6::{InterfaceIpv6, OwnAddress};
use crate::error::BuildError;
use crate::interface::InterfaceMap;
use crate::ip::fib::Address;

/// Prefix length of link-local networks (RFC 4291 §2.5.6).
const LINK_LOCAL_LEN: u8 = 64;

/// The IPv6 addresses of a configuration, with those that are made from link-layer addresses.
pub(super) fn addresses_with_identifiers(
    config: &DataplaneConfig,
    map: &InterfaceMap,
    interfaces: &[Interface],
) -> Result<Vec<InterfaceAddress>, BuildError> {
    let mut addresses = Vec::new();
    for configured in &config.addresses {
        let IpAddr::V6(address) = configured.address else { continue };
        let index = map.index(configured.interface).map(usize::from);
        let Some(interface) = index.and_then(|index| interfaces.get(index)) else {
            let message = format!("names interface row {}, which does not exist", configured.interface);
            return Err(BuildError::row(configured.row, message));
        };
        let mut bits = address.to_bits();
        if configured.ipv6.eui_64 {
            bits = bits.masked(64) | u128::from(ipv6::eui_64(interface.mac));
        }
        let v4_mapped = bits >> 32 == 0xffff;
        if bits <= ipv6::LOOPBACK || ipv6::is_multicast(bits) || v4_mapped {
            let message = format!("address {address}: expected a unicast address");
            return Err(BuildError::row(configured.row, message));
        }
        let address = Ipv6Addr::from_bits(bits).into();
        addresses.push(InterfaceAddress { address, ..configured.clone() });
    }
    Ok(addresses)
}

/// Gives IPv6 to the interfaces that have an address of it, and a link-local address to those with a link-layer address,
/// unless there are to be none. An interface on which router advertisements are taken has IPv6 without an address, too;
/// that is only for interfaces in no VRF, as what is advertised is for the main table.
pub(super) fn add_ipv6(
    addresses: &[InterfaceAddress],
    settings: &Ipv6Settings,
    map: &InterfaceMap,
    interfaces: &mut [Interface],
) {
    let without_link_local = settings.disable_link_local_address;
    let new = |mac: [u8; 6]| {
        let link_local = OwnAddress {
            address: ipv6::link_local_of(mac),
            prefix_len: LINK_LOCAL_LEN,
            row: 0,
            detects_duplicates: true,
            advertises: false,
        };
        let addresses = (!without_link_local && mac != [0; 6]).then_some(link_local).into_iter().collect();
        InterfaceIpv6 { addresses, accepts_advertisements: false }
    };
    for row in settings.accept_advertisements_on.iter().filter(|_| !settings.disable_ipv6) {
        let index = map.index(*row).map(usize::from);
        let interface = index.and_then(|index| interfaces.get_mut(index));
        if let Some(interface) = interface.filter(|interface| interface.mac != [0; 6] && interface.zone == 0)
        {
            let mac = interface.mac;
            interface.ipv6.get_or_insert_with(|| new(mac)).accepts_advertisements = true;
        }
    }
    for configured in addresses {
        let index = map.index(configured.interface).map(usize::from);
        let interface = index.and_then(|index| interfaces.get_mut(index));
        let (Some(interface), IpAddr::V6(address)) = (interface, configured.address) else { continue };
        let mac = interface.mac;
        let ipv6 = interface.ipv6.get_or_insert_with(|| new(mac));
        ipv6.addresses.push(OwnAddress {
            address: address.to_bits(),
            prefix_len: configured.prefix_len,
            row: configured.row,
            detects_duplicates: !configured.ipv6.no_dad,
            advertises: configured.ipv6.advertise,
        });
    }
}
