//! The header parsers of `tollway-wire`, and the virtio-net header.

use tollway_io::vnet;
use tollway_testkit::HeapFrame;
use tollway_wire::{arp, checksum, ethernet, extension, field, icmp, icmpv6, ipv4, ipv6, ndp, tcp, udp};

/// Reads the bytes as each header that there is; what was read can be written and read again.
pub fn run(data: &[u8]) {
    if let Ok(frame) = ethernet::Frame::new_checked(data) {
        let repr = ethernet::Repr::parse(&frame);
        let mut again = vec![0; ethernet::HEADER];
        repr.emit(&mut again);
        assert_eq!(data.get(..ethernet::HEADER), Some(&again[..]));
        network(frame.payload());
    }
    network(data);
    if let Some(header) = data.first_chunk::<{ vnet::VNET_HEADER }>()
        && let Some(state) = vnet::decode(header)
    {
        let frame = HeapFrame::new(data.get(vnet::VNET_HEADER..).unwrap_or_default().to_vec());
        let encoded = vnet::encode(&state, &frame);
        let again = vnet::decode(&encoded).map(|state| vnet::encode(&state, &frame));
        assert_eq!(again, Some(encoded));
    }
}

fn network(data: &[u8]) {
    let _ = checksum::checksum(data);
    if let Ok(packet) = arp::Packet::new_checked(data) {
        let repr = arp::Repr::parse(&packet);
        let mut again = vec![0; data.len()];
        repr.emit(&mut again);
        let reread = arp::Packet::new_checked(&again[..]).map(|packet| arp::Repr::parse(&packet));
        assert_eq!(reread.ok(), Some(repr));
    }
    if let Ok(packet) = ipv4::Packet::new_checked(data) {
        assert!(packet.header_len() <= usize::from(packet.total_len()));
        let _ = (packet.verify_checksum(), packet.is_fragment(), packet.header());
        transport(packet.protocol(), packet.payload());
    }
    if let Ok(packet) = ipv6::Packet::new_checked(data) {
        transport(packet.next_header(), packet.payload());
        if let Ok(walk) = extension::walk(data, data.len()) {
            assert!(walk.named_at < walk.start && walk.start <= data.len());
            assert_eq!(field::get8(data, walk.named_at), walk.protocol);
            transport(walk.protocol, data.get(walk.start..).unwrap_or_default());
        }
    }
    for protocol in [ipv4::TCP, ipv4::UDP, ipv4::ICMP, ipv6::ICMPV6] {
        transport(protocol, data);
    }
}

fn transport(protocol: u8, data: &[u8]) {
    match protocol {
        ipv4::TCP => {
            if let Ok(segment) = tcp::Segment::new_checked(data) {
                assert!(segment.header_len() <= data.len());
                let _ = (segment.options(), segment.flags(), segment.window());
            }
        }
        ipv4::UDP => {
            let _ = udp::Datagram::new_checked(data);
        }
        ipv4::ICMP => {
            if let Ok(message) = icmp::Packet::new_checked(data) {
                let _ = (message.verify_checksum(), message.payload());
            }
        }
        ipv6::ICMPV6 => {
            if let Ok(message) = icmpv6::Packet::new_checked(data) {
                let _ = (message.verify_checksum_between(1, 2), message.payload());
            }
            if let Ok(message) = ndp::parse(data) {
                discovery(message);
            }
        }
        _ => {}
    }
}

/// Every option of a message of neighbour discovery is within the message, and has a length.
fn discovery(message: ndp::Message<'_>) {
    let (ndp::Message::RouterSolicitation { options }
    | ndp::Message::RouterAdvertisement { options, .. }
    | ndp::Message::NeighborSolicitation { options, .. }
    | ndp::Message::NeighborAdvertisement { options, .. }
    | ndp::Message::Redirect { options, .. }) = message;
    assert!(options.into_iter().all(|option| !option.is_empty() && option.len() % 8 == 0));
    let _ = [ndp::option::SOURCE_LINK, ndp::option::TARGET_LINK].map(|kind| options.link(kind));
}
