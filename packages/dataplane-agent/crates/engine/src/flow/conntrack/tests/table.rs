//! Slots, tuples, eviction and what is cached.

use tollway_config::protocol::CONNECTION_RECORD;

use super::*;
use crate::ids::{Direction, NO_ENTRY};
use crate::packet::key::FlowKey;
use crate::packet::membership_slot::MembershipSlot;
use crate::packet::tuple::steer;

#[test]
fn an_entry_that_is_anothers_by_now_is_looked_up_again() {
    for [ours, other, third] in [[1, 2, 3].map(|src| tuple(17, src, 5)), [1, 2, 3].map(v6)] {
        let mut harness = Harness::new(10);
        let conn = harness.pass(&ours, &UDP).conn.unwrap();
        let others = harness.pass(&other, &UDP).conn.unwrap();
        for entry in [conn.slot << 1, conn.slot << 1 | 1, others.slot << 1, 999, NO_ENTRY] {
            assert_eq!(track_looked_up(&mut harness, &ours, entry).conn, Some(conn), "{entry}");
        }
        let id = harness.table.get(conn).unwrap().id;
        harness.table.remove(id);
        let taker = harness.pass(&third, &UDP).conn.unwrap();
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
    let conn = harness.track(&flow, &UDP).conn.unwrap();
    let answer = track_looked_up(&mut harness, &flow.reversed(), conn.slot << 1 | 1);
    assert_eq!((answer.state, answer.direction), (ConnectionState::New, Direction::Original));
    assert_ne!(answer.conn, Some(conn));
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
    // Its packets are steered to the other worker.
    harness.table = ConnectionTable::new(1 - steer(&flow, 2), 2, 10, 7);
    handshake(&mut harness, &flow);
    harness.tcp(&flow, segment(flag::RST, 101, 0, 0));
    let new = harness.tcp(&flow, segment(flag::SYN, 9000, 0, 0)).conn.unwrap();
    assert_eq!(harness.table.take_unpublished(), None);
    let id = harness.table.get(new).unwrap().id;
    harness.table.remove(id);
    assert_eq!(harness.table.take_unpublished(), Some(flow));
    assert_eq!(harness.table.take_unpublished(), None);
}

#[test]
fn unconfirmed_connections_go_with_the_last_packet_that_holds_them() {
    let mut harness = Harness::new(10);
    let flow = tuple(17, 1, 1000);
    let first = harness.track(&flow, &UDP).conn.unwrap();
    let second = harness.track(&flow, &UDP).conn.unwrap();
    assert_eq!(first, second);
    harness.table.abandon(first);
    assert!(harness.table.get(second).is_some());
    harness.table.abandon(second);
    assert!(harness.table.is_empty() && harness.table.find(&flow).is_none());

    let first = harness.track(&flow, &UDP).conn.unwrap();
    harness.track(&flow, &UDP);
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
        let conn = harness.pass(&tuple(17, 1, port), &UDP).conn.unwrap();
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
    let refused = harness.pass(&tuple(17, 9, 9), &UDP);
    assert_eq!((refused.state, refused.reason), (ConnectionState::Invalid, Some(InvalidReason::TableFull)));
    harness.table.set_max_entries(200);
    for port in 0..150 {
        assert_eq!(harness.pass(&tuple(17, 9, port), &UDP).state, ConnectionState::New);
    }
    for src in 0..3 {
        assert_eq!(harness.state(&tuple(6, src, 1)), State::Established);
    }
}

#[test]
fn a_new_packet_after_the_end_starts_anew_even_before_the_wheel_turns() {
    let mut harness = Harness::new(3);
    let flow = tuple(17, 1, 1);
    harness.pass(&flow, &UDP);
    harness.pass(&flow.reversed(), &UDP);
    harness.now = Now(harness.now.0 + 181 * SECOND);
    assert_eq!(harness.pass(&flow, &UDP).state, ConnectionState::New);
    assert_eq!(harness.table.len(), 1);
}

#[test]
fn both_families_and_fasttrack_are_counted() {
    let mut harness = Harness::new(10);
    let conn = harness.pass(&tuple(17, 1, 1), &UDP).conn.unwrap();
    harness.pass(&v6(1), &UDP);
    harness.pass(&v6(2), &UDP);
    assert!(harness.table.set_fasttrack(conn));
    assert!(!harness.table.set_fasttrack(conn));
    let counts = harness.table.counts();
    assert_eq!((counts.ip4, counts.ip6, counts.fasttracked), (1, 2, 1));
    assert_eq!(harness.pass(&v6(2).reversed(), &UDP).state, ConnectionState::Established);
    harness.now = Now(harness.now.0 + 400 * SECOND);
    while harness.table.expire(harness.now, 1, &harness.timeouts) > 0 {}
    assert_eq!(harness.table.counts(), Counters::default());
    assert_eq!(harness.table.next_deadline(), None);
}

#[test]
fn cached_actions_end_with_the_version_of_the_connection() {
    let mut harness = Harness::new(10);
    let flow = tuple(17, 1, 1);
    let conn = harness.track(&flow, &UDP).conn.unwrap();
    let lists = [MembershipSlot::of(1, Addr::v4(1)), MembershipSlot::NONE];
    let cached = CachedAction { action: 9, stamp: 8, ..CachedAction::default() };
    assert!(!harness.table.install(conn, Direction::Original, cached, lists));
    harness.table.confirm(conn).unwrap();
    assert!(harness.table.install(conn, Direction::Original, cached, lists));
    let hash = harness.table.hash(&flow);
    let index = harness.table.verify(harness.table.probe(hash), &FlowKey::of(&flow), &flow);
    assert_eq!(harness.table.cached(index).map(|cached| (cached.action, cached.stamp)), Some((9, 8)));
    assert_eq!(harness.table.memberships(index), lists);
    assert!(harness.table.cached(index | 1).is_none());
    harness.pass(&flow.reversed(), &UDP);
    assert!(harness.table.cached(index).is_none());
    assert!(harness.table.installed(index).is_some());
    let mut bytes = Vec::new();
    assert!(harness.table.set_fasttrack(conn));
    harness.table.count(index ^ 1, 2, 300);
    harness.table.count_slow(conn, Direction::Reply, 1, 40);
    assert_eq!(harness.table.dump(0, 1000, harness.now, &mut bytes), None);
    assert_eq!(bytes.len(), CONNECTION_RECORD);
    assert_eq!(bytes[8..13], [17, 4, 13, 0, 255]);
    assert_eq!(u64::from_le_bytes(bytes[152..160].try_into().unwrap()), 300);
    assert_eq!(bytes[160..], [0, 0], "no VRF");
}

#[test]
fn counters_that_run_over_in_the_line_go_on_beside_it() {
    let mut harness = Harness::new(10);
    let flow = tuple(17, 1, 1);
    let conn = harness.pass(&flow, &UDP).conn.unwrap();
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
    let next = harness.pass(&flow, &UDP).conn.unwrap();
    assert_eq!(next.slot, conn.slot);
    assert_eq!(harness.table.totals(next.slot), Default::default());
    assert!(harness.table.get(conn).is_none());
}

#[test]
fn a_table_read_in_parts_shows_once_what_lives_all_the_while() {
    let mut harness = Harness::new(200);
    let open = |harness: &mut Harness, port: u16| {
        let conn = harness.pass(&tuple(17, 1, port), &UDP).conn.unwrap();
        harness.table.get(conn).unwrap().id
    };
    let ids: Vec<u64> = (0..100).map(|port| open(&mut harness, 1000 + port)).collect();
    let (mut from, mut bytes, mut parts) = (0, Vec::new(), 0);
    while let Some(next) = {
        let (before, place) = (bytes.len(), from);
        let next = harness.table.dump(place, 7, harness.now, &mut bytes);
        assert!(bytes.len() - before <= 7 * CONNECTION_RECORD);
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
    let found: Vec<u64> = bytes
        .chunks(CONNECTION_RECORD)
        .map(|record| u64::from_le_bytes(record[..8].try_into().unwrap()))
        .collect();
    for id in &ids[parts..100 - parts] {
        assert_eq!(found.iter().filter(|found| *found == id).count(), 1);
    }
    let mut distinct = found.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), found.len());
}

