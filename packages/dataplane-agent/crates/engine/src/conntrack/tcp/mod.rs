//! TCP: connection state and window tracking.
//!
//! The states and their transitions are Linux's, which RouterOS shows by name. The window check is Guido
//! van Rooij's ("Real Stateful TCP Packet Filtering in IP Filter", 2000): per direction the highest
//! sequence number sent, the highest the peer allows and the largest window bound what may follow.

mod state;
mod window;

pub use state::State;
use tollway_wire::tcp::{Options, flag};

use self::state::{Kind, Step, step};
use self::window::{MAX_ACK, MAX_SCALE, MAX_WINDOW, PICKED_UP, SACK, Side, UNACKED, before};
use super::connection::Direction;
use super::timeouts::Timeouts;

/// What tracking needs of a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Payload bytes; of a super-frame all of them.
    pub payload: u32,
    /// Window, unscaled.
    pub window: u16,
    /// Flags as on the wire.
    pub flags: u8,
    /// Options.
    pub options: Options,
}

impl Segment {
    /// From the bytes of a TCP header; `None` when it is not whole.
    pub fn parse(header: &[u8], payload: u32) -> Option<Self> {
        let view = tollway_wire::tcp::Segment::new_checked(header).ok()?;
        Some(Self {
            seq: view.seq(),
            ack: view.ack(),
            payload,
            window: view.window(),
            flags: view.flags(),
            options: view.options(),
        })
    }
    const fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }
    /// Sequence number after the segment: SYN and FIN count one each (RFC 9293 §3.4).
    const fn end(&self) -> u32 {
        let control = self.has(flag::SYN) as u32 + self.has(flag::FIN) as u32;
        self.seq.wrapping_add(self.payload).wrapping_add(control)
    }
    fn kind(&self) -> Option<Kind> {
        // URG with SYN or ACK occurs; ECN bits and PSH say nothing about state.
        match self.flags & (flag::FIN | flag::SYN | flag::RST | flag::ACK) {
            flag::SYN => Some(Kind::Syn),
            SYN_ACK => Some(Kind::SynAck),
            FIN_ACK => Some(Kind::Fin),
            flag::ACK => Some(Kind::Ack),
            flag::RST | RST_ACK => Some(Kind::Rst),
            _ => None,
        }
    }
}

const SYN_ACK: u8 = flag::SYN | flag::ACK;
const FIN_ACK: u8 = flag::FIN | flag::ACK;
const RST_ACK: u8 = flag::RST | flag::ACK;

/// The TCP part of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tracker {
    sides: [Side; 2],
    last_seq: u32,
    last_ack: u32,
    last_end: u32,
    last_window: u16,
    last_side: u8,
    retransmissions: u8,
    state: State,
    /// A SYN was let through into a living connection, so the peer may answer with a challenge ACK
    /// (RFC 5961 §4).
    challenged: bool,
}

/// The result of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Part of the connection.
    Accepted,
    /// Let through, without effect.
    Ignored,
    /// Out of window, or flags that the state does not allow.
    Invalid,
    /// Opens a new connection with the old tuple: remove this one and start again.
    Reopened,
}

/// Retransmissions after which `tcp-max-retrans-timeout` applies.
const MAX_RETRANSMISSIONS: u8 = 3;

impl Tracker {
    /// State now.
    pub fn state(&self) -> State {
        self.state
    }

    /// Starts with the first packet of a connection; `None` when it cannot start one.
    pub fn open(segment: &Segment, timeouts: &Timeouts) -> Option<Self> {
        let state = match segment.kind()? {
            Kind::Syn => State::SynSent,
            Kind::Ack | Kind::SynAck if timeouts.loose => State::Established,
            Kind::Ack | Kind::SynAck | Kind::Fin | Kind::Rst => return None,
        };
        let mut tracker = Self { state, ..Self::default() };
        let window = u32::from(segment.window).max(1);
        let [sender, receiver] = &mut tracker.sides;
        sender.end = segment.end();
        sender.max_win = window;
        sender.max_end = sender.end;
        if segment.has(flag::SYN) {
            sender.read_options(&segment.options);
        }
        if state == State::Established {
            // Nothing is known of scaling: take the windows for as large as they can be.
            sender.max_end = sender.end.wrapping_add(MAX_WINDOW);
            sender.max_win = window << MAX_SCALE;
            receiver.end = segment.ack;
            receiver.max_end = segment.ack.wrapping_add(window << MAX_SCALE);
            for side in [sender, receiver] {
                side.scale = MAX_SCALE;
                side.flags |= SACK | PICKED_UP;
            }
        }
        tracker.remember(Direction::Original, segment);
        Some(tracker)
    }

