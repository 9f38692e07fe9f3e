//! TCP resets of the router itself (`reject-with=tcp-reset`).

use tollway_wire::tcp::flag as tcp_flag;
use tollway_wire::{ethernet, ipv4, ipv6, tcp};

use super::icmp::{TTL, answer_meta, answerable, ipv6_answer_meta};
use super::ipv6_icmp;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::{Meta, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// Answers a TCP segment with a reset as if no connection existed (RFC 9293 §3.5.2, group 1), so that the peer accepts
/// it. Never answers a reset.
pub(crate) fn send_reset<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    index: usize,
    source: &mut S,
) {
    let Some(packet) = batch.packets.get(index) else { return };
    let Some(old) = &packet.frame else { return };
    let meta = packet.meta;
    if meta.tcp_flags_or_icmp_type & tcp_flag::RST != 0 || meta.is(flag::LATER_FRAGMENT) {
        return;
    }
    let Some(segment) = old.head().get(usize::from(meta.l4)..) else { return };
    let Ok(segment) = tcp::Segment::new_checked(segment) else { return };
    let control = (meta.tcp_flags_or_icmp_type & tcp_flag::SYN != 0) as u32
        + (meta.tcp_flags_or_icmp_type & tcp_flag::FIN != 0) as u32;
    let payload = meta.l3_len.saturating_sub(meta.headers());
    let (seq, ack, flags) = if meta.tcp_flags_or_icmp_type & tcp_flag::ACK != 0 {
        (segment.ack(), 0, tcp_flag::RST)
    } else {
        let ack = segment.seq().wrapping_add(payload).wrapping_add(control);
        (0, ack, tcp_flag::RST | tcp_flag::ACK)
    };
    let header =
        tcp::Repr { src_port: segment.dst_port(), dst_port: segment.src_port(), seq, ack, flags, window: 0 };
    let built = match meta.is_ipv6() {
        true => over_ipv6(snapshot, &meta, old.head(), &header, source),
        false => over_ipv4(snapshot, state, &meta, old.head(), &header, source),
    };
    if let Some((frame, answer)) = built {
        state.generated += 1;
        batch.push_generated(frame, answer);
    }
}

fn over_ipv4<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &Meta,
    head: &[u8],
    header: &tcp::Repr,
    source: &mut S,
) -> Option<(F, Meta)> {
    let offender = answerable(snapshot, meta, head)?;
    let len = ipv4::HEADER + tcp::HEADER;
    let mut frame = source.take(ethernet::HEADER + len)?;
    let ip = frame.head_mut().get_mut(ethernet::HEADER..)?;
    ipv4::Repr {
        tos: 0,
        ident: state.next_ident(),
        dont_fragment: true,
        ttl: TTL,
        protocol: ipv4::TCP,
        src_addr: offender.dst,
        dst_addr: offender.src,
        payload_len: tcp::HEADER as u16,
    }
    .emit(ip);
    header.emit(ip.get_mut(ipv4::HEADER..len)?, offender.dst, offender.src);
    Some((frame, answer_meta(snapshot, meta)))
}

fn over_ipv6<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    meta: &Meta,
    head: &[u8],
    header: &tcp::Repr,
    source: &mut S,
) -> Option<(F, Meta)> {
    let (target, own) = ipv6_icmp::answerable(meta, head)?;
    let len = ipv6::HEADER + tcp::HEADER;
    let mut frame = source.take(ethernet::HEADER + len)?;
    let ip = frame.head_mut().get_mut(ethernet::HEADER..)?;
    ipv6::Repr {
        traffic_class: 0,
        next_header: ipv4::TCP,
        hop_limit: ipv6_icmp::HOP_LIMIT,
        src_addr: own,
        dst_addr: target,
        payload_len: tcp::HEADER as u16,
    }
    .emit(ip);
    header.emit_over_ipv6(ip.get_mut(ipv6::HEADER..len)?, own, target);
    Some((frame, ipv6_answer_meta(snapshot, meta)))
}
