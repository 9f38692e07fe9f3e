//! Lookup results, and their packed form, which is read without a lock.

use super::address::Address;
use crate::ids::InterfaceIndex;

/// Result of a lookup of an IPv4 address.
pub type Lookup = RouteLookup<u32>;

/// Result of a lookup of an IPv6 address.
pub type Lookup6 = RouteLookup<u128>;

/// Result of a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RouteLookup<A> {
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
        /// Address of the gateway.
        gateway: A,
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

impl<A: Address> RouteLookup<A> {
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

    /// Packed form: kind in bits 48 and up, interface in bits 32 to 47, lower bits of the gateway or type of discard in
    /// bits 0 to 31. 0 is [`RouteLookup::NoRoute`].
    pub(super) fn packed(self) -> u64 {
        let kind = |kind: u64, interface: InterfaceIndex| kind << 48 | u64::from(interface) << 32;
        match self {
            Self::NoRoute => 0,
            Self::Discard(Discard::Blackhole) => kind(1, 0),
            Self::Discard(Discard::Unreachable) => kind(1, 0) | 1,
            Self::Discard(Discard::Prohibit) => kind(1, 0) | 2,
            Self::Local { interface } => kind(2, interface),
            Self::Broadcast { interface } => kind(3, interface),
            Self::Connected { interface } => kind(4, interface),
            Self::Via { interface, gateway } => kind(5, interface) | u64::from(gateway.low()),
        }
    }

    #[inline]
    pub(super) fn unpacked(packed: u64, gateways: &[A::Atomic], number: usize) -> Self {
        let interface = (packed >> 32) as InterfaceIndex;
        match packed >> 48 {
            5 => Self::Via { interface, gateway: A::gateway(packed as u32, gateways, number) },
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NextHop<A> {
    /// Result of lookups.
    pub lookup: RouteLookup<A>,
    /// Source for the router's own packets; unspecified without one.
    pub source: A,
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
            assert_eq!(Lookup::unpacked(lookup.packed(), &[], 0), lookup);
        }
    }
}
