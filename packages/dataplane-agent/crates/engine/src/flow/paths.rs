//! Paths: the sequence of rules that a packet hit, as one number, and the rule counters that are derived from them.
//!
//! A path is a node of a tree. The root is the empty path; a child extends the path of its parent by one rule. A packet
//! is counted at the node of its path, which is one addition on the fast path. The counter of a rule is the sum over
//! the subtrees that begin with the rule, computed when it is read. Node ids are valid for one generation of the
//! configuration. When the generation changes, the sums are added to a base for each row, in one pass over the nodes
//! and one over the rows, as the worker is blocked meanwhile. The nodes of the previous generation are kept for packets
//! that were forwarded outside the engine, which reports them later.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use tollway_config::dataplane::RowId;

use super::number_hasher::NumberHasher;
use crate::ids::NONE;
use crate::packet::count::Count;

/// Maximum number of paths of a generation. Packets on further paths are counted rule by rule and not cached.
pub const MAX_PATHS: usize = 65_536;
/// Maximum number of rows whose counters are kept although the configuration does not contain them (a disabled rule
/// keeps its counts).
const MAX_ABSENT: usize = 16_384;

/// The empty path.
pub const ROOT: u32 = 0;

#[derive(Debug, Clone, Copy)]
struct PathNode {
    parent: u32,
    /// [`NONE`] at the root.
    row: RowId,
    /// Row of the child that was last looked up.
    last_row: RowId,
    last_child: u32,
    count: Count,
}

impl PathNode {
    const fn new(parent: u32, row: RowId) -> Self {
        Self { parent, row, last_row: NONE, last_child: NONE, count: Count { packets: 0, bytes: 0 } }
    }
}

/// The counters of one row.
#[derive(Debug, Clone, Copy)]
struct RuleCounter {
    row: RowId,
    /// The configuration contains the row.
    present: bool,
    /// Counts of former generations, and of packets counted rule by rule.
    base: Count,
    /// Total at the last reset.
    offset: Count,
}

impl RuleCounter {
    const fn new(row: RowId) -> Self {
        let zero = Count { packets: 0, bytes: 0 };
        Self { row, present: true, base: zero, offset: zero }
    }
}

/// The paths of one worker, and its rule counters.
#[derive(Debug)]
pub struct Paths {
    nodes: Vec<PathNode>,
    /// Children by path (upper half of the key) and row (lower half).
    children: HashMap<u64, u32, BuildHasherDefault<NumberHasher>>,
    /// Ascending by row.
    slots: Vec<RuleCounter>,
    /// Slot that [`Self::count_rule`] last found.
    last_slot: usize,
    /// Number of generations that have ended.
    ended: u32,
    /// Nodes of the last generation that has ended.
    former: Vec<PathNode>,
}

/// A path with its generation, which may be stored beyond the end of the generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remembered {
    generation: u32,
    path: u32,
}

impl Paths {
    /// Paths and counters for the rules of a configuration; `rows` are ascending.
    pub fn new(rows: &[RowId]) -> Self {
        Self {
            nodes: vec![PathNode::new(NONE, NONE)],
            children: HashMap::default(),
            slots: rows.iter().copied().map(RuleCounter::new).collect(),
            last_slot: 0,
            ended: 0,
            former: Vec::new(),
        }
    }

    /// The path that continues `path` with the rule `row`; `None` when there are too many paths.
    #[inline]
    pub fn step(&mut self, path: u32, row: RowId) -> Option<u32> {
        let node = self.nodes.get_mut(path as usize)?;
        if node.last_row == row {
            return Some(node.last_child);
        }
        let key = u64::from(path) << 32 | u64::from(row);
        let known = self.children.get(&key).copied();
        let child = match known {
            Some(child) => child,
            None => {
                if self.nodes.len() >= MAX_PATHS {
                    return None;
                }
                let child = u32::try_from(self.nodes.len()).ok()?;
                self.nodes.push(PathNode::new(path, row));
                self.children.insert(key, child);
                child
            }
        };
        if let Some(node) = self.nodes.get_mut(path as usize) {
            (node.last_row, node.last_child) = (row, child);
        }
        Some(child)
    }

    /// Counts packets that end on a path.
    #[inline]
    pub fn count(&mut self, path: u32, packets: u64, bytes: u64) {
        if let Some(node) = self.nodes.get_mut(path as usize) {
            node.count.add(Count { packets, bytes });
        }
    }

