//! `accept`, `drop`, `jump`, `return`, `passthrough`.

use super::{ActionScope, BuildError, ChainExit, Hit, ReferenceHit, RuleAction, RuleVerdict};

/// Sets the verdict, and where the evaluation continues or ends.
pub(super) struct Exit(pub RuleVerdict, pub Option<ChainExit>);

impl RuleAction for Exit {
    fn check(&self, scope: &ActionScope<'_>) -> Result<(), BuildError> {
        let Some(chain) = self.callee() else { return Ok(()) };
        let target = scope.chains.get(chain as usize);
        scope.ensure(target.is_some(), || format!("jumps to chain {chain}, which does not exist"))?;
        let built_in = target.and_then(|target| scope.kind.chain(&target.name));
        scope.ensure(built_in.is_none(), || format!("jumps to the built-in chain {}", built_in.unwrap_or("")))
    }

    fn callee(&self) -> Option<u32> {
        if let Some(ChainExit::Call(chain)) = self.1 { Some(chain) } else { None }
    }

    #[inline(always)]
    fn apply(&self, hit: &mut Hit<'_>) -> Option<ChainExit> {
        hit.out.verdict = self.0;
        self.1
    }

    fn reference(&self, hit: &mut ReferenceHit<'_>) -> Option<ChainExit> {
        hit.outcome.verdict = self.0;
        self.1
    }
}
