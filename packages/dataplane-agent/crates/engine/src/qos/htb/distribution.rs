//! How the tokens of a class are distributed among the workers that ask for them: strictly by priority, then by weight.

use super::ring::PRIORITIES;

/// Nominal duration of a lease, ns.
pub const SLICE: u64 = 1_000_000;

/// Tokens that a worker without waiting packets may lease beyond twice what it sent in the last slice, bits: two
/// packets. It gets [`DEEP_SHARE`] if that is more: a burst after a pause must not wait for tokens that no other worker
/// needs.
const ESTIMATE: i64 = 24_000;

/// The share of the tokens of a class that may be leased at once beyond a slice: 2⁻³.
const DEEP_SHARE: u32 = 3;

/// The demand of a worker on a class, and the credit that it has been granted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Demand {
    /// Sum of the quanta of its leaves that wait for the class, by priority.
    pub(super) weight: [u64; PRIORITIES],
    /// Credit of the worker at its last rebalance: tokens, ceiling tokens.
    pub(super) hold: [i64; 2],
    /// Granted since then by the rebalances of other workers: tokens, ceiling tokens.
    pub(super) granted: [i64; 2],
}

/// The lease of a worker on a class: what it reports at a rebalance, and the credit that it gets. Pairs are tokens and
/// ceiling tokens, bits.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lease {
    /// Sum of the quanta of the leaves that wait for the class, by priority.
    pub weight: [u64; PRIORITIES],
    /// Tokens and ceiling tokens.
    pub credit: [i64; 2],
    /// Charged to the credit since the last rebalance.
    pub spent: [i64; 2],
    /// Charged past the credit: sent by classes below with their own tokens.
    pub overdrawn: [i64; 2],
    /// Bits of a packet that need not wait if there is credit for it.
    pub requested: i64,
}

/// Distribution of the tokens, or ceiling tokens, of a class.
pub(super) struct Distribution<'a> {
    /// Demands by worker.
    pub(super) demands: &'a mut [Demand],
    /// Number of the worker that asks.
    pub(super) me: usize,
    /// 0 tokens, 1 ceiling tokens.
    pub(super) side: usize,
    /// Rate of the class, bits/s.
    pub(super) rate: u64,
    /// Tokens that no worker has leased, bits.
    pub(super) pool: &'a mut i64,
}

impl Distribution<'_> {
    /// Gives the worker its share of the pool, as part of its lease.
    pub(super) fn distribute(&mut self, lease: &mut Lease) {
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
            // Workers of a higher priority come first: the worker returns its credit.
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

    /// Distributes the pool by priority, highest first. Returns the first priority whose share could not be filled.
    fn distribute_by_priority(&mut self, totals: &[u64; PRIORITIES], slice: i64) -> Option<usize> {
        for (priority, &total) in totals.iter().enumerate() {
            if total != 0 && !self.distribute_to(priority, total, slice) {
                return Some(priority);
            }
        }
        None
    }

    /// Distributes the pool to the workers of a priority by weight, up to their shares of a slice. Returns whether all
    /// have their share.
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

    /// Weight of a worker at a priority, and the bits that it may still get. `None` if the weight is 0.
    fn room(&self, worker: usize, priority: usize, total: u64, slice: i64) -> Option<(u64, i64)> {
        let demand = self.demands.get(worker)?;
        let weight = *demand.weight.get(priority)?;
        let (&hold, &granted) = (demand.hold.get(self.side)?, demand.granted.get(self.side)?);
        let has = if worker == self.me { hold } else { granted + hold.min(0) };
        (weight != 0).then(|| (weight, share(slice, weight, total).max(1) - has))
    }

    fn grant(&mut self, worker: usize, bits: i64) {
        let Some(demand) = self.demands.get_mut(worker) else { return };
        let sums = if worker == self.me { &mut demand.hold } else { &mut demand.granted };
        if let Some(sum) = sums.get_mut(self.side) {
            *sum += bits;
        }
    }
}

/// `bits` × `weight` / `total`.
fn share(bits: i64, weight: u64, total: u64) -> i64 {
    (i128::from(bits) * i128::from(weight) / i128::from(total.max(1))) as i64
}
