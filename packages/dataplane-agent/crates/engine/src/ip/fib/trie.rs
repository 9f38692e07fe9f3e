//! The lookup structure of IPv6: longest prefix match for 128 bits, without a lock.
//!
//! A *reference* of 32 bits is the number of a next hop, or refers to a node for the addresses of its block. There is one
//! reference for each /16. The nodes:
//!
//! | node | for | holds |
//! |---|---|---|
//! | branch | 8 bits | 256 references |
//! | list | the bits up to the next multiple of 16 | at most [`MOST`] runs: first key and value of each, and references of single keys below which there are longer prefixes |
//!
//! So an address with a /48 below an allocation of a registry is found by two branches, which a full table has few of,
//! and two lists of one or two cache lines each.
//!
//! There is one writer. It writes a node into memory that no reference leads to, and publishes it by one reference, with
//! release order. Memory of former nodes is used again only after [`Trie::version`] has changed; a lookup during which it
//! has changed is repeated. So each lookup sees either the old or the new route, and none waits for the writer.

use std::hint::select_unpredictable;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use super::address::LookupCells;

/// Maximum number of runs of a list.
pub const MOST: usize = 128;
/// References of a branch.
pub const BRANCH: usize = 256;
/// Blocks of 16 bits.
const ROOT: usize = 1 << 16;
/// Depth of the references of [`ROOT`], bits.
pub const ROOT_DEPTH: u8 = 16;
/// Words of all nodes: 64 MiB of address space, of which the system backs what has been written.
pub const WORDS: usize = 1 << 24;
/// Addresses that are looked up together.
pub const TOGETHER: usize = 64;
/// Number of walks that advance between the prefetch of a node and its use. With more of them there would be more cache
/// lines on their way than a processor keeps track of, and it forgets prefetches.
const AHEAD: usize = 8;
/// Set in a value of a list that is the index of a reference.
pub const CHILD: u16 = 1 << 15;

const KIND: u32 = 3 << 30;
const LIST: u32 = 1 << 30;
const BRANCHES: u32 = 2 << 30;
/// Shift in a reference to a list: number of cache lines that it has beside its first, but no more than [`MORE_LINES`].
const LINES: u32 = WORDS.ilog2();
const MORE_LINES: usize = 2;
/// Words of a cache line.
const LINE: usize = 16;

/// A reference: a number, or the first word of a node, with its kind in the uppermost two bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ref(pub u32);

/// The meaning of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// Number of a next hop.
    Number(u16),
    /// A list at this word.
    List(usize),
    /// A branch at this word.
    Branch(usize),
}

impl Ref {
    /// Leads to a next hop.
    pub const fn number(number: u16) -> Self {
        Self(number as u32)
    }
    /// Leads to a list of some words.
    pub const fn list(at: usize, words: usize) -> Self {
        let lines = (at % LINE + words - 1) / LINE;
        let lines = if lines < MORE_LINES { lines } else { MORE_LINES };
        Self(LIST | (lines as u32) << LINES | at as u32)
    }
    /// Leads to a branch.
    pub const fn branch(at: usize) -> Self {
        Self(BRANCHES | at as u32)
    }
    /// What it leads to.
    #[inline]
    pub const fn node(self) -> Node {
        let at = self.0 as usize % WORDS;
        match self.0 & KIND {
            0 => Node::Number(self.0 as u16),
            LIST => Node::List(at),
            _ => Node::Branch(at),
        }
    }
}

/// The place of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// That of a /16.
    Root(u16),
    /// A word of a node.
    Word(usize),
}

/// Depth of a walk that has found its number. No node is at this depth.
const DONE: u8 = 128;

/// A place in a walk from the root.
#[derive(Debug, Clone, Copy)]
struct Step {
    reference: Ref,
    /// Bits of the address that led to the reference; [`DONE`] at the end.
    depth: u8,
}

impl Default for Step {
    fn default() -> Self {
        Self::end(0)
    }
}

impl Step {
    /// A reference that the first `depth` bits of an address lead to.
    #[inline]
    const fn to(reference: Ref, depth: u8) -> Self {
        match reference.node() {
            Node::Number(number) => Self::end(number),
            // Memory that is written meanwhile; the lookup is repeated.
            _ if depth >= DONE => Self::end(0),
            _ => Self { reference, depth },
        }
    }

    #[inline]
    const fn end(number: u16) -> Self {
        Self { reference: Ref::number(number), depth: DONE }
    }

