//! Demultiplexes tagged frames: takes the tags off that lead to a link, layer by layer (IEEE 802.1Q-2018 §6.9), so that
//! the stages see the frames of every link alike.

use tollway_wire::{ethernet, field};

use crate::ids::LinkId;
use crate::packet::count::Count;
use crate::packet::frame::{Frame, Gso, VnetState};
use crate::packet::verdict::DropReason;
use crate::packet::vlan::{pop_tag, pop_tags};
use crate::packet::{Origin, Packet, flag};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// [`untag`] of a received frame with one tag, `tag`, that needs no offload, as nearly all tagged ones are. Returns `false`,
/// and changes nothing, for any other frame.
#[inline(never)]
pub(super) fn untag_one<F: Frame>(
    snapshot: &Snapshot,
    received: &mut [Count],
    packet: &mut Packet<F>,
    tag: u32,
) -> bool {
    let Packet { frame: Some(frame), vnet, meta } = packet else { return false };
    let len = frame.len();
    let Some(front): Option<&[u8; ethernet::HEADER + ethernet::TAG]> = frame.head().first_chunk() else {
        return false;
    };
    let behind = field::get16(front, ethernet::ADDRESSES + ethernet::TAG);
    let (service, vid) = (tag >> 16 == u32::from(ethernet::SERVICE_VLAN), tag as u16 & 0x0fff);
    let offload = vnet.needs_csum | (vnet.gso != Gso::None);
    if offload | (meta.origin != Origin::Port) | (vid == 0) | ethernet::is_tag(behind) {
        return false;
    }
    let Some(link) = snapshot.vlans.find(meta.in_port, service, vid) else { return false };
    if !pop_tag(frame) {
        return false;
    }
    meta.in_port = link;
    if let Some(count) = received.get_mut(usize::from(link)) {
        count.packets += 1;
        count.bytes += (len - ethernet::TAG) as u64;
    }
    true
}

/// Whether a packet is a received frame with a tag that has not been parsed.
#[inline]
pub(super) fn is_tagged<F: Frame>(packet: &Packet<F>) -> bool {
    const PARSED: u32 = flag::HANDED_OVER | flag::RECIRCULATED;
    packet.meta.origin == Origin::Port
        && !packet.meta.is(PARSED)
        && packet.frame.as_ref().is_some_and(|frame| {
            let ethertype: Option<&[u8; 2]> =
                frame.head().get(ethernet::ADDRESSES..).and_then(|rest| rest.first_chunk());
            ethertype.is_some_and(|bytes| ethernet::is_tag(u16::from_be_bytes(*bytes)))
        })
}

/// Takes off the tags of a frame, and makes the link that they lead to its ingress. A tag with VID 0 gives only a priority
/// (table 9-2): what is behind it is what an untagged frame would have there, another tag too, as Linux takes it. Each
/// layer counts the packets that pass it.
///
/// # Errors
/// No link has one of the tags; the frame is unchanged.
pub(super) fn untag<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
) -> Result<(), DropReason> {
    let Packet { frame: Some(frame), vnet, meta } = packet else { return Ok(()) };
    let head = frame.head();
    let (mut link, mut at) = (meta.in_port, ethernet::ADDRESSES);
    loop {
        let Some(tag): Option<&[u8; 6]> = head.get(at..).and_then(|rest| rest.first_chunk()) else {
            return Err(DropReason::VlanTagged);
        };
        let (kind, vid, behind) = (field::get16(tag, 0), field::get16(tag, 2) & 0x0fff, field::get16(tag, 4));
        let more = ethernet::is_tag(behind);
        if vid != 0 {
            let found = snapshot.vlans.find(link, kind == ethernet::SERVICE_VLAN, vid);
            link = found.ok_or(DropReason::VlanTagged)?;
            let len = frame.len().saturating_sub(at + ethernet::TAG - ethernet::ADDRESSES);
            count(state, link, vnet, len, at + ethernet::TAG - ethernet::ADDRESSES);
        }
        at += ethernet::TAG;
        if !more {
            break;
        }
    }
    meta.in_port = link;
    if pop_tags(frame, vnet, at - ethernet::ADDRESSES) { Ok(()) } else { Err(DropReason::Runt) }
}

/// Counts the wire segments of a frame of `len` bytes without the `tags` bytes of tags before it.
#[inline]
fn count<F>(state: &mut WorkerState<F>, link: LinkId, vnet: &VnetState, len: usize, tags: usize) {
    let headers = usize::from(vnet.hdr_len).saturating_sub(tags).min(len);
    let segments = vnet.segments(len - headers);
    if let Some(count) = state.vlan_rx.get_mut(usize::from(link)) {
        count.packets += u64::from(segments);
        count.bytes += (len + (segments as usize - 1) * headers) as u64;
    }
}
