//! Translation of the IPv4 identification of fragmented datagrams.
//!
//! Two hosts behind one address may use the same identification for datagrams to one destination, where reassembly
//! distinguishes datagrams by it (RFC 791 §3.2, RFC 6864 §5.2): a translator has to keep it unique. An offset that is a
//! function of the addresses before translation is added, so that all fragments get the same one on any worker and in
//! any order.

use tollway_wire::checksum::Delta;
use tollway_wire::{field, ipv4};

use super::rewrite::v4;
use crate::packet::tuple::Tuple;

const IDENT: usize = 4;

/// Changes the identification of a packet, given from its IPv4 header on, that is translated from `from` to `to`.
#[cold]
pub fn translate(l3: &mut [u8], from: &Tuple, to: &Tuple) {
    let before = (v4(from.src), v4(from.dst));
    if before == (v4(to.src), v4(to.dst)) || l3.len() < ipv4::HEADER {
        return;
    }
    let old = field::get16(l3, IDENT);
    let new = old.wrapping_add(distance(before.0, before.1));
    field::put(l3, IDENT, &new.to_be_bytes());
    let sum = Delta::NONE.replace16(old, new).apply(field::get16(l3, ipv4::offset::CHECKSUM));
    field::put(l3, ipv4::offset::CHECKSUM, &sum.to_be_bytes());
}

/// A number that differs for most pairs of addresses (Fibonacci hashing; Knuth, TAOCP vol. 3, §6.4).
fn distance(src: u32, dst: u32) -> u16 {
    let pair = u64::from(src) << 32 | u64::from(dst);
    (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn neighbours_are_far_from_each_other() {
        let distances: HashSet<u16> =
            (0..254).map(|host| distance(0xc0a8_5801 + host, 0xc633_640a)).collect();
        assert_eq!(distances.len(), 254);
    }
}
