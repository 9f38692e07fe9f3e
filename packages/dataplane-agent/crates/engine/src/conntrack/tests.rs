//! The table as the packet path uses it.

use proptest::prelude::*;
use tollway_config::dataplane::{ConnectionState, Tracking};
use tollway_wire::tcp::{Options, flag};

use super::tcp::{Outcome, Segment, State, Tracker};
use super::*;
use crate::time::Now;
use crate::tuple::{Addr, Tuple};

const SECOND: u64 = 1_000_000_000;

fn tuple(protocol: u8, src: u32, src_port: u16) -> Tuple {
    Tuple { src: Addr::v4(0x0a00_0000 | src), dst: Addr::v4(0x0808_0808), src_port, dst_port: 443, protocol }
}

fn v6(src: u128) -> Tuple {
    Tuple { src: Addr(0x2001 << 112 | src), dst: Addr(0x2002 << 112), src_port: 1, dst_port: 2, protocol: 17 }
}

fn table(max: u32) -> Table {
    Table::new(1, 2, max, 7)
}

struct Harness {
    table: Table,
    timeouts: Timeouts,
    now: Now,
}

impl Harness {
    fn new(max: u32) -> Self {
        Self { table: table(max), timeouts: Timeouts::default(), now: Now(SECOND) }
    }
    fn track(&mut self, tuple: &Tuple, transport: &Transport) -> Tracked {
        self.table.track(tuple, transport, self.now, &self.timeouts)
    }
    /// Tracks and lets the packet leave.
    fn pass(&mut self, tuple: &Tuple, transport: &Transport) -> Tracked {
        let tracked = self.track(tuple, transport);
        if let Some(conn) = tracked.conn {
            self.table.confirm(conn).unwrap();
        }
        tracked
    }
    fn tcp(&mut self, tuple: &Tuple, segment: Segment) -> Tracked {
        self.pass(tuple, &Transport::Tcp(segment))
    }
    fn state(&self, tuple: &Tuple) -> State {
        let (conn, _) = self.table.find(tuple).unwrap();
        self.table.get(conn).unwrap().tcp.state()
    }
}

fn seconds_left(harness: &Harness, conn: ConnRef) -> u64 {
    harness.table.get(conn).unwrap().left(harness.now) / SECOND
}

fn segment(flags: u8, seq: u32, ack: u32, payload: u32) -> Segment {
    Segment { seq, ack, payload, window: 1000, flags, options: Options::default() }
}

fn scaled(mut segment: Segment) -> Segment {
    segment.options = Options { window_scale: Some(7), sack_permitted: true, sack_right: None };
    segment
}

/// Client 100, server 5000; afterwards both have sent one byte of sequence space.
fn handshake(harness: &mut Harness, flow: &Tuple) {
    let back = flow.reversed();
    assert_eq!(harness.tcp(flow, scaled(segment(flag::SYN, 100, 0, 0))).state, ConnectionState::New);
    let synack = scaled(segment(flag::SYN | flag::ACK, 5000, 101, 0));
    assert_eq!(harness.tcp(&back, synack).state, ConnectionState::Established);
    assert_eq!(harness.state(flow), State::SynRecv);
    harness.tcp(flow, segment(flag::ACK, 101, 5001, 0));
    assert_eq!(harness.state(flow), State::Established);
}

/// Tracks a UDP packet that was looked up when `entry` was its own.
fn track_looked_up(harness: &mut Harness, tuple: &Tuple, entry: EntryIndex) -> Tracked {
    let key = Key::of(tuple);
    let flow = Flow { tuple, key: &key, hash: harness.table.hash_of(&key), entry };
    harness.table.track_flow(&flow, &Transport::Udp, harness.now, &harness.timeouts)
}

#[test]
fn an_entry_that_is_anothers_by_now_is_looked_up_again() {
    for [ours, other, third] in [[1, 2, 3].map(|src| tuple(17, src, 5)), [1, 2, 3].map(v6)] {
        let mut harness = Harness::new(10);
        let conn = harness.pass(&ours, &Transport::Udp).conn.unwrap();
        let others = harness.pass(&other, &Transport::Udp).conn.unwrap();
        for entry in [conn.slot << 1, conn.slot << 1 | 1, others.slot << 1, 999, NO_ENTRY] {
            assert_eq!(track_looked_up(&mut harness, &ours, entry).conn, Some(conn), "{entry}");
        }
        let id = harness.table.get(conn).unwrap().id;
        harness.table.remove(id);
        let taker = harness.pass(&third, &Transport::Udp).conn.unwrap();
        assert_eq!(taker.slot, conn.slot);
        let again = track_looked_up(&mut harness, &ours, conn.slot << 1);
        assert_eq!(again.state, ConnectionState::New);
        assert_ne!(again.conn.unwrap().slot, taker.slot);
    }
}

