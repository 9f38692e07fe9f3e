//! One tree, several workers.

#![allow(clippy::print_stdout, reason = "a failed test shows its seed")]

use std::collections::HashMap;

use tollway_testkit::seeds;

use super::*;

/// Workers that look at their queues at odd times, on one clock.
pub struct Crew {
    htbs: Vec<Htb>,
    forest: Arc<Forest>,
    now: Now,
    /// When each looks next.
    looks: Vec<Now>,
    /// Longest time between two looks of a worker, ns.
    lateness: u64,
    random: u64,
    /// Bits sent by row.
    sent: HashMap<RowId, u64>,
    log: Vec<(Now, RowId, u64)>,
}

impl Crew {
    /// Leaves belong to workers in turn.
    pub fn new(specs: &[Spec], workers: u32, seed: u64) -> Self {
        let forest = forest(specs);
        let shared_trees = SharedTrees::default();
        let now = Now(SECOND);
        // Shown when the test fails.
        println!("seed {seed}");
        let mut htbs: Vec<Htb> = (0..workers).map(|worker| Htb::new(worker, workers)).collect();
        for htb in &mut htbs {
            htb.reconfigure(&forest, &shared_trees, now);
        }
        Self {
            htbs,
            forest,
            now,
            looks: vec![now; workers as usize],
            lateness: 200_000,
            random: seed,
            sent: HashMap::new(),
            log: Vec::new(),
        }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % below
    }

    pub fn activate(&mut self, worker: usize, row: RowId) {
        let leaf = class(&self.forest, row);
        self.htbs[worker].acquire(leaf, self.now);
        self.htbs[worker].activate(leaf, self.now);
    }

    fn deactivate(&mut self, worker: usize, row: RowId) {
        self.htbs[worker].deactivate(class(&self.forest, row));
    }

    fn count(&mut self, leaf: ClassId) {
        let row = self.forest.class(leaf).unwrap().identity.row;
        *self.sent.entry(row).or_default() += PACKET * 8;
        self.log.push((self.now, row, PACKET * 8));
    }

    /// For so many ms, workers in random order.
    pub fn run(&mut self, ms: u64) {
        let end = Now(self.now.0 + ms * 1_000_000);
        loop {
            let (worker, &at) = self.looks.iter().enumerate().min_by_key(|(_, at)| **at).unwrap();
            if at >= end {
                self.now = end;
                return;
            }
            self.now = at;
            // A worker sends so much before it looks at its ports again.
            for _ in 0..64 {
                let Some(turn) = self.htbs[worker].next(at) else { break };
                self.htbs[worker].sent(turn.leaf, 1, PACKET, at);
                self.count(turn.leaf);
            }
            let gap = self.lateness / 10 + self.random(self.lateness * 9 / 10);
            let deadline = self.htbs[worker].next_deadline(at).unwrap_or(end);
            self.looks[worker] = Now(deadline.0.max(at.0 + gap));
        }
    }

    /// Mbit/s of rows since the last call.
    pub fn rates(&mut self, rows: &[RowId], ms: u64) -> Vec<f64> {
        self.sent.clear();
        self.run(ms);
        rows.iter().map(|row| *self.sent.get(row).unwrap_or(&0) as f64 / (ms * 1000) as f64).collect()
    }
}

fn flat(leaves: u32, max_limit: u64) -> Vec<Spec> {
    let mut specs = vec![(1, 0, 0, max_limit, 8)];
    specs.extend((0..leaves).map(|leaf| (leaf + 2, 1, 0, max_limit, 8)));
    specs
}

#[test]
fn a_thousand_leaves_of_several_workers_keep_the_rate_of_their_root() {
    for seed in seeds(1) {
        for (workers, max_limit) in [(2, 100 * M), (4, 100 * M), (2, 1000 * M), (4, 1000 * M), (2, 5 * M)] {
            let mut crew = Crew::new(&flat(1000, max_limit), workers, seed);
            for row in 2..1002 {
                // The first has more than the others.
                let worker = if row < 400 { 0 } else { row % workers };
                crew.activate(worker as usize, row);
            }
            crew.run(1000);
            let rows: Vec<RowId> = (2..1002).collect();
            let ms = 1500.max(12_000_000_000 / max_limit * 100);
            let rates = crew.rates(&rows, ms);
            let due = max_limit as f64 / 1e6;
            assert_near(&[rates.iter().sum()], &[due], 0.01);
            // A round of all leaves is 12 Mbit.
            let (least, most) =
                (rates.iter().copied().fold(f64::MAX, f64::min), rates.iter().copied().fold(0.0, f64::max));
            assert_near(&[least, most], &[due / 1000.0; 2], 0.02);
        }
    }
}

