//! Hierarchical token buckets (Devera, 2002): classes in trees, guaranteed their `limit-at`, that borrow from the
//! classes above up to their `max-limit`.
//!
//! A class has two token counts, one filled at `limit-at` and one filled at `max-limit`. A class is red when its
//! `max-limit` count is below zero: it sends nothing. Otherwise it is green when its `limit-at` count is not below
//! zero: it sends with its own tokens. Otherwise it is yellow: it sends with tokens that the nearest green class above
//! lends, if no class in between is red. Green classes are served by level from the leaves up, then by the priority of
//! the leaf, then in turns by quantum. A packet is charged to the `max-limit` count of the leaf and of all its
//! ancestors, and to the `limit-at` count of the class that lends and of the classes above it. A root sends with its
//! own tokens up to its `max-limit`. A class saves at most 10 ms of `limit-at` tokens while it is idle, and as many
//! `max-limit` tokens as its bucket holds.
//!
//! This module decides which leaf may send; [`crate::qos::queues`] holds the packets of the leaves. A worker uses one
//! [`Htb`] for all trees of more than one class.
//!
//! ```text
//!  a packet comes, nothing waits in its leaf ─► pass ─► true: goes at once
//!                                                └► false: waits in the leaf ─► activate
//!  later:  next ─► the leaf whose turn it is sends ─► sent ─► (nothing waits any more) deactivate
//! ```

use std::sync::Arc;

use tollway_config::dataplane::RowId;

use super::forest::{ClassId, Forest};
use crate::qos::meter::Passed;
use crate::sync::MutexGuard;
use crate::time::Now;

mod class_tokens;
mod distribution;
mod lease;
mod links;
mod node;
mod reconfigure;
mod ring;
mod run;
mod runs;
mod serve;
mod shared;
mod shared_class;

use node::Core;
use ring::NIL;
use serve::Passage;
use shared::{Ledger, SharedTree, TreeState};

pub use shared::SharedTrees;

/// A worker's view of all trees of more than one class.
#[derive(Debug)]
pub struct Htb {
    worker: u32,
    workers: u32,
    forest: Arc<Forest>,
    shared_trees: SharedTrees,
    core: Core,
    /// The state shared with other workers, by tree.
    roots: Vec<Arc<SharedTree>>,
    /// Slots of classes; [`NIL`] for a class that this worker does not use yet.
    slots: Vec<u32>,
    /// Interfaces whose port accepts no packets.
    blocked: Vec<RowId>,
    /// Slot of the leaf in turn, and level of the class that lends.
    turn: Option<(u32, u8)>,
    /// Latest time passed to this instance.
    now: Now,
}

/// A leaf whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The leaf.
    pub leaf: ClassId,
    /// L3 bytes after which its turn ends; one packet in any case.
    pub bytes: u64,
}

/// Whether a class may send (`enum htb_cmode` of Linux).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassMode {
    /// Above its `max-limit`: sends nothing.
    Red,
    /// Above its `limit-at`: sends what a class above lends.
    Yellow,
    /// Below its `limit-at`: sends on its own.
    Green,
}

/// The state of a class for readers. Counters are those of this worker; the sum over the workers is that of the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassView {
    /// Depth of its bucket, bits: of its ceiling tokens, or of its own tokens when it has no ceiling.
    pub depth: i64,
    /// L3 bytes that passed it.
    pub bytes: u64,
    /// Wire segments that passed it.
    pub packets: u64,
    /// Wire segments sent with tokens borrowed from a class above.
    pub borrows: u64,
    /// Wire segments sent with tokens of the class, by itself or by classes below.
    pub lends: u64,
    /// L3 bytes of the last full second.
    pub second_bytes: u64,
    /// Wire segments of the last full second.
    pub second_packets: u64,
    /// Bits that it may send with its own tokens, of all workers; below zero for a debt.
    pub tokens: i64,
    /// Bits that it may send up to `max-limit`, of all workers; `i64::MAX` without `max-limit`.
    pub ceiling_tokens: i64,
    /// Colour.
    pub mode: ClassMode,
}

/// Locks the tokens of a tree if this worker is its only user. Otherwise returns `None`, and the worker uses its
/// leases.
fn open<'a>(
    roots: &'a [Arc<SharedTree>],
    core: &mut Core,
    tree: u32,
    me: u32,
    now: Now,
) -> Option<MutexGuard<'a, TreeState>> {
    if !core.trees.get(tree as usize)?.is_exclusive {
        core.end_run(tree, None);
        return None;
    }
    let mut shared = roots.get(tree as usize)?.try_lock();
    core.end_run(tree, shared.as_deref_mut());
    match shared.filter(|shared| shared.exclusive == me) {
        Some(mut shared) => {
            shared.mark_seen(me, now);
            Some(shared)
        }
        None => {
            core.lose_exclusive(tree, now);
            None
        }
    }
}