#[test]
fn an_entry_that_is_not_to_be_found_yet_is_not_found_by_its_number_either() {
    let mut harness = Harness::new(10);
    let flow = tuple(17, 1, 5);
    // Until it is confirmed its answers may still change.
    let conn = harness.track(&flow, &Transport::Udp).conn.unwrap();
    let answer = track_looked_up(&mut harness, &flow.reversed(), conn.slot << 1 | 1);
    assert_eq!((answer.state, answer.direction), (ConnectionState::New, Direction::Original));
    assert_ne!(answer.conn, Some(conn));
}

#[test]
fn tcp_from_syn_to_time_wait() {
    let mut harness = Harness::new(10);
    let flow = tuple(6, 1, 1000);
    let back = flow.reversed();
    handshake(&mut harness, &flow);
    let (conn, _) = harness.table.find(&flow).unwrap();
    assert!(harness.table.get(conn).unwrap().status.assured());
    harness.tcp(&flow, segment(flag::ACK | flag::PSH, 101, 5001, 10));
    harness.tcp(&back, segment(flag::ACK, 5001, 111, 0));
    assert_eq!(seconds_left(&harness, conn), 86_400);
    harness.tcp(&flow, segment(flag::FIN | flag::ACK, 111, 5001, 0));
    assert_eq!(harness.state(&flow), State::FinWait);
    assert_eq!(seconds_left(&harness, conn), 10);
    harness.tcp(&back, segment(flag::ACK, 5001, 112, 0));
    assert_eq!(harness.state(&flow), State::CloseWait);
    harness.tcp(&back, segment(flag::FIN | flag::ACK, 5001, 112, 0));
    assert_eq!(harness.state(&flow), State::LastAck);
    harness.tcp(&flow, segment(flag::ACK, 112, 5002, 0));
    assert_eq!(harness.state(&flow), State::TimeWait);
    // The tuple is used again: a new connection, with a new id.
    let again = harness.tcp(&flow, segment(flag::SYN, 9000, 0, 0));
    assert_eq!(again.state, ConnectionState::New);
    assert_eq!(harness.state(&flow), State::SynSent);
    // A packet of the old one that came just before still finds it.
    assert!(harness.table.tuples(conn).is_some());
    assert_eq!(harness.table.len(), 2);
    harness.table.free_ended();
    assert!(harness.table.get(conn).is_none());
    assert_eq!(harness.table.len(), 1);
    harness.table.free_ended();
    assert_eq!(harness.table.len(), 1);
}

#[test]
fn a_connection_of_a_full_table_can_be_opened_anew() {
    let mut harness = Harness::new(1);
    let flow = tuple(6, 1, 1000);
    handshake(&mut harness, &flow);
    harness.tcp(&flow, segment(flag::RST, 101, 0, 0));
    assert_eq!(harness.state(&flow), State::Close);
    for _ in 0..2 {
        let again = harness.tcp(&flow, segment(flag::SYN, 9000, 0, 0));
        assert_eq!((again.state, again.reason), (ConnectionState::New, None));
        assert_eq!(harness.table.len(), 1);
    }
}

#[test]
fn a_connection_with_the_tuples_of_an_ended_one_stays_in_the_directory() {
    let mut harness = Harness::new(10);
    let flow = tuple(6, 1, 1000);
    handshake(&mut harness, &flow);
    let old = harness.table.find(&flow).unwrap().0;
    assert_eq!(harness.table.publish(old), Some(flow.reversed()));
    harness.tcp(&flow, segment(flag::RST, 101, 0, 0));
    let new = harness.tcp(&flow, segment(flag::SYN, 9000, 0, 0)).conn.unwrap();
    assert_eq!(harness.table.publish(new), Some(flow.reversed()));
    assert_eq!(harness.table.take_unpublished(), None);
    let id = harness.table.get(new).unwrap().id;
    harness.table.remove(id);
    assert_eq!(harness.table.take_unpublished(), Some(flow.reversed()));
}

