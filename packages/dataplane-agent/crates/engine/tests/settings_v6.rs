//! What the switches of `/ip/settings` leave as it is for IPv6.

use tollway_config::dataplane::TrackingMode;
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::router::{To, port_mac};
use tollway_testkit::{Ipv6Builder, Router, RouterConfig, expect_counters};
use tollway_wire::ipv6;

const LAN: &str = "2001:db8:1::10";
const WAN: &str = "2001:db8:2::fe";

/// A router with the settings of IPv4 at values that refuse or change what they concern.
fn router(tracking: TrackingMode) -> Router {
    let config = RouterConfig::new()
        .interface("2001:db8:1::1/64")
        .interface("2001:db8:2::1/64")
        .address(1, "192.168.88.1/24")
        .route("2001:db8:9::/48", "2001:db8:1::fe")
        .with(|config| {
            config.tracking.enabled = tracking;
            let settings = &mut config.settings;
            (settings.fragment_bytes, settings.fragment_time_ms) = (0, 1_000);
            (settings.icmp_rate_mask, settings.icmp_rate_limit_ms) = (u32::MAX, 3_600_000);
            settings.accept_source_route = true;
            (settings.accept_redirects, settings.secure_redirects) = (true, false);
        });
    let mut router = Router::new(config).hosts6(0, &[LAN, "2001:db8:1::fe"]).hosts6(1, &[WAN]);
    router.advance_ms(1_100);
    router.moved();
    router
}

#[test]
fn echo_requests_are_answered_whatever_the_mask() {
    let mut router = router(TrackingMode::Yes);
    for sequence in 0..20 {
        let out =
            router.send6(0, &Ipv6Builder::new(LAN, "2001:db8:1::1").echo_request(7, sequence).payload_len(9));
        assert_eq!(out.len(), 1, "{sequence}");
    }
}

#[test]
fn fragments_wait_as_before() {
    let mut router = router(TrackingMode::Yes);
    let packet = Ipv6Builder::new(LAN, WAN).udp(1000, 53).payload_len(3000);
    let send = |router: &mut Router, mut frame: Vec<u8>| {
        frame[..6].copy_from_slice(&port_mac(0));
        router.inject(0, frame, VnetState::default()).len()
    };
    let mut frames = packet.build_fragments(1200, 1);
    frames.reverse();
    for frame in &frames[..2] {
        assert_eq!(send(&mut router, frame.clone()), 0);
    }
    router.advance_ms(4_000);
    assert_eq!(router.stats().held, 2);
    assert_eq!(send(&mut router, frames[2].clone()), 3);
    // Those whose first one does not come wait for 5 s.
    send(&mut router, packet.build_fragments(1200, 2)[1].clone());
    router.advance_ms(4_900);
    router.moved();
    router.advance_ms(200);
    expect_counters!(router, Held: -1, Drop(FragmentTimeout): 1);
}

#[test]
fn extension_headers_are_no_options_of_ipv4_and_a_detour_is_not_answered() {
    for tracking in [TrackingMode::Yes, TrackingMode::No] {
        let mut router = router(tracking);
        // Bytes that would be a source route at the place of the options of IPv4.
        for traffic_class in [0, 0x60, 0xf0] {
            let packet = Ipv6Builder::new(LAN, WAN)
                .traffic_class(traffic_class)
                .extension(ipv6::HOP_BY_HOP, &[1, 4, 131, 7, 4, 0])
                .udp(1000, 53);
            let out = router.send6(0, &packet);
            assert_eq!((out.len(), out[0].to), (1, To::Port(1)));
            assert_eq!(out[0].bytes[22..], packet.build()[22..]);
        }
        for _ in 0..3 {
            let out = router.send6(0, &Ipv6Builder::new(LAN, "2001:db8:9::1").udp(1000, 53));
            assert_eq!((out.len(), out[0].to), (1, To::Port(0)));
        }
    }
}
