//! `connection-state`.

use tollway_config::dataplane as config;

use super::super::address_intervals::AddressIntervals;
use super::super::check::{Check, state_bit};
use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, PacketView};
use super::{CompileScope, Condition};
use crate::error::BuildError;

/// Matches if the connection state is one of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionState {
    /// A bit for each state that matches, with the inversion applied; see [`state_bit`].
    mask: u8,
}

impl Condition for ConnectionState {
    /// A change of state changes the connection's version.
    const DEPENDS_ON: Depends = Depends::FLOW_CONST;

    fn compile(matcher: &config::Matcher, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let config::Matcher::ConnectionState { states, negate } = matcher else {
            return Err(scope.wrong_row());
        };
        let mask = states.iter().fold(0, |mask, state| mask | state_bit(*state));
        Ok(Self { mask: if *negate { !mask } else { mask } })
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        self.mask & state_bit(view.state) != 0
    }

    fn narrow(&self, check: &mut Check, _: &AddressIntervals) -> bool {
        check.states(self.mask);
        true
    }

    fn reference(matcher: &config::Matcher, asked: &mut ReferenceInput<'_>) -> bool {
        let config::Matcher::ConnectionState { states, negate } = matcher else { return false };
        states.contains(&asked.view.state) != *negate
    }
}
