//! The writer's side of the cells: the set of prefixes, and the update of the cells when a prefix changes.
//!
//! Prefixes are stored by level, as their cells: up to /16 in an array, up to /24 in a bucket for each /16, longer ones
//! in a bucket for each /24. Within a level a prefix is numbered as in a binary heap (1 is the whole block, 2 and 3 its
//! halves …), so a bucket is a short sorted list of 4-byte entries, shorter prefixes first.

use std::collections::BTreeMap;

use super::address::{Prefix, PrefixTable};
use super::cells::{BLOCK, Cells, DEEP_PARTS, DEEPER, ROOT};

/// Number of address bits that a level resolves.
const STRIDE: u32 = 8;

/// Prefixes of one block: the heap number in the upper half of an entry, the next-hop number in the lower half.
type Bucket = Vec<u32>;

/// The prefixes with their next-hop numbers, from 1 to 2¹⁵ − 1.
#[derive(Debug)]
pub struct RouteTable {
    /// Numbers of prefixes of up to 16 bits, by heap index; 0 is none.
    short: Box<[u16]>,
    /// For each /16 its index in `middle` plus one; 0 without one.
    index: Box<[u32]>,
    middle: Vec<Bucket>,
    /// Prefixes longer than 24 bits, by their upper 24 bits.
    deep: BTreeMap<u32, Bucket>,
    /// Number of deep blocks in use, by part of the address space.
    deep_blocks: Box<[u16]>,
    len: usize,
}

fn heap(prefix: u32, len: u32) -> u32 {
    let bits = prefix.checked_shr(32 - len).unwrap_or(0);
    1 << len | bits
}

fn search(bucket: &[u32], heap: u32) -> Result<usize, usize> {
    bucket.binary_search_by_key(&heap, |entry| entry >> 16)
}

fn value(bucket: &[u32], heap: u32) -> u16 {
    search(bucket, heap).ok().and_then(|at| bucket.get(at)).map_or(0, |entry| *entry as u16)
}

/// Sets an entry, or removes it if `number` is 0. Returns the former number.
fn put(bucket: &mut Bucket, heap: u32, number: u16) -> u16 {
    let entry = heap << 16 | u32::from(number);
    match search(bucket, heap) {
        Ok(at) if number == 0 => bucket.remove(at) as u16,
        Ok(at) => bucket.get_mut(at).map_or(0, |known| std::mem::replace(known, entry) as u16),
        Err(at) => {
            if number != 0 {
                if bucket.len() == bucket.capacity() {
                    // Grows slowly: most buckets stay small, and there may be 65,536.
                    bucket.reserve_exact((bucket.len() / 4).max(2));
                }
                bucket.insert(at, entry);
            }
            0
        }
    }
}

/// Cells of a block that an entry covers.
fn covered(heap: u32) -> std::ops::Range<usize> {
    let depth = heap.checked_ilog2().unwrap_or(0).min(STRIDE);
    let first = ((heap - (1 << depth)) as usize) << (STRIDE - depth);
    first..first + (BLOCK >> depth)
}

/// The cells of a block: the numbers of its own prefixes, elsewhere `base`, the number of the enclosing prefix.
fn paint(bucket: &[u32], base: u16) -> [u16; BLOCK] {
    let mut cells = [base; BLOCK];
    for entry in bucket {
        if let Some(cells) = cells.get_mut(covered(entry >> 16)) {
            cells.fill(*entry as u16);
        }
    }
    cells
}

/// The longest prefix of a bucket that covers a cell, from the entry `heap` on upwards.
fn longest(bucket: &[u32], mut heap: u32, base: u16) -> u16 {
    while heap > 1 {
        let number = value(bucket, heap);
        if number != 0 {
            return number;
        }
        heap >>= 1;
    }
    base
}

