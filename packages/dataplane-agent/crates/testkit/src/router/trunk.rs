//! Test routers all of whose ports are VLANs of one port: what holds for ports holds for VLANs.

use tollway_config::dataplane::{ArpMode, DataplaneConfig, Interface, InterfaceKind, IoChoice, RowId};
use tollway_engine::ids::PortId;
use tollway_engine::packet::frame::VnetState;
use tollway_wire::ethernet;

use super::port_mac;

/// Row of the port's interface.
const TRUNK: RowId = 900_000;
/// Row of the service VLAN that some are in.
const SERVICE: RowId = TRUNK + 1;
const SERVICE_ID: u16 = 4000;
/// VLAN identifier of port 0.
const FIRST_ID: u16 = 10;

/// Makes VLANs of one port of all interfaces: by customer tags, by service tags, and by both.
pub(crate) fn make(config: &mut DataplaneConfig) {
    let interface = |row, name: &str, kind| Interface {
        row,
        name: name.to_owned(),
        kind,
        disabled: false,
        mtu: u16::MAX,
        mac_address: None,
        arp: ArpMode::Enabled,
        arp_timeout_ms: None,
        zone: 0,
    };
    for (port, interface) in (0..).zip(&mut config.interfaces) {
        let (parent, service_tag) = [(TRUNK, false), (SERVICE, false), (TRUNK, true)][usize::from(port % 3)];
        interface.kind = InterfaceKind::Vlan { parent, vlan_id: FIRST_ID + port, service_tag };
        interface.mac_address.get_or_insert(mac_text(port_mac(port)));
    }
    let service = InterfaceKind::Vlan { parent: TRUNK, vlan_id: SERVICE_ID, service_tag: true };
    // The one below comes last: order makes no difference.
    config.interfaces.push(interface(SERVICE, "service", service));
    let port = InterfaceKind::Ethernet { port: "ether1".to_owned(), io: IoChoice::Auto };
    config.interfaces.push(interface(TRUNK, "trunk", port));
}

/// Whether [`make`] has made a configuration.
pub(super) fn is_trunk(config: &DataplaneConfig) -> bool {
    config.interfaces.iter().any(|interface| interface.row == TRUNK)
}

fn mac_text(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

/// Tags of what was a port.
fn tags(port: PortId) -> Vec<u8> {
    let tag = |ethertype: u16, id: u16| [ethertype.to_be_bytes(), id.to_be_bytes()].concat();
    let id = FIRST_ID + port;
    match port % 3 {
        0 => tag(ethernet::VLAN, id),
        1 => [tag(ethernet::SERVICE_VLAN, SERVICE_ID), tag(ethernet::VLAN, id)].concat(),
        _ => tag(ethernet::SERVICE_VLAN, id),
    }
}

/// The frame with the tags of what was a port.
pub(super) fn tagged(port: PortId, frame: &[u8], mut vnet: VnetState) -> (Vec<u8>, VnetState) {
    let Some((addresses, rest)) = frame.split_at_checked(ethernet::ADDRESSES) else {
        return (frame.to_vec(), vnet);
    };
    let tags = tags(port);
    vnet.pushed(tags.len() as u16);
    ([addresses, &tags, rest].concat(), vnet)
}

/// What was a port, by the tags of a frame, and the frame without them; panics on a frame with others.
pub(super) fn untagged(frame: &[u8], mut vnet: VnetState) -> (PortId, Vec<u8>, VnetState) {
    let (addresses, rest) = frame.split_at_checked(ethernet::ADDRESSES).expect("a whole header");
    let fits = |port: &PortId| {
        let tags = tags(*port);
        rest.starts_with(&tags) && !rest[tags.len()..].starts_with(&ethernet::VLAN.to_be_bytes())
    };
    let port = (0..64).find(fits).expect("the tags of a VLAN");
    let len = tags(port).len();
    vnet.pulled(len as u16);
    (port, [addresses, &rest[len..]].concat(), vnet)
}