#[test]
fn what_closes_a_connection_on_the_fast_path_ends_it_in_time() {
    let mut harness = Harness::new(10);
    let flow = tuple(6, 1, 1000);
    handshake(&mut harness, &flow);
    let conn = harness.table.find(&flow).unwrap().0;
    let index = conn.slot << 1;
    let close = |harness: &mut Harness, index, segment| {
        let Harness { table, timeouts, now } = harness;
        table.track_closing(index, &Transport::Tcp(segment), *now, timeouts)
    };
    // Data, what opens, and what is out of window are not its business.
    for other in [
        segment(flag::ACK, 101, 5001, 10),
        segment(flag::SYN, 101, 0, 0),
        segment(flag::FIN | flag::ACK, 0x7000_0000, 5001, 0),
        segment(flag::FIN, 101, 5001, 0),
    ] {
        assert!(!close(&mut harness, index, other), "{other:?}");
    }
    assert_eq!((harness.state(&flow), seconds_left(&harness, conn)), (State::Established, 86_400));
    for (index, segment, state) in [
        (index, segment(flag::FIN | flag::ACK, 101, 5001, 0), State::FinWait),
        (index | 1, segment(flag::ACK, 5001, 102, 0), State::CloseWait),
        (index | 1, segment(flag::FIN | flag::ACK, 5001, 102, 0), State::LastAck),
        (index, segment(flag::ACK, 102, 5002, 0), State::TimeWait),
    ] {
        assert!(close(&mut harness, index, segment), "{state:?}");
        assert_eq!(harness.state(&flow), state);
    }
    assert!(!close(&mut harness, index, segment(flag::SYN, 9000, 0, 0)));
    assert_eq!(seconds_left(&harness, conn), 10);
    harness.now = Now(harness.now.0 + 11 * SECOND);
    assert_eq!(harness.table.expire(harness.now, 10, &harness.timeouts), 1);
    assert!(harness.table.is_empty());
}

#[test]
fn tcp_out_of_window_and_impossible_flags_are_invalid_and_change_nothing() {
    let mut harness = Harness::new(10);
    let flow = tuple(6, 1, 1000);
    handshake(&mut harness, &flow);
    let (conn, _) = harness.table.find(&flow).unwrap();
    let before = harness.table.get(conn).unwrap().tcp;
    for bad in [
        segment(flag::ACK, 101 + 1_000_000, 5001, 10),
        segment(flag::ACK, 101, 5001 + 1_000_000, 10),
        segment(flag::ACK, 101u32.wrapping_sub(200_000), 5001, 10),
        segment(flag::ACK, 101, 5001u32.wrapping_sub(200_000), 10),
        segment(flag::RST, 101 + 1_000_000, 0, 0),
        segment(flag::SYN | flag::FIN, 101, 5001, 0),
        segment(0, 101, 5001, 0),
        segment(flag::SYN | flag::ACK, 101, 5001, 0),
    ] {
        let tracked = harness.tcp(&flow, bad);
        assert_eq!(tracked.state, ConnectionState::Invalid, "{bad:?}");
        assert_eq!((tracked.conn, tracked.reason), (None, Some(InvalidReason::State)));
        assert_eq!(harness.table.get(conn).unwrap().tcp, before);
    }
    let tracking = Tracking { liberal_tcp_tracking: true, ..Tracking::default() };
    harness.timeouts = Timeouts::new(&tracking);
    let far = segment(flag::ACK, 101 + 1_000_000, 5001, 10);
    assert_eq!(harness.tcp(&flow, far).state, ConnectionState::Established);
    let far_reset = segment(flag::RST, 101 + 1_000_000, 0, 0);
    assert_eq!(harness.tcp(&flow, far_reset).state, ConnectionState::Invalid);
}

#[test]
fn tcp_refused_connection_closes() {
    let mut harness = Harness::new(10);
    let flow = tuple(6, 1, 1000);
    harness.tcp(&flow, segment(flag::SYN, 100, 0, 0));
    let refused = harness.tcp(&flow.reversed(), segment(flag::RST | flag::ACK, 0, 101, 0));
    assert_eq!(refused.state, ConnectionState::Established);
    assert_eq!(harness.state(&flow), State::Close);
}

#[test]
fn tcp_reset_closes_only_when_exact() {
    let mut harness = Harness::new(10);
    let flow = tuple(6, 1, 1000);
    handshake(&mut harness, &flow);
    harness.tcp(&flow.reversed(), segment(flag::ACK, 5001, 101, 0));
    harness.tcp(&flow, segment(flag::RST, 150, 0, 0));
    assert_eq!(harness.state(&flow), State::Established);
    harness.tcp(&flow, segment(flag::RST, 101, 0, 0));
    assert_eq!(harness.state(&flow), State::Close);
}

/// Of a connection of which only one side has been seen since its windows were forgotten.
#[test]
fn tcp_reset_belongs_to_a_connection_whose_peer_has_not_been_seen() {
    let timeouts = Timeouts::default();
    let data = |seq| segment(flag::ACK, seq, 3_000_000_000, 1000);
    for (seen, flags, seq, outcome) in [
        (0, flag::RST | flag::ACK, 5000, Outcome::Accepted),
        (1, flag::RST | flag::ACK, 5000, Outcome::Accepted),
        // Its data may have got no further than here.
        (2, flag::RST, 5000, Outcome::Accepted),
        (2, flag::RST, 5000_u32.wrapping_add(1 << 31), Outcome::Invalid),
    ] {
        let mut tracker = Tracker::resumed();
        for index in 0..seen {
            let taken = tracker.track(Direction::Original, &data(4000 + index * 1000), &timeouts);
            assert_eq!(taken, Outcome::Accepted);
        }
        let reset = segment(flags, seq, 3_000_050_000, 0);
        assert_eq!(tracker.track(Direction::Original, &reset, &timeouts), outcome, "{seen} {flags} {seq}");
    }
}

