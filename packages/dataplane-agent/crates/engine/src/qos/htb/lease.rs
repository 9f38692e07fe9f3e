//! Token leases of a worker on classes that several workers use: when it rebalances, and what it requests.

use super::distribution::{Lease, SLICE};
use super::node::{Core, LISTED};
use super::ring::NIL;
use super::shared::{Ledger, TreeState};
use crate::qos::forest::MAX_LEVELS;
use crate::qos::token_bucket::bits_of;
use crate::time::Now;

/// Minimum time between two rebalances of a tree by a worker, ns; except where a packet requests credit and gets it,
/// see [`Core::may_request`].
pub const REBALANCE_INTERVAL: u64 = 100_000;

/// Maximum time after which a worker with waiting packets rebalances again, ns. Less than `ABSENT_AFTER`, so that other
/// workers do not take it for absent.
const MAX_RETRY: u64 = 5 * SLICE;

impl Core {
    /// Whether a worker may rebalance a tree again on its own.
    pub fn may_rebalance(&self, tree: u32, now: Now) -> bool {
        let rebalanced = self.trees.get(tree as usize).and_then(|tree| tree.rebalanced);
        rebalanced.is_none_or(|rebalanced| rebalanced.0.saturating_add(REBALANCE_INTERVAL) <= now.0)
    }

    /// Whether a packet that need not wait may request credit. A recent rebalance in which the worker returned tokens
    /// does not prevent it: the tokens are there, and a burst that had to wait might not fit into a short queue.
    pub fn may_request(&self, tree: u32, now: Now) -> bool {
        let refused = self.trees.get(tree as usize).and_then(|tree| tree.refused);
        refused.is_none_or(|refused| refused.0.saturating_add(REBALANCE_INTERVAL) <= now.0)
    }

    /// Schedules the next rebalance: soon when packets wait for a lease, else at the end of the lease.
    pub fn schedule_rebalance(&mut self, tree_index: u32, now: Now, soon: bool) {
        let Some(tree) = self.trees.get(tree_index as usize) else { return };
        let gap = if soon || tree.wants_tokens { REBALANCE_INTERVAL } else { SLICE };
        let rebalanced = tree.rebalanced.unwrap_or_default();
        let at = Now(rebalanced.0.saturating_add(gap).max(now.0));
        let root = tree.root;
        self.wheel.arm_by(root, at);
    }

    /// Rebalances the leases of this worker with those of others; or returns them all, if it is the only one.
    pub fn rebalance(&mut self, tree_index: u32, shared: &mut TreeState, me: u32, now: Now) {
        self.end_run(tree_index, Some(&mut *shared));
        let others = shared.mark_present(me, now);
        let is_late = shared.has_lapsed(me);
        let Some(tree) = self.trees.get_mut(tree_index as usize) else { return };
        (tree.rebalanced, tree.wants_tokens) = (Some(now), false);
        tree.is_exclusive = !others;
        shared.exclusive = if others { super::shared::NOBODY } else { me };
        let root = tree.root;
        let mut retry = u64::MAX;
        for level in 0..MAX_LEVELS {
            let mut at = 0;
            while let Some(slot) = self.listed(tree_index, level, at) {
                at += 1;
                let mut lease = self.lease_of(slot);
                let Some(class) =
                    self.node(slot).and_then(|node| shared.classes.get_mut(node.shared_index as usize))
                else {
                    continue;
                };
                if is_late {
                    class.close_lapsed(&mut lease);
                }
                if others {
                    class.rebalance(me, &mut lease, now);
                } else {
                    class.return_lease(me, &mut lease);
                }
                let wait = class.retry_after(me, &lease);
                self.store_lease(slot, &lease);
                let mut ledger = if others { Ledger::Leased } else { Ledger::Sole(&mut *shared) };
                self.refresh(slot, &mut ledger, now);
                if others && self.node(slot).is_some_and(|node| node.active != 0 && node.wants_tokens()) {
                    retry = retry.min(wait);
                }
            }
        }
        let holds = self.unlist(tree_index);
        if let Some(tree) = self.trees.get_mut(tree_index as usize) {
            tree.wants_tokens = false;
        }
        if others && holds {
            let wait = retry.clamp(REBALANCE_INTERVAL, MAX_RETRY);
            let wait = if retry == u64::MAX { SLICE } else { wait };
            self.wheel.arm(root, Now(now.0.saturating_add(wait)));
        } else if others {
            self.wheel.disarm(root);
        }
    }

    /// Called when the worker is no longer the only user of the tree, or cannot know whether it is. From now on it uses
    /// leases, and has none yet.
    pub fn lose_exclusive(&mut self, tree_index: u32, now: Now) {
        let Some(tree) = self.trees.get_mut(tree_index as usize) else { return };
        tree.is_exclusive = false;
        for level in 0..MAX_LEVELS {
            let mut at = 0;
            while let Some(slot) = self.listed(tree_index, level, at) {
                at += 1;
                self.refresh(slot, &mut Ledger::Leased, now);
            }
        }
        self.schedule_rebalance(tree_index, now, true);
    }

    fn listed(&self, tree_index: u32, level: usize, at: usize) -> Option<u32> {
        self.trees.get(tree_index as usize)?.listed.get(level)?.get(at).copied()
    }

    /// The tokens that this worker has leased of an inner class, and those that it has spent.
    pub(super) fn lease_of(&self, slot: u32) -> Lease {
        let Some(node) = self.node(slot) else { return Lease::default() };
        let Some(inner) = self.inners.get(node.inner as usize) else { return Lease::default() };
        Lease {
            weight: inner.weight,
            credit: [node.class_tokens.tokens, node.class_tokens.ceiling_tokens],
            spent: inner.spent,
            overdrawn: inner.overdrawn,
            requested: inner.requested,
        }
    }

    /// Stores the lease that a rebalance has updated.
    pub(super) fn store_lease(&mut self, slot: u32, lease: &Lease) {
        let Some(node) = self.nodes.get_mut(slot as usize) else { return };
        let Some(inner) = self.inners.get_mut(node.inner as usize) else { return };
        [node.class_tokens.tokens, node.class_tokens.ceiling_tokens] = lease.credit;
        (inner.spent, inner.overdrawn, inner.requested) = ([0; 2], [0; 2], 0);
    }

    /// Unlists classes without waiting packets and without a lease. Returns whether others are left.
    fn unlist(&mut self, tree_index: u32) -> bool {
        let Some(tree) = self.trees.get_mut(tree_index as usize) else { return false };
        let mut is_left = false;
        for listed in &mut tree.listed {
            let nodes = &mut self.nodes;
            listed.retain(|slot| {
                let Some(node) = nodes.get_mut(*slot as usize) else { return false };
                let stays =
                    node.live != 0 || node.class_tokens.tokens != 0 || node.class_tokens.ceiling_tokens != 0;
                if !stays {
                    node.flags &= !LISTED;
                }
                stays
            });
            is_left |= !listed.is_empty();
        }
        is_left
    }

    /// Requests credit from all classes above a leaf, for a packet that need not wait if it gets the credit.
    pub fn request(&mut self, leaf: u32, bytes: u64) {
        let mut slot = self.parent(leaf);
        while slot != NIL {
            self.list(slot);
            let Some(node) = self.node(slot) else { return };
            let (inner, parent) = (node.inner, node.parent);
            if let Some(inner) = self.inners.get_mut(inner as usize) {
                inner.requested = bits_of(bytes);
            }
            slot = parent;
        }
    }
}
