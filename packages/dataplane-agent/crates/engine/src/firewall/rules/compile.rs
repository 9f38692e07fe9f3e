//! Compilation of configured chains to flat arrays of rules and an index per chain.

use std::collections::HashMap;
use std::sync::Arc;

use tollway_config::dataplane::{Action, Chain, RowId};

use super::action::{ActionScope, RuleAction};
use super::address_intervals::AddressIntervals;
use super::check::Check;
use super::depends::Depends;
use super::index::Index;
use super::list::AddressLists;
use super::matcher::{CompileScope, EvaluationOrder, MarkRead, Matcher};
use super::outcome::{MAX_JUMP_DEPTH, Position};
use super::table_kind::TableKind;
use crate::error::BuildError;
use crate::flow::nat::NatTarget;
use crate::interface::InterfaceMap;
use crate::packet::family::Family;
use crate::packet::tuple::Addr;

/// Maximum number of chains of a table.
pub const MAX_CHAINS: usize = 4096;

/// A compiled rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Row of the menu.
    pub row: RowId,
    /// Index of its chain in the table.
    pub chain: u32,
    /// Write a log line for each match, with this prefix.
    pub log: Option<String>,
    /// Action as configured.
    pub(super) action: Action,
    /// In the order of [`EvaluationOrder`].
    pub(super) matchers: Box<[Matcher]>,
    /// Number of matchers that are flow constant; they come first.
    pub(super) flow_const_matchers: usize,
    /// The rule's [`Check`] is equivalent to its flow-constant conditions, which need not be evaluated again.
    pub(super) check_is_exact: bool,
    /// Number of matchers that depend only on the flow and on lists.
    pub(super) constant_matchers: usize,
    /// The dependencies of the other conditions.
    pub(super) depends: Depends,
    /// A match is logged.
    pub(super) logs: bool,
    /// A condition, negated or not, reads the transport header: the rule matches no packet without one.
    pub(super) reads_transport_header: bool,
    /// Only SYN segments fulfil its conditions.
    pub(super) only_matches_syn: bool,
}

impl Rule {
    /// Translation that a rule of NAT asks for. `interface` and `own` are the row and the address of the out-interface
    /// in `srcnat`, of the in-interface in `dstnat`. Returns `None` if the action is not a translation, or needs the
    /// address and there is none.
    #[inline(always)]
    pub fn nat_target(&self, interface: RowId, own: Option<Addr>) -> Option<NatTarget> {
        self.action.nat_target(interface, own)
    }
}

/// A compiled chain.
#[derive(Debug, Clone)]
pub(super) struct CompiledChain {
    name: String,
    /// Index of its first rule in the table.
    pub from: u32,
    /// Index by which the first rule that matches is found.
    pub index: Arc<Index>,
}

/// A compiled table.
#[derive(Debug, Clone)]
pub struct RuleTable {
    /// Rules of all chains.
    pub(super) rules: Vec<Rule>,
    /// Chains by number.
    pub(super) chains: Vec<CompiledChain>,
    /// Intervals of the rules' addresses.
    pub(super) intervals: AddressIntervals,
    /// Address lists to which the rules refer.
    pub(super) lists: Arc<AddressLists>,
}

