//! The dependencies of an outcome other than the flow, which determine whether and for how long it may be cached.

/// A set of dependencies of a matcher or action other than the flow itself. The empty set is *flow constant*: every
/// packet of the direction has the same outcome while connection state, mark and NAT do not change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depends(pub u8);

impl Depends {
    /// The flow alone.
    pub const FLOW_CONST: Self = Self(0);
    /// A field that differs between packets of a flow: TCP flags, ICMP type, size, TTL, content …
    pub const PACKET_FIELD: Self = Self(1);
    /// The number of bytes that the connection has carried.
    pub const VOLUME: Self = Self(2);
    /// The time of day, or the time since an event.
    pub const TIME: Self = Self(4);
    /// State that other flows change too: limits, nth, psd, random.
    pub const SHARED: Self = Self(8);
    /// Side effect of each packet: a log line, an entry of a list.
    pub const SIDE_EFFECT: Self = Self(16);
    /// Whether an address is in a list.
    pub const LIST: Self = Self(32);
    /// The DSCP of received packets, which hardly ever changes within a flow.
    pub const DSCP: Self = Self(64);
    /// Dependencies that limit the validity of an outcome: it is valid until a volume or time is reached, or the DSCP
    /// differs.
    pub const LIMITED_VALIDITY: Self = Self::VOLUME.union(Self::TIME).union(Self::DSCP);

    /// The union of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Whether the flow alone decides.
    pub const fn is_flow_const(self) -> bool {
        self.0 == 0
    }
    /// Whether any of `other` is in the set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    /// Whether all of `other` is in the set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}
