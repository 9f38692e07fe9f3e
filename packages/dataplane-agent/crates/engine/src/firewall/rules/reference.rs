//! The reference evaluator: rules as configured, one after the other. Compiled tables are tested against it.
//!
//! Shares no code with the compiled form, so that each can be wrong on its own. How a condition reads and what an
//! action does is said in the file of each (`Condition::reference`, `RuleAction::reference`).

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
    /// Runs the first of all packets through a built-in chain.
    pub fn evaluate(&self, hook: &str, view: &PacketView) -> ReferenceOutcome {
        self.evaluate_next(hook, view, &mut Memory::default())
    }

    /// Runs a packet through a built-in chain.
    pub fn evaluate_next(&self, hook: &str, view: &PacketView, memory: &mut Memory) -> ReferenceOutcome {
        let mut outcome = ReferenceOutcome::default();
        if let Some(chain) = self.chains.iter().position(|chain| chain.name == hook) {
            let mut view = *view;
            self.chain(chain, &mut view, memory, &mut outcome);
        }
        outcome
    }

    /// Whether the table ends in the chain, and not only the chain.
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

    /// Conditions that every packet changes come last, and only when all others hold.
    fn rule_matches(&self, rule: &Rule, view: &PacketView, memory: &mut Memory) -> bool {
        let mut matchers: Vec<_> = rule.matchers.iter().collect();
        matchers.sort_by_key(|matcher| Matcher::order_of(matcher));
        let (lists, interfaces) = (self.lists, self.interfaces);
        let mut asked = ReferenceInput { view, row: rule.row, lists, interfaces, memory };
        matchers.into_iter().all(|matcher| Matcher::reference(matcher, &mut asked))
    }
}
