//! Time to live and size of packets that are forwarded (RFC 1812 §5.3.1, RFC 1191 §4).

use crate::packet::frame::{Frame, FrameSource, Gso, VnetState};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Meta, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::icmp::{IcmpError, send_error};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

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
        let too_big = packet.meta.largest_segment(&packet.vnet) > u32::from(mtu);
        if too_big && !can_shrink(&packet.meta, &packet.vnet) {
            send_error(snapshot, state, batch, index, IcmpError::too_big(mtu), source);
            batch.drop(state, index, DropReason::FragmentationNeeded);
        }
    }
    entered
}

/// Whether the packet may be cut: by fragmenting it or the datagrams of a super-frame, or a TCP super-frame into
/// smaller segments.
fn can_shrink(meta: &Meta, vnet: &VnetState) -> bool {
    !meta.is(flag::DONT_FRAGMENT) && matches!(vnet.gso, Gso::None | Gso::Tcp4 | Gso::Udp)
}
