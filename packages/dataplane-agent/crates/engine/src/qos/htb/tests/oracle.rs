//! Values of the manual and of a simulator of Linux HTB.

use super::*;

/// Q1 over Q2 and Q3, Q2 over Q4 and Q5.
fn manual(q2: u64, q3: (u64, u8), q4: (u64, u8), q5: (u64, u64, u8)) -> [Spec; 5] {
    [
        (1, 0, 0, 10 * M, 8),
        (2, 1, q2 * M, 10 * M, 8),
        (3, 1, q3.0 * M, 10 * M, q3.1),
        (4, 2, q4.0 * M, 10 * M, q4.1),
        (5, 2, q5.0 * M, q5.1 * M, q5.2),
    ]
}

fn rates(specs: &[Spec], rows: &[RowId]) -> Vec<f64> {
    let mut sim = Sim::of(specs);
    sim.activate(rows);
    sim.rates(rows, 5000)
}

const LEAVES: [RowId; 3] = [3, 4, 5];

#[test]
fn limit_at_comes_before_priority() {
    let rates = rates(&manual(4, (6, 1), (2, 3), (2, 10, 5)), &LEAVES);
    assert_near(&rates, &[6.0, 2.0, 2.0], 0.01);
}

#[test]
fn what_is_left_goes_to_the_first_priority() {
    let rates = rates(&manual(4, (2, 3), (2, 1), (2, 10, 5)), &LEAVES);
    assert_near(&rates, &[2.0, 6.0, 2.0], 0.01);
}

#[test]
fn the_limit_at_of_an_inner_class_comes_before_priority() {
    let rates = rates(&manual(8, (2, 1), (2, 3), (2, 10, 5)), &LEAVES);
    assert_near(&rates, &[2.0, 6.0, 2.0], 0.01);
}

const OVERBOOKED: [Spec; 5] = [
    (1, 0, 0, 10 * M, 8),
    (2, 1, 4 * M, 10 * M, 8),
    (3, 1, 6 * M, 10 * M, 1),
    (4, 2, 2 * M, 10 * M, 3),
    (5, 2, 12 * M, 15 * M, 5),
];

#[test]
fn limit_at_is_given_beyond_the_limits_above() {
    assert_eq!(OVERBOOKED, manual(4, (6, 1), (2, 3), (12, 15, 5)));
    assert_near(&rates(&OVERBOOKED, &LEAVES), &[6.0, 2.0, 12.0], 0.01);
}

#[test]
fn a_port_that_is_slower_is_shared_by_priority() {
    let forest = Arc::new(Forest::build(&config(&OVERBOOKED, Some(77))).unwrap());
    let mut sim = Sim::new(forest);
    sim.port = Some((77, 10 * M));
    sim.activate(&LEAVES);
    assert_near(&sim.rates(&LEAVES, 5000), &[6.0, 2.0, 2.0], 0.01);
}

#[test]
fn a_queue_behind_that_drops_shares_in_proportion_to_what_comes() {
    tollway_testkit::seeds(1).for_each(a_queue_behind_shares);
}

fn a_queue_behind_shares(seed: u64) {
    let mut sim = Sim::of(&OVERBOOKED);
    sim.activate(&LEAVES);
    sim.run(1000);
    sim.log.clear();
    sim.run(10_000);
    // Nothing on the way to the port keeps time to the microsecond.
    let mut random = seed;
    for (at, _, _) in &mut sim.log {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        at.0 += (random >> 33) % 5_000_000;
    }
    sim.log.sort_by_key(|(at, _, _)| *at);
    // First in, first out, 50 packets, 10 Mbit/s.
    let (mut free_at, mut passed) = (vec![Now(0); 0], [0u64; 3]);
    for &(at, leaf, bits) in &sim.log {
        free_at.retain(|done| *done > at);
        if free_at.len() < 50 {
            let begin = free_at.last().copied().unwrap_or(at).max(at);
            free_at.push(Now(begin.0 + bits * SECOND / (10 * M)));
            passed[LEAVES.iter().position(|row| sim.class(*row) == leaf).unwrap()] += bits;
        }
    }
    let rates = passed.map(|bits| bits as f64 / 10.0 / M as f64);
    assert!((rates.iter().sum::<f64>() - 10.0).abs() < 0.1, "seed {seed}: {rates:?}");
    for (rate, due) in rates.into_iter().zip([3.0, 1.0, 6.0]) {
        assert!((rate - due).abs() < 0.8, "seed {seed}: {rates:?}");
    }
}

