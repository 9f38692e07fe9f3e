//! Network address translation: the decision for the first packet of a connection ([`bind_source`],
//! [`bind_destination`]), and the translation of each packet ([`Rewrite`], [`Ipv6Rewrite`], [`icmp_error`]).
//!
//! A connection's reply tuple *is* its translation: packets of one direction leave with the reverse of
//! the other direction's tuple. In both directions the destination is rewritten before routing and the
//! source after the filter.

mod bind;
pub mod icmp_error;
pub(crate) mod icmpv6_error;
pub(crate) mod ident;
mod ipv6_rewrite;
mod rewrite;

#[cfg(test)]
mod tests;

pub use bind::{BindContext, BindError, NatTarget, SourceBinding, bind_destination, bind_source};
pub use ipv6_rewrite::{Ipv6PlainRewrite, Ipv6Rewrite};
pub use rewrite::{Manip, PlainRewrite, Rewrite};

use tollway_wire::ipv4::{DCCP, ICMP, TCP, UDP, UDP_LITE};
use tollway_wire::ipv6::ICMPV6;

/// [`checksum_offset`] over IPv6, where ICMPv6 has such a checksum too (RFC 4443 §2.3).
const fn ipv6_checksum_offset(protocol: u8) -> Option<usize> {
    if protocol == ICMPV6 { Some(tollway_wire::icmpv6::CHECKSUM) } else { checksum_offset(protocol) }
}

/// Offset of an L4 checksum that covers the pseudo-header, from the start of the L4 header.
const fn checksum_offset(protocol: u8) -> Option<usize> {
    match protocol {
        TCP => Some(tollway_wire::tcp::CHECKSUM),
        UDP | DCCP | UDP_LITE => Some(tollway_wire::udp::CHECKSUM),
        _ => None,
    }
}