fn ledger<'a>(shared: &'a mut Option<MutexGuard<'_, TreeState>>) -> Ledger<'a> {
    match shared {
        Some(shared) => Ledger::Sole(shared),
        None => Ledger::Leased,
    }
}

impl Htb {
    /// An instance without trees.
    pub fn new(worker: u32, workers: u32) -> Self {
        Self {
            worker,
            workers: workers.max(worker + 1),
            forest: Arc::new(Forest::default()),
            shared_trees: SharedTrees::default(),
            core: Core::new(Now(0)),
            roots: Vec::new(),
            slots: Vec::new(),
            blocked: Vec::new(),
            turn: None,
            now: Now(0),
        }
    }

    /// Whether this worker uses no tree.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Sends a packet of a leaf in which none waits, if it may be sent at once: there are tokens up to the root, no
    /// other packet comes first, and its port accepts packets. Then it is charged and counted, and `true` is returned.
    #[inline(always)]
    pub fn pass(&mut self, leaf: ClassId, segments: u32, bytes: u64, now: Now) -> bool {
        self.now = now;
        let Some(slot) = self.slot(leaf) else { return true };
        match self.core.pass_in_run(slot, segments, bytes, now) {
            Some(passes) => passes,
            None => self.pass_alone(slot, segments, bytes, now),
        }
    }

    /// Bits for which a leaf and all its ancestors have tokens, regardless of other leaves that want them; 0 while its
    /// port takes nothing.
    pub fn tokens(&mut self, leaf: ClassId, now: Now) -> u64 {
        let Some(slot) = self.slot(leaf) else { return u64::MAX };
        let Some(tree_index) = self.core.node(slot).map(|node| node.tree) else { return u64::MAX };
        if self.core.trees.get(tree_index as usize).is_none_or(|tree| tree.is_blocked) {
            return 0;
        }
        let mut shared = open(&self.roots, &mut self.core, tree_index, self.worker, now);
        let mut ledger = ledger(&mut shared);
        u64::try_from(self.core.tokens(slot, &mut ledger, now)).unwrap_or(0)
    }

    /// [`Self::pass`] for a packet that is not part of a run.
    #[inline(never)]
    fn pass_alone(&mut self, slot: u32, segments: u32, bytes: u64, now: Now) -> bool {
        let Some(tree_index) = self.core.node(slot).map(|node| node.tree) else { return true };
        let Some(tree) = self.core.trees.get(tree_index as usize) else { return true };
        if tree.is_blocked {
            return false;
        }
        if tree.waiting != 0 {
            self.wake(now);
        }
        let passage = self.try_pass(slot, tree_index, segments, bytes, now);
        if passage != Passage::NoTokens
            || self.is_exclusive(tree_index)
            || !self.core.may_request(tree_index, now)
        {
            return passage == Passage::Open;
        }
        self.core.request(slot, bytes);
        let was_heard = self.rebalance(tree_index, now);
        let passes = self.try_pass(slot, tree_index, segments, bytes, now) == Passage::Open;
        if was_heard
            && !passes
            && let Some(tree) = self.core.trees.get_mut(tree_index as usize)
        {
            tree.refused = Some(now);
        }
        passes
    }

    fn try_pass(&mut self, slot: u32, tree: u32, segments: u32, bytes: u64, now: Now) -> Passage {
        let mut shared = open(&self.roots, &mut self.core, tree, self.worker, now);
        let mut ledger = ledger(&mut shared);
        let passage = self.core.pass(slot, segments, bytes, &mut ledger, now);
        if passage == Passage::Open {
            if matches!(ledger, Ledger::Leased) {
                self.core.schedule_rebalance(tree, now, false);
            }
            self.core.begin_run(slot, &ledger, now);
        }
        passage
    }

    /// Called at the end of a batch. Charges the packets that passed to all their classes, so that other workers see
    /// the charge.
    #[inline]
    pub fn end_runs(&mut self) {
        while let Some(tree_index) = self.core.runs.pop() {
            if self.core.unlist_run(tree_index) {
                drop(open(&self.roots, &mut self.core, tree_index, self.worker, self.now));
            }
        }
    }

    /// Prefetches what [`Self::pass`] reads of a leaf.
    #[inline]
    pub fn touch(&self, leaf: ClassId) {
        if let Some(node) = self.slot(leaf).and_then(|slot| self.core.node(slot)) {
            tollway_prefetch::fetch_to_write(node);
            tollway_prefetch::fetch_to_write(&node.flags);
        }
    }

