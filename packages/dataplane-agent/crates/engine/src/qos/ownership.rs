//! Which worker owns a queue. The token buckets and packets of a queue belong to one worker at a time, the owner: the
//! worker at which the first packet of the queue arrived. Other workers hand their packets over to the owner. An owner
//! that for a while gets only packets handed over by others releases the queue, so that the worker that receives the
//! flow becomes the owner and no second worker is woken for its packets. An owner that is about to sleep also releases
//! the queues that other workers use.
//!
//! ```text
//!  free ──a packet at A──► owned by A ──only packets of others, none waiting, none in flight──► free
//!                              │ a packet at B: counted as in flight, then handed over to A
//! ```
//!
//! One atomic step reads the owner and counts the packet as in flight. The queue is released only when all packets in
//! flight have been acknowledged, that is, have left the router. So packets of a flow are not reordered: the packets of
//! the old owner have left before the next worker takes the queue.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

use super::burst::Burst;
use super::forest::Identity;
use crate::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::time::Now;

/// Number of low bits of [`Ownership::word`] that count packets in flight. The bits above are the number of the owner
/// plus one, 0 without an owner. A blocked port keeps packets from being acknowledged for as long as it is blocked: at
/// 10 million a second the counter lasts for months.
const IN_FLIGHT_BITS: u32 = 47;
const IN_FLIGHT: u64 = (1 << IN_FLIGHT_BITS) - 1;

/// Most leaves of a row: upload, download and total.
pub const ROW_PARTS: usize = 3;

/// The owner of a queue, and the tokens of the queue's buckets while it has no owner.
#[derive(Debug)]
pub struct Ownership {
    word: AtomicU64,
    /// Tokens of each part of the queue, bits, and when they were counted.
    buckets: [(AtomicI64, AtomicU64); ROW_PARTS],
    /// Burst averages of the parts that have bursts.
    bursts: Mutex<[Option<Box<Burst>>; ROW_PARTS]>,
    /// Number of the last owner plus one; 0 if there was none.
    last_owner: AtomicU32,
}

/// Result of [`Ownership::acquire`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcquireOutcome {
    /// The worker that asked owns the queue now.
    Taken,
    /// This worker owns it, and a packet to it has been counted as in flight.
    OwnedBy(u32),
}

impl Ownership {
    fn new() -> Self {
        // More than any bucket holds, so that a new queue begins with full buckets.
        let full = || (AtomicI64::new(i64::MAX), AtomicU64::new(0));
        let (word, bursts, last_owner) = (AtomicU64::new(0), Mutex::default(), AtomicU32::new(0));
        Self { word, buckets: [full(), full(), full()], bursts, last_owner }
    }

