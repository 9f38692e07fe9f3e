//! Frames of IPv6 with bytes changed at random: each leaves, is answered, is dropped for a reason, or waits.

use tollway_config::dataplane::TrackingMode;
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::tcp_flag;
use tollway_testkit::random::Random;
use tollway_testkit::router::port_mac;
use tollway_testkit::{Ipv6Builder, Router, RouterConfig, rule, seeds};
use tollway_wire::{icmpv6, ipv6, ndp};

const LAN: &str = "2001:db8:1::10";
const WAN: &str = "2001:db8:2::fe";

fn config(tracking: TrackingMode) -> RouterConfig {
    RouterConfig::new()
        .interface("2001:db8:1::1/64")
        .interface("2001:db8:2::1/64")
        .address(1, "192.168.88.1/24")
        .address(2, "10.2.0.1/24")
        .route("::/0", WAN)
        .nat("srcnat", rule().out_interface(2).masquerade())
        .filter("forward", rule().protocol(6).dst_port(25).drop())
        .queue(&["192.168.88.0/25"], 10_000_000, 10_000_000)
        .with(|config| config.tracking.enabled = tracking)
        .with(|config| config.interfaces[1].mtu = 1280)
}

fn neighbor(icmp_type: u8, target: &str) -> ndp::NeighborRepr {
    let target = tollway_testkit::ipv6_packet::ip6(target);
    ndp::NeighborRepr { icmp_type, flags: 0x60, target, link: Some([2, 9, 9, 9, 9, 9]) }
}

fn frames() -> Vec<Vec<u8>> {
    let to = |dst: &str| Ipv6Builder::new(LAN, dst).eth_dst(port_mac(0));
    let quoted = Ipv6Builder::new("2001:db8:9::1", LAN).udp(53, 1000).build_l3();
    let mut frames: Vec<Vec<u8>> = [
        to("2001:db8:9::1").udp(1000, 53).payload_len(40),
        to("2001:db8:9::1").tcp(1000, 80, tcp_flag::SYN, 1, 0),
        to("2001:db8:9::1").tcp(1000, 80, tcp_flag::ACK, 2, 1).payload_len(1300),
        to("2001:db8:1::1").echo_request(7, 1).payload_len(56),
        to("2001:db8:9::1").icmp(icmpv6::PACKET_TOO_BIG, 0, [0, 0, 5, 0]).payload(&quoted),
        to("2001:db8:9::1")
            .extension(ipv6::HOP_BY_HOP, &[0; 6])
            .extension(ipv6::DESTINATION_OPTIONS, &[0; 14])
            .udp(1, 2),
        to("ff02::1:ff00:1").neighbor(neighbor(icmpv6::NEIGHBOR_SOLICITATION, "2001:db8:1::1")),
        to("2001:db8:1::1").neighbor(neighbor(icmpv6::NEIGHBOR_ADVERTISEMENT, "2001:db8:1::7")),
    ]
    .iter()
    .map(Ipv6Builder::build)
    .collect();
    frames.extend(to("2001:db8:9::1").udp(5, 6).payload_len(900).build_fragments(304, 9));
    frames
}

#[test]
fn every_frame_is_accounted_for_whatever_its_bytes() {
    seeds(1).for_each(|seed| {
        for (tracking, workers) in [(TrackingMode::Yes, 2), (TrackingMode::No, 1), (TrackingMode::Auto, 3)] {
            accounted(seed, tracking, workers);
        }
    });
}

fn accounted(seed: u64, tracking: TrackingMode, workers: u32) {
    let mut random = Random::new(seed);
    let mut router = Router::with_workers(config(tracking), workers).hosts6(0, &[LAN]).hosts6(1, &[WAN]);
    router.advance_ms(1_100);
    let known = frames();
    for round in 0..6_000_u32 {
        let mut frame = known[random.bits() as usize % known.len()].clone();
        for _ in 0..random.bits() % 4 {
            // Most of the bytes from the IPv6 header to the first of the transport header.
            let reach = if random.one_in(4) { frame.len() } else { frame.len().min(110) };
            let at = 14 + random.bits() as usize % (reach - 14);
            frame[at] = match random.bits() % 3 {
                0 => random.bits() as u8,
                1 => frame[at] ^ 1 << (random.bits() % 8),
                _ => [0, 6, 17, 43, 44, 58, 59, 60, 255][random.bits() as usize % 9],
            };
        }
        if random.one_in(10) {
            frame.truncate(14 + random.bits() as usize % (frame.len() - 14));
        }
        router.inject((random.bits() % 2) as u16, frame, VnetState::default());
        if round % 500 == 0 {
            router.advance_ms(700);
        }
    }
    router.advance_ms(40_000);
    let stats = router.stats();
    let drops: u64 = stats.drops.iter().sum();
    assert_eq!(
        router.emitted + drops + stats.held,
        router.injected + stats.generated,
        "seed {seed}, {tracking:?}, {workers} workers"
    );
}
