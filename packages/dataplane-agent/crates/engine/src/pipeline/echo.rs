//! Answers echo requests for the router itself (RFC 792, RFC 4443 §4.2).

use tollway_wire::{checksum, ethernet, field, icmp, ipv4};

use crate::ip::options::{self, OptionEntry};
use crate::packet::frame::Frame;
use crate::packet::tuple::Tuple;
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Meta, Origin, Packet, flag};
use crate::pipeline::icmp::{TTL, row_of_ingress};
use crate::pipeline::ipv6_icmp;
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// Turns the frame of an echo request into the reply and ends the request. The caller passes the reply through the
/// stages in a further pass.
pub(crate) fn answer<F: Frame>(state: &mut WorkerState<F>, packet: &mut Packet<F>) -> Option<F> {
    let ident = state.next_ident();
    let utc_ns = state.utc_ns();
    let answered = packet.frame.as_mut().is_some_and(|frame| {
        let l3 = frame.head_mut().get_mut(ethernet::HEADER..).unwrap_or_default();
        if field::get8(l3, 0) >> 4 == 6 {
            return ipv6_icmp::make_echo_reply(l3);
        }
        let header = ipv4::Packet::new_checked(&mut *l3).map(|ip| (ip.header_len(), ip.total_len()));
        let Ok((header, total)) = header else { return false };
        l3.get_mut(..usize::from(total)).is_some_and(|l3| make_echo_reply(l3, header, ident, utc_ns))
    });
    let reply = packet.frame.take().filter(|_| answered);
    let reason = if answered { DropReason::EchoAnswered } else { DropReason::BadIcmpChecksum };
    state.drop(packet, reason);
    state.generated += u64::from(answered);
    reply
}

/// Turns an echo request in place into the reply (RFC 792), and enters the router into the options that ask for it (RFC
/// 1812 §4.3.3.6), at a wall clock in ns since 1970 UTC. `false`, changing nothing, when its checksum is wrong. `l3` is
/// the whole IPv4 packet.
fn make_echo_reply(l3: &mut [u8], header: usize, ident: u16, utc_ns: i64) -> bool {
    let (src, dst) = (field::get32(l3, ipv4::offset::SRC), field::get32(l3, ipv4::offset::DST));
    let Some(message) = l3.get_mut(header..) else { return false };
    let Ok(mut message) = icmp::Packet::new_checked(message) else { return false };
    if !message.verify_checksum() {
        return false;
    }
    let sum = checksum::Delta::NONE
        .replace16(u16::from(icmp::ECHO_REQUEST) << 8, u16::from(icmp::ECHO_REPLY) << 8)
        .apply(message.checksum());
    message.set_icmp_type(icmp::ECHO_REPLY);
    message.set_checksum(sum);
    // The sum of zero bytes is zero as well, which the incremental update cannot distinguish from minus zero.
    if sum == 0 && !message.verify_checksum() {
        message.set_checksum(!sum);
    }
    field::put(l3, 4, &ident.to_be_bytes());
    // As in Linux, the reply may be fragmented: the request may have come over a link with a larger MTU.
    if let Some(flags) = l3.get_mut(6) {
        *flags &= !0x40;
    }
    field::put(l3, ipv4::offset::TTL, &[TTL]);
    field::put(l3, ipv4::offset::SRC, &dst.to_be_bytes());
    field::put(l3, ipv4::offset::DST, &src.to_be_bytes());
    if let Ok(mut packet) = ipv4::Packet::new_checked(&mut *l3) {
        packet.fill_checksum();
    }
    if header > ipv4::HEADER {
        options::fill(l3, OptionEntry::at(dst, utc_ns), |own| own == dst);
    }
    true
}

/// Meta of an echo reply made from a request with this metadata.
pub(crate) fn echo_meta(snapshot: &Snapshot, request: &Meta) -> Meta {
    Meta {
        tuple: Tuple { zone: snapshot.zone_of_ingress(request), ..Tuple::default() },
        tap: row_of_ingress(snapshot, request),
        hook: Hook::Output,
        origin: Origin::Generated,
        flags: flag::SLOW,
        verdict: Verdict::Continue,
        ..Meta::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_to_an_echo_request_verifies_whatever_it_carries_and_may_be_cut() {
        for data in [&[0_u8; 0][..], &[0; 5], &[0xff; 4], &[0xf7, 0xff], b"abcdefgh"] {
            let mut l3 = vec![0_u8; ipv4::HEADER + icmp::HEADER + data.len()];
            ipv4::Repr {
                tos: 0,
                ident: 1,
                dont_fragment: true,
                ttl: 64,
                protocol: ipv4::ICMP,
                src_addr: 0x0a00_0002,
                dst_addr: 0x0a00_0001,
                payload_len: (icmp::HEADER + data.len()) as u16,
            }
            .emit(&mut l3);
            l3[ipv4::HEADER + icmp::HEADER..].copy_from_slice(data);
            icmp::Repr { icmp_type: icmp::ECHO_REQUEST, code: 0, rest: [0; 4] }.emit(&mut l3[ipv4::HEADER..]);
            assert!(make_echo_reply(&mut l3, ipv4::HEADER, 7, 0));
            let packet = ipv4::Packet::new_checked(&l3[..]).unwrap();
            assert!(packet.verify_checksum() && !packet.dont_fragment());
            let message = icmp::Packet::new_checked(&l3[ipv4::HEADER..]).unwrap();
            assert!(message.verify_checksum(), "{data:?}");
            assert_eq!(message.icmp_type(), icmp::ECHO_REPLY);
        }
    }
}
