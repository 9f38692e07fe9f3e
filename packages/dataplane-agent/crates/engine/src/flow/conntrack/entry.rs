//! The flow entry of one direction of a connection: the key that a lookup compares, and the cached action that the fast
//! path applies on a hit. Both entries of an IPv4 connection share a cache line, so that the translation of a packet,
//! which is the reverse of the other direction's key, costs no further one. An entry of IPv6 has a line of its own.

use crate::flow::change_counters::Stamp;
use crate::ids::{ActionId, NO_ACTION, QueueRef};
use crate::packet::key::FlowKey;

/// Bits of [`CachedAction::flags`].
pub mod action_flag {
    /// Rewrite the source.
    pub const NAT_SRC: u16 = 2;
    /// Rewrite the destination.
    pub const NAT_DST: u16 = 4;
    /// The action has a limited [`Validity`](crate::flow::conntrack::Validity).
    pub const LIMITED_VALIDITY: u16 = 8;
    /// Rules are evaluated for each packet, from the resume point of the action on.
    pub const RESUMES: u16 = 16;
    /// The action depends on address lists.
    pub const LISTED: u16 = 32;
}

/// The action for later packets of a direction: the number of the action that it shares with other flows, and what is
/// its own. New addresses and ports are those of the other direction's key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CachedAction {
    /// Number among the worker's [flow actions](crate::flow::actions::FlowActions); [`NO_ACTION`] when none was cached.
    pub action: ActionId,
    /// Count of changes of routes and lists at install, or at the last revalidation.
    pub stamp: Stamp,
    /// Connection version at install.
    pub version: u16,
    /// See [`action_flag`].
    pub flags: u16,
    /// Queue reference of the packets, valid within this cache epoch.
    pub queue: QueueRef,
}

impl CachedAction {
    /// Whether an action was cached, valid or not.
    #[inline]
    pub const fn is_some(&self) -> bool {
        self.action != NO_ACTION
    }

    /// Whether any of the flags is set.
    #[inline]
    pub const fn has(&self, flags: u16) -> bool {
        self.flags & flags != 0
    }
}

/// New addresses and ports of the translated packets of an entry of IPv6.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NewEnds {
    /// Number of the addresses in the worker's [table](crate::flow::new_addresses::NewAddressTable); 0 if only the key of
    /// the other direction has them.
    pub addresses: u32,
    /// Ports as in the header, source before destination.
    pub ports: u32,
}

/// A direction of a connection in the flow cache: key and cached action.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(32))]
pub struct FlowEntry {
    key: FlowKey,
    /// The action for later packets.
    pub cached: CachedAction,
}

impl FlowEntry {
    /// An entry without an action.
    pub(super) fn new(key: FlowKey) -> Self {
        Self { key, cached: CachedAction::default() }
    }

    /// The key.
    #[inline]
    pub(crate) fn key(&self) -> &FlowKey {
        &self.key
    }

    /// Whether the key is this one of IPv4.
    #[inline]
    pub(super) fn is(&self, key: &FlowKey) -> bool {
        (self.key.addresses ^ key.addresses) | (self.key.rest ^ key.rest) == 0
    }

    /// Whether the key, without the addresses of the packets, is this one of IPv6.
    #[inline]
    pub(super) fn is_v6(&self, key: &FlowKey) -> bool {
        self.key.rest == key.rest
    }

    /// New addresses and ports, of an entry of IPv6. They are in place of the addresses of IPv4 in the key.
    #[inline]
    pub(crate) fn new_ends(&self) -> NewEnds {
        NewEnds { addresses: (self.key.addresses >> 32) as u32, ports: self.key.addresses as u32 }
    }

    /// Sets what [`Self::new_ends`] returns, of an entry of IPv6.
    pub(super) fn set_new_ends(&mut self, ends: NewEnds) {
        self.key.addresses = u64::from(ends.addresses) << 32 | u64::from(ends.ports);
    }
}

const _: () = assert!(size_of::<FlowEntry>() == 32);
