//! Runs: packets of leaves below the same class that pass at the same time. The state of the classes above that the
//! first packet finds holds for all of them, so these classes are charged once, when the run ends: when anything else
//! happens in the tree, or at the end of the batch.
//!
//! Within a run only its own charges can change a colour: its packets have the same time, nothing waits in the tree,
//! and this worker is its only user or has leases, which no other worker changes. If another worker begins to use the
//! tree during a run without leases, the bits of the run count as overdrawn and are charged at the next rebalance.

use super::ClassMode;
use super::class_tokens::ClassTokens;
use super::node::{BURSTS, Core, Inner, Node, meter, meter_is_due};
use super::ring::NIL;
use super::run::Run;
use super::shared::{Ledger, TreeState};
use crate::qos::token_bucket::bits_of;
use crate::time::Now;

impl Run {
    /// Adds the packets of the run to the counters of a class above the leaves.
    fn count(&self, node: &mut Node) {
        node.bytes = node.bytes.wrapping_add(self.borrowed.bytes).wrapping_add(self.own.bytes);
        node.packets = node.packets.wrapping_add(self.borrowed.segments).wrapping_add(self.own.segments);
        if node.level < self.lender {
            node.borrows = node.borrows.wrapping_add(self.borrowed.segments);
        }
    }

    /// Charges the lease on a class. Bits sent with tokens that this class or a class above lent are charged to the
    /// lease. Bits that classes below sent with their own tokens are charged past it.
    fn charge_lease(&self, node: &mut Node, inner: &mut Inner) {
        let (borrowed, own) = (self.borrowed.bits(), self.own.bits());
        inner.overdrawn = inner.overdrawn.map(|overdrawn| overdrawn.saturating_add(own));
        if node.level > self.lender {
            inner.overdrawn = inner.overdrawn.map(|overdrawn| overdrawn.saturating_add(borrowed));
            return;
        }
        node.class_tokens.charge(borrowed, node.level == self.lender);
        inner.spent[1] = inner.spent[1].saturating_add(borrowed);
        if node.level == self.lender {
            inner.spent[0] = inner.spent[0].saturating_add(borrowed);
        }
    }
}

impl Core {
    /// Charges and counts a packet as part of the run of its tree. Returns whether it may be sent; `None` if it is not
    /// part of the run.
    #[inline(always)]
    pub fn pass_in_run(&mut self, slot: u32, segments: u32, bytes: u64, now: Now) -> Option<bool> {
        let node = self.nodes.get_mut(slot as usize)?;
        let tree = self.trees.get_mut(node.tree as usize)?;
        let run = &mut tree.run;
        let is_of_it = run.parent == node.parent && run.now == now;
        if !is_of_it || tree.waiting != 0 || tree.is_blocked || node.flags & BURSTS != 0 {
            return None;
        }
        if meter_is_due(node, now) {
            meter(node, self.cold.get_mut(slot as usize), now);
        }
        node.class_tokens.fill(now, false);
        let own = match node.class_tokens.mode() {
            ClassMode::Red => return Some(false),
            ClassMode::Green => true,
            ClassMode::Yellow if run.room < 0 => return None,
            ClassMode::Yellow => false,
        };
        let bits = bits_of(bytes);
        run.room = run.room.saturating_sub(bits);
        if own {
            run.own.add(segments, bytes);
        } else {
            run.borrowed.add(segments, bytes);
            node.borrows = node.borrows.wrapping_add(u64::from(segments));
        }
        node.bytes = node.bytes.wrapping_add(bytes);
        node.packets = node.packets.wrapping_add(u64::from(segments));
        node.class_tokens.charge(bits, own);
        Some(true)
    }

    /// Begins a run after a packet of this leaf has passed, when the tokens of the classes above are filled up to
    /// `now`. Only if the packet before it had the same parent class: where leaves of several parents alternate, runs
    /// would be too short.
    pub fn begin_run(&mut self, slot: u32, ledger: &Ledger, now: Now) {
        let Some(node) = self.nodes.get(slot as usize) else { return };
        let (tree_index, parent) = (node.tree, node.parent);
        let Some(tree) = self.trees.get_mut(tree_index as usize) else { return };
        let is_second = std::mem::replace(&mut tree.run.last, parent) == parent;
        if !is_second || tree.waiting != 0 {
            return;
        }
        let (lender, room) = self.lender_above(parent, ledger);
        let Some(tree) = self.trees.get_mut(tree_index as usize) else { return };
        let run = &mut tree.run;
        (run.parent, run.now, run.is_leased) = (parent, now, matches!(ledger, Ledger::Leased));
        (run.lender, run.room) = lender.map_or((0, -1), |lender| (lender, room));
        if !std::mem::replace(&mut run.is_listed, true) {
            self.runs.push(tree_index);
        }
    }

