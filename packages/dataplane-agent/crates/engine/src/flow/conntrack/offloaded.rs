//! Connections with packets that were not tracked, because they were forwarded outside the engine, which learns their
//! number later, or while tracking was off.

use super::protocol;
use super::table::ConnectionTable;
use super::tcp::{ProtocolState, State};
use super::timeouts::Timeouts;
use crate::ids::{ConnRef, Direction};
use crate::time::Now;

impl ConnectionTable {
    /// Whether packets of a connection may be forwarded without being tracked.
    pub(crate) fn may_offload(&self, reference: ConnRef, now: Now, timeouts: &Timeouts) -> bool {
        let Some((hot, tuples)) = self.hot(reference).zip(self.tuples(reference)) else { return false };
        let can_offload = protocol::may_offload(tuples.original.protocol, hot, timeouts);
        can_offload && hot.status.confirmed() && hot.is_alive(now)
    }

    /// Marks the windows of a connection as unknown: they are learned again from the next segments.
    pub(crate) fn forget_windows(&mut self, reference: ConnRef) {
        if let Some(hot) = self.get_mut(reference)
            && hot.protocol_state.state() == State::Established
        {
            hot.protocol_state = ProtocolState::with_unknown_windows();
        }
    }

    /// [`Self::forget_windows`] for all connections, also those that are being closed: segments have passed while
    /// tracking was off, and all later segments would be out of window. Linux does the same. One pass over the hot
    /// states, in memory order.
    pub(crate) fn forget_all_windows(&mut self) {
        for hot in self.hot.iter_mut().filter(|hot| hot.status.used()) {
            match hot.protocol_state.state() {
                // Other protocols have no windows, and a handshake is over soon.
                State::None | State::SynSent | State::SynRecv | State::SynSent2 => {}
                _ => hot.protocol_state = hot.protocol_state.without_windows(),
            }
        }
    }

    /// Counts packets that were forwarded outside the engine, and extends the life of their connection as if they had
    /// been tracked. Returns `false` if the connection is gone.
    pub(crate) fn add_offloaded_counts(
        &mut self,
        reference: ConnRef,
        direction: Direction,
        (packets, bytes): (u64, u64),
        now: Now,
        timeouts: &Timeouts,
    ) -> bool {
        let Some(tuples) = self.tuples(reference) else { return false };
        self.forget_windows(reference);
        let Some(hot) = self.get_mut(reference) else { return false };
        let lifetime = protocol::lifetime_of(tuples.original.protocol, hot, timeouts);
        hot.extend(now, lifetime);
        let index = reference.slot << 1 | direction as u32;
        self.count(index, u32::try_from(packets).unwrap_or(u32::MAX), bytes);
        true
    }
}
