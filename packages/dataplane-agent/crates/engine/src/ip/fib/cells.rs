//! The lookup structure: longest prefix match for IPv4 in one to three loads, without a lock.
//!
//! A cell of 16 bits holds the number of a next hop, or refers to the next deeper level. The levels:
//!
//! | level | cells | a cell stands for | memory |
//! |---|---|---|---|
//! | root | 65,536 | a /16 | 128 KiB |
//! | middle | 16,777,216, each /16's at a fixed place | a /24 | 32 MiB of address space; a /16 takes 512 B of it once it has a longer prefix |
//! | deep | blocks of 256 | an address | 512 B for each /24 that has a longer prefix |
//!
//! With few routes, lookups touch a few cache lines of the root. With a full Internet table, a lookup reads one line of
//! the root, which stays in the second-level cache, and one of the middle level. All memory is allocated zeroed, so
//! that pages that are never written are not backed by memory. A block that was used once stays assigned: a reader
//! between two loads only sees results for its own address.
//!
//! There is one writer. It stores a block's cells before the cell that points to the block, with release
//! order, and lookups load with acquire order.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

use super::address::LookupCells;

/// Set in a cell whose result is one level deeper.
pub const DEEPER: u16 = 1 << 15;
/// Cells of a block.
pub const BLOCK: usize = 256;
/// /16 networks.
pub const ROOT: usize = 1 << 16;
/// /24 networks.
const MIDDLE: usize = 1 << 24;
/// Number of parts of the address space in which deep blocks are numbered: a part has as many /24 networks as 15 bits
/// can number.
pub const DEEP_PARTS: usize = MIDDLE >> 15;
/// Number of blocks of a part's first chunk; each further chunk doubles the total.
const FIRST_CHUNK: usize = 64;
/// 64 × 2⁹ = 2¹⁵.
const CHUNKS: usize = 10;

type Chunk = OnceLock<Box<[AtomicU16]>>;

/// The cells of a table. At first every address has number 0.
pub struct Cells {
    root: Box<[AtomicU16; ROOT]>,
    middle: Box<[AtomicU16; MIDDLE]>,
    deep: Box<[OnceLock<Box<[Chunk; CHUNKS]>>]>,
}

impl std::fmt::Debug for Cells {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Cells").finish_non_exhaustive()
    }
}

/// Chunk of a block, and index of the block in the chunk.
fn chunk_of(block: u16) -> (usize, usize) {
    let block = usize::from(block);
    if block < FIRST_CHUNK {
        return (0, block);
    }
    let bits = block.ilog2();
    ((bits - FIRST_CHUNK.ilog2() + 1) as usize, block - (1 << bits))
}

fn part_of(address: u32) -> usize {
    (address >> 23) as usize
}

impl LookupCells<u32> for Cells {
    fn new() -> Self {
        Self {
            root: bytemuck::zeroed_box(),
            middle: bytemuck::zeroed_box(),
            deep: (0..DEEP_PARTS).map(|_| OnceLock::new()).collect(),
        }
    }

    #[inline]
    fn number(&self, address: u32) -> u16 {
        let mut cell = self.root[(address >> 16) as usize].load(Ordering::Acquire);
        if cell & DEEPER != 0 {
            cell = self.middle[(address >> 8) as usize].load(Ordering::Acquire);
            if cell & DEEPER != 0 {
                cell = self.deep(address, cell & !DEEPER).map_or(0, |cell| cell.load(Ordering::Acquire));
            }
        }
        cell
    }
}

impl Cells {
    /// Reads what [`Self::number`] most likely has a cache miss for, as a prefetch. The value has no meaning.
    #[inline]
    pub fn touch(&self, address: u32) -> u16 {
        let cell = self.root[(address >> 16) as usize].load(Ordering::Relaxed);
        if cell & DEEPER == 0 {
            return cell;
        }
        self.middle[(address >> 8) as usize].load(Ordering::Relaxed)
    }

    fn deep(&self, address: u32, block: u16) -> Option<&AtomicU16> {
        let (chunk, place) = chunk_of(block);
        let chunk = self.deep.get(part_of(address))?.get()?.get(chunk)?.get()?;
        chunk.get(place * BLOCK + (address & 0xff) as usize)
    }

    /// The cell of a /16. Only for the writer.
    pub fn root_cell(&self, network: u16) -> u16 {
        self.root[usize::from(network)].load(Ordering::Relaxed)
    }

    /// Sets the cell of a /16 network.
    pub fn set_root(&self, network: u16, cell: u16) {
        self.root[usize::from(network)].store(cell, Ordering::Release);
    }

    /// The cell of the /24 that contains an address.
    pub fn middle_cell(&self, address: u32) -> u16 {
        self.middle[(address >> 8) as usize].load(Ordering::Relaxed)
    }

    /// Sets the cell of the /24 network of an address.
    pub fn set_middle(&self, address: u32, cell: u16) {
        self.middle[(address >> 8) as usize].store(cell, Ordering::Release);
    }

    /// Sets the cell of an address in its deep block, unless it has that value.
    pub fn set_deep(&self, address: u32, block: u16, number: u16) {
        if let Some(cell) = self.deep(address, block)
            && cell.load(Ordering::Relaxed) != number
        {
            cell.store(number, Ordering::Release);
        }
    }

    /// Allocates memory for a deep block in the part of the address space that contains an address.
    pub fn make_deep(&self, address: u32, block: u16) {
        let (chunk, _) = chunk_of(block);
        let part = self.deep.get(part_of(address));
        let part = part.map(|part| part.get_or_init(|| Box::new([const { OnceLock::new() }; CHUNKS])));
        if let Some(chunk_cell) = part.and_then(|part| part.get(chunk)) {
            let blocks = if chunk == 0 { FIRST_CHUNK } else { FIRST_CHUNK << (chunk - 1) };
            chunk_cell.get_or_init(|| bytemuck::zeroed_slice_box(blocks * BLOCK));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_a_place_of_its_own() {
        let mut expected = (0, 0);
        for block in 0..DEEPER {
            let place = chunk_of(block);
            let size = if place.0 == 0 { FIRST_CHUNK } else { FIRST_CHUNK << (place.0 - 1) };
            assert_eq!(place, expected, "block {block}");
            expected = if place.1 + 1 == size { (place.0 + 1, 0) } else { (place.0, place.1 + 1) };
        }
        assert_eq!(expected, (CHUNKS, 0));
    }
}
