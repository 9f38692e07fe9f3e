use tollway_config::dataplane::NeighborCollection;

use super::table::RENUMBER_TIME;
use super::*;

const KEY: NeighborKey = (7, Addr::v4(0x0a00_0002));
const MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];

fn key(interface: RowId, host: u32) -> NeighborKey {
    (interface, Addr::v4(host))
}

fn at(ms: u64) -> Now {
    Now::from_ms(ms)
}

fn aged(table: &Neighbors, now: Now) -> Vec<NeighborRequest> {
    let mut sent = Vec::new();
    assert!(!table.age(now, |request| sent.push(request)));
    sent
}

#[test]
fn asks_three_times_then_fails_then_asks_again_after_the_negative_time() {
    let table = Neighbors::new();
    let first = table.resolve(KEY, true, 10, at(0));
    assert_eq!(first.adjacency, Adjacency::Incomplete);
    assert_eq!(first.request, Some(NeighborRequest { key: KEY, unicast: None }));
    assert_eq!(table.resolve(KEY, true, 10, at(1)).request, None);
    assert_eq!(aged(&table, at(999)), []);
    assert_eq!(aged(&table, at(1000)).len(), 1);
    assert_eq!(aged(&table, at(2000)).len(), 1);
    assert_eq!(aged(&table, at(3000)), []);
    assert_eq!(table.adjacency(first.id), Adjacency::Failed);
    assert_eq!(table.resolve(KEY, true, 10, at(3999)).request, None);
    assert_eq!(aged(&table, at(4000)), []);
    assert_eq!(table.adjacency(first.id), Adjacency::Gone);
    assert!(table.resolve(KEY, true, 10, at(4001)).request.is_some());
}

#[test]
fn an_answer_makes_it_reachable_then_stale_and_use_probes_by_unicast() {
    let table = Neighbors::new();
    let id = table.resolve(KEY, true, 10, at(0)).id;
    table.learn(KEY, MAC, LearnedFrom::Reply, 30_000, 10, at(5));
    assert_eq!(table.adjacency(id), Adjacency::Ready(MAC));
    assert_eq!(aged(&table, at(30_005)), []);
    assert_eq!(table.adjacency(id), Adjacency::Stale(MAC));
    let probe = table.resolve(KEY, true, 10, at(40_000));
    assert_eq!(probe.adjacency, Adjacency::Ready(MAC));
    assert_eq!(probe.request, Some(NeighborRequest { key: KEY, unicast: Some(MAC) }));
    table.learn(KEY, MAC, LearnedFrom::Reply, 30_000, 10, at(40_001));
    assert_eq!(aged(&table, at(41_000)), []);
    assert_eq!(table.list(), [(KEY, 0, Some(MAC), NeighborStatus::Reachable)]);
}

#[test]
fn a_silent_station_is_forgotten_after_three_unicast_probes() {
    let table = Neighbors::new();
    table.learn(KEY, MAC, LearnedFrom::Request, 30_000, 10, at(0));
    let id = table.resolve(KEY, true, 10, at(1)).id;
    assert_eq!(aged(&table, at(1001)).len(), 1);
    assert_eq!(aged(&table, at(2001)).len(), 1);
    aged(&table, at(3001));
    assert_eq!(table.adjacency(id), Adjacency::Gone);
    assert_eq!(table.list(), []);
}

#[test]
fn announcements_change_known_entries_only() {
    let table = Neighbors::new();
    table.learn(KEY, MAC, LearnedFrom::Announcement, 30_000, 10, at(0));
    assert_eq!(table.list(), []);
    let id = table.resolve(KEY, true, 10, at(0)).id;
    table.learn(KEY, MAC, LearnedFrom::Reply, 30_000, 10, at(0));
    let other = [2, 0, 0, 0, 0, 10];
    table.learn(KEY, other, LearnedFrom::Announcement, 30_000, 10, at(1));
    assert_eq!(table.adjacency(id), Adjacency::Stale(other));
}

