//! Packets that pass at the same moment, and are charged to the classes above their leaf when the batch is over.

use super::*;

const SPECS: [Spec; 4] =
    [(1, 0, 0, 10 * M, 8), (2, 1, 0, 10 * M, 8), (3, 2, 0, 5 * M, 8), (4, 2, 0, 5 * M, 8)];
/// Depth of a root of 10 Mbit/s with a tenth of a second, bits.
const FULL: i64 = M as i64;
/// Tokens that it gets in a millisecond, bits.
const EARNED: i64 = FULL / 100;
const BITS: i64 = PACKET as i64 * 8;

/// Workers of one tree; the first has leaf 3, the second leaf 4.
struct Pair {
    htbs: [Htb; 2],
    forest: Arc<Forest>,
    shared_trees: SharedTrees,
    now: Now,
}

impl Pair {
    fn new() -> Self {
        let (forest, shared_trees, now) = (forest(&SPECS), SharedTrees::default(), Now(SECOND));
        let mut htbs = [0, 1].map(|worker| Htb::new(worker, 2));
        for (htb, row) in htbs.iter_mut().zip([3, 4]) {
            htb.reconfigure(&forest, &shared_trees, now);
            htb.acquire(class(&forest, row), now);
        }
        Self { htbs, forest, shared_trees, now }
    }

    /// Lets packets of a worker's leaf pass.
    fn pass(&mut self, worker: usize, packets: u32) {
        let leaf = class(&self.forest, [3, 4][worker]);
        for _ in 0..packets {
            assert!(self.htbs[worker].pass(leaf, 1, PACKET, self.now));
        }
    }

    fn view(&self, worker: usize, row: RowId) -> ClassView {
        self.htbs[worker].view(class(&self.forest, row), self.now).unwrap()
    }

    /// Tokens of the root when every lease has been returned.
    fn leaf_state(&mut self) -> i64 {
        for htb in &mut self.htbs {
            htb.reconfigure(&self.forest, &self.shared_trees, self.now);
        }
        self.view(0, 1).tokens
    }
}

fn is_in_run(htb: &Htb) -> bool {
    htb.core.trees[0].run.is_open()
}

#[test]
fn what_is_not_charged_yet_is_in_view() {
    let mut pair = Pair::new();
    pair.pass(0, 5);
    assert!(is_in_run(&pair.htbs[0]));
    let before = [1, 2, 3].map(|row| pair.view(0, row));
    pair.htbs[0].end_runs();
    assert!(!is_in_run(&pair.htbs[0]));
    assert_eq!(before, [1, 2, 3].map(|row| pair.view(0, row)));
    assert_eq!(before.map(|view| (view.packets, view.bytes)), [(5, 5 * PACKET); 3]);
    assert_eq!(before.map(|view| (view.borrows, view.lends)), [(0, 5), (5, 0), (5, 0)]);
    assert_eq!((before[0].tokens, before[0].ceiling_tokens), (FULL - 5 * BITS, FULL - 5 * BITS));
}

#[test]
fn who_is_not_alone_any_more_in_the_middle_of_a_run_charges_all_of_it() {
    for end in [false, true] {
        let mut pair = Pair::new();
        pair.pass(0, 5);
        assert!(pair.htbs[0].is_exclusive(0) && is_in_run(&pair.htbs[0]));
        pair.pass(1, 1);
        assert!(!pair.htbs[1].is_exclusive(0));
        // It has not looked yet.
        pair.pass(0, 2);
        if end {
            pair.htbs[0].end_runs();
            assert!(!pair.htbs[0].is_exclusive(0) && !is_in_run(&pair.htbs[0]));
        }
        assert_eq!(pair.view(0, 1).packets + pair.view(1, 1).packets, 8);
        assert_eq!(pair.leaf_state(), FULL - 8 * BITS);
        assert_eq!(pair.view(0, 2).borrows + pair.view(1, 2).borrows, 8);
    }
}

#[test]
fn what_passes_on_loan_is_charged_to_the_loan_when_the_run_ends() {
    let mut pair = Pair::new();
    pair.pass(0, 1);
    pair.pass(1, 1);
    pair.htbs[0].end_runs();
    pair.now.0 += 1_000_000;
    pair.pass(0, 3);
    assert!(!pair.htbs[0].is_exclusive(0) && is_in_run(&pair.htbs[0]));
    let root = pair.htbs[0].core.trees[0].root;
    let credit = |htb: &Htb| htb.core.node(root).unwrap().class_tokens.tokens;
    let lent = credit(&pair.htbs[0]);
    let before = [1, 2, 3].map(|row| pair.view(0, row));
    assert_eq!(before.map(|view| view.packets), [4; 3]);
    pair.htbs[0].end_runs();
    assert_eq!(before, [1, 2, 3].map(|row| pair.view(0, row)));
    // The first of the three was not of the run.
    assert_eq!(credit(&pair.htbs[0]), lent - 2 * BITS);
    assert_eq!(pair.leaf_state(), FULL - 5 * BITS + EARNED);
}

#[test]
fn a_run_on_loan_ends_with_the_loan_and_the_next_one_has_more_while_there_is_some() {
    let mut pair = Pair::new();
    pair.pass(0, 1);
    pair.pass(1, 1);
    pair.htbs[0].end_runs();
    pair.now.0 += 1_000_000;
    let leaf = class(&pair.forest, 3);
    let passed = (0..1000).take_while(|_| pair.htbs[0].pass(leaf, 1, PACKET, pair.now)).count() as i64;
    // What the leaf's own bucket holds, of half the rate, and a packet beyond; an eighth of the root's is lent at once.
    assert_eq!(passed, FULL / 2 / BITS + 1);
    assert_eq!(pair.leaf_state(), FULL - (2 + passed) * BITS + EARNED);
}
