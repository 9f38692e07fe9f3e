//! Time to live and size of packets that are forwarded (RFC 1812 §5.3.1, RFC 1191 §4).

use tollway_wire::checksum::Delta;
use tollway_wire::{field, ipv4};

use crate::batch::Batch;
use crate::frame::{Frame, FrameSource, Gso, VnetState};
use crate::icmp::{IcmpError, send_error};
use crate::packet::{Hook, Meta, flag};
use crate::snapshot::Snapshot;
use crate::state::WorkerState;
use crate::verdict::{DropReason, Verdict};

pub(crate) fn run<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    source: &mut S,
) -> u64 {
    let mut entered = 0;
    for at in 0..batch.slow.len() {
        let Some((index, packet)) = batch.slow_packet(at) else { continue };
        if packet.meta.verdict != Verdict::Continue || packet.meta.hook == Hook::Input {
            continue;
        }
        entered += 1;
        if packet.meta.hook == Hook::Forward && packet.meta.ttl <= 1 {
            send_error(snapshot, state, batch, index, IcmpError::TIME_EXCEEDED, source);
            batch.drop(state, index, DropReason::TtlExceeded);
            continue;
        }
        let Some(interface) = snapshot.interface(packet.meta.out_interface) else { continue };
        let mtu = interface.mtu;
        let too_big = largest_segment(&packet.meta, &packet.vnet) > u32::from(mtu);
        if too_big && !can_shrink(&packet.meta, &packet.vnet) {
            send_error(snapshot, state, batch, index, IcmpError::too_big(mtu), source);
            batch.drop(state, index, DropReason::FragmentationNeeded);
        }
    }
    entered
}

/// What one less of the time to live does to the header checksum.
const ONE_LESS: Delta = Delta::NONE.replace16(0x0100, 0);

/// Takes one from the time to live and adjusts the header checksum (RFC 1624 eqn. 3, which gives no minus zero).
#[inline]
pub(crate) fn lower_ttl(l3: &mut [u8]) {
    let Some(header): Option<&mut [u8; ipv4::HEADER]> = l3.first_chunk_mut() else { return };
    header[ipv4::offset::TTL] = header[ipv4::offset::TTL].wrapping_sub(1);
    let sum = ONE_LESS.apply(field::get16(header, ipv4::offset::CHECKSUM));
    field::put(header, ipv4::offset::CHECKSUM, &sum.to_be_bytes());
}

/// Length of the longest IP packet that the frame becomes on a wire, bytes.
#[inline]
pub(crate) fn largest_segment(meta: &Meta, vnet: &VnetState) -> u32 {
    if vnet.gso == Gso::None || vnet.gso_size == 0 {
        meta.l3_len
    } else {
        meta.l3_len.min(meta.headers() + u32::from(vnet.gso_size))
    }
}

/// Whether the packet may be cut: by fragmenting it or the datagrams of a super-frame, or a TCP super-frame into
/// smaller segments.
fn can_shrink(meta: &Meta, vnet: &VnetState) -> bool {
    !meta.is(flag::DONT_FRAGMENT) && matches!(vnet.gso, Gso::None | Gso::Tcp4 | Gso::Udp)
}

#[cfg(test)]
mod tests {
    use tollway_wire::checksum::checksum;

    use super::*;

    #[test]
    fn a_lower_ttl_has_the_checksum_that_is_computed_anew() {
        for ident in 0..=u16::MAX {
            let mut header = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 192, 168, 88, 77, 203, 0, 113, 77];
            field::put(&mut header, 4, &ident.to_be_bytes());
            let sum = checksum(&header);
            field::put(&mut header, ipv4::offset::CHECKSUM, &sum.to_be_bytes());
            lower_ttl(&mut header);
            let sent = field::get16(&header, ipv4::offset::CHECKSUM);
            field::put(&mut header, ipv4::offset::CHECKSUM, &[0, 0]);
            assert_eq!((header[ipv4::offset::TTL], sent), (63, checksum(&header)), "{ident}");
        }
    }
}
