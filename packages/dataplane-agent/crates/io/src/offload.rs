//! Super-frames as the engine expects them: with the true length of their headers and a partial checksum.
//!
//! A local stack hands over segments with partial checksums. A NIC's or the kernel's receive offload
//! (GRO) merges segments that came with whole ones, and the kernel says how long the linear part of its
//! buffer is, which need not be the headers. Both are put right here, once, at the edge.

use tollway_engine::packet::frame::{Frame, Gso, VnetState};
use tollway_wire::ethernet;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Where the checksum lies in the transport header.
const fn checksum_offset(gso: Gso) -> u16 {
    match gso {
        Gso::Udp => 6,
        _ => 16,
    }
}

pub(crate) fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Start of the network header and the protocol that it carries, behind up to two VLAN tags.
pub(crate) fn network_header(head: &[u8]) -> Option<(usize, u16)> {
    let mut at = 12;
    for _ in 0..2 {
        match half(head, at)? {
            kind if ethernet::is_tag(kind) => at += ethernet::TAG,
            _ => break,
        }
    }
    Some((at + 2, half(head, at)?))
}

/// Start of the transport header, its protocol, and the sum of both addresses in 16-bit words.
pub(crate) fn transport_header(head: &[u8]) -> Option<(usize, u8, u32)> {
    let (network, kind) = network_header(head)?;
    let (addresses, transport, protocol) = match kind {
        0x0800 => {
            let length = usize::from(head.get(network)? & 0x0f) * 4;
            (network + 12..network + 20, network + length, *head.get(network + 9)?)
        }
        0x86dd => (network + 8..network + 40, network + 40, *head.get(network + 6)?),
        _ => return None,
    };
    let words = head.get(addresses)?.chunks_exact(2);
    let sum = words.map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    Some((transport, protocol, sum))
}

/// Brings the state of a received super-frame in order. `false` when its headers do not fit the kind of
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
    let (transport, protocol, addresses) = transport_header(frame.head())?;
    let headers = match (state.gso, protocol) {
        (Gso::Tcp4 | Gso::Tcp6, TCP) => transport + usize::from(frame.head().get(transport + 12)? >> 4) * 4,
        (Gso::Udp, UDP) => transport + 8,
        _ => return None,
    };
    if headers > length {
        return None;
    }
    state.hdr_len = u16::try_from(headers).ok()?;
    if !state.needs_csum {
        let segment = u32::try_from(length - transport).ok()?;
        let mut sum = addresses + u32::from(protocol) + (segment & 0xffff) + (segment >> 16);
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        state.csum_start = u16::try_from(transport).ok()?;
        state.csum_offset = checksum_offset(state.gso);
        let at = transport + usize::from(state.csum_offset);
        *frame.head_mut().get_mut(at..)?.first_chunk_mut()? = (sum as u16).to_be_bytes();
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
        head[network + 9] = TCP;
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
            assert_eq!(half(frame.head(), at).unwrap(), sum);
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
        assert_eq!((state.hdr_len, half(frame.head(), 50)), (66, Some(0)));
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
