//! The two families of addresses: IPv4 with its cells, IPv6 with its trie.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::address::{Address, AtomicAddress, mask};
use super::cells::Cells;
use super::table::RouteTable;
use super::trie::Trie;
use super::trie_writer::TrieWriter;
use crate::packet::tuple::Addr;

impl Address for u32 {
    const BITS: u8 = 32;
    const HAS_BROADCAST: bool = true;
    const HAS_SUBNET_ROUTER: bool = false;
    const FAMILY: &'static str = "IPv4";
    type Cells = Cells;
    type Table = RouteTable;
    type Atomic = AtomicU32;

    fn of(address: IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(v4) => Some(v4.to_bits()),
            IpAddr::V6(_) => None,
        }
    }
    fn addr(self) -> Addr {
        Addr::v4(self)
    }
    #[inline]
    fn masked(self, len: u8) -> Self {
        self & crate::ip::mask(len)
    }
    #[inline]
    fn last(self, len: u8) -> Self {
        self | !crate::ip::mask(len)
    }
    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }
    fn is_link_local(self) -> bool {
        false
    }
    #[inline]
    fn folded(self) -> u32 {
        self
    }
    #[inline]
    fn gateway(low: u32, _: &[AtomicU32], _: usize) -> Self {
        low
    }
    fn low(self) -> u32 {
        self
    }
}

impl Address for u128 {
    const BITS: u8 = 128;
    const HAS_BROADCAST: bool = false;
    const HAS_SUBNET_ROUTER: bool = true;
    const FAMILY: &'static str = "IPv6";
    type Cells = Trie;
    type Table = TrieWriter;
    type Atomic = [AtomicU64; 2];

    fn of(address: IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(_) => None,
            IpAddr::V6(v6) => Some(v6.to_bits()),
        }
    }
    fn addr(self) -> Addr {
        Addr(self)
    }
    #[inline]
    fn masked(self, len: u8) -> Self {
        self & mask(len)
    }
    #[inline]
    fn last(self, len: u8) -> Self {
        self | !mask(len)
    }
    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }
    fn is_link_local(self) -> bool {
        tollway_wire::ipv6::is_link_local(self)
    }
    #[inline]
    fn folded(self) -> u32 {
        (self ^ self >> 32 ^ self >> 64 ^ self >> 96) as u32
    }
    #[inline]
    fn gateway(_: u32, published: &[[AtomicU64; 2]], number: usize) -> Self {
        published.get(number).map_or(0, AtomicAddress::load)
    }
    fn low(self) -> u32 {
        0
    }
}
