//! The states of a TCP connection.

use tollway_config::protocol::record::tcp_state;

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
    /// FIN of one side acknowledged.
    CloseWait = tcp_state::CLOSE_WAIT,
    /// FIN of both sides seen.
    LastAck = tcp_state::LAST_ACK,
    /// Both FINs acknowledged.
    TimeWait = tcp_state::TIME_WAIT,
    /// Reset.
    Close = tcp_state::CLOSE,
    /// SYN of both sides seen (simultaneous open); `LISTEN` in the protocol, as in ctnetlink.
    SynSent2 = tcp_state::LISTEN,
}

impl State {
    /// Number of states.
    pub const COUNT: usize = 10;
    /// The states, in the order of their numbers.
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
        Self::SynSent2,
    ];
}
