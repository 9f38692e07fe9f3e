//! The accounts of inner classes, which all workers share, and how they are lent to several of them.
//!
//! While one worker alone uses a tree it works on these accounts themselves. When several do, each takes from every
//! class that it needs a lease for about a millisecond:
//!
//! ```text
//!  account of a class ──strictly by priority, then by weight──► granted to each worker that has packets waiting
//!        ▲                                                        │ its next talk
//!        └──── what is above its share, and what went past ◄──── credit of the worker
//! ```
//!
//! Whoever talks deals out for all, so a worker's share does not depend on how often it talks. A packet may take a
//! worker's credit below zero; the worker pays that from its own shares, so shares are exact at rates at which a
//! millisecond brings less than a packet.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, TryLockError, Weak};

use tollway_config::dataplane::QueueLimit;

use super::Mode;
use super::account::{Account, Rates, UNLIMITED};
use super::ring::PRIORITIES;
use crate::qos::burst::Burst;
use crate::qos::forest::{Identity, MAX_LEVELS};
use crate::sync::{Mutex, MutexGuard};
use crate::time::Now;

/// Time for which a lease is meant, ns.
pub const SLICE: u64 = 1_000_000;

/// A worker that did not use a tree for so long has left it, ns.
pub const ABSENT_AFTER: u64 = 10 * SLICE;

/// What a worker without waiting packets asks for beyond twice what it sent in the last slice, bits: two packets. It gets
/// [`DEEP_SHARE`] if that is more, or a burst after a pause would wait for tokens that nobody needs.
const ESTIMATE: i64 = 24_000;

/// A share of what an account has may be lent at once beyond a slice: 2⁻³.
const DEEP_SHARE: u32 = 3;

/// Spins before a lock is given up for now.
const SPINS: u32 = 64;

/// No worker.
pub const NOBODY: u32 = u32::MAX;

/// The accounts of the trees of all workers. One for all of them; clones are the same.
#[derive(Debug, Clone)]
pub struct Accounts(Arc<Mutex<HashMap<Identity, Weak<SharedTree>>>>);

impl Default for Accounts {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(HashMap::new())))
    }
}

impl Accounts {
    /// Those of a tree, the same for every worker. Asked when a worker meets a tree, at no other time.
    pub(super) fn of(&self, root: Identity, workers: u32) -> Arc<SharedTree> {
        let mut roots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = roots.get(&root).and_then(Weak::upgrade) {
            return known;
        }
        if roots.len() == roots.capacity() {
            roots.retain(|_, known| known.strong_count() != 0);
        }
        let new = Arc::new(SharedTree { state: Mutex::new(Shared::new(workers)) });
        roots.insert(root, Arc::downgrade(&new));
        new
    }
}

/// What workers share of a tree.
#[derive(Debug)]
pub struct SharedTree {
    state: Mutex<Shared>,
}

impl SharedTree {
    /// Waits for it: for what happens seldom.
    pub fn lock(&self) -> MutexGuard<'_, Shared> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does not wait for a worker that was stopped in between.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, Shared>> {
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

/// What a worker asks of a class, and what it was given.
#[derive(Debug, Clone, Copy, Default)]
struct Demand {
    /// Sum of the quanta of its leaves that wait for the class, by priority.
    weight: [u64; PRIORITIES],
    /// Its credit as it was at its last rebalance: tokens, ceiling tokens.
    hold: [i64; 2],
    /// Granted since.
    granted: [i64; 2],
}

/// An inner class.
#[derive(Debug)]
pub struct SharedClass {
    identity: Identity,
    /// Workers that know the class.
    users: u32,
    limit: QueueLimit,
    is_root: bool,
    pub account: Account,
    burst: Option<Box<Burst>>,
    /// By worker.
    demands: Box<[Demand]>,
}

/// A leaf that no worker has.
#[derive(Debug, Clone)]
pub struct LeafState {
    pub account: Account,
    pub burst: Option<Box<Burst>>,
    pub deficits: [i32; MAX_LEVELS],
}

#[derive(Debug, Clone, Copy)]
struct Presence {
    /// When it last used the tree.
    seen: Now,
    is_here: bool,
    /// What it held was taken back.
    has_lapsed: bool,
}

/// [`SharedTree`], locked.
#[derive(Debug)]
pub struct Shared {
    places: HashMap<Identity, u32>,
    pub classes: Vec<SharedClass>,
    free: Vec<u32>,
    pub idle_leaves: HashMap<Identity, LeafState>,
    workers: Box<[Presence]>,
    /// The worker that works on the accounts themselves.
    pub sole: u32,
}

/// What a worker tells and is told about a class at a lease.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lease {
    /// Sum of the quanta of the leaves that wait for the class, by priority.
    pub weight: [u64; PRIORITIES],
    /// Tokens and ceiling tokens.
    pub credit: [i64; 2],
    /// Charged to the credit since the last rebalance.
    pub spent: [i64; 2],
    /// What went past the credit: sent by classes below on their own.
    pub overdrawn: [i64; 2],
    /// Bits of a packet that need not wait if there is credit for it.
    pub requested: i64,
}

