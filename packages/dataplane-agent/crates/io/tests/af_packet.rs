//! Packet sockets on a TAP in a network namespace of its own: what the test writes to the TAP, the port receives.
//! Needs root, as all that opens ports does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where and stop")]

use std::os::fd::RawFd;
use std::time::Duration;

use tollway_engine::packet::frame::Frame;
use tollway_io::af_packet::{self, AfPacketPort, Receive};
use tollway_io::command::ip;
use tollway_io::link::LinkMonitor;
use tollway_io::mmsg::MmsgBuffers;
use tollway_io::netns::Namespace;
use tollway_io::packet_socket::RingWatch;
use tollway_io::pool::{PartitionSize, partitions};
use tollway_io::tap::{self, Tap};
use tollway_io::vnet::VNET_HEADER;
use tollway_io::{PortIo, wake};

/// `VIRTIO_NET_HDR_F_NEEDS_CSUM` (linux/virtio_net.h).
const F_NEEDS_CSUM: u8 = 1;
/// `VIRTIO_NET_HDR_GSO_UDP`: a datagram that is to be fragmented.
const GSO_UDP: u8 = 3;

struct Namespaced(Namespace);

impl Drop for Namespaced {
    fn drop(&mut self) {
        let _ = ip(&format!("netns del {}", self.0.name()));
    }
}

/// A namespace with a TAP, which is up.
fn namespace_with_tap(test: &str) -> (Namespaced, Tap, u32) {
    let namespace = Namespace::open_or_create(&format!("twpkt-{test}-{}", std::process::id())).unwrap();
    namespace.set("net/ipv6/conf/all/disable_ipv6", "1").unwrap();
    let namespace = Namespaced(namespace);
    let tap = namespace.0.within(|| tap::open("tap0", 1)).unwrap().unwrap().remove(0);
    namespace.0.ip("link set tap0 up").unwrap();
    let links = namespace.0.within(|| LinkMonitor::new().unwrap().links().unwrap()).unwrap();
    let index = links.iter().find(|link| link.name == "tap0").unwrap().index;
    (namespace, tap, index)
}

fn write(tap: RawFd, vnet: [u8; VNET_HEADER], frame: &[u8]) {
    let bytes = [&vnet[..], frame].concat();
    // SAFETY: the buffer is valid for its length.
    let written = unsafe { libc::write(tap, bytes.as_ptr().cast(), bytes.len()) };
    assert_eq!(usize::try_from(written).ok(), Some(bytes.len()), "{}", std::io::Error::last_os_error());
}

/// A UDP datagram of 3,000 bytes with its Ethernet header.
fn long_datagram() -> Vec<u8> {
    let mut frame = vec![0; 14 + 3000];
    frame[..6].fill(0xff);
    frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    frame[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0x0b, 0xb8, 0, 1, 0, 0, 64, 17]);
    frame[26..34].copy_from_slice(&[192, 0, 2, 1, 192, 0, 2, 2]);
    frame
}

#[test]
fn a_frame_that_no_virtio_header_describes_stops_a_ring_which_is_noticed_and_no_queue() {
    let (namespace, tap, index) = namespace_with_tap("gso");
    let mut pool = partitions(&[PartitionSize { heads: 2000, tails: 64 }]).unwrap().remove(0);
    let mut buffers = MmsgBuffers::new();
    let open = |receive| {
        let opened = namespace.0.within(|| af_packet::open(index, 1, receive)).unwrap();
        opened.unwrap().ports.remove(0)
    };
    // Lengths of `count` frames, or of those that came within half a second.
    let mut receive = |port: &mut AfPacketPort, count: usize| {
        let mut lengths = Vec::new();
        while lengths.len() < count
            && wake::poll(&mut [wake::readable(port.fd())], Some(Duration::from_millis(500))) > 0
        {
            port.receive(64, &mut buffers, &mut pool, |frame, _| lengths.push(frame.len())).unwrap();
        }
        lengths
    };
    let plain = [0; VNET_HEADER];
    let fragments = {
        // The headers end at 42, a fragment holds 1,480 bytes, the checksum is at 34 + 6.
        let ([h0, h1], [s0, s1]) = (42_u16.to_le_bytes(), 1480_u16.to_le_bytes());
        [F_NEEDS_CSUM, GSO_UDP, h0, h1, s0, s1, 34, 0, 6, 0]
    };

    let mut port = open(Receive::Ring);
    let mut watch = port.watch().unwrap();
    write(tap.fd(), plain, &[1; 60]);
    assert_eq!(receive(&mut port, 1), [60]);
    assert!(!watch.has_stopped());
    write(tap.fd(), fragments, &long_datagram());
    assert!(!watch.has_stopped());
    for _ in 0..10 {
        write(tap.fd(), plain, &[1; 60]);
    }
    // Should a kernel not stop here, there is nothing to notice.
    let received = receive(&mut port, 10);
    assert_eq!(watch.has_stopped(), received.is_empty());
    assert!(port.take_kernel_drops() > 0 && port.take_kernel_drops() == 0);
    drop(port);
    assert!(!watch.has_stopped());

    let mut port = open(Receive::Queue);
    assert!(port.watch().is_none());
    write(tap.fd(), fragments, &long_datagram());
    for _ in 0..10 {
        write(tap.fd(), plain, &[1; 60]);
    }
    assert_eq!(receive(&mut port, 10), [60; 10]);
}

#[test]
fn a_ring_that_is_full_has_not_stopped() {
    let (namespace, tap, index) = namespace_with_tap("full");
    let mut pool = partitions(&[PartitionSize { heads: 2000, tails: 64 }]).unwrap().remove(0);
    let opened = namespace.0.within(|| af_packet::open(index, 16, Receive::Ring)).unwrap();
    let mut ports = opened.unwrap().ports;
    let mut watches: Vec<_> = ports.iter().map(|port| port.watch().unwrap()).collect();
    for _ in 0..20 {
        for _ in 0..500 {
            write(tap.fd(), [0; VNET_HEADER], &[1; 60]);
        }
        assert!(!watches.iter_mut().any(RingWatch::has_stopped));
    }
    assert!(ports.iter_mut().map(AfPacketPort::take_kernel_drops).sum::<u64>() > 0);
    let mut buffers = MmsgBuffers::new();
    for port in &mut ports {
        while port.receive(64, &mut buffers, &mut pool, |_, _| ()).unwrap().taken > 0 {}
    }
    assert!(!watches.iter_mut().any(RingWatch::has_stopped));
}
