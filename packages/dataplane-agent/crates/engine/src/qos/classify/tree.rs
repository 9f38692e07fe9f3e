//! `/queue/tree`: which leaf below `global`, and which below an interface, takes a packet.

use std::collections::{BTreeMap, BTreeSet};

use tollway_config::dataplane::{DataplaneConfig, InterfaceKind, Mark, RowId};

use crate::qos::forest::{ClassId, Forest};

/// The leaves below `global`, or below one interface.
#[derive(Debug, Clone, Default)]
struct Branch {
    /// First leaf with each mark, ascending.
    marked: Vec<(Mark, ClassId)>,
    /// First leaf without marks.
    unmarked: Option<ClassId>,
}

impl Branch {
    fn add(&mut self, marks: &[Mark], leaf: ClassId) {
        if marks.is_empty() {
            self.unmarked = self.unmarked.or(Some(leaf));
        }
        self.marked.extend(marks.iter().map(|mark| (*mark, leaf)));
    }

    /// Sorts by mark and keeps the first leaf of each mark. The sort is stable: it keeps the order of the list.
    fn finish(&mut self) {
        self.marked.sort_by_key(|(mark, _)| *mark);
        self.marked.dedup_by_key(|(mark, _)| *mark);
    }

    fn leaf(&self, mark: Mark) -> Option<ClassId> {
        let found = self.marked.binary_search_by_key(&mark, |(mark, _)| *mark).ok();
        found.and_then(|at| self.marked.get(at)).map(|(_, leaf)| *leaf).or(self.unmarked)
    }
}

/// The classes of `/queue/tree`.
#[derive(Debug, Default)]
pub(super) struct TreeClassifier {
    global: Branch,
    /// Ascending by row.
    interfaces: Vec<(RowId, Branch)>,
}

impl TreeClassifier {
    /// The nodes of `/queue/tree` by their parents.
    pub fn new(config: &DataplaneConfig, forest: &Forest) -> Self {
        let mut tree = Self::default();
        for (position, node) in (0u32..).zip(&config.tree_queues) {
            let Some(id) = forest.tree(position) else { continue };
            let Some(class) = forest.class(id).filter(|class| class.is_leaf) else { continue };
            let branch = match class.interface {
                None => &mut tree.global,
                Some(row) => {
                    let at = tree.place(row).unwrap_or_else(|at| {
                        tree.interfaces.insert(at, (row, Branch::default()));
                        at
                    });
                    let Some((_, branch)) = tree.interfaces.get_mut(at) else { continue };
                    branch
                }
            };
            branch.add(&node.packet_marks, id);
        }
        tree.global.finish();
        tree.interfaces.iter_mut().for_each(|(_, branch)| branch.finish());
        tree.give_to_vlans(config);
        tree
    }

    /// Gives VLANs without leaves of their own those of the nearest interface below that has some, as what leaves by a VLAN
    /// leaves by that.
    fn give_to_vlans(&mut self, config: &DataplaneConfig) {
        for (vlan, below) in vlans_in_trees_below(config) {
            if let Ok(from) = self.place(below)
                && let Some(branch) = self.interfaces.get(from).map(|(_, branch)| branch.clone())
                && let Err(at) = self.place(vlan)
            {
                self.interfaces.insert(at, (vlan, branch));
            }
        }
    }

    fn place(&self, row: RowId) -> Result<usize, usize> {
        self.interfaces.binary_search_by_key(&row, |(row, _)| *row)
    }

    /// The leaf below `global`.
    #[inline]
    pub fn global(&self, mark: Mark) -> Option<ClassId> {
        self.global.leaf(mark)
    }

    /// The leaf below the interface by which a packet leaves.
    #[inline]
    pub fn interface(&self, row: RowId, mark: Mark) -> Option<ClassId> {
        let at = self.place(row).ok()?;
        self.interfaces.get(at)?.1.leaf(mark)
    }
}

/// Each VLAN that has no queues of `/queue/tree` itself, with the nearest interface below it that has.
pub(crate) fn vlans_in_trees_below(config: &DataplaneConfig) -> Vec<(RowId, RowId)> {
    let with_trees: BTreeSet<RowId> =
        config.tree_queues.iter().filter_map(|node| node.parent.interface()).collect();
    if with_trees.is_empty() {
        return Vec::new();
    }
    let vlans = config.interfaces.iter().filter_map(|interface| match interface.kind {
        InterfaceKind::Vlan { parent, .. } => Some((interface.row, parent)),
        InterfaceKind::Ethernet { .. } | InterfaceKind::Loopback => None,
    });
    let below: BTreeMap<RowId, RowId> = vlans.collect();
    let nearest = |row: RowId| {
        // Configurations in which a VLAN is below itself are refused; the chain ends here in any case.
        let mut chain = std::iter::successors(Some(row), |row| below.get(row).copied()).take(below.len() + 1);
        chain.find(|row| with_trees.contains(row)).filter(|nearest| *nearest != row)
    };
    below.keys().filter_map(|vlan| Some((*vlan, nearest(*vlan)?))).collect()
}
