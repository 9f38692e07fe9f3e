//! The window check, and the update of the tracked windows by a segment in the window.

use tollway_wire::tcp::{Options, flag};

use super::{ProtocolState, Segment};
use crate::flow::conntrack::tcp_state::State;
use crate::flow::conntrack::timeouts::Timeouts;
use crate::ids::Direction;

/// The state of one side as a sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SideState {
    /// Highest sequence number sent, plus one.
    pub(super) end: u32,
    /// Highest sequence number the peer allows, plus one.
    pub(super) max_end: u32,
    /// Largest window ever offered, bytes; 0 before the first packet of this side.
    pub(super) max_win: u32,
    /// Highest acknowledgement sent, once `MAX_ACK` is set.
    pub(super) max_ack: u32,
}

/// Options that a side has negotiated, and flags of its state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Traits {
    /// Window scale of the side (RFC 7323 §2), bits.
    pub(super) scale: u8,
    /// Flags, from [`SCALE`] to [`RESTORED`].
    pub(super) flags: u8,
}

/// The elements of the side that sends in a direction, and of the other side.
#[inline]
pub(super) const fn pick<T>(pair: &[T; 2], direction: Direction) -> (&T, &T) {
    let [original, reply] = pair;
    match direction {
        Direction::Original => (original, reply),
        Direction::Reply => (reply, original),
    }
}

/// Mutable [`pick`].
#[inline]
pub(super) const fn pick_mut<T>(pair: &mut [T; 2], direction: Direction) -> (&mut T, &mut T) {
    let [original, reply] = pair;
    match direction {
        Direction::Original => (original, reply),
        Direction::Reply => (reply, original),
    }
}

/// The side has sent the window scale option.
pub(super) const SCALE: u8 = 1;
/// The side permits selective acknowledgements.
pub(super) const SACK: u8 = 2;
/// The side has sent data that is not acknowledged.
pub(super) const UNACKED: u8 = 4;
/// `max_ack` is set.
pub(super) const MAX_ACK: u8 = 8;
/// The connection was picked up mid-stream: a segment out of window resynchronises the tracked window.
pub(super) const PICKED_UP: u8 = 16;
/// Both sides have sent a SYN without an acknowledgement (RFC 9293 §3.5, figure 8).
pub(super) const SIMULTANEOUS: u8 = 32;

/// The connection was made from the journal of an earlier run.
pub(super) const RESTORED: u8 = 64;

/// Largest window scale (RFC 7323 §2.3), bits.
pub(super) const MAX_SCALE: u8 = 14;

/// Largest window that a header can express (RFC 7323 §2.3), rounded up, bytes.
pub(super) const MAX_WINDOW: u32 = 1 << 30;

/// Maximum number of bytes by which an acknowledgement may be behind the data, if the window is smaller.
const MAX_ACK_WINDOW: u32 = 66_000;

/// Whether a sequence number is before another one, modulo 2^32 (RFC 9293 §3.4).
pub(super) const fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

const fn after(a: u32, b: u32) -> bool {
    before(b, a)
}

/// The position of a segment relative to the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowPosition {
    /// In the window, or the segment defines it.
    Within,
    /// Before the window: old data or an old acknowledgement. The receiver decides about it.
    Behind,
    /// Beyond the window, or a reset that fits no known sequence number.
    Outside,
}

/// Sequence and acknowledgement numbers of a segment, as the window check uses them.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentSpan {
    seq: u32,
    end: u32,
    ack: u32,
    /// Highest byte acknowledged, selectively or not.
    sack: u32,
}

impl ProtocolState {
    /// Sequence number and acknowledgement of the next segment that is expected from a side.
    pub fn expected(&self, direction: Direction) -> (u32, u32) {
        let (own, peer) = pick(&self.sides, direction);
        (own.end, peer.end)
    }

    /// Checks a segment against the window of its side, and updates the windows if it lies within.
    pub(super) fn check_window(
        &mut self,
        direction: Direction,
        segment: &Segment,
        timeouts: &Timeouts,
    ) -> WindowPosition {
        let handshake = matches!(
            (self.state, direction),
            (State::SynSent, Direction::Original) | (State::SynRecv, Direction::Reply) | (State::SynSent2, _)
        );
        let syn = segment.has(flag::SYN);
        let end = segment.end();
        let (sender, receiver) = pick_mut(&mut self.sides, direction);
        let (sends, receives) = pick_mut(&mut self.traits, direction);
        let fresh = sender.max_win == 0;
        if syn && (fresh || (handshake && after(end, sender.end))) {
            // The first SYN of this side, or the side gave up on its first and sent a new one.
            sender.end = end;
            // The peer's window is known from its SYN: as much may be sent before it acknowledges anything (RFC 7413
            // §4.2.2). Before the peer has sent a segment it is 0.
            sender.max_end = end.wrapping_add(receiver.max_win);
            sender.max_win = u32::from(segment.window).max(1);
            sends.flags &= !(SCALE | SACK);
            sends.scale = 0;
            sends.read_options(&segment.options);
            if segment.has(flag::ACK) && (sends.flags & receives.flags & SCALE) == 0 {
                // Both sides must offer scaling (RFC 7323 §2.2).
                sends.scale = 0;
                receives.scale = 0;
            }
            if !segment.has(flag::ACK) {
                self.remember(direction, segment);
                return WindowPosition::Within;
            }
        } else if fresh {
            // The first packet of this side of a connection picked up mid-stream, or a reset.
            let window = u32::from(segment.window) << sends.scale;
            sender.end = end;
            sender.max_win = window.max(1);
            sender.max_end = end.wrapping_add(sender.max_win);
        }
        let span = self.span(direction, segment);
        if self.in_window::<false>(direction, &span) {
            self.advance(direction, segment, &span);
            self.count_retransmission(direction, segment);
            return WindowPosition::Within;
        }
        let picked_up = pick(&self.traits, direction).0.flags & PICKED_UP != 0;
        let (sender, receiver) = pick_mut(&mut self.sides, direction);
        if segment.has(flag::RST) {
            // As long as no segment of the peer has been seen, its window and its data are unknown and cannot be used
            // for the check.
            let fits = picked_up && receiver.max_win == 0 && !before(sender.max_end, span.seq);
            return if fits { WindowPosition::Within } else { WindowPosition::Outside };
        }
        if picked_up {
            sender.end = span.end;
            sender.max_end = span.end.wrapping_add(MAX_WINDOW);
            if after(span.sack, receiver.end) {
                receiver.end = span.sack;
            }
            self.remember(direction, segment);
            return WindowPosition::Within;
        }
        let behind = !after(span.seq, sender.max_end) && !after(span.sack, receiver.end);
        match timeouts.liberal {
            true => WindowPosition::Within,
            false if behind => WindowPosition::Behind,
            false => WindowPosition::Outside,
        }
    }

