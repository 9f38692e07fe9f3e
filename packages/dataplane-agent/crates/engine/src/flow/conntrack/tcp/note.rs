//! A note of a segment that was let through without changing the tracked state, kept until the peer answers it.
//!
//! A SYN that does not fit the connection may come from an end that has lost its state, for example after a restart.
//! The router cannot tell, so it lets the SYN pass and keeps the connection. If the peer answers with a SYN-ACK, both
//! ends have opened a new connection, and the router tracks that one. If the peer still has the connection, it answers
//! with an acknowledgement (RFC 9293 §3.5.1, RFC 5961 §4), which an end without the connection answers with a reset.
//!
//! The note holds a 16-bit hash of the acknowledgement number that the answer must have. That is enough: a sender that
//! can forge both the segment and its answer does not have to guess.

use tollway_wire::tcp::{Options, flag};

use super::state::SegmentKind;
use super::window::{MAX_SCALE, SACK, SCALE, SIMULTANEOUS, SideState, Traits, before};
use super::{CHALLENGED, LAST_OF_REPLY, ProtocolState, SYN_NOTED, Segment, SegmentOutcome};
use crate::flow::conntrack::tcp_state::State;
use crate::ids::Direction;

/// Value and mask of the window scale in the low bits of [`ProtocolState::last_flags`] with [`SYN_NOTED`]; this value,
/// which is above all valid scales, if the SYN had no such option.
const NOTED_SCALE: u8 = 15;
/// Bit of [`ProtocolState::last_flags`] with [`SYN_NOTED`]: the SYN permitted selective acknowledgements.
const NOTED_SACK: u8 = 16;

const _: () = assert!(
    NOTED_SCALE > MAX_SCALE && (LAST_OF_REPLY | CHALLENGED | SYN_NOTED) & (NOTED_SCALE | NOTED_SACK) == 0
);

/// 16-bit hash of a sequence number.
const fn digest(number: u32) -> u16 {
    (number.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

const fn noted(options: &Options) -> u8 {
    let scale = match options.window_scale() {
        Some(scale) if scale < MAX_SCALE => scale,
        Some(_) => MAX_SCALE,
        None => NOTED_SCALE,
    };
    scale | if options.sack_permitted() { NOTED_SACK } else { 0 }
}

impl ProtocolState {
    /// Notes a segment that was let through without effect.
    pub(super) fn note(&mut self, direction: Direction, kind: SegmentKind, segment: &Segment) {
        match (kind, direction, self.state) {
            (SegmentKind::Syn, Direction::Original, _) => {
                self.note_syn(segment);
                self.last_flags |= CHALLENGED;
            }
            // An originator that does not have the connection resets it with the acknowledged number as sequence
            // number.
            (SegmentKind::Ack | SegmentKind::SynAck, Direction::Reply, State::SynSent) => {
                self.last = digest(segment.ack);
                self.last_flags = LAST_OF_REPLY | CHALLENGED;
            }
            _ => {}
        }
    }

    fn note_syn(&mut self, segment: &Segment) {
        self.last = digest(segment.end());
        self.last_flags = self.last_flags & CHALLENGED | SYN_NOTED | noted(&segment.options);
    }

    fn answers_noted_syn(&self, segment: &Segment) -> bool {
        self.last_flags & SYN_NOTED != 0 && segment.has(flag::ACK) && digest(segment.ack) == self.last
    }

    /// Whether the responder accepts the SYN that was noted.
    pub(super) fn accepts_noted_syn(
        &self,
        direction: Direction,
        kind: SegmentKind,
        segment: &Segment,
    ) -> bool {
        kind == SegmentKind::SynAck && direction == Direction::Reply && self.answers_noted_syn(segment)
    }

    /// The state as if the noted SYN, whose data ends at `end`, had opened the connection.
    pub(super) fn begun_by_noted_syn(&self, end: u32) -> Self {
        let mut sent = Traits::default();
        if self.last_flags & NOTED_SCALE != NOTED_SCALE {
            (sent.scale, sent.flags) = (self.last_flags & NOTED_SCALE, SCALE);
        }
        if self.last_flags & NOTED_SACK != 0 {
            sent.flags |= SACK;
        }
        // The window of the noted SYN is not known: take the largest one that a SYN can have.
        let originator = SideState { end, max_end: end, max_win: u32::from(u16::MAX), max_ack: 0 };
        Self {
            sides: [originator, SideState::default()],
            traits: [sent, Traits::default()],
            last: 0,
            state: State::SynSent,
            last_flags: 0,
        }
    }

    /// Whether [`Self::track_noted`] may return a result.
    #[inline]
    pub(super) fn may_be_answered(&self) -> bool {
        self.last_flags & SYN_NOTED != 0 || self.state == State::SynSent
    }

    /// Tracks segments for which the window does not matter: another SYN of the originator, and answers to a noted
    /// segment. Returns `None` for all other segments.
    #[cold]
    pub(super) fn track_noted(
        &mut self,
        direction: Direction,
        kind: SegmentKind,
        segment: &Segment,
    ) -> Option<SegmentOutcome> {
        let [originator, _] = &self.sides;
        match (self.state, direction, kind) {
            // The originator has restarted, or omits the data of its first SYN (RFC 7413 §4.1.3).
            (State::SynSent, Direction::Original, SegmentKind::Syn)
                if before(segment.end(), originator.end) =>
            {
                self.last_flags &= !CHALLENGED;
                self.note_syn(segment);
                Some(SegmentOutcome::Accepted)
            }
            (State::SynSent, Direction::Original, SegmentKind::Rst)
                if self.last_flags & (CHALLENGED | SYN_NOTED) == CHALLENGED
                    && digest(segment.seq) == self.last =>
            {
                self.state = State::Close;
                Some(SegmentOutcome::Accepted)
            }
            (State::LastAck, Direction::Reply, SegmentKind::Ack) if self.last_flags & SYN_NOTED != 0 => {
                self.last_flags = CHALLENGED;
                Some(SegmentOutcome::Ignored)
            }
            // The responder has no socket for the SYN. In an established connection only a reset that acknowledges the
            // SYN is accepted.
            (State::Established, Direction::Reply, SegmentKind::Rst) if self.answers_noted_syn(segment) => {
                Some(SegmentOutcome::Ignored)
            }
            (_, Direction::Reply, SegmentKind::Rst) if self.answers_noted_syn(segment) => {
                self.state = State::Close;
                Some(SegmentOutcome::Accepted)
            }
            _ => None,
        }
    }

    /// Notes that both sides have sent a SYN.
    pub(super) fn set_simultaneous_open(&mut self) {
        let [originator, _] = &mut self.traits;
        originator.flags |= SIMULTANEOUS;
    }

    /// Whether the responder's acknowledgement completes the handshake, as the originator's does otherwise.
    pub(super) fn opens_simultaneously(&self, direction: Direction, kind: SegmentKind) -> bool {
        let [originator, _] = &self.traits;
        direction == Direction::Reply && kind == SegmentKind::Ack && originator.flags & SIMULTANEOUS != 0
    }
}
