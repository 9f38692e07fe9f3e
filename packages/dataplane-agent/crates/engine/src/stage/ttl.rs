//! Time to live and size of packets that are forwarded (RFC 1812 §5.3.1, RFC 1191 §4).

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
