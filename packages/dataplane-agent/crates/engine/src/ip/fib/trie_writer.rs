//! The writer's side of the trie: the set of prefixes, and the nodes that are written anew when a prefix changes.

use super::address::{Prefix, PrefixTable, mask};
use super::prefix_set::PrefixSet;
use super::trie::{BRANCH, CHILD, MOST, Node, ROOT_DEPTH, Ref, Slot, Trie, WORDS, list_end, list_head};

/// Largest node, words.
const LARGEST: usize = list_head(MOST) + MOST;
/// Words that a change of one prefix may need.
const RESERVE: usize = WORDS / 16;

/// A value of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Number(u16),
    /// The prefixes (by their places) below a single key, and the number of the block around them.
    Deeper(std::ops::Range<usize>, u16),
}

/// The writer's state.
#[derive(Debug)]
pub struct TrieWriter {
    prefixes: PrefixSet,
    /// First word that has never been used.
    fresh: usize,
    /// Free nodes by half their size in words.
    free: Vec<Vec<u32>>,
    /// Nodes that readers may still read, with their sizes.
    unlinked: Vec<(u32, u32)>,
    /// Words in use.
    used: usize,
}

impl PrefixTable<u128> for TrieWriter {
    fn new() -> Self {
        Self {
            prefixes: PrefixSet::new(),
            fresh: 0,
            free: vec![Vec::new(); LARGEST / 2 + 1],
            unlinked: Vec::new(),
            used: 0,
        }
    }

    fn len(&self) -> usize {
        self.prefixes.len()
    }

    fn get(&self, prefix: Prefix<u128>) -> u16 {
        self.prefixes.get(prefix)
    }

    fn set(&mut self, cells: &Trie, prefix: Prefix<u128>, number: u16) -> u16 {
        let before = self.prefixes.set(prefix, number);
        let (network, len) = prefix;
        if before == number || len == 0 {
            return before;
        }
        if len <= ROOT_DEPTH {
            let last = (network | !mask(len)) >> 112;
            for block in (network >> 112)..=last {
                self.rebuild(cells, Slot::Root(block as u16), block << 112, ROOT_DEPTH);
            }
        } else {
            self.change_below(cells, network, len);
        }
        if !self.unlinked.is_empty() {
            cells.retire();
            while let Some((at, size)) = self.unlinked.pop() {
                if let Some(free) = self.free.get_mut(size as usize / 2) {
                    free.push(at);
                }
            }
        }
        before
    }

    fn has_room(&self) -> bool {
        self.fresh + RESERVE < WORDS
    }

    fn iter(&self) -> impl Iterator<Item = (Prefix<u128>, u16)> {
        self.prefixes.iter()
    }

    fn unused_blocks(&self) -> usize {
        0
    }
}

impl TrieWriter {
    /// Bytes of the nodes in use.
    pub fn node_bytes(&self) -> usize {
        4 * self.used
    }

    /// Writes the nodes anew that a prefix of more than [`ROOT_DEPTH`] bits concerns: the smallest block with a
    /// reference of its own that holds the prefix.
    fn change_below(&mut self, cells: &Trie, network: u128, len: u8) {
        let (mut slot, mut depth) = (Slot::Root((network >> 112) as u16), ROOT_DEPTH);
        loop {
            match cells.load(slot).node() {
                Node::Branch(branch) => {
                    let end = depth + 8;
                    let byte = (network >> (128 - end)) as u8;
                    if len <= end {
                        let count = 1_usize << (end - len);
                        for byte in usize::from(byte)..usize::from(byte) + count {
                            let block = network & mask(depth) | (byte as u128) << (128 - end);
                            self.rebuild(cells, Slot::Word(branch + byte), block, end);
                        }
                        return;
                    }
                    (slot, depth) = (Slot::Word(branch + usize::from(byte)), end);
                }
                Node::List(list) => {
                    let end = list_end(depth);
                    let key = (network >> (128 - end)) as u16 & (u16::MAX >> (16 - (end - depth)));
                    let (_, value) = cells.find(list, key);
                    if len <= end || value & CHILD == 0 {
                        return self.rebuild(cells, slot, network & mask(depth), depth);
                    }
                    let (runs, _) = cells.sizes(list);
                    slot = Slot::Word(list + list_head(runs) + usize::from(value & !CHILD));
                    depth = end;
                }
                Node::Number(_) => return self.rebuild(cells, slot, network & mask(depth), depth),
            }
        }
    }

