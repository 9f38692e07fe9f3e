//! The outcome of the rules of a table for a packet, and the position from which on other packets of the flow are
//! evaluated.

pub use tollway_config::dataplane::MAX_JUMP_DEPTH;
use tollway_config::dataplane::{Mark, RejectWith, RowId};

use super::depends::Depends;
use super::validity::{Membership, OutcomeValidity};
use crate::packet::tuple::Addr;

/// The result of the evaluation of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RuleVerdict {
    /// The packet is accepted.
    #[default]
    Accept,
    /// The packet is dropped silently.
    Drop,
    /// The packet is dropped and answered.
    Reject(RejectWith),
    /// A NAT rule, by its index in the table, decides the translation.
    Nat {
        /// For [`RuleTable::rule`](super::RuleTable::rule).
        rule: u32,
    },
}

/// A position in a table: a rule, and the rules to return to at the end of its chain and of those that jumped to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Position {
    /// Number of the chain.
    pub(super) chain: u16,
    depth: u16,
    /// Index of the next rule.
    pub(super) rule: u32,
    /// Next rule (low half) and chain (high half) of each caller, outermost first. Whole words, so that they are set to
    /// zero together.
    callers: [u64; MAX_JUMP_DEPTH],
}

impl Position {
    /// A position outside of any jump.
    #[inline]
    pub(super) const fn at(chain: u16, rule: u32) -> Self {
        Self { chain, depth: 0, rule, callers: [0; MAX_JUMP_DEPTH] }
    }

    /// A copy. Outside any jump, which is the usual case, `callers` is all zero and need not be read.
    #[inline(always)]
    pub(super) const fn copy(&self) -> Self {
        if self.depth == 0 { Self::at(self.chain, self.rule) } else { *self }
    }

    /// Jumps to another chain, and stores the next rule of this chain as the return position. Returns `false` if jumps
    /// are nested too deeply.
    #[inline]
    pub(super) fn call(&mut self, chain: u16, rule: u32) -> bool {
        let Some(caller) = self.callers.get_mut(usize::from(self.depth)) else { return false };
        *caller = u64::from(self.chain) << 32 | u64::from(self.rule + 1);
        self.depth += 1;
        (self.chain, self.rule) = (chain, rule);
        true
    }

    /// Returns to the chain that jumped here; `false` in a built-in chain.
    #[inline]
    pub(super) fn return_to_caller(&mut self) -> bool {
        let Some(depth) = self.depth.checked_sub(1) else { return false };
        let Some(caller) = self.callers.get_mut(usize::from(depth)) else { return false };
        // Equal positions must compare equal.
        let place = std::mem::take(caller);
        (self.chain, self.rule) = ((place >> 32) as u16, place as u32);
        self.depth = depth;
        true
    }
}

/// The result of an evaluation. It is reused from packet to packet, so that its vectors keep their memory.
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
    /// The dependencies of the outcome other than the flow.
    pub depends: Depends,
    /// The first rule whose outcome may differ for another packet of the flow: the outcome before it may be cached.
    /// `None` if the whole outcome may be.
    pub resume: Option<Position>,
    /// Number of rules in `matched` before `resume`; all of them without one.
    pub matched_before_resume: usize,
    /// Limits of the validity of the outcome before `resume`.
    pub validity: OutcomeValidity,
    /// Changes by rules of mangle.
    pub changes: Changes,
    /// Addresses to add to lists, in order. Later rules of the evaluation see them in the lists.
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
    /// The segment size is limited to what fits the smaller MTU of in- and out-interface (`clamp-to-pmtu`).
    pub clamp_mss: bool,
}

/// An address that a rule adds to a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListAddition {
    /// Index of the list in the configuration.
    pub list: u32,
    /// The address.
    pub address: Addr,
    /// Timeout of the entry, ms; 0 for none.
    pub timeout_ms: u64,
}

impl Evaluation {
    /// Resets it for the next evaluation.
    #[inline]
    pub(super) fn reset(&mut self) {
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

    /// Notes that the outcome depends on a membership. If there are more than
    /// [`MAX_LISTED`](super::validity::MAX_LISTED), the rule is evaluated for every packet.
    #[inline]
    pub(super) fn note_membership(&mut self, listed: Membership, position: &Position) {
        if self.resume.is_none() && !self.validity.note_membership(listed) {
            self.note_dependency(Depends::LIST, position);
        }
    }

    /// Notes what the outcome depends on. The first rule whose outcome is not flow constant becomes the resume point.
    #[inline]
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