/// Closes a connection of [`handshake`]; leaves it in the state `until`.
fn close(harness: &mut Harness, flow: &Tuple, until: State) {
    let back = flow.reversed();
    for (tuple, segment) in [
        (flow, segment(flag::FIN | flag::ACK, 101, 5001, 0)),
        (&back, segment(flag::ACK, 5001, 102, 0)),
        (&back, segment(flag::FIN | flag::ACK, 5001, 102, 0)),
        (flow, segment(flag::ACK, 102, 5002, 0)),
    ] {
        if harness.state(flow) == until {
            return;
        }
        harness.tcp(tuple, segment);
    }
    if until == State::Close {
        harness.tcp(flow, segment(flag::RST, 102, 5002, 0));
    }
    assert_eq!(harness.state(flow), until);
}

#[test]
fn a_full_table_gives_up_what_is_over_then_what_is_not_assured_then_what_is_half_closed() {
    let mut harness = Harness::new(8);
    let flows: Vec<_> = (0..8).map(|src| tuple(6, src, 1)).collect();
    let states = [
        State::Established,
        State::CloseWait,
        State::TimeWait,
        State::FinWait,
        State::Established,
        State::Close,
        State::LastAck,
        State::Established,
    ];
    for (flow, state) in flows.iter().zip(states) {
        handshake(&mut harness, flow);
        close(&mut harness, flow, state);
    }
    assert!(!harness.table.is_full());
    let mut gone = Vec::new();
    for port in 0..100 {
        let fresh = harness.pass(&tuple(17, 9, port), &UDP);
        assert_eq!((fresh.state, fresh.reason), (ConnectionState::New, None), "{port}");
        // Every other one is answered and goes on, so that it stays.
        if port % 2 == 0 && harness.table.counts().evicted < 8 {
            harness.pass(&tuple(17, 9, port).reversed(), &UDP);
            harness.pass(&tuple(17, 9, port), &UDP);
        }
        let missing = |flow: &usize| harness.table.find(&flows[*flow]).is_none();
        let now: Vec<_> = (0..8).filter(missing).filter(|flow| !gone.contains(flow)).collect();
        gone.extend(now);
    }
    // In the order in which they ended; those that were half closed last.
    assert_eq!(gone, [2, 5, 1, 3, 6]);
    for (flow, state) in flows.iter().zip(states).filter(|(_, state)| *state == State::Established) {
        assert_eq!(harness.state(flow), state);
    }
}

