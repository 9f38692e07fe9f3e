//! The rings in which classes with waiting packets are linked. A green class is in the ring of its level. A yellow
//! class is in the ring of its parent, which thereby has something to send. A red class is in no ring.

use super::ClassMode;
use super::node::{Core, LISTED, Level, Node};
use super::ring::{Cursor, NIL, Next, PRIORITIES, Ring};
use super::shared::Ledger;
use crate::qos::forest::MAX_LEVELS;
use crate::time::Now;

/// The owner of the ring that a class is linked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RingOwner {
    Level(u32),
    Parent(u32),
    Unlinked,
}

impl Core {
    /// Fills the tokens of a class and returns its colour.
    pub fn update_mode(&mut self, slot: u32, ledger: &mut Ledger, now: Now) -> ClassMode {
        let Some(node) = self.nodes.get_mut(slot as usize) else { return ClassMode::Red };
        if node.is_leaf() {
            node.class_tokens.fill(now, node.live != 0);
            if node.flags & super::node::BURSTS != 0 {
                self.apply_burst(slot, now);
            }
            return self.node(slot).map_or(ClassMode::Red, |node| node.class_tokens.mode());
        }
        match ledger {
            Ledger::Sole(shared) => shared.update_mode(node.shared_index, node.live != 0, now),
            Ledger::Leased => node.class_tokens.leased_mode(),
        }
    }

    fn apply_burst(&mut self, slot: u32, now: Now) {
        let (Some(node), Some(cold)) = (self.nodes.get_mut(slot as usize), self.cold.get_mut(slot as usize))
        else {
            return;
        };
        if let Some(burst) = &mut cold.burst
            && burst.advance(now)
        {
            let rates = super::shared_class::rates(&cold.limit, false, Some(burst));
            node.class_tokens.change(rates, now, node.live != 0);
        }
    }

    /// When the colour of a class may improve.
    fn event(&self, slot: u32, ledger: &Ledger) -> Option<Now> {
        let node = self.node(slot)?;
        if node.is_leaf() {
            let event = node.class_tokens.event()?;
            let burst = self.cold.get(slot as usize).and_then(|cold| cold.burst.as_ref());
            return Some(burst.map_or(event, |burst| event.min(burst.ends())));
        }
        match ledger {
            Ledger::Sole(shared) => shared.classes.get(node.shared_index as usize)?.event(),
            // Known at the next rebalance.
            Ledger::Leased => None,
        }
    }

    /// Arms the timer of a class for the time at which its colour may improve.
    pub fn arm(&mut self, slot: u32, ledger: &Ledger) {
        if let Some(event) = self.event(slot, ledger) {
            self.wheel.arm_by(slot, event);
        }
    }

    /// Lists an inner class for the next rebalance.
    pub fn list(&mut self, slot: u32) {
        let Some(node) = self.nodes.get_mut(slot as usize) else { return };
        if node.is_leaf() || node.flags & LISTED != 0 {
            return;
        }
        node.flags |= LISTED;
        let level = usize::from(node.level);
        if let Some(listed) =
            self.trees.get_mut(node.tree as usize).and_then(|tree| tree.listed.get_mut(level))
        {
            listed.push(slot);
        }
    }

    /// Called when packets begin to wait in a leaf. The colour of the leaf is up to date.
    pub fn attach(&mut self, slot: u32, ledger: &mut Ledger, now: Now) {
        let Some(node) = self.node_mut(slot) else { return };
        let priority = usize::from(node.priority);
        (node.active, node.live) = (1 << priority, 1 << priority);
        self.add_weight(slot, priority, ledger, now);
        self.link(slot, priority, ledger);
    }

    /// Called when no packets wait in a leaf any more, or none that may be sent.
    pub fn detach(&mut self, slot: u32) {
        let Some(priority) = self.node(slot).map(|node| usize::from(node.priority)) else { return };
        self.unlink(slot, priority);
        self.remove_weight(slot, priority);
        if let Some(node) = self.node_mut(slot) {
            (node.active, node.live) = (0, 0);
        }
        self.wheel.disarm(slot);
    }

    /// Changes the colour of a class and links it in the ring of that colour.
    pub fn recolor(&mut self, slot: u32, mode: ClassMode, ledger: &mut Ledger, now: Now) {
        let Some(&Node { active, live, mode: before, .. }) = self.node(slot) else { return };
        if before == mode {
            return;
        }
        for priority in bits(active) {
            self.unlink(slot, priority);
        }
        for priority in bits(live).filter(|_| mode == ClassMode::Red) {
            self.remove_weight(slot, priority);
        }
        if let Some(node) = self.node_mut(slot) {
            node.mode = mode;
        }
        for priority in bits(live).filter(|_| before == ClassMode::Red) {
            self.add_weight(slot, priority, ledger, now);
        }
        self.note_shortage(slot, ledger);
        for priority in bits(active) {
            self.link(slot, priority, ledger);
        }
    }

