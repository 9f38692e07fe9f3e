//! TCP: connection state and window tracking.
//!
//! The states and their transitions are Linux's, which RouterOS shows by name. The window check is Guido van Rooij's
//! ("Real Stateful TCP Packet Filtering in IP Filter", 2000): in each direction, the highest sequence number sent, the
//! highest one that the peer allows and the largest window limit the segments that are accepted.

mod note;
mod segment;
mod state;
#[cfg(test)]
mod tests;
mod window;

pub use segment::Segment;
use tollway_wire::tcp::flag;

use self::state::{SegmentKind, Transition, transition};
use self::window::{
    MAX_ACK, MAX_SCALE, MAX_WINDOW, PICKED_UP, RESTORED, SACK, SideState, Traits, UNACKED, WindowPosition,
    before, pick,
};
use super::timeouts::Timeouts;
use crate::ids::Direction;

pub use super::tcp_state::State;

/// The TCP part of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ProtocolState {
    sides: [SideState; 2],
    traits: [Traits; 2],
    /// Fingerprint of the last segment, or of a number in it that the peer will answer with, see [`note`]. ICMP
    /// connections have type and code of their first message here.
    last: u16,
    state: State,
    /// Bits about the last segment: its side, what `last` is, the number of retransmissions, and whether a SYN was let
    /// through into a living connection, so that the peer may answer with a challenge ACK (RFC 5961 §4).
    last_flags: u8,
}

/// In [`ProtocolState::last_flags`]: the last segment was the responder's.
const LAST_OF_REPLY: u8 = 0x80;
/// In [`ProtocolState::last_flags`]: a challenge ACK may come, or in the state `SynSent` has come.
const CHALLENGED: u8 = 0x40;
/// In [`ProtocolState::last_flags`]: a SYN was the last segment and was let through without effect. The lower bits say
/// what it offered.
const SYN_NOTED: u8 = 0x20;
/// In [`ProtocolState::last_flags`]: how often the last segment came again, up to [`RETRANSMITTED`].
const RETRANSMISSIONS: u8 = 7;
/// Retransmissions from which on `tcp-max-retrans-timeout` applies: more than three.
const RETRANSMITTED: u8 = 4;

/// Whether a segment begins below the highest sequence number sent before in its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Begins at or above that number, or has neither data nor SYN nor FIN.
    InOrder,
    /// Begins below that number: reordered on its way, or retransmitted.
    OutOfOrder,
}

/// Effect of a reset.
enum Reset {
    /// Ends the connection.
    Ends,
    /// Not at the sequence number that the peer expects: draws only a challenge ACK (RFC 5961 §3).
    IsChallenged,
    /// Below what the peer has acknowledged.
    IsOld,
}

/// The result of tracking a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentOutcome {
    /// Part of the connection.
    Accepted,
    /// Let through, without effect.
    Ignored,
    /// Out of window, or flags that the state does not allow.
    Invalid,
    /// Opens a new connection with the old tuple: remove this one and start again.
    Reopened,
}

impl ProtocolState {
    /// State now.
    pub fn state(&self) -> State {
        self.state
    }

    /// Starts with the first packet of a connection; `None` when it cannot start one.
    #[inline(always)]
    pub fn open(segment: &Segment, timeouts: &Timeouts) -> Option<Self> {
        let state = match segment.kind()? {
            SegmentKind::Syn => State::SynSent,
            SegmentKind::Ack if timeouts.loose => State::Established,
            // A SYN-ACK without a SYN before it is invalid, also with loose tracking, as in Linux's table.
            SegmentKind::Ack | SegmentKind::SynAck | SegmentKind::Fin | SegmentKind::Rst => return None,
        };
        let mut protocol_state = Self { state, ..Self::default() };
        let window = u32::from(segment.window).max(1);
        let [sender, receiver] = &mut protocol_state.sides;
        sender.end = segment.end();
        sender.max_win = window;
        sender.max_end = sender.end;
        let [sends, receives] = &mut protocol_state.traits;
        if segment.has(flag::SYN) {
            sends.read_options(&segment.options);
        }
        if state == State::Established {
            // An unanswered segment may be forged: its connection is not kept for tcp-established-timeout.
            sends.flags |= UNACKED;
            // The window scaling is unknown: assume the largest possible windows.
            sender.max_end = sender.end.wrapping_add(MAX_WINDOW);
            sender.max_win = window << MAX_SCALE;
            receiver.end = segment.ack;
            receiver.max_end = segment.ack.wrapping_add(window << MAX_SCALE);
            for side in [sends, receives] {
                side.scale = MAX_SCALE;
                side.flags |= SACK | PICKED_UP;
            }
        }
        protocol_state.remember(Direction::Original, segment);
        Some(protocol_state)
    }

