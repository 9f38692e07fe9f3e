//! The reference evaluator: rules as configured, one after the other. Compiled tables are tested against it.
//!
//! It shares no code with the compiled form, so that an error in one does not affect the other. The reference of each
//! condition and action is in its file (`Condition::reference`, `RuleAction::reference`).

use tollway_config::dataplane::{AddressList, Chain, Rule};

use super::action::{ChainExit, RuleAction};
use super::matcher::Matcher;
use super::reference_input::{ReferenceHit, ReferenceInput};
use super::view::PacketView;
use crate::interface::InterfaceMap;

pub use super::reference_input::{Memory, ReferenceOutcome};

/// A table as configured.
#[derive(Debug, Clone, Copy)]
pub struct Reference<'a> {
    /// Chains of the table.
    pub chains: &'a [Chain],
    /// The address lists.
    pub lists: &'a [AddressList],
    /// The interfaces.
    pub interfaces: &'a InterfaceMap,
}

impl Reference<'_> {
    /// Evaluates a built-in chain for the first packet.
    pub fn evaluate(&self, hook: &str, view: &PacketView) -> ReferenceOutcome {
        self.evaluate_next(hook, view, &mut Memory::default())
    }

    /// Evaluates a built-in chain for a packet. `memory` is the state that earlier packets have left.
    pub fn evaluate_next(&self, hook: &str, view: &PacketView, memory: &mut Memory) -> ReferenceOutcome {
        let mut outcome = ReferenceOutcome::default();
        if let Some(chain) = self.chains.iter().position(|chain| chain.name == hook) {
            let mut view = *view;
            self.chain(chain, &mut view, memory, &mut outcome);
        }
        outcome
    }

    /// Evaluates a chain. Returns whether the evaluation of the table ends there, not only that of the chain.
    fn chain(
        &self,
        index: usize,
        view: &mut PacketView,
        memory: &mut Memory,
        outcome: &mut ReferenceOutcome,
    ) -> bool {
        let before: usize = self.chains.iter().take(index).map(|chain| chain.rules.len()).sum();
        for (at, rule) in self.chains.get(index).into_iter().flat_map(|chain| &chain.rules).enumerate() {
            if !self.rule_matches(rule, view, memory) {
                continue;
            }
            outcome.matched.push(rule.row);
            if rule.log.is_some() || rule.action.logs() {
                outcome.logs.push(rule.row);
            }
            let hit = &mut ReferenceHit { view, index: (before + at) as u32, memory, outcome };
            let ends = match rule.action.reference(hit) {
                None => false,
                Some(ChainExit::End) => true,
                Some(ChainExit::Return) => return false,
                Some(ChainExit::Call(chain)) => self.chain(chain as usize, view, memory, outcome),
            };
            if ends {
                return true;
            }
        }
        false
    }

    /// Evaluates the conditions whose state every packet changes last, and only if all others hold.
    fn rule_matches(&self, rule: &Rule, view: &PacketView, memory: &mut Memory) -> bool {
        let mut matchers: Vec<_> = rule.matchers.iter().collect();
        matchers.sort_by_key(|matcher| Matcher::order_of(matcher));
        let (lists, interfaces) = (self.lists, self.interfaces);
        let mut asked = ReferenceInput { view, row: rule.row, lists, interfaces, memory };
        matchers.into_iter().all(|matcher| Matcher::reference(matcher, &mut asked))
    }
}