#[test]
fn what_is_left_is_shared_by_limit_at() {
    let specs = [(1, 0, 0, 10 * M, 8), (2, 1, M, 10 * M, 8), (3, 1, 3 * M, 10 * M, 8)];
    assert_near(&rates(&specs, &[2, 3]), &[2.5, 7.5], 0.01);
}

#[test]
fn without_limit_at_all_get_the_same() {
    let specs = [(1, 0, 0, 10 * M, 8), (2, 1, 0, 10 * M, 8), (3, 1, 0, 10 * M, 8)];
    assert_near(&rates(&specs, &[2, 3]), &[5.0, 5.0], 0.01);
}

#[test]
fn a_lower_priority_without_limit_at_gets_nothing() {
    let specs = [(1, 0, 0, 10 * M, 8), (2, 1, 0, 10 * M, 1), (3, 1, 0, 10 * M, 8)];
    assert_near(&rates(&specs, &[2, 3]), &[10.0, 0.0], 0.01);
}

#[test]
fn a_root_lends_up_to_its_max_limit_whatever_its_limit_at() {
    let specs = [(1, 0, 2 * M, 10 * M, 8), (2, 1, 2 * M, 10 * M, 1), (3, 1, 2 * M, 10 * M, 8)];
    assert_near(&rates(&specs, &[2, 3]), &[8.0, 2.0], 0.01);
}

#[test]
fn a_class_whose_limit_at_is_zero_lends_nothing() {
    // What a root would do if its limit-at were taken literally, by a class whose parent has nothing left.
    let specs = [
        (1, 0, 0, 20 * M, 8),
        (9, 1, 16 * M, 16 * M, 1),
        (4, 1, 0, 10 * M, 8),
        (2, 4, 2 * M, 10 * M, 1),
        (3, 4, 2 * M, 10 * M, 8),
    ];
    assert_near(&rates(&specs, &[9, 2, 3]), &[16.0, 2.0, 2.0], 0.01);
}

#[test]
fn eight_levels_pass_on_what_the_root_has() {
    let mut specs: Vec<Spec> = (1..=7).map(|row| (row, row - 1, 0, 100 * M, 8)).collect();
    specs[0].3 = 20 * M;
    specs.extend([
        (8, 7, 0, 5 * M, 1),
        (9, 7, 0, 100 * M, 2),
        (10, 7, 4 * M, 100 * M, 8),
        (11, 1, 3 * M, 0, 8),
    ]);
    assert_near(&rates(&specs, &[8, 9, 10, 11]), &[5.0, 8.0, 4.0, 3.0], 0.01);
}

#[test]
fn a_full_bucket_of_a_child_passes_at_the_rate_of_its_parent() {
    let mut config = config(&[(1, 0, 0, 20 * M, 8), (2, 1, 0, 10 * M, 8), (3, 1, 0, M, 8)], None);
    config.tree_queues[1].limit.bucket_ms = 10_000;
    let mut sim = Sim::new(Arc::new(Forest::build(&config).unwrap()));
    sim.activate(&[2]);
    sim.run(9_500);
    let at = sim.class(2).0 as usize;
    assert_near(&[sim.sent[at] as f64 / 9.5e6], &[20.2], 0.01);
    sim.run(1000);
    assert_near(&sim.rates(&[2], 5000), &[10.0], 0.01);
}

#[test]
fn bursts_of_a_leaf_of_an_inner_class_and_of_a_root_end_after_their_time() {
    for row in [1, 2, 4] {
        let mut config = config(&[(1, 0, 0, 100 * M, 8), (2, 1, 0, 2 * M, 8), (4, 2, 0, 2 * M, 8)], None);
        for node in &mut config.tree_queues {
            if node.row == row {
                node.limit.max_limit = 2 * M;
                node.limit.burst_limit = 4 * M;
                node.limit.burst_threshold = 1_500_000;
                node.limit.burst_time_ms = 16_000;
            } else if node.row != 1 {
                node.limit.max_limit = 0;
            }
        }
        let mut sim = Sim::new(Arc::new(Forest::build(&config).unwrap()));
        sim.now = Now(160 * SECOND);
        sim.activate(&[4]);
        let at = sim.class(4).0 as usize;
        let mut rates = Vec::new();
        for _ in 0..10 {
            let before = sim.sent[at];
            sim.run(1000);
            rates.push((sim.sent[at] - before) as f64 / 1e6);
        }
        // A bucket of a tenth of a second at max-limit comes on top, in the first second.
        assert_near(&rates[..1], &[4.2], 0.01);
        assert_near(&rates[1..6], &[4.0; 5], 0.01);
        assert_near(&rates[7..10], &[2.0; 3], 0.01);
    }
}