    /// Writes the node of a block of `depth` bits anew.
    fn rebuild(&mut self, cells: &Trie, slot: Slot, block: u128, depth: u8) {
        let prefixes = self.prefixes.in_block(block, depth);
        let base = self.prefixes.longest(block, depth);
        let new = self.build(cells, depth, base, &prefixes);
        let old = cells.load(slot);
        if new != old {
            cells.publish(slot, new);
            self.unlink(cells, old);
        }
    }

    /// Builds the node of a block of `depth` bits. `prefixes` are longer, in the block, and sorted; `base` is the number
    /// of the addresses that none of them holds.
    fn build(&mut self, cells: &Trie, depth: u8, base: u16, prefixes: &[(Prefix<u128>, u16)]) -> Ref {
        if prefixes.is_empty() || depth >= 128 {
            return Ref::number(base);
        }
        let end = list_end(depth);
        let runs = runs(depth, end, base, prefixes);
        if runs.len() > MOST {
            return self.build_branch(cells, depth, base, prefixes);
        }
        if let [(_, Value::Number(number))] = runs.as_slice() {
            return Ref::number(*number);
        }
        let children = runs.iter().filter(|(_, value)| matches!(value, Value::Deeper(..))).count();
        let (head, half) = (list_head(runs.len()), runs.len().div_ceil(2));
        let Some(list) = self.allocate(head + children) else { return Ref::number(base) };
        cells.write(list, runs.len() as u32 | (children as u32) << 16);
        let mut child = 0;
        for (pair, two) in runs.chunks(2).enumerate() {
            let (mut keys, mut values) = (0, 0);
            for (shift, (key, value)) in [0, 16].into_iter().zip(two) {
                let value = match value {
                    Value::Number(number) => *number,
                    Value::Deeper(range, base) => {
                        let below = prefixes.get(range.clone()).unwrap_or_default();
                        let reference = self.build(cells, end, *base, below);
                        cells.write(list + head + child, reference.0);
                        child += 1;
                        CHILD | (child - 1) as u16
                    }
                };
                keys |= u32::from(*key) << shift;
                values |= u32::from(value) << shift;
            }
            cells.write(list + 1 + pair, keys);
            cells.write(list + 1 + half + pair, values);
        }
        Ref::list(list, head + children)
    }

    fn build_branch(&mut self, cells: &Trie, depth: u8, base: u16, prefixes: &[(Prefix<u128>, u16)]) -> Ref {
        let Some(branch) = self.allocate(BRANCH) else { return Ref::number(base) };
        let end = depth + 8;
        let byte = |network: u128| usize::from((network >> (128 - end)) as u8);
        // Sorted prefixes come after those that hold them, and overwrite them.
        let mut bases = [base; BRANCH];
        for ((network, len), number) in prefixes.iter().filter(|((_, len), _)| *len <= end) {
            let first = byte(*network);
            if let Some(covered) = bases.get_mut(first..first + (1 << (end - len))) {
                covered.fill(*number);
            }
        }
        let mut rest = prefixes;
        for (place, base) in bases.into_iter().enumerate() {
            let here = rest.partition_point(|((network, _), _)| byte(*network) <= place);
            let (inside, others) = rest.split_at(here);
            rest = others;
            let shorter = inside.partition_point(|((_, len), _)| *len <= end);
            // Only prefixes that begin the block are as short, and they come first.
            let below = inside.get(shorter..).unwrap_or_default();
            let reference = self.build(cells, end, base, below);
            cells.write(branch + place, reference.0);
        }
        Ref::branch(branch)
    }

    /// Words for a node; `None` when there are none left.
    fn allocate(&mut self, size: usize) -> Option<usize> {
        let size = size.next_multiple_of(2);
        self.used += size;
        if let Some(at) = self.free.get_mut(size / 2).and_then(Vec::pop) {
            return Some(at as usize);
        }
        let at = self.fresh;
        if at + size > WORDS {
            self.used -= size;
            return None;
        }
        self.fresh += size;
        Some(at)
    }

