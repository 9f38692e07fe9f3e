//! UDP: one-way and two-way timeouts.

use super::connection::Status;
use super::timeouts::Timeouts;
use crate::ids::Direction;

/// Lifetime of the flow after a packet, ns: `udp-timeout` until a reply, then `udp-stream-timeout`.
pub fn timeout(status: Status, timeouts: &Timeouts) -> u64 {
    if status.seen_reply() { timeouts.udp_stream } else { timeouts.udp }
}

/// Whether this packet shows traffic both ways beyond the first exchange, which makes the flow assured.
/// A DNS lookup, one question and one answer, is not.
pub fn assures(status: Status, direction: Direction) -> bool {
    status.seen_reply() && direction == Direction::Original
}
