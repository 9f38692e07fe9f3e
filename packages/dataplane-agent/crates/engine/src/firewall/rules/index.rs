//! The index of a chain: finds the rules that a packet may match, in order, without evaluating all rules.
//!
//! The index is a tree. A *split* separates the rules of a node by one field. Each interval of the field's values has a
//! child with the rules that cover the interval; the rules that cover many intervals (*wide* rules) form a child of
//! their own, which may be split by another field. A *leaf* is a list of rules, evaluated one after the other by their
//! [`Check`]s, which are contiguous in memory. So a packet visits a few lists: of 10,000 rules with different prefixes
//! or ports it evaluates about as few as of 25.

use std::collections::HashMap;

use super::check::{Check, Field, Fields};
use super::intervals::Intervals;

/// Maximum length of a list that is not split.
const LIST: usize = 6;
/// Maximum number of lists that a packet may visit.
const MAX_LISTS: usize = 8;
/// Maximum number of intervals that a narrow rule covers, which is the number of its copies in a split. The next
/// smaller value is tried if there would be too many copies.
const NARROW: [u32; 3] = [16, 4, 1];
/// Maximum average number of copies of the narrow rules of a split.
const MAX_COPIES: usize = 4;

/// A node: a list, a split or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct IndexNode {
    /// Index of the first rule of a list, or number of the split.
    at: u32,
    /// Length of the list, or [`SPLIT`].
    len: u32,
}

const SPLIT: u32 = u32::MAX;
const NOTHING: IndexNode = IndexNode { at: 0, len: 0 };

#[derive(Debug, Clone)]
struct Split {
    field: Field,
    intervals: Intervals,
    /// Children by interval.
    narrow: Vec<IndexNode>,
    wide: IndexNode,
}

/// The index of one chain. Rules are numbered from 0.
#[derive(Debug, Clone)]
pub(super) struct Index {
    root: IndexNode,
    splits: Vec<Split>,
    /// The lists, each ascending by rule.
    checks: Vec<Check>,
    rules: Vec<u32>,
    /// Checks of all rules, as passed to [`Self::new`].
    source: Vec<Check>,
}

impl Index {
    /// Whether it is the index of the rules with these checks.
    pub fn is_of(&self, checks: &[Check]) -> bool {
        self.source == checks
    }

    /// The index of the rules with these checks.
    pub fn new(checks: &[Check]) -> Self {
        Self::with_lists_of(checks, LIST)
    }

    fn with_lists_of(checks: &[Check], list: usize) -> Self {
        let index = Self {
            root: NOTHING,
            splits: Vec::new(),
            checks: Vec::new(),
            rules: Vec::new(),
            source: checks.to_vec(),
        };
        let mut builder = Builder { source: checks, list, index };
        let all: Vec<u32> = (0..checks.len() as u32).collect();
        let (root, _) = builder.node(&all, MAX_LISTS);
        builder.index.root = root;
        builder.index
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    #[inline(always)]
    fn visit(&self, mut node: IndexNode, key: &Fields, from: u32, found: &mut Candidates<'_>) {
        while node.len == SPLIT {
            let Some(split) = self.splits.get(node.at as usize) else { return };
            let interval = split.intervals.find(key.field(split.field));
            let narrow = split.narrow.get(interval).copied().unwrap_or(NOTHING);
            if narrow.len == SPLIT {
                self.visit_below(narrow, key, from, found);
            } else {
                self.take(narrow, key, from, found);
            }
            node = split.wide;
        }
        self.take(node, key, from, found);
    }

    #[cold]
    #[inline(never)]
    fn visit_below(&self, node: IndexNode, key: &Fields, from: u32, found: &mut Candidates<'_>) {
        self.visit(node, key, from, found);
    }

    /// Adds a list, if it has a candidate.
    #[inline(always)]
    fn take(&self, node: IndexNode, key: &Fields, from: u32, found: &mut Candidates<'_>) {
        let end = node.at + node.len;
        let mut at = node.at;
        if from != 0 {
            let rules = self.rules.get(at as usize..end as usize).unwrap_or_default();
            at += rules.partition_point(|rule| *rule < from) as u32;
        }
        let list = self.next(key, at, end);
        if list.rule != u32::MAX
            && let Some(place) = found.lists.get_mut(found.count)
        {
            *place = list;
            found.count += 1;
        }
    }

    /// The first candidate of a list from `at` on.
    #[inline]
    fn next(&self, key: &Fields, at: u32, end: u32) -> RuleRun {
        let ahead = self.checks.get(at as usize..end as usize).unwrap_or_default();
        let Some(passed) = ahead.iter().position(|check| check.admits(key)) else {
            return RuleRun { at: end, end, rule: u32::MAX };
        };
        let at = at + passed as u32;
        RuleRun { at, end, rule: self.rules.get(at as usize).copied().unwrap_or(u32::MAX) }
    }
}

/// The rest of a list of rules.
#[derive(Debug, Clone, Copy, Default)]
struct RuleRun {
    at: u32,
    end: u32,
    /// Rule at `at`; `u32::MAX` at the end.
    rule: u32,
}

/// The rules of a chain that a packet may match.
#[derive(Debug)]
pub(super) struct Candidates<'a> {
    index: &'a Index,
    lists: [RuleRun; MAX_LISTS],
    count: usize,
    /// List whose rule was returned last. The next rule of that list is searched only by the next call, as most rules
    /// that match end the search.
    given: usize,
}