    /// An established connection whose sequence numbers and windows are unknown: they are taken from the next segment
    /// of each side.
    pub fn with_unknown_windows() -> Self {
        let traits = Traits { scale: MAX_SCALE, flags: SACK | PICKED_UP };
        Self { state: State::Established, traits: [traits; 2], ..Self::default() }
    }

    /// The connection in its present state with unknown sequence numbers and windows, see
    /// [`Self::with_unknown_windows`].
    pub(in crate::flow::conntrack) fn without_windows(&self) -> Self {
        Self { state: self.state, ..Self::with_unknown_windows() }
    }

    /// Whether the sequence numbers of both sides of a restored connection are unknown. A FIN or RST must not be the
    /// first segment to set them: its numbers may be forged.
    fn windows_unknown(&self) -> bool {
        let [sends, _] = &self.traits;
        sends.flags & RESTORED != 0
            && self.state == State::Established
            && self.sides.iter().all(|side| side.max_win == 0)
    }

    /// A connection from the journal: as [`Self::with_unknown_windows`], but its first segment may be forged, so that a
    /// FIN or RST does not count before data.
    pub fn restored() -> Self {
        let mut protocol_state = Self::with_unknown_windows();
        for side in &mut protocol_state.traits {
            side.flags |= RESTORED;
        }
        protocol_state
    }

    /// The state of an ICMP connection, which holds type and code of the first message.
    pub(in crate::flow::conntrack) fn of_icmp(icmp_type: u8, code: u8) -> Self {
        Self { last: u16::from_be_bytes([icmp_type, code]), ..Self::default() }
    }

    /// Type and code given to [`Self::of_icmp`].
    pub(in crate::flow::conntrack) fn icmp_kind(&self) -> (u8, u8) {
        let [icmp_type, code] = self.last.to_be_bytes();
        (icmp_type, code)
    }

    /// Tracks a segment. [`SegmentOutcome::Invalid`] changes nothing.
    pub fn track(&mut self, direction: Direction, segment: &Segment, timeouts: &Timeouts) -> SegmentOutcome {
        let Some(kind) = segment.kind() else { return SegmentOutcome::Invalid };
        let transition = transition(self.state, direction, kind);
        if let (SegmentKind::Ack | SegmentKind::Fin, Transition::To(next)) = (kind, transition)
            && self.track_in_window(direction, segment, kind, next)
        {
            return SegmentOutcome::Accepted;
        }
        self.track_any(direction, segment, (kind, transition), timeouts)
    }

    /// Tracks an acknowledgement or a FIN within the window of a side that has sent before: nearly all segments that
    /// complete a handshake or close a connection. The result is that of [`Self::track_any`], which also copies the
    /// state so that it can be restored. `false`, with nothing changed, for any other segment.
    #[inline]
    fn track_in_window(
        &mut self,
        direction: Direction,
        segment: &Segment,
        kind: SegmentKind,
        next: State,
    ) -> bool {
        let (own, _) = pick(&self.sides, direction);
        let simultaneous = self.state == State::SynRecv && self.opens_simultaneously(direction, kind);
        if own.max_win == 0 || self.state == State::SynSent || simultaneous || self.may_be_answered() {
            return false;
        }
        let span = self.span(direction, segment);
        if !self.in_window::<false>(direction, &span) {
            return false;
        }
        self.advance(direction, segment, &span);
        self.count_retransmission(direction, segment);
        if next == State::Established && self.state != State::Established {
            self.last_flags &= !CHALLENGED;
        }
        self.state = next;
        true
    }