impl RuleTable {
    /// Compiles the chains of a table of a family. Errors name the rule: an address of the other family, an action that
    /// the table or hook does not support, a jump
    /// to a chain that does not exist, to a built-in chain, in a cycle or nested deeper than [`MAX_JUMP_DEPTH`], or a
    /// reference that does not resolve. Rules that are in the table `before` keep the state of their conditions, and
    /// chains with the same conditions share their index with it.
    pub fn compile(
        family: Family,
        kind: TableKind,
        chains: &[Chain],
        lists: &Arc<AddressLists>,
        interfaces: &InterfaceMap,
        before: Option<&Self>,
    ) -> Result<Self, BuildError> {
        let mut table = Self {
            rules: Vec::new(),
            chains: Vec::new(),
            intervals: AddressIntervals::of(chains),
            lists: Arc::clone(lists),
        };
        let within = |chain, row| ActionScope { family, kind, chain, chains, lists, row };
        if chains.len() > MAX_CHAINS {
            let row = chains.iter().flat_map(|chain| &chain.rules).last().map(|rule| rule.row);
            return Err(BuildError {
                row,
                message: format!("more than {MAX_CHAINS} chains in {}", kind.menu()),
            });
        }
        for (index, chain) in chains.iter().enumerate() {
            if table.chains.iter().any(|known| known.name == chain.name) {
                return Err(BuildError {
                    row: chain.rules.first().map(|rule| rule.row),
                    message: format!("chain {} occurs twice in {}", chain.name, kind.menu()),
                });
            }
            let from = table.rules.len() as u32;
            let mut checks = Vec::with_capacity(chain.rules.len());
            for rule in &chain.rules {
                rule.action.check(&within(&chain.name, rule.row))?;
                let scope = CompileScope { interfaces, lists, family, row: rule.row };
                let (rule, check) = compile_rule(rule, index as u32, &scope, &table.intervals)?;
                table.rules.push(rule);
                checks.push(check);
            }
            let same = |known: &&CompiledChain| known.name == chain.name && known.index.is_of(&checks);
            let index = match before.and_then(|table| table.chains.iter().find(same)) {
                Some(known) => Arc::clone(&known.index),
                None => Arc::new(Index::new(&checks)),
            };
            table.chains.push(CompiledChain { name: chain.name.clone(), from, index });
        }
        check_paths(kind, chains, within)?;
        if let Some(before) = before {
            table.adopt(before);
        }
        Ok(table)
    }

    /// Takes over the state of conditions from rules that are the same in `previous`.
    pub(super) fn adopt(&mut self, previous: &Self) {
        let counts = |rule: &Rule| rule.depends.contains(Depends::SHARED);
        let known: HashMap<RowId, &Rule> =
            previous.rules.iter().filter(|rule| counts(rule)).map(|rule| (rule.row, rule)).collect();
        for rule in self.rules.iter_mut().filter(|rule| counts(rule)) {
            let Some(old) = known.get(&rule.row).filter(|old| old.matchers == rule.matchers) else {
                continue;
            };
            for (matcher, old) in rule.matchers.iter_mut().zip(&old.matchers) {
                matcher.adopt(old);
            }
        }
    }

    /// Position at which the evaluation of a built-in chain starts; `None` if the chain has no rules and so accepts.
    pub fn hook(&self, name: &str) -> Option<Position> {
        let place = self.chains.iter().position(|chain| chain.name == name)?;
        let chain = self.chains.get(place)?;
        (!chain.index.is_empty()).then(|| Position::at(place as u16, chain.from))
    }

    /// Whether outcomes may have a limited validity: depend on volume, time, DSCP or lists.
    pub fn has_limited_validity(&self) -> bool {
        self.rules.iter().any(|rule| {
            let limited = Depends::LIMITED_VALIDITY.union(Depends::LIST);
            rule.action.has_limited_validity()
                || rule.matchers.iter().any(|matcher| matcher.depends_on().intersects(limited))
        })
    }

    /// Whether a rule reads the packet's mark or DSCP, which the flow cache does not keep.
    pub fn reads_packet_mark(&self) -> bool {
        self.mark_read(MarkRead::Packet)
    }

    /// Whether a rule asks for a mark of the connection.
    pub fn reads_connection_mark(&self) -> bool {
        self.mark_read(MarkRead::ConnectionMark)
    }

    fn mark_read(&self, what: MarkRead) -> bool {
        self.rules.iter().any(|rule| rule.matchers.iter().any(|matcher| matcher.mark_read() == what))
    }

    /// Whether there is no rule at all.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rows of all rules, in order.
    pub fn rows(&self) -> impl Iterator<Item = RowId> + '_ {
        self.rules.iter().map(|rule| rule.row)
    }

    /// A rule by its index in the table.
    pub fn rule(&self, index: u32) -> Option<&Rule> {
        self.rules.get(index as usize)
    }

    /// Name of a rule's chain.
    pub fn chain_name(&self, rule: &Rule) -> &str {
        self.chains.get(rule.chain as usize).map_or("", |chain| &chain.name)
    }
}

