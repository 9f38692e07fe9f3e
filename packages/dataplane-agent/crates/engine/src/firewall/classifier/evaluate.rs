//! Evaluation of a compiled table for one packet.

use tollway_config::dataplane::{Mark, RejectWith, RowId};
use tollway_wire::tcp;

use super::action::{ChainExit, Hit, RuleAction};
use super::check::Fields;
use super::compile::{CompiledChain, MAX_JUMP_DEPTH, Rule, RuleTable};
use super::depends::Depends;
use super::index::Candidates;
use super::matcher::{Condition, Matcher};
use super::validity::{Membership, OutcomeValidity};
use super::view::PacketView;
use crate::packet::tuple::Addr;

/// The result of the evaluation of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RuleVerdict {
    /// The packet is accepted.
    #[default]
    Accept,
    /// The packet ends, silently.
    Drop,
    /// The packet ends and is answered.
    Reject(RejectWith),
    /// A NAT rule, by its index in the table, decides the translation.
    Nat {
        /// For [`RuleTable::rule`].
        rule: u32,
    },
}

/// A position in a table: a rule, and the rules to return to at the end of its chain and of those that jumped to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Position {
    chain: u16,
    depth: u16,
    pub(super) rule: u32,
    /// Next rule of each caller and above it its chain, outermost first: whole words, which are set to zero all at once.
    callers: [u64; MAX_JUMP_DEPTH],
}

impl Position {
    pub(super) const fn at(chain: u16, rule: u32) -> Self {
        Self { chain, depth: 0, rule, callers: [0; MAX_JUMP_DEPTH] }
    }

    /// A copy. Outside any jump, which is the usual case, `callers` is all zero and need not be read.
    #[inline(always)]
    const fn copy(&self) -> Self {
        if self.depth == 0 { Self::at(self.chain, self.rule) } else { *self }
    }

    /// Jumps to another chain, and notes the next rule of this one to return to. `false` when jumps are nested too deeply.
    fn call(&mut self, chain: u16, rule: u32) -> bool {
        let Some(caller) = self.callers.get_mut(usize::from(self.depth)) else { return false };
        *caller = u64::from(self.chain) << 32 | u64::from(self.rule + 1);
        self.depth += 1;
        (self.chain, self.rule) = (chain, rule);
        true
    }

    /// Returns to the chain that jumped here; `false` in a built-in chain.
    fn return_to_caller(&mut self) -> bool {
        let Some(depth) = self.depth.checked_sub(1) else { return false };
        let Some(caller) = self.callers.get_mut(usize::from(depth)) else { return false };
        // Equal positions must compare equal.
        let place = std::mem::take(caller);
        (self.chain, self.rule) = ((place >> 32) as u16, place as u32);
        self.depth = depth;
        true
    }
}

/// The result of an evaluation. It is reused from packet to packet, since its vectors keep their memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// The verdict of the table.
    pub verdict: RuleVerdict,
    /// Rows of the rules that matched, in order.
    pub matched: Vec<RowId>,
    /// Indices of the rules that ask for a log line, in order.
    pub logs: Vec<u32>,
    /// A `fasttrack-connection` rule matched.
    pub fasttrack: bool,
    /// The dependencies of the outcome beside the flow.
    pub depends: Depends,
    /// The first rule whose outcome another packet of the flow may change: everything before it may be
    /// remembered. `None` when all may be.
    pub resume: Option<Position>,
    /// Number of rules in `matched` before `resume`; all of them without one.
    pub matched_before_resume: usize,
    /// Until when the outcome before `resume` holds.
    pub validity: OutcomeValidity,
    /// Changes by rules of mangle.
    pub changes: Changes,
    /// Addresses to put into lists, in order. Rules after the one that adds see them there.
    pub adds: Vec<ListAddition>,
}

/// The changes that rules of mangle make to a packet. Later rules of the same evaluation see the new marks and DSCP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// New mark of the packet.
    pub packet_mark: Option<Mark>,
    /// New mark of the connection.
    pub connection_mark: Option<Mark>,
    /// New mark for routing.
    pub routing_mark: Option<Mark>,
    /// New DSCP.
    pub dscp: Option<u8>,
    /// Largest segment size that a SYN segment may announce, bytes.
    pub mss: Option<u16>,
    /// The segment size is limited to what fits the MTU of the out-interface (`clamp-to-pmtu`).
    pub clamp_mss: bool,
}

/// An address that a rule puts into a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListAddition {
    /// Index of the list in the configuration.
    pub list: u32,
    /// The address.
    pub address: Addr,
    /// Life of the entry, ms; 0 has no end.
    pub timeout_ms: u64,
}

impl Evaluation {
    fn reset(&mut self) {
        self.verdict = RuleVerdict::Accept;
        self.matched.clear();
        self.logs.clear();
        self.fasttrack = false;
        self.depends = Depends::FLOW_CONST;
        self.resume = None;
        self.matched_before_resume = 0;
        self.validity = OutcomeValidity::default();
        self.changes = Changes::default();
        self.adds.clear();
    }

    /// Notes that the outcome depends on a membership. Beyond [`MAX_LISTED`](super::validity::MAX_LISTED) of them the
    /// rule is evaluated for every packet.
    pub(super) fn note_membership(&mut self, listed: Membership, position: &Position) {
        if self.resume.is_none() && !self.validity.note_membership(listed) {
            self.note_dependency(Depends::LIST, position);
        }
    }

    /// Notes what the outcome depends on. The first rule whose outcome does not follow from the flow is the resume point.
    pub(super) fn note_dependency(&mut self, depends: Depends, position: &Position) {
        if !depends.is_flow_const() {
            self.depends = self.depends.union(depends);
            if self.resume.is_none() {
                self.resume = Some(*position);
                self.matched_before_resume = self.matched.len();
            }
        }
    }
}

impl RuleTable {
    /// Runs a packet from `start`: a built-in chain's [`RuleTable::hook`], or the resume point of an earlier
    /// evaluation of the same flow. Rules see in `view` what rules before them have changed; afterwards it is as it was.
    pub fn evaluate(&self, view: &mut PacketView, start: &Position, out: &mut Evaluation) {
        out.reset();
        // The view was just written field by field: a copy of it would wait until that has left the store buffer.
        let before = (view.mark, view.connection_mark, view.dscp, view.dscp_written);
        self.run(view, start.copy(), out);
        (view.mark, view.connection_mark, view.dscp, view.dscp_written) = before;
        if out.resume.is_none() {
            out.matched_before_resume = out.matched.len();
        }
    }

    fn run(&self, view: &mut PacketView, mut position: Position, out: &mut Evaluation) {
        let key = Fields::new(view);
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

    /// Runs the rules of a chain from the position on, until one of them leads elsewhere.
    #[inline]
    fn run_chain(
        &self,
        chain: &CompiledChain,
        key: &Fields,
        view: &mut PacketView,
        position: &mut Position,
        out: &mut Evaluation,
    ) -> ChainExit {
        // Found in place: a copy of the lists would wait for the store buffer.
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

    /// Whether a rule matches. A rule that the flow alone excludes depends on nothing else.
    #[inline]
    fn matches(&self, rule: &Rule, view: &PacketView, position: &Position, out: &mut Evaluation) -> bool {
        let (flow_const, rest) =
            rule.matchers.split_at_checked(rule.flow_const_matchers).unwrap_or((&[], &rule.matchers));
        (rule.flow_const_said || flow_const.iter().all(|matcher| matcher.matches(view, &self.lists)))
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
            let Matcher::AddressList(member) = matcher else { continue };
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
