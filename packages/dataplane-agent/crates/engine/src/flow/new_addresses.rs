//! The addresses that translated packets of IPv6 get. Many flows get the same ones, as those that one rule masquerades,
//! so each pair is stored once, and a flow entry holds its number: the other direction's key, which has the new addresses
//! too, is in another cache line.

use std::collections::HashMap;

use crate::packet::tuple::{Addr, Tuple};

/// Maximum number of pairs.
const MAX_PAIRS: usize = 1 << 16;

/// New addresses of packets; `None` for one that stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(align(64))]
pub struct NewAddresses {
    /// New source address.
    pub src: Option<Addr>,
    /// New destination address.
    pub dst: Option<Addr>,
}

const _: () = assert!(size_of::<NewAddresses>() == 64);

impl NewAddresses {
    /// Those of packets that arrive with the tuple `from` and leave with `to`.
    pub fn between(from: &Tuple, to: &Tuple) -> Self {
        let changed = |from: Addr, to: Addr| (from != to).then_some(to);
        Self { src: changed(from.src, to.src), dst: changed(from.dst, to.dst) }
    }
}

/// The pairs of one worker in the current cache epoch, by number.
#[derive(Debug, Default)]
pub struct NewAddressTable {
    pairs: Vec<NewAddresses>,
    numbers: HashMap<NewAddresses, u32>,
}

impl NewAddressTable {
    /// The pair with a number; `None` for 0.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&NewAddresses> {
        self.pairs.get(number.wrapping_sub(1) as usize)
    }

    /// The number of a pair; 0 if there are too many.
    pub fn intern(&mut self, pair: NewAddresses) -> u32 {
        // Most flows get the addresses of the flow before.
        if self.pairs.last() == Some(&pair) {
            return self.pairs.len() as u32;
        }
        if let Some(number) = self.numbers.get(&pair) {
            return *number;
        }
        if self.pairs.len() >= MAX_PAIRS {
            return 0;
        }
        self.pairs.push(pair);
        let number = self.pairs.len() as u32;
        self.numbers.insert(pair, number);
        number
    }

    /// Removes all pairs. No flow entry may be used any more that has the number of one.
    pub fn clear(&mut self) {
        self.pairs.clear();
        self.numbers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_pairs_have_one_number_and_too_many_have_none() {
        let mut table = NewAddressTable::default();
        let pair = |number: u128| NewAddresses { src: Some(Addr(number)), dst: None };
        let numbers = [1, 2, 1, 2, 2].map(|number| table.intern(pair(number)));
        assert_eq!(numbers, [1, 2, 1, 2, 2]);
        assert_eq!(table.intern(NewAddresses { src: None, dst: Some(Addr(1)) }), 3);
        assert_eq!((table.get(0), table.get(2), table.get(4)), (None, Some(&pair(2)), None));
        for number in 4..=MAX_PAIRS as u32 {
            assert_eq!(table.intern(pair(u128::from(number))), number);
        }
        assert_eq!([0, 1].map(|number| table.intern(pair(number))), [0, 1]);
        table.clear();
        assert_eq!(table.get(1), None);
        assert_eq!(table.intern(pair(7)), 1);
    }

    #[test]
    fn addresses_that_stay_are_none() {
        let tuple = Tuple { src: Addr(1), dst: Addr(2), ..Tuple::default() };
        let to = Tuple { src: Addr(3), src_port: 9, ..tuple };
        let pair = NewAddresses { src: Some(Addr(3)), dst: None };
        assert_eq!(NewAddresses::between(&tuple, &to), pair);
    }
}