    /// Updates the colour and the timer of a class, if packets wait in or below it.
    pub fn refresh(&mut self, slot: u32, ledger: &mut Ledger, now: Now) {
        if self.node(slot).is_some_and(|node| node.live != 0) {
            let mode = self.update_mode(slot, ledger, now);
            self.recolor(slot, mode, ledger, now);
            self.arm(slot, ledger);
        }
    }

    /// Adds the weight of a class to its ancestors, up to and including the first red one: packets that wait below a
    /// red class do not compete for the tokens of the classes above it.
    fn add_weight(&mut self, slot: u32, priority: usize, ledger: &mut Ledger, now: Now) {
        let weight = self.weight(slot, priority);
        let mut slot = slot;
        while let Some(parent) = self.lending_parent(slot) {
            let is_new = self.node(parent).is_some_and(|node| node.live == 0);
            // The colour of a class in which nothing waits is not kept up to date.
            let mode = is_new.then(|| self.update_mode(parent, ledger, now));
            let Some(node) = self.nodes.get_mut(parent as usize) else { return };
            node.mode = mode.unwrap_or(node.mode);
            node.live |= 1 << priority;
            let inner = self.inners.get_mut(node.inner as usize);
            if let Some(sum) = inner.and_then(|inner| inner.weight.get_mut(priority)) {
                *sum += weight;
            }
            if is_new {
                self.list(parent);
                self.arm(parent, ledger);
            }
            slot = parent;
        }
    }

    /// Subtracts the weight that [`Self::add_weight`] added.
    fn remove_weight(&mut self, slot: u32, priority: usize) {
        let weight = self.weight(slot, priority);
        let mut slot = slot;
        while let Some(parent) = self.lending_parent(slot) {
            let Some(node) = self.nodes.get_mut(parent as usize) else { return };
            let inner = self.inners.get_mut(node.inner as usize);
            let Some(sum) = inner.and_then(|inner| inner.weight.get_mut(priority)) else { return };
            *sum -= weight;
            if *sum == 0 {
                node.live &= !(1 << priority);
            }
            if node.live == 0 && node.parent != NIL {
                self.wheel.disarm(parent);
            }
            slot = parent;
        }
    }

    /// The class that may lend to a class; none for a root, or while the class is red.
    fn lending_parent(&self, slot: u32) -> Option<u32> {
        let node = self.node(slot).filter(|node| node.mode != ClassMode::Red)?;
        (node.parent != NIL).then_some(node.parent)
    }

    /// Notes that packets wait for tokens of a class that may be leased.
    fn note_shortage(&mut self, slot: u32, ledger: &Ledger) {
        let Some(node) = self.nodes.get(slot as usize) else { return };
        if matches!(ledger, Ledger::Leased)
            && !node.is_leaf()
            && node.active != 0
            && node.wants_tokens()
            && let Some(tree) = self.trees.get_mut(node.tree as usize)
        {
            tree.wants_tokens = true;
        }
    }

    fn weight(&self, slot: u32, priority: usize) -> u64 {
        let Some(node) = self.node(slot) else { return 0 };
        match self.inners.get(node.inner as usize) {
            Some(inner) => inner.weight.get(priority).copied().unwrap_or(0),
            None => u64::from(node.quantum),
        }
    }

    fn ring_owner(&self, slot: u32) -> RingOwner {
        match self.node(slot) {
            Some(node) if node.mode == ClassMode::Green => RingOwner::Level(node.tree),
            Some(node) if node.mode == ClassMode::Yellow && node.parent != NIL => {
                RingOwner::Parent(node.parent)
            }
            _ => RingOwner::Unlinked,
        }
    }

    /// The ring in which a class is linked, and the number of the class in that ring. `None` if it is linked in none.
    fn ring(&mut self, slot: u32, priority: usize) -> Option<(&mut Ring, u32)> {
        let owner = self.ring_owner(slot);
        let node = self.nodes.get(slot as usize)?;
        match owner {
            RingOwner::Level(tree) => {
                let level = self.trees.get_mut(tree as usize)?.levels.get_mut(usize::from(node.level))?;
                Some((&mut level.rows.get_mut(priority)?.0, node.rank))
            }
            RingOwner::Parent(parent) => {
                let inner = self.nodes.get(parent as usize)?.inner;
                Some((self.inners.get_mut(inner as usize)?.rings.get_mut(priority)?, node.child))
            }
            RingOwner::Unlinked => None,
        }
    }