    /// The number of a walk that has ended.
    #[inline]
    const fn number(self) -> u16 {
        self.reference.0 as u16
    }
}

/// Depth at which the list of a block of `depth` bits ends.
#[inline]
pub const fn list_end(depth: u8) -> u8 {
    (depth / 16 + 1) * 16
}

/// The bits of an address that end after `end` bits, at the lower end of a word: 64, or as many as there are in the half.
#[inline]
const fn bits_before(address: u128, end: u8) -> u64 {
    // A shift of both halves takes several instructions more.
    let half = if end <= 64 { address >> 64 } else { address } as u64;
    half >> ((128 - end as u32) % 64)
}

/// Words of a list before its references: the numbers of runs, keys and values.
pub const fn list_head(runs: usize) -> usize {
    1 + 2 * runs.div_ceil(2)
}

/// The cells. At first every address has number 0.
pub struct Trie {
    root: Box<[AtomicU32; ROOT]>,
    words: Box<[AtomicU32; WORDS]>,
    version: AtomicU32,
}

impl std::fmt::Debug for Trie {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Trie").finish_non_exhaustive()
    }
}

impl LookupCells<u128> for Trie {
    fn new() -> Self {
        Self { root: bytemuck::zeroed_box(), words: bytemuck::zeroed_box(), version: AtomicU32::new(0) }
    }

    #[inline]
    fn number(&self, address: u128) -> u16 {
        loop {
            let version = self.version.load(Ordering::Acquire);
            let number = self.walk(address);
            // What was read before this fence was written before the version changed, or the change is seen.
            fence(Ordering::Acquire);
            if self.version.load(Ordering::Relaxed) == version {
                return number;
            }
        }
    }
}

impl Trie {
    #[inline]
    fn word(&self, at: usize, order: Ordering) -> u32 {
        self.words[at % WORDS].load(order)
    }

    /// A half word: the lower one at even numbers.
    #[inline]
    fn half(&self, from: usize, number: usize) -> u16 {
        (self.word(from + number / 2, Ordering::Relaxed) >> (16 * (number % 2))) as u16
    }

    /// The number that the nodes give at this moment. Memory that is written meanwhile gives any number.
    #[inline]
    fn walk(&self, address: u128) -> u16 {
        let mut step = self.root_of(address);
        while step.depth < DONE {
            step = self.next(step, address);
        }
        step.number()
    }

    /// The numbers of some addresses, at most [`TOGETHER`]. While the memory of one is read, others advance, each by a node.
    /// Most end within three nodes, a branch and two lists; the others are [finished](Self::finish) apart.
    pub fn numbers(&self, addresses: &[u128], numbers: &mut [u16; TOGETHER]) {
        let version = self.version.load(Ordering::Acquire);
        let addresses = addresses.get(..TOGETHER).unwrap_or(addresses);
        let mut steps = [Step::default(); TOGETHER];
        let mut unfinished = 0_u64;
        for turn in 0..addresses.len() + 3 * AHEAD {
            if let (Some(step), Some(address)) = (steps.get_mut(turn), addresses.get(turn)) {
                *step = self.root_of(*address);
                self.prefetch(*step, *address);
            }
            // Each in code of its own, so that the processor predicts that the first is a branch, and the others are lists.
            self.advance(&mut steps, addresses, turn.wrapping_sub(AHEAD));
            self.advance(&mut steps, addresses, turn.wrapping_sub(2 * AHEAD));
            let last = turn.wrapping_sub(3 * AHEAD);
            if self.advance(&mut steps, addresses, last) {
                unfinished |= 1 << (last % TOGETHER);
            }
        }
        if unfinished != 0 {
            self.finish(&mut steps, addresses, unfinished);
        }
        for (number, step) in numbers.iter_mut().zip(&steps) {
            *number = step.number();
        }
        fence(Ordering::Acquire);
        if self.version.load(Ordering::Relaxed) != version {
            for (number, address) in numbers.iter_mut().zip(addresses) {
                *number = self.number(*address);
            }
        }
    }

    /// Advances a walk by a node. Returns whether it goes on.
    #[inline(always)]
    fn advance(&self, steps: &mut [Step; TOGETHER], addresses: &[u128], place: usize) -> bool {
        let (Some(step), Some(address)) = (steps.get_mut(place), addresses.get(place)) else { return false };
        if step.depth >= DONE {
            return false;
        }
        *step = self.next(*step, *address);
        self.prefetch(*step, *address);
        step.depth < DONE
    }

