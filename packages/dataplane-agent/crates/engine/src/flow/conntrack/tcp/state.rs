//! The transitions between TCP states, by kind of segment and direction.

use crate::flow::conntrack::tcp_state::State;
use crate::ids::Direction;

/// Kind of a segment, by its flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum SegmentKind {
    Syn,
    SynAck,
    Fin,
    Ack,
    Rst,
}

impl SegmentKind {
    /// The kinds, in the order of their numbers.
    const ALL: [Self; 5] = [Self::Syn, Self::SynAck, Self::Fin, Self::Ack, Self::Rst];
}

/// The effect of a segment on the state of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transition {
    To(State),
    /// The segment passes without effect; the peer decides about it.
    Ignore,
    /// The tuple is being used again by a new connection.
    Reopen,
    Invalid,
}

/// [`decide`] of all states, directions and kinds, as a table: a lookup has no branch that could be mispredicted.
static TRANSITIONS: [[[Transition; State::COUNT]; 2]; SegmentKind::ALL.len()] = {
    let mut transitions = [[[Transition::Invalid; State::COUNT]; 2]; SegmentKind::ALL.len()];
    let mut kind = 0;
    while kind < SegmentKind::ALL.len() {
        let mut state = 0;
        while state < State::COUNT {
            let (of, from) = (SegmentKind::ALL[kind], State::ALL[state]);
            transitions[kind][Direction::Original.index()][state] = decide(from, Direction::Original, of);
            transitions[kind][Direction::Reply.index()][state] = decide(from, Direction::Reply, of);
            state += 1;
        }
        kind += 1;
    }
    transitions
};

/// The effect of a segment of a direction on a state.
#[inline]
pub(super) fn transition(state: State, direction: Direction, kind: SegmentKind) -> Transition {
    let transitions = TRANSITIONS.get(kind as usize).and_then(|of_kind| of_kind.get(direction.index()));
    transitions
        .and_then(|transitions| transitions.get(state as usize))
        .copied()
        .unwrap_or(Transition::Invalid)
}

const fn decide(state: State, direction: Direction, kind: SegmentKind) -> Transition {
    use State::*;
    use Transition::*;
    match (kind, direction, state) {
        (SegmentKind::Rst, _, None) => Invalid,
        (SegmentKind::Rst, _, _) => To(Close),

        (SegmentKind::Syn, Direction::Original, None | SynSent) => To(SynSent),
        (SegmentKind::Syn, Direction::Original, TimeWait | Close) => Reopen,
        (SegmentKind::Syn, Direction::Original, SynSent2) => To(SynSent2),
        (SegmentKind::Syn, Direction::Original, _) => Ignore,
        (SegmentKind::Syn, Direction::Reply, SynSent | SynSent2) => To(SynSent2),
        (SegmentKind::Syn, Direction::Reply, TimeWait) => Reopen,
        (SegmentKind::Syn, Direction::Reply, _) => Invalid,

        (SegmentKind::SynAck, Direction::Original, SynRecv | SynSent2) => To(SynRecv),
        (SegmentKind::SynAck, Direction::Original, _) => Invalid,
        (SegmentKind::SynAck, Direction::Reply, SynSent | SynSent2) => To(SynRecv),
        (SegmentKind::SynAck, Direction::Reply, None) => Invalid,
        (SegmentKind::SynAck, Direction::Reply, _) => Ignore,

        (SegmentKind::Fin, _, None | SynSent | SynSent2) => Invalid,
        (SegmentKind::Fin, _, SynRecv | Established) => To(FinWait),
        (SegmentKind::Fin, _, FinWait | CloseWait | LastAck) => To(LastAck),
        (SegmentKind::Fin, _, TimeWait | Close) => To(state),

        (SegmentKind::Ack, Direction::Original, None | SynSent | SynSent2) => Invalid,
        (SegmentKind::Ack, Direction::Reply, None) => Invalid,
        (SegmentKind::Ack, Direction::Reply, SynSent | SynSent2) => Ignore,
        (SegmentKind::Ack, Direction::Original, SynRecv) => To(Established),
        (SegmentKind::Ack, Direction::Reply, SynRecv) => To(SynRecv),
        (SegmentKind::Ack, _, Established | TimeWait | Close) => To(state),
        (SegmentKind::Ack, _, FinWait | CloseWait) => To(CloseWait),
        (SegmentKind::Ack, _, LastAck) => To(TimeWait),
    }
}