impl PrefixTable<u32> for RouteTable {
    fn new() -> Self {
        Self {
            short: bytemuck::zeroed_slice_box(2 * ROOT),
            index: bytemuck::zeroed_slice_box(ROOT),
            middle: Vec::new(),
            deep: BTreeMap::new(),
            deep_blocks: vec![0; DEEP_PARTS].into(),
            len: 0,
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, (network, len): Prefix) -> u16 {
        let len = u32::from(len);
        match len {
            0..=16 => self.short.get(heap(network, len) as usize).copied().unwrap_or(0),
            17..=24 => value(self.middle_bucket(network >> 16), heap(network << 16, len - 16)),
            _ => self.deep.get(&(network >> 8)).map_or(0, |b| value(b, heap(network << 24, len - 24))),
        }
    }

    /// Cells that are covered by no prefix, or only by /0, hold 0.
    fn set(&mut self, cells: &Cells, (network, len): Prefix, number: u16) -> u16 {
        let len = u32::from(len.min(32));
        let before = match len {
            0..=16 => self.set_short(cells, heap(network, len), number),
            17..=24 => self.set_middle(cells, network, heap(network << 16, len - 16), number),
            _ => self.set_deep(cells, network, heap(network << 24, len - 24), number),
        };
        self.len =
            self.len + usize::from(before == 0 && number != 0) - usize::from(before != 0 && number == 0);
        before
    }

    fn iter(&self) -> impl Iterator<Item = (Prefix, u16)> {
        let unfold = |first: u32, above: u32, entry: u32| {
            let (heap, number) = (entry >> 16, entry as u16);
            let depth = heap.checked_ilog2().unwrap_or(0);
            let bits = (heap - (1 << depth)).checked_shl(32 - above - depth).unwrap_or(0);
            ((first | bits, (above + depth) as u8), number)
        };
        let short = (1_u32..).zip(self.short.iter().skip(1)).filter(|(_, number)| **number != 0);
        let short = short.map(|(heap, number)| {
            let depth = heap.ilog2();
            (((heap - (1 << depth)).checked_shl(32 - depth).unwrap_or(0), depth as u8), *number)
        });
        let middle = (0_u32..).zip(self.index.iter()).filter(|(_, place)| **place != 0);
        let middle = middle.flat_map(move |(high, _)| {
            self.middle_bucket(high).iter().map(move |entry| unfold(high << 16, 16, *entry))
        });
        let deep = self
            .deep
            .iter()
            .flat_map(move |(key, bucket)| bucket.iter().map(move |entry| unfold(key << 8, 24, *entry)));
        short.chain(middle).chain(deep)
    }

    fn has_room(&self) -> bool {
        true
    }

    fn unused_blocks(&self) -> usize {
        self.deep_blocks().1
    }
}

impl RouteTable {
    fn middle_bucket(&self, network: u32) -> &[u32] {
        let place = self.index.get(network as usize).copied().unwrap_or(0) as usize;
        place.checked_sub(1).and_then(|place| self.middle.get(place)).map_or(&[], Vec::as_slice)
    }

    fn set_short(&mut self, cells: &Cells, heap: u32, number: u16) -> u16 {
        let Some(slot) = self.short.get_mut(heap as usize) else { return 0 };
        let before = std::mem::replace(slot, number);
        if heap > 1 && before != number {
            let number = self.above(heap);
            self.paint_short(cells, heap, number);
        }
        before
    }

    /// The number of the longest prefix of up to 16 bits that contains this one, itself included; 0 without one.
    fn above(&self, mut heap: u32) -> u16 {
        while heap > 1 {
            match self.short.get(heap as usize) {
                Some(0) | None => heap >>= 1,
                Some(number) => return *number,
            }
        }
        0
    }

    /// Writes the cells below a prefix that are not covered by a longer one.
    fn paint_short(&mut self, cells: &Cells, heap: u32, number: u16) {
        if heap as usize >= ROOT {
            let network = heap as u16;
            if cells.root_cell(network) & DEEPER == 0 {
                cells.set_root(network, number);
            } else {
                let first = u32::from(network) << 16;
                let painted = paint(self.middle_bucket(u32::from(network)), number);
                self.write_middle(cells, first, 0..BLOCK, &painted);
            }
            return;
        }
        for half in [2 * heap, 2 * heap + 1] {
            if self.short.get(half as usize) == Some(&0) {
                self.paint_short(cells, half, number);
            }
        }
    }