    /// Advances the walks whose bits are set in `unfinished` to their ends, in turns.
    #[inline(never)]
    fn finish(&self, steps: &mut [Step; TOGETHER], addresses: &[u128], mut unfinished: u64) {
        while unfinished != 0 {
            for place in 0..TOGETHER {
                if unfinished >> place & 1 != 0 && !self.advance(steps, addresses, place) {
                    unfinished &= !(1 << place);
                }
            }
        }
    }

    /// The first reference of an address.
    #[inline]
    fn root_of(&self, address: u128) -> Step {
        Step::to(Ref(self.root[(address >> 112) as usize].load(Ordering::Acquire)), ROOT_DEPTH)
    }

    /// Prefetches what [`Self::next`] reads for a step.
    #[inline]
    fn prefetch(&self, Step { reference, depth }: Step, address: u128) {
        let fetch = |at: usize| tollway_prefetch::fetch(&self.words[at % WORDS]);
        match reference.node() {
            Node::Number(_) => {}
            Node::Branch(branch) => fetch(branch + usize::from(bits_before(address, depth + 8) as u8)),
            Node::List(list) => {
                let lines = (reference.0 >> LINES) as usize % (MORE_LINES + 2);
                fetch(list);
                // The same line once more costs less than a branch.
                fetch(list + LINE * lines.min(1));
                fetch(list + LINE * lines);
            }
        }
    }

    /// Follows the reference of a step, which leads to a node.
    #[inline(always)]
    fn next(&self, Step { reference, depth }: Step, address: u128) -> Step {
        match reference.node() {
            Node::Number(number) => Step::end(number),
            Node::Branch(branch) => {
                let byte = bits_before(address, depth + 8) as u8;
                Step::to(Ref(self.word(branch + usize::from(byte), Ordering::Acquire)), depth + 8)
            }
            Node::List(list) => {
                let end = list_end(depth);
                let key = bits_before(address, end) as u16 & (u16::MAX >> (16 - (end - depth)));
                let (_, value) = self.find(list, key);
                if value & CHILD == 0 {
                    return Step::end(value);
                }
                let runs = self.runs(list);
                let child = list + list_head(runs) + usize::from(value & !CHILD);
                Step::to(Ref(self.word(child, Ordering::Acquire)), end)
            }
        }
    }

    #[inline]
    fn runs(&self, list: usize) -> usize {
        self.word(list, Ordering::Relaxed) as u16 as usize
    }

    /// The run that holds a key: its place and its value.
    #[inline]
    pub fn find(&self, list: usize, key: u16) -> (usize, u16) {
        let runs = self.runs(list).min(MOST);
        let words = runs.div_ceil(2);
        let (mut first, mut size) = (0, words);
        while size > 1 {
            let half = size / 2;
            // Not a branch: it would be mispredicted every other time.
            let after = self.word(list + 1 + first + half, Ordering::Relaxed) as u16 <= key;
            first = select_unpredictable(after, first + half, first);
            size -= half;
        }
        let upper = (self.word(list + 1 + first, Ordering::Relaxed) >> 16) as u16;
        let run = 2 * first + usize::from((upper <= key) & (2 * first + 1 < runs));
        (run, self.half(list + 1 + words, run))
    }

    /// Reads a reference. Only for the writer.
    pub fn load(&self, slot: Slot) -> Ref {
        Ref(match slot {
            Slot::Root(block) => self.root[usize::from(block)].load(Ordering::Relaxed),
            Slot::Word(at) => self.word(at, Ordering::Relaxed),
        })
    }

    /// Publishes a node, or a number.
    pub fn publish(&self, slot: Slot, reference: Ref) {
        match slot {
            Slot::Root(block) => self.root[usize::from(block)].store(reference.0, Ordering::Release),
            Slot::Word(at) => self.words[at % WORDS].store(reference.0, Ordering::Release),
        }
    }

    /// Writes a word of a node that no reference leads to.
    pub fn write(&self, at: usize, word: u32) {
        self.words[at % WORDS].store(word, Ordering::Relaxed);
    }

    /// Numbers of runs and of references of a list. Only for the writer.
    pub fn sizes(&self, list: usize) -> (usize, usize) {
        let word = self.word(list, Ordering::Relaxed);
        (word as u16 as usize, (word >> 16) as usize)
    }

    /// To be called between the removal of the last reference to some words and the next write to them.
    pub fn retire(&self) {
        self.version.store(self.version.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        fence(Ordering::Release);
    }
}
