//! Steering of received frames to the worker that owns their flow, by a hash of addresses and ports. A frame of a flow
//! of another worker is handed over unparsed, and parsed only there.

use tollway_config::dataplane::MAX_VLAN_TAGS;
use tollway_wire::{ethernet, field, ipv4};

use crate::ids::PortId;
use crate::packet::frame::{Frame, VnetState};
use crate::packet::tuple::{Addr, steer_ports};
use crate::pipeline::batch::Batch;
use crate::pipeline::handover::{Handover, HandoverContents};

/// Bytes of a frame with an IPv4 header without options, up to the ports behind it.
const PORTS_END: usize = 38;
/// Bytes of a frame with an IPv6 header, up to the ports behind it.
const IPV6_PORTS_END: usize = 58;

/// Bytes of tags that are looked behind: as many as lead to a link, and one for a priority.
const MAX_TAGS: usize = (MAX_VLAN_TAGS + 1) * ethernet::TAG;

/// Steering of the frames of a burst. The settings are read once for all of them.
#[derive(Debug, Clone, Copy)]
pub struct Steering {
    worker: u32,
    /// Number of workers; 1 if every frame is to be parsed by this worker.
    workers: u32,
}

impl Steering {
    /// For worker `worker` of `workers`.
    pub(crate) const fn new(worker: u32, workers: u32) -> Self {
        Self { worker, workers }
    }

    /// Every frame is parsed where it was received.
    pub(crate) const OFF: Self = Self { worker: 0, workers: 1 };

    /// Adds a frame received on `port` to the batch, or returns it with the worker to which it has to be handed over.
    /// `vnet` is the offload state as received.
    ///
    /// A frame whose owner is not known from these headers is added to the batch, and so are all later frames of the
    /// batch, which might overtake it otherwise.
    #[inline]
    pub fn steer<F: Frame>(
        self,
        batch: &mut Batch<F>,
        frame: F,
        port: PortId,
        vnet: VnetState,
    ) -> Option<(u32, Handover<F>)> {
        if self.workers > 1 && !batch.has_unsteered() {
            match owner(frame.head(), self.workers) {
                Some(owner) if owner == self.worker => batch.push_steered(frame, port, vnet),
                Some(owner) => {
                    return Some((
                        owner,
                        Handover { frame, vnet, contents: HandoverContents::Received(port) },
                    ));
                }
                None => batch.push_unsteered(frame, port, vnet),
            }
        } else {
            batch.push_unsteered(frame, port, vnet);
        }
        None
    }
}

/// The worker that [`crate::packet::tuple::steer`] returns for a TCP or UDP packet over IPv4 that is not a fragment and
/// has no options, or over IPv6 without extension headers; `None` for all others. The owner checks whether the packet is valid.
#[inline]
fn owner(head: &[u8], workers: u32) -> Option<u32> {
    let front: &[u8; PORTS_END] = head.first_chunk()?;
    if ethernet::is_tag(field::get16(front, ethernet::ADDRESSES)) {
        return owner_of_tagged(head, workers);
    }
    owner_of_untagged(front, workers).or_else(|| owner_of_ipv6(head, workers))
}

/// [`owner`] of an IPv6 packet in a frame without tags.
// Out of line: most packets are of IPv4.
#[inline(never)]
fn owner_of_ipv6(head: &[u8], workers: u32) -> Option<u32> {
    let head: &[u8; IPV6_PORTS_END] = head.first_chunk()?;
    let is_ipv6 = field::get16(head, ethernet::ADDRESSES) == ethernet::IPV6 && head[14] >> 4 == 6;
    if !is_ipv6 || !matches!(head[20], ipv4::TCP | ipv4::UDP) {
        return None;
    }
    let ports = field::get16(head, 54) ^ field::get16(head, 56);
    let [src, dst] = [22, 38].map(|at| Addr(field::get128(head, at)));
    Some(steer_ports(ports, || src.fold() ^ dst.fold(), workers))
}

/// [`owner`] of a frame with tags. Which link they lead to matters not: what was decapsulated has the same owner.
// Out of line: the frames of ports have no tags.
#[inline(never)]
fn owner_of_tagged(head: &[u8], workers: u32) -> Option<u32> {
    let mut tags = ethernet::TAG;
    while tags < MAX_TAGS && ethernet::is_tag(field::get16(head, ethernet::ADDRESSES + tags)) {
        tags += ethernet::TAG;
    }
    let untagged = head.get(tags..)?;
    owner_of_untagged(untagged.first_chunk()?, workers).or_else(|| owner_of_ipv6(untagged, workers))
}

