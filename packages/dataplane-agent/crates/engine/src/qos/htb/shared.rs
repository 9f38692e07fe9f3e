//! The ledger of a tree: the tokens of its inner classes, which all workers share and lease tokens from.
//!
//! A worker that is the only user of a tree works on these tokens directly. If there are several users, each leases
//! tokens of every class that it needs, for about a millisecond:
//!
//! ```text
//!  tokens of a class ──strictly by priority, then by weight──► granted to each worker that has packets waiting
//!        ▲                                                        │ its next rebalance
//!        └──── what is above its share, and what went past ◄──── credit of the worker
//! ```
//!
//! A worker that rebalances distributes tokens to all, so a worker's share does not depend on how often it rebalances.
//! A packet may take a worker's credit below zero; the worker pays that from its own shares, so shares are exact at
//! rates at which a millisecond brings less than a packet.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, TryLockError, Weak};

use tollway_config::dataplane::QueueLimit;

use super::ClassMode;
use super::class_tokens::ClassTokens;
use super::distribution::{Demand, SLICE};
use super::shared_class::{SharedClass, rates};
use crate::qos::burst::Burst;
use crate::qos::forest::{Identity, MAX_LEVELS};
use crate::sync::{Mutex, MutexGuard};
use crate::time::Now;

/// A worker that has not used a tree for this time counts as absent, ns.
pub const ABSENT_AFTER: u64 = 10 * SLICE;

/// Spins before a lock is given up for now.
const SPINS: u32 = 64;

/// No worker.
pub const NOBODY: u32 = u32::MAX;

/// The shared state of the trees of all workers, by the identity of the root. Clones share it.
#[derive(Debug, Clone)]
pub struct SharedTrees(Arc<Mutex<HashMap<Identity, Weak<SharedTree>>>>);

impl Default for SharedTrees {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(HashMap::new())))
    }
}

impl SharedTrees {
    /// Shared state of a tree, the same for every worker. Called only when a worker begins to use a tree.
    pub(super) fn of(&self, root: Identity, workers: u32) -> Arc<SharedTree> {
        let mut roots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = roots.get(&root).and_then(Weak::upgrade) {
            return known;
        }
        if roots.len() == roots.capacity() {
            roots.retain(|_, known| known.strong_count() != 0);
        }
        let new = Arc::new(SharedTree { state: Mutex::new(TreeState::new(workers)) });
        roots.insert(root, Arc::downgrade(&new));
        new
    }
}

/// The state of a tree that workers share.
#[derive(Debug)]
pub struct SharedTree {
    state: Mutex<TreeState>,
}

impl SharedTree {
    /// Locks the state and waits for the lock: for rare operations.
    pub fn lock(&self) -> MutexGuard<'_, TreeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the state, but does not wait for a worker that was preempted while it holds the lock.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, TreeState>> {
        for _ in 0..SPINS {
            match self.state.try_lock() {
                Ok(state) => return Some(state),
                Err(TryLockError::Poisoned(state)) => return Some(state.into_inner()),
                Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
            }
        }
        None
    }
}

/// The state of a leaf that no worker owns.
#[derive(Debug, Clone)]
pub struct LeafState {
    /// Tokens, bits.
    pub class_tokens: ClassTokens,
    /// State of its burst, if it has one.
    pub burst: Option<Box<Burst>>,
    /// Bytes that it may still send in its turn, by level of the class that lends.
    pub deficits: [i32; MAX_LEVELS],
}

#[derive(Debug, Clone, Copy)]
struct Presence {
    /// When it last used the tree.
    seen: Now,
    is_here: bool,
    /// The worker's leases were revoked.
    has_lapsed: bool,
}

/// [`SharedTree`], locked.
#[derive(Debug)]
pub struct TreeState {
    indices: HashMap<Identity, u32>,
    /// Inner classes, by [`super::node::Node::shared_index`].
    pub classes: Vec<SharedClass>,
    free: Vec<u32>,
    /// States of leaves that no worker owns, except those whose token counts are full.
    pub idle_leaves: HashMap<Identity, LeafState>,
    workers: Box<[Presence]>,
    /// The worker that works on the tokens directly, as the only user; or [`NOBODY`].
    pub exclusive: u32,
}

/// The tokens of inner classes.
#[derive(Debug)]
pub enum Ledger<'a> {
    /// The shared classes: this worker is the only user of the tree.
    Sole(&'a mut TreeState),
    /// The leases of this worker.
    Leased,
}

