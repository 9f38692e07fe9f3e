//! What the size of a queue does to what is lost and what is late.

use tollway_config::dataplane::QueueType;

use super::support::{Leaf, MS, udp};
use crate::time::Now;

/// Packets that come at the beginning of each step, of which 100 go. Of the manual's example only the sums are
/// known: 1,610 packets, and the table below. This pattern is one of those that fit every row of it.
const ARRIVALS: [u32; 16] = [40, 180, 100, 110, 40, 50, 80, 120, 60, 170, 100, 30, 70, 230, 150, 80];

/// Packets lost, and those that left so many steps late.
fn outcome(limit: u32) -> (usize, [usize; 4]) {
    let mut leaf = Leaf::new(&QueueType::Pfifo { limit });
    let mut late = [0; 4];
    for step in 0..ARRIVALS.len() + 4 {
        leaf.now = Now(step as u64 * MS);
        let mut left = 100;
        let mut send = |leaf: &mut Leaf, left: &mut u32| {
            while *left > 0
                && let Ok(sent) = leaf.next()
            {
                late[(sent.delay / MS) as usize] += 1;
                *left -= 1;
            }
        };
        send(&mut leaf, &mut left);
        for _ in 0..ARRIVALS.get(step).copied().unwrap_or(0) {
            // What the step still has room for does not wait.
            if left > 0 {
                late[0] += 1;
                left -= 1;
            } else {
                leaf.offer(udp(1, 1, 1, 100, 0));
            }
        }
    }
    assert_eq!(leaf.kind.frames(), 0);
    (leaf.dropped.len(), late)
}

#[test]
fn the_manuals_table_of_queue_sizes() {
    let total: u32 = ARRIVALS.iter().sum();
    assert_eq!(total, 1610);
    let percent = |packets: usize| (packets as f64 * 1000.0 / f64::from(total)).round() / 10.0;
    let row = |limit| {
        let (lost, late) = outcome(limit);
        assert_eq!(lost + late.iter().sum::<usize>(), 1610);
        (percent(lost), percent(late[1]), percent(late[2]), late[3])
    };
    assert_eq!(row(0), (22.4, 0.0, 0.0, 0));
    assert_eq!(row(u32::MAX), (0.0, 39.1, 10.6, 0));
    assert_eq!(row(10), (19.9, 5.0, 0.0, 0));
    assert_eq!(row(50), (11.8, 24.8, 0.0, 0));
}
