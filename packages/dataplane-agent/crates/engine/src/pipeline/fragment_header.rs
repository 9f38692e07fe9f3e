//! Which part of a datagram a fragment is, in either family.

use tollway_wire::extension::{FRAGMENT_HEADER, walk};
use tollway_wire::{field, ipv4, ipv6};

use crate::ip::fragments::{DatagramKey, FragmentRange};
use crate::packet::Meta;
use crate::packet::tuple::Addr;

/// Datagram and range of a fragment, and where that begins, bytes from the IP header; `head` is the front of its frame.
pub(crate) fn fragment_of(meta: &Meta, head: &[u8]) -> Option<(DatagramKey, FragmentRange, usize)> {
    let ip = head.get(usize::from(meta.l3)..)?;
    let (start, offset, more, ident, [src, dst]) = if meta.is_ipv6() {
        let fragment = walk(ip, meta.l3_len as usize).ok()?.fragment?;
        let addresses = [ipv6::offset::SRC, ipv6::offset::DST].map(|at| Addr(field::get128(ip, at)));
        // Extension headers behind that of the first fragment are a part of what is in fragments.
        let start = fragment.start + FRAGMENT_HEADER;
        (start, u32::from(fragment.offset), fragment.more, fragment.ident, addresses)
    } else {
        let start = usize::from(meta.l4.saturating_sub(meta.l3));
        let word = field::get16(ip, ipv4::offset::FRAGMENT);
        let addresses = [ipv4::offset::SRC, ipv4::offset::DST].map(|at| Addr::v4(field::get32(ip, at)));
        let offset = u32::from(word & ipv4::OFFSET_MASK) * 8;
        let ident = field::get16(ip, ipv4::offset::IDENT);
        (start, offset, word & ipv4::MORE_FRAGMENTS != 0, u32::from(ident), addresses)
    };
    // The fragments of a datagram of IPv6 may name different headers behind theirs (RFC 8200 §4.5).
    let protocol = if meta.is_ipv6() { 0 } else { meta.tuple.protocol };
    let len = meta.l3_len.saturating_sub(start as u32);
    Some(((src, dst, ident, protocol, meta.tuple.zone), FragmentRange { offset, len, more }, start))
}
