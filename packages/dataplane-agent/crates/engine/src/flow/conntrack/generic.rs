//! Protocols without a tracker of their own: addresses and protocol number only.

use super::timeouts::Timeouts;

/// Lifetime of the flow after a packet, ns.
pub fn timeout(timeouts: &Timeouts) -> u64 {
    timeouts.generic
}