#[test]
fn the_values_of_the_manual_hold_whichever_worker_has_a_leaf() {
    for seed in seeds(1) {
        let cases: [([Spec; 5], [f64; 3]); 4] = [
            (tree(4, (6, 1), (2, 3), (2, 10, 5)), [6.0, 2.0, 2.0]),
            (tree(4, (2, 3), (2, 1), (2, 10, 5)), [2.0, 6.0, 2.0]),
            (tree(8, (2, 1), (2, 3), (2, 10, 5)), [2.0, 6.0, 2.0]),
            (tree(4, (6, 1), (2, 3), (12, 15, 5)), [6.0, 2.0, 12.0]),
        ];
        for (specs, due) in cases {
            for split in [[0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 1, 2]] {
                let mut crew = Crew::new(&specs, 3, seed);
                for (row, worker) in [3, 4, 5].into_iter().zip(split) {
                    crew.activate(worker, row);
                }
                crew.run(2000);
                let rates = crew.rates(&[3, 4, 5], 5000);
                assert_near(&rates, &due, 0.02);
            }
        }
    }
}

fn tree(q2: u64, q3: (u64, u8), q4: (u64, u8), q5: (u64, u64, u8)) -> [Spec; 5] {
    [
        (1, 0, 0, 10 * M, 8),
        (2, 1, q2 * M, 10 * M, 8),
        (3, 1, q3.0 * M, 10 * M, q3.1),
        (4, 2, q4.0 * M, 10 * M, q4.1),
        (5, 2, q5.0 * M, q5.1 * M, q5.2),
    ]
}

#[test]
fn what_is_left_is_shared_by_limit_at_across_workers() {
    for seed in seeds(1) {
        for (root, unit) in [(10 * M, M), (1000 * M, 100 * M)] {
            let specs = [(1, 0, 0, root, 8), (2, 1, unit, root, 8), (3, 1, 3 * unit, root, 8)];
            let mut crew = Crew::new(&specs, 2, seed);
            crew.activate(0, 2);
            crew.activate(1, 3);
            crew.run(500);
            let rates = crew.rates(&[2, 3], if root == 10 * M { 10_000 } else { 1000 });
            let due = if root == 10 * M { [2.5, 7.5] } else { [400.0, 600.0] };
            assert_near(&[rates.iter().sum()], &[root as f64 / 1e6], 0.01);
            assert_near(&rates, &due, 0.02);
        }
    }
}

#[test]
fn strict_priority_holds_over_any_ten_milliseconds() {
    for seed in seeds(1) {
        for (workers, root) in [(2usize, 100 * M), (4, 1000 * M), (4, 100 * M)] {
            let mut specs: Vec<Spec> = vec![(1, 0, 0, root, 8), (2, 1, 0, root, 1)];
            specs.extend((3..3 + workers as RowId - 1).map(|row| (row, 1, 0, root, 8)));
            specs.push((20, 1, root / 20, root, 8));
            let mut crew = Crew::new(&specs, workers as u32, seed);
            for worker in 1..workers {
                crew.activate(worker, worker as RowId + 2);
            }
            crew.activate(1, 20);
            crew.run(500);
            // The first priority comes to wait: from 10 ms on all but limit-at is its.
            crew.activate(0, 2);
            crew.log.clear();
            let begin = crew.now;
            crew.run(500);
            // What the wire would not have sent in the time is the others' from before.
            for start in (1..490).step_by(3) {
                let window = begin.0 + start * 1_000_000..begin.0 + (start + 10) * 1_000_000;
                let sum = |rows: &dyn Fn(RowId) -> bool| {
                    let of = crew.log.iter().filter(|(at, row, _)| window.contains(&at.0) && rows(*row));
                    of.map(|(_, _, bits)| bits).sum::<u64>()
                };
                let low = sum(&|row| row != 2 && row != 20);
                let slack = if start < 10 { root / 100 / 2 } else { 0 };
                assert!(low <= slack + 12_000, "{workers} {root}: {low} bits from {start} ms on");
            }
            crew.sent.clear();
            let rates = crew.rates(&[2, 20], 1000);
            assert_near(&rates, &[root as f64 / 1e6 * 0.95, root as f64 / 1e6 * 0.05], 0.02);
        }
    }
}

