//! Network address translation: the decision for the first packet of a connection ([`bind_source`],
//! [`bind_destination`]), and the translation of each packet ([`Rewrite`], [`icmp_error`]).
//!
//! A connection's reply tuple *is* its translation: packets of one direction leave with the reverse of
//! the other direction's tuple. In both directions the destination is rewritten before routing and the
//! source after the filter.

mod bind;
pub mod icmp_error;
mod icmpv6_error;
pub(crate) mod ident;
mod rewrite;

#[cfg(test)]
mod tests;

pub use bind::{BindContext, BindError, NatTarget, SourceBinding, bind_destination, bind_source};
pub use rewrite::{Manip, PlainRewrite, Rewrite};

use tollway_wire::ipv4::{DCCP, ICMP, TCP, UDP, UDP_LITE};

/// Offset of an L4 checksum that covers the pseudo-header, from the start of the L4 header.
const fn checksum_offset(protocol: u8) -> Option<usize> {
    match protocol {
        TCP => Some(tollway_wire::tcp::CHECKSUM),
        UDP | DCCP | UDP_LITE => Some(tollway_wire::udp::CHECKSUM),
        _ => None,
    }
}
