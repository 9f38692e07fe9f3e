//! `in-interface`, `out-interface`, `in-interface-list`, `out-interface-list`.

use tollway_config::dataplane::{Matcher as M, RowId};

use super::super::address_intervals::AddressIntervals;
use super::super::check::Check;
use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, PacketView, Side};
use super::{CompileScope, Condition};
use crate::error::BuildError;

/// Matches if the interface is one of a set. A packet without an interface is in no set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceSet {
    side: Side,
    negate: bool,
    /// A bit for each interface index.
    bits: Box<[u64]>,
}

impl InterfaceSet {
    /// Resolves the rows.
    fn new(side: Side, rows: &[RowId], negate: bool, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let mut bits = vec![0u64; scope.interfaces.len().div_ceil(64)];
        for row in rows {
            let index = scope
                .interfaces
                .index(*row)
                .ok_or_else(|| scope.error(format!("names interface row {row}, which does not exist")))?;
            if let Some(word) = bits.get_mut(usize::from(index / 64)) {
                *word |= 1 << (index % 64);
            }
        }
        Ok(Self { side, negate, bits: bits.into() })
    }

    /// The only interface of the set; `None` for several or none.
    fn single(&self) -> Option<u16> {
        let mut indices = self.bits.iter().zip(0u16..).flat_map(|(word, at)| {
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| at * 64 + bit)
        });
        indices.next().filter(|_| indices.next().is_none())
    }
}

impl Condition for InterfaceSet {
    /// The ingress port is part of the cache key; the egress interface follows from it and the flow.
    const DEPENDS_ON: Depends = Depends::FLOW_CONST;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        match matcher {
            M::InInterface { interfaces, negate } => Self::new(Side::Source, interfaces, *negate, scope),
            M::OutInterface { interfaces, negate } => {
                Self::new(Side::Destination, interfaces, *negate, scope)
            }
            _ => Err(scope.wrong_row()),
        }
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        let interface = if self.side == Side::Source { view.in_interface } else { view.out_interface };
        let found = interface.is_some_and(|index| {
            self.bits.get(usize::from(index / 64)).is_some_and(|word| word >> (index % 64) & 1 != 0)
        });
        found != self.negate
    }

    fn narrow(&self, check: &mut Check, _: &AddressIntervals) -> bool {
        match self.single().filter(|_| !self.negate) {
            Some(index) if self.side == Side::Source => check.in_interface(index),
            Some(index) => check.out_interface(index),
            None => false,
        }
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let (rows, negate, interface) = match matcher {
            M::InInterface { interfaces, negate } => (interfaces, *negate, asked.view.in_interface),
            M::OutInterface { interfaces, negate } => (interfaces, *negate, asked.view.out_interface),
            _ => return false,
        };
        interface.is_some_and(|index| rows.contains(&asked.interfaces.row(index))) != negate
    }
}