#[test]
fn tcp_mid_stream_is_picked_up_only_when_loose() {
    let mut harness = Harness::new(10);
    let flow = tuple(6, 1, 1000);
    let middle = segment(flag::ACK, 777_000, 888_000, 100);
    assert_eq!(harness.tcp(&flow, middle).state, ConnectionState::New);
    let back = harness.tcp(&flow.reversed(), segment(flag::ACK, 888_000, 777_100, 1448));
    assert_eq!(back.state, ConnectionState::Established);
    let onward = harness.tcp(&flow, segment(flag::ACK, 777_100, 889_448, 100));
    assert_eq!(onward.state, ConnectionState::Established);
    harness.timeouts = Timeouts::new(&Tracking { loose_tcp_tracking: false, ..Tracking::default() });
    let other = harness.tcp(&tuple(6, 2, 1), middle);
    assert_eq!((other.state, other.reason), (ConnectionState::Invalid, Some(InvalidReason::NoEntry)));
}

#[test]
fn tcp_one_way_pick_up_survives_unseen_answers() {
    let mut tracker = Tracker::open(&segment(flag::ACK, 1000, 500, 100), &Timeouts::default()).unwrap();
    for step in 1..50u32 {
        let segment = segment(flag::ACK, 1000 + step * 100, 500 + step * 100_000, 100);
        assert_eq!(
            tracker.track(Direction::Original, &segment, &Timeouts::default()),
            Outcome::Accepted,
            "{step}"
        );
    }
}

#[test]
fn tcp_retransmissions_and_unacknowledged_data_shorten_the_timeout() {
    let tracking = Tracking {
        tcp_max_retrans_timeout_ms: 100_000,
        tcp_unacked_timeout_ms: 200_000,
        ..Tracking::default()
    };
    let mut harness = Harness::new(10);
    harness.timeouts = Timeouts::new(&tracking);
    let flow = tuple(6, 1, 1000);
    handshake(&mut harness, &flow);
    let data = segment(flag::ACK, 101, 5001, 10);
    let left = |harness: &Harness| {
        let (conn, _) = harness.table.find(&flow).unwrap();
        seconds_left(harness, conn)
    };
    harness.tcp(&flow, data);
    assert_eq!(left(&harness), 200);
    for _ in 0..3 {
        harness.tcp(&flow, data);
        assert_eq!(left(&harness), 200);
    }
    harness.tcp(&flow, data);
    assert_eq!(left(&harness), 100);
    harness.tcp(&flow.reversed(), segment(flag::ACK, 5001, 111, 0));
    assert_eq!(left(&harness), 86_400);
    // The wheel was told of the sooner end and later finds the later one.
    harness.now = Now(harness.now.0 + 201 * SECOND);
    assert_eq!(harness.table.expire(harness.now, 100, &harness.timeouts), 0);
    assert_eq!(harness.table.len(), 1);
    harness.now = Now(harness.now.0 + 86_401 * SECOND);
    assert_eq!(harness.table.expire(harness.now, 100, &harness.timeouts), 1);
}

#[test]
fn super_frames_count_whole() {
    let mut harness = Harness::new(10);
    let flow = tuple(6, 1, 1000);
    handshake(&mut harness, &flow);
    harness.tcp(&flow, segment(flag::ACK, 101, 5001, 60_000));
    let acked = harness.tcp(&flow.reversed(), segment(flag::ACK, 5001, 60_101, 0));
    assert_eq!(acked.state, ConnectionState::Established);
}

#[test]
fn udp_lives_longer_once_answered_and_is_assured_beyond_the_first_exchange() {
    let mut harness = Harness::new(10);
    let flow = tuple(17, 1, 1000);
    let first = harness.pass(&flow, &Transport::Udp);
    let conn = first.conn.unwrap();
    let left = |harness: &Harness| seconds_left(harness, conn);
    assert_eq!((first.state, left(&harness)), (ConnectionState::New, 30));
    let version = harness.table.get(conn).unwrap().version;
    let answer = harness.pass(&flow.reversed(), &Transport::Udp);
    assert_eq!((answer.state, left(&harness)), (ConnectionState::Established, 180));
    assert_ne!(harness.table.get(conn).unwrap().version, version);
    assert!(!harness.table.get(conn).unwrap().status.assured());
    harness.pass(&flow, &Transport::Udp);
    assert!(harness.table.get(conn).unwrap().status.assured());
}

