//! Channels of packets from one worker to another.
//!
//! Both ends handle many packets at a time, as each access to the other end's index transfers a cache line between
//! cores. A packet takes one cache line: a slot is one line, and the metadata of parsed packets is in a second ring.

use rtrb::{Consumer, Producer, RingBuffer};
use tollway_engine::ids::PortId;
use tollway_engine::packet::frame::VnetState;
use tollway_engine::pipeline::batch::BATCH;
use tollway_engine::pipeline::handover::{Handover, HandoverContents, HandoverMeta};

/// Maximum number of packets in a channel.
pub const DEPTH: usize = 1024;

/// A packet between two workers.
#[derive(Debug)]
#[repr(align(64))]
struct Slot<F> {
    frame: F,
    vnet: VnetState,
    /// The port on which it was received; `None` when it was parsed.
    port: Option<PortId>,
}

/// Both ends of a channel for [`DEPTH`] packets.
pub fn channel<F, M>() -> (HandoverSender<F, M>, HandoverReceiver<F, M>) {
    let (producer, consumer) = RingBuffer::new(DEPTH);
    // The second ring has the same depth and is read before a packet's slot is freed, so it has room for the metadata
    // of every slot.
    let (meta_producer, metas) = RingBuffer::new(DEPTH);
    let sender = HandoverSender {
        ring: producer,
        metas: meta_producer,
        gathered: Vec::with_capacity(2 * BATCH),
        gathered_metas: Vec::with_capacity(2 * BATCH),
    };
    (sender, HandoverReceiver { ring: consumer, metas })
}

/// The sender's end.
#[derive(Debug)]
pub struct HandoverSender<F, M = HandoverMeta> {
    ring: Producer<Slot<F>>,
    metas: Producer<M>,
    gathered: Vec<Slot<F>>,
    gathered_metas: Vec<M>,
}

impl<F, M> HandoverSender<F, M> {
    /// Gathers a packet for the next [`Self::send`].
    #[inline]
    pub fn gather(&mut self, packet: Handover<F, M>) {
        let port = match packet.contents {
            HandoverContents::Received(port) => Some(port),
            HandoverContents::Parsed(meta) => {
                self.gathered_metas.push(meta);
                None
            }
        };
        self.gathered.push(Slot { frame: packet.frame, vnet: packet.vnet, port });
    }

    /// Number of gathered packets.
    pub fn gathered(&self) -> usize {
        self.gathered.len()
    }

    /// Sends the gathered packets. Returns whether there were any. `refused` gets the packets for which the channel has
    /// no room.
    pub fn send(&mut self, mut refused: impl FnMut(Handover<F, M>)) -> bool {
        if self.gathered.is_empty() {
            return false;
        }
        let room = self.room().min(self.gathered.len());
        let mut metas = self.gathered_metas.drain(..);
        if metas.len() > 0 {
            let parsed = self.gathered.iter().take(room).filter(|slot| slot.port.is_none()).count();
            for meta in metas.by_ref().take(parsed) {
                let sent = self.metas.push(meta);
                debug_assert!(sent.is_ok(), "it has room for as many");
            }
        }
        let mut packets = self.gathered.drain(..);
        if let Ok(slots) = self.ring.write_chunk_uninit(room) {
            slots.fill_from_iter(packets.by_ref().take(room));
        }
        packets.filter_map(|slot| joined(slot, || metas.next())).for_each(&mut refused);
        true
    }

    /// Number of packets for which the channel has room.
    pub fn room(&self) -> usize {
        self.ring.slots()
    }
}

/// The receiver's end.
#[derive(Debug)]
pub struct HandoverReceiver<F, M = HandoverMeta> {
    ring: Consumer<Slot<F>>,
    metas: Consumer<M>,
}

impl<F, M> HandoverReceiver<F, M> {
    /// Takes at most `most` packets, in order. Returns their number.
    #[inline]
    pub fn receive(&mut self, most: usize, take: impl FnMut(Handover<F, M>)) -> usize {
        let waiting = self.ring.slots().min(most);
        let Ok(packets) = self.ring.read_chunk(waiting) else { return 0 };
        let metas = &mut self.metas;
        packets.into_iter().filter_map(|slot| joined(slot, || metas.pop().ok())).for_each(take);
        waiting
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}

/// A packet with its metadata, which was sent before it.
#[inline]
fn joined<F, M>(slot: Slot<F>, meta: impl FnOnce() -> Option<M>) -> Option<Handover<F, M>> {
    let contents = match slot.port {
        Some(port) => HandoverContents::Received(port),
        None => HandoverContents::Parsed(meta()?),
    };
    Some(Handover { frame: slot.frame, vnet: slot.vnet, contents })
}

#[cfg(test)]
mod tests {
    use tollway_io::PoolFrame;

    use super::*;

    /// Every third one was parsed.
    fn packet(number: usize) -> Handover<usize, usize> {
        let contents = match number % 3 {
            0 => HandoverContents::Parsed(number),
            _ => HandoverContents::Received(number as PortId),
        };
        Handover { frame: number, vnet: VnetState::default(), contents }
    }

    fn number(packet: &Handover<usize, usize>) -> usize {
        match packet.contents {
            HandoverContents::Parsed(number) => assert_eq!((number, number % 3), (packet.frame, 0)),
            HandoverContents::Received(port) => {
                assert_eq!(port, packet.frame as PortId);
                assert_ne!(packet.frame % 3, 0);
            }
        }
        packet.frame
    }

    #[test]
    fn packets_arrive_in_order_and_those_without_room_come_back() {
        let (mut sender, mut receiver) = channel();
        let (mut next, mut arrived, mut refused) = (0_usize, Vec::new(), Vec::new());
        for turn in 0..200_usize {
            for _ in 0..turn % 97 * 7 {
                sender.gather(packet(next));
                next += 1;
            }
            assert_eq!(sender.gathered(), turn % 97 * 7);
            let room = sender.room();
            let before = refused.len();
            assert_eq!(sender.send(|packet| refused.push(number(&packet))), turn % 97 != 0);
            assert_eq!(refused.len() - before, (turn % 97 * 7).saturating_sub(room));
            let taken = receiver.receive(300, |packet| arrived.push(number(&packet)));
            assert!(taken <= 300);
        }
        while receiver.receive(300, |packet| arrived.push(number(&packet))) > 0 {}
        assert!(receiver.is_empty() && !sender.send(|_| ()));
        assert!(!refused.is_empty() && arrived.len() > 10_000);
        for packets in [&arrived, &refused] {
            assert!(packets.is_sorted());
        }
        arrived.append(&mut refused);
        arrived.sort_unstable();
        assert!(arrived.into_iter().eq(0..next));
    }

    #[test]
    fn parsed_packets_alone_fill_the_channel() {
        let (mut sender, mut receiver) = channel();
        for round in 0..5 {
            (0..DEPTH).for_each(|at| sender.gather(packet(3 * (round * DEPTH + at))));
            assert!(sender.send(|packet| panic!("{} found no room", packet.frame)));
            let mut next = 3 * round * DEPTH;
            while receiver.receive(100, |packet| {
                assert_eq!(number(&packet), next);
                next += 3;
            }) > 0
            {}
            assert_eq!(next, 3 * (round + 1) * DEPTH);
        }
    }

    #[test]
    fn a_packet_takes_one_cache_line() {
        assert_eq!(size_of::<Slot<PoolFrame>>(), 64);
    }
}