    /// [`Self::track`] for all segments.
    fn track_any(
        &mut self,
        direction: Direction,
        segment: &Segment,
        (kind, transition): (SegmentKind, Transition),
        timeouts: &Timeouts,
    ) -> SegmentOutcome {
        // Both ends have synchronised again with the SYN that the router let through without effect.
        let begun_anew = self.accepts_noted_syn(direction, kind, segment);
        let mut next = match transition {
            Transition::To(state) => state,
            Transition::Invalid => return SegmentOutcome::Invalid,
            Transition::Reopen => return SegmentOutcome::Reopened,
            Transition::Ignore if begun_anew => State::SynRecv,
            Transition::Ignore => {
                self.note(direction, kind, segment);
                return SegmentOutcome::Ignored;
            }
        };
        if matches!(kind, SegmentKind::Rst | SegmentKind::Fin) && self.windows_unknown() {
            return SegmentOutcome::Ignored;
        }
        if self.may_be_answered()
            && let Some(outcome) = self.track_noted(direction, kind, segment)
        {
            return outcome;
        }
        // Changing `self` and keeping a copy to restore avoids reading back what was just written.
        let before = *self;
        if begun_anew {
            *self = self.begun_by_noted_syn(segment.ack);
        }
        if self.state == State::SynRecv && self.opens_simultaneously(direction, kind) {
            next = State::Established;
        }
        match self.check_window(direction, segment, timeouts) {
            WindowPosition::Within => {}
            WindowPosition::Behind => {
                *self = before;
                self.note(direction, kind, segment);
                return SegmentOutcome::Ignored;
            }
            WindowPosition::Outside => {
                *self = before;
                return SegmentOutcome::Invalid;
            }
        }
        if kind == SegmentKind::Rst {
            match before.judge_reset(direction, segment) {
                Reset::Ends => {}
                Reset::IsChallenged => return SegmentOutcome::Accepted,
                Reset::IsOld => {
                    *self = before;
                    return SegmentOutcome::Invalid;
                }
            }
        }
        if next == State::SynSent2 {
            self.set_simultaneous_open();
        }
        let opened = next == State::Established && before.state != State::Established;
        if opened || (self.state == State::SynSent && next != State::SynSent) {
            self.last_flags &= !CHALLENGED;
        }
        self.state = next;
        SegmentOutcome::Accepted
    }

    /// Effect of a reset within the window.
    fn judge_reset(&self, direction: Direction, segment: &Segment) -> Reset {
        let (own, peer) = pick(&self.sides, direction);
        let (_, knows) = pick(&self.traits, direction);
        if knows.flags & MAX_ACK != 0 && before(segment.seq, peer.max_ack) {
            return Reset::IsOld;
        }
        let exact = knows.flags & MAX_ACK == 0
            || segment.seq == peer.max_ack
            || (self.last_was_of(direction) && own.end == segment.seq);
        let living = self.state == State::Established || self.last_flags & CHALLENGED != 0;
        if living && !exact { Reset::IsChallenged } else { Reset::Ends }
    }

    /// The order of a segment that has not been tracked yet.
    pub fn order(&self, direction: Direction, segment: &Segment) -> Order {
        let (own, _) = pick(&self.sides, direction);
        let behind = before(segment.seq, own.end) && segment.end() != segment.seq;
        // No sequence number of a side is known before its first segment.
        if behind && own.max_win != 0 { Order::OutOfOrder } else { Order::InOrder }
    }

    /// Tracks a segment of an established connection that is in order and changes nothing but windows. `false`, with
    /// nothing changed, for any other segment.
    #[inline]
    pub fn track_in_order(&mut self, direction: Direction, segment: &Segment) -> bool {
        self.track_data::<true>(direction, segment)
    }

