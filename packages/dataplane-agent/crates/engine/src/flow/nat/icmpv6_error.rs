//! The packet that an ICMPv6 error quotes (RFC 4443 §2.4).

use tollway_wire::extension::walk;
use tollway_wire::{field, icmpv6, ipv6};

use super::{TCP, UDP};
use crate::packet::tuple::{Addr, Tuple, icmpv6_kind};

/// The tuple of the packet that an ICMPv6 error quotes, as quoted; `None` when the bytes are not an ICMPv6 error, or the
/// quote does not identify a flow. `l3` begins with the IPv6 header of the error.
pub fn embedded_tuple(l3: &[u8]) -> Option<Tuple> {
    let outer = walk(l3, l3.len()).ok()?;
    if outer.protocol != ipv6::ICMPV6 || outer.fragment.is_some_and(|fragment| !fragment.is_atomic()) {
        return None;
    }
    let message = icmpv6::Packet::new_checked(l3.get(outer.start..)?).ok()?;
    if !icmpv6::is_error(message.icmp_type()) {
        return None;
    }
    let quoted = message.payload();
    let header = ipv6::Packet::new_checked(quoted).ok()?;
    let inner = walk(quoted, quoted.len()).ok()?;
    if inner.fragment.is_some_and(|fragment| fragment.offset != 0) {
        return None;
    }
    let l4 = quoted.get(inner.start..)?;
    let (src_port, dst_port, icmp) = match inner.protocol {
        TCP | UDP => (field::read16(l4, 0)?, field::read16(l4, 2)?, 0),
        ipv6::ICMPV6 => {
            let ident = field::read16(l4, 4)?;
            (ident, ident, icmpv6_kind(field::get8(l4, 0))?)
        }
        _ => (0, 0, 0),
    };
    let (src, dst) = (Addr(header.src_addr()), Addr(header.dst_addr()));
    Some(Tuple { src, dst, src_port, dst_port, protocol: inner.protocol, icmp })
}
