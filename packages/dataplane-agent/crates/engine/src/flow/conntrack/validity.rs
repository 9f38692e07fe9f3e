//! Until when cached actions hold. Only actions that depend on volume, time or DSCP have a validity, so it is kept
//! beside the flow entries, and memory for it is reserved only while such rules exist.

use crate::time::Now;

/// Until when a cached action holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    /// While the connection has carried less, L3 bytes of both directions together.
    pub bytes: u64,
    /// Until this moment.
    pub until: Now,
    /// For packets that come with this DSCP alone.
    pub dscp: Option<u8>,
}

/// Bytes have the lower bits of their word, the DSCP plus one those above.
const BYTES: u64 = (1 << 56) - 1;

impl Validity {
    /// Whether it ends: by volume, by time or with another DSCP.
    pub fn is_limited(self) -> bool {
        self.bytes != u64::MAX || self.until != Now(u64::MAX) || self.dscp.is_some()
    }

    fn words(self) -> [u64; 2] {
        let dscp = self.dscp.map_or(0, |dscp| u64::from(dscp) + 1);
        [self.bytes.min(BYTES) | dscp << 56, self.until.0]
    }

    fn of_words([word, until]: [u64; 2]) -> Self {
        let bytes = Some(word & BYTES).filter(|bytes| *bytes != BYTES).unwrap_or(u64::MAX);
        let dscp = ((word >> 56) as u8).checked_sub(1);
        Self { bytes, until: Now(until), dscp }
    }
}

/// The validities of a table's entries, by their index. Words, so that memory is backed only as it is used.
#[derive(Debug, Default)]
pub struct Validities(Vec<[u64; 2]>);

impl Validities {
    /// Makes room for so many entries.
    pub fn reserve(&mut self, entries: usize) {
        if self.0.len() < entries {
            let old = std::mem::replace(&mut self.0, vec![[0; 2]; entries]);
            if let Some(kept) = self.0.get_mut(..old.len()) {
                kept.copy_from_slice(&old);
            }
        }
    }

    /// Gives the memory back.
    pub fn free(&mut self) {
        self.0 = Vec::new();
    }

    /// The validity of an entry's cached action.
    pub fn get(&self, index: u32) -> Option<Validity> {
        let words = self.0.get(index as usize);
        words.copied().map(Validity::of_words)
    }

    /// Sets it; `false` without room.
    pub fn set(&mut self, index: u32, validity: Validity) -> bool {
        let Some(place) = self.0.get_mut(index as usize) else { return false };
        *place = validity.words();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_validity_is_kept_as_it_is() {
        let mut validities = Validities::default();
        validities.reserve(2);
        for bytes in [0, 1 << 40, u64::MAX] {
            for dscp in [None, Some(0), Some(63)] {
                let validity = Validity { bytes, until: Now(7), dscp };
                assert!(validities.set(1, validity));
                assert_eq!(validities.get(1), Some(validity));
            }
        }
    }
}