    /// Called when packets wait in the leaf. May be called again.
    pub fn activate(&mut self, leaf: ClassId, now: Now) {
        self.now = now;
        let Some(slot) = self.slot(leaf) else { return };
        let Some(node) = self.core.node(slot).filter(|node| node.active == 0) else { return };
        let tree_index = node.tree;
        self.core.wheel.follow(now);
        let mut shared = open(&self.roots, &mut self.core, tree_index, self.worker, now);
        let mut ledger = ledger(&mut shared);
        let mode = self.core.update_mode(slot, &mut ledger, now);
        if let Some(node) = self.core.node_mut(slot) {
            node.mode = mode;
        }
        if let Some(tree) = self.core.trees.get_mut(tree_index as usize) {
            tree.waiting += 1;
        }
        self.core.attach(slot, &mut ledger, now);
        self.core.arm(slot, &ledger);
        let is_leased = shared.is_none();
        drop(shared);
        if is_leased {
            self.rebalance_or_schedule(tree_index, now);
        }
    }

    /// Called when no packets wait in the leaf any more, or none that may be sent now (a queue kind with rates of its
    /// own).
    pub fn deactivate(&mut self, leaf: ClassId) {
        let Some(slot) = self.slot(leaf) else { return };
        let Some(node) = self.core.node(slot).filter(|node| node.active != 0) else { return };
        let tree_index = node.tree;
        self.core.detach(slot);
        let Some(tree) = self.core.trees.get_mut(tree_index as usize) else { return };
        tree.waiting -= 1;
        if tree.waiting == 0 && !tree.is_exclusive {
            // Returns the leased tokens, so that other workers can use them.
            if self.core.may_rebalance(tree_index, self.now) {
                self.rebalance(tree_index, self.now);
            } else {
                self.core.schedule_rebalance(tree_index, self.now, true);
            }
        }
    }

    /// Returns the leaf whose turn it is; packets wait in it. A second call without [`Self::sent`] or
    /// [`Self::deactivate`] in between returns the same leaf, unless the time that has passed changes it.
    pub fn next(&mut self, now: Now) -> Option<Turn> {
        self.now = now;
        self.turn = None;
        self.wake(now);
        while let Some(&tree_index) = self.core.ready.front() {
            let shared = &mut open(&self.roots, &mut self.core, tree_index, self.worker, now);
            let is_served = self.core.trees.get(tree_index as usize).is_some_and(|tree| !tree.is_blocked);
            if is_served && let Some((slot, lender)) = self.core.choose(tree_index) {
                let bytes = self.core.allowance(slot, lender, &ledger(shared));
                let leaf = self.core.cold.get(slot as usize)?.id;
                self.turn = Some((slot, lender));
                return Some(Turn { leaf, bytes });
            }
            self.core.ready.pop_front();
            if let Some(tree) = self.core.trees.get_mut(tree_index as usize) {
                tree.is_ready = false;
            }
        }
        None
    }

    /// Charges and counts what a leaf sent on its turn, or what left it for another reason.
    pub fn sent(&mut self, leaf: ClassId, segments: u32, bytes: u64, now: Now) {
        self.now = now;
        let Some(slot) = self.slot(leaf) else { return };
        let Some(tree_index) = self.core.node(slot).map(|node| node.tree) else { return };
        let turn = self.turn.filter(|(chosen, _)| *chosen == slot);
        let mut shared = open(&self.roots, &mut self.core, tree_index, self.worker, now);
        if let Some((_, lender)) = turn {
            self.core.take_turn(slot, lender, bytes);
        }
        let lender = turn.map_or(0, |(_, lender)| lender);
        self.core.charge(slot, lender, segments, bytes, &mut ledger(&mut shared), now);
        let is_leased = shared.is_none();
        drop(shared);
        if is_leased {
            self.rebalance_or_schedule(tree_index, now);
        }
        if self.core.ready.len() > 1 && self.core.ready.front() == Some(&tree_index) {
            self.core.ready.rotate_left(1);
        }
    }

    /// When [`Self::next`] has to be called again: `now` if a leaf may send, else when the next timer expires.
    pub fn next_deadline(&self, now: Now) -> Option<Now> {
        let may_send = |tree: &u32| {
            self.core.trees.get(*tree as usize).is_some_and(|tree| tree.mask != 0 && !tree.is_blocked)
        };
        if self.core.ready.iter().any(may_send) { Some(now) } else { self.core.wheel.next_deadline() }
    }