    /// Counts packets for one rule alone.
    #[inline]
    pub fn count_rule(&mut self, row: RowId, packets: u64, bytes: u64) {
        if self.slots.get(self.last_slot).is_none_or(|slot| slot.row != row) {
            let Some(at) = place(&self.slots, row) else { return };
            self.last_slot = at;
        }
        if let Some(slot) = self.slots.get_mut(self.last_slot) {
            slot.base.add(Count { packets, bytes });
        }
    }

    /// A path of this generation, for [`Self::count_remembered`].
    pub fn remember(&self, path: u32) -> Remembered {
        Remembered { generation: self.ended, path }
    }

    /// Counts packets on a path of this generation or the previous one, for the rules of the path. Packets of older
    /// generations are not counted.
    pub fn count_remembered(&mut self, remembered: Remembered, packets: u64, bytes: u64) {
        let Remembered { generation, path } = remembered;
        if generation == self.ended {
            self.count(path, packets, bytes);
        } else if generation.wrapping_add(1) == self.ended {
            let mut at = path;
            while let Some(node) = self.former.get(at as usize).filter(|node| node.row != NONE) {
                let (row, parent) = (node.row, node.parent);
                self.add_to_row(row, Count { packets, bytes });
                at = parent;
            }
        }
    }

    /// Adds to the counter of a row, whether or not the configuration still contains it.
    fn add_to_row(&mut self, row: RowId, count: Count) {
        let at = self.slots.binary_search_by_key(&row, |slot| slot.row).unwrap_or_else(|at| {
            self.slots.insert(at, RuleCounter { present: false, ..RuleCounter::new(row) });
            at
        });
        if let Some(slot) = self.slots.get_mut(at) {
            slot.base.add(count);
        }
    }

    /// Rows of a path, in the order in which they were hit.
    pub fn rows_of(&self, path: u32) -> Vec<RowId> {
        let mut rows = Vec::new();
        let mut at = self.nodes.get(path as usize);
        while let Some(node) = at.filter(|node| node.row != NONE) {
            rows.push(node.row);
            at = self.nodes.get(node.parent as usize);
        }
        rows.reverse();
        rows
    }

    /// A copy of the slots in which the base is the total. A child has a higher index than its parent, so one backward
    /// pass sums the subtrees.
    fn totals(&self) -> Vec<RuleCounter> {
        let mut slots = self.slots.clone();
        let mut sums: Vec<Count> = self.nodes.iter().map(|node| node.count).collect();
        for (at, node) in self.nodes.iter().enumerate().skip(1).rev() {
            let sum = sums.get(at).copied().unwrap_or_default();
            if sum == Count::default() {
                continue;
            }
            if let Some(parent) = sums.get_mut(node.parent as usize) {
                parent.add(sum);
            }
            if let Some(slot) = place(&slots, node.row).and_then(|at| slots.get_mut(at)) {
                slot.base.add(sum);
            }
        }
        slots
    }

    /// Counters per row, ascending: those of the configuration, and those of absent rows that count
    /// anything.
    pub fn rules(&self) -> Vec<(RowId, Count)> {
        self.totals()
            .into_iter()
            .map(|RuleCounter { row, base, offset, .. }| {
                let count = Count {
                    packets: base.packets.wrapping_sub(offset.packets),
                    bytes: base.bytes.wrapping_sub(offset.bytes),
                };
                (row, count)
            })
            .collect()
    }

    /// Resets the counters of these rows to zero; of all rows if there are none.
    pub fn reset(&mut self, rows: &[RowId]) {
        let totals = self.totals();
        let mut reset = |at: usize| {
            if let (Some(slot), Some(total)) = (self.slots.get_mut(at), totals.get(at)) {
                slot.offset = total.base;
            }
        };
        match rows.is_empty() {
            true => (0..totals.len()).for_each(reset),
            false => rows.iter().filter_map(|row| place(&totals, *row)).for_each(&mut reset),
        }
    }

    /// Whether half of the possible paths are left, so that they can go on when rules change.
    pub fn have_room(&self) -> bool {
        self.nodes.len() <= MAX_PATHS / 2
    }

