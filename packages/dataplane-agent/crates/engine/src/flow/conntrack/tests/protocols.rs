//! What each protocol does with a connection.

use super::*;
use crate::ids::Direction;
use crate::packet::key::FlowKey;
use crate::packet::tuple::icmp_kind;

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
fn what_closes_a_connection_on_the_fast_path_ends_it_in_time() {
    let mut harness = Harness::new(10);
    let flow = tuple(6, 1, 1000);
    handshake(&mut harness, &flow);
    let conn = harness.table.find(&flow).unwrap().0;
    let index = conn.slot << 1;
    let close = |harness: &mut Harness, index, segment| {
        let Harness { table, timeouts, now } = harness;
        table.track_out_of_order_or_closing(index, &Transport::Tcp(segment), *now, timeouts).is_some()
    };
    // What opens, and what is out of window, is not its business.
    for other in [
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
    let before = harness.table.get(conn).unwrap().protocol_state;
    for bad in [
        segment(flag::ACK, 101 + 1_000_000, 5001, 10),
        segment(flag::ACK, 101, 5001 + 1_000_000, 10),
        segment(flag::RST, 101 + 1_000_000, 0, 0),
        segment(flag::SYN | flag::FIN, 101, 5001, 0),
        segment(0, 101, 5001, 0),
        segment(flag::SYN | flag::ACK, 101, 5001, 0),
    ] {
        let tracked = harness.tcp(&flow, bad);
        assert_eq!(tracked.state, ConnectionState::Invalid, "{bad:?}");
        assert_eq!((tracked.conn, tracked.reason), (None, Some(InvalidReason::State)));
        assert_eq!(harness.table.get(conn).unwrap().protocol_state, before);
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

/// A connection of which only one side has been seen since its windows were forgotten.
#[test]
fn tcp_reset_belongs_to_a_connection_whose_peer_has_not_been_seen() {
    let timeouts = Timeouts::default();
    let data = |seq| segment(flag::ACK, seq, 3_000_000_000, 1000);
    for (seen, flags, seq, outcome) in [
        (0, flag::RST | flag::ACK, 5000, SegmentOutcome::Accepted),
        (1, flag::RST | flag::ACK, 5000, SegmentOutcome::Accepted),
        // Its data may have got no further than here.
        (2, flag::RST, 5000, SegmentOutcome::Accepted),
        (2, flag::RST, 5000_u32.wrapping_add(1 << 31), SegmentOutcome::Invalid),
    ] {
        let mut protocol_state = ProtocolState::with_unknown_windows();
        for index in 0..seen {
            let taken = protocol_state.track(Direction::Original, &data(4000 + index * 1000), &timeouts);
            assert_eq!(taken, SegmentOutcome::Accepted);
        }
        let reset = segment(flags, seq, 3_000_050_000, 0);
        assert_eq!(
            protocol_state.track(Direction::Original, &reset, &timeouts),
            outcome,
            "{seen} {flags} {seq}"
        );
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
    let mut protocol_state =
        ProtocolState::open(&segment(flag::ACK, 1000, 500, 100), &Timeouts::default()).unwrap();
    for step in 1..50u32 {
        let segment = segment(flag::ACK, 1000 + step * 100, 500 + step * 100_000, 100);
        assert_eq!(
            protocol_state.track(Direction::Original, &segment, &Timeouts::default()),
            SegmentOutcome::Accepted,
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
    // The wheel was given the sooner end and later finds the later one.
    harness.now = Now(harness.now.0 + 201 * SECOND);
    assert_eq!(harness.table.expire(harness.now, 100, &harness.timeouts), 0);
    assert_eq!(harness.table.len(), 1);
    harness.now = Now(harness.now.0 + 86_401 * SECOND);
    assert_eq!(harness.table.expire(harness.now, 100, &harness.timeouts), 1);
}

#[test]
fn picked_up_and_never_answered_is_kept_as_long_as_unacknowledged_data() {
    let mut harness = Harness::new(10);
    let flow = tuple(6, 1, 1000);
    let left = |harness: &Harness| {
        let (conn, _) = harness.table.find(&flow).unwrap();
        seconds_left(harness, conn)
    };
    for _ in 0..3 {
        harness.tcp(&flow, segment(flag::ACK, 101, 5001, 0));
        assert_eq!(left(&harness), 300);
    }
    harness.tcp(&flow.reversed(), segment(flag::ACK, 5001, 101, 0));
    assert_eq!(left(&harness), 86_400);
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
    let first = harness.pass(&flow, &UDP);
    let conn = first.conn.unwrap();
    let left = |harness: &Harness| seconds_left(harness, conn);
    assert_eq!((first.state, left(&harness)), (ConnectionState::New, 30));
    let version = harness.table.get(conn).unwrap().version;
    let answer = harness.pass(&flow.reversed(), &UDP);
    assert_eq!((answer.state, left(&harness)), (ConnectionState::Established, 180));
    assert_ne!(harness.table.get(conn).unwrap().version, version);
    assert!(!harness.table.get(conn).unwrap().status.assured());
    harness.pass(&flow, &UDP);
    assert!(harness.table.get(conn).unwrap().status.assured());
}

#[test]
fn icmp_queries_are_keyed_by_identifier_and_by_what_they_ask() {
    let mut harness = Harness::new(10);
    let flow = Tuple { dst_port: 77, ..tuple(1, 1, 77) };
    let against = Tuple { icmp: 0, ..flow.reversed() };
    let timestamps = Tuple { icmp: icmp_kind(13).unwrap(), ..flow };
    let request = Transport::Icmp(icmp::Message { icmp_type: 8, code: 0 });
    let reply = Transport::Icmp(icmp::Message { icmp_type: 0, code: 0 });
    let stray = harness.pass(&against.reversed(), &reply);
    assert_eq!((stray.state, stray.reason), (ConnectionState::Invalid, Some(InvalidReason::NoEntry)));
    assert_eq!(harness.pass(&flow, &request).state, ConnectionState::New);
    assert_eq!(harness.pass(&flow.reversed(), &reply).state, ConnectionState::Established);
    assert_eq!(harness.pass(&flow, &request).state, ConnectionState::Established);
    assert_eq!(harness.pass(&against.reversed(), &reply).state, ConnectionState::Invalid);
    assert_eq!(harness.pass(&against, &request).state, ConnectionState::New);
    assert_eq!(harness.pass(&against.reversed(), &reply).state, ConnectionState::Established);
    // What was asked with that identifier opens the way to nothing else.
    let timestamp_reply = Transport::Icmp(icmp::Message { icmp_type: 14, code: 0 });
    assert_eq!(harness.pass(&timestamps.reversed(), &timestamp_reply).state, ConnectionState::Invalid);
    let timestamp = Transport::Icmp(icmp::Message { icmp_type: 13, code: 0 });
    assert_eq!(harness.pass(&timestamps, &timestamp).state, ConnectionState::New);
    assert_eq!(harness.pass(&timestamps.reversed(), &timestamp_reply).state, ConnectionState::Established);
    let (_, direction) = harness.table.related(&flow).unwrap();
    assert_eq!(direction, Direction::Reply);
    assert!(harness.table.related(&tuple(17, 9, 9)).is_none());
}

#[test]
fn plain_segments_in_window_are_fast_and_others_are_not() {
    let mut harness = Harness::new(10);
    let flow = tuple(6, 1, 1000);
    handshake(&mut harness, &flow);
    let hash = harness.table.hash(&flow);
    let index = harness.table.verify(harness.table.probe(hash), &FlowKey::of(&flow), &flow);
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

#[test]
fn segments_out_of_order_are_told_apart_and_leave_the_timers_alone() {
    let mut harness = Harness::new(10);
    let flow = tuple(6, 1, 1000);
    handshake(&mut harness, &flow);
    let conn = harness.table.find(&flow).unwrap().0;
    let index = conn.slot << 1;
    let mut order = |index, seq: u32, ack: u32, payload| {
        harness.take(index, &Transport::Tcp(segment(flag::ACK, seq, ack, payload)))
    };
    use Order::{InOrder, OutOfOrder};
    assert_eq!(order(index, 101, 5001, 100), Some(InOrder));
    assert_eq!(order(index, 301, 5001, 100), Some(InOrder), "one is missing");
    assert_eq!(order(index, 201, 5001, 100), Some(OutOfOrder), "it comes after the next");
    assert_eq!(order(index, 301, 5001, 100), Some(OutOfOrder), "it was sent again");
    assert_eq!(order(index, 400, 5001, 1), Some(OutOfOrder), "a probe of a byte that was sent");
    assert_eq!(order(index, 400, 5001, 0), Some(InOrder), "a probe without data");
    assert_eq!(order(index, 390, 5001, 100), Some(OutOfOrder), "its end is new");
    assert_eq!(order(index | 1, 5001, 490, 10), Some(InOrder), "the other direction has its own");
    assert_eq!(order(index, 490, 5011, 10), Some(InOrder));
    assert_eq!(seconds_left(&harness, conn), 300);
}
