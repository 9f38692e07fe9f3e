//! `icmp-options`.

use tollway_config::dataplane::Matcher as M;
use tollway_wire::ipv4::ICMP;
use tollway_wire::ipv6::ICMPV6;

use super::super::address_intervals::AddressIntervals;
use super::super::check::Check;
use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, PacketView};
use super::{CompileScope, Condition};
use crate::error::BuildError;

/// Matches a type of ICMP, or of ICMPv6 over IPv6, with a code in a range. Other protocols never match, inverted or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IcmpOptions {
    icmp_type: u8,
    code_from: u8,
    code_to: u8,
    negate: bool,
}

impl Condition for IcmpOptions {
    /// Packets of one flow have the same identifier, but may have different types.
    const DEPENDS_ON: Depends = Depends::PACKET_FIELD;
    const READS_TRANSPORT_HEADER: bool = true;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let M::IcmpOptions { icmp_type, code_from, code_to, negate } = *matcher else {
            return Err(scope.wrong_row());
        };
        if code_from > code_to {
            return Err(
                scope.error(format!("ICMP codes {code_from}-{code_to}: expected the lower code first"))
            );
        }
        Ok(Self { icmp_type, code_from, code_to, negate })
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        let found = view.icmp_type == self.icmp_type
            && self.code_from <= view.icmp_code
            && view.icmp_code <= self.code_to;
        view.tuple.protocol == if view.tuple.is_v4() { ICMP } else { ICMPV6 } && found != self.negate
    }

    fn narrow(&self, check: &mut Check, _: &AddressIntervals) -> bool {
        check.needs_icmp();
        true
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let M::IcmpOptions { icmp_type, code_from, code_to, negate } = matcher else { return false };
        let view = asked.view;
        let as_asked = view.icmp_type == *icmp_type && (*code_from..=*code_to).contains(&view.icmp_code);
        let number = if std::net::IpAddr::from(view.tuple.src).is_ipv4() { 1 } else { 58 };
        view.tuple.protocol == number && !view.no_transport_header && as_asked != *negate
    }
}
