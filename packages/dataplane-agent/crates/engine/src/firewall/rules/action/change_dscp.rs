//! `change-dscp`.

use super::{ActionScope, BuildError, ChainExit, Hit, ReferenceHit, RuleAction};

/// Writes the DSCP.
pub(super) struct ChangeDscp {
    /// New DSCP, 0 to 63.
    pub dscp: u8,
    /// Whether the following rules are evaluated, too.
    pub passthrough: bool,
}

impl RuleAction for ChangeDscp {
    fn check(&self, scope: &ActionScope<'_>) -> Result<(), BuildError> {
        scope.ensure(self.dscp <= 63, || format!("new-dscp {}: expected 0 to 63", self.dscp))
    }

    #[inline(always)]
    fn apply(&self, hit: &mut Hit<'_>) -> Option<ChainExit> {
        (hit.view.dscp, hit.view.dscp_written) = (self.dscp, true);
        hit.out.changes.dscp = Some(self.dscp);
        (!self.passthrough).then_some(ChainExit::End)
    }

    fn reference(&self, hit: &mut ReferenceHit<'_>) -> Option<ChainExit> {
        hit.outcome.changes.dscp = Some(self.dscp);
        hit.view.dscp = self.dscp;
        (!self.passthrough).then_some(ChainExit::End)
    }
}
