//! `src-address`, `dst-address`.

use tollway_config::dataplane::{AddressRange, Matcher as M};

use super::super::address_intervals::AddressIntervals;
use super::super::check::{AddressNumbers, Check};
use super::super::reference_input::{ReferenceInput, in_range};
use super::super::{AddressLists, Depends, PacketView, Side};
use super::{CompileScope, Condition};
use crate::error::BuildError;
use crate::packet::family::Family;
use crate::packet::tuple::Addr;

/// Matches an address in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    side: Side,
    negate: bool,
    from: Addr,
    to: Addr,
}

impl Address {
    /// Checks the range.
    fn new(
        side: Side,
        range: &AddressRange,
        negate: bool,
        scope: &CompileScope<'_>,
    ) -> Result<Self, BuildError> {
        if [range.from, range.to].map(Family::of) != [scope.family; 2] || range.from > range.to {
            return Err(scope.error(format!(
                "address range {}-{}: expected two {} addresses in ascending order",
                range.from,
                range.to,
                scope.family.name()
            )));
        }
        Ok(Self { side, negate, from: range.from.into(), to: range.to.into() })
    }
}

impl Condition for Address {
    /// Part of the tuple.
    const DEPENDS_ON: Depends = Depends::FLOW_CONST;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        match matcher {
            M::SrcAddress { range, negate } => Self::new(Side::Source, range, *negate, scope),
            M::DstAddress { range, negate } => Self::new(Side::Destination, range, *negate, scope),
            _ => Err(scope.wrong_row()),
        }
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        let address = if self.side == Side::Source { view.tuple.src } else { view.tuple.dst };
        (self.from <= address && address <= self.to) != self.negate
    }

    fn narrow(&self, check: &mut Check, intervals: &AddressIntervals) -> bool {
        if self.negate {
            return false;
        }
        let range = match (self.from.as_v4(), self.to.as_v4()) {
            (Some(from), Some(to)) => AddressNumbers::V4(from, to),
            _ => AddressNumbers::V6(intervals.number(self.from.0), intervals.number(self.to.0)),
        };
        if self.side == Side::Source { check.source(range) } else { check.destination(range) }
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        match matcher {
            M::SrcAddress { range, negate } => in_range(range, asked.view.tuple.src) != *negate,
            M::DstAddress { range, negate } => in_range(range, asked.view.tuple.dst) != *negate,
            _ => false,
        }
    }
}
