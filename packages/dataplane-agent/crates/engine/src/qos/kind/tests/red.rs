//! Random early detection: the average, and what is dropped at each.

use tollway_config::dataplane::QueueType;

use super::support::{Leaf, MS, udp};
use crate::time::Now;

fn red(min: u32, max: u32, burst: u32) -> QueueType {
    QueueType::Red { limit: 1000, min_threshold: min, max_threshold: max, burst, avg_packet: 1000 }
}

/// Share of packets that are dropped while so many wait, one in one out, once the average has come that far.
fn share_dropped(config: &QueueType, waiting: u32) -> f64 {
    const OFFERED: usize = 20_000;
    let mut leaf = Leaf::new(config);
    let mut offered = 0;
    while offered < 2 * OFFERED {
        leaf.now.0 += 1000;
        leaf.offer(udp(1, 1, 1, 500, 0));
        offered += 1;
        while leaf.kind.frames() > waiting {
            leaf.next().unwrap();
        }
        if offered == OFFERED {
            leaf.dropped.clear();
        }
    }
    leaf.dropped.len() as f64 / OFFERED as f64
}

#[test]
fn packets_are_dropped_in_proportion_to_the_average_between_the_thresholds() {
    let config = red(10, 50, 20);
    assert_eq!(share_dropped(&config, 5), 0.0);
    for (waiting, base) in [(20, 0.25), (30, 0.5), (40, 0.75)] {
        // Drops are spread evenly over one to 1/p packets: two in 1/p + 1.
        let p = base / 50.0;
        let due = 2.0 * p / (1.0 + p);
        let share = share_dropped(&config, waiting);
        assert!((share / due - 1.0).abs() < 0.1, "{waiting} wait: {share}, not {due}");
    }
}

#[test]
fn at_the_upper_threshold_everything_is_dropped_until_the_average_has_sunk() {
    let mut leaf = Leaf::new(&red(5, 20, 6));
    for _ in 0..2000 {
        leaf.offer(udp(1, 1, 1, 500, 0));
    }
    let waiting = leaf.kind.frames();
    assert!((20..200).contains(&waiting), "{waiting}");
    leaf.dropped.clear();
    leaf.offer(udp(1, 1, 1, 500, 0));
    assert_eq!(leaf.dropped.len(), 1);
    // Drained at 1 Mbit/s, and idle for an hour: as new.
    leaf.send_at(1_000_000, Now(waiting as u64 * 4 * MS + MS), |_| {});
    assert_eq!(leaf.kind.frames(), 0);
    leaf.now.0 += 3_600_000 * MS;
    leaf.dropped.clear();
    for _ in 0..7 {
        leaf.offer(udp(1, 1, 1, 500, 0));
    }
    assert_eq!(leaf.dropped.len(), 0);
}

/// Number of six packets that are dropped if they come so long after a queue with an average of more than 20 packets of
/// 1,000 bytes has been sent empty at 8 Mbit/s; from an average of 11 on all are dropped.
fn dropped_after(idle: u64, avg_packet: u32) -> usize {
    let config = QueueType::Red { limit: 1000, min_threshold: 10, max_threshold: 11, burst: 20, avg_packet };
    let mut leaf = Leaf::new(&config);
    for _ in 0..2000 {
        leaf.offer(udp(1, 1, 1, 1000, 0));
    }
    let waiting = u64::from(leaf.kind.frames());
    assert_eq!(waiting, 23);
    leaf.send_at(8_000_000, Now(waiting * MS), |_| {});
    assert_eq!(leaf.kind.frames(), 0);
    // The last one left a packet's time ago.
    leaf.now.0 += idle - MS;
    leaf.dropped.clear();
    for _ in 0..6 {
        leaf.offer(udp(1, 1, 1, 1000, 0));
    }
    leaf.dropped.len()
}

#[test]
fn an_idle_time_counts_as_packets_that_did_not_come() {
    // Each packet that did not come leaves fifteen sixteenths of the average, as does each that finds the queue empty:
    // 23 × (15/16)¹¹ is 11.3.
    assert_eq!(dropped_after(8 * MS, 1000), 3);
    assert_eq!(dropped_after(MS, 1000), 6);
    assert_eq!(dropped_after(30 * MS, 1000), 0);
    assert_eq!(dropped_after(1000 * MS, 1000), 0);
    // Longer packets would have meant fewer arrivals.
    assert_eq!(dropped_after(30 * MS, 10_000), 6);
    assert_eq!(dropped_after(1000 * MS, u32::MAX), 6);
}

#[test]
fn a_burst_of_the_configured_size_is_forgiven_and_the_limit_holds() {
    for (min, burst) in [(10, 20), (5, 6), (50, 100)] {
        let mut leaf = Leaf::new(&red(min, 4 * min, burst));
        for _ in 0..burst {
            leaf.offer(udp(1, 1, 1, 500, 0));
        }
        assert_eq!(leaf.dropped.len(), 0, "{burst} packets at a threshold of {min}");
    }
    let tail =
        QueueType::Red { limit: 30, min_threshold: 100, max_threshold: 200, burst: 50, avg_packet: 1000 };
    let mut leaf = Leaf::new(&tail);
    for _ in 0..40 {
        leaf.offer(udp(1, 1, 1, 500, 0));
    }
    assert_eq!((leaf.kind.segments(), leaf.dropped.len()), (30, 10));
}