impl Shared {
    fn new(workers: u32) -> Self {
        let absent = Presence { seen: Now(0), is_here: false, has_lapsed: false };
        Self {
            places: HashMap::new(),
            classes: Vec::new(),
            free: Vec::new(),
            idle_leaves: HashMap::new(),
            workers: vec![absent; workers.max(1) as usize].into(),
            sole: NOBODY,
        }
    }

    /// The place of a class, for another worker or configuration that knows it.
    /// Takes its limits; `before` are the tokens that it had in another tree.
    pub fn enter(
        &mut self,
        identity: Identity,
        (limit, is_root): (&QueueLimit, bool),
        before: Option<&Account>,
        now: Now,
    ) -> u32 {
        if let Some(&place) = self.places.get(&identity) {
            if let Some(class) = self.classes.get_mut(place as usize) {
                class.users += 1;
                class.change(limit, is_root, now);
            }
            return place;
        }
        let burst = Burst::new(limit, now).map(Box::new);
        let mut account = Account::new(rates(limit, is_root, burst.as_deref()), now);
        if let Some(before) = before {
            account.resume(before);
        }
        let class = SharedClass {
            identity,
            users: 1,
            limit: *limit,
            is_root,
            account,
            burst,
            demands: vec![Demand::default(); self.workers.len()].into(),
        };
        let place = match self.free.pop() {
            Some(place) => {
                if let Some(free) = self.classes.get_mut(place as usize) {
                    *free = class;
                }
                place
            }
            None => {
                self.classes.push(class);
                (self.classes.len() - 1) as u32
            }
        };
        self.places.insert(identity, place);
        place
    }

    /// A worker or configuration no longer knows a class.
    pub fn leave(&mut self, place: u32) {
        let Some(class) = self.classes.get_mut(place as usize) else { return };
        class.users = class.users.saturating_sub(1);
        if class.users == 0 && self.places.remove(&class.identity).is_some() {
            self.free.push(place);
        }
    }

    /// Fills the account of a class; its colour.
    #[inline]
    pub fn update_mode(&mut self, place: u32, waiting: bool, now: Now) -> Mode {
        let Some(class) = self.classes.get_mut(place as usize) else { return Mode::Red };
        class.fill(now, waiting);
        class.account.mode()
    }

    /// A worker uses the tree. Whether others do too. What absent ones held is taken back.
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

    /// The worker that is alone uses the tree.
    #[inline]
    pub fn mark_seen(&mut self, me: u32, now: Now) {
        if let Some(presence) = self.workers.get_mut(me as usize) {
            (presence.seen, presence.is_here) = (now, true);
        }
    }

    /// Whether what a worker held was taken back since its last talk; said once.
    pub fn has_lapsed(&mut self, me: u32) -> bool {
        self.workers.get_mut(me as usize).is_some_and(|presence| std::mem::take(&mut presence.has_lapsed))
    }

