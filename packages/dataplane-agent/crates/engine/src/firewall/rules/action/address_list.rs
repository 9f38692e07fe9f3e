//! `add-src-to-address-list`, `add-dst-to-address-list`.

use super::super::Membership;
use super::{ActionScope, BuildError, ChainExit, Hit, ListAddition, ReferenceHit, RuleAction, Side};
use crate::time::Now;

/// A cached flow renews the timeout of its list entries after this part of the timeout …
const REFRESH_PART: u64 = 8;
/// … or after this time, ms, whichever is sooner.
const REFRESH_MS: u64 = 1000;

/// Adds an address of the packet to a list.
pub(super) struct AddToList {
    /// Number of the list.
    pub list: u32,
    /// Which address of the packet is added.
    pub side: Side,
    /// Timeout of the entry, ms; 0 for none.
    pub timeout_ms: u64,
}

impl RuleAction for AddToList {
    fn check(&self, scope: &ActionScope<'_>) -> Result<(), BuildError> {
        scope.ensure((self.list as usize) < scope.lists.len(), || {
            format!("adds to address list {}, which does not exist", self.list)
        })
    }

    fn has_limited_validity(&self) -> bool {
        true
    }

    /// While the entry exists, it need not be added for every packet.
    fn apply(&self, Hit { view, position, out }: &mut Hit<'_>) -> Option<ChainExit> {
        let Self { list, side, timeout_ms } = *self;
        out.note_membership(Membership { list, side }, position);
        if out.resume.is_none() && timeout_ms != 0 {
            let wait_ms = (timeout_ms / REFRESH_PART).min(REFRESH_MS);
            out.validity.narrow(u64::MAX, Now(view.now.0.saturating_add(wait_ms * 1_000_000)));
        }
        let address = if side == Side::Source { view.tuple.src } else { view.tuple.dst };
        out.adds.push(ListAddition { list, address, timeout_ms });
        None
    }

    fn reference(&self, hit: &mut ReferenceHit<'_>) -> Option<ChainExit> {
        let tuple = hit.view.tuple;
        let address = if self.side == Side::Destination { tuple.dst } else { tuple.src };
        hit.outcome.adds.push(ListAddition { list: self.list, address, timeout_ms: self.timeout_ms });
        hit.memory.added.insert((self.list, address));
        None
    }
}

#[cfg(test)]
mod tests {
    use tollway_config::dataplane::Action;

    use super::super::super::TableKind;
    use super::super::super::tests::{chain, compile, rule, run, view};
    use super::*;

    #[test]
    fn each_action_adds_the_address_that_it_is_named_after() {
        let (list, timeout_ms) = (1, 0);
        let source = rule(1, vec![], Action::AddSrcToAddressList { list, timeout_ms });
        let destination = rule(2, vec![], Action::AddDstToAddressList { list, timeout_ms });
        let table = compile(TableKind::Filter, &[chain("forward", vec![source, destination])]).unwrap();
        let packet = view();
        let added = [packet.tuple.src, packet.tuple.dst];
        let added = added.map(|address| ListAddition { list, address, timeout_ms });
        assert_eq!(run(&table, "forward", &packet).adds, added);
    }
}
