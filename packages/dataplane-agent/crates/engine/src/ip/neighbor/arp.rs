//! Building ARP frames (RFC 826).

use tollway_wire::{arp, ethernet};

use crate::packet::frame::{Frame, FrameSource};

/// Length of an ARP frame on Ethernet without padding, bytes.
pub const FRAME_LEN: usize = ethernet::HEADER + arp::LEN;

/// Writes one ARP frame; `None` when the pool is empty.
pub fn build<F: Frame, S: FrameSource<F>>(source: &mut S, to: [u8; 6], packet: arp::Repr) -> Option<F> {
    let mut frame = source.take(FRAME_LEN)?;
    let head = frame.head_mut();
    ethernet::Repr { dst_addr: to, src_addr: packet.sender_mac, ethertype: ethernet::ARP }.emit(head);
    packet.emit(head.get_mut(ethernet::HEADER..)?);
    Some(frame)
}