impl TreeState {
    fn new(workers: u32) -> Self {
        let absent = Presence { seen: Now(0), is_here: false, has_lapsed: false };
        Self {
            indices: HashMap::new(),
            classes: Vec::new(),
            free: Vec::new(),
            idle_leaves: HashMap::new(),
            workers: vec![absent; workers.max(1) as usize].into(),
            exclusive: NOBODY,
        }
    }

    /// Adds a user of a class, which is a worker or configuration that knows the class, and sets the limits of the
    /// class. Returns its index. `before` are the tokens that it had in another tree.
    pub fn enter(
        &mut self,
        identity: Identity,
        (limit, is_root): (&QueueLimit, bool),
        before: Option<&ClassTokens>,
        now: Now,
    ) -> u32 {
        if let Some(&index) = self.indices.get(&identity) {
            if let Some(class) = self.classes.get_mut(index as usize) {
                class.users += 1;
                class.change(limit, is_root, now);
            }
            return index;
        }
        let burst = Burst::new(limit, now).map(Box::new);
        let mut class_tokens = ClassTokens::new(rates(limit, is_root, burst.as_deref()), now);
        if let Some(before) = before {
            class_tokens.restore(before);
        }
        let class = SharedClass {
            identity,
            users: 1,
            limit: *limit,
            is_root,
            class_tokens,
            burst,
            demands: vec![Demand::default(); self.workers.len()].into(),
        };
        let index = match self.free.pop() {
            Some(index) => {
                if let Some(free) = self.classes.get_mut(index as usize) {
                    *free = class;
                }
                index
            }
            None => {
                self.classes.push(class);
                (self.classes.len() - 1) as u32
            }
        };
        self.indices.insert(identity, index);
        index
    }

    /// A worker or configuration no longer knows a class.
    pub fn remove_user(&mut self, index: u32) {
        let Some(class) = self.classes.get_mut(index as usize) else { return };
        class.users = class.users.saturating_sub(1);
        if class.users == 0 && self.indices.remove(&class.identity).is_some() {
            self.free.push(index);
        }
    }

    /// Fills the tokens of a class and returns its colour.
    #[inline]
    pub fn update_mode(&mut self, index: u32, waiting: bool, now: Now) -> ClassMode {
        let Some(class) = self.classes.get_mut(index as usize) else { return ClassMode::Red };
        class.fill(now, waiting);
        class.class_tokens.mode()
    }

    /// Notes that a worker uses the tree. Returns whether others do too. The leases of absent ones are revoked.
    pub fn mark_present(&mut self, me: u32, now: Now) -> bool {
        let mut others = false;
        for worker in 0..self.workers.len() {
            let Some(presence) = self.workers.get_mut(worker) else { continue };
            if worker == me as usize {
                (presence.seen, presence.is_here) = (now, true);
            } else if presence.is_here {
                if presence.seen.0.saturating_add(ABSENT_AFTER) > now.0 {
                    others = true;
                } else {
                    (presence.is_here, presence.has_lapsed) = (false, true);
                    self.revoke(worker);
                }
            }
        }
        others
    }

    /// Notes that the worker, the only user, uses the tree.
    #[inline]
    pub fn mark_seen(&mut self, me: u32, now: Now) {
        if let Some(presence) = self.workers.get_mut(me as usize) {
            (presence.seen, presence.is_here) = (now, true);
        }
    }

    /// Whether the leases of a worker were revoked since its last rebalance; `true` once.
    pub fn has_lapsed(&mut self, me: u32) -> bool {
        self.workers.get_mut(me as usize).is_some_and(|presence| std::mem::take(&mut presence.has_lapsed))
    }

    /// Notes that a worker does not use the tree any more.
    pub fn mark_absent(&mut self, me: u32) {
        if let Some(presence) = self.workers.get_mut(me as usize) {
            presence.is_here = false;
        }
        if self.exclusive == me {
            self.exclusive = NOBODY;
        }
    }

    /// Revokes all leases of a worker.
    fn revoke(&mut self, worker: usize) {
        for class in &mut self.classes {
            let Some(demand) = class.demands.get_mut(worker) else { continue };
            let Demand { hold, granted, .. } = std::mem::take(demand);
            class.class_tokens.tokens = class.class_tokens.tokens.saturating_add(hold[0] + granted[0]);
            class.class_tokens.ceiling_tokens =
                class.class_tokens.ceiling_tokens.saturating_add(hold[1] + granted[1]);
        }
    }
}
