//! Writes the translation of a packet's connection into its frame.

use tollway_wire::ipv4;

use crate::flow::conntrack::Tuples;
use crate::flow::nat::{Ipv6Rewrite, Manip, PlainRewrite, Rewrite, icmp_error, icmpv6_error, ident};
use crate::packet::frame::Frame;
use crate::packet::verdict::DropReason;
use crate::packet::{Meta, Packet, flag};
use crate::pipeline::state::WorkerState;

/// Translates the headers of a packet, if its connection is translated. `fragmented`: the packet will leave in
/// fragments.
pub(crate) fn translate<F: Frame>(
    state: &WorkerState<F>,
    packet: &mut Packet<F>,
    fragmented: bool,
) -> Result<(), DropReason> {
    if !packet.meta.is(flag::TRANSLATED) || (!fragmented && translate_plain(state, packet)) {
        return Ok(());
    }
    let meta = &packet.meta;
    let conn =
        meta.conn.and_then(|reference| state.table.tuples(reference)).ok_or(DropReason::ConnectionGone)?;
    let frame = packet.frame.as_mut().ok_or(DropReason::ConnectionGone)?;
    let end = usize::from(meta.l3) + meta.l3_len as usize;
    let head = frame.head_mut();
    let end = end.min(head.len());
    let l3 = head.get_mut(usize::from(meta.l3)..end).ok_or(DropReason::BadIpHeader)?;
    let done = if meta.is_ipv6() {
        translate_ipv6(l3, meta, &conn, packet.vnet.needs_csum)
    } else if meta.is(flag::ICMP_ERROR) && !meta.is(flag::LATER_FRAGMENT) {
        icmp_error::translate(l3, &conn, meta.direction, Manip::Destination)
            && icmp_error::translate(l3, &conn, meta.direction, Manip::Source)
    } else {
        if fragmented || meta.is(flag::FRAGMENT) {
            ident::translate(l3, conn.tuple(meta.direction), &conn.target(meta.direction));
        }
        Rewrite::both(&conn, meta.direction).apply(l3, packet.vnet.needs_csum)
    };
    if done { Ok(()) } else { Err(DropReason::BadIpHeader) }
}

/// Translates a packet of IPv6, from its header on.
fn translate_ipv6(l3: &mut [u8], meta: &Meta, conn: &Tuples, needs_csum: bool) -> bool {
    if meta.is(flag::ICMP_ERROR) && !meta.is(flag::LATER_FRAGMENT) {
        return icmpv6_error::translate(l3, conn, meta.direction, Manip::Destination)
            && icmpv6_error::translate(l3, conn, meta.direction, Manip::Source);
    }
    let l4 = usize::from(meta.l4.saturating_sub(meta.l3));
    let l4 = (!meta.is(flag::LATER_FRAGMENT)).then_some(l4);
    Ipv6Rewrite::between(conn.tuple(meta.direction), &conn.target(meta.direction)).apply(l3, l4, needs_csum)
}

/// Translates a TCP or UDP packet that is no fragment and has its headers at fixed offsets, as nearly all packets have.
/// Returns `false`, and changes nothing, for other packets and if the connection is gone.
#[inline]
fn translate_plain<F: Frame>(state: &WorkerState<F>, packet: &mut Packet<F>) -> bool {
    const OTHERS: u32 = flag::ICMP_ERROR | flag::FRAGMENT | flag::OPTIONS;
    let Packet { frame: Some(frame), vnet, meta } = packet else { return false };
    let transport = meta.is(flag::L4_HEADER) && matches!(meta.tuple.protocol, ipv4::TCP | ipv4::UDP);
    if !transport || meta.l4 != 34 || meta.is(OTHERS) {
        return false;
    }
    let Some(head) = frame.head_mut().first_chunk_mut() else { return false };
    let keys = meta.conn.and_then(|reference| state.table.keys(reference, meta.direction));
    let Some((key, other)) = keys else { return false };
    PlainRewrite::of_keys(key, other).apply(head, meta.tuple.protocol, vnet.needs_csum);
    true
}
