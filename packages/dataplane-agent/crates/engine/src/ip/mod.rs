//! IP: routes, neighbours, fragments, header options, the rate limit of ICMP errors.

pub mod fib;
pub mod fragments;
pub(crate) mod icmp_rate;
pub mod neighbor;
pub(crate) mod options;

/// Whether an address is limited broadcast or multicast, which is never routed.
#[inline]
pub(crate) const fn is_group(address: u32) -> bool {
    address == u32::MAX || address >> 28 == 0xe
}
