//! `tcp-flags`.

use tollway_config::dataplane::Matcher as M;
use tollway_wire::ipv4::TCP;
use tollway_wire::tcp;

use super::super::address_intervals::AddressIntervals;
use super::super::check::Check;
use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, PacketView};
use super::{CompileScope, Condition};
use crate::error::BuildError;

/// Matches TCP segments with some flags set and some clear. Other protocols never match, inverted or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpFlags {
    /// Flags that must be set.
    set: u8,
    /// Flags that must be clear.
    clear: u8,
    /// Invert the whole.
    negate: bool,
}

impl Condition for TcpFlags {
    /// Each segment has its own flags.
    const DEPENDS_ON: Depends = Depends::PACKET_FIELD;
    const READS_TRANSPORT_HEADER: bool = true;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let M::TcpFlags { set, clear, negate } = matcher else { return Err(scope.wrong_row()) };
        Ok(Self { set: *set, clear: *clear, negate: *negate })
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        let flags = view.tcp_flags;
        view.tuple.protocol == TCP && (flags & self.set == self.set && flags & self.clear == 0) != self.negate
    }

    fn narrow(&self, check: &mut Check, _: &AddressIntervals) -> bool {
        check.needs_tcp();
        true
    }

    fn only_matches_syn(&self) -> bool {
        !self.negate && self.set & tcp::flag::SYN != 0
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let M::TcpFlags { set, clear, negate } = matcher else { return false };
        let view = asked.view;
        let as_asked = view.tcp_flags & set == *set && view.tcp_flags & clear == 0;
        view.tuple.protocol == 6 && !view.no_transport_header && as_asked != *negate
    }
}
