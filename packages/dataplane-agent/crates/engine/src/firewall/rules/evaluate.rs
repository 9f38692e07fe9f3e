//! Evaluation of a compiled table for one packet.

use tollway_wire::tcp;

use super::action::{ChainExit, Hit, RuleAction};
use super::check::Fields;
use super::compile::{CompiledChain, Rule, RuleTable};
use super::depends::Depends;
use super::index::Candidates;
use super::matcher::{Condition, Matcher};
use super::outcome::{Evaluation, Position};
use super::view::PacketView;

impl RuleTable {
    /// Evaluates the rules for a packet from `start` on: the [`RuleTable::hook`] of a built-in chain, or the resume
    /// point of an earlier evaluation of the same flow. Rules see the changes of earlier rules in `view`, which is
    /// restored afterwards.
    pub fn evaluate(&self, view: &mut PacketView, start: &Position, out: &mut Evaluation) {
        out.reset();
        // The view was just written field by field: a copy of it would stall on the store buffer.
        let before = (view.mark, view.connection_mark, view.routing_mark, view.dscp, view.dscp_written);
        self.run(view, start.copy(), out);
        (view.mark, view.connection_mark, view.routing_mark, view.dscp, view.dscp_written) = before;
        if out.resume.is_none() {
            out.matched_before_resume = out.matched.len();
        }
    }

    fn run(&self, view: &mut PacketView, mut position: Position, out: &mut Evaluation) {
        let key = Fields::new(view, &self.intervals);
        loop {
            let Some(chain) = self.chains.get(usize::from(position.chain)) else { return };
            match self.run_chain(chain, &key, view, &mut position, out) {
                ChainExit::End => return,
                ChainExit::Call(target) => {
                    let Some(from) = self.chains.get(target as usize).map(|chain| chain.from) else { return };
                    if !position.call(target as u16, from) {
                        return;
                    }
                }
                ChainExit::Return => {
                    if !position.return_to_caller() {
                        return;
                    }
                }
            }
        }
    }

    /// Evaluates the rules of a chain from the position on, until one of them leaves the chain.
    #[inline]
    fn run_chain(
        &self,
        chain: &CompiledChain,
        key: &Fields,
        view: &mut PacketView,
        position: &mut Position,
        out: &mut Evaluation,
    ) -> ChainExit {
        // Filled in place: a copy of the lists would stall on the store buffer.
        let mut candidates = Candidates::none(&chain.index);
        candidates.find(key, position.rule.saturating_sub(chain.from));
        while let Some(candidate) = candidates.next(key) {
            position.rule = chain.from + candidate;
            let Some(rule) = self.rules.get(position.rule as usize) else { break };
            if !self.matches(rule, view, position, out) {
                continue;
            }
            if rule.logs {
                out.note_dependency(Depends::SIDE_EFFECT, position);
                out.logs.push(position.rule);
            }
            let exit = rule.action.apply(&mut Hit { view, position, out });
            out.matched.push(rule.row);
            if let Some(exit) = exit {
                return exit;
            }
        }
        ChainExit::Return
    }

    /// Whether a rule matches. Notes the dependencies of the outcome, unless the flow-constant conditions exclude the
    /// rule.
    #[inline]
    fn matches(&self, rule: &Rule, view: &PacketView, position: &Position, out: &mut Evaluation) -> bool {
        let (flow_const, rest) =
            rule.matchers.split_at_checked(rule.flow_const_matchers).unwrap_or((&[], &rule.matchers));
        (rule.check_is_exact || flow_const.iter().all(|matcher| matcher.matches(view, &self.lists)))
            && !(view.no_transport_header && rule.reads_transport_header)
            && (rest.is_empty() || self.matches_rest(rule, rest, view, position, out))
    }

    fn matches_rest(
        &self,
        rule: &Rule,
        rest: &[Matcher],
        view: &PacketView,
        position: &Position,
        out: &mut Evaluation,
    ) -> bool {
        if rule.only_matches_syn && view.tcp_flags & tcp::flag::SYN == 0 {
            return false;
        }
        let lists = rule.constant_matchers.saturating_sub(rule.flow_const_matchers);
        let (lists, rest) = rest.split_at_checked(lists).unwrap_or((&[], rest));
        for matcher in lists {
            let Some(member) = matcher.list_member() else { continue };
            out.note_membership(member.listed(), position);
            let (list, address) = (member.listed().list, member.address(view));
            let added = out.adds.iter().any(|add| add.list == list && add.address == address)
                && self.lists.has_room();
            if !(if added { member.wants_member() } else { member.matches(view, &self.lists) }) {
                return false;
            }
        }
        let limited = Depends::LIMITED_VALIDITY.contains(rule.depends);
        if !limited {
            out.note_dependency(rule.depends, position);
        }
        rest.iter().all(|matcher| {
            if limited && out.resume.is_none() {
                matcher.limit_validity(view, &mut out.validity);
            }
            matcher.matches(view, &self.lists)
        })
    }
}