#[test]
fn the_table_is_bounded_and_makes_room_by_forgetting_unconfirmed_entries() {
    let table = Neighbors::new();
    table.learn(key(1, 1), MAC, LearnedFrom::Request, 30_000, 2, at(0));
    table.learn(key(1, 2), MAC, LearnedFrom::Reply, 30_000, 2, at(0));
    table.resolve(key(1, 3), true, 2, at(0));
    assert_eq!(table.list().len(), 2);
    assert!(!table.resolve(key(1, 4), true, 2, at(1)).full, "the stale entry makes room");
    assert!(
        table.resolve(key(1, 5), true, 2, at(2)).full,
        "those that have just been asked for have time to answer"
    );
    assert!(!table.resolve(key(1, 5), true, 2, at(20)).full, "the eldest that has not answered makes room");
    let asked: Vec<u32> = table.list().iter().filter_map(|(key, ..)| key.1.as_v4()).collect();
    assert_eq!(asked, [4, 5]);
    for host in asked {
        table.learn(key(1, host), MAC, LearnedFrom::Reply, 30_000, 2, at(21));
    }
    assert!(table.resolve(key(1, 6), true, 2, at(100)).full, "those that have answered stay");
}

#[test]
fn a_neighbour_that_has_been_asked_for_gives_way_to_none_that_only_asks() {
    let table = Neighbors::new();
    table.resolve(key(1, 1), true, 2, at(0));
    table.resolve(key(1, 2), true, 2, at(0));
    table.learn(key(1, 3), MAC, LearnedFrom::Request, 30_000, 2, at(500));
    assert_eq!(table.list().iter().filter_map(|(key, ..)| key.1.as_v4()).collect::<Vec<_>>(), [1, 2]);
    // One that has been asked for anew, after it had failed, is not the eldest any more.
    aged(&table, at(1000));
    aged(&table, at(2000));
    table.learn(key(1, 2), MAC, LearnedFrom::Announcement, 30_000, 2, at(2500));
    aged(&table, at(3000));
    assert!(table.resolve(key(1, 2), true, 2, at(3005)).request.is_some());
    assert!(!table.resolve(key(1, 4), true, 2, at(3010)).full);
    assert!(table.resolve(key(1, 5), true, 2, at(3015)).full);
    assert_eq!(table.list().iter().filter_map(|(key, ..)| key.1.as_v4()).collect::<Vec<_>>(), [2, 4]);
}

/// Stations of both families that do not exist are asked for, or ask, at 10,000 a second, while others answer within 10 ms.
#[test]
fn neighbours_are_found_during_a_scan_of_their_network() {
    const LIMIT: u32 = 1000;
    let of = |ipv6: bool, host: u32| if ipv6 { key6(u128::from(host)) } else { key(7, host) };
    for (ipv6, asked_for, asking) in
        [(false, 10, 0), (false, 0, 10), (false, 5, 5), (true, 10, 0), (true, 0, 10), (true, 5, 5)]
    {
        let case = format!("ipv6 {ipv6}, {asked_for} asked for, {asking} asking");
        let table = Neighbors::new();
        let mut known = Vec::new();
        for ms in 0..10_000_u32 {
            let now = at(u64::from(ms));
            for each in 0..asked_for {
                table.resolve(of(ipv6, 100_000 + ms * 10 + each), true, LIMIT, now);
            }
            for each in 0..asking {
                let station = of(ipv6, 500_000 + ms * 10 + each);
                table.learn(station, MAC, LearnedFrom::Request, 30_000, LIMIT, now);
            }
            let _ = table.age(now, |_| {});
            if ms % 100 == 50 {
                let id = table.resolve(of(ipv6, ms), true, LIMIT, now).id;
                assert_eq!(table.adjacency(id), Adjacency::Incomplete, "{case}, {ms} ms");
                known.push(id);
            }
            if ms % 100 == 60 {
                table.learn(of(ipv6, ms - 10), MAC, LearnedFrom::Reply, 30_000, LIMIT, now);
            }
            assert!(
                known.len() < 2 || ms % 100 < 60 || {
                    table.list().len() <= LIMIT as usize
                        && known.iter().all(|id| table.adjacency(*id) == Adjacency::Ready(MAC))
                },
                "{case}, {ms} ms"
            );
        }
        assert_eq!(known.len(), 100);
    }
}