    /// Makes `worker` the owner unless another worker is; in that case counts one packet in flight to that owner.
    pub fn acquire(&self, worker: u32) -> AcquireOutcome {
        let mut word = self.word.load(Ordering::Acquire);
        loop {
            let owner = word >> IN_FLIGHT_BITS;
            let mine = owner == 0 || owner == owned_by(worker) >> IN_FLIGHT_BITS;
            let next = if mine { owned_by(worker) | word & IN_FLIGHT } else { one_more_in_flight(word) };
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) if mine => return AcquireOutcome::Taken,
                Ok(_) => return AcquireOutcome::OwnedBy((owner - 1) as u32),
                Err(seen) => word = seen,
            }
        }
    }

    /// Counts a packet as in flight that has passed the queue and is handed over to another worker. Only for the owner.
    pub fn note_in_flight(&self) {
        // `fetch_update` does not fail, as the function always returns a value.
        let _ = self
            .word
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| Some(one_more_in_flight(word)));
    }

    /// Subtracts packets from the count of those in flight: they have left the router, or will never arrive.
    pub fn acknowledge(&self, packets: u64) {
        let less = |word: u64| Some(word & !IN_FLIGHT | (word & IN_FLIGHT).saturating_sub(packets));
        // `fetch_update` does not fail, as the function always returns a value.
        let _ = self.word.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
    }

    /// Releases the queue of `worker`, the owner, unless packets are in flight. `tokens` are the tokens of its buckets,
    /// bits, and when they were counted. Returns whether the queue was released.
    pub fn release(&self, worker: u32, tokens: [(i64, Now); ROW_PARTS]) -> bool {
        let own = owned_by(worker);
        if self.word.load(Ordering::Acquire) != own {
            return false;
        }
        for ((bits, at), (tokens, counted)) in self.buckets.iter().zip(tokens) {
            bits.store(tokens, Ordering::Relaxed);
            at.store(counted.0, Ordering::Relaxed);
        }
        self.last_owner.store(worker + 1, Ordering::Relaxed);
        self.word.compare_exchange(own, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Whether `worker` was the last owner. Only for the worker that has just taken the queue.
    pub fn was_last_owner(&self, worker: u32) -> bool {
        self.last_owner.load(Ordering::Relaxed) == worker + 1
    }

    /// Stores the averages of its bursts for the next owner of the queue. Only the present owner calls it, just before
    /// it releases the queue.
    pub fn store_bursts(&self, bursts: [Option<&Burst>; ROW_PARTS]) {
        for (left, burst) in self.bursts.lock().unwrap_or_else(PoisonError::into_inner).iter_mut().zip(bursts)
        {
            match (left, burst) {
                (Some(left), Some(burst)) => left.as_mut().clone_from(burst),
                (left, burst) => *left = burst.cloned().map(Box::new),
            }
        }
    }

    /// Restores the burst average of a part that the previous owner stored. Only for the worker that has just taken the
    /// queue.
    pub fn restore_burst(&self, part: usize, burst: &mut Burst) {
        let bursts = self.bursts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = bursts.get(part).and_then(Option::as_ref) {
            burst.restore(left);
        }
    }

    /// Releases the queue of `worker` even if packets are in flight: it is no longer in the configuration of `worker`.
    pub fn release_unconditionally(&self, worker: u32) {
        let gone = |word: u64| (word & !IN_FLIGHT == owned_by(worker)).then_some(0);
        let _ = self.word.fetch_update(Ordering::AcqRel, Ordering::Acquire, gone);
    }

    /// Returns the tokens of the buckets that were stored when the queue was released, bits, and when they were
    /// counted. Only for the worker that has just taken the queue.
    pub fn tokens(&self) -> [(i64, Now); ROW_PARTS] {
        self.buckets
            .each_ref()
            .map(|(bits, at)| (bits.load(Ordering::Relaxed), Now(at.load(Ordering::Relaxed))))
    }
}

/// The word of a queue that `worker` owns, with nothing in flight.
fn owned_by(worker: u32) -> u64 {
    (u64::from(worker) + 1) << IN_FLIGHT_BITS
}

fn one_more_in_flight(word: u64) -> u64 {
    if word & IN_FLIGHT == IN_FLIGHT { word } else { word + 1 }
}

/// The ownerships of all queues in the configuration of any worker.
#[derive(Debug)]
pub struct Ownerships(Mutex<HashMap<Identity, Weak<Ownership>>>);

impl Default for Ownerships {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl Ownerships {
    /// Locks the map for several lookups. Workers look ownerships up only while they take over a configuration.
    pub fn lock(&self) -> LockedOwnerships<'_> {
        LockedOwnerships(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// [`Ownerships`], locked for lookups.
#[derive(Debug)]
pub struct LockedOwnerships<'a>(MutexGuard<'a, HashMap<Identity, Weak<Ownership>>>);

impl LockedOwnerships<'_> {
    /// Returns the ownership of a row, by the identity of its first part. Every worker that has the row in its
    /// configuration gets the same one.
    pub fn of(&mut self, row: Identity) -> Arc<Ownership> {
        if let Some(known) = self.0.get(&row).and_then(Weak::upgrade) {
            return known;
        }
        // Removes the entries of queues that no longer exist, before the map has to grow.
        if self.0.len() == self.0.capacity() {
            self.0.retain(|_, known| known.strong_count() != 0);
        }
        let new = Arc::new(Ownership::new());
        self.0.insert(row, Arc::downgrade(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::qos::forest::RowPart;

    const FULL: [(i64, Now); ROW_PARTS] = [(7, Now(1)), (9, Now(2)), (4, Now(3))];

    const fn row(row: u32) -> Identity {
        Identity { row, part: RowPart::Upload }
    }

    #[test]
    fn a_queue_is_released_when_nothing_is_in_flight() {
        let queue = Ownership::new();
        assert_eq!(queue.acquire(3), AcquireOutcome::Taken);
        assert_eq!(queue.acquire(0), AcquireOutcome::OwnedBy(3));
        assert_eq!(queue.acquire(0), AcquireOutcome::OwnedBy(3));
        assert!(!queue.release(3, FULL));
        queue.acknowledge(1);
        assert!(!queue.release(3, FULL));
        queue.acknowledge(1);
        assert!(!queue.release(2, FULL), "only the owner can release it");
        assert!(queue.release(3, FULL));
        assert_eq!(queue.acquire(0), AcquireOutcome::Taken);
        assert_eq!(queue.tokens(), FULL);
        assert!(queue.was_last_owner(3) && !queue.was_last_owner(0));
        assert_eq!(queue.acquire(3), AcquireOutcome::OwnedBy(0));
    }

    #[test]
    fn a_port_that_takes_nothing_for_long_does_not_make_the_count_wrong() {
        let queue = Ownership::new();
        queue.acquire(0);
        let many = (1 << 24) + 5;
        for _ in 0..many {
            queue.acquire(1);
        }
        queue.acknowledge(many - 1);
        assert!(!queue.release(0, FULL), "one is in flight");
        queue.acknowledge(1);
        assert!(queue.release(0, FULL));
    }

    #[test]
    fn more_may_arrive_than_is_known_of() {
        let queue = Ownership::new();
        queue.acquire(0);
        queue.acquire(1);
        queue.release_unconditionally(1);
        assert_eq!(queue.acquire(1), AcquireOutcome::OwnedBy(0));
        queue.release_unconditionally(0);
        queue.acknowledge(5);
        assert_eq!(queue.acquire(1), AcquireOutcome::Taken);
        assert!(queue.release(1, FULL));
    }

    #[test]
    fn rows_that_are_gone_are_forgotten() {
        let all = Ownerships::default();
        let kept = all.lock().of(row(7));
        for number in 100..100_000 {
            all.lock().of(row(number));
        }
        assert!(Arc::ptr_eq(&kept, &all.lock().of(row(7))));
        assert!(all.lock().0.len() < 1000);
    }

    /// Threads pass one queue around; each checks that what its predecessor left is there, and that it alone has it.
    #[test]
    fn one_worker_at_a_time() {
        let queue = &Ownership::new();
        let inside = &AtomicU32::new(0);
        let counter = &AtomicU64::new(0);
        let taken: u64 = std::thread::scope(|scope| {
            let worker = |number: u32| {
                move || {
                    let mut taken = 0;
                    for _ in 0..20_000 {
                        if queue.acquire(number) != AcquireOutcome::Taken {
                            // The packet arrives at once.
                            queue.acknowledge(1);
                            continue;
                        }
                        taken += 1;
                        assert_eq!(inside.swap(number + 1, Ordering::Relaxed), 0);
                        let [(tokens, _), ..] = queue.tokens();
                        let before = counter.fetch_add(1, Ordering::Relaxed);
                        assert_eq!(tokens, if before == 0 { i64::MAX } else { before as i64 });
                        inside.store(0, Ordering::Relaxed);
                        let left = before as i64 + 1;
                        while !queue.release(number, [(left, Now(0)); ROW_PARTS]) {
                            std::hint::spin_loop();
                        }
                    }
                    taken
                }
            };
            let threads: Vec<_> = (0..4).map(|number| scope.spawn(worker(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(taken, counter.load(Ordering::Relaxed));
        assert!(taken > 0);
    }

    /// Threads as workers, each with a flow, channels between them as rings: every packet comes to the owner of the
    /// queue, and leaves after the one before it.
    #[test]
    fn no_packet_overtakes_another_of_its_flow() {
        const WORKERS: usize = 3;
        const PACKETS: u64 = 30_000;
        let queue = &Ownership::new();
        // The last packet of each flow that has left.
        let left = &[const { AtomicU64::new(0) }; WORKERS];
        // A thread that failed would leave the others waiting.
        let wrong = &std::sync::OnceLock::new();
        let check = |holds: bool, packet: (usize, u64)| {
            if !holds {
                let _ = wrong.set(packet);
            }
        };
        let send_out = |(flow, number): (usize, u64)| {
            check(left[flow].swap(number, Ordering::Relaxed) + 1 == number, (flow, number));
        };
        let (rings, ends): (Vec<_>, Vec<_>) =
            (0..WORKERS).map(|_| std::sync::mpsc::channel::<(usize, u64)>()).unzip();
        let moves: u32 = std::thread::scope(|scope| {
            let worker = |(own, ring): (usize, std::sync::mpsc::Receiver<(usize, u64)>)| {
                let rings = rings.clone();
                move || {
                    let (mut has, mut moves, mut sent) = (false, 0, 0);
                    let all_left = || left.iter().all(|left| left.load(Ordering::Relaxed) == PACKETS);
                    while wrong.get().is_none() && !all_left() {
                        let mut unacknowledged = 0;
                        while let Ok(packet) = ring.try_recv() {
                            check(has, packet);
                            send_out(packet);
                            unacknowledged += 1;
                        }
                        queue.acknowledge(unacknowledged);
                        if has && queue.release(own as u32, FULL) {
                            has = false;
                            continue;
                        }
                        for _ in 0..3.min(PACKETS - sent) {
                            sent += 1;
                            let outcome = if has { AcquireOutcome::Taken } else { queue.acquire(own as u32) };
                            match outcome {
                                AcquireOutcome::Taken => {
                                    moves += u32::from(!has);
                                    has = true;
                                    send_out((own, sent));
                                }
                                AcquireOutcome::OwnedBy(owner) => {
                                    check(rings[owner as usize].send((own, sent)).is_ok(), (own, sent))
                                }
                            }
                        }
                    }
                    moves
                }
            };
            let threads: Vec<_> = ends.into_iter().enumerate().map(|end| scope.spawn(worker(end))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(wrong.get(), None, "flow and packet");
        assert!(moves > 100, "{moves}");
    }
}
