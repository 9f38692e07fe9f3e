//! A sorted set of IPv6 prefixes with their next-hop numbers, at about 13 bytes a prefix.

use std::collections::BTreeMap;

use super::address::{Prefix, mask};

/// Longest prefix that is stored by the upper half of its network.
const HALF: u8 = 64;
/// Maximum number of prefixes of a chunk.
const CHUNK: usize = 512;

/// A prefix of up to 64 bits.
#[derive(Debug, Clone, Copy)]
struct Short {
    /// Upper half of the network, in two parts so that no padding is needed.
    network: [u32; 2],
    /// Length in the upper half, number in the lower half.
    rest: u32,
}

impl Short {
    fn new((network, len): Prefix<u128>, number: u16) -> Self {
        let network = [(network >> 96) as u32, (network >> 64) as u32];
        Self { network, rest: u32::from(len) << 16 | u32::from(number) }
    }
    fn key(&self) -> (u64, u8) {
        let [high, low] = self.network;
        (u64::from(high) << 32 | u64::from(low), (self.rest >> 16) as u8)
    }
    fn unpacked(&self) -> (Prefix<u128>, u16) {
        let (network, len) = self.key();
        ((u128::from(network) << 64, len), self.rest as u16)
    }
}

/// The set.
#[derive(Debug)]
pub struct PrefixSet {
    /// Prefixes of up to 64 bits, in chunks that are never empty, by network and length.
    chunks: Vec<Vec<Short>>,
    /// Longer ones.
    long: BTreeMap<Prefix<u128>, u16>,
    /// Number of prefixes of each length.
    lengths: [u32; 129],
    len: usize,
}

impl PrefixSet {
    /// An empty set.
    pub fn new() -> Self {
        Self { chunks: Vec::new(), long: BTreeMap::new(), lengths: [0; 129], len: 0 }
    }

    /// Number of prefixes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Chunk and place of a key, or where it would be inserted.
    fn search(&self, key: (u64, u8)) -> (usize, Result<usize, usize>) {
        let after =
            self.chunks.partition_point(|chunk| chunk.first().is_some_and(|first| first.key() <= key));
        let chunk = after.saturating_sub(1);
        let found = self.chunks.get(chunk).map(|chunk| chunk.binary_search_by_key(&key, Short::key));
        (chunk, found.unwrap_or(Err(0)))
    }

    /// Number of exactly this prefix; 0 if it is not there.
    pub fn get(&self, (network, len): Prefix<u128>) -> u16 {
        if len > HALF {
            return self.long.get(&(network, len)).copied().unwrap_or(0);
        }
        match self.search(((network >> 64) as u64, len)) {
            (chunk, Ok(at)) => {
                self.chunks.get(chunk).and_then(|chunk| chunk.get(at)).map_or(0, |short| short.rest as u16)
            }
            (_, Err(_)) => 0,
        }
    }

    /// Sets the number of a prefix, or removes the prefix if `number` is 0. Returns the former number.
    pub fn set(&mut self, prefix: Prefix<u128>, number: u16) -> u16 {
        let (network, len) = prefix;
        let before = if len > HALF {
            let before = match number {
                0 => self.long.remove(&prefix),
                number => self.long.insert(prefix, number),
            };
            before.unwrap_or(0)
        } else {
            self.set_short(prefix, ((network >> 64) as u64, len), number)
        };
        let count = self.lengths.get_mut(usize::from(len));
        match (before, number, count) {
            (0, 1.., Some(count)) => (self.len, *count) = (self.len + 1, *count + 1),
            (1.., 0, Some(count)) => (self.len, *count) = (self.len - 1, *count - 1),
            _ => {}
        }
        before
    }

    fn set_short(&mut self, prefix: Prefix<u128>, key: (u64, u8), number: u16) -> u16 {
        let (place, found) = self.search(key);
        let Some(chunk) = self.chunks.get_mut(place) else {
            if number != 0 {
                self.chunks.push(vec![Short::new(prefix, number)]);
            }
            return 0;
        };
        match found {
            Ok(at) if number == 0 => {
                let before = chunk.remove(at).rest as u16;
                if chunk.is_empty() {
                    self.chunks.remove(place);
                }
                before
            }
            Ok(at) => {
                let new = Short::new(prefix, number);
                chunk.get_mut(at).map_or(0, |known| std::mem::replace(known, new).rest as u16)
            }
            Err(_) if number == 0 => 0,
            Err(at) => {
                let new = Short::new(prefix, number);
                if chunk.len() < CHUNK {
                    if chunk.len() == chunk.capacity() {
                        // Grows slowly, as most memory of a large table is here.
                        chunk.reserve_exact((chunk.len() / 8).max(4));
                    }
                    chunk.insert(at, new);
                } else if at == CHUNK {
                    // Prefixes in ascending order leave full chunks behind.
                    self.chunks.insert(place + 1, vec![new]);
                } else {
                    let mut upper = chunk.split_off(CHUNK / 2);
                    chunk.shrink_to_fit();
                    match at.checked_sub(CHUNK / 2) {
                        Some(at) => upper.insert(at, new),
                        None => chunk.insert(at, new),
                    }
                    self.chunks.insert(place + 1, upper);
                }
                0
            }
        }
    }

    /// Number of the longest prefix of 1 to `most` bits that holds an address; 0 without one.
    pub fn longest(&self, address: u128, most: u8) -> u16 {
        let lengths = (1..=most.min(128)).rev();
        let used = lengths.filter(|len| self.lengths.get(usize::from(*len)).is_some_and(|count| *count != 0));
        used.map(|len| self.get((address & mask(len), len))).find(|number| *number != 0).unwrap_or(0)
    }

    /// Prefixes of more than `depth` bits in the block of `depth` bits that holds an address, by network and length.
    pub fn in_block(&self, address: u128, depth: u8) -> Vec<(Prefix<u128>, u16)> {
        let (first, last) = (address & mask(depth), address | !mask(depth));
        let (from, place) = self.search(((first >> 64) as u64, 0));
        let (Ok(place) | Err(place)) = place;
        let of_first = self.chunks.get(from).and_then(|chunk| chunk.get(place..)).unwrap_or_default();
        let others = self.chunks.get(from + 1..).unwrap_or_default().iter().flatten();
        let short = of_first.iter().chain(others).map(Short::unpacked);
        let inside = |((network, _), _): &(Prefix<u128>, u16)| *network <= last;
        let deeper = |((network, len), _): &(Prefix<u128>, u16)| *len > depth && *network >= first;
        let mut found: Vec<_> = short.take_while(inside).filter(deeper).collect();
        let shorts = found.len();
        let long = self.long.range((first, 0)..=(last, u8::MAX));
        found.extend(long.map(|(prefix, number)| (*prefix, *number)).filter(deeper));
        if found.len() != shorts {
            found.sort_unstable_by_key(|(prefix, _)| *prefix);
        }
        found
    }

    /// Every prefix with its number: short ones, then those of more than 64 bits.
    pub fn iter(&self) -> impl Iterator<Item = (Prefix<u128>, u16)> {
        let long = self.long.iter().map(|(prefix, number)| (*prefix, *number));
        self.chunks.iter().flatten().map(Short::unpacked).chain(long)
    }
}
