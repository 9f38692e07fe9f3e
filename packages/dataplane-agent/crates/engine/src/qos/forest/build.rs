//! Builds the forest of a configuration: links the rows, checks their limits, finds roots and levels.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tollway_config::dataplane::{DataplaneConfig, QueueLimit, RowId, TreeParent};

use super::{Class, ClassId, Forest, Identity, MAX_LEVELS, NO_LIMIT, RowPart};
use crate::error::BuildError;
use crate::qos::token_bucket::{MAX_DEPTH_MS, MAX_RATE};

impl Forest {
    /// Links the rows of a configuration.
    ///
    /// # Errors
    /// Names the row that occurs twice, whose parent does not exist or is below it, that is deeper than
    /// [`MAX_LEVELS`], or has a limit out of range.
    pub fn build(config: &DataplaneConfig) -> Result<Self, BuildError> {
        let mut forest = Self { types: config.queue_types.clone(), ..Self::default() };
        for queue in &config.simple_queues {
            let parts = [
                (RowPart::Upload, Some(&queue.upload)),
                (RowPart::Download, Some(&queue.download)),
                (RowPart::Total, queue.total.as_ref()),
            ];
            for (part, limit) in parts {
                let Some(limit) = limit else { continue };
                let id = forest.add(Identity { row: queue.row, part }, None, limit)?;
                if part == RowPart::Upload {
                    forest.simple.push(id);
                }
            }
        }
        for node in &config.tree_queues {
            let id = forest.add(
                Identity { row: node.row, part: RowPart::Whole },
                node.parent.interface(),
                &node.limit,
            )?;
            forest.tree.push(id);
        }
        for queue in &config.interface_queues {
            let limit = QueueLimit { queue_type: queue.queue_type, ..NO_LIMIT };
            let identity = Identity { row: queue.interface, part: RowPart::Interface };
            forest.add(identity, Some(queue.interface), &limit)?;
        }
        forest.link(config)?;
        forest.measure()?;
        forest.order();
        (forest.limits, forest.by_identity) = (HashSet::new(), HashMap::new());
        Ok(forest)
    }

    fn add(
        &mut self,
        identity: Identity,
        interface: Option<RowId>,
        limit: &QueueLimit,
    ) -> Result<ClassId, BuildError> {
        if self.classes.len() >= 1 << 28 {
            return Err(BuildError { row: None, message: "more than 268435455 queues".to_owned() });
        }
        self.check(identity.row, limit)?;
        let limit = self.limits.get(limit).map_or_else(|| Arc::new(*limit), Arc::clone);
        self.limits.insert(Arc::clone(&limit));
        let id = ClassId(self.classes.len() as u32);
        if self.by_identity.insert(identity, id).is_some() {
            return Err(BuildError::row(identity.row, "the queue row occurs twice"));
        }
        self.classes.push(Class {
            identity,
            parent: None,
            root: id,
            interface,
            is_leaf: true,
            level: 0,
            limit,
        });
        Ok(id)
    }

    fn check(&self, row: RowId, limit: &QueueLimit) -> Result<(), BuildError> {
        let rates = [
            ("limit-at", limit.limit_at),
            ("max-limit", limit.max_limit),
            ("burst-limit", limit.burst_limit),
            ("burst-threshold", limit.burst_threshold),
        ];
        if let Some((name, rate)) = rates.into_iter().find(|(_, rate)| *rate > MAX_RATE) {
            return Err(BuildError::row(row, format!("{name} {rate}: expected at most {MAX_RATE}")));
        }
        if limit.bucket_ms > MAX_DEPTH_MS {
            let message = format!("bucket of {} ms: expected at most {MAX_DEPTH_MS}", limit.bucket_ms);
            return Err(BuildError::row(row, message));
        }
        if !(1..=8).contains(&limit.priority) {
            return Err(BuildError::row(row, format!("priority {}: expected 1 to 8", limit.priority)));
        }
        if self.types.get(limit.queue_type as usize).is_none() {
            return Err(BuildError::row(row, format!("queue type {} does not exist", limit.queue_type)));
        }
        Ok(())
    }

    fn link(&mut self, config: &DataplaneConfig) -> Result<(), BuildError> {
        let simple = config.simple_queues.iter().filter_map(|queue| Some((queue.row, queue.parent?)));
        for (row, parent) in simple {
            if !self.by_identity.contains_key(&Identity { row: parent, part: RowPart::Upload }) {
                return Err(BuildError::row(row, format!("parent {parent} does not exist")));
            }
            for part in [RowPart::Upload, RowPart::Download, RowPart::Total] {
                self.set_parent(Identity { row, part }, Identity { row: parent, part });
            }
        }
        for node in &config.tree_queues {
            let TreeParent::Queue { row: parent } = node.parent else { continue };
            let part = RowPart::Whole;
            if !self.set_parent(Identity { row: node.row, part }, Identity { row: parent, part }) {
                return Err(BuildError::row(node.row, format!("parent {parent} does not exist")));
            }
        }
        Ok(())
    }

    /// `false` when one of the two does not exist.
    fn set_parent(&mut self, child: Identity, parent: Identity) -> bool {
        let (Some(&child), Some(&parent)) = (self.by_identity.get(&child), self.by_identity.get(&parent))
        else {
            return false;
        };
        if let Some(class) = self.classes.get_mut(child.0 as usize) {
            class.parent = Some(parent);
        }
        if let Some(class) = self.classes.get_mut(parent.0 as usize) {
            class.is_leaf = false;
        }
        true
    }