    /// Takes over the rules of another generation; `rows` are ascending. All paths end; counters are kept by row.
    pub fn replace_rules(&mut self, rows: &[RowId]) {
        let totals = self.totals();
        self.replace_slots(rows, &totals, totals.clone());
        std::mem::swap(&mut self.nodes, &mut self.former);
        self.ended = self.ended.wrapping_add(1);
        self.nodes.clear();
        self.nodes.push(PathNode::new(NONE, NONE));
        self.children.clear();
    }

    /// Takes over other rules; `rows` are ascending. The paths go on: those of packets that are decided as before, and any
    /// other that the same rows make.
    pub fn follow_rules(&mut self, rows: &[RowId]) {
        let totals = self.totals();
        let slots = std::mem::take(&mut self.slots);
        self.replace_slots(rows, &totals, slots);
    }

    /// Counters for `rows`, and for other rows that have counted anything by `totals`, which are those of the `known`
    /// counters.
    fn replace_slots(&mut self, rows: &[RowId], totals: &[RuleCounter], mut known: Vec<RuleCounter>) {
        known.iter_mut().for_each(|slot| slot.present = false);
        let mut slots = Vec::with_capacity(rows.len() + known.len());
        let mut known = known.into_iter().peekable();
        let mut absent = 0_usize;
        let counted = |row| {
            let total = place(totals, row).and_then(|at| totals.get(at));
            total.is_some_and(|total| total.base != Count::default())
        };
        let mut keep = |slot: RuleCounter, slots: &mut Vec<RuleCounter>| {
            if counted(slot.row) {
                absent += 1;
                slots.push(slot);
            }
        };
        for row in rows {
            while let Some(slot) = known.next_if(|slot| slot.row < *row) {
                keep(slot, &mut slots);
            }
            let slot = known.next_if(|slot| slot.row == *row).unwrap_or(RuleCounter::new(*row));
            slots.push(RuleCounter { present: true, ..slot });
        }
        known.for_each(|slot| keep(slot, &mut slots));
        // Row ids ascend with time, so the absent row with the smallest id is roughly the one that was removed first.
        let mut forget = absent.saturating_sub(MAX_ABSENT);
        slots.retain(|slot| {
            let gone = !slot.present && forget > 0;
            forget -= usize::from(gone);
            !gone
        });
        self.slots = slots;
        self.last_slot = 0;
    }
}