    /// Frees a node and those below it as soon as no reader can read them.
    fn unlink(&mut self, cells: &Trie, reference: Ref) {
        let (at, children, size) = match reference.node() {
            Node::Number(_) => return,
            Node::Branch(branch) => (branch, branch..branch + BRANCH, BRANCH),
            Node::List(list) => {
                let (runs, children) = cells.sizes(list);
                let from = list + list_head(runs);
                (list, from..from + children, list_head(runs) + children)
            }
        };
        for child in children {
            self.unlink(cells, cells.load(Slot::Word(child)));
        }
        let size = size.next_multiple_of(2);
        self.used -= size;
        self.unlinked.push((at as u32, size as u32));
    }
}

/// The runs of a list: first key and value of each, ascending.
fn runs(depth: u8, end: u8, base: u16, prefixes: &[(Prefix<u128>, u16)]) -> Vec<(u16, Value)> {
    let span = 1_u32 << (end - depth);
    let key_of = |network: u128| (network >> (128 - end)) as u32 & (span - 1);
    let mut runs: Vec<(u16, Value)> = vec![(0, Value::Number(base))];
    let mut push = |key: u32, value: Value| match runs.last_mut() {
        Some(last) if u32::from(last.0) == key => last.1 = value,
        Some(last) if last.1 == value || key >= span => {}
        _ => runs.push((key as u16, value)),
    };
    // Prefixes that hold the present key: end and number of each.
    let mut open = vec![(span, base)];
    let around = |open: &[(u32, u16)]| open.last().map_or(base, |(_, number)| *number);
    let mut at = 0;
    while let Some(((network, len), number)) = prefixes.get(at) {
        let key = key_of(*network);
        while let Some((over, _)) = open.pop_if(|(over, _)| *over <= key) {
            push(over, Value::Number(around(&open)));
        }
        if *len <= end {
            push(key, Value::Number(*number));
            open.push((key + (1 << (end - len)), *number));
            at += 1;
        } else {
            let below = prefixes.get(at..).unwrap_or_default();
            let count = below.partition_point(|((network, _), _)| key_of(*network) <= key);
            push(key, Value::Deeper(at..at + count, around(&open)));
            push(key + 1, Value::Number(around(&open)));
            at += count;
        }
    }
    while let Some((over, _)) = open.pop_if(|(over, _)| *over < span) {
        push(over, Value::Number(around(&open)));
    }
    runs
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicBool, Ordering};

    use proptest::prelude::*;

    use super::*;
    use crate::ip::fib::address::LookupCells;
    use crate::ip::fib::trie::TOGETHER;

    /// The rule itself: the longest prefix that holds the address.
    fn reference(routes: &BTreeMap<Prefix<u128>, u16>, address: u128) -> u16 {
        let holds =
            |&(&(network, len), _): &(&Prefix<u128>, &u16)| len != 0 && (network ^ address) & mask(len) == 0;
        routes.iter().filter(holds).max_by_key(|((_, len), _)| *len).map_or(0, |(_, number)| *number)
    }

    #[derive(Debug, Clone, Copy)]
    struct Step {
        bits: u128,
        len: u8,
        number: u16,
    }

    const CROWD: u128 = 0x2001_0db8 << 96;

    fn step() -> impl Strategy<Value = Step> {
        // Most prefixes crowd together so that they nest, replace and uncover each other.
        let bits = prop_oneof![
            1 => any::<u128>(),
            4 => (0_u128..0x400).prop_map(|low| CROWD | low << 80),
            4 => (0_u128..0x400).prop_map(|low| CROWD | low << 96),
            3 => (0_u128..0x10).prop_map(|low| CROWD | low),
            2 => (0_u128..8).prop_map(|high| CROWD | high << 101),
        ];
        let len =
            prop_oneof![3 => 0_u8..=128, 4 => Just(48_u8), 3 => Just(32_u8), 1 => 14_u8..=18, 1 => Just(128)];
        (bits, len, prop_oneof![1 => Just(0_u16), 4 => 1_u16..=5, 1 => Just(CHILD - 1)])
            .prop_map(|(bits, len, number)| Step { bits, len, number })
    }

    fn check(cells: &Trie, routes: &BTreeMap<Prefix<u128>, u16>, address: u128) {
        assert_eq!(cells.number(address), reference(routes, address), "{address:032x}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(48)))]
        #[test]
        fn any_updates_leave_what_a_linear_scan_finds(
            steps in proptest::collection::vec(step(), 1..500),
            probes in proptest::collection::vec(any::<u128>(), 20),
        ) {
            let (cells, mut table) = (Trie::new(), TrieWriter::new());
            let mut routes = BTreeMap::new();
            for step in &steps {
                let prefix = (step.bits & mask(step.len), step.len);
                let before = table.set(&cells, prefix, step.number);
                let known = match step.number {
                    0 => routes.remove(&prefix),
                    number => routes.insert(prefix, number),
                };
                prop_assert_eq!(before, known.unwrap_or(0));
                prop_assert_eq!(table.get(prefix), step.number);
                prop_assert_eq!(table.len(), routes.len());
                for address in [prefix.0, prefix.0 | !mask(step.len), prefix.0.wrapping_sub(1), step.bits] {
                    check(&cells, &routes, address);
                }
            }
            let edges: Vec<u128> = routes.keys().flat_map(|&(network, len)| {
                let last = network | !mask(len);
                [network, last, network.wrapping_sub(1), last.wrapping_add(1)]
            }).collect();
            let addresses: Vec<u128> = edges.into_iter().chain(probes).collect();
            for some in addresses.chunks(TOGETHER) {
                let mut numbers = [0; TOGETHER];
                cells.numbers(some, &mut numbers);
                for (address, number) in some.iter().zip(numbers) {
                    check(&cells, &routes, *address);
                    prop_assert_eq!(number, cells.number(*address));
                }
            }
            prop_assert_eq!(table.iter().collect::<BTreeMap<_, _>>(), routes.clone());
            // Without prefixes nothing is left, and all memory is free.
            for prefix in routes.keys() {
                table.set(&cells, *prefix, 0);
            }
            prop_assert_eq!(table.len(), 0);
            prop_assert_eq!(cells.number(CROWD), 0);
        }
    }

    /// A reader never sees anything but an answer that its address had at some time, whatever is written, freed and
    /// written over around it meanwhile.
    #[test]
    fn a_reader_beside_the_writer_sees_old_or_new() {
        let (cells, mut table) = (Trie::new(), TrieWriter::new());
        let address = CROWD | 0x0102 << 80 | 9;
        table.set(&cells, (CROWD, 32), 1);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut seen = [0_u64; 6];
                while !stop.load(Ordering::Relaxed) {
                    let mut numbers = [0; TOGETHER];
                    cells.numbers(&[address; TOGETHER], &mut numbers);
                    for number in numbers.into_iter().chain([cells.number(address)]) {
                        seen[usize::from(number) % 6] += 1;
                    }
                }
                seen
            });
            for round in 0..20_000_u32 {
                let neighbor = u128::from(round % 0x100) << 80;
                // Neighbours with number 5 come and go in every level; the address itself never leads there.
                table.set(&cells, (CROWD | neighbor, 48), 5);
                table.set(&cells, (CROWD | 0x0102 << 80, 48), 2 + (round % 2) as u16);
                table.set(&cells, (CROWD | 0x0102 << 80 | 0xff << 64, 64), 5);
                table.set(&cells, (CROWD, 33), if round % 3 == 0 { 0 } else { 4 });
                table.set(&cells, (CROWD | neighbor, 48), 0);
                table.set(&cells, (CROWD | 0x0102 << 80, 48), 0);
                table.set(&cells, (CROWD | 0x0102 << 80 | 0xff << 64, 64), 0);
            }
            stop.store(true, Ordering::Relaxed);
            let seen = reader.join().unwrap();
            assert_eq!((seen[5], seen[0]), (0, 0), "answers of others, or none: {seen:?}");
        });
        table.set(&cells, (CROWD, 33), 0);
        assert_eq!(cells.number(address), 1);
    }

    #[test]
    fn nodes_that_are_no_longer_used_are_used_again() {
        let (cells, mut table) = (Trie::new(), TrieWriter::new());
        for round in 0..100_u128 {
            for at in 0..300_u128 {
                table.set(&cells, (CROWD | at << 80, 48), 1 + ((round + at) % 7) as u16);
            }
            for at in 0..300_u128 {
                table.set(&cells, (CROWD | at << 80, 48), 0);
            }
        }
        assert!(table.fresh < 1 << 16, "{} words", table.fresh);
        assert!(table.node_bytes() < 4096, "{} bytes", table.node_bytes());
    }
}
