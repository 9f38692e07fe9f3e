//! Traced packets in queues. A waiting packet has room only for a tag; the rest of its trace state is here.

use std::collections::VecDeque;

use crate::packet::verdict::DropReason;
use crate::time::Now;

/// Maximum number of waiting packets whose trace state is kept; the rest of the path of older ones is not recorded.
const KNOWN: usize = 4096;
/// Maximum number of dropped packets that are kept until they are taken.
const ENDS: usize = 1024;

/// Tag of a packet while it waits, from its number in traces (or its tag): 0 when no trace wants it.
#[inline]
pub(crate) const fn tag(trace: u32) -> u16 {
    trace as u16
}

/// Whether the trace field of a packet holds a tag instead of a number: numbers have a worker in their upper half.
pub(crate) const fn is_tag(trace: u32) -> bool {
    trace != 0 && trace >> u16::BITS == 0
}

/// A packet that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WaitingPacket {
    /// Number of the packet.
    pub id: u32,
    /// Parts of its path that the trace has already.
    pub part: u8,
    /// When it began to wait.
    pub since: Now,
}

/// Traced packets that wait, oldest first.
#[derive(Debug, Default)]
pub(crate) struct WaitingPackets(VecDeque<WaitingPacket>);

impl WaitingPackets {
    /// Adds a packet that begins to wait.
    pub fn push(&mut self, packet: WaitingPacket) {
        if self.0.len() >= KNOWN {
            self.0.pop_front();
        }
        self.0.push_back(packet);
    }

    /// Removes the packet with this tag, which no longer waits.
    pub fn take(&mut self, tag: u16) -> Option<WaitingPacket> {
        let at = self.0.iter().position(|packet| self::tag(packet.id) == tag)?;
        self.0.remove(at)
    }
}

/// Tags of traced packets that were dropped or answered while they waited, and the reason.
#[derive(Debug, Default)]
pub(crate) struct Ended(Vec<(u16, DropReason)>);

impl Ended {
    /// Notes a packet that was dropped or answered.
    #[inline]
    pub fn note(&mut self, tag: u16, reason: DropReason) {
        if tag != 0 {
            self.keep(tag, reason);
        }
    }

    #[cold]
    fn keep(&mut self, tag: u16, reason: DropReason) {
        // Without a trace nothing takes them.
        if self.0.len() >= ENDS {
            self.0.clear();
        }
        self.0.push((tag, reason));
    }

    /// Takes the noted packets.
    pub fn take(&mut self) -> Vec<(u16, DropReason)> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_found_by_their_tags_and_the_oldest_are_forgotten() {
        let packet = |serial: u32| WaitingPacket { id: 1 << 24 | serial, part: 0, since: Now(0) };
        let mut waiting = WaitingPackets::default();
        (1..=KNOWN as u32 + 1).for_each(|serial| waiting.push(packet(serial)));
        assert_eq!(waiting.take(tag(packet(1).id)), None);
        assert_eq!(waiting.take(tag(packet(3).id)), Some(packet(3)));
        assert_eq!(waiting.take(tag(packet(3).id)), None);
        assert_eq!(waiting.take(2), Some(packet(2)));
        assert!(is_tag(2) && !is_tag(packet(2).id) && !is_tag(0));
    }

    #[test]
    fn ends_that_nobody_takes_are_bounded() {
        let mut ended = Ended::default();
        ended.note(0, DropReason::QueueFull);
        assert_eq!(ended.take(), []);
        (0..=ENDS).for_each(|_| ended.note(7, DropReason::QueueFull));
        assert_eq!(ended.take(), [(7, DropReason::QueueFull)]);
    }
}
