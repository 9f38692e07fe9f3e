//! Longest prefix match for IPv4: a trie of strides 16, 8 and 8.
//!
//! A lookup reads one to three cells. A cell holds a value or the number of a block of 256 cells below it. Few prefixes
//! touch few cache lines of the root. The 256 KiB of the root are the only fixed cost.

const BLOCK: usize = 256;
/// Set in a cell that points to a block.
const INNER: u32 = 1 << 31;

/// A map from IPv4 prefixes to values below 2³¹. Built once, shortest prefixes first.
#[derive(Debug, Clone)]
pub struct Trie {
    root: Vec<u32>,
    /// Blocks of [`BLOCK`] cells, one after the other.
    blocks: Vec<u32>,
}

impl Trie {
    /// Every address maps to `default`.
    pub fn new(default: u32) -> Self {
        Self { root: vec![default & !INNER; 1 << 16], blocks: Vec::new() }
    }

    /// Maps the addresses of a prefix to a value, in place of values of shorter prefixes. To be called in order of
    /// ascending length.
    pub fn insert(&mut self, prefix: u32, len: u8, value: u32) {
        let len = u32::from(len.min(32));
        let value = value & !INNER;
        let high = (prefix >> 16) as usize;
        if len <= 16 {
            fill(&mut self.root, high, 16 - len, value);
            return;
        }
        let Some(cell) = self.root.get(high).copied() else { return };
        let block = self.block_below(cell);
        if let Some(cell) = self.root.get_mut(high) {
            *cell = INNER | block;
        }
        let middle = (prefix >> 8 & 0xff) as usize;
        let at = block as usize * BLOCK;
        if len <= 24 {
            fill(self.blocks.get_mut(at..at + BLOCK).unwrap_or_default(), middle, 24 - len, value);
            return;
        }
        let Some(cell) = self.blocks.get(at + middle).copied() else { return };
        let block = self.block_below(cell);
        if let Some(cell) = self.blocks.get_mut(at + middle) {
            *cell = INNER | block;
        }
        let at = block as usize * BLOCK;
        let low = (prefix & 0xff) as usize;
        fill(self.blocks.get_mut(at..at + BLOCK).unwrap_or_default(), low, 32 - len, value);
    }

    /// The block that a cell points to; a new one holding the cell's value if it points to none.
    fn block_below(&mut self, cell: u32) -> u32 {
        if cell & INNER != 0 {
            return cell & !INNER;
        }
        let block = (self.blocks.len() / BLOCK) as u32;
        self.blocks.extend([cell; BLOCK]);
        block
    }

    /// The value of the longest prefix that holds an address.
    #[inline]
    pub fn lookup(&self, address: u32) -> u32 {
        let cell = |cells: &[u32], at: usize| cells.get(at).copied().unwrap_or(0);
        let mut value = cell(&self.root, (address >> 16) as usize);
        if value & INNER != 0 {
            value = cell(&self.blocks, (value & !INNER) as usize * BLOCK + (address >> 8 & 0xff) as usize);
            if value & INNER != 0 {
                value = cell(&self.blocks, (value & !INNER) as usize * BLOCK + (address & 0xff) as usize);
            }
        }
        value
    }
}

/// Sets all cells whose index differs from `at` only in the low `free` bits.
fn fill(cells: &mut [u32], at: usize, free: u32, value: u32) {
    let from = at >> free << free;
    if let Some(cells) = cells.get_mut(from..from + (1 << free)) {
        cells.fill(value);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(32)))]
        #[test]
        fn agrees_with_a_linear_scan(
            routes in proptest::collection::vec((any::<u32>(), 0u8..=32, any::<bool>()), 0..60),
            probes in proptest::collection::vec(any::<u32>(), 40),
        ) {
            // Half of the prefixes crowd together so that they nest.
            let mut routes: Vec<_> = routes
                .iter()
                .enumerate()
                .map(|(value, (bits, len, crowd))| {
                    let bits = if *crowd { 0x0a01_0000 | bits & 0x3ff } else { *bits };
                    let mask = u32::MAX.checked_shl(32 - u32::from(*len)).unwrap_or(0);
                    (bits & mask, mask, *len, value as u32 + 1)
                })
                .collect();
            routes.sort_by_key(|route| route.2);
            let mut trie = Trie::new(0);
            for (prefix, _, len, value) in &routes {
                trie.insert(*prefix, *len, *value);
            }
            let near = routes.iter().flat_map(|route| [route.0, route.0 | !route.1, route.0.wrapping_sub(1)]);
            for address in probes.into_iter().chain(near) {
                // Of equal prefixes the last one counts.
                let expected = routes
                    .iter()
                    .filter(|(prefix, mask, ..)| address & mask == *prefix)
                    .max_by_key(|route| route.2)
                    .map_or(0, |route| route.3);
                prop_assert_eq!(trie.lookup(address), expected);
            }
        }
    }
}
