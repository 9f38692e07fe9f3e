//! Both interfaces as VLANs of the first port, in place of ports.

use tollway_config::dataplane::{DataplaneConfig, Interface, InterfaceKind, RowId};
use tollway_engine::pipeline::batch::Outcome;
use tollway_wire::{ethernet, field, ipv4};

use super::{LAN_PORT, WAN_PORT};
use crate::scenario::LAN;
use crate::traffic::{LAN_PORT_MAC, WAN_PORT_MAC};

/// Bytes by which frames are longer.
pub const TAG: usize = ethernet::TAG;
/// VLAN identifier of `lan`; those of others beside it, and that of `wan`, are the next ones.
const LAN_VLAN: u16 = 10;
/// Row of the port's interface.
const TRUNK: RowId = 900;
/// Row of `lan`.
const FIRST_LAN: RowId = LAN;
/// Row before those of the others like it.
const OTHER_LANS: RowId = 50;
/// Last byte of the source address in a frame without a tag.
const SOURCE_END: usize = ethernet::HEADER + ipv4::offset::SRC + 3;

/// Makes VLANs of the two interfaces, with the link-layer addresses that their ports had, and others like `lan`, so that there
/// are `lans`, without addresses.
pub fn make(config: &mut DataplaneConfig, lans: u16) {
    let [lan, wan] = config.interfaces.as_slice() else { return };
    let (mut trunk, lan, wan) = (lan.clone(), lan.clone(), wan.clone());
    (trunk.row, trunk.name) = (TRUNK, "trunk".to_owned());
    let tagged = |interface: &Interface, vlan_id, mac: [u8; 6]| Interface {
        kind: InterfaceKind::Vlan { parent: TRUNK, vlan_id, service_tag: false },
        mac_address: Some(mac.map(|byte| format!("{byte:02x}")).join(":")),
        ..interface.clone()
    };
    config.interfaces =
        vec![tagged(&lan, LAN_VLAN, LAN_PORT_MAC), tagged(&wan, LAN_VLAN + lans, WAN_PORT_MAC)];
    for other in 1..lans {
        let like = Interface { row: lan_row(other), name: format!("lan{other}"), ..lan.clone() };
        config.interfaces.push(tagged(&like, LAN_VLAN + other, LAN_PORT_MAC));
    }
    config.interfaces.push(trunk);
}

/// Row of a `lan` by its number, from 0 on.
pub fn lan_row(number: u16) -> RowId {
    if number == 0 { FIRST_LAN } else { OTHER_LANS + RowId::from(number) }
}

/// Writes the frame that comes by a VLAN in place of a port: of several `lans` one that follows from the source.
pub fn write(head: &mut [u8], content: &[u8], port: u16, lans: u16) {
    let Some((addresses, rest)) = content.split_at_checked(ethernet::ADDRESSES) else { return };
    let source = u16::from(content.get(SOURCE_END).copied().unwrap_or(0));
    let vlan = if port == LAN_PORT { source % lans } else { lans };
    field::put(head, 0, addresses);
    field::put(head, ethernet::ADDRESSES, &ethernet::VLAN.to_be_bytes());
    field::put(head, ethernet::ADDRESSES + 2, &(LAN_VLAN + vlan).to_be_bytes());
    field::put(head, ethernet::ADDRESSES + TAG, rest);
}

/// The port in place of which a VLAN sends a frame that left; `None` if it left otherwise.
pub fn left_by(outcome: &Outcome, head: &[u8], lans: u16) -> Option<u16> {
    let tagged = field::read16(head, ethernet::ADDRESSES) == Some(ethernet::VLAN);
    match outcome {
        Outcome::Tx { port: LAN_PORT, .. } if tagged => {
            let vlan = field::read16(head, ethernet::ADDRESSES + 2)?.checked_sub(LAN_VLAN)?;
            Some(if vlan == lans { WAN_PORT } else { LAN_PORT })
        }
        _ => None,
    }
}
