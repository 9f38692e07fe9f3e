//! The protocols that are tracked. A protocol consists of a file in this directory, which implements [`Protocol`], and
//! a row of `trackers!`. `docs/adding/protocol.md` explains an example.

use tollway_wire::{ipv4, ipv6};

use super::hot_state::HotState;
#[cfg(test)]
use super::sample;
use super::tcp::{Order, ProtocolState};
use super::timeouts::Timeouts;
use super::{generic, icmp, tcp, udp};
use crate::ids::Direction;
use crate::packet::Meta;

/// The effect of a packet on a known connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Part of the connection, whose lifetime begins again.
    Accepted(Order),
    /// Let through; state and expiry of the connection stay as they are.
    Ignored(Order),
    /// The connection does not allow the packet in its present state. Nothing is changed.
    Invalid,
    /// Opens a new connection with the tuple of this one.
    Reopened,
}

/// The tracker of a protocol, implemented for the part of a packet that the tracker reads. Items with a default are
/// implemented only where they differ.
pub(crate) trait Protocol: Sized {
    /// Reads a packet; `head` is the front of its frame. `None` if the header is incomplete: the packet is invalid
    /// then.
    fn read(meta: &Meta, head: &[u8]) -> Option<Self>;

    /// The state of the connection that the packet opens; `None` if it cannot open one.
    fn open(&self, _timeouts: &Timeouts) -> Option<ProtocolState> {
        Some(ProtocolState::default())
    }

    /// Tracks a packet of a known connection.
    fn track(&self, _state: &mut ProtocolState, _direction: Direction, _timeouts: &Timeouts) -> Judgement {
        Judgement::Accepted(Order::InOrder)
    }

    /// Tracks, on the fast path, a packet that changes nothing but windows and timers. Returns `false`, and changes
    /// nothing, if the packet must pass [`Self::track`] instead.
    #[inline(always)]
    fn track_fast(&self, hot: &mut HotState, direction: Direction) -> bool {
        hot.status.assured() || !self.assures(hot, direction)
    }

    /// Whether a packet that was accepted makes its connection *assured*: an assured connection is not evicted when the
    /// table is full.
    #[inline(always)]
    fn assures(&self, _hot: &HotState, _direction: Direction) -> bool {
        false
    }

    /// Time that a connection lives without another packet, ns.
    fn lifetime(hot: &HotState, timeouts: &Timeouts) -> u64;

    /// Whether a packet of a masqueraded connection may open another connection with another translated address.
    #[inline(always)]
    fn may_open_anew(&self) -> bool {
        true
    }

    /// Whether packets of a connection may be forwarded without being tracked.
    fn may_offload(_hot: &HotState, _timeouts: &Timeouts) -> bool {
        false
    }
}

macro_rules! trackers {
    ($($(#[cfg($cfg:meta)])? $text:literal $number:pat => $variant:ident($file:ident::$packet:ident);)*) => {
        /// The part of a packet that its tracker reads. ICMP errors do not come here.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Transport {
            $($(#[cfg($cfg)])? #[doc = $text] $variant($file::$packet),)*
        }

        impl Transport {
            /// See [`Protocol::read`].
            #[inline(always)]
            pub(crate) fn read(meta: &Meta, head: &[u8]) -> Option<Self> {
                match meta.tuple.protocol {
                    $($(#[cfg($cfg)])? $number => $file::$packet::read(meta, head).map(Self::$variant),)*
                }
            }

            /// See [`Protocol::open`].
            pub(super) fn open(&self, timeouts: &Timeouts) -> Option<ProtocolState> {
                match self { $($(#[cfg($cfg)])? Self::$variant(packet) => packet.open(timeouts),)* }
            }

            /// See [`Protocol::track`].
            pub(super) fn track(
                &self,
                state: &mut ProtocolState,
                direction: Direction,
                timeouts: &Timeouts,
            ) -> Judgement {
                match self {
                    $($(#[cfg($cfg)])? Self::$variant(packet) => Protocol::track(packet, state, direction, timeouts),)*
                }
            }

            /// Tracks like [`Protocol::track_fast`]. Returns the lifetime of the connection, ns; `None` if nothing was
            /// changed.
            #[inline(always)]
            pub(super) fn track_fast(
                &self,
                hot: &mut HotState,
                direction: Direction,
                timeouts: &Timeouts,
            ) -> Option<u64> {
                match self {
                    $($(#[cfg($cfg)])? Self::$variant(packet) => packet
                        .track_fast(hot, direction)
                        .then(|| $file::$packet::lifetime(hot, timeouts)),)*
                }
            }

            /// See [`Protocol::assures`].
            pub(super) fn assures(&self, hot: &HotState, direction: Direction) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$variant(packet) => packet.assures(hot, direction),)* }
            }

            /// See [`Protocol::lifetime`].
            pub(super) fn lifetime(&self, hot: &HotState, timeouts: &Timeouts) -> u64 {
                match self { $($(#[cfg($cfg)])? Self::$variant(_) => $file::$packet::lifetime(hot, timeouts),)* }
            }

            /// See [`Protocol::may_open_anew`].
            #[inline(always)]
            pub(crate) fn may_open_anew(&self) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$variant(packet) => packet.may_open_anew(),)* }
            }
        }

        /// [`Protocol::lifetime`] of a connection with this protocol number.
        pub(super) fn lifetime_of(protocol: u8, hot: &HotState, timeouts: &Timeouts) -> u64 {
            match protocol { $($(#[cfg($cfg)])? $number => $file::$packet::lifetime(hot, timeouts),)* }
        }

        /// [`Protocol::may_offload`] of a connection with this protocol number.
        pub(super) fn may_offload(protocol: u8, hot: &HotState, timeouts: &Timeouts) -> bool {
            match protocol { $($(#[cfg($cfg)])? $number => $file::$packet::may_offload(hot, timeouts),)* }
        }
    };
}

// Description, protocol number, and the type that implements [`Protocol`].
trackers! {
    #[cfg(test)]
    "Of the tests: requests and answers, distinguished by their first byte."
        sample::PROTOCOL => Sample(sample::Message);
    "TCP."
        ipv4::TCP => Tcp(tcp::Segment);
    "UDP."
        ipv4::UDP => Udp(udp::Datagram);
    "ICMP queries and answers, of both families."
        ipv4::ICMP | ipv6::ICMPV6 => Icmp(icmp::Message);
    "Every other protocol."
        _ => Other(generic::Packet);
}
