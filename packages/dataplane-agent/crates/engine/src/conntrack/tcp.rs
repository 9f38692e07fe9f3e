//! TCP: connection state and window tracking.
//!
//! The states and their transitions are Linux's, which RouterOS shows by name. The window check is Guido
//! van Rooij's ("Real Stateful TCP Packet Filtering in IP Filter", 2000): per direction the highest
//! sequence number sent, the highest the peer allows and the largest window bound what may follow.

use tollway_wire::tcp::{Options, flag};

use super::connection::Direction;
use super::timeouts::Timeouts;

/// Connection state. The numbers are those of the connection dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum State {
    /// Nothing seen.
    #[default]
    None = 0,
    /// SYN of the originator seen.
    SynSent = 1,
    /// SYN-ACK of the responder seen.
    SynRecv = 2,
    /// Handshake complete.
    Established = 3,
    /// FIN of one side seen.
    FinWait = 4,
    /// That FIN acknowledged.
    CloseWait = 5,
    /// FIN of both sides seen.
    LastAck = 6,
    /// Both FINs acknowledged.
    TimeWait = 7,
    /// Reset.
    Close = 8,
    /// SYN of both sides seen (simultaneous open).
    Listen = 9,
}

impl State {
    /// How many states there are.
    pub const COUNT: usize = 10;
    /// All, in the order of their numbers.
    pub const ALL: [Self; Self::COUNT] = [
        Self::None,
        Self::SynSent,
        Self::SynRecv,
        Self::Established,
        Self::FinWait,
        Self::CloseWait,
        Self::LastAck,
        Self::TimeWait,
        Self::Close,
        Self::Listen,
    ];
}

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Syn,
    SynAck,
    Fin,
    Ack,
    Rst,
}

/// What a packet does to the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    To(State),
    /// Let through to be judged by the peer, without effect.
    Ignore,
    /// The tuple is being used again by a new connection.
    Reopen,
    Invalid,
}

fn step(state: State, direction: Direction, kind: Kind) -> Step {
    use State::*;
    use Step::*;
    match (kind, direction, state) {
        (Kind::Rst, _, None) => Invalid,
        (Kind::Rst, _, _) => To(Close),

        (Kind::Syn, Direction::Original, None | SynSent) => To(SynSent),
        (Kind::Syn, Direction::Original, TimeWait | Close) => Reopen,
        (Kind::Syn, Direction::Original, Listen) => To(Listen),
        (Kind::Syn, Direction::Original, _) => Ignore,
        (Kind::Syn, Direction::Reply, SynSent | Listen) => To(Listen),
        (Kind::Syn, Direction::Reply, TimeWait) => Reopen,
        (Kind::Syn, Direction::Reply, _) => Invalid,

        (Kind::SynAck, Direction::Original, SynRecv | Listen) => To(SynRecv),
        (Kind::SynAck, Direction::Original, _) => Invalid,
        (Kind::SynAck, Direction::Reply, SynSent | Listen) => To(SynRecv),
        (Kind::SynAck, Direction::Reply, None) => Invalid,
        (Kind::SynAck, Direction::Reply, _) => Ignore,

        (Kind::Fin, _, None | SynSent | Listen) => Invalid,
        (Kind::Fin, _, SynRecv | Established) => To(FinWait),
        (Kind::Fin, _, FinWait | CloseWait | LastAck) => To(LastAck),
        (Kind::Fin, _, TimeWait | Close) => To(state),

        (Kind::Ack, Direction::Original, None | SynSent | Listen) => Invalid,
        (Kind::Ack, Direction::Reply, None) => Invalid,
        (Kind::Ack, Direction::Reply, SynSent | Listen) => Ignore,
        (Kind::Ack, Direction::Original, SynRecv) => To(Established),
        (Kind::Ack, Direction::Reply, SynRecv) => To(SynRecv),
        (Kind::Ack, _, Established | TimeWait | Close) => To(state),
        (Kind::Ack, _, FinWait | CloseWait) => To(CloseWait),
        (Kind::Ack, _, LastAck) => To(TimeWait),
    }
}

/// What is known of one side as a sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Side {
    /// Highest sequence number sent, plus one.
    end: u32,
    /// Highest sequence number the peer allows, plus one.
    max_end: u32,
    /// Largest window ever offered, bytes; 0 before the first packet of this side.
    max_win: u32,
    /// Highest acknowledgement sent, once `MAX_ACK` is set.
    max_ack: u32,
    scale: u8,
    flags: u8,
}

const SCALE: u8 = 1;
const SACK: u8 = 2;
const UNACKED: u8 = 4;
const MAX_ACK: u8 = 8;
/// Seen from the middle: what is out of window tells where the side is.
const PICKED_UP: u8 = 16;

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

/// Largest window scale (RFC 7323 §2.3), bits.
const MAX_SCALE: u8 = 14;

/// Largest window that a header can express (RFC 7323 §2.3), rounded up, bytes.
const MAX_WINDOW: u32 = 1 << 30;

/// How far behind the data an acknowledgement may be, bytes, for windows smaller than that.
const MAX_ACK_WINDOW: u32 = 66_000;

const fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

const fn after(a: u32, b: u32) -> bool {
    before(b, a)
}

