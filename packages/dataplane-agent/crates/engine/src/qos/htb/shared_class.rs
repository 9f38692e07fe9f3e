//! An inner class in the ledger of all workers: its tokens, and what each worker has leased of it.

use tollway_config::dataplane::QueueLimit;

use super::class_tokens::{ClassTokens, Rates, UNLIMITED};
use super::distribution::{Demand, Distribution, Lease, SLICE};
use crate::qos::burst::Burst;
use crate::qos::forest::Identity;
use crate::time::Now;

/// An inner class.
#[derive(Debug)]
pub struct SharedClass {
    /// Identity of the class, the same in every configuration.
    pub(super) identity: Identity,
    /// Workers that know the class.
    pub(super) users: u32,
    /// Its limits.
    pub(super) limit: QueueLimit,
    /// It has no class above, so it cannot borrow.
    pub(super) is_root: bool,
    /// Tokens that no worker has leased, bits.
    pub class_tokens: ClassTokens,
    /// State of its burst, if it has one.
    pub(super) burst: Option<Box<Burst>>,
    /// Demands by worker.
    pub(super) demands: Box<[Demand]>,
}

impl SharedClass {
    /// Adds the tokens that came in, at the burst rate if a burst is allowed.
    #[inline]
    pub fn fill(&mut self, now: Now, waiting: bool) {
        self.class_tokens.fill(now, waiting);
        if let Some(burst) = &mut self.burst
            && burst.advance(now)
        {
            self.class_tokens.change(rates(&self.limit, self.is_root, self.burst.as_deref()), now, waiting);
        }
    }

    /// Charges bits, see [`ClassTokens::charge`].
    #[inline]
    pub fn charge(&mut self, bits: i64, own: bool) {
        self.class_tokens.charge(bits, own);
        if let Some(burst) = &mut self.burst {
            burst.count(bits as u64 / 8);
        }
    }

    /// When its colour may improve.
    pub fn event(&self) -> Option<Now> {
        let event = self.class_tokens.event()?;
        Some(self.burst.as_ref().map_or(event, |burst| event.min(burst.ends())))
    }

    /// Changes the limits. Tokens are kept up to the new depths.
    pub(super) fn change(&mut self, limit: &QueueLimit, is_root: bool, now: Now) {
        if (limit, is_root) == (&self.limit, self.is_root) {
            return;
        }
        (self.limit, self.is_root) = (*limit, is_root);
        self.burst = Burst::change(self.burst.take().map(|burst| *burst), limit, now).map(Box::new);
        self.class_tokens.change(rates(limit, is_root, self.burst.as_deref()), now, false);
    }

    /// Charges the bits that a worker sent past its credit, and counts all bits that it sent for the burst.
    fn charge_overdraft(&mut self, lease: &Lease) {
        self.class_tokens.charge_own(lease.overdrawn[0]);
        self.class_tokens.charge(lease.overdrawn[1], false);
        if let Some(burst) = &mut self.burst {
            burst.count(u64::try_from((lease.overdrawn[1] + lease.spent[1]) / 8).unwrap_or(0));
        }
    }

    /// The lease of the worker was revoked, as it was absent for too long: what it spent is charged here.
    pub fn close_lapsed(&mut self, lease: &mut Lease) {
        self.charge_overdraft(lease);
        self.class_tokens.charge_own(lease.spent[0]);
        self.class_tokens.charge(lease.spent[1], false);
        (lease.credit, lease.spent, lease.overdrawn) = ([0; 2], [0; 2], [0; 2]);
    }

    /// Ends the lease of a worker: its credit returns to the class.
    pub fn return_lease(&mut self, me: u32, lease: &mut Lease) {
        self.charge_overdraft(lease);
        let demand = self.demands.get_mut(me as usize).map(std::mem::take).unwrap_or_default();
        self.class_tokens.tokens =
            self.class_tokens.tokens.saturating_add(lease.credit[0] + demand.granted[0]);
        self.class_tokens.ceiling_tokens =
            self.class_tokens.ceiling_tokens.saturating_add(lease.credit[1] + demand.granted[1]);
        (lease.credit, lease.spent, lease.overdrawn) = ([0; 2], [0; 2], [0; 2]);
    }

    /// Updates the lease of a worker: subtracts what it spent, records its demand, distributes the tokens.
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
        let rates = *self.class_tokens.rates();
        let sides = [
            (rates.rate, &mut self.class_tokens.tokens),
            (rates.ceiling, &mut self.class_tokens.ceiling_tokens),
        ];
        for (side, (rate, pool)) in sides.into_iter().enumerate() {
            if rate != 0 && rate != UNLIMITED {
                Distribution { demands: &mut self.demands, me: me as usize, side, rate, pool }
                    .distribute(lease);
            }
        }
        lease.spent = [0; 2];
        lease.overdrawn = [0; 2];
    }

    /// When a worker that got no credit should rebalance again, ns from now.
    pub fn retry_after(&self, me: u32, lease: &Lease) -> u64 {
        let rates = self.class_tokens.rates();
        let pools =
            [(rates.rate, self.class_tokens.tokens), (rates.ceiling, self.class_tokens.ceiling_tokens)];
        let Some(top) = lease.weight.iter().position(|weight| *weight != 0) else { return u64::MAX };
        let mut all = 0u64;
        for (worker, demand) in self.demands.iter().enumerate() {
            if worker != me as usize && demand.weight.iter().take(top).any(|weight| *weight != 0) {
                return SLICE;
            }
            all = all.saturating_add(demand.weight.get(top).copied().unwrap_or(0));
        }
        let mine = lease.weight.get(top).copied().unwrap_or(1).max(1);
        // Ceiling tokens first: without them nothing is sent, but without tokens a class above may lend.
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

/// Rates and depths of a class.
pub fn rates(limit: &QueueLimit, is_root: bool, burst: Option<&Burst>) -> Rates {
    if is_root { Rates::root(limit, burst) } else { Rates::below(limit, burst) }
}