    /// An established connection of which nothing is known but that it is there: each side tells where it
    /// is with its next packet.
    pub fn resumed() -> Self {
        let side = Side { scale: MAX_SCALE, flags: SACK | PICKED_UP, ..Side::default() };
        Self { state: State::Established, sides: [side; 2], ..Self::default() }
    }

    /// Takes a packet. On [`Outcome::Invalid`] nothing has changed.
    pub fn track(&mut self, direction: Direction, segment: &Segment, timeouts: &Timeouts) -> Outcome {
        let Some(kind) = segment.kind() else { return Outcome::Invalid };
        let next = match step(self.state, direction, kind) {
            Step::To(state) => state,
            Step::Invalid => return Outcome::Invalid,
            Step::Reopen => return Outcome::Reopened,
            Step::Ignore => {
                self.challenged |= kind == Kind::Syn;
                return Outcome::Ignored;
            }
        };
        let mut tracker = *self;
        if !tracker.window(direction, segment, timeouts) {
            return Outcome::Invalid;
        }
        if kind == Kind::Rst {
            let peer = self.side(direction.reverse());
            if peer.flags & MAX_ACK != 0 && before(segment.seq, peer.max_ack) {
                return Outcome::Invalid;
            }
            // A reset that is not exactly where the peer expects it only draws a challenge ACK.
            let exact = segment.seq == peer.max_ack
                || (self.last_side == direction as u8 && self.last_end == segment.seq);
            let living = self.state == State::Established || self.challenged;
            if living && !exact {
                *self = tracker;
                return Outcome::Accepted;
            }
        }
        tracker.state = next;
        if next == State::Established {
            tracker.challenged &= self.state == State::Established;
        }
        *self = tracker;
        Outcome::Accepted
    }

    /// Takes a packet that changes nothing but windows; `false` and no change when it is another.
    #[inline]
    pub fn fast_track(&mut self, direction: Direction, segment: &Segment) -> bool {
        let plain = segment.flags & !flag::PSH == flag::ACK;
        if !plain || self.state != State::Established {
            return false;
        }
        if self.side(direction).max_win == 0 || self.side(direction.reverse()).max_win == 0 {
            return false;
        }
        let bounds = self.bounds(direction, segment);
        if !self.in_window(direction, &bounds) {
            return false;
        }
        self.advance(direction, segment, &bounds);
        self.count_retransmission(direction, segment);
        true
    }

    /// How long the connection lives without another packet, ns.
    #[inline]
    pub fn timeout(&self, timeouts: &Timeouts) -> u64 {
        let base = timeouts.tcp(self.state);
        let [a, b] = &self.sides;
        if self.retransmissions > MAX_RETRANSMISSIONS {
            base.min(timeouts.tcp_max_retrans)
        } else if (a.flags | b.flags) & UNACKED != 0 {
            base.min(timeouts.tcp_unacked)
        } else {
            base
        }
    }

    fn count_retransmission(&mut self, direction: Direction, segment: &Segment) {
        if segment.kind() != Some(Kind::Ack) {
            return;
        }
        let same = self.last_side == direction as u8
            && self.last_seq == segment.seq
            && self.last_ack == segment.ack
            && self.last_end == segment.end()
            && self.last_window == segment.window;
        if same {
            self.retransmissions = self.retransmissions.saturating_add(1);
        } else {
            self.remember(direction, segment);
        }
    }

    fn remember(&mut self, direction: Direction, segment: &Segment) {
        self.last_side = direction as u8;
        self.last_seq = segment.seq;
        self.last_ack = segment.ack;
        self.last_end = segment.end();
        self.last_window = segment.window;
        self.retransmissions = 0;
    }
}
