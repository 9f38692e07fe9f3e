//! IP: routes, neighbours, fragments, header options.

pub mod fib;
pub mod fragments;
pub mod neighbor;
pub(crate) mod options;

/// Whether an address is limited broadcast or multicast, which is never routed.
#[inline]
pub(crate) const fn is_group(address: u32) -> bool {
    address == u32::MAX || address >> 28 == 0xe
}
