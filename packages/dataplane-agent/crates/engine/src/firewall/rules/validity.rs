//! Validity of an outcome that depends on volume, time, DSCP or address lists: until when it holds, so that the rules
//! need not be evaluated for every packet.

use super::view::{PacketView, Side};
use crate::time::Now;

/// Memberships that an outcome may depend on and still be remembered.
pub const MAX_LISTED: usize = 2;

/// An address of the packet whose membership in a list decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Membership {
    /// Index of the list in the configuration.
    pub list: u32,
    /// Address of the packet: source or destination.
    pub side: Side,
}

/// Until when an outcome holds. The default has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutcomeValidity {
    /// While the connection has carried less, L3 bytes of both directions together.
    pub bytes: u64,
    /// Until this moment.
    pub until: Now,
    /// For packets with this DSCP alone.
    pub dscp: Option<u8>,
    /// While these addresses are in their lists, or are not, as they were.
    pub listed: [Option<Membership>; MAX_LISTED],
}

impl Default for OutcomeValidity {
    fn default() -> Self {
        Self { bytes: u64::MAX, until: Now(u64::MAX), dscp: None, listed: [None; MAX_LISTED] }
    }
}

impl OutcomeValidity {
    /// Whether the outcome holds without end.
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// The stricter of both thresholds counts.
    pub fn narrow(&mut self, bytes: u64, until: Now) {
        self.bytes = self.bytes.min(bytes);
        self.until = self.until.min(until);
    }

    /// Notes that the DSCP decided, unless a rule has written it.
    pub fn note_dscp(&mut self, view: &PacketView) {
        if !view.dscp_written {
            self.dscp = Some(view.dscp);
        }
    }

    /// Notes that a membership decided; `false` when there is no room for it.
    pub fn note_membership(&mut self, listed: Membership) -> bool {
        if self.listed.contains(&Some(listed)) {
            return true;
        }
        let Some(free) = self.listed.iter_mut().find(|place| place.is_none()) else { return false };
        *free = Some(listed);
        true
    }
}