    /// A worker has nothing to do with the tree any more.
    pub fn mark_absent(&mut self, me: u32) {
        if let Some(presence) = self.workers.get_mut(me as usize) {
            presence.is_here = false;
        }
        if self.sole == me {
            self.sole = NOBODY;
        }
    }

    /// Ends all leases of a worker.
    fn revoke(&mut self, worker: usize) {
        for class in &mut self.classes {
            let Some(demand) = class.demands.get_mut(worker) else { continue };
            let Demand { hold, granted, .. } = std::mem::take(demand);
            class.account.tokens = class.account.tokens.saturating_add(hold[0] + granted[0]);
            class.account.ceiling_tokens = class.account.ceiling_tokens.saturating_add(hold[1] + granted[1]);
        }
    }
}

impl SharedClass {
    /// Adds what came in, at the rate of a burst or without.
    #[inline]
    pub fn fill(&mut self, now: Now, waiting: bool) {
        self.account.fill(now, waiting);
        if let Some(burst) = &mut self.burst
            && burst.advance(now)
        {
            self.account.change(rates(&self.limit, self.is_root, self.burst.as_deref()), now, waiting);
        }
    }

    /// Charges bits; those that it sent on its own, or that went past its limit, as `own` too.
    #[inline]
    pub fn charge(&mut self, bits: i64, own: bool) {
        self.account.charge(bits, own);
        if let Some(burst) = &mut self.burst {
            burst.count(bits as u64 / 8);
        }
    }

    /// When its colour may change for the better.
    pub fn event(&self) -> Option<Now> {
        let event = self.account.event()?;
        Some(self.burst.as_ref().map_or(event, |burst| event.min(burst.ends())))
    }

    fn change(&mut self, limit: &QueueLimit, is_root: bool, now: Now) {
        if (limit, is_root) == (&self.limit, self.is_root) {
            return;
        }
        (self.limit, self.is_root) = (*limit, is_root);
        self.burst = Burst::change(self.burst.take().map(|burst| *burst), limit, now).map(Box::new);
        self.account.change(rates(limit, is_root, self.burst.as_deref()), now, false);
    }

    /// Charges what went past the credit of a worker, and shows the burst all that passed.
    fn charge_overdraft(&mut self, lease: &Lease) {
        self.account.charge_own(lease.overdrawn[0]);
        self.account.charge(lease.overdrawn[1], false);
        if let Some(burst) = &mut self.burst {
            burst.count(u64::try_from((lease.overdrawn[1] + lease.spent[1]) / 8).unwrap_or(0));
        }
    }

    /// The worker was away for so long that its lease was taken back: what it spent is charged here.
    pub fn close_lapsed(&mut self, lease: &mut Lease) {
        self.charge_overdraft(lease);
        self.account.charge_own(lease.spent[0]);
        self.account.charge(lease.spent[1], false);
        (lease.credit, lease.spent, lease.overdrawn) = ([0; 2], [0; 2], [0; 2]);
    }

    /// The worker gives everything back.
    pub fn return_lease(&mut self, me: u32, lease: &mut Lease) {
        self.charge_overdraft(lease);
        let demand = self.demands.get_mut(me as usize).map(std::mem::take).unwrap_or_default();
        self.account.tokens = self.account.tokens.saturating_add(lease.credit[0] + demand.granted[0]);
        self.account.ceiling_tokens =
            self.account.ceiling_tokens.saturating_add(lease.credit[1] + demand.granted[1]);
        (lease.credit, lease.spent, lease.overdrawn) = ([0; 2], [0; 2], [0; 2]);
    }

