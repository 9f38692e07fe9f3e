//! The flow entry of one direction of a connection: the key that a lookup compares, and the cached action that the fast
//! path applies on a hit. One cache line.

use crate::flow::change_counters::Stamp;
use crate::ids::{AdjacencyId, QueueRef};
use crate::packet::key::{FAMILY, FlowKey, IN_PORT, V6, V6_ONLY};
use crate::packet::membership_slot::MembershipSlot;

/// Bits of [`CachedAction::flags`].
pub mod action_flag {
    /// Rewrite the source.
    pub const NAT_SRC: u16 = 2;
    /// Rewrite the destination.
    pub const NAT_DST: u16 = 4;
    /// The action has a limited [`Validity`](crate::flow::conntrack::Validity).
    pub const LIMITED_VALIDITY: u16 = 8;
    /// Write the DSCP in [`DSCP`].
    pub const SET_DSCP: u16 = 16;
    /// New DSCP with `SET_DSCP`.
    pub const DSCP: u16 = 0x3f00;
    /// Lowest bit of [`DSCP`].
    pub const DSCP_SHIFT: u32 = 8;
}

impl CachedAction {
    /// The DSCP to write.
    #[inline]
    pub const fn new_dscp(&self) -> Option<u8> {
        if self.flags & action_flag::SET_DSCP == 0 {
            None
        } else {
            Some(((self.flags & action_flag::DSCP) >> action_flag::DSCP_SHIFT) as u8)
        }
    }

    /// Makes the action write this DSCP.
    pub(crate) fn set_dscp(&mut self, dscp: u8) {
        self.flags |= action_flag::SET_DSCP | u16::from(dscp & 0x3f) << action_flag::DSCP_SHIFT;
    }
}

/// The action for later packets of a direction. The checksum deltas do not include the TTL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CachedAction {
    /// Number of the worker's [cache epoch](crate::flow::cache_epoch) at install; 0 when there is no action.
    pub cache_epoch: u32,
    /// Count of changes of routes and lists at install, or at the last revalidation.
    pub stamp: Stamp,
    /// Adjacency of the next hop, whose MAC address becomes the link-layer destination.
    pub adjacency: AdjacencyId,
    /// Queue reference of the packets, valid within this cache epoch.
    pub queue: QueueRef,
    /// Path id: the rules counted.
    pub path: u32,
    /// New IPv4 source with `NAT_SRC`.
    pub new_src: u32,
    /// New IPv4 destination with `NAT_DST`.
    pub new_dst: u32,
    /// Connection version at install.
    pub version: u16,
    /// Egress port.
    pub out_port: u16,
    /// Resume point: the rule from which on rules are evaluated for every packet; 0 for none.
    pub resume: u16,
    /// See [`action_flag`].
    pub flags: u16,
    /// New source port (ICMP: identifier) with `NAT_SRC`.
    pub new_src_port: u16,
    /// New destination port (ICMP: identifier) with `NAT_DST`.
    pub new_dst_port: u16,
    /// Change of the IPv4 header checksum by the new addresses.
    pub l3_delta: u16,
    /// Change of a complete L4 checksum.
    pub l4_delta: u16,
    /// Address list lookups that it depends on.
    pub lists: [MembershipSlot; 2],
}

/// A direction of a connection in the flow cache: key and cached action, in one cache line of 64 bytes.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub struct FlowEntry {
    key: FlowKey,
    /// The action for later packets.
    pub action: CachedAction,
}

impl FlowEntry {
    /// An entry without an action.
    pub(super) fn new(key: FlowKey) -> Self {
        Self { key, action: CachedAction::default() }
    }

    /// The key.
    #[inline]
    pub(super) fn key(&self) -> &FlowKey {
        &self.key
    }

    /// Whether the key is that of an IPv4 tuple. `false` for every IPv6 entry.
    #[inline]
    pub(super) fn is_exactly_v4(&self, key: &FlowKey) -> bool {
        let ports = (self.key.rest ^ key.rest) << (64 - IN_PORT);
        (self.key.addresses ^ key.addresses) | ports | (self.key.rest & V6_ONLY) == 0
    }

    /// Whether the key is that of a tuple; for IPv6 its addresses must still be compared.
    #[inline]
    pub(super) fn is(&self, key: &FlowKey) -> bool {
        let place = if self.key.rest & FAMILY == V6 { u64::from(u32::MAX) } else { 0 };
        ((self.key.addresses ^ key.addresses) & !place) | (self.key.rest ^ key.rest) << (64 - IN_PORT) == 0
    }

    /// Ingress port of the packets for which the action is valid.
    #[inline]
    pub fn in_port(&self) -> u16 {
        (self.key.rest >> IN_PORT) as u16
    }

    /// Stores an action for packets from a port.
    #[inline(always)]
    pub(super) fn set(&mut self, in_port: u16, action: CachedAction) {
        self.key.rest = self.key.rest & !(0xffff << IN_PORT) | u64::from(in_port) << IN_PORT;
        self.action = action;
    }
}

const _: () = assert!(size_of::<FlowEntry>() == 64);
