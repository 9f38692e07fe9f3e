//! Segments that were damaged on their way open, close and reset nothing.

use tollway_config::dataplane::ConnectionState;
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::router::port_mac;
use tollway_testkit::{Router, RouterConfig, rule};
use tollway_wire::tcp::flag;

const CLIENT: &str = "192.168.88.10";
const SERVER: &str = "10.2.0.9";

/// Forwards everything; its only rule counts what is invalid.
fn router(fast: bool) -> Router {
    let config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .filter("forward", rule().state(&[ConnectionState::Invalid]).passthrough())
        .with(|config| config.settings.allow_fast_path = fast);
    Router::new(config).hosts(0, &[CLIENT]).hosts(1, &[SERVER])
}

fn invalid(router: &Router) -> u64 {
    router.rule(router.config().filter[0].rules[0].row).0
}

fn from_client(flags: u8, seq: u32, ack: u32) -> (u16, Vec<u8>) {
    (0, PacketBuilder::ipv4(CLIENT, SERVER).tcp(4000, 80, flags, seq, ack).eth_dst(port_mac(0)).build())
}

fn from_server(flags: u8, seq: u32, ack: u32) -> (u16, Vec<u8>) {
    (1, PacketBuilder::ipv4(SERVER, CLIENT).tcp(80, 4000, flags, seq, ack).eth_dst(port_mac(1)).build())
}

/// The last byte of the frame, which is the last of the TCP header's urgent pointer, is another one.
fn damaged((port, mut frame): (u16, Vec<u8>)) -> (u16, Vec<u8>) {
    *frame.last_mut().expect("a frame") ^= 1;
    (port, frame)
}

fn send(router: &mut Router, (port, frame): (u16, Vec<u8>), vnet: VnetState) -> usize {
    router.inject(port, frame, vnet).len()
}

fn state(router: &Router) -> Option<u8> {
    router.connections().first().map(|connection| connection.tcp_state)
}

fn established(router: &mut Router) {
    let steps = [
        from_client(flag::SYN, 100, 0),
        from_server(flag::SYN | flag::ACK, 500, 101),
        from_client(flag::ACK, 101, 501),
        from_server(flag::ACK, 501, 101),
        from_client(flag::ACK, 101, 501),
    ];
    for step in steps {
        assert_eq!(send(router, step, VnetState::default()), 1);
    }
}

#[test]
fn a_damaged_syn_opens_no_connection() {
    let mut router = router(true);
    send(&mut router, damaged(from_client(flag::SYN, 100, 0)), VnetState::default());
    assert_eq!((router.connections().len(), invalid(&router)), (0, 1));
    send(&mut router, from_client(flag::SYN, 100, 0), VnetState::default());
    assert_eq!((router.connections().len(), invalid(&router)), (1, 1));
}

#[test]
fn a_damaged_reset_or_fin_ends_none_with_the_flow_cache_and_without() {
    for fast in [true, false] {
        let mut router = router(fast);
        established(&mut router);
        let before = state(&router);
        let ends = [
            from_server(flag::RST, 501, 0),
            from_client(flag::RST, 101, 0),
            from_server(flag::FIN | flag::ACK, 501, 101),
            from_client(flag::FIN | flag::ACK, 101, 501),
        ];
        for (count, end) in ends.into_iter().enumerate() {
            assert_eq!(
                send(&mut router, damaged(end), VnetState::default()),
                1,
                "invalid is for rules to drop"
            );
            assert_eq!((state(&router), invalid(&router)), (before, count as u64 + 1), "fast {fast}");
        }
        send(&mut router, from_server(flag::RST, 501, 0), VnetState::default());
        assert_ne!(state(&router), before, "fast {fast}");
        assert_eq!(invalid(&router), 4);
    }
}

#[test]
fn a_checksum_that_the_device_vouches_for_or_will_make_is_not_looked_at() {
    let devices = [
        VnetState { data_valid: true, ..VnetState::default() },
        VnetState { needs_csum: true, csum_start: 34, csum_offset: 16, ..VnetState::default() },
    ];
    for vnet in devices {
        let mut router = router(true);
        established(&mut router);
        let before = state(&router);
        send(&mut router, damaged(from_server(flag::RST, 501, 0)), vnet);
        assert_eq!(invalid(&router), 0);
        assert_ne!(state(&router), before);
    }
}

/// Linux has them be invalid, too; the receiver discards them.
#[test]
fn damaged_datagrams_and_messages_open_nothing() {
    for fast in [false, true] {
        let mut router = router(fast);
        let of = |builder: PacketBuilder| (0, builder.eth_dst(port_mac(0)).build());
        let udp = || PacketBuilder::ipv4(CLIENT, SERVER).udp(4000, 53).payload_len(11);
        let ping = || PacketBuilder::ipv4(CLIENT, SERVER).echo_request(7, 1).payload_len(11);
        for (number, packet) in [damaged(of(udp())), damaged(of(ping()))].into_iter().enumerate() {
            assert_eq!(send(&mut router, packet, VnetState::default()), 1);
            assert_eq!((invalid(&router), router.connections().len()), (number as u64 + 1, 0));
        }
        let device = VnetState { data_valid: true, ..VnetState::default() };
        send(&mut router, damaged(of(udp())), device);
        assert_eq!((invalid(&router), router.connections().len()), (2, 1), "the device has summed it");
        let (port, mut unsummed) =
            damaged(of(PacketBuilder::ipv4(CLIENT, SERVER).udp(4001, 53).payload_len(11)));
        unsummed[40..42].fill(0);
        send(&mut router, (port, unsummed), VnetState::default());
        send(&mut router, of(ping()), VnetState::default());
        assert_eq!((invalid(&router), router.connections().len()), (2, 3));
    }
}
