//! Reconfiguration, and leaves that this worker acquires and releases.

use std::collections::HashMap;
use std::sync::Arc;

use super::Htb;
use super::class_tokens::ClassTokens;
use super::node::{Core, OWNED};
use super::ring::NIL;
use super::shared::SharedTrees;
use crate::qos::forest::{ClassId, Forest, Identity, MAX_LEVELS};
use crate::time::Now;

impl Htb {
    /// Takes over another configuration. Classes keep tokens, deficits and counters by [`Class::identity`]; leaves that
    /// packets wait in stay active. Leaves that no longer exist are dropped.
    ///
    /// [`Class::identity`]: crate::qos::forest::Class::identity
    pub fn reconfigure(&mut self, forest: &Arc<Forest>, shared_trees: &SharedTrees, now: Now) {
        (self.now, self.turn) = (now, None);
        let before = std::mem::replace(&mut self.forest, Arc::clone(forest));
        let kept = self.return_leases(&before, now);
        let old = std::mem::replace(&mut self.core, Core::new(now));
        let old_roots = std::mem::take(&mut self.roots);
        self.shared_trees = shared_trees.clone();
        self.slots.clear();
        self.slots.resize(forest.classes().len(), NIL);
        for slot in 0..old.nodes.len() as u32 {
            self.keep_class(&old, slot, &kept, now);
        }
        for node in old.nodes.iter().filter(|node| !node.is_leaf()) {
            if let Some(root) = old_roots.get(node.tree as usize) {
                root.lock().remove_user(node.shared_index);
            }
        }
        for (node, cold) in old.nodes.iter().zip(&old.cold) {
            if node.is_leaf()
                && node.active != 0
                && let Some(leaf) = forest.find(cold.identity)
            {
                self.activate(leaf, now);
            }
        }
        self.keep_round_robin_positions(&old);
    }

    /// Keeps the round-robin positions: configurations may follow each other faster than a round takes.
    fn keep_round_robin_positions(&mut self, old: &Core) {
        let (forest, slots, nodes) = (&self.forest, &self.slots, &self.core.nodes);
        let node_of = |slot: Option<&u32>| {
            let id = forest.find(old.cold.get(*slot? as usize)?.identity)?;
            let slot = *slots.get(id.0 as usize)?;
            Some((slot, nodes.get(slot as usize)?))
        };
        for (slot, node) in (0..).zip(&old.nodes) {
            let (Some(was), Some((new, node))) = (old.inners.get(node.inner as usize), node_of(Some(&slot)))
            else {
                continue;
            };
            let Some(inner) = self.core.inners.get_mut(node.inner as usize) else { continue };
            let child = |child| {
                let (_, node) = node_of(was.children.get(child as usize))?;
                (node.parent == new).then_some(node.child)
            };
            let cursors = inner.cursors.iter_mut().flatten().zip(was.cursors.iter().flatten());
            for (cursor, was_cursor) in cursors {
                *cursor = was_cursor.renumbered(was.children.len() as u32, child);
            }
        }
        for tree in &old.trees {
            let Some((_, root)) = node_of(Some(&tree.root)) else { continue };
            let Some(new) = self.core.trees.get_mut(root.tree as usize) else { continue };
            for (height, (level, was)) in (0u8..).zip(new.levels.iter_mut().zip(&tree.levels)) {
                let rank = |rank| {
                    let (_, node) = node_of(was.members.get(rank as usize))?;
                    (node.tree == root.tree && node.level == height).then_some(node.rank)
                };
                for ((_, cursor), (_, was_cursor)) in level.rows.iter_mut().zip(&was.rows) {
                    *cursor = was_cursor.renumbered(was.members.len() as u32, rank);
                }
            }
        }
    }

    /// Returns all leases to their classes. The result is the tokens of the inner classes that have another root from
    /// now on.
    fn return_leases(&mut self, before: &Forest, now: Now) -> HashMap<Identity, ClassTokens> {
        let mut kept = HashMap::new();
        let root_of = |forest: &Forest, identity| {
            let class = forest.find(identity).and_then(|id| forest.class(id))?;
            forest.class(class.root).map(|root| root.identity)
        };
        for (tree_index, root) in (0..).zip(&self.roots) {
            let mut shared = root.lock();
            let is_late = shared.has_lapsed(self.worker);
            self.core.end_run(tree_index, Some(&mut shared));
            let Some(tree) = self.core.trees.get_mut(tree_index as usize) else { continue };
            let (was_exclusive, listed) = (tree.is_exclusive, std::mem::take(&mut tree.listed));
            for slot in listed.into_iter().flatten().filter(|_| !was_exclusive) {
                let mut lease = self.core.lease_of(slot);
                if let Some(class) =
                    self.core.node(slot).and_then(|node| shared.classes.get_mut(node.shared_index as usize))
                {
                    if is_late {
                        class.close_lapsed(&mut lease);
                    }
                    class.return_lease(self.worker, &mut lease);
                }
            }
            shared.mark_absent(self.worker);
            // A tree is identified by its root. The stored state of a leaf is kept if the leaf stays below the same
            // root.
            shared.idle_leaves.retain(|identity, _| {
                root_of(&self.forest, *identity).is_some()
                    && root_of(&self.forest, *identity) == root_of(before, *identity)
            });
        }
        for (node, cold) in self.core.nodes.iter().zip(&self.core.cold) {
            let new_root = root_of(&self.forest, cold.identity);
            if node.is_leaf() || new_root.is_none() || new_root == root_of(before, cold.identity) {
                continue;
            }
            let Some(root) = self.roots.get(node.tree as usize) else { continue };
            if let Some(class) = root.lock().classes.get_mut(node.shared_index as usize) {
                class.fill(now, node.live != 0);
                kept.insert(cold.identity, class.class_tokens);
            }
        }
        kept
    }