impl<'a> Candidates<'a> {
    /// No candidates yet.
    #[inline]
    pub fn none(index: &'a Index) -> Self {
        Self { index, lists: [RuleRun::default(); MAX_LISTS], count: 0, given: MAX_LISTS }
    }

    /// Finds the rules from `from` on that a packet may match.
    #[inline]
    pub fn find(&mut self, key: &Fields, from: u32) {
        self.index.visit(self.index.root, key, from, self);
    }

    /// The next candidate, in order.
    #[inline]
    pub fn next(&mut self, key: &Fields) -> Option<u32> {
        let lists = self.lists.get_mut(..self.count)?;
        if let Some(list) = lists.get_mut(self.given) {
            *list = self.index.next(key, list.at + 1, list.end);
        }
        let (given, list) = lists.iter().enumerate().min_by_key(|(_, list)| list.rule)?;
        self.given = given;
        (list.rule != u32::MAX).then_some(list.rule)
    }
}

struct Builder<'a> {
    source: &'a [Check],
    /// Longest list that is not split.
    list: usize,
    index: Index,
}

/// A field and values by which the rules of a node can be split.
struct SplitCandidate {
    field: Field,
    /// First values of the intervals.
    starts: Vec<u32>,
    /// Narrow rules with the intervals they cover, first and last.
    narrow: Vec<Placed>,
    /// Number of narrow rules that a packet need not visit in the worst case.
    gain: usize,
}

impl Builder<'_> {
    /// Builds a node of rules, ascending, in which a packet visits at most `lists` lists. Returns the node and the
    /// maximum number of lists that a packet visits.
    fn node(&mut self, rules: &[u32], lists: usize) -> (IndexNode, usize) {
        if rules.len() <= self.list || lists < 2 {
            return self.leaf(rules);
        }
        let candidates = Field::ALL.iter().filter_map(|field| self.candidate(*field, rules));
        match candidates
            .max_by_key(|candidate| candidate.gain)
            .filter(|candidate| candidate.gain >= self.list.max(rules.len() / 16))
        {
            Some(candidate) => self.split(&candidate, rules, lists),
            None => self.leaf(rules),
        }
    }

    fn leaf(&mut self, rules: &[u32]) -> (IndexNode, usize) {
        let node = IndexNode { at: self.index.rules.len() as u32, len: rules.len() as u32 };
        let checks = rules.iter().filter_map(|rule| self.source.get(*rule as usize));
        self.index.checks.extend(checks);
        self.index.rules.extend(rules);
        (node, 1)
    }

    fn split(&mut self, candidate: &SplitCandidate, rules: &[u32], lists: usize) -> (IndexNode, usize) {
        let mut by_interval: Vec<Vec<u32>> = vec![Vec::new(); candidate.starts.len()];
        for (rule, first, last) in &candidate.narrow {
            let covered = by_interval.get_mut(*first as usize..=*last as usize).unwrap_or_default();
            covered.iter_mut().for_each(|list| list.push(*rule));
        }
        let mut known: HashMap<Vec<u32>, IndexNode> = HashMap::new();
        let mut narrow = Vec::with_capacity(by_interval.len());
        let mut visited = 0;
        for list in by_interval {
            if list.is_empty() {
                narrow.push(NOTHING);
                continue;
            }
            let node = match known.get(&list) {
                Some(node) => *node,
                None => {
                    let (node, count) = self.node(&list, lists / 2);
                    visited = visited.max(count);
                    known.insert(list, node);
                    node
                }
            };
            narrow.push(node);
        }
        let mut split = candidate.narrow.iter().map(|(rule, ..)| *rule).peekable();
        let wide: Vec<u32> = rules.iter().copied().filter(|rule| split.next_if_eq(rule).is_none()).collect();
        let (wide, more) = if wide.is_empty() { (NOTHING, 0) } else { self.node(&wide, lists - visited) };
        let at = self.index.splits.len() as u32;
        let intervals = Intervals::new(&candidate.starts);
        self.index.splits.push(Split { field: candidate.field, intervals, narrow, wide });
        (IndexNode { at, len: SPLIT }, visited + more)
    }

    /// The possible split of rules by a field; `None` if hardly any of them is narrow in it.
    fn candidate(&self, field: Field, rules: &[u32]) -> Option<SplitCandidate> {
        let range = |rule: &u32| Some((*rule, self.source.get(*rule as usize)?.range(field)?));
        let mut ranged: Vec<Ranged> = rules.iter().filter_map(range).collect();
        for most in NARROW {
            if ranged.len() <= self.list / 2 {
                return None;
            }
            let (_, placed) = place(&ranged);
            let mut places = placed.iter();
            ranged.retain(|_| places.next().is_some_and(|(_, first, last)| last - first < most));
            let (starts, narrow) = place(&ranged);
            let copies: usize = narrow.iter().map(|(_, first, last)| (last - first) as usize + 1).sum();
            if copies <= narrow.len() * MAX_COPIES {
                let gain = narrow.len().saturating_sub(longest(&narrow, starts.len()));
                return Some(SplitCandidate { field, starts, narrow, gain });
            }
        }
        None
    }
}

