//! Super-frames that must wait are segmented: the pieces carry the same bytes, and every header is right.

use proptest::prelude::*;
use tollway_config::dataplane::QueueType;
use tollway_engine::packet::frame::{Gso, VnetState};
use tollway_testkit::packet::{Packet, PacketBuilder, tcp_flag};
use tollway_testkit::router::{Output, port_mac};
use tollway_testkit::{Router, RouterConfig, pfifo, queue, rule};
use tollway_wire::{checksum, field, ipv4};

const HOST: &str = "192.168.88.10";
const SERVER: &str = "203.0.113.5";
const L3: usize = 14;
const L4: usize = L3 + ipv4::HEADER;

fn router(rate: u64, packet_limit: u32, masquerade: bool) -> Router {
    let mut config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .route("0.0.0.0/0", "10.2.0.254")
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:fe", false)
        .queue(&[HOST], rate, 0)
        .with(|config| config.simple_queues[0].upload.queue_type = pfifo(packet_limit));
    if masquerade {
        config = config.nat("srcnat", rule().out_interface(2).masquerade());
    }
    Router::new(config)
}

/// 28 segments of TCP.
fn super_frame() -> (Vec<u8>, VnetState) {
    PacketBuilder::ipv4(HOST, SERVER)
        .eth_dst(port_mac(0))
        .tcp(4000, 80, tcp_flag::ACK, 1, 1)
        .payload_len(40_000)
        .build_gso(1448)
}

/// Completes a checksum that was left to whoever puts the frame on a wire.
fn finished(output: &Output) -> Packet {
    let mut bytes = output.bytes.clone();
    if output.vnet.needs_csum {
        let (start, at) = (usize::from(output.vnet.csum_start), usize::from(output.vnet.csum_offset));
        let sum = checksum::no_zero(!checksum::sum(&bytes[start..]));
        field::put(&mut bytes, start + at, &sum.to_be_bytes());
    }
    Packet::read(&bytes).expect("an IPv4 packet")
}

fn complete(frame: &mut [u8], vnet: &mut VnetState) {
    let (start, at) = (usize::from(vnet.csum_start), usize::from(vnet.csum_offset));
    let sum = checksum::no_zero(!checksum::sum(&frame[start..]));
    field::put(frame, start + at, &sum.to_be_bytes());
    vnet.needs_csum = false;
    vnet.data_valid = true;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: tollway_testkit::cases(96), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_pieces_carry_the_same_bytes(
        tcp in any::<bool>(),
        len in 1usize..30_000,
        // With the longest headers here that is an MTU of 1500.
        size in 100u16..=1448,
        flags in any::<u8>(),
        (seq, ident) in any::<(u32, u16)>(),
        partial in any::<bool>(),
        masquerade in any::<bool>(),
        options in 0usize..4,
        rate in prop_oneof![Just(1_000_000u64), Just(20_000_000), 1_000_000u64..50_000_000],
    ) {
        let payload: Vec<u8> = (0..len).map(|at| (at * 31 + at / 251) as u8).collect();
        let flags = tcp_flag::ACK | flags & (tcp_flag::PSH | tcp_flag::CWR | tcp_flag::FIN);
        let builder = PacketBuilder::ipv4(HOST, SERVER).ident(ident).eth_dst(port_mac(0)).payload(&payload);
        let builder = match tcp {
            true => builder.tcp(4000, 80, flags, seq, 7).tcp_options(&vec![1; options * 4]),
            false => builder.udp(4000, 53),
        };
        let (mut frame, mut vnet) = builder.build_gso(size);
        if !partial {
            complete(&mut frame, &mut vnet);
        }
        let mut router = router(rate, 1000, masquerade);
        let mut out = router.inject(0, frame, vnet);
        out.extend(router.advance_ms(2_000));
        let headers = L4 + if tcp { 20 + options * 4 } else { 8 };
        let together = (rate / 8000) as usize / (headers - L3 + usize::from(size));
        let mut offset = 0;
        for piece in &out {
            let packet = finished(piece);
            let len = packet.payload.len();
            prop_assert!(packet.checksums_right, "checksums at {}", offset);
            prop_assert_eq!(&packet.payload[..], &payload[offset..offset + len]);
            prop_assert_eq!(piece.bytes.len(), headers + len);
            let ip = &piece.bytes[L3..];
            prop_assert_eq!(field::get16(ip, 4), ident.wrapping_add((offset / usize::from(size)) as u16));
            prop_assert_eq!(piece.segments as usize, len.div_ceil(usize::from(size)));
            prop_assert_eq!(piece.vnet.needs_csum, partial);
            prop_assert_eq!(piece.vnet.gso == Gso::None, piece.segments == 1 && out.len() > 1);
            let (first, last) = (offset == 0, offset + len == payload.len());
            if payload.len() > usize::from(size) {
                let whole = out.len() == 1;
                prop_assert!(whole || piece.segments as usize <= together.max(1));
                let all = payload.len().div_ceil(usize::from(size));
                let bits = (payload.len() + all * (headers - L3)) as u64 * 8;
                prop_assert!(!whole || bits * 1000 <= rate || all <= together.max(1));
            }
            if tcp {
                prop_assert_eq!(field::get32(ip, 24), seq.wrapping_add(offset as u32));
                let mut expected = flags;
                if !first {
                    expected &= !tcp_flag::CWR;
                }
                if !last {
                    expected &= !(tcp_flag::PSH | tcp_flag::FIN);
                }
                prop_assert_eq!(packet.tcp_flags, Some(expected));
            }
            offset += len;
        }
        prop_assert_eq!(offset, payload.len());
        let stats = router.stats();
        prop_assert_eq!(out.len() as u64, router.injected + stats.generated);
        let segments = payload.len().div_ceil(usize::from(size)) as u64;
        let up = router.queues()[0].directions[0];
        prop_assert_eq!((up.packets, up.queued_packets, up.dropped), (segments, 0, 0));
        prop_assert_eq!(up.bytes, (payload.len() as u64) + segments * (headers - L3) as u64);
    }
}