#[test]
fn priorities_and_guarantees_hold_for_a_thousand_leaves_of_several_workers() {
    for seed in seeds(1) {
        for workers in [2, 4] {
            let root = 1000 * M;
            let (first, guaranteed, others) = (2..22, 22..122, 122..1002);
            let mut specs: Vec<Spec> = vec![(1, 0, 0, root, 8)];
            specs.extend(first.clone().map(|row| (row, 1, 0, root, 1)));
            specs.extend(guaranteed.clone().map(|row| (row, 1, M, root, 8)));
            specs.extend(others.clone().map(|row| (row, 1, 0, root, 8)));
            let mut crew = Crew::new(&specs, workers, seed);
            for row in guaranteed.clone().chain(others.clone()) {
                crew.activate((row % workers) as usize, row);
            }
            crew.run(500);
            for row in first.clone() {
                crew.activate((row % workers) as usize, row);
            }
            crew.log.clear();
            let begin = crew.now.0;
            crew.run(300);
            for start in 10..290 {
                let window = begin + start * 1_000_000..begin + (start + 10) * 1_000_000;
                let of =
                    crew.log.iter().filter(|(at, row, _)| window.contains(&at.0) && others.contains(row));
                let low: u64 = of.map(|(_, _, bits)| bits).sum();
                assert!(low <= 12_000, "{workers} workers: {low} bits from {start} ms on");
            }
            let rows: Vec<RowId> = (2..1002).collect();
            let rates = crew.rates(&rows, 5000);
            assert_near(&[rates.iter().sum()], &[1000.0], 0.01);
            assert!(rates[20..120].iter().all(|rate| *rate >= 0.99), "{:?}", &rates[20..120]);
            assert!(rates[120..].iter().all(|rate| *rate == 0.0), "{:?}", &rates[120..]);
        }
    }
}

#[test]
fn limit_at_is_never_lent_away() {
    for seed in seeds(1) {
        // Σ limit-at is all there is; others of the first priority would take everything.
        let mut specs: Vec<Spec> = vec![(1, 0, 0, 100 * M, 8), (2, 1, 0, 100 * M, 1), (3, 1, 0, 100 * M, 1)];
        specs.extend((10..20).map(|row| (row, 1, 10 * M, 100 * M, 8)));
        let mut crew = Crew::new(&specs, 4, seed);
        crew.activate(0, 2);
        crew.activate(1, 3);
        for row in 10..20 {
            crew.activate(row as usize % 4, row);
        }
        crew.run(500);
        let rows: Vec<RowId> = (10..20).collect();
        let rates = crew.rates(&rows, 5000);
        assert!(rates.iter().all(|rate| *rate >= 9.9), "{rates:?}");
        assert_near(&crew.rates(&[2, 3], 1000), &[0.0, 0.0], 0.01);
    }
}

#[test]
fn who_leaves_gives_back_all_and_who_stays_alone_has_no_leases() {
    for seed in seeds(1) {
        let mut crew = Crew::new(&flat(4, 100 * M), 2, seed);
        crew.activate(0, 2);
        crew.activate(1, 3);
        crew.run(500);
        assert!(!crew.htbs[0].is_exclusive(0) && !crew.htbs[1].is_exclusive(0));
        crew.deactivate(1, 3);
        crew.run(2);
        assert_eq!(crew.htbs[1].next_deadline(crew.now), None);
        assert!(crew.htbs[1].core.trees[0].listed.iter().all(|listed| listed.is_empty()));
        assert_near(&crew.rates(&[2, 3], 10), &[100.0, 0.0], 0.1);
        crew.run(20);
        assert!(crew.htbs[0].is_exclusive(0));
        assert_near(&crew.rates(&[2], 1000), &[100.0], 0.001);
        // And comes back.
        crew.activate(1, 3);
        crew.run(50);
        assert!(!crew.htbs[0].is_exclusive(0));
        assert_near(&crew.rates(&[2, 3], 2000), &[50.0, 50.0], 0.02);
    }
}