/// A rule with the first and last value it covers.
type Ranged = (u32, (u32, u32));
/// A rule with the first and last interval it covers.
type Placed = (u32, u32, u32);

/// Divides the values into intervals each of which a rule covers either completely or not at all. Returns their first
/// values, and the rules with the intervals that they cover.
fn place(ranged: &[Ranged]) -> (Vec<u32>, Vec<Placed>) {
    let starts = starts(ranged.iter().map(|(_, range)| *range));
    let interval = |value: u32| (starts.partition_point(|start| *start <= value) - 1) as u32;
    let placed = ranged.iter().map(|(rule, (from, to))| (*rule, interval(*from), interval(*to))).collect();
    (starts, placed)
}

/// First values of the intervals between the ends of some ranges.
fn starts(ranges: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
    let mut starts = vec![0];
    for (from, to) in ranges {
        starts.push(from);
        starts.extend(to.checked_add(1));
    }
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// Maximum number of rules that cover one interval.
fn longest(placed: &[Placed], intervals: usize) -> usize {
    let mut changes = vec![0_i64; intervals + 1];
    for (_, first, last) in placed {
        for (at, change) in [(*first, 1), (last + 1, -1)] {
            if let Some(cell) = changes.get_mut(at as usize) {
                *cell += change;
            }
        }
    }
    let mut covering = 0;
    changes
        .iter()
        .map(|change| {
            covering += change;
            covering
        })
        .max()
        .unwrap_or(0) as usize
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;
    use tollway_config::dataplane::{AddressRange, ConnectionState, Matcher, PortRange};

    use super::*;
    use crate::firewall::rules::address_intervals::AddressIntervals;
    use crate::firewall::rules::compile::check_of;
    use crate::firewall::rules::matcher::CompileScope;
    use crate::firewall::rules::{AddressLists, PacketView, matcher};
    use crate::interface::InterfaceMap;
    use crate::packet::family::Family;
    use crate::packet::tuple::{Addr, Tuple};

    fn range(from: u32, span: u32) -> AddressRange {
        let address = |value: u32| Ipv4Addr::from_bits(value).into();
        AddressRange { from: address(from), to: address(from.saturating_add(span)) }
    }

    /// Conditions of IPv4 as conditions of IPv6: the address is in the upper and the lower half.
    fn of_ipv6(mut matcher: Matcher) -> Matcher {
        if let Matcher::SrcAddress { range, .. } | Matcher::DstAddress { range, .. } = &mut matcher {
            let wide =
                |address: IpAddr| IpAddr::V6(Ipv6Addr::from_bits(widened(Addr::from(address).0 as u32)));
            *range = AddressRange { from: wide(range.from), to: wide(range.to) };
        }
        matcher
    }

    fn widened(address: u32) -> u128 {
        u128::from(address) << 96 | u128::from(address)
    }

    /// Conditions on few values, so that they overlap and nest.
    fn conditions() -> impl Strategy<Value = Vec<Matcher>> {
        let span = || prop_oneof![4 => 0u32..2, 2 => 0u32..20, 1 => Just(u32::MAX)];
        let address = move || (0u32..60, span()).prop_map(|(from, span)| range(from, span));
        let ports = || (0u16..60, 0u16..4).prop_map(|(from, span)| vec![PortRange { from, to: from + span }]);
        let one = prop_oneof![
            3 => address().prop_map(|range| Matcher::SrcAddress { range, negate: false }),
            3 => address().prop_map(|range| Matcher::DstAddress { range, negate: false }),
            2 => ports().prop_map(|ports| Matcher::DstPort { ports, negate: false }),
            1 => ports().prop_map(|ports| Matcher::SrcPort { ports, negate: false }),
            1 => Just(Matcher::Protocol { protocol: 6, negate: false }),
        ];
        proptest::collection::vec(one, 0..3)
    }

    fn view() -> impl Strategy<Value = PacketView> {
        let protocol = prop_oneof![Just(6u8), Just(17), Just(1)];
        (0u32..70, 0u32..70, 0u16..70, 0u16..70, protocol).prop_map(
            |(src, dst, src_port, dst_port, protocol)| PacketView {
                tuple: Tuple {
                    src: Addr::v4(src),
                    dst: Addr::v4(dst),
                    src_port,
                    dst_port,
                    protocol,
                    icmp: 0,
                    zone: 0,
                },
                state: ConnectionState::New,
                ..PacketView::default()
            },
        )
    }

    fn check(matchers: &[Matcher]) -> Check {
        check_in(Family::V4, matchers, &AddressIntervals::default())
    }

    fn check_in(family: Family, matchers: &[Matcher], intervals: &AddressIntervals) -> Check {
        let (interfaces, lists) = (InterfaceMap::default(), AddressLists::default());
        let scope = CompileScope { interfaces: &interfaces, lists: &lists, family, row: 1 };
        let compiled: Vec<_> =
            matchers.iter().map(|matcher| matcher::Matcher::compile(matcher, &scope).unwrap()).collect();
        check_of(&compiled, intervals).0
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        /// Whatever the lists' length, the candidates are those that a scan of all checks finds.
        #[test]
        fn candidates_are_those_of_a_scan(
            rules in proptest::collection::vec(conditions(), 0..200),
            packets in proptest::collection::vec((view(), 0u32..200), 1..12),
            list in 1usize..30,
            v6: bool,
        ) {
            let family = if v6 { Family::V6 } else { Family::V4 };
            let rules = rules.into_iter().map(|rule| if v6 { rule.into_iter().map(of_ipv6).collect() } else { rule });
            let rules: Vec<Vec<Matcher>> = rules.collect();
            let whole = |matchers: &Vec<Matcher>| tollway_config::dataplane::Rule {
                row: 1,
                matchers: matchers.clone(),
                action: tollway_config::dataplane::Action::Accept,
                log: None,
            };
            let chain = tollway_config::dataplane::Chain { name: "a".into(), rules: rules.iter().map(whole).collect() };
            let intervals = AddressIntervals::of(&[chain]);
            let checks: Vec<Check> = rules.iter().map(|rule| check_in(family, rule, &intervals)).collect();
            let index = Index::with_lists_of(&checks, list);
            for (mut view, from) in packets {
                if v6 {
                    let tuple = &mut view.tuple;
                    (tuple.src, tuple.dst) = (Addr(widened(tuple.src.0 as u32)), Addr(widened(tuple.dst.0 as u32)));
                }
                let key = Fields::new(&view, &intervals);
                let scan = (0..).zip(&checks).skip(from as usize);
                let expected: Vec<u32> =
                    scan.filter(|(_, check)| check.admits(&key)).map(|(rule, _)| rule).collect();
                let mut candidates = Candidates::none(&index);
                candidates.find(&key, from);
                let found: Vec<u32> = std::iter::from_fn(|| candidates.next(&key)).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn of_many_rules_that_differ_in_one_field_a_packet_meets_few() {
        let one = |i: u32| match i % 3 {
            0 => Matcher::SrcAddress { range: range(i << 8, 255), negate: false },
            1 => Matcher::DstAddress { range: range(i << 8, 255), negate: false },
            _ => {
                let port = i as u16;
                Matcher::DstPort { ports: vec![PortRange { from: port, to: port }], negate: false }
            }
        };
        let checks: Vec<Check> = (0..30_000).map(|i| check(&[one(i)])).collect();
        let index = Index::new(&checks);
        assert_eq!(index.splits.len(), 3);
        assert_eq!(index.rules.len(), checks.len());
        let lists = index.splits.iter().flat_map(|split| &split.narrow);
        assert_eq!(lists.map(|list| list.len).max(), Some(1));
    }

    #[test]
    fn a_rule_that_covers_everything_is_not_copied_into_every_list() {
        let mut rules: Vec<Vec<Matcher>> = (0..5000)
            .map(|i| vec![Matcher::SrcAddress { range: range(i << 8, 255), negate: false }])
            .collect();
        rules.push(vec![Matcher::SrcAddress { range: range(0, u32::MAX >> 1), negate: false }]);
        let checks: Vec<Check> = rules.iter().map(|rule| check(rule)).collect();
        assert_eq!(Index::new(&checks).rules.len(), checks.len());
    }
}