#[test]
fn icmp_queries_are_keyed_by_identifier() {
    let mut harness = Harness::new(10);
    let flow = Tuple { dst_port: 77, ..tuple(1, 1, 77) };
    let request = Transport::Icmp { icmp_type: 8, code: 0 };
    let reply = Transport::Icmp { icmp_type: 0, code: 0 };
    let stray = harness.pass(&flow, &reply);
    assert_eq!((stray.state, stray.reason), (ConnectionState::Invalid, Some(InvalidReason::NoEntry)));
    assert_eq!(harness.pass(&flow, &request).state, ConnectionState::New);
    assert_eq!(harness.pass(&flow.reversed(), &reply).state, ConnectionState::Established);
    assert_eq!(harness.pass(&flow, &request).state, ConnectionState::Established);
    assert_eq!(harness.pass(&flow, &reply).state, ConnectionState::Invalid);
    let (_, direction) = harness.table.related(&flow).unwrap();
    assert_eq!(direction, Direction::Reply);
    assert!(harness.table.related(&tuple(17, 9, 9)).is_none());
}

#[test]
fn unconfirmed_connections_go_with_the_last_packet_that_holds_them() {
    let mut harness = Harness::new(10);
    let flow = tuple(17, 1, 1000);
    let first = harness.track(&flow, &Transport::Udp).conn.unwrap();
    let second = harness.track(&flow, &Transport::Udp).conn.unwrap();
    assert_eq!(first, second);
    harness.table.abandon(first);
    assert!(harness.table.get(second).is_some());
    harness.table.abandon(second);
    assert!(harness.table.is_empty() && harness.table.find(&flow).is_none());

    let first = harness.track(&flow, &Transport::Udp).conn.unwrap();
    harness.track(&flow, &Transport::Udp);
    assert!(harness.table.find(&flow.reversed()).is_none());
    harness.table.confirm(first).unwrap();
    harness.table.abandon(first);
    assert_eq!(harness.table.len(), 1);
    assert!(harness.table.find(&flow.reversed()).is_some());
}

#[test]
fn ids_carry_the_worker_and_are_not_reused() {
    let mut harness = Harness::new(10);
    let mut seen = std::collections::BTreeSet::new();
    for port in 0..50 {
        let conn = harness.pass(&tuple(17, 1, port), &Transport::Udp).conn.unwrap();
        let id = harness.table.get(conn).unwrap().id;
        assert_eq!(id >> 56, 1);
        assert!(seen.insert(id));
        assert!(harness.table.remove(id));
        assert!(!harness.table.remove(id));
    }
    assert!(!harness.table.remove(0));
}

#[test]
fn a_syn_flood_evicts_the_oldest_but_never_an_assured_flow() {
    let mut harness = Harness::new(100);
    let assured: Vec<_> = (0..20).map(|src| tuple(6, src, 1)).collect();
    for flow in &assured {
        handshake(&mut harness, flow);
    }
    for port in 0..1000 {
        let tracked = harness.tcp(&tuple(6, 99, port), segment(flag::SYN, 1, 0, 0));
        assert_eq!(tracked.state, ConnectionState::New);
        assert!(harness.table.len() <= 100);
    }
    for flow in &assured {
        assert_eq!(harness.state(flow), State::Established);
    }
    assert!(harness.table.find(&tuple(6, 99, 919)).is_none());
    assert!(harness.table.find(&tuple(6, 99, 920)).is_some());
    assert_eq!(harness.table.counts().evicted, 920);
}

/// A million spoofed sources against a thousand flows in use, in a table of 16,384.
#[test]
fn a_flood_of_a_million_sources_costs_established_flows_nothing() {
    let mut harness = Harness::new(16_384);
    let flows: Vec<_> = (0..1000).map(|src| tuple(6, src, 5)).collect();
    for flow in &flows {
        handshake(&mut harness, flow);
    }
    for source in 0..1_000_000_u32 {
        let spoofed =
            Tuple { src: Addr::v4(0x3000_0000 | (source.wrapping_mul(7919) % (1 << 28))), ..tuple(6, 0, 5) };
        assert_eq!(harness.tcp(&spoofed, segment(flag::SYN, source, 0, 0)).state, ConnectionState::New);
        harness.now = Now(harness.now.0 + 1000);
        let step = source / 1000;
        let flow = &flows[source as usize % 1000];
        let data = harness.tcp(flow, segment(flag::ACK | flag::PSH, 101 + step, 5001, 1));
        assert_eq!(data.state, ConnectionState::Established, "after {source} of the flood");
        if source % 10 == 0 {
            let ack = harness.tcp(&flow.reversed(), segment(flag::ACK, 5001, 102 + step, 0));
            assert_eq!(ack.state, ConnectionState::Established);
        }
    }
    assert_eq!(harness.table.len(), 16_384);
    assert_eq!(harness.table.counts().evicted, 1_000_000 - (16_384 - 1000));
    let assured = harness.table.connections().filter(|conn| conn.status.assured()).count();
    assert_eq!(assured, 1000);
}

