//! Generic segmentation offload (GSO): super-frames as the engine expects them, with the true length of their headers
//! and a partial checksum.
//!
//! A local stack hands over segments with partial checksums. GRO, of the NIC or of the kernel, merges segments that
//! came with complete ones, and `hdr_len` of the virtio-net header is the length of the linear part of the kernel's
//! buffer, which need not be that of the headers. Both are corrected where frames enter.

use tollway_engine::packet::frame::{Frame, Gso, VnetState};
use tollway_wire::transport::TransportHeader;
use tollway_wire::{field, ipv4, tcp, udp};

/// Corrects the offload state of a received super-frame. Returns `false` if its headers do not fit the kind of
/// segmentation, so that it cannot be forwarded.
#[inline]
pub fn normalise<F: Frame>(frame: &mut F, state: &mut VnetState) -> bool {
    if state.gso == Gso::None {
        return true;
    }
    normalise_segmented(frame, state).is_some()
}

fn normalise_segmented<F: Frame>(frame: &mut F, state: &mut VnetState) -> Option<()> {
    let length = frame.len();
    let transport = TransportHeader::locate(frame.head())?;
    let start = transport.start;
    let header = match (state.gso, transport.protocol) {
        (Gso::Tcp4 | Gso::Tcp6, ipv4::TCP) => {
            usize::from(field::read8(frame.head(), start + tcp::offset::DATA_OFFSET)? >> 4) * 4
        }
        (Gso::Udp, ipv4::UDP) => udp::HEADER,
        _ => return None,
    };
    if start + header > length {
        return None;
    }
    state.hdr_len = u16::try_from(start + header).ok()?;
    if !state.needs_csum {
        let sum = transport.pseudo(u32::try_from(length - start).ok()?);
        let offset = transport.checksum_offset()?;
        state.csum_start = u16::try_from(start).ok()?;
        state.csum_offset = offset as u16;
        *frame.head_mut().get_mut(start + offset..)?.first_chunk_mut()? = sum.to_be_bytes();
        state.needs_csum = true;
        state.data_valid = false;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{PartitionSize, PoolFrame, partitions};
    use tollway_engine::packet::frame::FrameSource;

    fn tcp_frame(tagged: bool) -> PoolFrame {
        let mut partition = partitions(&[PartitionSize { heads: 1, tails: 0 }]).unwrap().remove(0);
        let mut frame = partition.take(1054).unwrap();
        let head = frame.head_mut();
        head.fill(0);
        let network = if tagged { 18 } else { 14 };
        if tagged {
            head[12..16].copy_from_slice(&[0x81, 0, 0, 5]);
        }
        head[network - 2..network].copy_from_slice(&[8, 0]);
        head[network] = 0x45;
        head[network + 9] = ipv4::TCP;
        head[network + 12..network + 20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        head[network + 32] = 0x80;
        frame
    }

    #[test]
    fn merged_segments_get_a_partial_checksum() {
        for tagged in [false, true] {
            let mut frame = tcp_frame(tagged);
            let network = if tagged { 18 } else { 14 };
            let mut state = VnetState {
                gso: Gso::Tcp4,
                gso_size: 500,
                hdr_len: 300,
                data_valid: true,
                ..VnetState::default()
            };
            assert!(normalise(&mut frame, &mut state));
            assert_eq!(
                (state.hdr_len, state.csum_start, state.csum_offset),
                (network + 52, network + 20, 16)
            );
            assert!(state.needs_csum);
            let segment = 1054 - (network + 20);
            let at = usize::from(network + 36);
            // 0x0a00 + 0x0001 + 0x0a00 + 0x0002, the protocol, the length.
            let sum = 0x1403 + 6 + segment;
            assert_eq!(field::get16(frame.head(), at), sum);
        }
    }

    #[test]
    fn a_partial_checksum_is_left_alone() {
        let mut frame = tcp_frame(false);
        let mut state = VnetState {
            gso: Gso::Tcp4,
            gso_size: 500,
            hdr_len: 300,
            needs_csum: true,
            csum_start: 34,
            csum_offset: 16,
            ..VnetState::default()
        };
        assert!(normalise(&mut frame, &mut state));
        assert_eq!((state.hdr_len, field::read16(frame.head(), 50)), (66, Some(0)));
    }

    #[test]
    fn headers_that_do_not_fit_are_refused() {
        let mut state = VnetState { gso: Gso::Udp, gso_size: 500, ..VnetState::default() };
        assert!(!normalise(&mut tcp_frame(false), &mut state));
        let mut frame = tcp_frame(false);
        frame.head_mut()[46] = 0xf0;
        frame.resize(80);
        let mut state = VnetState { gso: Gso::Tcp4, gso_size: 500, ..VnetState::default() };
        assert!(!normalise(&mut frame, &mut state));
    }
}
