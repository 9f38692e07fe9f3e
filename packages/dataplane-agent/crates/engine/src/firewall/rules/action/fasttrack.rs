//! `fasttrack-connection`.

use super::{ChainExit, Hit, ReferenceHit, RuleAction};

/// Marks the connection as fasttracked.
pub(super) struct Fasttrack;

impl RuleAction for Fasttrack {
    #[inline(always)]
    fn apply(&self, hit: &mut Hit<'_>) -> Option<ChainExit> {
        hit.out.fasttrack = true;
        None
    }

    fn reference(&self, hit: &mut ReferenceHit<'_>) -> Option<ChainExit> {
        hit.outcome.fasttrack = true;
        None
    }
}
