//! IP: routes, neighbours, states of own addresses, fragments, header options, the rate limits of ICMP errors and redirects,
//! the schedule of router advertisements, and those that are heard.

pub mod address_states;
pub mod fib;
pub mod fragments;
pub mod gateway_checks;
pub mod heard_routers;
pub(crate) mod icmp_rate;
pub(crate) mod learned_gateways;
pub mod multipath;
pub mod neighbor;
pub(crate) mod options;
pub(crate) mod redirect_rate;
pub mod router_advertisements;
pub mod routing_policy;

/// Whether an address is limited broadcast or multicast, which is never routed.
#[inline]
pub(crate) const fn is_group(address: u32) -> bool {
    address == u32::MAX || address >> 28 == 0xe
}

/// Network mask of a prefix length, host order; all bits from 32 on.
#[inline]
pub(crate) const fn mask(len: u8) -> u32 {
    u32::MAX.unbounded_shl(32_u32.saturating_sub(len as u32))
}
