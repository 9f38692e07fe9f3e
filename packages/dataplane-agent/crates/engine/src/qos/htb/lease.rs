//! A worker among others: what it asks of the classes that several use, and when.

use super::links::Books;
use super::node::{Core, LISTED};
use super::ring::NIL;
use super::shared::{SLICE, Shared, Talk};
use crate::qos::forest::MAX_LEVELS;
use crate::time::Now;

/// Least time between two talks of a worker about a tree, ns; but for those of packets that ask for credit and get it, see
/// [`Core::may_ask`].
pub const TALK_GAP: u64 = 100_000;

/// A worker that waits asks again after so long, ns, or others would think that it has left.
const LONGEST_PATIENCE: u64 = 5 * SLICE;

impl Core {
    /// Whether a worker may talk about a tree again, of its own accord.
    pub fn may_talk(&self, tree: u32, now: Now) -> bool {
        let talked = self.trees.get(tree as usize).and_then(|tree| tree.talked);
        talked.is_none_or(|talked| talked.0.saturating_add(TALK_GAP) <= now.0)
    }

    /// Whether a packet that need not wait may ask for credit. A talk with which a worker gave back what it did not need is
    /// no reason against it: the tokens are there, and what would have to wait is a burst that a short queue cannot hold.
    pub fn may_ask(&self, tree: u32, now: Now) -> bool {
        let refused = self.trees.get(tree as usize).and_then(|tree| tree.refused);
        refused.is_none_or(|refused| refused.0.saturating_add(TALK_GAP) <= now.0)
    }

    /// Brings up the time of the next talk: soon when packets wait for a lease, else when the lease is over.
    pub fn plan_talk(&mut self, number: u32, now: Now, soon: bool) {
        let Some(tree) = self.trees.get(number as usize) else { return };
        let gap = if soon || tree.is_dry { TALK_GAP } else { SLICE };
        let talked = tree.talked.unwrap_or_default();
        let at = Now(talked.0.saturating_add(gap).max(now.0));
        let root = tree.root;
        self.wheel.arm_by(root, at);
    }

    /// Tells what this worker needs and did, and takes what it is lent; or all, if it is alone.
    pub fn talk(&mut self, number: u32, shared: &mut Shared, me: u32, now: Now) {
        self.end_run(number, Some(&mut *shared));
        let others = shared.meet(me, now);
        let is_late = shared.has_lapsed(me);
        let Some(tree) = self.trees.get_mut(number as usize) else { return };
        (tree.talked, tree.is_dry) = (Some(now), false);
        tree.is_sole = !others;
        shared.sole = if others { super::shared::NOBODY } else { me };
        let root = tree.root;
        let mut patience = u64::MAX;
        for level in 0..MAX_LEVELS {
            let mut at = 0;
            while let Some(slot) = self.listed(number, level, at) {
                at += 1;
                let mut talk = self.open_talk(slot);
                let Some(class) =
                    self.node(slot).and_then(|node| shared.classes.get_mut(node.place as usize))
                else {
                    continue;
                };
                if is_late {
                    class.return_late(&mut talk);
                }
                if others {
                    class.talk(me, &mut talk, now);
                } else {
                    class.give_back(me, &mut talk);
                }
                let wait = class.patience(me, &talk);
                self.close_talk(slot, &talk);
                let mut books = if others { Books::Lent } else { Books::Sole(&mut *shared) };
                self.refresh(slot, &mut books, now);
                if others && self.node(slot).is_some_and(|node| node.active != 0 && node.is_dry()) {
                    patience = patience.min(wait);
                }
            }
        }
        let holds = self.unlist(number);
        if let Some(tree) = self.trees.get_mut(number as usize) {
            tree.is_dry = false;
        }
        if others && holds {
            let wait = patience.clamp(TALK_GAP, LONGEST_PATIENCE);
            let wait = if patience == u64::MAX { SLICE } else { wait };
            self.wheel.arm(root, Now(now.0.saturating_add(wait)));
        } else if others {
            self.wheel.disarm(root);
        }
    }

    /// The worker has found that it is not alone any more, or cannot know: nothing is lent to it yet.
    pub fn lose(&mut self, number: u32, now: Now) {
        let Some(tree) = self.trees.get_mut(number as usize) else { return };
        tree.is_sole = false;
        for level in 0..MAX_LEVELS {
            let mut at = 0;
            while let Some(slot) = self.listed(number, level, at) {
                at += 1;
                self.refresh(slot, &mut Books::Lent, now);
            }
        }
        self.plan_talk(number, now, true);
    }

    fn listed(&self, number: u32, level: usize, at: usize) -> Option<u32> {
        self.trees.get(number as usize)?.listed.get(level)?.get(at).copied()
    }

    pub(super) fn open_talk(&self, slot: u32) -> Talk {
        let Some(node) = self.node(slot) else { return Talk::default() };
        let Some(inner) = self.inners.get(node.inner as usize) else { return Talk::default() };
        Talk {
            weight: inner.weight,
            credit: [node.account.tokens, node.account.ceiling_tokens],
            spent: inner.spent,
            owed: inner.owed,
            asks: inner.asks,
        }
    }

    pub(super) fn close_talk(&mut self, slot: u32, talk: &Talk) {
        let Some(node) = self.nodes.get_mut(slot as usize) else { return };
        let Some(inner) = self.inners.get_mut(node.inner as usize) else { return };
        [node.account.tokens, node.account.ceiling_tokens] = talk.credit;
        (inner.spent, inner.owed, inner.asks) = ([0; 2], [0; 2], 0);
    }

    /// Forgets classes that nothing waits for and nothing is lent of. Whether others are left.
    fn unlist(&mut self, number: u32) -> bool {
        let Some(tree) = self.trees.get_mut(number as usize) else { return false };
        let mut is_left = false;
        for listed in &mut tree.listed {
            let nodes = &mut self.nodes;
            listed.retain(|slot| {
                let Some(node) = nodes.get_mut(*slot as usize) else { return false };
                let stays = node.live != 0 || node.account.tokens != 0 || node.account.ceiling_tokens != 0;
                if !stays {
                    node.flags &= !LISTED;
                }
                stays
            });
            is_left |= !listed.is_empty();
        }
        is_left
    }

    /// A packet that need not wait asks for credit of all classes above its leaf.
    pub fn ask(&mut self, leaf: u32, bytes: u64) {
        let mut slot = self.parent(leaf);
        while slot != NIL {
            self.list(slot);
            let Some(node) = self.node(slot) else { return };
            let (inner, parent) = (node.inner, node.parent);
            if let Some(inner) = self.inners.get_mut(inner as usize) {
                inner.asks = i64::try_from(bytes.saturating_mul(8)).unwrap_or(i64::MAX);
            }
            slot = parent;
        }
    }
}
