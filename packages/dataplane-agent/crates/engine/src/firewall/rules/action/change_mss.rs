//! `change-mss`.

use super::{ChainExit, Hit, NewMss, ReferenceHit, RuleAction};

/// Limits the maximum segment size that a SYN announces. Of several rules the smallest value applies.
pub(super) struct ChangeMss {
    /// New MSS of SYN segments.
    pub mss: NewMss,
    /// Whether the following rules are evaluated, too.
    pub passthrough: bool,
}

impl RuleAction for ChangeMss {
    #[inline(always)]
    fn apply(&self, hit: &mut Hit<'_>) -> Option<ChainExit> {
        let changes = &mut hit.out.changes;
        match self.mss {
            NewMss::Value { bytes } => changes.mss = Some(changes.mss.map_or(bytes, |mss| mss.min(bytes))),
            NewMss::ClampToPmtu => changes.clamp_mss = true,
        }
        (!self.passthrough).then_some(ChainExit::End)
    }

    fn reference(&self, hit: &mut ReferenceHit<'_>) -> Option<ChainExit> {
        let changes = &mut hit.outcome.changes;
        match self.mss {
            NewMss::ClampToPmtu => changes.clamp_mss = true,
            NewMss::Value { bytes } => changes.mss = Some(changes.mss.unwrap_or(u16::MAX).min(bytes)),
        }
        (!self.passthrough).then_some(ChainExit::End)
    }
}
