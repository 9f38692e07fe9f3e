//! Controlled delay.

use tollway_config::dataplane::{Codel, QueueType};

use super::support::{Leaf, MS, SECOND, udp};
use crate::qos::kind::codel::control_law;
use crate::time::Now;

fn codel() -> Codel {
    Codel { limit: 10_000, target_us: 5_000, interval_us: 100_000, ecn: false, ce_threshold_us: 0 }
}

#[test]
fn the_control_law_is_the_interval_over_the_root_of_the_count() {
    for count in [1u32, 2, 3, 10, 100, 65_535, 1 << 24, u32::MAX] {
        let exact = 100e6 / f64::from(count).sqrt();
        let is = control_law(7, 100_000_000, count) - 7;
        assert!((is as f64 - exact).abs() <= exact / 30_000.0 + 1.0, "{count}: {is}, not {exact}");
    }
}

/// Offers a packet of 1,000 bytes each ms, and sends one each 2 ms.
fn overloaded(config: Codel, class: u8, end: Now) -> (Leaf, Vec<super::support::Sent>) {
    let mut leaf = Leaf::new(&QueueType::Codel(config));
    let mut came = 0;
    let sent = leaf.send_at(4_000_000, end, |leaf| {
        while came * MS <= leaf.now.0 {
            leaf.offer(udp(1, 1, 1, 1000, class));
            came += 1;
        }
    });
    (leaf, sent)
}

#[test]
fn the_first_drop_comes_an_interval_after_the_delay_and_then_as_the_root_of_the_count_says() {
    let (leaf, sent) = overloaded(codel(), 0, Now(3 * SECOND));
    // The first packet that has waited 5 ms; at 2 ms a packet, each waits 1 ms longer than the one before.
    let above = sent.iter().find(|sent| sent.delay >= 5 * MS).unwrap().at;
    let times: Vec<u64> = leaf.dropped.iter().map(|(at, _)| at.0).collect();
    assert!(times.len() > 50);
    // A packet can be dropped only when the link asks for one, every 2 ms.
    let mut due = above.0 + 100 * MS;
    for (count, time) in (1..).zip(&times) {
        assert!((due..=due + 2 * MS).contains(time), "drop {count} at {time}, not {due}");
        due = if count == 1 { *time } else { due };
        due = control_law(due, 100 * MS, count);
    }
}

/// A sender that halves its rate when a packet is lost or marked, at most every 50 ms, and adds to it otherwise.
fn responsive(config: Codel, class: u8) -> (Leaf, Vec<u64>) {
    let mut leaf = Leaf::new(&QueueType::Codel(config));
    // Packets a second, thousandth parts.
    let (mut rate, mut next, mut signals, mut halved) = (500_000u64, 0u64, 0u64, 0u64);
    let sent = leaf.send_at(10_000_000, Now(20 * SECOND), |leaf| {
        let seen = leaf.dropped.len() as u64 + leaf.kind.marked();
        if seen > signals && leaf.now.0 > halved + 50 * MS {
            (signals, halved) = (seen, leaf.now.0);
            rate /= 2;
        }
        while next <= leaf.now.0 {
            leaf.offer(udp(1, 1, 1, 1500, class));
            rate = (rate + 500).min(2_000_000);
            next += SECOND * 1000 / rate;
        }
    });
    let delays = sent.iter().filter(|sent| sent.at.0 > 5 * SECOND).map(|sent| sent.delay).collect();
    (leaf, delays)
}

#[test]
fn the_delay_of_a_sender_that_listens_stays_near_the_target() {
    let (leaf, mut delays) = responsive(codel(), 0);
    delays.sort_unstable();
    let median = delays[delays.len() / 2];
    assert!(median < 10 * MS, "median delay {median} ns");
    assert!(delays.len() > 6_000, "only {} packets in 15 s", delays.len());
    assert!(!leaf.dropped.is_empty());
}

#[test]
fn packets_that_can_be_marked_are_not_dropped() {
    let config = Codel { ecn: true, ..codel() };
    let (leaf, _) = responsive(config, 2);
    assert!(leaf.dropped.is_empty() && leaf.kind.marked() > 5);
    let (leaf, sent) = overloaded(config, 2, Now(SECOND));
    let marked = sent.iter().filter(|sent| sent.frame.0[15] == 3).count() as u64;
    assert!(leaf.dropped.is_empty() && marked == leaf.kind.marked() && marked > 5);
    // Packets without ECT are dropped.
    let (leaf, _) = overloaded(config, 0, Now(SECOND));
    assert!(!leaf.dropped.is_empty() && leaf.kind.marked() == 0);
}

#[test]
fn beyond_the_threshold_every_packet_is_marked_at_once() {
    let config = Codel { ce_threshold_us: 1_000, ..codel() };
    let (_, sent) = overloaded(config, 1, Now(SECOND / 10));
    for packet in sent {
        assert_eq!(packet.frame.0[15] == 3, packet.delay > MS, "{packet:?}");
    }
}

#[test]
fn a_packet_that_is_marked_for_two_reasons_counts_once() {
    let config = Codel { ecn: true, ce_threshold_us: 1_000, ..codel() };
    let (leaf, sent) = overloaded(config, 2, Now(SECOND));
    let marked = sent.iter().filter(|sent| sent.frame.0[15] == 3).count() as u64;
    assert!(marked == leaf.kind.marked() && marked > 5, "{marked} of {}", leaf.kind.marked());
}

#[test]
fn a_queue_of_one_packet_is_never_dropped_and_the_limit_holds() {
    let mut leaf = Leaf::new(&QueueType::Codel(Codel { limit: 10, ..codel() }));
    for _ in 0..100 {
        leaf.offer(udp(1, 1, 1, 1000, 0));
        leaf.now.0 += SECOND;
        assert!(leaf.next().is_ok());
    }
    assert!(leaf.dropped.is_empty());
    let taken = (0..20).filter(|_| leaf.offer(udp(1, 1, 1, 1000, 0))).count();
    assert_eq!(taken, 10);
}

#[test]
fn a_dropping_state_that_was_left_shortly_before_goes_on_where_it_was() {
    let mut leaf = Leaf::new(&QueueType::Codel(codel()));
    let episode = |leaf: &mut Leaf, packets: u64, rest: u64| {
        leaf.dropped.clear();
        let start = leaf.now.0;
        let mut came = 0;
        leaf.send_at(4_000_000, Now(start + packets * MS), |leaf| {
            while came * MS <= leaf.now.0 - start {
                leaf.offer(udp(1, 1, 1, 1000, 0));
                came += 1;
            }
        });
        let dropped: Vec<u64> = leaf.dropped.iter().map(|(at, _)| at.0).collect();
        leaf.drain_until(leaf.now);
        leaf.offer(udp(1, 1, 1, 1000, 0));
        leaf.next().unwrap();
        leaf.now.0 += rest;
        dropped
    };
    let gap = |drops: &[u64]| drops[1] - drops[0];
    let first = episode(&mut leaf, 1000, 50 * MS);
    let soon = episode(&mut leaf, 1000, 60 * SECOND);
    let late = episode(&mut leaf, 1000, 0);
    assert!(gap(&first) >= 100 * MS && gap(&late) >= 100 * MS);
    assert!(gap(&soon) < 50 * MS, "{}", gap(&soon));
}
