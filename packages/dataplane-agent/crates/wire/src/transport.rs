//! Where the transport header of a frame is, and the pseudo-header that its checksum covers.
//!
//! Used where frames are handled without being interpreted: lengths and versions are not checked, and IPv6 extension
//! headers are not walked.

use crate::{checksum, ethernet, field, ipv4, ipv6, tcp, udp};

/// The transport header of an Ethernet frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportHeader {
    /// Start of the network header, bytes from the start of the frame.
    pub network: usize,
    /// EtherType behind VLAN tags: [`ethernet::IPV4`] or [`ethernet::IPV6`].
    pub ethertype: u16,
    /// Start of the transport header, bytes from the start of the frame.
    pub start: usize,
    /// Protocol number.
    pub protocol: u8,
    /// Folded one's complement sum of both addresses, not complemented.
    pub addresses: u16,
}

impl TransportHeader {
    /// Finds the header behind up to two VLAN tags. `None` for a frame that is not IP, or that ends before the header.
    pub fn locate(frame: &[u8]) -> Option<Self> {
        let (network, ethertype) = ethernet::network_header(frame)?;
        let packet = frame.get(network..)?;
        let (header, protocol, addresses) = match ethertype {
            ethernet::IPV4 => (
                usize::from(field::read8(packet, 0)? & 0xf) * 4,
                field::read8(packet, ipv4::offset::PROTOCOL)?,
                packet.get(ipv4::offset::SRC..ipv4::HEADER)?,
            ),
            ethernet::IPV6 => (
                ipv6::HEADER,
                field::read8(packet, ipv6::offset::NEXT_HEADER)?,
                packet.get(ipv6::offset::SRC..ipv6::HEADER)?,
            ),
            _ => return None,
        };
        let addresses = checksum::sum(addresses);
        Some(Self { network, ethertype, start: network + header, protocol, addresses })
    }

    /// Length of transport header and payload, bytes, as the network header claims. `None` for a fragment, since the
    /// checksum covers all fragments, and for a length below that of the network header.
    pub fn claimed_len(&self, frame: &[u8]) -> Option<u16> {
        let packet = frame.get(self.network..)?;
        if self.ethertype == ethernet::IPV6 {
            return field::read16(packet, ipv6::offset::PAYLOAD_LEN);
        }
        if field::read16(packet, ipv4::offset::FRAGMENT)? & ipv4::FRAGMENTED != 0 {
            return None;
        }
        let header = (self.start - self.network) as u16;
        field::read16(packet, ipv4::offset::TOTAL_LEN)?.checked_sub(header)
    }

    /// Sum over the pseudo-header, not complemented: what a partial checksum field holds. `len` is that of
    /// transport header and payload, bytes.
    pub fn pseudo(&self, len: u32) -> u16 {
        checksum::pseudo(self.addresses, self.protocol, len)
    }

    /// Offset of the checksum, bytes from [`Self::start`]; `None` for protocols other than TCP and UDP.
    pub const fn checksum_offset(&self) -> Option<usize> {
        match self.protocol {
            ipv4::TCP => Some(tcp::CHECKSUM),
            ipv4::UDP => Some(udp::CHECKSUM),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn datagram(tags: usize) -> Vec<u8> {
        let mut frame = vec![0; ethernet::ADDRESSES];
        for tag in 0..tags {
            frame.extend([if tag == 0 { 0x88a8 } else { ethernet::VLAN }.to_be_bytes(), [0, 5]].concat());
        }
        frame.extend(ethernet::IPV4.to_be_bytes());
        let repr = ipv4::Repr {
            tos: 0,
            ident: 0,
            dont_fragment: true,
            ttl: 64,
            protocol: ipv4::UDP,
            src_addr: 0x0a00_0001,
            dst_addr: 0x0a00_0002,
            payload_len: 12,
        };
        let network = frame.len();
        frame.resize(network + 32, 0);
        repr.emit(&mut frame[network..]);
        frame
    }

    #[test]
    fn the_header_is_found_behind_tags() {
        for tags in 0..=2 {
            let mut frame = datagram(tags);
            let found = TransportHeader::locate(&frame).unwrap();
            let network = ethernet::HEADER + tags * ethernet::TAG;
            assert_eq!((found.network, found.start, found.protocol), (network, network + 20, ipv4::UDP));
            assert_eq!(found.claimed_len(&frame), Some(12));
            assert_eq!(found.pseudo(12), checksum::pseudo_v4(0x0a00_0001, 0x0a00_0002, ipv4::UDP, 12));
            frame[network + 6] = 0x20;
            assert_eq!(found.claimed_len(&frame), None);
        }
    }

    #[test]
    fn ipv6_addresses_are_summed() {
        let mut frame = vec![0; ethernet::ADDRESSES];
        frame.extend(ethernet::IPV6.to_be_bytes());
        frame.resize(ethernet::HEADER + ipv6::HEADER + 20, 0);
        let repr = ipv6::Repr {
            traffic_class: 0,
            next_header: ipv4::TCP,
            hop_limit: 1,
            src_addr: 0xffff << 112,
            dst_addr: 2,
            payload_len: 20,
        };
        repr.emit(&mut frame[ethernet::HEADER..]);
        let found = TransportHeader::locate(&frame).unwrap();
        assert_eq!((found.start, found.claimed_len(&frame)), (54, Some(20)));
        assert_eq!(found.pseudo(0x1_0000), 2 + 6 + 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn any_bytes_are_read_without_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..80), v6: bool) {
            if let Some(field) = bytes.get_mut(12..14) {
                field.copy_from_slice(&if v6 { ethernet::IPV6 } else { ethernet::IPV4 }.to_be_bytes());
            }
            if let Some(found) = TransportHeader::locate(&bytes) {
                let _ = (found.claimed_len(&bytes), found.pseudo(u32::MAX), found.checksum_offset());
            }
        }
    }
}
