//! Workers on threads of their own.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

/// A clock that runs on as workers look at it: whoever stops stops nobody else.
static CLOCK: AtomicU64 = AtomicU64::new(SECOND);

#[test]
fn workers_that_meet_at_any_moment_keep_the_rate_and_forget_no_leaf() {
    const WORKERS: u32 = 4;
    /// A tenth of the turns that a worker has usually: all of them have 400,000.
    const TURNS: u32 = 10_000;
    let mut specs: Vec<Spec> = vec![(1, 0, 0, 100 * M, 8), (2, 1, 20 * M, 100 * M, 8), (3, 1, 0, 60 * M, 8)];
    specs.extend((10..50).map(|row| (row, 2 + row % 2, if row % 3 == 0 { M / 2 } else { 0 }, 0, 8)));
    let (forest, shared_trees) = (forest(&specs), SharedTrees::default());
    let (begin, end) = (CLOCK.load(Ordering::Relaxed), 3 * SECOND);
    let sent: Vec<u64> = std::thread::scope(|scope| {
        let worker = |number: u32| {
            let (forest, shared_trees) = (&forest, &shared_trees);
            move || {
                let mut htb = Htb::new(number, WORKERS);
                htb.reconfigure(forest, shared_trees, Now(begin));
                let rows = (10..50).filter(|row| row % WORKERS == number);
                let leaves: Vec<ClassId> = rows.map(|row| class(forest, row)).collect();
                for leaf in &leaves {
                    htb.acquire(*leaf, Now(begin));
                    htb.activate(*leaf, Now(begin));
                }
                let mut turns = 0;
                loop {
                    turns += 1;
                    let now = Now(CLOCK.fetch_add(5_000, Ordering::Relaxed));
                    if now.0 >= end {
                        break;
                    }
                    while let Some(turn) = htb.next(now) {
                        htb.sent(turn.leaf, 1, PACKET, now);
                    }
                    if now.0 % 65_536 < 5_000 {
                        htb.reconfigure(forest, shared_trees, now);
                    }
                    std::thread::yield_now();
                }
                let view = |leaf: &ClassId| htb.view(*leaf, Now(end)).map_or(0, |view| view.bytes);
                // The clock did not wait for a thread that had no core; one that had its share has served all leaves.
                assert!(turns < TURNS || leaves.iter().all(|leaf| view(leaf) > 0));
                leaves.iter().map(|leaf| view(leaf) * 8).sum::<u64>()
            }
        };
        let threads: Vec<_> = (0..WORKERS).map(|number| scope.spawn(worker(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    // A thread may have stood still for long: no more than the rate, a bucket and what was lent.
    let bound = (end - begin) / 1000 * 100 + 10 * M + 100_000 + u64::from(WORKERS) * 12_000;
    // 20 Mbit/s of limit-at may come on top for 10 ms, and half a Mbit/s of each third leaf.
    let sum: u64 = sent.iter().sum();
    assert!(sum <= bound + 400_000, "{sum} of {bound}");
    assert!(sum >= bound / 2, "{sum} of {bound}");
}