#[test]
fn a_table_full_of_assured_flows_refuses() {
    let mut harness = Harness::new(3);
    for src in 0..3 {
        handshake(&mut harness, &tuple(6, src, 1));
    }
    let refused = harness.pass(&tuple(17, 9, 9), &Transport::Udp);
    assert_eq!((refused.state, refused.reason), (ConnectionState::Invalid, Some(InvalidReason::TableFull)));
    harness.table.set_max_entries(200);
    for port in 0..150 {
        assert_eq!(harness.pass(&tuple(17, 9, port), &Transport::Udp).state, ConnectionState::New);
    }
    for src in 0..3 {
        assert_eq!(harness.state(&tuple(6, src, 1)), State::Established);
    }
}

#[test]
fn a_new_packet_after_the_end_starts_anew_even_before_the_wheel_turns() {
    let mut harness = Harness::new(3);
    let flow = tuple(17, 1, 1);
    harness.pass(&flow, &Transport::Udp);
    harness.pass(&flow.reversed(), &Transport::Udp);
    harness.now = Now(harness.now.0 + 181 * SECOND);
    assert_eq!(harness.pass(&flow, &Transport::Udp).state, ConnectionState::New);
    assert_eq!(harness.table.len(), 1);
}

#[test]
fn both_families_and_fasttrack_are_counted() {
    let mut harness = Harness::new(10);
    let conn = harness.pass(&tuple(17, 1, 1), &Transport::Udp).conn.unwrap();
    harness.pass(&v6(1), &Transport::Udp);
    harness.pass(&v6(2), &Transport::Udp);
    assert!(harness.table.set_fasttrack(conn));
    assert!(!harness.table.set_fasttrack(conn));
    let counts = harness.table.counts();
    assert_eq!((counts.ip4, counts.ip6, counts.fasttracked), (1, 2, 1));
    assert_eq!(harness.pass(&v6(2).reversed(), &Transport::Udp).state, ConnectionState::Established);
    harness.now = Now(harness.now.0 + 400 * SECOND);
    while harness.table.expire(harness.now, 1, &harness.timeouts) > 0 {}
    assert_eq!(harness.table.counts(), Counters::default());
    assert_eq!(harness.table.next_deadline(), None);
}

#[test]
fn cached_actions_end_with_the_version_the_generation_and_the_port() {
    let mut harness = Harness::new(10);
    let flow = tuple(17, 1, 1);
    let conn = harness.track(&flow, &Transport::Udp).conn.unwrap();
    let action = CachedAction { policy: 3, stamp: 8, path: 9, ..CachedAction::default() };
    assert!(!harness.table.install(conn, Direction::Original, 1, action));
    harness.table.confirm(conn).unwrap();
    assert!(harness.table.install(conn, Direction::Original, 1, action));
    let hash = harness.table.hash(&flow);
    let index = harness.table.verify(harness.table.probe(hash), &Key::of(&flow), &flow);
    assert_eq!(harness.table.cached(index, 3, 8, 1).map(|action| action.path), Some(9));
    assert!(harness.table.cached(index, 4, 8, 1).is_none());
    assert!(harness.table.cached(index, 3, 9, 1).is_none());
    assert!(harness.table.cached(index, 3, 8, 2).is_none());
    assert!(harness.table.cached(index | 1, 3, 8, 1).is_none());
    harness.pass(&flow.reversed(), &Transport::Udp);
    assert!(harness.table.cached(index, 3, 8, 1).is_none());
    let mut bytes = Vec::new();
    assert!(harness.table.set_fasttrack(conn));
    harness.table.count(index ^ 1, 2, 300);
    harness.table.count_slow(conn, Direction::Reply, 1, 40);
    assert_eq!(harness.table.dump(0, 100, harness.now, &mut bytes), None);
    assert_eq!(bytes.len(), 160);
    assert_eq!(bytes[8..13], [17, 4, 13, 0, 255]);
    assert_eq!(u64::from_le_bytes(bytes[152..160].try_into().unwrap()), 300);
}

#[test]
fn counters_that_run_over_in_the_line_go_on_beside_it() {
    let mut harness = Harness::new(10);
    let flow = tuple(17, 1, 1);
    let conn = harness.pass(&flow, &Transport::Udp).conn.unwrap();
    let index = conn.slot << 1;
    for (packets, bytes) in [(1, 100), (65_535, 3 << 30), (7, 3 << 30), (200_000, 1 << 40)] {
        harness.table.count(index, packets, bytes);
        harness.table.count(index | 1, 2 * packets, bytes + 1);
    }
    let (totals, fasttracked) = harness.table.totals(conn.slot);
    assert_eq!(totals.packets, [265_543, 2 * 265_543]);
    assert_eq!(totals.bytes, [100 + (6 << 30) + (1 << 40), 104 + (6 << 30) + (1 << 40)]);
    assert_eq!(fasttracked, Totals::default());
    assert!(harness.table.set_fasttrack(conn));
    harness.table.count(index, 70_000, 9);
    harness.table.count_slow(conn, Direction::Original, 5, 50);
    let (totals, fasttracked) = harness.table.totals(conn.slot);
    assert_eq!((totals.packets, fasttracked.packets), ([335_548, 2 * 265_543], [70_000, 0]));
    assert_eq!(fasttracked.bytes, [9, 0]);
    // Another connection in the same place begins at zero.
    harness.table.remove(harness.table.get(conn).unwrap().id);
    let next = harness.pass(&flow, &Transport::Udp).conn.unwrap();
    assert_eq!(next.slot, conn.slot);
    assert_eq!(harness.table.totals(next.slot), Default::default());
    assert!(harness.table.get(conn).is_none());
}

