//! `src-address`, `dst-address`.

use std::net::IpAddr;

use tollway_config::dataplane::AddressRange;

use super::super::{Depends, PacketView};
use super::{Names, Side};
use crate::error::BuildError;
use crate::packet::tuple::Addr;

/// The address lies in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    side: Side,
    negate: bool,
    from: Addr,
    to: Addr,
}

impl Address {
    /// Part of the tuple.
    pub const DEPENDS_ON: Depends = Depends::FLOW_CONST;

    /// Checks the range.
    pub fn new(
        side: Side,
        range: &AddressRange,
        negate: bool,
        names: &Names<'_>,
    ) -> Result<Self, BuildError> {
        let one_family =
            matches!((range.from, range.to), (IpAddr::V4(_), IpAddr::V4(_)) | (IpAddr::V6(_), IpAddr::V6(_)));
        if !one_family || range.from > range.to {
            return Err(names.error(format!(
                "address range {}-{}: expected two addresses of one family in ascending order",
                range.from, range.to
            )));
        }
        Ok(Self { side, negate, from: range.from.into(), to: range.to.into() })
    }

    /// Whether the packet's address is in the range.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        let address = if self.side == Side::Source { view.tuple.src } else { view.tuple.dst };
        (self.from <= address && address <= self.to) != self.negate
    }
}
