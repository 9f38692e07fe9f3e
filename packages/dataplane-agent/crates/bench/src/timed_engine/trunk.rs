//! Both interfaces as VLANs of the first port, in place of ports.

use tollway_config::dataplane::{DataplaneConfig, InterfaceKind, RowId};
use tollway_engine::pipeline::batch::Outcome;
use tollway_wire::{ethernet, field};

use super::LAN_PORT;
use crate::traffic::{LAN_PORT_MAC, WAN_PORT_MAC};

/// Bytes by which frames are longer.
pub const TAG: usize = ethernet::TAG;
/// VLAN identifier of `lan`; that of `wan` is the next one.
const LAN_VLAN: u16 = 10;
/// Row of the port's interface.
const TRUNK: RowId = 900;

/// Makes VLANs of the two interfaces, with the link-layer addresses that their ports had.
pub fn make(config: &mut DataplaneConfig) {
    let Some(mut trunk) = config.interfaces.first().cloned() else { return };
    (trunk.row, trunk.name) = (TRUNK, "trunk".to_owned());
    let macs = [LAN_PORT_MAC, WAN_PORT_MAC];
    for ((vlan_id, interface), mac) in (LAN_VLAN..).zip(&mut config.interfaces).zip(macs) {
        interface.kind = InterfaceKind::Vlan { parent: TRUNK, vlan_id, service_tag: false };
        interface.mac_address = Some(mac.map(|byte| format!("{byte:02x}")).join(":"));
    }
    config.interfaces.push(trunk);
}

/// Writes the frame that comes by the VLAN in place of a port.
pub fn write(head: &mut [u8], content: &[u8], port: u16) {
    let Some((addresses, rest)) = content.split_at_checked(ethernet::ADDRESSES) else { return };
    field::put(head, 0, addresses);
    field::put(head, ethernet::ADDRESSES, &ethernet::VLAN.to_be_bytes());
    field::put(head, ethernet::ADDRESSES + 2, &(LAN_VLAN + port).to_be_bytes());
    field::put(head, ethernet::ADDRESSES + TAG, rest);
}

/// The port in place of which a VLAN sends a frame that left; `None` if it left otherwise.
pub fn left_by(outcome: &Outcome, head: &[u8]) -> Option<u16> {
    let tagged = field::read16(head, ethernet::ADDRESSES) == Some(ethernet::VLAN);
    match outcome {
        Outcome::Tx { port: LAN_PORT, .. } if tagged => {
            field::read16(head, ethernet::ADDRESSES + 2)?.checked_sub(LAN_VLAN)
        }
        _ => None,
    }
}
