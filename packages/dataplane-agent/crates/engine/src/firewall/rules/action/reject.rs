//! `reject`.

use tollway_config::dataplane::RejectWith;

use super::{ActionScope, BuildError, ChainExit, Family, Hit, ReferenceHit, RuleAction, RuleVerdict};

/// Drops the packet and answers it.
pub(super) struct Reject(pub RejectWith);

impl Reject {
    /// Whether packets of a family can be answered so.
    const fn is_of(&self, family: Family) -> bool {
        use RejectWith as R;
        match self.0 {
            R::IcmpPortUnreachable | R::IcmpAdminProhibited | R::TcpReset => true,
            R::IcmpNetworkUnreachable
            | R::IcmpHostUnreachable
            | R::IcmpProtocolUnreachable
            | R::IcmpNetProhibited
            | R::IcmpHostProhibited => matches!(family, Family::V4),
            R::IcmpNoRoute
            | R::IcmpNotNeighbour
            | R::IcmpAddressUnreachable
            | R::IcmpErrSrcRoutingHeader
            | R::IcmpHeadersTooLong => matches!(family, Family::V6),
        }
    }
}

impl RuleAction for Reject {
    fn check(&self, scope: &ActionScope<'_>) -> Result<(), BuildError> {
        scope.ensure(self.is_of(scope.family), || {
            format!("reject-with {:?}: expected an answer to {} packets", self.0, scope.family.name())
        })
    }

    #[inline(always)]
    fn apply(&self, hit: &mut Hit<'_>) -> Option<ChainExit> {
        hit.out.verdict = RuleVerdict::Reject(self.0);
        Some(ChainExit::End)
    }

    fn reference(&self, hit: &mut ReferenceHit<'_>) -> Option<ChainExit> {
        hit.outcome.verdict = RuleVerdict::Reject(self.0);
        Some(ChainExit::End)
    }
}
