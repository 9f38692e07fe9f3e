//! TCP Fast Open (RFC 7413): the responder sends data before the originator has acknowledged its SYN.

use tollway_config::dataplane::ConnectionState;
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::{Router, RouterConfig, rule};

const CLIENT: &str = "192.168.88.10";
const SERVER: &str = "10.2.0.9";
const ACK: u8 = tcp_flag::ACK;

#[test]
fn the_responder_may_send_what_the_window_of_the_syn_allows_and_no_more() {
    let config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .filter("forward", rule().state(&[ConnectionState::Invalid]).drop());
    let mut router = Router::new(config).hosts(0, &[CLIENT]).hosts(1, &[SERVER]);
    let client =
        |flags, seq, ack| PacketBuilder::ipv4(CLIENT, SERVER).tcp(4000, 80, flags, seq, ack).window(6000);
    let server =
        |flags, seq, ack| PacketBuilder::ipv4(SERVER, CLIENT).tcp(80, 4000, flags, seq, ack).window(6000);
    let mut passes = |port, packet: PacketBuilder| router.send(port, &packet).len() == 1;
    // Scales are agreed on, and count from the next segments on.
    let scale = [3, 3, 7, 1];
    assert!(passes(0, client(tcp_flag::SYN, 100, 0).tcp_options(&scale).payload_len(10)));
    assert!(passes(1, server(tcp_flag::SYN | ACK, 500, 111).tcp_options(&scale)));
    for segment in 0..6 {
        assert!(passes(1, server(ACK, 501 + segment * 1000, 111).payload_len(1000)), "{segment}");
    }
    assert!(!passes(1, server(ACK, 501 + 6001, 111).payload_len(1000)));
    assert!(passes(0, client(ACK, 111, 6501)));
    assert!(passes(1, server(ACK, 6501, 111).payload_len(1000)));
    assert!(passes(0, client(ACK, 111, 7501)));
}
