//! The virtio-net header that AF_PACKET and TAP put before a frame (Virtio 1.2 §5.1.6, little-endian
//! here because Linux uses the host's order for both and every supported host is little-endian).

use tollway_engine::packet::frame::{Frame, Gso, VnetState};
use tollway_wire::tcp;

/// Length of the header without the mergeable-buffers field, bytes.
pub const VNET_HEADER: usize = 10;

const F_NEEDS_CSUM: u8 = 1;
const F_DATA_VALID: u8 = 2;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_UDP_L4: u8 = 5;
const GSO_ECN: u8 = 0x80;

/// Reads a header. `None` for a kind of segmentation that cannot be carried (UDP fragmentation offload).
#[inline]
pub fn decode(header: &[u8; VNET_HEADER]) -> Option<VnetState> {
    let [flags, gso, h0, h1, s0, s1, c0, c1, o0, o1] = *header;
    let gso = match gso & !GSO_ECN {
        0 => Gso::None,
        GSO_TCPV4 => Gso::Tcp4,
        GSO_TCPV6 => Gso::Tcp6,
        GSO_UDP_L4 => Gso::Udp,
        _ => return None,
    };
    Some(VnetState {
        needs_csum: flags & F_NEEDS_CSUM != 0,
        data_valid: flags & F_DATA_VALID != 0,
        gso,
        gso_size: u16::from_le_bytes([s0, s1]),
        hdr_len: u16::from_le_bytes([h0, h1]),
        csum_start: u16::from_le_bytes([c0, c1]),
        csum_offset: u16::from_le_bytes([o0, o1]),
    })
}

/// Writes the header for a frame. The ECN bit of TCP segmentation follows from the frame's CWR flag.
#[inline]
pub fn encode<F: Frame>(state: &VnetState, frame: &F) -> [u8; VNET_HEADER] {
    let mut header = [0; VNET_HEADER];
    if state.needs_csum {
        header[0] = F_NEEDS_CSUM;
        header[6..8].copy_from_slice(&state.csum_start.to_le_bytes());
        header[8..10].copy_from_slice(&state.csum_offset.to_le_bytes());
    }
    if state.gso == Gso::None || state.gso_size == 0 {
        return header;
    }
    let cwr = frame
        .head()
        .get(usize::from(state.csum_start) + tcp::offset::FLAGS)
        .is_some_and(|flags| state.needs_csum && flags & tcp::flag::CWR != 0);
    header[1] = match state.gso {
        Gso::None => 0,
        Gso::Tcp4 => GSO_TCPV4,
        Gso::Tcp6 => GSO_TCPV6,
        Gso::Udp => GSO_UDP_L4,
    };
    if cwr && state.gso != Gso::Udp {
        header[1] |= GSO_ECN;
    }
    header[2..4].copy_from_slice(&state.hdr_len.to_le_bytes());
    header[4..6].copy_from_slice(&state.gso_size.to_le_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{PartitionSize, partitions};
    use tollway_engine::packet::frame::FrameSource;

    #[test]
    fn a_header_survives_the_round_trip() {
        let mut partition = partitions(&[PartitionSize { heads: 1, tails: 0 }]).unwrap().remove(0);
        let mut frame = partition.take(100).unwrap();
        frame.head_mut().fill(0);
        frame.head_mut()[34 + tcp::offset::FLAGS] = tcp::flag::CWR;
        let header = [F_NEEDS_CSUM, GSO_TCPV4 | GSO_ECN, 66, 0, 0xa8, 5, 34, 0, 16, 0];
        let state = decode(&header).unwrap();
        assert_eq!((state.gso, state.gso_size, state.hdr_len), (Gso::Tcp4, 1448, 66));
        assert_eq!(encode(&state, &frame), header);
        frame.head_mut()[34 + tcp::offset::FLAGS] = 0x10;
        assert_eq!(encode(&state, &frame)[1], GSO_TCPV4);
    }

    #[test]
    fn udp_fragmentation_offload_is_refused() {
        assert!(decode(&[0, 3, 0, 0, 0, 0, 0, 0, 0, 0]).is_none());
    }
}
