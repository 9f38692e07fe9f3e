//! Turns.

use super::*;

/// A root of 100 Mbit/s over `leaves` equal ones.
fn flat(leaves: u32, limit_at: u64) -> Vec<Spec> {
    let mut specs = vec![(1, 0, 0, 100 * M, 8)];
    specs.extend((0..leaves).map(|leaf| (leaf + 2, 1, limit_at, 100 * M, 8)));
    specs
}

#[test]
fn a_thousand_equal_leaves_get_the_same() {
    for limit_at in [0, 50_000] {
        let mut sim = Sim::of(&flat(1000, limit_at));
        let rows: Vec<RowId> = (2..1002).collect();
        sim.activate(&rows);
        let rates = sim.rates(&rows, 12_000);
        assert_near(&rates, &[0.1; 1000], 0.02);
        // All that came into the root's bucket, and what was in it, went out or is there.
        let sum: u64 = sim.sent.iter().sum();
        let left = sim.htb.view(sim.class(1), sim.now).unwrap().tokens;
        assert!((sum as i64 + left - 1_310 * M as i64).abs() <= 100, "{sum} {left}");
    }
}

#[test]
fn leaves_of_different_depth_that_wait_for_the_same_class_get_the_same() {
    let specs = [
        (1, 0, 0, 12 * M, 8),
        (2, 1, 0, 12 * M, 8),
        (3, 1, 0, 12 * M, 8),
        (4, 2, 0, 12 * M, 8),
        (5, 2, 0, 12 * M, 8),
        (6, 3, 0, 12 * M, 8),
        (7, 6, 0, 12 * M, 8),
        (8, 1, 0, 12 * M, 8),
    ];
    let mut sim = Sim::of(&specs);
    sim.activate(&[4, 5, 7, 8]);
    assert_near(&sim.rates(&[4, 5, 7, 8], 5000), &[3.0; 4], 0.02);
}

#[test]
fn long_and_short_packets_get_the_same_bits() {
    let mut sim = Sim::of(&flat(2, 0));
    sim.activate(&[2, 3]);
    let short = sim.class(2);
    let end = Now(sim.now.0 + 5 * SECOND);
    while sim.now < end {
        while let Some(turn) = sim.htb.next(sim.now) {
            sim.send(turn.leaf, if turn.leaf == short { 64 } else { 60_000 });
        }
        sim.now = sim.htb.next_deadline(sim.now).unwrap();
    }
    let [a, b] = [2, 3].map(|row| sim.sent[sim.class(row).0 as usize] as f64);
    assert!((a / b - 1.0).abs() < 0.02, "{a} {b}");
}
