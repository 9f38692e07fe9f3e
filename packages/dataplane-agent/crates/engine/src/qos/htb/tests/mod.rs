use std::sync::Arc;

use tollway_config::dataplane::{DataplaneConfig, QueueLimit, QueueType, RowId, TreeParent, TreeQueue};

use super::*;
use crate::qos::forest::{Identity, RowPart};

mod fairness;
mod oracle;
mod properties;
mod reconfigure;
mod runs;
mod threads;
mod workers;

const M: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const PACKET: u64 = 1500;

/// A class: row, row of its parent (0 for none), limit-at and max-limit in bits/s, priority.
type Spec = (RowId, RowId, u64, u64, u8);

fn limit(limit_at: u64, max_limit: u64, priority: u8) -> QueueLimit {
    QueueLimit {
        limit_at,
        max_limit,
        burst_limit: 0,
        burst_threshold: 0,
        burst_time_ms: 0,
        bucket_ms: 100,
        priority,
        queue_type: 0,
    }
}

fn config(specs: &[Spec], interface: Option<RowId>) -> DataplaneConfig {
    let node = |&(row, parent, limit_at, max_limit, priority): &Spec| TreeQueue {
        row,
        parent: match (parent, interface) {
            (0, Some(interface)) => TreeParent::Interface { interface },
            (0, None) => TreeParent::Global,
            (row, _) => TreeParent::Queue { row },
        },
        packet_marks: Vec::new(),
        limit: limit(limit_at, max_limit, priority),
    };
    DataplaneConfig {
        queue_types: vec![QueueType::Pfifo { limit: 50 }],
        tree_queues: specs.iter().map(node).collect(),
        ..DataplaneConfig::default()
    }
}

fn forest(specs: &[Spec]) -> Arc<Forest> {
    Arc::new(Forest::build(&config(specs, None)).unwrap())
}

fn class(forest: &Forest, row: RowId) -> ClassId {
    forest.find(Identity { row, part: RowPart::Whole }).unwrap()
}

/// A worker and its leaves, packets of 1,500 bytes.
struct Sim {
    htb: Htb,
    forest: Arc<Forest>,
    shared_trees: SharedTrees,
    now: Now,
    /// Bits that each class of the forest has sent, by number.
    sent: Vec<u64>,
    /// Packets sent, and when.
    log: Vec<(Now, ClassId, u64)>,
    /// Takes so many bits/s: each packet keeps the port busy.
    port: Option<(RowId, u64)>,
}

impl Sim {
    fn new(forest: Arc<Forest>) -> Self {
        let (mut htb, now, shared_trees) = (Htb::new(0, 1), Now(SECOND), SharedTrees::default());
        htb.reconfigure(&forest, &shared_trees, now);
        for (id, class) in (0..).map(ClassId).zip(forest.classes()) {
            if class.is_leaf {
                htb.acquire(id, now);
            }
        }
        let sent = vec![0; forest.classes().len()];
        Self { htb, forest, shared_trees, now, sent, log: Vec::new(), port: None }
    }

    fn of(specs: &[Spec]) -> Self {
        Self::new(forest(specs))
    }

    fn class(&self, row: RowId) -> ClassId {
        class(&self.forest, row)
    }

    fn activate(&mut self, rows: &[RowId]) {
        for row in rows {
            let leaf = self.class(*row);
            self.htb.activate(leaf, self.now);
        }
    }

    fn send(&mut self, leaf: ClassId, bytes: u64) {
        self.htb.sent(leaf, 1, bytes, self.now);
        self.sent[leaf.0 as usize] += bytes * 8;
        self.log.push((self.now, leaf, bytes * 8));
    }

    /// Active leaves send all they may, for so many ms.
    fn run(&mut self, ms: u64) {
        let end = Now(self.now.0 + ms * 1_000_000);
        while self.now < end {
            while let Some(turn) = self.htb.next(self.now) {
                self.send(turn.leaf, PACKET);
                let Some((interface, rate)) = self.port else { continue };
                self.htb.set_blocked(interface, true);
                assert_eq!(self.htb.next(self.now), None);
                self.now = Now(self.now.0 + PACKET * 8 * SECOND / rate);
                self.htb.set_blocked(interface, false);
                if self.now >= end {
                    return;
                }
            }
            let next = self.htb.next_deadline(self.now).unwrap_or(end);
            assert!(next > self.now, "it wants to run again at once");
            self.now = next.min(end);
        }
    }

    /// Mbit/s of each row in so many ms, after a second in which buckets empty.
    fn rates(&mut self, rows: &[RowId], ms: u64) -> Vec<f64> {
        self.run(1000);
        let before: Vec<u64> = self.sent.clone();
        self.run(ms);
        let rate = |row: &RowId| {
            let at = self.class(*row).0 as usize;
            (self.sent[at] - before[at]) as f64 / (ms * 1000) as f64
        };
        rows.iter().map(rate).collect()
    }
}

fn assert_near(rates: &[f64], due: &[f64], part: f64) {
    assert_eq!(rates.len(), due.len());
    for (rate, due) in rates.iter().zip(due) {
        let tolerance = (due * part).max(0.001);
        assert!((rate - due).abs() <= tolerance, "{rates:?}, expected {due:?}");
    }
}