fn compile_rule(
    rule: &tollway_config::dataplane::Rule,
    chain: u32,
    scope: &CompileScope<'_>,
    intervals: &AddressIntervals,
) -> Result<(Rule, Check), BuildError> {
    let mut matchers = Vec::with_capacity(rule.matchers.len());
    for matcher in &rule.matchers {
        matchers.push(Matcher::compile(matcher, scope)?);
    }
    matchers.sort_by_key(Matcher::order);
    let (check, check_is_exact) = check_of(&matchers, intervals);
    let flow_const_matchers = matchers.partition_point(|matcher| matcher.order() < EvaluationOrder::List);
    let constant_matchers = matchers.partition_point(|matcher| matcher.order() <= EvaluationOrder::List);
    let rest = matchers.iter().skip(constant_matchers);
    let depends = rest.fold(Depends::FLOW_CONST, |depends, matcher| depends.union(matcher.depends_on()));
    let compiled = Rule {
        row: rule.row,
        chain,
        log: rule.log.clone(),
        action: rule.action.clone(),
        flow_const_matchers,
        check_is_exact,
        constant_matchers,
        depends,
        logs: rule.log.is_some() || rule.action.logs(),
        reads_transport_header: matchers.iter().any(Matcher::reads_transport_header),
        only_matches_syn: matchers.iter().any(Matcher::only_matches_syn),
        matchers: matchers.into(),
    };
    Ok((compiled, check))
}

/// The check of a rule's conditions, and whether it is equivalent to its flow-constant conditions.
pub(super) fn check_of(matchers: &[Matcher], intervals: &AddressIntervals) -> (Check, bool) {
    let mut check = Check::default();
    let mut is_exact = true;
    for matcher in matchers {
        is_exact &= matcher.narrow(&mut check, intervals);
    }
    (check, is_exact)
}

/// Checks for cycles, too deep nesting, and actions that can be reached from a hook which does not support them. `within`
/// gives the scope of a rule in a chain.
fn check_paths<'a>(
    kind: TableKind,
    chains: &'a [Chain],
    within: impl Fn(&'a str, RowId) -> ActionScope<'a>,
) -> Result<(), BuildError> {
    let mut depths = vec![None; chains.len()];
    for index in 0..chains.len() {
        let mut path = Vec::new();
        depth(chains, index, &mut path, &mut depths)?;
    }
    for (hook, _) in kind.chains() {
        let mut seen = vec![false; chains.len()];
        let mut open: Vec<usize> = chains.iter().position(|chain| chain.name == *hook).into_iter().collect();
        while let Some(index) = open.pop() {
            if seen.get(index).copied().unwrap_or(true) {
                continue;
            }
            if let Some(seen) = seen.get_mut(index) {
                *seen = true;
            }
            let Some(chain) = chains.get(index) else { continue };
            for rule in &chain.rules {
                rule.action.check(&within(hook, rule.row))?;
                open.extend(rule.action.callee().map(|chain| chain as usize));
            }
        }
    }
    Ok(())
}

/// Depth of the jumps nested below a chain.
fn depth(
    chains: &[Chain],
    index: usize,
    path: &mut Vec<usize>,
    known: &mut Vec<Option<usize>>,
) -> Result<usize, BuildError> {
    if let Some(Some(depth)) = known.get(index) {
        return Ok(*depth);
    }
    let mut deepest = 0;
    path.push(index);
    for rule in chains.get(index).map_or(&[][..], |chain| &chain.rules) {
        let Some(target) = rule.action.callee().map(|chain| chain as usize) else { continue };
        if path.contains(&target) {
            return Err(BuildError::row(rule.row, "the jump leads back to its own chain"));
        }
        let too_deep = || BuildError::row(rule.row, format!("jumps are nested deeper than {MAX_JUMP_DEPTH}"));
        if path.len() > MAX_JUMP_DEPTH {
            return Err(too_deep());
        }
        deepest = deepest.max(1 + depth(chains, target, path, known)?);
        if deepest > MAX_JUMP_DEPTH {
            return Err(too_deep());
        }
    }
    path.pop();
    if let Some(known) = known.get_mut(index) {
        *known = Some(deepest);
    }
    Ok(deepest)
}
