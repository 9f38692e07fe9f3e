//! Another configuration, and leaves that change hands.

use super::*;

#[test]
fn what_a_change_does_not_touch_goes_on_as_it_was() {
    let specs = [(1, 0, 0, 10 * M, 8), (2, 1, M, 10 * M, 8), (3, 1, 3 * M, 10 * M, 8), (4, 1, 0, M, 8)];
    let mut sim = Sim::of(&specs);
    sim.activate(&[2, 3, 4]);
    sim.run(1003);
    let views: Vec<ClassView> = [1, 2, 3].map(|row| sim.htb.view(sim.class(row), sim.now).unwrap()).to_vec();
    // Rows come and go, and numbers change.
    let specs = [
        (7, 0, 0, M, 8),
        (9, 7, 0, M, 8),
        (1, 0, 0, 10 * M, 8),
        (3, 1, 3 * M, 10 * M, 8),
        (2, 1, M, 10 * M, 8),
    ];
    sim.forest = forest(&specs);
    sim.htb.reconfigure(&sim.forest, &sim.shared_trees, sim.now);
    let after = [1, 2, 3].map(|row| sim.htb.view(sim.class(row), sim.now).unwrap()).to_vec();
    assert_eq!(views, after);
    sim.sent = vec![0; specs.len()];
    // Leaves are still active.
    assert_near(&sim.rates(&[2, 3], 5000), &[2.5, 7.5], 0.01);
    assert_eq!(sim.htb.view(sim.class(9), sim.now), None);
}

#[test]
fn another_limit_holds_at_once_and_keeps_debts() {
    let mut sim = Sim::of(&[(1, 0, 0, 10 * M, 8), (2, 1, 0, 5 * M, 8)]);
    sim.activate(&[2]);
    sim.run(1000);
    sim.htb.sent(sim.class(2), 1, 1_000_000, sim.now);
    sim.forest = forest(&[(1, 0, 0, 10 * M, 8), (2, 1, 0, 8 * M, 8)]);
    sim.htb.reconfigure(&sim.forest, &sim.shared_trees, sim.now);
    assert_eq!(sim.htb.next(sim.now), None);
    let mode = |sim: &Sim| sim.htb.view(sim.class(2), sim.now).unwrap().mode;
    assert_eq!(mode(&sim), ClassMode::Red);
    sim.run(999);
    assert_eq!(mode(&sim), ClassMode::Red);
    assert_near(&sim.rates(&[2], 5000), &[8.0], 0.01);
}

#[test]
fn a_class_below_another_root_keeps_its_tokens() {
    let mut sim = Sim::of(&[(1, 0, 0, 10 * M, 8), (2, 1, 0, 5 * M, 8), (3, 2, 0, 4 * M, 8), (4, 1, 0, M, 8)]);
    sim.activate(&[3]);
    sim.run(1000);
    let before = [2, 3].map(|row| sim.htb.view(sim.class(row), sim.now).unwrap().ceiling_tokens);
    sim.forest = forest(&[
        (5, 0, 0, 10 * M, 8),
        (2, 5, 0, 5 * M, 8),
        (3, 2, 0, 4 * M, 8),
        (1, 0, 0, M, 8),
        (4, 1, 0, M, 8),
    ]);
    sim.htb.reconfigure(&sim.forest, &sim.shared_trees, sim.now);
    let after = [2, 3].map(|row| sim.htb.view(sim.class(row), sim.now).unwrap().ceiling_tokens);
    assert_eq!(before, after);
}

#[test]
fn a_leaf_takes_its_tokens_to_the_next_worker() {
    let forest = forest(&[(1, 0, 0, 10 * M, 8), (2, 1, 0, 5 * M, 8), (3, 1, 0, M, 8)]);
    let shared_trees = SharedTrees::default();
    let [mut a, mut b] = [0, 1].map(|worker| Htb::new(worker, 2));
    let now = Now(SECOND);
    for htb in [&mut a, &mut b] {
        htb.reconfigure(&forest, &shared_trees, now);
    }
    let leaf = class(&forest, 2);
    a.acquire(leaf, now);
    // A tenth of a second, and a packet.
    let fill = |htb: &mut Htb, now| (0..1000).take_while(|_| htb.pass(leaf, 1, PACKET, now)).count();
    assert_eq!(fill(&mut a, now), 500_000 / 12_000 + 1);
    a.release(leaf, now);
    b.acquire(leaf, now);
    assert_eq!(fill(&mut b, now), 0);
    let later = Now(now.0 + 50_000_000);
    b.release(leaf, now);
    a.acquire(leaf, later);
    assert!((20..=22).contains(&fill(&mut a, later)));
    assert_eq!(
        a.view(leaf, later).unwrap().packets + b.view(leaf, later).unwrap().packets,
        a.view(class(&forest, 1), later).unwrap().packets
    );
}

#[test]
fn a_leaf_that_is_left_full_is_taken_full_and_no_fuller() {
    let forest = forest(&[(1, 0, 0, 10 * M, 8), (2, 1, 2 * M, 5 * M, 8), (3, 1, 0, M, 8)]);
    let shared_trees = SharedTrees::default();
    let [mut a, mut b] = [0, 1].map(|worker| Htb::new(worker, 2));
    let now = Now(SECOND);
    for htb in [&mut a, &mut b] {
        htb.reconfigure(&forest, &shared_trees, now);
    }
    let leaf = class(&forest, 2);
    a.acquire(leaf, now);
    assert!(!a.release(leaf, now), "nothing has passed");
    b.acquire_full(leaf, now);
    let fill = |htb: &mut Htb, now| (0..1000).take_while(|_| htb.pass(leaf, 1, PACKET, now)).count();
    assert_eq!(fill(&mut b, now), 500_000 / 12_000 + 1);
    let soon = Now(now.0 + 99_000_000);
    assert!(b.release(leaf, soon), "it is not full yet");
    a.acquire(leaf, soon);
    let later = Now(now.0 + 400_000_000);
    assert!(!a.release(leaf, later));
    b.acquire_full(leaf, later);
    assert_eq!(fill(&mut b, later), 500_000 / 12_000 + 1);
}
