//! Limited validity of cached actions. Only actions that depend on volume, time or DSCP have one, so it is stored
//! separately from the flow entries, and memory for it is reserved only while such rules exist.

use crate::time::Now;

/// The limits of the validity of a cached action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    /// The action is valid while the connection has carried fewer L3 bytes, both directions together.
    pub bytes: u64,
    /// The action is valid before this time.
    pub until: Now,
    /// The action is valid only for packets received with this DSCP.
    pub dscp: Option<u8>,
}

/// Mask of the bytes in the low bits of a word; the bits above are the DSCP plus one, 0 for none.
const BYTES: u64 = (1 << 56) - 1;

impl Validity {
    /// Whether the validity is limited by volume, time or DSCP.
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

/// The validities of a table's entries, by their index. They are stored as words, so that zeroed memory is backed only
/// as it is used.
#[derive(Debug, Default)]
pub struct Validities(Vec<[u64; 2]>);

impl Validities {
    /// Reserves memory for `entries` entries.
    pub fn reserve(&mut self, entries: usize) {
        if self.0.len() < entries {
            let old = std::mem::replace(&mut self.0, vec![[0; 2]; entries]);
            if let Some(kept) = self.0.get_mut(..old.len()) {
                kept.copy_from_slice(&old);
            }
        }
    }

    /// Frees the memory.
    pub fn free(&mut self) {
        self.0 = Vec::new();
    }

    /// The validity of an entry's cached action.
    pub fn get(&self, index: u32) -> Option<Validity> {
        let words = self.0.get(index as usize);
        words.copied().map(Validity::of_words)
    }

    /// Sets the validity of an entry's cached action. Returns `false` if there is no memory for it.
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