    /// Tracks like [`Self::track_in_order`], also a segment out of order.
    pub fn track_out_of_order(&mut self, direction: Direction, segment: &Segment) -> bool {
        self.track_data::<false>(direction, segment)
    }

    // Not always in line: then the window functions are calls, and `engine/stateful-64k` takes 6.6 % more instructions.
    #[inline]
    fn track_data<const IN_ORDER: bool>(&mut self, direction: Direction, segment: &Segment) -> bool {
        let plain = segment.flags & !flag::PSH == flag::ACK;
        let (own, peer) = pick(&self.sides, direction);
        if !plain || self.state != State::Established || own.max_win == 0 || peer.max_win == 0 {
            return false;
        }
        let span = self.span(direction, segment);
        if !self.in_window::<IN_ORDER>(direction, &span) {
            return false;
        }
        self.advance(direction, segment, &span);
        self.count_retransmission(direction, segment);
        true
    }

    /// Tracks a segment that closes the connection, or arrives while it is being closed. `false`, with nothing changed,
    /// for any other segment and for invalid ones.
    pub fn track_closing(&mut self, direction: Direction, segment: &Segment, timeouts: &Timeouts) -> bool {
        let closes = segment.has(flag::FIN | flag::RST);
        let closing = matches!(
            self.state,
            State::FinWait | State::CloseWait | State::LastAck | State::TimeWait | State::Close
        );
        let plain = (closes && self.state == State::Established) || closing;
        // Under these conditions only an accepted segment changes the state.
        if !plain || segment.has(flag::SYN) || self.may_be_answered() {
            return false;
        }
        self.track(direction, segment, timeouts) == SegmentOutcome::Accepted
    }

    /// Lifetime of the connection without another packet, ns.
    #[inline]
    pub fn timeout(&self, timeouts: &Timeouts) -> u64 {
        let base = timeouts.tcp(self.state);
        let [a, b] = &self.traits;
        if self.last_flags & (SYN_NOTED | RETRANSMITTED) == RETRANSMITTED {
            base.min(timeouts.tcp_max_retrans)
        } else if (a.flags | b.flags) & UNACKED != 0 {
            base.min(timeouts.tcp_unacked)
        } else {
            base
        }
    }

    /// The shortest [`Self::timeout`] that can come of packets that do not change the state, ns.
    pub fn shortest_timeout(&self, timeouts: &Timeouts) -> u64 {
        timeouts.tcp(self.state).min(timeouts.tcp_max_retrans).min(timeouts.tcp_unacked)
    }

    #[inline]
    fn count_retransmission(&mut self, direction: Direction, segment: &Segment) {
        if segment.kind() != Some(SegmentKind::Ack) {
            return;
        }
        let last = fingerprint(segment);
        if self.last == last && self.last_was_of(direction) {
            if self.last_flags & RETRANSMISSIONS < RETRANSMITTED {
                self.last_flags += 1;
            }
        } else {
            self.remember(direction, segment);
        }
    }

    #[inline]
    fn remember(&mut self, direction: Direction, segment: &Segment) {
        self.last = fingerprint(segment);
        let side = if direction == Direction::Reply { LAST_OF_REPLY } else { 0 };
        self.last_flags = self.last_flags & CHALLENGED | side;
    }

    /// Whether `last` is the fingerprint of a segment of that side.
    fn last_was_of(&self, direction: Direction) -> bool {
        let side = if direction == Direction::Reply { LAST_OF_REPLY } else { 0 };
        self.last_flags & (LAST_OF_REPLY | SYN_NOTED) == side
    }
}

/// A hash of sequence number, acknowledgement, length and window, by which a retransmission is recognised. Four
/// different segments in a row with one hash do not occur in practice.
#[inline]
fn fingerprint(segment: &Segment) -> u16 {
    let place = u64::from(segment.seq) << 32 | u64::from(segment.ack);
    let extent = u64::from(segment.end()) << 16 | u64::from(segment.window);
    let mixed = (place ^ extent.rotate_left(23)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 48) as u16
}
