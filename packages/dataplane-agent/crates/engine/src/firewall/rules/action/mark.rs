//! `mark-packet`, `mark-connection`, `mark-routing`.

use tollway_config::dataplane::Mark;

use super::{ChainExit, Hit, ReferenceHit, RuleAction};

/// The object that is marked.
pub(super) enum Marked {
    Packet,
    Connection,
    Routing,
}

/// Sets a mark; 0 removes it.
pub(super) struct SetMark {
    /// What is marked: packet, connection or routing.
    pub of: Marked,
    /// The mark.
    pub mark: Mark,
    /// Whether the following rules are evaluated, too.
    pub passthrough: bool,
}

impl RuleAction for SetMark {
    #[inline(always)]
    fn apply(&self, hit: &mut Hit<'_>) -> Option<ChainExit> {
        let (view, changes) = (&mut *hit.view, &mut hit.out.changes);
        match self.of {
            Marked::Packet => (view.mark, changes.packet_mark) = (self.mark, Some(self.mark)),
            Marked::Connection => {
                (view.connection_mark, changes.connection_mark) = (self.mark, Some(self.mark))
            }
            Marked::Routing => (view.routing_mark, changes.routing_mark) = (self.mark, Some(self.mark)),
        }
        (!self.passthrough).then_some(ChainExit::End)
    }

    fn reference(&self, hit: &mut ReferenceHit<'_>) -> Option<ChainExit> {
        let (view, changes) = (&mut *hit.view, &mut hit.outcome.changes);
        match self.of {
            Marked::Routing => (changes.routing_mark, view.routing_mark) = (Some(self.mark), self.mark),
            Marked::Connection => {
                (changes.connection_mark, view.connection_mark) = (Some(self.mark), self.mark)
            }
            Marked::Packet => (changes.packet_mark, view.mark) = (Some(self.mark), self.mark),
        }
        (!self.passthrough).then_some(ChainExit::End)
    }
}