#[test]
fn a_neighbour_that_has_answered_is_spared_for_a_while_when_the_table_is_full() {
    let table = Neighbors::new();
    let id = table.resolve(KEY, true, 2, at(0)).id;
    table.learn(KEY, MAC, LearnedFrom::Reply, 30_000, 2, at(0));
    table.learn(key(1, 1), MAC, LearnedFrom::Request, 30_000, 2, at(29_000));
    aged(&table, at(30_001));
    assert_eq!(table.adjacency(id), Adjacency::Stale(MAC));
    // The one that only asked goes for another of its kind, again and again.
    for second in 0..4u64 {
        table.learn(
            key(1, 2 + second as u32),
            MAC,
            LearnedFrom::Request,
            30_000,
            2,
            at(30_500 + 1000 * second),
        );
        assert_eq!(table.list().len(), 2);
        assert_eq!(table.adjacency(id), Adjacency::Stale(MAC), "second {second}");
    }
    table.learn(key(1, 9), MAC, LearnedFrom::Request, 30_000, 2, at(35_600));
    assert_eq!(table.adjacency(id), Adjacency::Gone, "nobody used it");
}

#[test]
fn static_entries_win_and_go_with_their_configuration() {
    let table = Neighbors::new();
    let fixed = StaticNeighbor { key: KEY, row: 9, mac: MAC };
    table.learn(KEY, [1; 6], LearnedFrom::Request, 30_000, 10, at(0));
    table.learn(key(8, 1), [1; 6], LearnedFrom::Request, 30_000, 10, at(0));
    table.sync(1, &[fixed], Collections::default(), |(row, _)| row != 8);
    assert_eq!(table.list(), [(KEY, 9, Some(MAC), NeighborStatus::Permanent)]);
    table.learn(KEY, [1; 6], LearnedFrom::Reply, 30_000, 10, at(0));
    assert!(!table.remove(KEY));
    assert_eq!(table.resolve(KEY, false, 10, at(9)).adjacency, Adjacency::Ready(MAC));
    table.sync(2, &[], Collections::default(), |_| true);
    assert_eq!(table.list(), []);
}

#[test]
fn the_timers_of_many_neighbours_run_together() {
    let table = Neighbors::new();
    for number in 0..1000u32 {
        table.resolve(key(7, 0x0a00_0000 + number), true, 2000, Now(u64::from(number) * 100_000));
    }
    let (mut runs, mut sent) = (0, 0);
    while table.next_due() <= at(1_200).0 {
        sent += aged(&table, Now(table.next_due())).len();
        runs += 1;
    }
    assert_eq!(sent, 1000);
    assert!(runs <= 21, "{runs}");
}