    /// A worker tells what it needs and did, and gets its credit.
    pub fn rebalance(&mut self, me: u32, lease: &mut Lease, now: Now) {
        let waits = |demand: &Demand| demand.weight.iter().any(|weight| *weight != 0);
        let waiting = lease.weight.iter().any(|weight| *weight != 0) || self.demands.iter().any(waits);
        self.fill(now, waiting);
        self.charge_overdraft(lease);
        if let Some(demand) = self.demands.get_mut(me as usize) {
            demand.weight = lease.weight;
            for (credit, granted) in lease.credit.iter_mut().zip(&mut demand.granted) {
                *credit = credit.saturating_add(std::mem::take(granted));
            }
        }
        let rates = *self.account.rates();
        let sides =
            [(rates.rate, &mut self.account.tokens), (rates.ceiling, &mut self.account.ceiling_tokens)];
        for (side, (rate, pool)) in sides.into_iter().enumerate() {
            if rate != 0 && rate != UNLIMITED {
                Distribution { demands: &mut self.demands, me: me as usize, side, rate, pool }
                    .distribute(lease);
            }
        }
        lease.spent = [0; 2];
        lease.overdrawn = [0; 2];
    }

    /// When a worker that got no credit should ask again, ns from now.
    pub fn retry_after(&self, me: u32, lease: &Lease) -> u64 {
        let rates = self.account.rates();
        let pools = [(rates.rate, self.account.tokens), (rates.ceiling, self.account.ceiling_tokens)];
        let Some(top) = lease.weight.iter().position(|weight| *weight != 0) else { return u64::MAX };
        let mut all = 0u64;
        for (worker, demand) in self.demands.iter().enumerate() {
            if worker != me as usize && demand.weight.iter().take(top).any(|weight| *weight != 0) {
                return SLICE;
            }
            all = all.saturating_add(demand.weight.get(top).copied().unwrap_or(0));
        }
        let mine = lease.weight.get(top).copied().unwrap_or(1).max(1);
        // Without ceiling tokens nothing goes; without tokens others may lend.
        for (side, (rate, pool)) in pools.into_iter().enumerate().rev() {
            let credit = lease.credit.get(side).copied().unwrap_or(0);
            if rate == 0 || rate == UNLIMITED || credit > 0 {
                continue;
            }
            let share = u128::from(credit.unsigned_abs() + 1) * u128::from(all.max(mine)) / u128::from(mine);
            let bits = share + u128::from(pool.min(0).unsigned_abs());
            let wait = bits * 1_000_000_000 / u128::from(rate);
            return u64::try_from(wait).unwrap_or(u64::MAX);
        }
        0
    }
}

/// Tokens or ceiling tokens of a class being dealt out.
struct Distribution<'a> {
    demands: &'a mut [Demand],
    me: usize,
    /// 0 tokens, 1 ceiling tokens.
    side: usize,
    rate: u64,
    pool: &'a mut i64,
}