    /// Notes whether a port accepts no packets: trees of its interface then do not send.
    pub fn set_blocked(&mut self, interface: RowId, blocked: bool) {
        self.blocked.retain(|row| *row != interface);
        if blocked {
            self.blocked.push(interface);
        }
        for (tree_index, tree) in (0..).zip(&mut self.core.trees) {
            if tree.interface == Some(interface) {
                tree.is_blocked = blocked;
                if !blocked && tree.mask != 0 && !tree.is_ready {
                    tree.is_ready = true;
                    self.core.ready.push_back(tree_index);
                }
            }
        }
    }

    /// The state of a class; `None` for a class that this worker does not use.
    pub fn view(&self, class: ClassId, now: Now) -> Option<ClassView> {
        let slot = *self.slots.get(class.0 as usize)?;
        let ((node, lends, charges), cold) = (self.core.with_run(slot)?, self.core.cold.get(slot as usize)?);
        let node = &node;
        let Passed { packets: second_packets, bytes: second_bytes } = node::last_second(node, cold, now);
        let inner = self.core.inners.get(node.inner as usize);
        let mut class_tokens = node.class_tokens;
        if inner.is_some()
            && let Some(shared) = self.roots.get(node.tree as usize).and_then(|root| root.try_lock())
            && let Some(class) = shared.classes.get(node.shared_index as usize)
        {
            class_tokens = runs::charged(class.class_tokens, charges);
        }
        class_tokens.fill(now, node.live != 0);
        let rates = class_tokens.rates();
        let (ceiling_tokens, depth) = match rates.ceiling {
            class_tokens::UNLIMITED => (i64::MAX, rates.depth),
            _ => (class_tokens.ceiling_tokens, rates.ceiling_depth),
        };
        Some(ClassView {
            depth,
            bytes: node.bytes,
            packets: node.packets,
            borrows: node.borrows,
            lends: inner.map_or(node.packets - node.borrows, |inner| inner.lends.wrapping_add(lends)),
            second_bytes,
            second_packets,
            tokens: class_tokens.tokens,
            ceiling_tokens,
            mode: class_tokens.mode(),
        })
    }

    /// Highest rate at which a leaf may send: the lowest ceiling of the leaf and the classes above it, bits/s; 0 no
    /// limit. A super-frame that takes long at this rate should be segmented.
    pub fn rate(&self, leaf: ClassId) -> u64 {
        let slot = self.slots.get(leaf.0 as usize).copied().unwrap_or(NIL);
        let ceilings = self
            .core
            .with_ancestors(slot)
            .filter_map(|slot| Some(self.core.node(slot)?.class_tokens.rates().ceiling));
        ceilings.min().filter(|ceiling| *ceiling != class_tokens::UNLIMITED).unwrap_or(0)
    }

    fn slot(&self, leaf: ClassId) -> Option<u32> {
        self.slots.get(leaf.0 as usize).copied().filter(|slot| *slot != NIL)
    }

    fn is_exclusive(&self, tree: u32) -> bool {
        self.core.trees.get(tree as usize).is_some_and(|tree| tree.is_exclusive)
    }

    /// Handles timers that have expired.
    fn wake(&mut self, now: Now) {
        while let Some(slot) = self.core.wheel.pop(now) {
            let Some(node) = self.core.node(slot) else { continue };
            let (tree_index, is_root) = (node.tree, node.parent == NIL);
            if is_root && !self.is_exclusive(tree_index) {
                self.rebalance(tree_index, now);
            } else {
                let mut shared = open(&self.roots, &mut self.core, tree_index, self.worker, now);
                self.core.refresh(slot, &mut ledger(&mut shared), now);
                let is_leased = shared.is_none();
                drop(shared);
                if is_leased {
                    self.rebalance_or_schedule(tree_index, now);
                }
            }
        }
    }

    /// Rebalances a tree of several workers, now or later.
    fn rebalance_or_schedule(&mut self, tree_index: u32, now: Now) {
        let wants_tokens = self.core.trees.get(tree_index as usize).is_some_and(|tree| tree.wants_tokens);
        if wants_tokens && self.core.may_rebalance(tree_index, now) {
            self.rebalance(tree_index, now);
        } else {
            self.core.schedule_rebalance(tree_index, now, false);
        }
    }

    /// Rebalances a tree, or schedules a rebalance if another worker has the lock. Returns whether it has rebalanced.
    fn rebalance(&mut self, tree_index: u32, now: Now) -> bool {
        let Some(root) = self.roots.get(tree_index as usize) else { return false };
        let Some(mut shared) = root.try_lock() else {
            if let Some(tree) = self.core.trees.get_mut(tree_index as usize) {
                tree.rebalanced = Some(now);
            }
            self.core.schedule_rebalance(tree_index, now, true);
            return false;
        };
        self.core.rebalance(tree_index, &mut shared, self.worker, now);
        true
    }
}

#[cfg(test)]
mod tests;