    fn set_middle(&mut self, cells: &Cells, network: u32, heap: u32, number: u16) -> u16 {
        let high = network >> 16;
        let base = self.above(ROOT as u32 | high);
        let Some(place) = self.index.get_mut(high as usize) else { return 0 };
        if *place == 0 {
            if number == 0 {
                return 0;
            }
            self.middle.push(Bucket::new());
            *place = self.middle.len() as u32;
        }
        let Some(bucket) = self.middle.get_mut(*place as usize - 1) else { return 0 };
        let before = put(bucket, heap, number);
        if before == number {
            return before;
        }
        if cells.root_cell(high as u16) & DEEPER == 0 {
            for third in 0..BLOCK as u32 {
                cells.set_middle(high << 16 | third << 8, base);
            }
            cells.set_root(high as u16, DEEPER);
        }
        let range = covered(heap);
        if heap as usize >= BLOCK && number != 0 {
            let mut painted = [0; BLOCK];
            if let Some(cell) = painted.get_mut(range.start) {
                *cell = number;
            }
            self.write_middle(cells, high << 16, range, &painted);
        } else {
            let painted = paint(bucket, base);
            self.write_middle(cells, high << 16, range, &painted);
        }
        before
    }

    /// Writes some cells of a /16, and the cells below those that lead to a deep block.
    fn write_middle(&self, cells: &Cells, first: u32, range: std::ops::Range<usize>, painted: &[u16; BLOCK]) {
        for (third, number) in painted.iter().enumerate().take(range.end).skip(range.start) {
            let address = first | (third as u32) << 8;
            let cell = cells.middle_cell(address);
            if cell & DEEPER != 0 {
                let bucket = self.deep.get(&(address >> 8)).map_or(&[][..], Vec::as_slice);
                write_deep(cells, address, cell & !DEEPER, 0..BLOCK, &paint(bucket, *number));
            } else if cell != *number {
                cells.set_middle(address, *number);
            }
        }
    }

    fn set_deep(&mut self, cells: &Cells, network: u32, heap: u32, number: u16) -> u16 {
        let (high, key) = (network >> 16, network >> 8);
        if number == 0 && !self.deep.contains_key(&key) {
            return 0;
        }
        let bucket = self.deep.entry(key).or_default();
        let before = put(bucket, heap, number);
        if bucket.is_empty() {
            self.deep.remove(&key);
        }
        if before == number {
            return before;
        }
        let above = self.above(ROOT as u32 | high);
        let base = longest(self.middle_bucket(high), BLOCK as u32 | key & 0xff, above);
        if cells.root_cell(high as u16) & DEEPER == 0 {
            for third in 0..BLOCK as u32 {
                cells.set_middle(high << 16 | third << 8, above);
            }
            cells.set_root(high as u16, DEEPER);
        }
        let painted = paint(self.deep.get(&key).map_or(&[][..], Vec::as_slice), base);
        let cell = cells.middle_cell(network);
        if cell & DEEPER != 0 {
            write_deep(cells, network & !0xff, cell & !DEEPER, covered(heap), &painted);
            return before;
        }
        let Some(used) = self.deep_blocks.get_mut((network >> 23) as usize) else { return before };
        let block = *used;
        *used += 1;
        cells.make_deep(network, block);
        write_deep(cells, network & !0xff, block, 0..BLOCK, &painted);
        cells.set_middle(network, DEEPER | block);
        before
    }

