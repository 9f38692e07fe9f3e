//! `connection-bytes`.

use tollway_config::dataplane::Matcher as M;
use tollway_wire::ipv4::{TCP, UDP};

use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, OutcomeValidity, PacketView};
use super::{CompileScope, Condition};
use crate::error::BuildError;
use crate::time::Now;

/// Matches the bytes of both directions of a TCP or UDP connection in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionBytes {
    from: u64,
    /// `u64::MAX` is no upper limit.
    to: u64,
}

impl ConnectionBytes {
    /// The volume at which the result changes; `u64::MAX` for never.
    #[inline]
    fn changes_at(&self, view: &PacketView) -> u64 {
        match view.connection_bytes {
            Some(carried) if carried < self.from => self.from,
            Some(carried) if carried <= self.to => self.to.saturating_add(1),
            _ => u64::MAX,
        }
    }
}

impl Condition for ConnectionBytes {
    /// Grows with every packet.
    const DEPENDS_ON: Depends = Depends::VOLUME;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let M::ConnectionBytes { from, to } = *matcher else { return Err(scope.wrong_row()) };
        let to = if to == 0 { u64::MAX } else { to };
        if from > to {
            return Err(scope.error(format!(
                "connection-bytes {from}-{to}: expected the smaller volume first, or 0 for no end"
            )));
        }
        Ok(Self { from, to })
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        let carried = matches!(view.tuple.protocol, TCP | UDP).then_some(view.connection_bytes).flatten();
        carried.is_some_and(|carried| self.from <= carried && carried <= self.to)
    }

    fn limit_validity(&self, view: &PacketView, validity: &mut OutcomeValidity) {
        validity.narrow(self.changes_at(view), Now(u64::MAX));
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let M::ConnectionBytes { from, to } = matcher else { return false };
        let carried = asked.view.connection_bytes.filter(|_| asked.has_ports());
        carried.is_some_and(|bytes| bytes >= *from && (*to == 0 || bytes <= *to))
    }
}