#[test]
fn packets_that_need_not_wait_find_credit() {
    for seed in seeds(1) {
        let mut crew = Crew::new(&flat(4, 1000 * M), 2, seed);
        crew.activate(0, 2);
        crew.deactivate(0, 2);
        crew.activate(1, 3);
        crew.deactivate(1, 3);
        crew.run(500);
        let (mut held, mut passed) = (0, 0);
        let leaves = [2, 3].map(|row| class(&crew.forest, row));
        // 480 Mbit/s each, of 1,000: a packet each 25 us.
        for turn in 0..40_000 {
            crew.now.0 += 25_000;
            for (htb, leaf) in crew.htbs.iter_mut().zip(leaves) {
                if turn % 4 == 0 {
                    assert_eq!(htb.next(crew.now), None);
                }
                let went = htb.pass(leaf, 1, PACKET, crew.now);
                (held, passed) = (held + u32::from(!went), passed + u32::from(went));
            }
        }
        assert!(held * 100 < passed, "{held} had to wait, {passed} not");
    }
}

/// Bursts of TCP: 128 KiB in super-frames, now through one worker, now through the other, some 80 Mbit/s of 900, while
/// each worker looks at what is due in its own time.
#[test]
fn bursts_far_below_the_limit_need_not_wait_whoever_sends_them() {
    for seed in seeds(8) {
        let mut crew = Crew::new(&flat(2, 900 * M), 2, seed);
        let leaves = [2, 3].map(|row| class(&crew.forest, row));
        for (htb, leaf) in crew.htbs.iter_mut().zip(leaves) {
            htb.acquire(leaf, crew.now);
        }
        let mut held = 0;
        for _ in 0..2_000 {
            let next = crew.now.0 + crew.random(26_000_000);
            while let Some(at) = crew.htbs.iter().filter_map(|htb| htb.next_deadline(crew.now)).min()
                && at.0 <= next
            {
                // A worker may be late.
                crew.now = Now(at.0.max(crew.now.0) + crew.random(50_000));
                for htb in &mut crew.htbs {
                    assert_eq!(htb.next(crew.now), None);
                }
            }
            crew.now = Now(crew.now.0.max(next));
            let worker = crew.random(2) as usize;
            for _ in 0..2 {
                held += u32::from(!crew.htbs[worker].pass(leaves[worker], 44, 65_500, crew.now));
                crew.now.0 += crew.random(60_000);
            }
        }
        assert_eq!(held, 0);
    }
}

#[test]
fn any_window_holds_the_rate_the_bucket_and_what_is_lent() {
    for seed in seeds(1) {
        let root = 100 * M;
        let mut crew = Crew::new(&flat(40, root), 4, seed);
        for row in 2..42 {
            crew.activate(row as usize % 4, row);
        }
        // Comes and goes.
        for step in 0..400u64 {
            let row = 2 + crew.random(40) as RowId;
            if step % 2 == 0 {
                crew.deactivate(row as usize % 4, row);
            } else {
                crew.activate(row as usize % 4, row);
            }
            let ms = crew.random(7);
            crew.run(ms);
        }
        // A bucket of 100 ms, a slice, and a packet for each worker.
        let beyond = root / 10 + root / 1000 + 4 * 12_000;
        let mut sums = vec![(crew.log[0].0, 0u64)];
        for &(at, _, bits) in &crew.log {
            sums.push((at, sums.last().unwrap().1 + bits));
        }
        for (at, &(from, before)) in sums.iter().enumerate().step_by(37) {
            for &(to, after) in sums[at..].iter().step_by(41) {
                let bound = root as u128 * u128::from(to.0 - from.0) / 1_000_000_000 + u128::from(beyond);
                assert!(u128::from(after - before) <= bound);
            }
        }
    }
}