    /// Carries over a class of the previous configuration, if it still exists.
    fn keep_class(&mut self, old: &Core, slot: u32, kept: &HashMap<Identity, ClassTokens>, now: Now) {
        let (Some(was), Some(cold)) = (old.node(slot), old.cold.get(slot as usize)) else { return };
        let Some(id) = self.forest.find(cold.identity) else { return };
        let Some(new) = self.enter(id, kept, now) else { return };
        if let (true, Some(left)) = (was.is_leaf(), old.leaf_state(slot)) {
            self.core.restore(new, &left, now);
        }
        let (Some(node), Some(new_cold)) =
            (self.core.nodes.get_mut(new as usize), self.core.cold.get_mut(new as usize))
        else {
            return;
        };
        (node.bytes, node.packets, node.borrows) = (was.bytes, was.packets, was.borrows);
        node.second = was.second;
        node.flags |= was.flags & OWNED;
        new_cold.meter = cold.meter;
        if let (Some(inner), Some(was)) =
            (self.core.inners.get_mut(node.inner as usize), old.inners.get(was.inner as usize))
        {
            inner.lends = was.lends;
        }
    }

    /// Returns the slot of a class. Adds the class, its ancestors and its tree if they are new to this worker. `None`
    /// for a root without children.
    fn enter(&mut self, id: ClassId, kept: &HashMap<Identity, ClassTokens>, now: Now) -> Option<u32> {
        let known = *self.slots.get(id.0 as usize)?;
        if known != NIL {
            return Some(known);
        }
        let forest = Arc::clone(&self.forest);
        let class = forest.class(id)?;
        if class.parent.is_none() && class.is_leaf {
            return None;
        }
        let parent = match class.parent {
            Some(parent) => self.enter(parent, kept, now)?,
            None => NIL,
        };
        let tree_index = match self.core.node(parent) {
            Some(node) => node.tree,
            None => {
                self.roots.push(self.shared_trees.of(class.identity, self.workers));
                let is_blocked = class.interface.is_some_and(|row| self.blocked.contains(&row));
                self.core.add_tree(class.interface, class.level, is_blocked)
            }
        };
        let shared_index = if class.is_leaf {
            NIL
        } else {
            let limit = (&*class.limit, class.parent.is_none());
            let mut shared = self.roots.get(tree_index as usize)?.lock();
            shared.enter(class.identity, limit, kept.get(&class.identity), now)
        };
        let slot = self.core.add(id, class, parent, tree_index, shared_index, now);
        if class.parent.is_none()
            && let Some(tree) = self.core.trees.get_mut(tree_index as usize)
        {
            tree.root = slot;
        }
        *self.slots.get_mut(id.0 as usize)? = slot;
        Some(slot)
    }

    /// Acquires the leaf for this worker, with the state that the previous owner has stored. Only the owner of a leaf
    /// may call [`Self::pass`], [`Self::activate`] and [`Self::sent`] for it.
    pub fn acquire(&mut self, leaf: ClassId, now: Now) {
        self.now = now;
        let Some(slot) = self.enter(leaf, &HashMap::new(), now) else { return };
        let Some(node) = self.core.node_mut(slot).filter(|node| node.flags & OWNED == 0) else { return };
        node.flags |= OWNED;
        let tree = node.tree as usize;
        let Some(identity) = self.core.cold.get(slot as usize).map(|cold| cold.identity) else { return };
        let left = self.roots.get(tree).and_then(|root| root.lock().idle_leaves.remove(&identity));
        if let Some(left) = left {
            self.core.restore(slot, &left, now);
        }
    }

    /// Acquires a leaf like [`Self::acquire`], where [`Self::release`] has stored nothing.
    pub fn acquire_full(&mut self, leaf: ClassId, now: Now) {
        self.now = now;
        let Some(slot) = self.enter(leaf, &HashMap::new(), now) else { return };
        let index = slot as usize;
        if let (Some(node), Some(cold)) = (self.core.nodes.get_mut(index), self.core.cold.get_mut(index)) {
            node.flags |= OWNED;
            node.class_tokens = ClassTokens::new(*node.class_tokens.rates(), now);
            cold.deficits = [0; MAX_LEVELS];
        }
    }

    /// Releases a leaf in which no packets wait to other workers. Returns whether its state had to be stored. If its
    /// token counts are full, as in most leaves below their limit, the next owner calls [`Self::acquire_full`].
    pub fn release(&mut self, leaf: ClassId, now: Now) -> bool {
        self.now = now;
        self.deactivate(leaf);
        let Some(slot) = self.slot(leaf) else { return true };
        let Some(node) = self.core.node_mut(slot).filter(|node| node.flags & OWNED != 0) else { return true };
        node.flags &= !OWNED;
        node.class_tokens.fill(now, false);
        let (tree, is_full) = (node.tree as usize, node.class_tokens.is_full());
        let Some(cold) = self.core.cold.get(slot as usize) else { return true };
        if is_full && cold.burst.is_none() && cold.deficits == [0; MAX_LEVELS] {
            return false;
        }
        let identity = cold.identity;
        if let (Some(root), Some(left)) = (self.roots.get(tree), self.core.leaf_state(slot)) {
            root.lock().idle_leaves.insert(identity, left);
        }
        true
    }
}