#[test]
fn a_table_read_in_parts_shows_once_what_lives_all_the_while() {
    let mut harness = Harness::new(200);
    let open = |harness: &mut Harness, port: u16| {
        let conn = harness.pass(&tuple(17, 1, port), &Transport::Udp).conn.unwrap();
        harness.table.get(conn).unwrap().id
    };
    let ids: Vec<u64> = (0..100).map(|port| open(&mut harness, 1000 + port)).collect();
    let (mut from, mut bytes, mut parts) = (0, Vec::new(), 0);
    while let Some(next) = {
        let (before, place) = (bytes.len(), from);
        let next = harness.table.dump(place, 7, harness.now, &mut bytes);
        assert!(bytes.len() - before <= 7 * 160);
        next
    } {
        // Ends one that has been read and one that has not; others take their places.
        harness.table.remove_all(&[ids[parts], ids[99 - parts]]);
        open(&mut harness, 2000 + 2 * parts as u16);
        open(&mut harness, 2001 + 2 * parts as u16);
        parts += 1;
        from = next;
    }
    assert!(parts >= 14);
    let found: Vec<u64> =
        bytes.chunks(160).map(|record| u64::from_le_bytes(record[..8].try_into().unwrap())).collect();
    for id in &ids[parts..100 - parts] {
        assert_eq!(found.iter().filter(|found| *found == id).count(), 1);
    }
    let mut distinct = found.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), found.len());
}

#[test]
fn plain_segments_in_window_are_fast_and_others_are_not() {
    let mut harness = Harness::new(10);
    let flow = tuple(6, 1, 1000);
    handshake(&mut harness, &flow);
    let hash = harness.table.hash(&flow);
    let index = harness.table.verify(harness.table.probe(hash), &Key::of(&flow), &flow);
    let mut fast = |index, segment| {
        harness.table.fast_update(index, &Transport::Tcp(segment), harness.now, &harness.timeouts)
    };
    for step in 0..10 {
        assert!(fast(index, segment(flag::ACK | flag::PSH, 101 + step * 1000, 5001, 1000)));
        assert!(fast(index | 1, segment(flag::ACK, 5001, 1101 + step * 1000, 0)));
    }
    for flags in [flag::SYN, flag::FIN | flag::ACK, flag::RST, flag::ACK | flag::URG, flag::PSH] {
        assert!(!fast(index, segment(flags, 10_101, 5001, 0)));
    }
    assert!(!fast(index, segment(flag::ACK, 1_000_000, 5001, 0)));
}

