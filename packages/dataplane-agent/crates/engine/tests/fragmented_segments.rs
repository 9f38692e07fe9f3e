//! TCP segments that come in IP fragments: their peer acknowledges them as a whole.

use tollway_config::dataplane::ConnectionState;
use tollway_engine::packet::frame::VnetState;
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::router::{Output, To, port_mac};
use tollway_testkit::{Router, RouterConfig, rule};

const CLIENT: &str = "192.168.88.10";
const SERVER: &str = "203.0.113.5";
const ACK: u8 = tcp_flag::ACK;
const WINDOW: u16 = 8000;

/// Drops what is invalid.
fn router(workers: u32) -> Router {
    let config = RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .neighbor(1, CLIENT, "02:01:0a:01:00:02", false)
        .neighbor(2, "10.2.0.254", "02:01:0a:02:00:02", false)
        .route("0.0.0.0/0", "10.2.0.254")
        .nat("srcnat", rule().out_interface(2).masquerade())
        .filter("forward", rule().state(&[ConnectionState::Invalid]).drop());
    Router::with_workers(config, workers)
}

/// A segment into the port of its sender, with the client's port as that side knows it.
fn segment(port: u16, client: u16, flags: u8, seq: u32, ack: u32) -> PacketBuilder {
    let packet = match port {
        0 => PacketBuilder::ipv4(CLIENT, SERVER).tcp(client, 80, flags, seq, ack),
        _ => PacketBuilder::ipv4(SERVER, "10.2.0.1").tcp(80, client, flags, seq, ack),
    };
    packet.window(WINDOW).eth_dst(port_mac(port))
}

/// How many packets leave by the other port.
fn through(port: u16, out: &[Output]) -> usize {
    out.iter().filter(|output| output.to == To::Port(1 - port)).count()
}

fn send(router: &mut Router, port: u16, packet: &PacketBuilder) -> usize {
    through(port, &router.send(port, packet))
}

/// Opens a connection. Says by which port the server knows its client.
fn open(router: &mut Router, client: u16) -> u16 {
    let outside = router.send(0, &segment(0, client, tcp_flag::SYN, 100, 0))[0].packet().ports.0;
    assert_eq!(send(router, 1, &segment(1, outside, tcp_flag::SYN | ACK, 500, 101)), 1);
    assert_eq!(send(router, 0, &segment(0, client, ACK, 101, 501)), 1);
    outside
}

#[test]
fn what_the_fragments_of_a_segment_carry_is_acknowledged_as_a_whole() {
    for workers in 1..=3_u32 {
        for (reversed, together) in [(false, true), (true, true), (false, false), (true, false)] {
            let mut router = router(workers);
            for client in 4000..4008_u16 {
                let known = [client, open(&mut router, client)];
                // Where the sides are: port 0 is the client's.
                let mut next = [101, 501];
                for round in 0..4_u16 {
                    let from = round % 2;
                    let [seq, ack] = if from == 0 { next } else { [next[1], next[0]] };
                    let data = segment(from, known[usize::from(from)], ACK, seq, ack).payload_len(3000);
                    let mut frames: Vec<_> = (data.ident(client * 10 + round).build_fragments(600))
                        .into_iter()
                        .map(|frame| (from, frame, VnetState::default()))
                        .collect();
                    if reversed {
                        frames.reverse();
                    }
                    let count = frames.len();
                    let batches: Vec<Vec<_>> = if together {
                        vec![frames]
                    } else {
                        frames.into_iter().map(|one| vec![one]).collect()
                    };
                    let sent: usize = (batches.into_iter().enumerate())
                        .map(|(at, batch)| through(from, &router.inject_batch(at % workers as usize, batch)))
                        .sum();
                    let case = (workers, reversed, together, client, round);
                    assert_eq!(sent, count, "{case:?}");
                    next[usize::from(from)] += 3000;
                    let answer = segment(1 - from, known[usize::from(1 - from)], ACK, ack, seq + 3000);
                    assert_eq!(send(&mut router, 1 - from, &answer), 1, "{case:?}");
                }
                // In one piece it goes on from there, in order.
                for _ in 0..2 {
                    assert_eq!(
                        send(&mut router, 0, &segment(0, client, ACK, next[0], next[1]).payload_len(10)),
                        1
                    );
                    next[0] += 10;
                    assert_eq!(send(&mut router, 1, &segment(1, known[1], ACK, next[1], next[0])), 1);
                }
                assert!(router.send(0, &segment(0, client, ACK, next[0], next[1]).payload_len(10))[0].fast);
            }
        }
    }
}

#[test]
fn a_segment_in_fragments_closes_its_connection_and_is_acknowledged() {
    let mut router = router(1);
    open(&mut router, 4000);
    let last = segment(1, 4000, tcp_flag::FIN | ACK, 501, 101).payload_len(1400).ident(1);
    for frame in last.build_fragments(600) {
        assert_eq!(router.inject(1, frame, VnetState::default()).len(), 1);
    }
    assert_eq!(send(&mut router, 0, &segment(0, 4000, tcp_flag::FIN | ACK, 101, 1902)), 1);
    assert_eq!(send(&mut router, 1, &segment(1, 4000, ACK, 1902, 102)), 1);
    const TIME_WAIT: u8 = 7;
    assert_eq!(router.connections()[0].tcp_state, TIME_WAIT);
}

#[test]
fn fragments_beyond_the_window_count_for_nothing() {
    // With the first fragment in the window, and outside of it.
    for seq in [501, 0x4000_0000] {
        let mut router = router(1);
        open(&mut router, 4000);
        let frames = segment(1, 4000, ACK, seq, 101).payload_len(60_000).ident(9).build_fragments(600);
        let (first, last) = (frames[0].clone(), frames[frames.len() - 1].clone());
        router.inject(1, first, VnetState::default());
        router.inject(1, last, VnetState::default());
        let beyond = segment(0, 4000, ACK, 101, seq + 60_000);
        assert_eq!(send(&mut router, 0, &beyond), 0, "{seq}");
        // Both go on where they are.
        assert_eq!(send(&mut router, 1, &segment(1, 4000, ACK, 501, 101).payload_len(1000)), 1);
        assert_eq!(send(&mut router, 0, &segment(0, 4000, ACK, 101, 1501)), 1);
    }
}
