//! The dependencies of an outcome beside the flow, which decide whether and for how long it may be cached.

/// A set of things beside the flow itself that a matcher or action depends on. The empty set is *flow
/// constant*: every packet of the direction gets the same outcome while connection state, mark and NAT
/// stay as they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depends(pub u8);

impl Depends {
    /// The flow alone.
    pub const FLOW_CONST: Self = Self(0);
    /// A field that differs between packets of a flow: TCP flags, ICMP type, size, TTL, content …
    pub const PACKET_FIELD: Self = Self(1);
    /// Bytes that the flow has carried.
    pub const VOLUME: Self = Self(2);
    /// The time of day, or since something.
    pub const TIME: Self = Self(4);
    /// State that other flows change too: limits, nth, psd, random.
    pub const SHARED: Self = Self(8);
    /// Side effect of each packet: a log line, an entry of a list.
    pub const SIDE_EFFECT: Self = Self(16);
    /// Whether an address is in a list.
    pub const LIST: Self = Self(32);
    /// The DSCP that packets come with, which hardly ever changes within a flow.
    pub const DSCP: Self = Self(64);
    /// Dependencies with thresholds: the outcome holds until one is reached, or the DSCP is another.
    pub const LIMITED_VALIDITY: Self = Self::VOLUME.union(Self::TIME).union(Self::DSCP);

    /// Both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Whether the flow alone decides.
    pub const fn is_flow_const(self) -> bool {
        self.0 == 0
    }
    /// Whether any of `other` is in the set.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    /// Whether all of `other` is in the set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}
