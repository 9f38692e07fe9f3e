//! The way of packets from one worker to another.
//!
//! Both ends see to many packets at a time: each look at what the other end writes fetches a line from another
//! core's cache.

use rtrb::{Consumer, Producer, RingBuffer};
use tollway_engine::batch::BATCH;

/// Packets that may be between one worker and another.
pub const DEPTH: usize = 1024;

/// A way for [`DEPTH`] packets.
pub fn way<T>() -> (Departures<T>, Arrivals<T>) {
    let (sender, receiver) = RingBuffer::new(DEPTH);
    (Departures { ring: sender, gathered: Vec::with_capacity(2 * BATCH) }, Arrivals(receiver))
}

/// The end at which packets leave their worker.
#[derive(Debug)]
pub struct Departures<T> {
    ring: Producer<T>,
    gathered: Vec<T>,
}

impl<T> Departures<T> {
    /// Adds a packet to those that go with the next [`Self::send`].
    #[inline]
    pub fn gather(&mut self, packet: T) {
        self.gathered.push(packet);
    }

    /// Sends what was gathered. Returns whether there was anything to send; `refused` gets what the way has no
    /// room for.
    pub fn send(&mut self, refused: impl FnMut(T)) -> bool {
        if self.gathered.is_empty() {
            return false;
        }
        let room = self.room().min(self.gathered.len());
        let mut packets = self.gathered.drain(..);
        if let Ok(slots) = self.ring.write_chunk_uninit(room) {
            slots.fill_from_iter(packets.by_ref().take(room));
        }
        packets.for_each(refused);
        true
    }

    /// Packets that the way has room for.
    pub fn room(&self) -> usize {
        self.ring.slots()
    }
}

/// The end at which they arrive.
#[derive(Debug)]
pub struct Arrivals<T>(Consumer<T>);

impl<T> Arrivals<T> {
    /// Takes at most so many, in order. Returns how many.
    #[inline]
    pub fn receive(&mut self, most: usize, take: impl FnMut(T)) -> usize {
        let waiting = self.0.slots().min(most);
        let Ok(packets) = self.0.read_chunk(waiting) else { return 0 };
        packets.into_iter().for_each(take);
        waiting
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_arrive_in_order_and_those_without_room_come_back() {
        let (mut departures, mut arrivals) = way();
        let (mut next, mut arrived, mut refused) = (0_usize, Vec::new(), Vec::new());
        for turn in 0..200_usize {
            for _ in 0..turn % 97 * 7 {
                departures.gather(next);
                next += 1;
            }
            let room = departures.room();
            let before = refused.len();
            assert_eq!(departures.send(|packet| refused.push(packet)), turn % 97 != 0);
            assert_eq!(refused.len() - before, (turn % 97 * 7).saturating_sub(room));
            let taken = arrivals.receive(300, |packet| arrived.push(packet));
            assert!(taken <= 300);
        }
        while arrivals.receive(300, |packet| arrived.push(packet)) > 0 {}
        assert!(arrivals.is_empty() && !departures.send(|_| ()));
        assert!(!refused.is_empty() && arrived.len() > 10_000);
        for packets in [&arrived, &refused] {
            assert!(packets.is_sorted());
        }
        arrived.append(&mut refused);
        arrived.sort_unstable();
        assert!(arrived.into_iter().eq(0..next));
    }
}
