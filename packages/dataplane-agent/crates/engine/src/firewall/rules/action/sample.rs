//! The action of `docs/adding/action.md`: marks a packet with the number of its wire segments. It is there in tests
//! alone and configured as `mark-packet` with a mark that no test uses, as the configuration's own enum has no variant
//! for it.

use tollway_config::dataplane::Mark;

use super::super::Depends;
use super::{ChainExit, Hit, ReferenceHit, RuleAction};

/// Mark that configures the sample.
pub(super) const MARK: Mark = u32::MAX - 1;

/// The packet is marked with its number of segments.
pub(super) struct Sample {
    /// Whether the following rules are evaluated, too.
    pub passthrough: bool,
}

impl RuleAction for Sample {
    #[inline(always)]
    fn apply(&self, hit: &mut Hit<'_>) -> Option<ChainExit> {
        // Each packet has its own number of segments.
        hit.out.note_dependency(Depends::PACKET_FIELD, hit.position);
        hit.view.mark = hit.view.segments;
        hit.out.changes.packet_mark = Some(hit.view.segments);
        (!self.passthrough).then_some(ChainExit::End)
    }

    fn reference(&self, hit: &mut ReferenceHit<'_>) -> Option<ChainExit> {
        let mark = hit.view.segments;
        hit.outcome.changes.packet_mark = Some(mark);
        hit.view.mark = mark;
        (!self.passthrough).then_some(ChainExit::End)
    }
}

#[cfg(test)]
mod tests {
    use tollway_config::dataplane::{Action, Matcher};

    use super::super::super::reference::Reference;
    use super::super::super::tests::{chain, compile, interfaces, lists, rule, run, view};
    use super::super::super::{PacketView, TableKind};
    use super::*;

    #[test]
    fn an_action_of_one_file_and_one_row_is_checked_applied_and_depended_on() {
        for passthrough in [false, true] {
            let sample = rule(1, vec![], Action::MarkPacket { mark: MARK, passthrough });
            let two = Matcher::PacketMark { mark: 2, negate: false };
            let chains = [chain("forward", vec![sample, rule(2, vec![two], Action::Passthrough)])];
            let table = compile(TableKind::Mangle, &chains).unwrap();
            let (lists, interfaces) = (lists(), interfaces());
            let reference = Reference { chains: &chains, lists: &lists, interfaces: &interfaces };
            for segments in [1, 2] {
                let packet = PacketView { segments, ..view() };
                let found = run(&table, "forward", &packet);
                let expected = reference.evaluate("forward", &packet);
                assert_eq!(found.matched, if passthrough && segments == 2 { vec![1, 2] } else { vec![1] });
                assert_eq!((&found.matched, found.changes), (&expected.matched, expected.changes));
                assert_eq!(found.changes.packet_mark, Some(segments));
                assert!(found.resume.is_some(), "each packet of a flow is marked");
                assert_eq!((found.depends, found.matched_before_resume), (Depends::PACKET_FIELD, 0));
            }
            for (kind, hook) in [(TableKind::Mangle, "prerouting"), (TableKind::Filter, "forward")] {
                let chains =
                    [chain(hook, vec![rule(7, vec![], Action::MarkPacket { mark: MARK, passthrough })])];
                let refused = compile(kind, &chains).unwrap_err();
                assert!(refused.row == Some(7) && refused.message.contains("mark-segments"), "{refused}");
            }
        }
    }
}