/// [`owner`] of a frame without tags; of one with tags, from where it would begin without them.
#[inline]
fn owner_of_untagged(head: &[u8; PORTS_END], workers: u32) -> Option<u32> {
    let other = (field::get32(head, 12) >> 8 != 0x0008_0045)
        | (field::get16(head, 20) & ipv4::FRAGMENTED != 0)
        | !((head[23] == ipv4::TCP) | (head[23] == ipv4::UDP));
    if other {
        return None;
    }
    let ports = field::get16(head, 34) ^ field::get16(head, 36);
    Some(steer_ports(ports, || field::get32(head, 26) ^ field::get32(head, 30), workers))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::tuple::{Tuple, steer};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn the_owner_of_a_packet_of_ipv6_is_that_of_the_tuple(
            (src, dst) in any::<(u128, u128)>(),
            (src_port, dst_port) in any::<(u16, u16)>(),
            same_ports in any::<bool>(),
            tcp in any::<bool>(),
            workers in 2u32..9,
        ) {
            let dst_port = if same_ports { src_port } else { dst_port };
            let protocol = if tcp { ipv4::TCP } else { ipv4::UDP };
            let mut head = [0; 74];
            head[12..15].copy_from_slice(&[0x86, 0xdd, 0x6b]);
            head[20] = protocol;
            head[22..38].copy_from_slice(&src.to_be_bytes());
            head[38..54].copy_from_slice(&dst.to_be_bytes());
            head[54..56].copy_from_slice(&src_port.to_be_bytes());
            head[56..58].copy_from_slice(&dst_port.to_be_bytes());
            let (src, dst) = (Addr(src), Addr(dst));
            let expected = steer(&Tuple { src, dst, src_port, dst_port, protocol, icmp: 0, zone: 0 }, workers);
            prop_assert_eq!(owner(&head, workers), Some(expected));
            let tagged = [&head[..12], &[0x81, 0, 0, 5], &head[12..]].concat();
            prop_assert_eq!(owner(&tagged, workers), Some(expected));
            for (at, value) in [(13, 6), (14, 0x45), (20, 44), (20, 58)] {
                let mut other = head;
                other[at] = value;
                prop_assert_eq!(owner(&other, workers), None);
            }
            prop_assert_eq!(owner(&head[..IPV6_PORTS_END - 1], workers), None);
        }

        #[test]
        fn the_owner_is_that_of_the_tuple(
            (src, dst) in any::<(u32, u32)>(),
            (src_port, dst_port) in any::<(u16, u16)>(),
            same_ports in any::<bool>(),
            tcp in any::<bool>(),
            workers in 2u32..9,
        ) {
            let dst_port = if same_ports { src_port } else { dst_port };
            let protocol = if tcp { ipv4::TCP } else { ipv4::UDP };
            let mut head = [0; 60];
            head[12..15].copy_from_slice(&[8, 0, 0x45]);
            // May not be fragmented.
            (head[20], head[23]) = (0x40, protocol);
            head[26..30].copy_from_slice(&src.to_be_bytes());
            head[30..34].copy_from_slice(&dst.to_be_bytes());
            head[34..36].copy_from_slice(&src_port.to_be_bytes());
            head[36..38].copy_from_slice(&dst_port.to_be_bytes());
            let (src, dst) = (Addr::v4(src), Addr::v4(dst));
            let expected = steer(&Tuple { src, dst, src_port, dst_port, protocol, icmp: 0, zone: 0 }, workers);
            prop_assert_eq!(owner(&head, workers), Some(expected));
            for (at, value) in [(12, 6), (13, 6), (14, 0x46), (20, 0x20), (21, 1), (23, 1)] {
                let mut other = head;
                other[at] = value;
                prop_assert_eq!(owner(&other, workers), None);
            }
            prop_assert_eq!(owner(&head[..PORTS_END - 1], workers), None);
            for tags in 1..=MAX_TAGS / ethernet::TAG {
                let tagged = [&head[..12], &[0x81, 0, 0, 5].repeat(tags), &head[12..]].concat();
                prop_assert_eq!(owner(&tagged, workers), Some(expected));
                prop_assert_eq!(owner(&tagged[..PORTS_END + tags * ethernet::TAG - 1], workers), None);
            }
        }
    }
}
