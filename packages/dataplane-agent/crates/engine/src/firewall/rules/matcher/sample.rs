//! The matcher of `docs/adding/matcher.md`: whether a packet consists of several wire segments. It is there in tests
//! alone and configured as `protocol` with a number that RFC 3692 keeps for experiments, as the configuration's own
//! enum has no variant for it.

use tollway_config::dataplane::Matcher as M;

use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, PacketView};
use super::{CompileScope, Condition};
use crate::error::BuildError;

/// Protocol number that configures the sample (RFC 3692 §2.1).
pub const PROTOCOL: u8 = 253;

/// The packet is a super-frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    negate: bool,
}

impl Condition for Sample {
    /// Each packet has its own number of segments.
    const DEPENDS_ON: Depends = Depends::PACKET_FIELD;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let M::Protocol { negate, .. } = *matcher else { return Err(scope.wrong_row()) };
        Ok(Self { negate })
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        (view.segments > 1) != self.negate
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let M::Protocol { negate, .. } = matcher else { return false };
        if asked.view.segments > 1 { !negate } else { *negate }
    }
}

#[cfg(test)]
mod tests {
    use tollway_config::dataplane::Action;

    use super::super::super::reference::Reference;
    use super::super::super::tests::{chain, compile, interfaces, lists, rule, run, view};
    use super::super::super::{RuleVerdict, TableKind};
    use super::*;

    #[test]
    fn a_matcher_of_one_file_and_one_row_is_compiled_evaluated_and_depended_on() {
        for negate in [false, true] {
            let asks = M::Protocol { protocol: PROTOCOL, negate };
            let tcp = M::Protocol { protocol: 6, negate: false };
            let chains = [chain("forward", vec![rule(1, vec![asks, tcp], Action::Drop)])];
            let table = compile(TableKind::Filter, &chains).unwrap();
            let (lists, interfaces) = (lists(), interfaces());
            let reference = Reference { chains: &chains, lists: &lists, interfaces: &interfaces };
            for segments in [1, 2] {
                let mut packet = PacketView { segments, ..view() };
                packet.tuple.protocol = 6;
                let found = run(&table, "forward", &packet);
                let expected = if (segments > 1) != negate { RuleVerdict::Drop } else { RuleVerdict::Accept };
                assert_eq!(found.verdict, expected);
                assert_eq!(reference.evaluate("forward", &packet).verdict, expected);
                assert_eq!(found.depends, Depends::PACKET_FIELD);
                assert!(found.resume.is_some(), "each packet of a flow is asked");
            }
            let mut udp = PacketView { segments: 2, ..view() };
            udp.tuple.protocol = 17;
            assert!(run(&table, "forward", &udp).resume.is_none(), "the flow alone excludes the rule");
        }
    }
}