/// Cached decisions keep an id for as long as their flow lives, whatever becomes of the neighbour.
#[test]
fn an_id_that_is_kept_never_names_a_later_neighbour() {
    let table = Neighbors::new();
    let old = table.resolve(KEY, true, 10, at(0)).id;
    assert!(table.remove(KEY));
    let mut renumbered = 0;
    let mut now = 0;
    for other in 0..20_000_000_u32 {
        let key = key(7, other);
        table.learn(key, MAC, LearnedFrom::Request, 30_000, 10, at(now));
        let id = table.resolve(key, false, 10, at(now)).id;
        assert_eq!(table.adjacency(id), Adjacency::Stale(MAC), "{other}");
        // Nobody may have the id when its number comes again.
        assert!(id != old && table.adjacency(old) == Adjacency::Gone, "after {other} others");
        assert!(table.remove(key));
        now += 1;
        if other % 1000 == 0 && table.age(at(now), |_| {}) {
            renumbered += 1;
            break;
        }
    }
    assert_eq!(renumbered, 1);
    // The batches that ran when the ids were invalidated have ended.
    let kept = table.resolve(KEY, true, 10, at(now)).id;
    now += RENUMBER_TIME / 1_000_000;
    assert!(!table.age(at(now), |_| {}));
    let mut again = false;
    for other in 0..10_000_000_u32 {
        let key = key(7, other | 1 << 30);
        let id = table.resolve(key, true, 10, at(now)).id;
        assert_ne!(id, kept);
        again |= id == old;
        assert!(table.remove(key));
        if again {
            break;
        }
    }
    assert!(again, "numbers are used again");
}

#[test]
fn a_scan_behind_one_interface_leaves_room_at_the_others() {
    let table = Neighbors::new();
    const LIMIT: u32 = 1000;
    // Known neighbours of the scanned interface, and others that ask.
    for host in 0..100 {
        table.resolve(key(1, host), true, LIMIT, at(0));
        table.learn(key(1, host), MAC, LearnedFrom::Reply, 30_000, LIMIT, at(0));
    }
    let taken = |interface, from: u32, ms| {
        (from..from + 2000)
            .filter(|&host| !table.resolve(key(interface, host), true, LIMIT, at(ms)).full)
            .count()
    };
    assert_eq!(taken(1, 1000, 1), 400);
    for asking in 5000..7000 {
        table.learn(key(1, asking), MAC, LearnedFrom::Request, 30_000, LIMIT, at(2));
    }
    assert_eq!(table.list().len(), 500);
    assert!(!table.resolve(key(2, 1), true, LIMIT, at(2)).full, "another interface has room");
    table.learn(key(2, 1), MAC, LearnedFrom::Reply, 30_000, LIMIT, at(3));
    assert!(!table.resolve(key(1, 50), true, LIMIT, at(3)).full, "known neighbours stay");
    // What did not answer is forgotten, and the count of it with it.
    for second in 1..10 {
        let _ = table.age(at(second * 1000 + 10), |_| {});
    }
    assert_eq!(table.list().len(), 101);
    assert_eq!(taken(1, 1000, 10_100), 399);
}

const KEY6: NeighborKey = (7, Addr(0xfe80 << 112 | 9));

fn advertised(mac: Option<[u8; 6]>, solicited: bool, overrides: bool) -> Advertised {
    Advertised { mac, solicited, overrides, router: false }
}

/// The cases of RFC 4861 §7.2.5: state before, message, state and address after.
#[test]
fn advertisements_change_the_state_as_the_rfc_says() {
    use NeighborStatus::{Incomplete, Probe, Reachable, Stale};
    let other = [2, 0, 0, 0, 0, 10];
    for (before, message, after, mac) in [
        (Incomplete, advertised(None, true, true), Incomplete, None),
        (Incomplete, advertised(Some(MAC), true, false), Reachable, Some(MAC)),
        (Incomplete, advertised(Some(MAC), false, false), Stale, Some(MAC)),
        (Reachable, advertised(Some(other), true, false), Stale, Some(MAC)),
        (Stale, advertised(Some(other), true, false), Stale, Some(MAC)),
        (Probe, advertised(Some(other), true, false), Probe, Some(MAC)),
        (Probe, advertised(Some(MAC), true, false), Reachable, Some(MAC)),
        (Probe, advertised(None, true, true), Reachable, Some(MAC)),
        (Stale, advertised(Some(other), true, true), Reachable, Some(other)),
        (Reachable, advertised(Some(other), false, true), Stale, Some(other)),
        (Reachable, advertised(Some(MAC), false, true), Reachable, Some(MAC)),
        (Probe, advertised(Some(MAC), false, true), Probe, Some(MAC)),
    ] {
        let table = Neighbors::new();
        table.resolve(KEY6, true, 10, at(0));
        if before != Incomplete {
            table.learn_advertised(KEY6, advertised(Some(MAC), true, true), 30_000, at(0));
        }
        if matches!(before, Stale | Probe) {
            aged(&table, at(30_001));
        }
        if before == Probe {
            let probe = table.resolve(KEY6, true, 10, at(30_002));
            assert_eq!(probe.request, Some(NeighborRequest { key: KEY6, unicast: Some(MAC) }));
        }
        table.learn_advertised(KEY6, message, 30_000, at(30_003));
        assert_eq!(table.list(), [(KEY6, 0, mac, after)], "{before:?} {message:?}");
    }
    let table = Neighbors::new();
    table.learn_advertised(KEY6, advertised(Some(MAC), true, true), 30_000, at(0));
    assert_eq!(table.list(), [], "nothing is learned unasked");
}

