//! Addresses of a family, and what a forwarding table has of its own for the family.

use std::fmt::Debug;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::packet::tuple::Addr;

/// A prefix: network in host order, host bits zero, and length.
pub type Prefix<A = u32> = (A, u8);

/// An IPv4 or IPv6 address in host order. The default is the unspecified address.
pub trait Address: Copy + Ord + Hash + Debug + Default + Send + Sync + 'static {
    /// Bits of an address.
    const BITS: u8;
    /// The last address of a network is its broadcast address.
    const HAS_BROADCAST: bool;
    /// The first address of a network is that of every router of it: the subnet-router anycast address (RFC 4291 §2.6.1).
    const HAS_SUBNET_ROUTER: bool;
    /// Name of the family.
    const FAMILY: &'static str;
    /// The structure that lookups read.
    type Cells: LookupCells<Self>;
    /// The set of prefixes behind it.
    type Table: PrefixTable<Self>;
    /// An address that is published once.
    type Atomic: AtomicAddress<Self>;

    /// The address, if it is one of this family.
    fn of(address: IpAddr) -> Option<Self>;
    /// The address as one of any family.
    fn addr(self) -> Addr;
    /// The address with its bits behind the first `len` cleared.
    fn masked(self, len: u8) -> Self;
    /// The last address of the network of `len` bits that holds this one.
    fn last(self, len: u8) -> Self;
    /// The address after this one; `None` after the last of all.
    fn next(self) -> Option<Self>;
    /// Whether it is an address of one link that routes do not lead to (RFC 4291 §2.5.6). Those of IPv4 are routed as
    /// any other (RFC 3927 is up to the configuration).
    fn is_link_local(self) -> bool;
    /// 32 bits that differ between most addresses.
    fn folded(self) -> u32;
    /// A gateway that is found among these, or whose lower bits these are.
    fn gateway(low: u32, published: &[Self::Atomic], number: usize) -> Self;
    /// The lower bits of a gateway.
    fn low(self) -> u32;
}

/// An address that is stored before its readers know of it, and never changes.
pub trait AtomicAddress<A>: bytemuck::Zeroable + Debug + Send + Sync {
    /// The address; the unspecified one before it is stored.
    fn load(&self) -> A;
    /// Stores the address.
    fn store(&self, address: A);
}

/// The structure that lookups read without a lock: numbers of next hops by address. 0 is that of the default route.
pub trait LookupCells<A>: Debug {
    /// Every address has number 0.
    fn new() -> Self;
    /// The number of an address.
    fn number(&self, address: A) -> u16;
}

/// The writer's side: prefixes with their numbers, from 1 to 2¹⁵ − 1.
pub trait PrefixTable<A: Address>: Debug + Send {
    /// No prefix.
    fn new() -> Self;
    /// Number of prefixes.
    fn len(&self) -> usize;
    /// Number of exactly this prefix; 0 if it is not there.
    fn get(&self, prefix: Prefix<A>) -> u16;
    /// Sets the number of a prefix, or removes the prefix if `number` is 0, and updates the cells. Returns the former
    /// number.
    fn set(&mut self, cells: &A::Cells, prefix: Prefix<A>, number: u16) -> u16;
    /// Whether a prefix can be added without running out of memory for cells.
    fn has_room(&self) -> bool;
    /// Every prefix with its number, in no order.
    fn iter(&self) -> impl Iterator<Item = (Prefix<A>, u16)>;
    /// Number of blocks of cells that no prefix uses any more.
    fn unused_blocks(&self) -> usize;
}

/// Network mask of a prefix length; all bits from 128 on.
#[inline]
pub const fn mask(len: u8) -> u128 {
    u128::MAX.unbounded_shl(128_u32.saturating_sub(len as u32))
}

impl AtomicAddress<u32> for AtomicU32 {
    #[inline]
    fn load(&self) -> u32 {
        AtomicU32::load(self, Ordering::Relaxed)
    }
    fn store(&self, address: u32) {
        AtomicU32::store(self, address, Ordering::Relaxed);
    }
}

impl AtomicAddress<u128> for [AtomicU64; 2] {
    #[inline]
    fn load(&self) -> u128 {
        let [high, low] = self;
        u128::from(high.load(Ordering::Relaxed)) << 64 | u128::from(low.load(Ordering::Relaxed))
    }
    fn store(&self, address: u128) {
        let [high, low] = self;
        high.store((address >> 64) as u64, Ordering::Relaxed);
        low.store(address as u64, Ordering::Relaxed);
    }
}