fn segments() -> impl Strategy<Value = (bool, Segment)> {
    let flags = prop_oneof![
        8 => Just(flag::ACK),
        4 => Just(flag::ACK | flag::PSH),
        1 => any::<u8>(),
        1 => Just(flag::FIN | flag::ACK),
    ];
    let sack = proptest::option::of(5000u32..9000);
    (any::<bool>(), 0u32..4000, 0u32..4000, 0u32..3000, prop_oneof![Just(1000u16), any::<u16>()], flags, sack)
        .prop_map(|(reply, seq, ack, payload, window, flags, sack_right)| {
            let (mine, theirs) = if reply { (5001, 101) } else { (101, 5001) };
            let options = Options { sack_right, ..Options::default() };
            (reply, Segment { seq: mine + seq, ack: theirs + ack, payload, window, flags, options })
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// What the fast path takes leaves exactly the state that the slow path would have left.
    #[test]
    fn fast_update_equals_track(stream in proptest::collection::vec((segments(), 0u64..60), 1..60)) {
        let flow = tuple(6, 1, 1000);
        let mut slow = Harness::new(10);
        let mut fast = Harness::new(10);
        handshake(&mut slow, &flow);
        handshake(&mut fast, &flow);
        for ((reply, segment), seconds) in stream {
            let tuple = if reply { flow.reversed() } else { flow };
            let transport = Transport::Tcp(segment);
            slow.now = Now(slow.now.0 + seconds * SECOND);
            fast.now = slow.now;
            let judged = slow.pass(&tuple, &transport);
            let hash = fast.table.hash(&tuple);
            let index = fast.table.verify(fast.table.probe(hash), &Key::of(&tuple), &tuple);
            let taken = fast.table.fast_update(index, &transport, fast.now, &fast.timeouts)
                || fast.table.track_closing(index, &transport, fast.now, &fast.timeouts);
            if taken {
                prop_assert_eq!(judged.state, ConnectionState::Established);
            } else {
                prop_assert_eq!(fast.pass(&tuple, &transport), judged);
            }
            let [a, b] = [&slow, &fast].map(|h| {
                let (conn, direction) = h.table.find(&tuple)?;
                let conn = h.table.get(conn)?;
                Some((direction, conn.tcp, conn.left(h.now), conn.status, conn.version, conn.id))
            });
            prop_assert_eq!(a, b);
        }
    }

    #[test]
    fn any_segments_are_tracked_without_panic(
        stream in proptest::collection::vec(
            (any::<bool>(), any::<u32>(), any::<u32>(), any::<u32>(), any::<u16>(), any::<u8>(),
             proptest::option::of(0u8..15), any::<bool>(), proptest::option::of(any::<u32>())),
            1..40,
        )
    ) {
        let flow = tuple(6, 1, 1000);
        let mut harness = Harness::new(10);
        for (reply, seq, ack, payload, window, flags, window_scale, sack_permitted, sack_right) in stream {
            let options = Options { window_scale, sack_permitted, sack_right };
            let segment = Segment { seq, ack, payload, window, flags, options };
            let tracked = harness.tcp(&if reply { flow.reversed() } else { flow }, segment);
            prop_assert_eq!(tracked.conn.is_none(), tracked.state == ConnectionState::Invalid);
            if let Some((conn, direction)) = harness.table.find(&flow) {
                let index = conn.slot << 1 | direction as u32;
                harness.table.fast_update(index, &Transport::Tcp(segment), harness.now, &harness.timeouts);
            }
        }
    }

    #[test]
    fn fast_update_equals_track_for_udp(stream in proptest::collection::vec((any::<bool>(), 0u64..100), 1..40)) {
        let flow = tuple(17, 1, 1000);
        let mut slow = Harness::new(10);
        let mut fast = Harness::new(10);
        for (reply, seconds) in stream {
            let tuple = if reply { flow.reversed() } else { flow };
            slow.now = Now(slow.now.0 + seconds * SECOND);
            fast.now = slow.now;
            let judged = slow.pass(&tuple, &Transport::Udp);
            let hash = fast.table.hash(&tuple);
            let index = fast.table.verify(fast.table.probe(hash), &Key::of(&tuple), &tuple);
            if fast.table.fast_update(index, &Transport::Udp, fast.now, &fast.timeouts) {
                prop_assert!(judged.reason.is_none());
            } else {
                prop_assert_eq!(fast.pass(&tuple, &Transport::Udp), judged);
            }
            let [a, b] = [&slow, &fast].map(|h| {
                let (conn, direction) = h.table.find(&tuple).unwrap();
                let conn = h.table.get(conn).unwrap();
                (direction, conn.left(h.now), conn.status, conn.version, conn.id)
            });
            prop_assert_eq!(a, b);
        }
    }

    /// Tuples, slots and lists stay consistent under any order of events.
    #[test]
    fn the_table_agrees_with_a_model(ops in proptest::collection::vec((0u8..6, 0u16..40), 1..300)) {
        let mut harness = Harness::new(16);
        for (op, port) in ops {
            let flow = if port % 3 == 0 { v6(u128::from(port)) } else { tuple(17, 1, port) };
            match op {
                0..3 => { harness.pass(&flow, &Transport::Udp); }
                3 => { harness.pass(&flow.reversed(), &Transport::Udp); }
                4 => if let Some((conn, _)) = harness.table.find(&flow) {
                    let id = harness.table.get(conn).unwrap().id;
                    prop_assert!(harness.table.remove(id));
                    prop_assert!(harness.table.find(&flow).is_none());
                },
                _ => {
                    harness.now = Now(harness.now.0 + 20 * SECOND);
                    harness.table.expire(harness.now, 3, &harness.timeouts);
                }
            }
            let live = harness.table.connections().count();
            prop_assert_eq!(live, harness.table.len());
            prop_assert!(live <= 16);
            let counts = harness.table.counts();
            prop_assert_eq!((counts.ip4 + counts.ip6) as usize, live);
            for conn in harness.table.connections() {
                for direction in [Direction::Original, Direction::Reply] {
                    let found = harness.table.find(&conn.tuple(direction)).unwrap();
                    prop_assert_eq!(harness.table.get(found.0).unwrap().id, conn.id);
                    prop_assert_eq!(found.1, direction);
                }
            }
        }
    }
}