    /// Deep blocks in use, and how many of them have no prefix any more.
    pub fn deep_blocks(&self) -> (usize, usize) {
        let used: usize = self.deep_blocks.iter().map(|used| usize::from(*used)).sum();
        (used, used.saturating_sub(self.deep.len()))
    }
}

fn write_deep(cells: &Cells, first: u32, block: u16, range: std::ops::Range<usize>, painted: &[u16; BLOCK]) {
    for (low, number) in painted.iter().enumerate().take(range.end).skip(range.start) {
        cells.set_deep(first | low as u32, block, *number);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ip::fib::address::LookupCells;

    /// The rule itself: the longest prefix that holds the address.
    fn reference(routes: &BTreeMap<Prefix, u16>, address: u32) -> u16 {
        let holds = |&(&(network, len), _): &(&Prefix, &u16)| {
            len != 0 && (network ^ address).checked_shr(32 - u32::from(len)).unwrap_or(0) == 0
        };
        routes.iter().filter(holds).max_by_key(|((_, len), _)| *len).map_or(0, |(_, number)| *number)
    }

    fn network(bits: u32, len: u8) -> u32 {
        bits & u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0)
    }

    #[derive(Debug, Clone, Copy)]
    struct Step {
        bits: u32,
        len: u8,
        number: u16,
    }

    fn step() -> impl Strategy<Value = Step> {
        // Most prefixes crowd together so that they nest, replace and uncover each other.
        let bits = prop_oneof![
            1 => any::<u32>(),
            4 => (0_u32..0x400).prop_map(|low| 0x0a01_0000 | low),
            4 => (0_u32..0x10).prop_map(|low| 0x0a01_0000 | low << 12),
            2 => (0_u32..8).prop_map(|high| high << 21 | 0x0a00_0000),
        ];
        let len = prop_oneof![3 => 0_u8..=32, 1 => Just(24_u8), 1 => Just(32_u8), 1 => 14_u8..=18];
        (bits, len, prop_oneof![2 => Just(0_u16), 3 => 1_u16..=5, 1 => Just(DEEPER - 1)])
            .prop_map(|(bits, len, number)| Step { bits, len, number })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(64)))]
        #[test]
        fn any_updates_leave_what_a_linear_scan_finds(
            steps in proptest::collection::vec(step(), 1..120),
            probes in proptest::collection::vec(any::<u32>(), 20),
        ) {
            let (cells, mut table) = (Cells::new(), RouteTable::new());
            let mut routes = BTreeMap::new();
            for (at, step) in steps.iter().enumerate() {
                let prefix = (network(step.bits, step.len), step.len);
                let before = table.set(&cells, prefix, step.number);
                let known = match step.number {
                    0 => routes.remove(&prefix),
                    number => routes.insert(prefix, number),
                };
                prop_assert_eq!(before, known.unwrap_or(0));
                prop_assert_eq!(table.get(prefix), step.number);
                prop_assert_eq!(table.len(), routes.len());
                // The neighbourhood of the change after each step, everything at the end.
                let near = [prefix.0, prefix.0 | !network(u32::MAX, step.len), prefix.0.wrapping_sub(1)];
                for address in near.into_iter().chain([step.bits]) {
                    prop_assert_eq!(cells.number(address), reference(&routes, address), "after step {}", at);
                }
            }
            let edges = routes.keys().flat_map(|&(network_, len)| {
                let last = network_ | !network(u32::MAX, len);
                [network_, last, network_.wrapping_sub(1), last.wrapping_add(1)]
            });
            for address in edges.chain(probes).chain((0..0x400).map(|low| 0x0a01_0000 | low)) {
                prop_assert_eq!(cells.number(address), reference(&routes, address));
            }
            prop_assert_eq!(table.iter().collect::<BTreeMap<_, _>>(), routes);
        }
    }

    /// A reader never sees anything but an answer that its address had at some time, whatever is added,
    /// replaced and removed around it meanwhile.
    #[test]
    fn a_reader_beside_the_writer_sees_old_or_new() {
        let (cells, mut table) = (Cells::new(), RouteTable::new());
        let address = 0x0a01_02c8;
        table.set(&cells, (0x0a00_0000, 8), 1);
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut seen = [0_u64; 6];
                while !stop.load(Ordering::Relaxed) {
                    let number = cells.number(address);
                    seen[usize::from(number)] += 1;
                }
                seen
            });
            for round in 0..20_000_u32 {
                // Neighbours with number 5 come and go in every level; the address itself never leads there.
                table.set(&cells, (0x0a01_0200, 25), 5);
                table.set(&cells, (0x0a01_0200, 24), 2 + (round % 2) as u16);
                table.set(&cells, (0x0a01_0000, 17), if round % 3 == 0 { 0 } else { 4 });
                table.set(&cells, (0x0a01_0200, 25), 0);
                table.set(&cells, (0x0a01_0200, 24), 0);
                table.set(&cells, (0x0a01_0000, 17), 0);
            }
            stop.store(true, Ordering::Relaxed);
            let seen = reader.join().unwrap();
            assert_eq!(seen[5], 0, "an answer of another address: {seen:?}");
            assert_eq!(seen[0], 0, "no answer while there was always one: {seen:?}");
        });
        assert_eq!(cells.number(address), 1);
    }

    use std::sync::atomic::Ordering;

    #[test]
    fn blocks_are_counted_and_stay() {
        let (cells, mut table) = (Cells::new(), RouteTable::new());
        for third in 0..100 {
            table.set(&cells, (0x0a01_0000 | third << 8, 32), 1);
        }
        assert_eq!(table.deep_blocks(), (100, 0));
        for third in 0..50 {
            table.set(&cells, (0x0a01_0000 | third << 8, 32), 0);
        }
        assert_eq!(table.deep_blocks(), (100, 50));
        table.set(&cells, (0x0a01_0000, 32), 1);
        assert_eq!((table.deep_blocks(), table.len()), ((100, 49), 51));
    }
}
