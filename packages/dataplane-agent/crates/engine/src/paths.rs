//! Paths: which rules a packet hit, as one number; and the exact rule counters that follow from them.
//!
//! A path is a node of a tree: the root is "no rule", a child is "and then this rule". Packets count at
//! the node where they end, one addition on the fast path; a rule's counter is the sum over the subtrees
//! that begin with it, computed when somebody reads it. Node ids live as long as the configuration's
//! generation; when it changes the sums fold into a base per row.

use std::collections::{BTreeMap, HashMap};

use tollway_config::dataplane::RowId;

use crate::packet::NONE;
use crate::stats::Count;

/// Most paths of a generation; packets on further ones count rule by rule and are not cached.
pub const MAX_PATHS: usize = 65_536;
/// Most rows that are remembered although the configuration does not contain them (a disabled rule keeps
/// its counts).
const MAX_ABSENT: usize = 16_384;

/// The empty path.
pub const ROOT: u32 = 0;

#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    /// [`NONE`] at the root.
    row: RowId,
    /// The child that was asked for last.
    last_row: RowId,
    last_child: u32,
    count: Count,
}

impl Node {
    const fn new(parent: u32, row: RowId) -> Self {
        Self { parent, row, last_row: NONE, last_child: NONE, count: Count { packets: 0, bytes: 0 } }
    }
}

/// The paths of one worker, and its rule counters.
#[derive(Debug)]
pub struct Paths {
    nodes: Vec<Node>,
    children: HashMap<(u32, RowId), u32>,
    /// Rows of this generation.
    rows: Vec<RowId>,
    /// Counted rule by rule.
    direct: BTreeMap<RowId, Count>,
    /// Totals of former generations.
    base: BTreeMap<RowId, Count>,
    /// Totals at the last reset.
    offset: BTreeMap<RowId, Count>,
}

impl Paths {
    /// For the rules of a configuration.
    pub fn new(rows: Vec<RowId>) -> Self {
        Self {
            nodes: vec![Node::new(NONE, NONE)],
            children: HashMap::new(),
            rows,
            direct: BTreeMap::new(),
            base: BTreeMap::new(),
            offset: BTreeMap::new(),
        }
    }

    /// The path that goes on from `path` by hitting the rule `row`; `None` when there are too many.
    #[inline]
    pub fn step(&mut self, path: u32, row: RowId) -> Option<u32> {
        let node = self.nodes.get_mut(path as usize)?;
        if node.last_row == row {
            return Some(node.last_child);
        }
        let known = self.children.get(&(path, row)).copied();
        let child = match known {
            Some(child) => child,
            None => {
                if self.nodes.len() >= MAX_PATHS {
                    return None;
                }
                let child = u32::try_from(self.nodes.len()).ok()?;
                self.nodes.push(Node::new(path, row));
                self.children.insert((path, row), child);
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
            node.count.packets = node.count.packets.wrapping_add(packets);
            node.count.bytes = node.count.bytes.wrapping_add(bytes);
        }
    }

    /// Counts packets for one rule alone.
    #[inline]
    pub fn count_rule(&mut self, row: RowId, packets: u64, bytes: u64) {
        self.direct.entry(row).or_default().add(Count { packets, bytes });
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

    fn totals(&self) -> BTreeMap<RowId, Count> {
        let mut totals = self.base.clone();
        for row in &self.rows {
            totals.entry(*row).or_default();
        }
        for (row, count) in &self.direct {
            totals.entry(*row).or_default().add(*count);
        }
        for node in &self.nodes {
            let mut at = node;
            if node.count == Count::default() {
                continue;
            }
            while at.row != NONE {
                totals.entry(at.row).or_default().add(node.count);
                match self.nodes.get(at.parent as usize) {
                    Some(parent) => at = parent,
                    None => break,
                }
            }
        }
        totals
    }

    /// Counters per row, ascending: those of the configuration, and those of absent rows that count
    /// anything.
    pub fn rules(&self) -> Vec<(RowId, Count)> {
        self.totals()
            .into_iter()
            .map(|(row, total)| {
                let offset = self.offset.get(&row).copied().unwrap_or_default();
                let count = Count {
                    packets: total.packets.wrapping_sub(offset.packets),
                    bytes: total.bytes.wrapping_sub(offset.bytes),
                };
                (row, count)
            })
            .collect()
    }

    /// Lets the counters of these rows (all when empty) begin at zero.
    pub fn reset(&mut self, rows: &[RowId]) {
        for (row, total) in self.totals() {
            if rows.is_empty() || rows.contains(&row) {
                self.offset.insert(row, total);
            }
        }
    }

    /// Takes over the rules of another generation. Every path ends; counters stay with their rows.
    pub fn renew(&mut self, rows: Vec<RowId>) {
        self.base = self.totals();
        let offset = &self.offset;
        self.base.retain(|row, total| *total != Count::default() || offset.contains_key(row));
        let present: std::collections::HashSet<RowId> = rows.iter().copied().collect();
        let absent: Vec<RowId> = self.base.keys().filter(|row| !present.contains(row)).copied().collect();
        // Row ids ascend with time, so the smallest absent one left the longest ago, roughly.
        for row in absent.iter().take(absent.len().saturating_sub(MAX_ABSENT)) {
            self.base.remove(row);
            self.offset.remove(row);
        }
        self.direct.clear();
        self.rows = rows;
        self.nodes.clear();
        self.nodes.push(Node::new(NONE, NONE));
        self.children.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(packets: u64, bytes: u64) -> Count {
        Count { packets, bytes }
    }

    #[test]
    fn a_rule_counts_the_packets_of_every_path_it_lies_on() {
        let mut paths = Paths::new(vec![10, 11, 12]);
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
        let mut paths = Paths::new(vec![10, 11]);
        let path = paths.step(ROOT, 11).unwrap();
        paths.count(path, 5, 50);
        paths.renew(vec![11, 12]);
        let path = paths.step(ROOT, 11).unwrap();
        paths.count(path, 1, 1);
        assert_eq!(paths.rules(), [(11, count(6, 51)), (12, count(0, 0))]);
    }

    #[test]
    fn reset_begins_at_zero_for_the_named_rows_only() {
        let mut paths = Paths::new(vec![10, 11]);
        for row in [10, 11] {
            let path = paths.step(ROOT, row).unwrap();
            paths.count(path, 3, 30);
        }
        paths.reset(&[10]);
        assert_eq!(paths.rules(), [(10, count(0, 0)), (11, count(3, 30))]);
        paths.renew(vec![10]);
        let path = paths.step(ROOT, 10).unwrap();
        paths.count(path, 1, 2);
        assert_eq!(paths.rules(), [(10, count(1, 2)), (11, count(3, 30))]);
        paths.reset(&[]);
        assert_eq!(paths.rules(), [(10, count(0, 0)), (11, count(0, 0))]);
    }

    #[test]
    fn too_many_paths_are_refused() {
        let mut paths = Paths::new(Vec::new());
        let made = (0..MAX_PATHS as u32 + 5).filter(|&row| paths.step(ROOT, row).is_some()).count();
        assert_eq!(made, MAX_PATHS - 1);
    }
}