    fn link(&mut self, slot: u32, priority: usize, ledger: &Ledger) {
        let mut slot = slot;
        for _ in 0..MAX_LEVELS {
            let Some((ring, number)) = self.ring(slot, priority) else { return };
            ring.insert(number);
            let parent = match self.ring_owner(slot) {
                RingOwner::Level(tree) => {
                    let level = self.node(slot).map_or(0, |node| node.level);
                    self.fill_row(tree, level, priority);
                    return;
                }
                RingOwner::Parent(parent) => parent,
                RingOwner::Unlinked => return,
            };
            let Some(node) = self.node_mut(parent) else { return };
            let before = node.active;
            node.active |= 1 << priority;
            if before == node.active {
                return;
            }
            if before == 0 {
                self.note_shortage(parent, ledger);
            }
            slot = parent;
        }
    }

    fn unlink(&mut self, slot: u32, priority: usize) {
        let mut slot = slot;
        for _ in 0..MAX_LEVELS {
            let Some((ring, number)) = self.ring(slot, priority) else { return };
            ring.remove(number);
            let is_empty = ring.is_empty();
            let parent = match self.ring_owner(slot) {
                RingOwner::Level(tree) => {
                    let level = self.node(slot).map_or(0, |node| node.level);
                    if is_empty && let Some(tree) = self.trees.get_mut(tree as usize) {
                        tree.mask &= !row(level, priority);
                    }
                    return;
                }
                RingOwner::Parent(parent) => parent,
                RingOwner::Unlinked => return,
            };
            if !is_empty {
                return;
            }
            // The parent has nothing left to send at this priority either.
            let Some(node) = self.node_mut(parent) else { return };
            node.active &= !(1 << priority);
            slot = parent;
        }
    }

    fn fill_row(&mut self, tree_index: u32, level: u8, priority: usize) {
        let Some(tree) = self.trees.get_mut(tree_index as usize) else { return };
        tree.mask |= row(level, priority);
        if !tree.is_ready && !tree.is_blocked {
            tree.is_ready = true;
            self.ready.push_back(tree_index);
        }
    }

    /// The leaf whose turn it is, the level of the class that lends, and whether the turn of the leaf begins. A turn of
    /// an inner class consists of one turn of each class that waits for it, so leaves at different depths get turns
    /// equally often.
    pub fn first(&mut self, tree_index: u32) -> Option<(u32, u8, bool)> {
        let tree = self.trees.get_mut(tree_index as usize).filter(|tree| tree.mask != 0)?;
        let first = tree.mask.trailing_zeros() as usize;
        let (level, priority) = (first / PRIORITIES, first % PRIORITIES);
        loop {
            let Level { members, rows } = self.trees.get_mut(tree_index as usize)?.levels.get_mut(level)?;
            let (ring, cursor) = rows.get_mut(priority)?;
            cursor.begin_round();
            let (mut slot, mut is_new) = match cursor.next(ring) {
                Next::Same(number) => (*members.get(number as usize)?, false),
                Next::Other(number) => (*members.get(number as usize)?, true),
                Next::Over => return None,
            };
            loop {
                let node = self.nodes.get(slot as usize)?;
                let Some(inner) = self.inners.get_mut(node.inner as usize) else {
                    return Some((slot, level as u8, is_new));
                };
                let cursors = inner.cursors.get_mut(level.checked_sub(usize::from(node.level))?)?;
                let cursor = cursors.get_mut(priority)?;
                if is_new {
                    cursor.begin_round();
                }
                let child = match cursor.next(inner.rings.get(priority)?) {
                    Next::Same(child) => (child, false),
                    Next::Other(child) => (child, true),
                    Next::Over => break self.end_turn(slot, level, priority),
                };
                (slot, is_new) = (*inner.children.get(child.0 as usize)?, child.1);
            }
        }
    }

    /// Ends the turn of a class among those to which a class of level `lender` lends.
    pub fn end_turn(&mut self, slot: u32, lender: usize, priority: usize) {
        if let Some(cursor) = self.cursor(slot, lender, priority) {
            cursor.end_turn();
        }
    }

    fn cursor(&mut self, slot: u32, lender: usize, priority: usize) -> Option<&mut Cursor> {
        let node = self.nodes.get(slot as usize)?;
        if usize::from(node.level) == lender {
            let level = self.trees.get_mut(node.tree as usize)?.levels.get_mut(lender)?;
            return Some(&mut level.rows.get_mut(priority)?.1);
        }
        let parent = self.nodes.get(node.parent as usize)?;
        let inner = self.inners.get_mut(parent.inner as usize)?;
        inner.cursors.get_mut(lender.checked_sub(usize::from(parent.level))?)?.get_mut(priority)
    }
}

/// The bit of a level and a priority in the mask of a tree.
pub const fn row(level: u8, priority: usize) -> u64 {
    1 << (level as usize * PRIORITIES + priority)
}

/// Numbers of the bits that are set.
pub fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..PRIORITIES).filter(move |bit| mask & (1 << bit) != 0)
}
