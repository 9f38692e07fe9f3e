//! Connections that packets of the current pass have opened, by the reverse of their original tuple.
//!
//! The reply tuple of an unconfirmed connection is not known until its source is bound, so replies do not find it. That
//! matters where both ends send at the same time: a simultaneous open of TCP (RFC 9293 §3.5), both directions of a
//! call, a stream that continues after a restart of the router. Both packets would open a connection, and each
//! connection would hold the tuple that the other needs for its replies.

use super::ConnectionTable;
use crate::ids::Direction;
use crate::packet::tuple::Tuple;

/// Number of bits of the filter. A full batch sets one in 16 of them.
const BITS: usize = 4096;

/// Bloom filter of the flows that have been opened in either direction in this pass; it may have false positives.
#[derive(Debug)]
pub(super) struct Opened {
    words: Box<[u64; BITS / 64]>,
    is_empty: bool,
}

impl Default for Opened {
    fn default() -> Self {
        Self { words: Box::new([0; BITS / 64]), is_empty: true }
    }
}

/// Word and bit of a flow. Both directions have the same.
#[inline]
fn place(tuple: &Tuple) -> (usize, u64) {
    let addresses = (tuple.src.0 ^ tuple.dst.0) as u32;
    let ports = u32::from(tuple.src_port ^ tuple.dst_port) << 16;
    let bit = ((addresses ^ ports).wrapping_mul(0x9e37_79b1) >> 20) as usize % BITS;
    (bit / 64, 1 << (bit % 64))
}

impl Opened {
    /// Notes a flow. Returns whether it may have been noted before.
    #[inline]
    fn insert(&mut self, tuple: &Tuple) -> bool {
        let (word, bit) = place(tuple);
        self.is_empty = false;
        self.words.get_mut(word).is_some_and(|word| std::mem::replace(word, *word | bit) & bit != 0)
    }

    #[inline]
    fn clear(&mut self) {
        if !self.is_empty {
            self.words.fill(0);
            self.is_empty = true;
        }
    }
}

impl ConnectionTable {
    /// Begins a pass, before its packets are tracked.
    #[inline]
    pub fn begin_pass(&mut self) {
        self.opened.clear();
    }

    /// Whether a packet of this pass in the opposite direction has opened a connection: then this packet may be its
    /// reply, and is tracked in a later pass, when the translation of the connection is decided. Otherwise notes that
    /// this packet opens a connection. To be called for each packet for which no connection is found.
    #[inline]
    pub fn is_opened_from_other_side(&mut self, tuple: &Tuple) -> bool {
        self.opened.insert(tuple) && self.has_unconfirmed(&tuple.reversed()) && self.find(tuple).is_none()
    }

    #[cold]
    #[inline(never)]
    fn has_unconfirmed(&self, original: &Tuple) -> bool {
        let index = self.find_entry(original, self.hash(original));
        index.is_some_and(|index| {
            let confirmed = self.connection_at(index).is_none_or(|hot| hot.status.confirmed());
            !confirmed && Self::direction_of(index) == Direction::Original
        })
    }
}
