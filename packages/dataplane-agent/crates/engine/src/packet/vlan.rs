//! VLAN tags of frames (IEEE 802.1Q-2018 §9.3).

use tollway_wire::{ethernet, field};

use crate::packet::frame::{Frame, VnetState};

/// Takes the first `len` bytes of tags off a frame. Returns `false`, changing nothing, if the frame's head is shorter.
#[inline]
pub(crate) fn pop_tags<F: Frame>(frame: &mut F, vnet: &mut VnetState, len: usize) -> bool {
    let head = frame.head_mut();
    if head.len() < ethernet::HEADER + len {
        return false;
    }
    head.copy_within(..ethernet::ADDRESSES, len);
    let pulled = frame.pull(len);
    vnet.pulled(len as u16);
    pulled
}

/// [`pop_tags`] of one tag, for frames that need no offload. Its length is known where this is compiled, so that the
/// addresses are moved without a call.
#[inline]
pub(crate) fn pop_tag<F: Frame>(frame: &mut F) -> bool {
    let front: Option<&mut [u8; ethernet::HEADER + ethernet::TAG]> = frame.head_mut().first_chunk_mut();
    let Some(front) = front else { return false };
    front.copy_within(..ethernet::ADDRESSES, ethernet::TAG);
    frame.pull(ethernet::TAG)
}

/// [`push_tags`] of one tag; compiled as [`pop_tag`].
#[inline(always)]
pub(crate) fn push_tag<F: Frame>(frame: &mut F, vnet: &mut VnetState, tag: [u8; ethernet::TAG]) -> bool {
    const END: usize = ethernet::ADDRESSES + ethernet::TAG;
    if frame.head().len() < ethernet::HEADER || !frame.push(ethernet::TAG) {
        return false;
    }
    if let Some(front) = frame.head_mut().first_chunk_mut::<END>() {
        front.copy_within(ethernet::TAG..END, 0);
        field::put(front, ethernet::ADDRESSES, &tag);
    }
    vnet.pushed(ethernet::TAG as u16);
    true
}

/// Puts tags between the addresses and the EtherType of a frame. Returns `false`, changing nothing, if there is no room
/// before the frame.
#[inline(always)]
pub(crate) fn push_tags<F: Frame>(frame: &mut F, vnet: &mut VnetState, tags: &[u8]) -> bool {
    let len = tags.len();
    if frame.head().len() < ethernet::HEADER || !frame.push(len) {
        return false;
    }
    let head = frame.head_mut();
    head.copy_within(len..len + ethernet::ADDRESSES, 0);
    if let Some(place) = head.get_mut(ethernet::ADDRESSES..ethernet::ADDRESSES + len) {
        place.copy_from_slice(tags);
    }
    vnet.pushed(len as u16);
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::frame::{Gso, HeapFrame};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn tags_that_are_pushed_and_popped_leave_the_frame_as_it_was(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            tags in prop::collection::vec(any::<[u8; 4]>(), 1..5),
            needs_csum in any::<bool>(),
            gso in prop::sample::select(vec![Gso::None, Gso::Tcp4, Gso::Udp]),
        ) {
            let tags: Vec<u8> = tags.concat();
            let before = VnetState { needs_csum, gso, csum_start: 34, csum_offset: 16, hdr_len: 54, ..VnetState::default() };
            let (mut frame, mut vnet) = (HeapFrame(bytes.clone()), before);
            let whole = bytes.len() >= ethernet::HEADER;
            prop_assert_eq!(push_tags(&mut frame, &mut vnet, &tags), whole);
            if whole {
                prop_assert_eq!(frame.head(), [&bytes[..12], &tags, &bytes[12..]].concat());
                let moved = tags.len() as u16;
                let csum_start = if needs_csum { 34 + moved } else { 34 };
                let hdr_len = if gso == Gso::None { 54 } else { 54 + moved };
                prop_assert_eq!((vnet.csum_start, vnet.hdr_len), (csum_start, hdr_len));
                prop_assert!(!pop_tags(&mut frame, &mut vnet, bytes.len() + tags.len() - 13));
                prop_assert!(pop_tags(&mut frame, &mut vnet, tags.len()));
            }
            prop_assert_eq!(frame.head(), &bytes[..]);
            prop_assert_eq!(vnet, before);
            // One tag, by the functions for one.
            let tag = tags[..4].try_into().unwrap();
            let (mut other, mut other_vnet) = (HeapFrame(bytes.clone()), before);
            let pushed = push_tags(&mut other, &mut other_vnet, &tags[..4]);
            prop_assert_eq!(push_tag(&mut frame, &mut vnet, tag), pushed);
            prop_assert_eq!((frame.head(), vnet), (other.head(), other_vnet));
            if pushed {
                prop_assert!(pop_tag(&mut frame));
                prop_assert_eq!(frame.head(), bytes);
            }
        }
    }
}