/// Position of a row in slots that ascend by row.
fn place(slots: &[RuleCounter], row: RowId) -> Option<usize> {
    slots.binary_search_by_key(&row, |slot| slot.row).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(packets: u64, bytes: u64) -> Count {
        Count { packets, bytes }
    }

    #[test]
    fn paths_go_on_when_other_rules_change() {
        let mut paths = Paths::new(&[10, 11, 12]);
        let (one, other) = (paths.step(ROOT, 10).unwrap(), paths.step(ROOT, 12).unwrap());
        paths.count(one, 1, 100);
        paths.count(other, 2, 20);
        let remembered = paths.remember(one);
        // 11 has counted nothing and goes; 12 goes on being counted.
        paths.follow_rules(&[9, 10]);
        paths.count(one, 1, 100);
        paths.count_remembered(remembered, 1, 100);
        let new = paths.step(one, 9).unwrap();
        paths.count(new, 4, 40);
        let expected = vec![(9, count(4, 40)), (10, count(7, 340)), (12, count(2, 20))];
        assert_eq!(paths.rules(), expected);
        assert_eq!(paths.step(ROOT, 10), Some(one));
        paths.replace_rules(&[10, 11]);
        assert_eq!(
            paths.rules(),
            [(9, count(4, 40)), (10, count(7, 340)), (11, count(0, 0)), (12, count(2, 20))]
        );
        paths.reset(&[]);
        paths.follow_rules(&[11]);
        assert!(paths.rules().iter().all(|(_, count)| *count == Count::default()));
    }

    #[test]
    fn a_rule_counts_the_packets_of_every_path_it_lies_on() {
        let mut paths = Paths::new(&[10, 11, 12]);
        let first = paths.step(ROOT, 10).unwrap();
        let both = paths.step(first, 11).unwrap();
        let only = paths.step(ROOT, 11).unwrap();
        assert_ne!(both, only);
        assert_eq!(paths.step(first, 11), Some(both));
        paths.count(first, 1, 100);
        paths.count(both, 2, 10);
        paths.count(only, 4, 1);
        paths.count(ROOT, 8, 8);
        paths.count_rule(12, 1, 7);
        assert_eq!(paths.rules(), [(10, count(3, 110)), (11, count(6, 11)), (12, count(1, 7))]);
    }

    #[test]
    fn counters_survive_edits_and_moves_and_the_same_rule_keeps_counting() {
        let mut paths = Paths::new(&[10, 11]);
        let path = paths.step(ROOT, 11).unwrap();
        paths.count(path, 5, 50);
        paths.replace_rules(&[11, 12]);
        let path = paths.step(ROOT, 11).unwrap();
        paths.count(path, 1, 1);
        assert_eq!(paths.rules(), [(11, count(6, 51)), (12, count(0, 0))]);
    }

    #[test]
    fn what_is_heard_of_late_counts_for_the_rules_of_the_generation_before() {
        let mut paths = Paths::new(&[10, 11, 12]);
        let first = paths.step(ROOT, 10).unwrap();
        // A chain may be jumped to twice.
        let twice = paths.step(first, 12).and_then(|path| paths.step(path, 10)).unwrap();
        let remembered = paths.remember(twice);
        paths.count_remembered(remembered, 1, 10);
        paths.replace_rules(&[11, 12]);
        let other = paths.step(ROOT, 11).unwrap();
        assert_eq!(paths.rules(), [(10, count(2, 20)), (11, count(0, 0)), (12, count(1, 10))]);
        paths.count_remembered(remembered, 2, 20);
        paths.count_remembered(paths.remember(other), 4, 40);
        assert_eq!(paths.rules(), [(10, count(6, 60)), (11, count(4, 40)), (12, count(3, 30))]);
        paths.replace_rules(&[11, 12]);
        paths.count_remembered(remembered, 8, 80);
        assert_eq!(paths.rules(), [(10, count(6, 60)), (11, count(4, 40)), (12, count(3, 30))]);
    }

    #[test]
    fn a_rule_that_is_gone_before_it_has_counted_anything_keeps_what_is_heard_of_late() {
        let mut paths = Paths::new(&[10, 11]);
        let path = paths.step(ROOT, 10).unwrap();
        let remembered = paths.remember(path);
        paths.replace_rules(&[11]);
        assert_eq!(paths.rules(), [(11, count(0, 0))]);
        paths.count_remembered(remembered, 1, 10);
        paths.replace_rules(&[10, 11]);
        assert_eq!(paths.rules(), [(10, count(1, 10)), (11, count(0, 0))]);
    }

    #[test]
    fn reset_begins_at_zero_for_the_named_rows_only() {
        let mut paths = Paths::new(&[10, 11]);
        for row in [10, 11] {
            let path = paths.step(ROOT, row).unwrap();
            paths.count(path, 3, 30);
        }
        paths.reset(&[10]);
        assert_eq!(paths.rules(), [(10, count(0, 0)), (11, count(3, 30))]);
        paths.replace_rules(&[10]);
        let path = paths.step(ROOT, 10).unwrap();
        paths.count(path, 1, 2);
        assert_eq!(paths.rules(), [(10, count(1, 2)), (11, count(3, 30))]);
        paths.reset(&[]);
        assert_eq!(paths.rules(), [(10, count(0, 0)), (11, count(0, 0))]);
    }

    #[test]
    fn too_many_paths_are_refused() {
        let mut paths = Paths::new(&[]);
        let made = (0..MAX_PATHS as u32 + 5).filter(|&row| paths.step(ROOT, row).is_some()).count();
        assert_eq!(made, MAX_PATHS - 1);
    }

    #[test]
    fn of_rows_that_are_gone_the_oldest_are_forgotten_first() {
        let rows: Vec<RowId> = (0..MAX_ABSENT as u32 + 10).collect();
        let mut paths = Paths::new(&rows);
        rows.iter().for_each(|row| paths.count_rule(*row, 1, 1));
        paths.replace_rules(&[20_000]);
        let left = paths.rules();
        assert_eq!(left.len(), MAX_ABSENT + 1);
        assert_eq!(left.first(), Some(&(10, count(1, 1))));
        paths.reset(&[20, 30]);
        assert_eq!(paths.rules()[10..12], [(20, count(0, 0)), (21, count(1, 1))]);
        paths.replace_rules(&rows);
        assert_eq!(paths.rules()[..2], [(0, count(0, 0)), (1, count(0, 0))]);
        assert_eq!(paths.rules()[19..22], [(19, count(1, 1)), (20, count(0, 0)), (21, count(1, 1))]);
    }
}