#[test]
fn the_families_do_not_share_their_limits() {
    let table = Neighbors::new();
    for host in 0..10 {
        assert!(!table.resolve(key(7, host), true, 10, at(0)).full);
    }
    assert!(table.resolve(key(7, 10), true, 10, at(0)).full);
    assert!(!table.resolve(KEY6, true, 10, at(0)).full);
    assert!(table.resolve((7, Addr(1 << 100)), true, 1, at(0)).full);
}

/// A neighbour of IPv6.
fn key6(host: u128) -> NeighborKey {
    (7, Addr(0x2001_0db8 << 96 | host))
}

fn known(table: &Neighbors) -> usize {
    table.list().len()
}

#[test]
fn stale_neighbors_of_ipv6_are_kept_as_long_and_as_many_as_configured() {
    let collection = NeighborCollection {
        stale_timeout_s: 20,
        detect_interval_s: 10,
        min_entries: 2,
        soft_max_entries: 1000,
    };
    let table = Neighbors::new();
    table.sync(1, &[], Collections::of_ipv6(collection), |_| true);
    for host in 0..3 {
        table.learn(key6(host), MAC, LearnedFrom::Request, 30_000, 100, at(0));
    }
    table.learn(KEY, MAC, LearnedFrom::Request, 30_000, 100, at(0));
    aged(&table, at(19_999));
    assert_eq!(known(&table), 4);
    // One goes, as there are three; two may stay, and are looked at again.
    aged(&table, at(20_000));
    assert_eq!(known(&table), 3);
    aged(&table, at(29_999));
    table.learn(key6(9), MAC, LearnedFrom::Request, 30_000, 100, at(29_999));
    aged(&table, at(30_000));
    assert_eq!(known(&table), 3, "the eldest went, as another has come");
    // That of IPv4 has its own time.
    aged(&table, at(60_000));
    assert!(table.list().iter().all(|(key, ..)| key.1.as_v4().is_none()));
    assert_eq!(known(&table), 2);
}

#[test]
fn above_the_soft_maximum_stale_neighbors_of_ipv6_go_as_others_come() {
    let collection = NeighborCollection { soft_max_entries: 3, ..NeighborCollection::default() };
    let table = Neighbors::new();
    table.sync(1, &[], Collections::of_ipv6(collection), |_| true);
    table.learn(KEY, MAC, LearnedFrom::Request, 30_000, 100, at(0));
    for host in 0..3 {
        table.learn(key6(host), MAC, LearnedFrom::Request, 30_000, 100, at(0));
    }
    assert_eq!(known(&table), 4);
    table.learn(key6(3), MAC, LearnedFrom::Request, 30_000, 100, at(5_000));
    let left: Vec<NeighborKey> = table.list().into_iter().map(|(key, ..)| key).collect();
    assert_eq!(left, [KEY, key6(3)], "those of the other family are not concerned");
}