    /// Finds roots and levels.
    fn measure(&mut self) -> Result<(), BuildError> {
        for at in 0..self.classes.len() {
            let start = ClassId(at as u32);
            let row = self.class(start).map_or(0, |class| class.identity.row);
            let is_leaf = self.class(start).is_some_and(|class| class.is_leaf);
            let (mut top, mut above) = (start, 0);
            while let Some(parent) = self.class(top).and_then(|class| class.parent) {
                (top, above) = (parent, above + 1);
                if above >= MAX_LEVELS {
                    let message = format!("its parents go in a circle, or it is below level {MAX_LEVELS}");
                    return Err(BuildError::row(row, message));
                }
                if let Some(class) = self.classes.get_mut(parent.0 as usize).filter(|_| is_leaf) {
                    class.level = class.level.max(above as u8);
                }
            }
            let interface = self.class(top).and_then(|class| class.interface);
            if let Some(class) = self.classes.get_mut(at) {
                (class.root, class.interface) = (top, interface);
            }
        }
        Ok(())
    }

    fn order(&mut self) {
        let is_first = |class: &Class| {
            matches!(class.identity.part, RowPart::Upload | RowPart::Whole | RowPart::Interface)
        };
        let mut rows: Vec<_> = (0u32..)
            .zip(&self.classes)
            .filter(|(_, class)| is_first(class))
            .map(|(index, class)| (class.identity, ClassId(index)))
            .collect();
        rows.sort_unstable();
        self.rows = rows.into_iter().map(|(_, class)| class).collect();
    }
}

#[cfg(test)]
mod tests {
    use tollway_config::dataplane::{Prefix, QueueTarget, QueueType, SimpleQueue, TreeQueue};

    use super::*;
    use crate::ids::QueueDirection;

    fn simple(row: RowId, parent: Option<RowId>) -> SimpleQueue {
        let target = Prefix { address: std::net::Ipv4Addr::UNSPECIFIED.into(), prefix_len: 0 };
        SimpleQueue {
            row,
            targets: vec![QueueTarget::Prefix(target)],
            dst: None,
            packet_marks: Vec::new(),
            parent,
            time: None,
            upload: NO_LIMIT,
            download: NO_LIMIT,
            total: None,
        }
    }

    fn config(simple_queues: Vec<SimpleQueue>) -> DataplaneConfig {
        let queue_types = vec![QueueType::Pfifo { limit: 50 }];
        DataplaneConfig { queue_types, simple_queues, ..DataplaneConfig::default() }
    }

    #[test]
    fn children_know_their_roots_and_parents_their_levels() {
        let mut config =
            config(vec![simple(1, None), simple(2, Some(1)), simple(3, Some(2)), simple(4, Some(1))]);
        config.simple_queues[1].total = Some(NO_LIMIT);
        let node = |row, parent| TreeQueue { row, parent, packet_marks: Vec::new(), limit: NO_LIMIT };
        config.tree_queues = vec![
            node(8, TreeParent::Queue { row: 9 }),
            node(9, TreeParent::Interface { interface: 77 }),
            node(10, TreeParent::Global),
        ];
        let forest = Forest::build(&config).unwrap();
        let class = |row, part| forest.class(forest.find(Identity { row, part }).unwrap()).unwrap();
        for part in [RowPart::Upload, RowPart::Download] {
            let levels: Vec<u8> = (1..=4).map(|row| class(row, part).level).collect();
            assert_eq!(levels, [2, 1, 0, 0]);
            assert!(
                (1..=4).all(|row| class(row, part).root == forest.find(Identity { row: 1, part }).unwrap())
            );
            let parent = class(3, part).parent.and_then(|parent| forest.class(parent)).unwrap();
            assert_eq!(parent.identity, Identity { row: 2, part });
        }
        // Its parent has no total, so it is a root.
        assert_eq!(class(2, RowPart::Total).parent, None);
        assert_eq!(class(8, RowPart::Whole).interface, Some(77));
        assert_eq!(class(10, RowPart::Whole).interface, None);
        assert_eq!(
            forest.simple(1, QueueDirection::Download),
            forest.find(Identity { row: 2, part: RowPart::Download })
        );
        assert_eq!(forest.tree(1), forest.find(Identity { row: 9, part: RowPart::Whole }));
    }

    #[test]
    fn impossible_trees_are_refused_by_row() {
        let refused = |queues| Forest::build(&config(queues)).unwrap_err().row;
        assert_eq!(refused(vec![simple(1, None), simple(1, None)]), Some(1));
        assert_eq!(refused(vec![simple(1, Some(2)), simple(2, Some(1))]), Some(1));
        assert_eq!(refused(vec![simple(5, Some(9))]), Some(5));
        let chain =
            |levels: u32| (1..=levels).map(|row| simple(row, (row > 1).then(|| row - 1))).collect::<Vec<_>>();
        assert!(Forest::build(&config(chain(8))).is_ok());
        assert_eq!(refused(chain(9)), Some(9));
        let mut wrong = simple(7, None);
        wrong.upload.priority = 9;
        assert_eq!(refused(vec![wrong]), Some(7));
        let mut wrong = simple(7, None);
        wrong.download.limit_at = MAX_RATE + 1;
        assert_eq!(refused(vec![wrong.clone()]), Some(7));
        wrong.download = QueueLimit { queue_type: 1, ..NO_LIMIT };
        assert_eq!(refused(vec![wrong]), Some(7));
    }
}