    /// Level of the class that lends to the classes below `slot`, and the bits that may be sent before a colour
    /// changes.
    fn lender_above(&self, slot: u32, ledger: &Ledger) -> (Option<u8>, i64) {
        let (mut room, mut at) = (i64::MAX, slot);
        while let Some(node) = self.node(at) {
            let mode = match ledger {
                Ledger::Sole(shared) => {
                    let Some(class) = shared.classes.get(node.shared_index as usize) else { break };
                    let mode = class.class_tokens.mode();
                    room = room.min(class.class_tokens.headroom(mode == ClassMode::Green));
                    mode
                }
                Ledger::Leased => {
                    let mode = node.class_tokens.leased_mode();
                    // A lease with a count of zero is used up.
                    room = room.min(node.class_tokens.headroom(mode == ClassMode::Green).saturating_sub(1));
                    mode
                }
            };
            match mode {
                ClassMode::Red => break,
                ClassMode::Green => return (Some(node.level), room),
                ClassMode::Yellow => at = node.parent,
            }
        }
        (None, room)
    }

    /// Ends the run of a tree: charges the leases of this worker or the shared classes. If the shared classes are not
    /// available, notes the bits as overdrawn.
    pub fn end_run(&mut self, tree_index: u32, mut shared: Option<&mut TreeState>) {
        let Some(tree) = self.trees.get_mut(tree_index as usize).filter(|tree| tree.run.parent != NIL) else {
            return;
        };
        let Run { last, is_listed, .. } = tree.run;
        let run = std::mem::replace(&mut tree.run, Run { last, is_listed, ..Run::NONE });
        if run.is_empty() {
            return;
        }
        let mut slot = run.parent;
        while let Some(node) = self.nodes.get_mut(slot as usize) {
            run.count(node);
            let (level, shared_index, parent) = (node.level, node.shared_index, node.parent);
            let [own, all] = run.charges(level);
            let inner = self.inners.get_mut(node.inner as usize);
            if let Some(inner) = inner {
                inner.lends = inner.lends.wrapping_add(run.lends(level));
                if run.is_leased {
                    run.charge_lease(node, inner);
                } else if shared.is_none() {
                    inner.overdrawn =
                        [inner.overdrawn[0].saturating_add(own), inner.overdrawn[1].saturating_add(all)];
                }
            }
            match &mut shared {
                Some(shared) if !run.is_leased => {
                    if let Some(class) = shared.classes.get_mut(shared_index as usize) {
                        class.class_tokens.charge_own(own);
                        class.charge(all, false);
                    }
                }
                _ => self.list(slot),
            }
            slot = parent;
        }
    }

    /// State of a class as if the run of its tree had ended: counters, wire segments that it lent, and charges to the
    /// tokens of all workers.
    pub fn with_run(&self, slot: u32) -> Option<(Node, u64, [i64; 2])> {
        let mut node = self.node(slot)?.clone();
        let run = self.trees.get(node.tree as usize).map_or(Run::NONE, |tree| tree.run);
        if run.is_empty() || !self.with_ancestors(run.parent).any(|above| above == slot) {
            return Some((node, 0, [0; 2]));
        }
        run.count(&mut node);
        let level = node.level;
        Some((node, run.lends(level), if run.is_leased { [0; 2] } else { run.charges(level) }))
    }

    /// Called when a tree has been removed from [`Self::runs`]. Returns whether its run is still to be charged.
    pub fn unlist_run(&mut self, tree_index: u32) -> bool {
        let Some(tree) = self.trees.get_mut(tree_index as usize) else { return false };
        tree.run.is_listed = false;
        !tree.run.is_empty()
    }
}

/// Tokens of a class after charges.
pub fn charged(mut class_tokens: ClassTokens, [own, all]: [i64; 2]) -> ClassTokens {
    class_tokens.charge_own(own);
    class_tokens.charge(all, false);
    class_tokens
}
