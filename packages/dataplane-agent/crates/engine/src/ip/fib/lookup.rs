//! Lookup results, and their packed form, which is read without a lock.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::ids::InterfaceIndex;

/// Result of a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lookup {
    /// An address of the router, on this interface.
    Local {
        /// Interface that has it.
        interface: InterfaceIndex,
    },
    /// The broadcast address of a connected network.
    Broadcast {
        /// Interface of the network.
        interface: InterfaceIndex,
    },
    /// A neighbour in a connected network.
    Connected {
        /// Interface of the network.
        interface: InterfaceIndex,
    },
    /// Forward to a neighbour.
    Via {
        /// Interface of the neighbour.
        interface: InterfaceIndex,
        /// IPv4 address of the gateway.
        gateway: u32,
    },
    /// The route discards packets.
    Discard(Discard),
    /// There is no route.
    NoRoute,
}

/// The action of a route that forwards nothing: its type in rtnetlink(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Discard {
    /// Drops packets silently.
    Blackhole,
    /// Answers packets with host unreachable.
    Unreachable,
    /// Answers packets with communication administratively prohibited.
    Prohibit,
}

impl Lookup {
    /// The interface, if there is one.
    pub fn interface(self) -> Option<InterfaceIndex> {
        match self {
            Self::Local { interface }
            | Self::Broadcast { interface }
            | Self::Connected { interface }
            | Self::Via { interface, .. } => Some(interface),
            Self::Discard(_) | Self::NoRoute => None,
        }
    }

    /// Packed form: kind in bits 48 and up, interface in bits 32 to 47, gateway or type of discard in bits 0 to 31. 0
    /// is [`Lookup::NoRoute`].
    fn packed(self) -> u64 {
        let kind = |kind: u64, interface: InterfaceIndex| kind << 48 | u64::from(interface) << 32;
        match self {
            Self::NoRoute => 0,
            Self::Discard(Discard::Blackhole) => kind(1, 0),
            Self::Discard(Discard::Unreachable) => kind(1, 0) | 1,
            Self::Discard(Discard::Prohibit) => kind(1, 0) | 2,
            Self::Local { interface } => kind(2, interface),
            Self::Broadcast { interface } => kind(3, interface),
            Self::Connected { interface } => kind(4, interface),
            Self::Via { interface, gateway } => kind(5, interface) | u64::from(gateway),
        }
    }

    #[inline]
    fn unpacked(packed: u64) -> Self {
        let interface = (packed >> 32) as InterfaceIndex;
        match packed >> 48 {
            5 => Self::Via { interface, gateway: packed as u32 },
            4 => Self::Connected { interface },
            3 => Self::Broadcast { interface },
            2 => Self::Local { interface },
            1 => Self::Discard(match packed as u32 {
                1 => Discard::Unreachable,
                2 => Discard::Prohibit,
                _ => Discard::Blackhole,
            }),
            _ => Self::NoRoute,
        }
    }
}

/// A shared next hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextHop {
    /// Result of lookups.
    pub lookup: Lookup,
    /// Source for the router's own packets; 0 without one.
    pub source: u32,
}

/// Number of different values that cells can hold.
pub const HOPS: usize = 1 << 15;

/// Next hops by number. A published next hop never changes, so that a number read from a cell has the meaning that it
/// had when it was written.
#[derive(Debug)]
pub struct NextHops {
    lookups: Box<[AtomicU64; HOPS]>,
    sources: Box<[AtomicU32; HOPS]>,
}

impl NextHops {
    /// An array whose next hops forward nothing.
    pub fn new() -> Self {
        Self { lookups: bytemuck::zeroed_box(), sources: bytemuck::zeroed_box() }
    }

    /// Lookup result of a number.
    #[inline]
    pub fn lookup(&self, number: u16) -> Lookup {
        let slot = &self.lookups[usize::from(number) % HOPS];
        Lookup::unpacked(slot.load(Ordering::Relaxed))
    }

    /// Source address for the router's own packets; 0 without one.
    pub fn source(&self, number: u16) -> u32 {
        self.sources[usize::from(number) % HOPS].load(Ordering::Relaxed)
    }

    /// Publishes the next hop of a number, before any cell holds the number.
    pub fn publish(&self, number: u16, hop: NextHop) {
        self.lookups[usize::from(number) % HOPS].store(hop.lookup.packed(), Ordering::Relaxed);
        self.sources[usize::from(number) % HOPS].store(hop.source, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_everything() {
        let (interface, gateway) = (0xfffe, 0xffff_fffe);
        for lookup in [
            Lookup::NoRoute,
            Lookup::Discard(Discard::Blackhole),
            Lookup::Discard(Discard::Unreachable),
            Lookup::Discard(Discard::Prohibit),
            Lookup::Local { interface },
            Lookup::Broadcast { interface },
            Lookup::Connected { interface },
            Lookup::Via { interface, gateway },
            Lookup::Via { interface: 0, gateway: 0 },
        ] {
            assert_eq!(Lookup::unpacked(lookup.packed()), lookup);
        }
    }
}
