//! Fragments packets that are longer than the MTU of their out-interface (RFC 791 §3.2).

use tollway_wire::options::NO_OPERATION;
use tollway_wire::{checksum, field, ipv4, udp};

use crate::ids::PortId;
use crate::packet::frame::{CONTIGUOUS, Frame, FrameSource, Gso, VnetState};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Meta, Packet};
use crate::pipeline::batch::Batch;
use crate::pipeline::state::WorkerState;
use crate::qos::segment::finish_headers;
use crate::snapshot::Interface;

/// Fragments a packet, or the datagrams of a super-frame that are too long. The first piece replaces the packet; the
/// others are appended to the batch.
pub(crate) fn fragment<F: Frame, S: FrameSource<F>>(
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    index: usize,
    out: &Interface,
    port: PortId,
    source: &mut S,
) {
    let Some(packet) = batch.packets.get_mut(index) else { return };
    let meta = packet.meta;
    let Some(frame) = packet.frame.take() else { return };
    let mut pieces = Vec::new();
    if !fragment_frame(&frame, &meta, &packet.vnet, out.mtu, source, &mut pieces) {
        batch.drop(state, index, DropReason::NoFrame);
        return;
    }
    state.generated += (pieces.len() as u64).saturating_sub(u64::from(meta.segments));
    // The first piece replaces the packet; the others are appended.
    let l3 = usize::from(meta.l3);
    let of_piece = |frame: &F| Meta {
        l3_len: (frame.len() - l3) as u32,
        segments: 1,
        verdict: Verdict::Tx(port),
        ..meta
    };
    let mut pieces = pieces.into_iter();
    if let (Some(packet), Some(first)) = (batch.packets.get_mut(index), pieces.next()) {
        packet.meta = of_piece(&first);
        packet.vnet = VnetState::default();
        packet.frame = Some(first);
    }
    for piece in pieces {
        let meta = of_piece(&piece);
        batch.packets.push(Packet { frame: Some(piece), vnet: VnetState::default(), meta });
    }
}

/// Makes the fragments of all datagrams of a frame; Returns `false` if the source has not enough frames.
fn fragment_frame<F: Frame, S: FrameSource<F>>(
    frame: &F,
    meta: &Meta,
    vnet: &VnetState,
    mtu: u16,
    source: &mut S,
    pieces: &mut Vec<F>,
) -> bool {
    let (l3, l4) = (usize::from(meta.l3), usize::from(meta.l4));
    let end = l3 + meta.l3_len as usize;
    let segmented = vnet.gso == Gso::Udp && vnet.gso_size != 0;
    let front = if segmented { l4 + udp::HEADER } else { l4 };
    let Some(payload) = end.checked_sub(front) else { return false };
    let size = if segmented { usize::from(vnet.gso_size) } else { payload.max(1) };
    for (number, offset) in (0..payload).step_by(size).enumerate() {
        let len = size.min(payload - offset);
        let mut datagram = vec![0; front + len];
        let Some((headers, body)) = datagram.split_at_mut_checked(front) else { return false };
        if !frame.copy_to(0, headers) || !frame.copy_to(front + offset, body) {
            return false;
        }
        if segmented {
            let Some(ip) = datagram.get_mut(l3..) else { return false };
            let number = number as u16;
            if finish_headers(ip, l4.saturating_sub(l3), ipv4::UDP, number, false).is_none() {
                return false;
            }
        } else if vnet.needs_csum {
            checksum::complete(&mut datagram, vnet.csum_start, vnet.csum_offset);
        }
        if !fragment_datagram(&datagram, l3, l4, mtu, source, pieces) {
            return false;
        }
    }
    true
}

/// Makes the fragments of a datagram, or one piece if it fits; Returns `false` if the source has not enough frames.
fn fragment_datagram<F: Frame, S: FrameSource<F>>(
    datagram: &[u8],
    l3: usize,
    l4: usize,
    mtu: u16,
    source: &mut S,
    pieces: &mut Vec<F>,
) -> bool {
    let Some((headers, payload)) = datagram.split_at_checked(l4) else { return false };
    let header = l4.saturating_sub(l3);
    let most = usize::from(mtu).min(CONTIGUOUS - l3.min(CONTIGUOUS)).saturating_sub(header);
    let room = if payload.len() <= most { payload.len() } else { most / 8 * 8 };
    if room == 0 {
        return false;
    }
    let word = field::get16(datagram, l3 + ipv4::offset::FRAGMENT);
    for (offset, piece) in (0..).step_by(room).zip(payload.chunks(room)) {
        let Some(mut new) = source.take(l4 + piece.len()) else { return false };
        let Some((to_headers, to)) =
            new.head_mut().get_mut(..l4 + piece.len()).and_then(|head| head.split_at_mut_checked(l4))
        else {
            return false;
        };
        to_headers.copy_from_slice(headers);
        to.copy_from_slice(piece);
        let Some(ip) = new.head_mut().get_mut(l3..) else { return false };
        if offset != 0 {
            drop_uncopied_options(ip.get_mut(ipv4::HEADER..header).unwrap_or_default());
        }
        let last = offset + piece.len() == payload.len();
        let more = if last { word & ipv4::MORE_FRAGMENTS } else { ipv4::MORE_FRAGMENTS };
        let place = (word & ipv4::OFFSET_MASK) + (offset / 8) as u16;
        field::put(ip, ipv4::offset::TOTAL_LEN, &((header + piece.len()) as u16).to_be_bytes());
        field::put(ip, ipv4::offset::FRAGMENT, &(more | place).to_be_bytes());
        if let Ok(mut view) = ipv4::Packet::new_checked(ip) {
            view.fill_checksum();
        }
        pieces.push(new);
    }
    true
}

/// Later fragments carry only the options whose copied flag is set (RFC 791 §3.1); others become NOPs.
fn drop_uncopied_options(options: &mut [u8]) {
    for option in ipv4::options_mut(options) {
        if field::get8(option, 0) & ipv4::option::COPIED == 0 {
            option.fill(NO_OPERATION);
        }
    }
}
