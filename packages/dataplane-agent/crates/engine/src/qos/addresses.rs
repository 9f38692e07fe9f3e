//! The addresses by which the queues of a packet are found.

use tollway_wire::{ethernet, field, ipv4, ipv6};

use crate::packet::tuple::Addr;

/// The addresses by which the queues of a packet are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueAddresses {
    /// Source before its translation.
    pub src: Addr,
    /// Destination after its translation.
    pub dst: Addr,
}

impl QueueAddresses {
    /// The addresses in a frame; all zero if it is not IP.
    pub fn of_frame(head: &[u8]) -> Self {
        match ethernet::network_header(head) {
            Some((at, ethernet::IPV4)) => {
                let address = |offset| Addr::v4(field::get32(head, at + offset));
                Self { src: address(ipv4::offset::SRC), dst: address(ipv4::offset::DST) }
            }
            Some((at, ethernet::IPV6)) => {
                let address = |offset| Addr(field::get128(head, at + offset));
                Self { src: address(ipv6::offset::SRC), dst: address(ipv6::offset::DST) }
            }
            _ => Self::default(),
        }
    }
}