    /// Sequence and acknowledgement numbers of a segment, as far as they can be compared with the windows.
    #[inline]
    pub(super) fn span(&self, direction: Direction, segment: &Segment) -> SegmentSpan {
        let (sender, receiver) = pick(&self.sides, direction);
        let (mut seq, mut end) = (segment.seq, segment.end());
        let (mut ack, mut sack) = (segment.ack, segment.ack);
        let broken_reset = segment.has(flag::RST) && segment.ack == 0;
        if !segment.has(flag::ACK) || broken_reset {
            ack = receiver.end;
            sack = ack;
        } else if let Some(right) = segment.options.sack_right()
            && pick(&self.traits, direction).1.flags & SACK != 0
            && after(right, sack)
        {
            sack = right;
        }
        if segment.has(flag::RST) && segment.seq == 0 && self.state == State::SynSent {
            // The answer to a SYN without ACK has no sequence number of its own.
            seq = sender.end;
            end = sender.end;
        }
        SegmentSpan { seq, end, ack, sack }
    }

    /// Whether a segment lies in the window; with `IN_ORDER` also, whether it is [in order](super::Order::InOrder).
    #[inline]
    pub(super) fn in_window<const IN_ORDER: bool>(&self, direction: Direction, at: &SegmentSpan) -> bool {
        let (sender, receiver) = pick(&self.sides, direction);
        let ack_window = sender.max_win.max(MAX_ACK_WINDOW);
        // Each difference is negative if its bound is violated, so that one branch checks all bounds.
        let above = if IN_ORDER { at.seq.wrapping_sub(sender.end) } else { 0 };
        let seq = sender.max_end.wrapping_sub(at.seq);
        let end = at.end.wrapping_sub(sender.end.wrapping_sub(receiver.max_win));
        let sack = receiver.end.wrapping_sub(at.sack);
        let reach = at.sack.wrapping_sub(receiver.end.wrapping_sub(ack_window));
        ((seq | end | sack | reach | above) as i32) >= 0
    }

    /// Accounts for the data of a fragment without TCP header, up to sequence number `end`. Data outside the window is
    /// ignored.
    pub(in crate::flow::conntrack) fn extend(&mut self, direction: Direction, end: u32) {
        let (sender, _) = pick_mut(&mut self.sides, direction);
        let (sends, _) = pick_mut(&mut self.traits, direction);
        if after(end, sender.end) && !after(end, sender.max_end) {
            sender.end = end;
            sends.flags |= UNACKED;
        }
    }

    /// Updates the windows by a segment that lies within them.
    #[inline]
    pub(super) fn advance(&mut self, direction: Direction, segment: &Segment, at: &SegmentSpan) {
        let (sender, receiver) = pick_mut(&mut self.sides, direction);
        let (sends, receives) = pick_mut(&mut self.traits, direction);
        let scale = if segment.has(flag::SYN) { 0 } else { sends.scale };
        let window = u32::from(segment.window) << scale;
        // Selectively acknowledged data lies beyond the acknowledgement that the window counts from.
        let reach = window.saturating_add(at.sack.wrapping_sub(at.ack)).min(MAX_WINDOW);
        sender.max_win = sender.max_win.max(reach);
        if after(at.end, sender.end) {
            sender.end = at.end;
            sends.flags |= UNACKED;
        }
        if segment.has(flag::ACK) && (sends.flags & MAX_ACK == 0 || after(at.ack, sender.max_ack)) {
            sender.max_ack = at.ack;
            sends.flags |= MAX_ACK;
        }
        if receiver.max_win != 0 && after(at.end, sender.max_end) {
            receiver.max_win =
                receiver.max_win.saturating_add(at.end.wrapping_sub(sender.max_end)).min(MAX_WINDOW);
        }
        let allowed = at.sack.wrapping_add(window.max(1));
        if after(allowed, receiver.max_end) {
            receiver.max_end = allowed;
        }
        if at.ack == receiver.end {
            receives.flags &= !UNACKED;
        }
    }
}

impl Traits {
    /// Takes over the window scale and whether SACK is permitted from a SYN segment's options (RFC 7323, RFC 2018).
    pub(super) fn read_options(&mut self, options: &Options) {
        if let Some(scale) = options.window_scale() {
            self.scale = scale;
            self.flags |= SCALE;
        }
        if options.sack_permitted() {
            self.flags |= SACK;
        }
    }
}
