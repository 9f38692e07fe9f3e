//! Connections of which something else forwards packets, and says later how many.

use tollway_wire::ipv4;

use super::connection::{ConnRef, Direction};
use super::table::Table;
use super::tcp::{State, Tracker};
use super::timeouts::Timeouts;
use super::{generic, udp};
use crate::time::Now;

impl Table {
    /// Whether packets of a connection may be forwarded without being looked at. What they do to the windows of a TCP
    /// connection is not known from then on, so that must be all that they can change.
    pub(crate) fn may_offload(&self, reference: ConnRef, now: Now, timeouts: &Timeouts) -> bool {
        let Some((line, tuples)) = self.line(reference).zip(self.tuples(reference)) else { return false };
        let settled = match tuples.original.protocol {
            ipv4::TCP => timeouts.loose && line.status.assured() && line.tcp.state() == State::Established,
            protocol => protocol == ipv4::UDP,
        };
        settled && line.status.confirmed() && line.is_alive(now)
    }

    /// From now on windows are learnt anew from whatever segment comes.
    pub(crate) fn forget_windows(&mut self, reference: ConnRef) {
        if let Some(line) = self.get_mut(reference)
            && line.tcp.state() == State::Established
        {
            line.tcp = Tracker::resumed();
        }
    }

    /// Counts packets that were forwarded elsewhere, and lets the connection live as if they had come here.
    /// `false` when it is gone.
    pub(crate) fn credit(
        &mut self,
        reference: ConnRef,
        direction: Direction,
        (packets, bytes): (u64, u64),
        now: Now,
        timeouts: &Timeouts,
    ) -> bool {
        let Some(tuples) = self.tuples(reference) else { return false };
        self.forget_windows(reference);
        let Some(line) = self.get_mut(reference) else { return false };
        let lifetime = match tuples.original.protocol {
            ipv4::TCP => line.tcp.timeout(timeouts),
            ipv4::UDP => udp::timeout(line.status, timeouts),
            _ => generic::timeout(timeouts),
        };
        line.extend(now, lifetime);
        let index = reference.slot << 1 | direction as u32;
        self.count(index, u32::try_from(packets).unwrap_or(u32::MAX), bytes);
        true
    }
}
