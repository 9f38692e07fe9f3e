//! The TCP states and the transitions between them, by kind of segment and direction.

use tollway_config::protocol::record::tcp_state;

use crate::ids::Direction;

/// Connection state. The numbers are those of the connection dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum State {
    /// Nothing seen.
    #[default]
    None = tcp_state::NONE,
    /// SYN of the originator seen.
    SynSent = tcp_state::SYN_SENT,
    /// SYN-ACK of the responder seen.
    SynRecv = tcp_state::SYN_RECV,
    /// Handshake complete.
    Established = tcp_state::ESTABLISHED,
    /// FIN of one side seen.
    FinWait = tcp_state::FIN_WAIT,
    /// That FIN acknowledged.
    CloseWait = tcp_state::CLOSE_WAIT,
    /// FIN of both sides seen.
    LastAck = tcp_state::LAST_ACK,
    /// Both FINs acknowledged.
    TimeWait = tcp_state::TIME_WAIT,
    /// Reset.
    Close = tcp_state::CLOSE,
    /// SYN of both sides seen (simultaneous open).
    Listen = tcp_state::LISTEN,
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

/// A segment by its flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Syn,
    SynAck,
    Fin,
    Ack,
    Rst,
}

impl Kind {
    /// All, in the order of their numbers.
    const ALL: [Self; 5] = [Self::Syn, Self::SynAck, Self::Fin, Self::Ack, Self::Rst];
}

/// What a packet does to the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    To(State),
    /// Let through to be judged by the peer, without effect.
    Ignore,
    /// The tuple is being used again by a new connection.
    Reopen,
    Invalid,
}

/// [`decide`] of all states, directions and kinds: nothing to jump by.
static STEPS: [[[Step; State::COUNT]; 2]; Kind::ALL.len()] = {
    let mut steps = [[[Step::Invalid; State::COUNT]; 2]; Kind::ALL.len()];
    let mut kind = 0;
    while kind < Kind::ALL.len() {
        let mut state = 0;
        while state < State::COUNT {
            let (of, from) = (Kind::ALL[kind], State::ALL[state]);
            steps[kind][Direction::Original.index()][state] = decide(from, Direction::Original, of);
            steps[kind][Direction::Reply.index()][state] = decide(from, Direction::Reply, of);
            state += 1;
        }
        kind += 1;
    }
    steps
};

/// What a packet of a direction does to a state.
#[inline]
pub(super) fn step(state: State, direction: Direction, kind: Kind) -> Step {
    let steps = STEPS.get(kind as usize).and_then(|of_kind| of_kind.get(direction.index()));
    steps.and_then(|steps| steps.get(state as usize)).copied().unwrap_or(Step::Invalid)
}

const fn decide(state: State, direction: Direction, kind: Kind) -> Step {
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
