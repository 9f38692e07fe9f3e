//! Connections that live on while tracking is off.

use tollway_config::dataplane::{ConnectionState, TrackingMode};
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::{Router, RouterConfig, rule};

const CLIENT: &str = "192.168.88.10";
const SERVER: &str = "10.2.0.9";
const ACK: u8 = tcp_flag::ACK;
const FIN_ACK: u8 = tcp_flag::FIN | tcp_flag::ACK;
/// Far more than any window that the sides have offered.
const FAR: u32 = 50_000_000;

/// Drops what is invalid.
fn router(loose: bool) -> Router {
    let config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .filter("forward", rule().state(&[ConnectionState::Invalid]).drop())
        .with(|config| {
            config.tracking.enabled = TrackingMode::Yes;
            config.tracking.loose_tcp_tracking = loose;
        });
    Router::new(config).hosts(0, &[CLIENT]).hosts(1, &[SERVER])
}

fn passes(router: &mut Router, port: u16, flags: u8, seq: u32, ack: u32) -> bool {
    let packet = match port {
        0 => PacketBuilder::ipv4(CLIENT, SERVER).tcp(4000, 80, flags, seq, ack),
        _ => PacketBuilder::ipv4(SERVER, CLIENT).tcp(80, 4000, flags, seq, ack),
    };
    let data = if flags == ACK { 1000 } else { 0 };
    router.send(port, &packet.payload_len(data)).len() == 1
}

/// Data both ways.
fn exchange(router: &mut Router, seq: u32, ack: u32) -> [bool; 4] {
    [
        passes(router, 0, ACK, seq, ack),
        passes(router, 1, ACK, ack, seq + 1000),
        passes(router, 0, ACK, seq + 1000, ack + 1000),
        passes(router, 1, ACK, ack + 1000, seq + 2000),
    ]
}

fn open(router: &mut Router) {
    assert!(passes(router, 0, tcp_flag::SYN, 100, 0));
    assert!(passes(router, 1, tcp_flag::SYN | ACK, 500, 101));
    assert_eq!(exchange(router, 101, 501), [true; 4]);
    assert_eq!(exchange(router, 2101, 2501), [true; 4]);
}

fn set_tracking(router: &mut Router, mode: TrackingMode) {
    router.reconfigure(|config| config.tracking.enabled = mode);
}

#[test]
fn a_connection_goes_on_when_tracking_was_off() {
    for loose in [true, false] {
        let mut router = router(loose);
        open(&mut router);
        for round in 1..3 {
            set_tracking(&mut router, TrackingMode::No);
            // What passes now nobody counts.
            assert_eq!(exchange(&mut router, round * FAR, 2 * round * FAR), [true; 4]);
            set_tracking(&mut router, TrackingMode::Yes);
            let (seq, ack) = (round * FAR + FAR / 2, 2 * round * FAR + FAR / 2);
            assert_eq!(exchange(&mut router, seq, ack), [true; 4], "loose {loose}, round {round}");
        }
        assert_eq!(router.connections().len(), 1);
    }
}

#[test]
fn a_connection_that_one_side_has_closed_goes_on_when_tracking_was_off() {
    let mut router = router(true);
    open(&mut router);
    assert!(passes(&mut router, 0, FIN_ACK, 4101, 4501));
    assert!(passes(&mut router, 1, ACK, 4501, 4102));
    let state = router.connections()[0].tcp_state;
    set_tracking(&mut router, TrackingMode::No);
    set_tracking(&mut router, TrackingMode::Yes);
    assert!(passes(&mut router, 1, ACK, FAR, 4102));
    assert!(passes(&mut router, 0, tcp_flag::ACK, 4102, FAR + 1000));
    assert_eq!(router.connections()[0].tcp_state, state);
    assert!(passes(&mut router, 1, FIN_ACK, FAR + 1000, 4102));
}

#[test]
fn a_swap_that_leaves_tracking_on_leaves_windows_as_they_are() {
    let mut router = router(true);
    open(&mut router);
    router.reconfigure(|config| config.tracking.loose_tcp_tracking = false);
    assert!(!passes(&mut router, 0, ACK, FAR, 4501));
    assert_eq!(exchange(&mut router, 4101, 4501), [true; 4]);
}