#[test]
fn a_fast_queue_lets_a_super_frame_pass_whole() {
    let (frame, vnet) = super_frame();
    let mut router = router(1_000_000_000, 10, false);
    let out = router.inject(0, frame.clone(), vnet);
    assert_eq!((out.len(), out[0].segments, out[0].vnet), (1, 28, vnet));
    assert_eq!(out[0].bytes.len(), frame.len());
}

#[test]
fn of_a_super_frame_that_finds_too_little_room_the_front_waits() {
    let (frame, vnet) = super_frame();
    let mut router = router(1_000_000_000, 10, false);
    // 0.1 s of the rate is used up.
    while router.inject(0, frame.clone(), vnet).len() == 1 {}
    let up = router.queues()[0].directions[0];
    assert_eq!((up.queued_packets, up.dropped), (10, 18));
    let out = router.advance_ms(10);
    assert_eq!(out.iter().map(|output| output.segments).sum::<u32>(), 10);
}

#[test]
fn a_super_frame_loses_nothing_while_there_are_tokens_on_its_way() {
    let (frame, vnet) = super_frame();
    for in_tree in [false, true] {
        let mut router = router(50_000_000, 10, false);
        if in_tree {
            router.reconfigure(|config| {
                let parent = queue(9000, &["192.168.88.0/24"], 100_000_000, 0);
                config.simple_queues[0].parent = Some(parent.row);
                config.simple_queues.push(parent);
            });
        }
        // A bucket holds 5 Mbit, and each super-frame has 0.33.
        for number in 0..12 {
            let out = router.inject(0, frame.clone(), vnet).into_iter().chain(router.advance(0));
            assert_eq!(out.map(|output| output.segments).sum::<u32>(), 28, "{number} in tree: {in_tree}");
        }
        for _ in 0..10 {
            router.inject(0, frame.clone(), vnet);
        }
        assert!((10..=11).contains(&router.queues()[0].directions[0].queued_packets));
    }
}

#[test]
fn a_super_frame_that_is_not_too_long_is_cut_only_for_lack_of_room() {
    let (frame, vnet) = super_frame();
    let mut router = router(1_000_000_000, 40, false);
    while router.inject(0, frame.clone(), vnet).len() == 1 {}
    let up = |router: &Router| {
        let up = router.queues()[0].directions[0];
        (up.queued_packets, up.dropped)
    };
    assert_eq!((up(&router), router.stats().held), ((28, 0), 1));
    assert_eq!(router.inject(0, frame, vnet).len(), 0);
    assert_eq!((up(&router), router.stats().held), ((40, 16), 13));
    let segments = router.advance_ms(10).iter().map(|output| output.segments).collect::<Vec<_>>();
    assert_eq!(segments, [vec![28], vec![1; 12]].concat());
}

#[test]
fn a_piece_that_is_dropped_by_lot_does_not_take_the_others_with_it() {
    const SEGMENTS: u64 = 27;
    let (frame, vnet) = PacketBuilder::ipv4(HOST, SERVER)
        .eth_dst(port_mac(0))
        .tcp(4000, 80, tcp_flag::ACK, 1, 1)
        .payload_len(SEGMENTS as usize * 1448)
        .build_gso(1448);
    let mut router = router(20_000_000, 0, false);
    let red =
        QueueType::Red { limit: 1000, min_threshold: 50, max_threshold: 150, burst: 60, avg_packet: 1500 };
    router.reconfigure(|config| {
        config.simple_queues[0].upload.queue_type = config.queue_types.len() as u32;
        config.queue_types.push(red.clone());
    });
    let mut offered = 0;
    while offered < 500 * SEGMENTS {
        while router.queues()[0].directions[0].queued_packets < 80 {
            router.inject(0, frame.clone(), vnet);
            offered += SEGMENTS;
        }
        router.advance_ms(1);
    }
    // With 80 to 107 waiting, 0.6 to 1.2 in a hundred are drawn, and at most twice that where they are spread evenly.
    let share = router.queues()[0].directions[0].dropped as f64 / offered as f64;
    assert!(share > 0.003 && share < 0.025, "{share}");
}

#[test]
fn pieces_without_a_frame_are_counted_as_dropped() {
    let (frame, vnet) = PacketBuilder::ipv4(HOST, SERVER)
        .eth_dst(port_mac(0))
        .tcp(4000, 80, tcp_flag::ACK, 1, 1)
        .payload_len(3000)
        .build_gso(1000);
    let mut router = router(1_000_000, 1000, false);
    router.source().empty = true;
    assert_eq!(router.inject(0, frame, vnet).len(), 0);
    let drops = router.stats().drop_stats();
    assert_eq!((drops[0].reason.as_str(), drops[0].packets), ("no-frame", 3));
    assert_eq!((router.queues()[0].directions[0].dropped, router.stats().queues.dropped_packets), (3, 3));
}
