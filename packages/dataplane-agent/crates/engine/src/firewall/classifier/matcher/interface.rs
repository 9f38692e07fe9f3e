//! `in-interface`, `out-interface`, `in-interface-list`, `out-interface-list`.

use tollway_config::dataplane::RowId;

use super::super::{Depends, PacketView};
use super::{Names, Side};
use crate::error::BuildError;

/// The interface is one of a set. No interface is in no set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceSet {
    side: Side,
    negate: bool,
    /// Bit per dense index.
    bits: Box<[u64]>,
}

impl InterfaceSet {
    /// The ingress port is part of the cache key, the egress interface follows from it and the flow.
    pub const DEPENDS_ON: Depends = Depends::FLOW_CONST;

    /// Resolves the rows.
    pub fn new(side: Side, rows: &[RowId], negate: bool, names: &Names<'_>) -> Result<Self, BuildError> {
        let mut bits = vec![0u64; names.interfaces.len().div_ceil(64)];
        for row in rows {
            let index = names
                .interfaces
                .index(*row)
                .ok_or_else(|| names.error(format!("names interface row {row}, which does not exist")))?;
            if let Some(word) = bits.get_mut(usize::from(index / 64)) {
                *word |= 1 << (index % 64);
            }
        }
        Ok(Self { side, negate, bits: bits.into() })
    }

    /// Whether the packet's interface is in the set.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        let interface = if self.side == Side::Source { view.in_interface } else { view.out_interface };
        let found = interface.is_some_and(|index| {
            self.bits.get(usize::from(index / 64)).is_some_and(|word| word >> (index % 64) & 1 != 0)
        });
        found != self.negate
    }
}