/// Connections that ended on the fast path are given up likewise, and a flood takes nothing from flows in use.
#[test]
fn a_flood_into_a_table_full_of_ended_connections_finds_room_and_spares_established_ones() {
    let mut harness = Harness::new(1000);
    let flows: Vec<_> = (0..1000).map(|src| tuple(6, src, 1)).collect();
    for flow in &flows {
        handshake(&mut harness, flow);
    }
    for flow in flows.iter().skip(100) {
        let index = harness.table.find(flow).unwrap().0.slot << 1;
        let Harness { table, timeouts, now } = &mut harness;
        for (index, segment) in [
            (index, segment(flag::FIN | flag::ACK, 101, 5001, 0)),
            (index | 1, segment(flag::FIN | flag::ACK, 5001, 102, 0)),
            (index, segment(flag::ACK, 102, 5002, 0)),
        ] {
            assert!(
                table
                    .track_out_of_order_or_closing(index, &Transport::Tcp(segment), *now, timeouts)
                    .is_some()
            );
        }
        assert_eq!(harness.state(flow), State::TimeWait);
    }
    for source in 0..100_000 {
        let spoofed = Tuple { src: Addr::v4(0x3000_0000 | source), ..tuple(6, 0, 5) };
        assert_eq!(harness.tcp(&spoofed, segment(flag::SYN, source, 0, 0)).state, ConnectionState::New);
        assert!(harness.table.len() <= 1000);
    }
    for flow in flows.iter().take(100) {
        assert_eq!(harness.state(flow), State::Established);
    }
    assert_eq!(harness.table.counts().evicted, 100_000);
    assert!(!harness.table.connections().any(|conn| conn.protocol_state.state() == State::TimeWait));
}
