//! Validity of an outcome that depends on volume, time, DSCP or address lists. While it is valid, the rules need not be
//! evaluated for every packet.

use super::view::{PacketView, Side};
use crate::time::Now;

/// Maximum number of memberships on which an outcome may depend and still be cached.
pub const MAX_LISTED: usize = 2;

/// An address of the packet on whose membership in a list the outcome depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Membership {
    /// Index of the list in the configuration.
    pub list: u32,
    /// Address of the packet: source or destination.
    pub side: Side,
}

/// The limits of the validity of an outcome. The default is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutcomeValidity {
    /// The outcome is valid while the connection has carried fewer L3 bytes, both directions together.
    pub bytes: u64,
    /// The outcome is valid before this time.
    pub until: Now,
    /// The outcome is valid only for packets with this DSCP.
    pub dscp: Option<u8>,
    /// The outcome is valid while these memberships do not change.
    pub listed: [Option<Membership>; MAX_LISTED],
}

impl Default for OutcomeValidity {
    fn default() -> Self {
        Self { bytes: u64::MAX, until: Now(u64::MAX), dscp: None, listed: [None; MAX_LISTED] }
    }
}

impl OutcomeValidity {
    /// Whether the validity is unlimited.
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// Lowers the limits of volume and time to these, if they are lower.
    pub fn narrow(&mut self, bytes: u64, until: Now) {
        self.bytes = self.bytes.min(bytes);
        self.until = self.until.min(until);
    }

    /// Notes that the outcome depends on the received DSCP, unless a rule has written the DSCP.
    pub fn note_dscp(&mut self, view: &PacketView) {
        if !view.dscp_written {
            self.dscp = Some(view.dscp);
        }
    }

    /// Notes that the outcome depends on a membership. Returns `false` if there is no room for it.
    pub fn note_membership(&mut self, listed: Membership) -> bool {
        if self.listed.contains(&Some(listed)) {
            return true;
        }
        let Some(free) = self.listed.iter_mut().find(|place| place.is_none()) else { return false };
        *free = Some(listed);
        true
    }
}
