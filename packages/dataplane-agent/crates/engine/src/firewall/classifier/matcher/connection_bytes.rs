//! `connection-bytes`.

use tollway_wire::ipv4::{TCP, UDP};

use super::super::{Depends, PacketView};
use super::Names;
use crate::error::BuildError;

/// What both directions of the connection have carried lies in a range. Only TCP and UDP connections
/// match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionBytes {
    from: u64,
    /// `u64::MAX` has no end.
    to: u64,
}

impl ConnectionBytes {
    /// Grows with every packet.
    pub const DEPENDS_ON: Depends = Depends::VOLUME;

    /// Checks the range, bytes; `to` 0 has no end.
    pub fn new(from: u64, to: u64, names: &Names<'_>) -> Result<Self, BuildError> {
        let to = if to == 0 { u64::MAX } else { to };
        if from > to {
            return Err(names.error(format!(
                "connection-bytes {from}-{to}: expected the smaller volume first, or 0 for no end"
            )));
        }
        Ok(Self { from, to })
    }

    /// Whether the volume is in the range.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        let carried = matches!(view.tuple.protocol, TCP | UDP).then_some(view.connection_bytes).flatten();
        carried.is_some_and(|carried| self.from <= carried && carried <= self.to)
    }

    /// The volume from which the answer is another one; `u64::MAX` never.
    #[inline]
    pub fn changes_at(&self, view: &PacketView) -> u64 {
        match view.connection_bytes {
            Some(carried) if carried < self.from => self.from,
            Some(carried) if carried <= self.to => self.to.saturating_add(1),
            _ => u64::MAX,
        }
    }
}
