//! Checks time to live and size of packets (RFC 1812 §5.3.1, RFC 1191 §4).

use crate::packet::frame::{Frame, FrameSource, Gso, VnetState};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Meta, Packet, flag};
use crate::pipeline::icmp::IcmpError;
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    each_slow(pass, |snapshot, _, packet| {
        let Packet { meta, vnet, .. } = packet;
        if meta.verdict != Verdict::Continue || meta.hook == Hook::Input {
            return StageOutcome::Skip;
        }
        if meta.hook == Hook::Forward && meta.ttl <= 1 {
            return StageOutcome::Error(DropReason::TtlExceeded, IcmpError::TIME_EXCEEDED);
        }
        let Some(interface) = snapshot.interface(meta.out_interface) else { return StageOutcome::Next };
        if meta.largest_segment(vnet) > u32::from(interface.mtu) && !can_shrink(meta, vnet) {
            return StageOutcome::Error(DropReason::FragmentationNeeded, IcmpError::too_big(interface.mtu));
        }
        StageOutcome::Next
    })
}

/// Whether the packet may be made to fit: by fragmenting it or the datagrams of a super-frame, or a TCP super-frame
/// into smaller segments.
fn can_shrink(meta: &Meta, vnet: &VnetState) -> bool {
    !meta.is(flag::DONT_FRAGMENT) && matches!(vnet.gso, Gso::None | Gso::Tcp4 | Gso::Udp)
}
