//! `connection-state`.

use tollway_config::dataplane as config;

use super::super::{Depends, PacketView};

/// The state is one of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionState {
    /// Bit per state that matches, inversion applied; see [`state_bit`].
    pub mask: u8,
}

/// The bit of a state.
pub const fn state_bit(state: config::ConnectionState) -> u8 {
    match state {
        config::ConnectionState::Invalid => 1,
        config::ConnectionState::Established => 2,
        config::ConnectionState::Related => 4,
        config::ConnectionState::New => 8,
        config::ConnectionState::Untracked => 16,
    }
}

impl ConnectionState {
    /// A change of state changes the connection's version.
    pub const DEPENDS_ON: Depends = Depends::FLOW_CONST;

    /// From the set.
    pub fn new(states: &[config::ConnectionState], negate: bool) -> Self {
        let mask = states.iter().fold(0, |mask, state| mask | state_bit(*state));
        Self { mask: if negate { !mask } else { mask } }
    }

    /// Whether the packet's state is in the set.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        self.mask & state_bit(view.state) != 0
    }
}
