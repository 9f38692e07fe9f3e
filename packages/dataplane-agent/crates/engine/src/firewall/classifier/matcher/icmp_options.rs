//! `icmp-options`.

use tollway_wire::ipv4::ICMP;

use super::super::{Depends, PacketView};
use super::Names;
use crate::error::BuildError;

/// The ICMP type, with one of some codes. Other protocols never match, inverted or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IcmpOptions {
    icmp_type: u8,
    code_from: u8,
    code_to: u8,
    negate: bool,
}

impl IcmpOptions {
    /// A flow is an identifier; several types may share it.
    pub const DEPENDS_ON: Depends = Depends::PACKET_FIELD;

    /// Checks the code range.
    pub fn new(
        icmp_type: u8,
        code_from: u8,
        code_to: u8,
        negate: bool,
        names: &Names<'_>,
    ) -> Result<Self, BuildError> {
        if code_from > code_to {
            return Err(
                names.error(format!("ICMP codes {code_from}-{code_to}: expected the lower code first"))
            );
        }
        Ok(Self { icmp_type, code_from, code_to, negate })
    }

    /// Whether type and code are as asked.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        let found = view.icmp_type == self.icmp_type
            && self.code_from <= view.icmp_code
            && view.icmp_code <= self.code_to;
        view.tuple.protocol == ICMP && found != self.negate
    }
}