impl Distribution<'_> {
    fn distribute(&mut self, lease: &mut Lease) {
        let Some(&credit) = lease.credit.get(self.side) else { return };
        let mut credit = credit;
        let slice = (self.rate / (1_000_000_000 / SLICE)).max(1) as i64;
        let slice = slice.saturating_add((*self.pool).max(0) >> DEEP_SHARE);
        let totals = self.totals();
        let most = self.most(lease, &totals, slice);
        let none_waits = lease.weight.iter().all(|weight| *weight == 0);
        if credit > most || (credit < 0 && none_waits) {
            let back = if credit > most { credit - most } else { credit };
            *self.pool = self.pool.saturating_add(back);
            credit -= back;
        }
        self.set_hold(credit);
        if let Some(unmet) = self.distribute_by_priority(&totals, slice)
            && lease.weight.iter().take(unmet + 1).all(|weight| *weight == 0)
        {
            // Others come first.
            let back = self.hold().max(0);
            *self.pool = self.pool.saturating_add(back);
            self.set_hold(self.hold() - back);
            self.distribute_by_priority(&totals, slice);
        } else if none_waits {
            let more = (most - self.hold()).min(*self.pool).max(0);
            *self.pool -= more;
            self.set_hold(self.hold() + more);
        }
        if let Some(credit) = lease.credit.get_mut(self.side) {
            *credit = self.hold();
        }
    }

    fn totals(&self) -> [u64; PRIORITIES] {
        let mut totals = [0u64; PRIORITIES];
        for demand in self.demands.iter() {
            for (total, weight) in totals.iter_mut().zip(demand.weight) {
                *total = total.saturating_add(weight);
            }
        }
        totals
    }

    fn hold(&self) -> i64 {
        self.demands.get(self.me).and_then(|demand| demand.hold.get(self.side)).copied().unwrap_or(0)
    }

    fn set_hold(&mut self, credit: i64) {
        if let Some(hold) = self.demands.get_mut(self.me).and_then(|demand| demand.hold.get_mut(self.side)) {
            *hold = credit;
        }
    }

    /// Most credit that the worker may have.
    fn most(&self, lease: &Lease, totals: &[u64; PRIORITIES], slice: i64) -> i64 {
        let shares = lease.weight.iter().zip(totals).filter(|(weight, _)| **weight != 0);
        if let Some(most) = shares.map(|(weight, total)| share(slice, *weight, *total).max(1)).max() {
            return most;
        }
        let sums = lease.spent.iter().chain(&lease.overdrawn).chain([&lease.requested]);
        match sums.copied().max() {
            Some(bits) if bits > 0 => {
                let estimate = bits.saturating_mul(2).saturating_add(ESTIMATE);
                estimate.max(*self.pool >> DEEP_SHARE).min(slice)
            }
            _ => 0,
        }
    }

    /// Deals out what there is. The priority that did not get all.
    fn distribute_by_priority(&mut self, totals: &[u64; PRIORITIES], slice: i64) -> Option<usize> {
        for (priority, &total) in totals.iter().enumerate() {
            if total != 0 && !self.distribute_to(priority, total, slice) {
                return Some(priority);
            }
        }
        None
    }

    /// Deals out to those of a priority by weight, up to their shares of a slice. Whether all have theirs.
    fn distribute_to(&mut self, priority: usize, total: u64, slice: i64) -> bool {
        loop {
            let mut weights = 0u64;
            for worker in 0..self.demands.len() {
                if let Some((weight, room)) = self.room(worker, priority, total, slice)
                    && room > 0
                {
                    weights = weights.saturating_add(weight);
                }
            }
            if weights == 0 {
                return true;
            }
            let pool = (*self.pool).max(0);
            let mut is_full = false;
            let mut given = 0;
            for worker in 0..self.demands.len() {
                let Some((weight, room)) = self.room(worker, priority, total, slice) else { continue };
                let part = share(pool, weight, weights);
                let grant = part.min(room).max(0);
                is_full |= room > 0 && grant == room;
                given += grant;
                self.grant(worker, grant);
            }
            *self.pool -= given;
            if !is_full {
                return false;
            }
        }
    }

    /// Weight of a worker and what it may still get.
    fn room(&self, worker: usize, priority: usize, total: u64, slice: i64) -> Option<(u64, i64)> {
        let demand = self.demands.get(worker)?;
        let weight = *demand.weight.get(priority)?;
        let (&hold, &granted) = (demand.hold.get(self.side)?, demand.granted.get(self.side)?);
        let has = if worker == self.me { hold } else { granted + hold.min(0) };
        (weight != 0).then(|| (weight, share(slice, weight, total).max(1) - has))
    }

    fn grant(&mut self, worker: usize, bits: i64) {
        let Some(demand) = self.demands.get_mut(worker) else { return };
        let account = if worker == self.me { &mut demand.hold } else { &mut demand.granted };
        if let Some(sum) = account.get_mut(self.side) {
            *sum += bits;
        }
    }
}

/// Rates and depths of a class.
pub fn rates(limit: &QueueLimit, is_root: bool, burst: Option<&Burst>) -> Rates {
    if is_root { Rates::root(limit, burst) } else { Rates::below(limit, burst) }
}

/// The part of `bits` that `weight` of `total` is.
fn share(bits: i64, weight: u64, total: u64) -> i64 {
    (i128::from(bits) * i128::from(weight) / i128::from(total.max(1))) as i64
}
