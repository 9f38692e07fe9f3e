//! TCP and UDP checksums that a local stack left to offload hardware that does not exist.
//!
//! A frame that never was on a wire (veth, TAP) may carry only the sum of the pseudo-header. AF_XDP does not report
//! this, so a checksum field that equals the pseudo-header's sum is taken for partial. A complete checksum has this
//! value by chance in one of 65,536 frames; computing it again does no harm.

use tollway_engine::packet::frame::{Frame, VnetState};
use tollway_wire::transport::TransportHeader;
use tollway_wire::{checksum, field};

/// The state of a received frame: with a partial checksum if the field holds one.
#[inline]
pub fn state_of(head: &[u8]) -> VnetState {
    partial(head).unwrap_or_default()
}

fn partial(head: &[u8]) -> Option<VnetState> {
    let transport = TransportHeader::locate(head)?;
    let csum_offset = transport.checksum_offset()?;
    let field = field::read16(head, transport.start + csum_offset)?;
    let length = transport.claimed_len(head)?;
    (field == transport.pseudo(length.into())).then_some(VnetState {
        needs_csum: true,
        csum_start: transport.start as u16,
        csum_offset: csum_offset as u16,
        ..VnetState::default()
    })
}

/// Completes a partial checksum. `false` when its field is outside the frame.
#[inline]
pub fn finish<F: Frame>(frame: &mut F, vnet: &VnetState) -> bool {
    if !vnet.needs_csum {
        return true;
    }
    checksum::complete(frame.head_mut(), vnet.csum_start, vnet.csum_offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{PartitionSize, PoolFrame, partitions};
    use tollway_engine::packet::frame::FrameSource;
    use tollway_wire::ipv4;

    /// A datagram behind `tags` VLAN tags, with the sum of its pseudo-header in the field.
    fn datagram(tags: usize, payload: usize) -> (PoolFrame, usize) {
        let mut pool = partitions(&[PartitionSize { heads: 1, tails: 0 }]).unwrap().remove(0);
        let network = 14 + 4 * tags;
        let mut frame = pool.take(network + 28 + payload).unwrap();
        let head = frame.head_mut();
        for (index, byte) in head.iter_mut().enumerate() {
            *byte = index as u8;
        }
        for tag in 0..tags {
            head[12 + 4 * tag..14 + 4 * tag].copy_from_slice(&[0x81, 0]);
        }
        head[network - 2..network].copy_from_slice(&[8, 0]);
        let total = 28 + payload as u16;
        head[network..network + 20].copy_from_slice(&[
            0x45,
            0,
            0,
            0,
            0,
            0,
            0x40,
            0,
            64,
            ipv4::UDP,
            0,
            0,
            10,
            0,
            0,
            1,
            10,
            0,
            0,
            2,
        ]);
        head[network + 2..network + 4].copy_from_slice(&total.to_be_bytes());
        head[network + 24..network + 26].copy_from_slice(&(total - 20).to_be_bytes());
        let pseudo = checksum::pseudo_v4(0x0a00_0001, 0x0a00_0002, ipv4::UDP, total - 20);
        head[network + 26..network + 28].copy_from_slice(&pseudo.to_be_bytes());
        (frame, network)
    }

    #[test]
    fn a_partial_checksum_is_recognised_and_finished() {
        for (tags, payload) in [(0, 0), (0, 33), (1, 400), (2, 1472)] {
            let (mut frame, network) = datagram(tags, payload);
            let state = state_of(frame.head());
            assert!(state.needs_csum);
            assert_eq!((usize::from(state.csum_start), state.csum_offset), (network + 20, 6));
            assert!(finish(&mut frame, &state));
            let segment = &frame.head()[network + 20..];
            let pseudo = checksum::pseudo_v4(0x0a00_0001, 0x0a00_0002, ipv4::UDP, segment.len() as u16);
            assert_eq!(checksum::add(pseudo, checksum::sum(segment)), 0xffff);
            assert!(!state_of(frame.head()).needs_csum);
        }
    }

    #[test]
    fn fragments_and_short_frames_are_left_alone() {
        let (mut frame, network) = datagram(0, 100);
        frame.head_mut()[network + 6] = 0x20;
        assert_eq!(state_of(frame.head()), VnetState::default());
        let (frame, _) = datagram(0, 100);
        for length in 0..42 {
            assert_eq!(state_of(&frame.head()[..length]), VnetState::default());
        }
    }

    #[test]
    fn a_checksum_outside_the_frame_is_refused() {
        let (mut frame, _) = datagram(0, 0);
        let state = VnetState { needs_csum: true, csum_start: 41, csum_offset: 6, ..VnetState::default() };
        assert!(!finish(&mut frame, &state));
    }
}
