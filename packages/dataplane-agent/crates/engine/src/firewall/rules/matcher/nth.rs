//! `nth`.

use tollway_config::dataplane::Matcher as M;

use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, PacketView};
use super::shared_count::SharedCount;
use super::{CompileScope, Condition, EvaluationOrder};
use crate::error::BuildError;

/// Matches every n-th packet for which all earlier conditions hold. All workers share the count. A super-frame counts
/// once, as the rule applies to it as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nth {
    every: u32,
    packet: u32,
    negate: bool,
    count: SharedCount,
}

impl Condition for Nth {
    /// Every packet counts.
    const DEPENDS_ON: Depends = Depends::SHARED;
    const ORDER: EvaluationOrder = EvaluationOrder::Nth;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let M::Nth { every, packet, negate } = *matcher else { return Err(scope.wrong_row()) };
        if packet == 0 || packet > every {
            return Err(
                scope.error(format!("nth {every},{packet}: expected every,packet with packet 1 to every"))
            );
        }
        Ok(Self { every, packet, negate, count: SharedCount::default() })
    }

    /// Counts the packet. Returns whether it is the configured one, inverted if negated.
    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        let place = self.count.next(view.dry_run) % u64::from(self.every.max(1));
        (place + 1 == u64::from(self.packet)) != self.negate
    }

    fn adopt(&mut self, other: &Self) {
        self.count.adopt(&other.count);
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let M::Nth { every, packet, negate } = matcher else { return false };
        let count = asked.memory.counts.entry((asked.row, "nth")).or_default();
        *count = *count % u64::from(*every) + 1;
        (*count == u64::from(*packet)) != *negate
    }
}
