//! `packet-size`.

use super::super::{Depends, PacketView};
use super::Names;
use crate::error::BuildError;

/// The length of the IP packet lies in a range. A super-frame has the length of its full segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketSize {
    from: u32,
    to: u32,
    negate: bool,
}

impl PacketSize {
    /// Each packet has its own.
    pub const DEPENDS_ON: Depends = Depends::PACKET_FIELD;

    /// Checks the range, bytes.
    pub fn new(from: u32, to: u32, negate: bool, names: &Names<'_>) -> Result<Self, BuildError> {
        if from > to {
            return Err(names.error(format!("packet-size {from}-{to}: expected the smaller size first")));
        }
        Ok(Self { from, to, negate })
    }

    /// Whether the length is as asked.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        (self.from <= view.length && view.length <= self.to) != self.negate
    }
}
