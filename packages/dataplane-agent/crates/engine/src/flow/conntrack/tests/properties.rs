//! The fast way against the whole one, and the table against a model.

use proptest::prelude::*;

use super::*;
use crate::ids::Direction;
use crate::packet::key::FlowKey;

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
            let options = Options::new(None, false, sack_right);
            (reply, Segment { seq: mine + seq, ack: theirs + ack, payload, window, flags, options })
        })
}

/// Few numbers, so that segments answer each other.
fn control_segments() -> impl Strategy<Value = (bool, Segment)> {
    let flags = prop_oneof![
        2 => Just(flag::SYN),
        2 => Just(flag::SYN | flag::ACK),
        4 => Just(flag::ACK),
        1 => Just(flag::RST),
        1 => Just(flag::RST | flag::ACK),
        1 => Just(flag::FIN | flag::ACK),
    ];
    let number = || (0u32..3, 0u32..3).prop_map(|(far, near)| far * 1_400_000_000 + near);
    let scale = proptest::option::of(0u8..15);
    (any::<bool>(), number(), number(), 0u32..3, flags, scale).prop_map(
        |(reply, seq, ack, payload, flags, window_scale)| {
            let options = Options::new(window_scale, false, None);
            (reply, Segment { seq, ack, payload, window: 1000, flags, options })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(200)))]
    /// A packet on the fast path leaves exactly the state that the slow path would have left.
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
            let index = fast.table.verify(fast.table.probe(hash), &FlowKey::of(&tuple), &tuple);
            let taken = fast.take(index, &transport);
            if let Some(order) = taken {
                prop_assert_eq!((judged.state, judged.order), (ConnectionState::Established, order));
            } else {
                prop_assert_eq!(fast.pass(&tuple, &transport), judged);
            }
            let [a, b] = [&slow, &fast].map(|h| {
                let (conn, direction) = h.table.find(&tuple)?;
                let conn = h.table.get(conn)?;
                Some((direction, conn.protocol_state, conn.left(h.now), conn.status, conn.version, conn.id))
            });
            prop_assert_eq!(a, b);
        }
    }

    /// As above from any state, with segments that open, reset and answer each other.
    #[test]
    fn fast_update_equals_track_while_connections_open_and_close(
        stream in proptest::collection::vec((control_segments(), 0u64..3), 1..60),
    ) {
        let flow = tuple(6, 1, 1000);
        let mut slow = Harness::new(10);
        let mut fast = Harness::new(10);
        for ((reply, segment), seconds) in stream {
            let tuple = if reply { flow.reversed() } else { flow };
            let transport = Transport::Tcp(segment);
            slow.now = Now(slow.now.0 + seconds * SECOND);
            fast.now = slow.now;
            let judged = slow.pass(&tuple, &transport);
            let index = fast.table.find(&tuple).map(|(conn, direction)| conn.slot << 1 | direction as u32);
            let taken = index.and_then(|index| fast.take(index, &transport));
            if let Some(order) = taken {
                prop_assert_eq!((judged.state, judged.order), (ConnectionState::Established, order));
            } else {
                prop_assert_eq!(fast.pass(&tuple, &transport), judged);
            }
            let [a, b] = [&slow, &fast].map(|h| {
                let conn = h.table.get(h.table.find(&tuple)?.0)?;
                Some((conn.protocol_state, conn.left(h.now), conn.status, conn.version, conn.id))
            });
            prop_assert_eq!(a, b);
            prop_assert!(slow.table.lists_agree() && fast.table.lists_agree());
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
            let options = Options::new(window_scale, sack_permitted, sack_right);
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
            let judged = slow.pass(&tuple, &UDP);
            let hash = fast.table.hash(&tuple);
            let index = fast.table.verify(fast.table.probe(hash), &FlowKey::of(&tuple), &tuple);
            if fast.table.fast_update(index, &UDP, fast.now, &fast.timeouts) {
                prop_assert!(judged.reason.is_none());
            } else {
                prop_assert_eq!(fast.pass(&tuple, &UDP), judged);
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
                0..3 => { harness.pass(&flow, &UDP); }
                3 => { harness.pass(&flow.reversed(), &UDP); }
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
            prop_assert!(harness.table.lists_agree());
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