/// The segment as it counts in the window.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    seq: u32,
    end: u32,
    ack: u32,
    /// Highest byte acknowledged, selectively or not.
    sack: u32,
}

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

    fn side(&self, direction: Direction) -> &Side {
        let [original, reply] = &self.sides;
        match direction {
            Direction::Original => original,
            Direction::Reply => reply,
        }
    }

    fn sides(&mut self, direction: Direction) -> (&mut Side, &mut Side) {
        let [original, reply] = &mut self.sides;
        match direction {
            Direction::Original => (original, reply),
            Direction::Reply => (reply, original),
        }
    }

    fn window(&mut self, direction: Direction, segment: &Segment, timeouts: &Timeouts) -> bool {
        let handshake = matches!(
            (self.state, direction),
            (State::SynSent, Direction::Original) | (State::SynRecv, Direction::Reply) | (State::Listen, _)
        );
        let syn = segment.has(flag::SYN);
        let end = segment.end();
        let (sender, receiver) = self.sides(direction);
        let fresh = sender.max_win == 0;
        if syn && (fresh || (handshake && after(end, sender.end))) {
            // The first SYN of this side, or the side gave up on its first and sent a new one.
            sender.end = end;
            sender.max_end = end;
            sender.max_win = u32::from(segment.window).max(1);
            sender.flags &= !(SCALE | SACK);
            sender.scale = 0;
            sender.read_options(&segment.options);
            if segment.has(flag::ACK) && (sender.flags & receiver.flags & SCALE) == 0 {
                // Both sides must offer scaling (RFC 7323 §2.2).
                sender.scale = 0;
                receiver.scale = 0;
            }
            if !segment.has(flag::ACK) {
                self.remember(direction, segment);
                return true;
            }
        } else if fresh {
            // The first packet of this side of a connection picked up mid-stream, or a reset.
            let window = u32::from(segment.window) << sender.scale;
            sender.end = end;
            sender.max_win = window.max(1);
            sender.max_end = end.wrapping_add(sender.max_win);
        }
        let bounds = self.bounds(direction, segment);
        if self.in_window(direction, &bounds) {
            self.advance(direction, segment, &bounds);
            self.count_retransmission(direction, segment);
            return true;
        }
        if segment.has(flag::RST) {
            return false;
        }
        if self.side(direction).flags & PICKED_UP != 0 {
            let (sender, receiver) = self.sides(direction);
            sender.end = bounds.end;
            sender.max_end = bounds.end.wrapping_add(MAX_WINDOW);
            if after(bounds.sack, receiver.end) {
                receiver.end = bounds.sack;
            }
            self.remember(direction, segment);
            return true;
        }
        timeouts.liberal
    }

    fn bounds(&self, direction: Direction, segment: &Segment) -> Bounds {
        let sender = self.side(direction);
        let receiver = self.side(direction.reverse());
        let (mut seq, mut end) = (segment.seq, segment.end());
        let (mut ack, mut sack) = (segment.ack, segment.ack);
        let broken_reset = segment.has(flag::RST) && segment.ack == 0;
        if !segment.has(flag::ACK) || broken_reset {
            ack = receiver.end;
            sack = ack;
        } else if receiver.flags & SACK != 0 {
            if let Some(right) = segment.options.sack_right {
                if after(right, sack) {
                    sack = right;
                }
            }
        }
        if segment.has(flag::RST) && segment.seq == 0 && self.state == State::SynSent {
            // The answer to a SYN without ACK has no sequence number of its own.
            seq = sender.end;
            end = sender.end;
        }
        Bounds { seq, end, ack, sack }
    }

    fn in_window(&self, direction: Direction, at: &Bounds) -> bool {
        let sender = self.side(direction);
        let receiver = self.side(direction.reverse());
        let ack_window = sender.max_win.max(MAX_ACK_WINDOW);
        !after(at.seq, sender.max_end)
            && !before(at.end, sender.end.wrapping_sub(receiver.max_win))
            && !after(at.sack, receiver.end)
            && !before(at.sack, receiver.end.wrapping_sub(ack_window))
    }

    fn advance(&mut self, direction: Direction, segment: &Segment, at: &Bounds) {
        let (sender, receiver) = self.sides(direction);
        let scale = if segment.has(flag::SYN) { 0 } else { sender.scale };
        let window = u32::from(segment.window) << scale;
        // Selectively acknowledged data lies beyond the acknowledgement that the window counts from.
        let reach = window.saturating_add(at.sack.wrapping_sub(at.ack)).min(MAX_WINDOW);
        sender.max_win = sender.max_win.max(reach);
        if after(at.end, sender.end) {
            sender.end = at.end;
            sender.flags |= UNACKED;
        }
        if segment.has(flag::ACK) && (sender.flags & MAX_ACK == 0 || after(at.ack, sender.max_ack)) {
            sender.max_ack = at.ack;
            sender.flags |= MAX_ACK;
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
            receiver.flags &= !UNACKED;
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

impl Side {
    fn read_options(&mut self, options: &Options) {
        if let Some(scale) = options.window_scale {
            self.scale = scale;
            self.flags |= SCALE;
        }
        if options.sack_permitted {
            self.flags |= SACK;
        }
    }
}
