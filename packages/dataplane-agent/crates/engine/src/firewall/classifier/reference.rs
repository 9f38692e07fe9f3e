//! The truth: rules as configured, one after the other, as slowly as they read.
//!
//! Shares no code with the compiled form, so that each can be wrong on its own.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use tollway_config::dataplane::{
    Action, AddressList, AddressRange, Chain, LimitUnit, Matcher, NewMss, PortRange, RowId, Rule,
};

use super::evaluate::{Add, Changes, Verdict};
use super::view::PacketView;
use crate::interface::InterfaceMap;
use crate::packet::tuple::Addr;

/// What the rules say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What to do; a NAT rule by its position over all chains of the table.
    pub verdict: Verdict,
    /// Rows of the rules that matched, in order.
    pub matched: Vec<RowId>,
    /// Rows of the rules that ask for a log line, in order.
    pub logs: Vec<RowId>,
    /// A `fasttrack-connection` rule matched.
    pub fasttrack: bool,
    /// What rules put into lists, in order.
    pub adds: Vec<Add>,
    /// What rules of mangle want, the last one of a kind counts; of segment sizes the smallest.
    pub changes: Changes,
}

/// What rules keep from packet to packet, and what they have put into lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    /// Packets counted, per rule and kind of condition.
    counts: BTreeMap<(RowId, u8), u64>,
    /// Per rule: when the bucket was filled last, ms, and its level in `1 / per_ms` of a token.
    buckets: BTreeMap<RowId, (u64, i128)>,
    /// Lists and addresses.
    added: BTreeSet<(u32, Addr)>,
}

impl Memory {
    /// Takes out of the lists what rules have put there.
    pub fn forget_lists(&mut self) {
        self.added.clear();
    }
}

/// A table as configured.
#[derive(Debug, Clone, Copy)]
pub struct Reference<'a> {
    /// Its chains.
    pub chains: &'a [Chain],
    /// The address lists.
    pub lists: &'a [AddressList],
    /// The interfaces.
    pub interfaces: &'a InterfaceMap,
}

impl Reference<'_> {
    /// Runs the first of all packets through a built-in chain.
    pub fn evaluate(&self, hook: &str, view: &PacketView) -> Outcome {
        self.evaluate_next(hook, view, &mut Memory::default())
    }

    /// Runs a packet through a built-in chain.
    pub fn evaluate_next(&self, hook: &str, view: &PacketView, memory: &mut Memory) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(chain) = self.chains.iter().position(|chain| chain.name == hook) {
            let mut view = *view;
            let verdict = self.chain(chain, &mut view, memory, &mut outcome);
            outcome.verdict = verdict.unwrap_or(Verdict::Accept);
        }
        outcome
    }

    /// `None` when the chain ends, or returns, without a verdict.
    fn chain(
        &self,
        index: usize,
        view: &mut PacketView,
        memory: &mut Memory,
        outcome: &mut Outcome,
    ) -> Option<Verdict> {
        let before: usize = self.chains.iter().take(index).map(|chain| chain.rules.len()).sum();
        for (at, rule) in self.chains.get(index)?.rules.iter().enumerate() {
            if !self.rule_matches(rule, view, memory) {
                continue;
            }
            outcome.matched.push(rule.row);
            if rule.log.is_some() || rule.action == Action::Log {
                outcome.logs.push(rule.row);
            }
            match &rule.action {
                Action::Accept => return Some(Verdict::Accept),
                Action::Drop => return Some(Verdict::Drop),
                Action::Reject { with } => return Some(Verdict::Reject(*with)),
                Action::Return => return None,
                Action::Jump { chain } => {
                    if let Some(verdict) = self.chain(*chain as usize, view, memory, outcome) {
                        return Some(verdict);
                    }
                }
                Action::AddSrcToAddressList { list, timeout_ms } => {
                    outcome.adds.push(Add { list: *list, address: view.tuple.src, timeout_ms: *timeout_ms });
                    memory.added.insert((*list, view.tuple.src));
                }
                Action::AddDstToAddressList { list, timeout_ms } => {
                    outcome.adds.push(Add { list: *list, address: view.tuple.dst, timeout_ms: *timeout_ms });
                    memory.added.insert((*list, view.tuple.dst));
                }
                action @ (Action::MarkPacket { passthrough, .. }
                | Action::MarkConnection { passthrough, .. }
                | Action::MarkRouting { passthrough, .. }
                | Action::ChangeDscp { passthrough, .. }
                | Action::ChangeMss { passthrough, .. }) => {
                    change(action, view, &mut outcome.changes);
                    if !passthrough {
                        return Some(Verdict::Accept);
                    }
                }
                Action::Log | Action::Passthrough => {}
                Action::FasttrackConnection => outcome.fasttrack = true,
                Action::Masquerade { .. }
                | Action::SrcNat { .. }
                | Action::DstNat { .. }
                | Action::Redirect { .. } => return Some(Verdict::Nat { rule: (before + at) as u32 }),
            }
        }
        None
    }

    /// Conditions that every packet changes come last, and only when all others hold.
    fn rule_matches(&self, rule: &Rule, view: &PacketView, memory: &mut Memory) -> bool {
        if !rule.matchers.iter().all(|matcher| self.matches(matcher, view, memory)) {
            return false;
        }
        let row = rule.row;
        let chosen = rule.matchers.iter().all(|matcher| {
            let Matcher::Random { percent } = matcher else { return true };
            let count = memory.counts.entry((row, 0)).or_default();
            *count += 1;
            let drawn = draw(view.seed, row, *count - 1);
            f64::from(drawn) / 4_294_967_296.0 < f64::from(*percent) / 100.0
        });
        let counted = chosen
            && rule.matchers.iter().all(|matcher| {
                let Matcher::Nth { every, packet, negate } = matcher else { return true };
                let count = memory.counts.entry((row, 1)).or_default();
                *count = *count % u64::from(*every) + 1;
                (*count == u64::from(*packet)) != *negate
            });
        counted
            && rule.matchers.iter().all(|matcher| {
                let Matcher::Limit { rate, per_ms, burst, unit, negate } = matcher else { return true };
                let tokens = match unit {
                    LimitUnit::Packet => i128::from(view.segments),
                    LimitUnit::Bit => i128::from(view.wire_bytes) * 8,
                };
                let (per, now) = (i128::from(*per_ms), view.now.ms() / 10 * 10);
                let full = i128::from(*burst) * per;
                let (filled, level) = memory.buckets.entry(row).or_insert((now, full));
                *level = full.min(*level + i128::from(now - *filled) * i128::from(*rate));
                *filled = now;
                let left = *level >= per;
                if left {
                    *level -= tokens * per;
                }
                left != *negate
            })
    }

    /// Every condition but those that count.
    fn matches(&self, matcher: &Matcher, view: &PacketView, memory: &Memory) -> bool {
        let tuple = &view.tuple;
        let has_ports = tuple.protocol == 6 || tuple.protocol == 17;
        let told = has_ports && !view.headerless;
        match matcher {
            Matcher::InInterface { interfaces, negate } => {
                self.listed(interfaces, view.in_interface) != *negate
            }
            Matcher::OutInterface { interfaces, negate } => {
                self.listed(interfaces, view.out_interface) != *negate
            }
            Matcher::Protocol { protocol, negate } => (tuple.protocol == *protocol) != *negate,
            Matcher::SrcAddress { range, negate } => in_range(range, tuple.src) != *negate,
            Matcher::DstAddress { range, negate } => in_range(range, tuple.dst) != *negate,
            Matcher::SrcAddressList { list, negate } => self.in_list(*list, tuple.src, memory) != *negate,
            Matcher::DstAddressList { list, negate } => self.in_list(*list, tuple.dst, memory) != *negate,
            Matcher::SrcPort { ports, negate } => told && in_ports(ports, tuple.src_port) != *negate,
            Matcher::DstPort { ports, negate } => told && in_ports(ports, tuple.dst_port) != *negate,
            Matcher::Port { ports, negate } => {
                let either = in_ports(ports, tuple.src_port) || in_ports(ports, tuple.dst_port);
                told && either != *negate
            }
            Matcher::TcpFlags { set, clear, negate } => {
                let as_asked = view.tcp_flags & set == *set && view.tcp_flags & clear == 0;
                tuple.protocol == 6 && told && as_asked != *negate
            }
            Matcher::IcmpOptions { icmp_type, code_from, code_to, negate } => {
                let as_asked =
                    view.icmp_type == *icmp_type && (*code_from..=*code_to).contains(&view.icmp_code);
                tuple.protocol == 1 && !view.headerless && as_asked != *negate
            }
            Matcher::ConnectionState { states, negate } => states.contains(&view.state) != *negate,
            Matcher::ConnectionNatState { srcnat, dstnat, negate } => {
                (*srcnat && view.srcnat || *dstnat && view.dstnat) != *negate
            }
            Matcher::PacketMark { mark, negate } => (view.mark == *mark) != *negate,
            Matcher::ConnectionMark { mark, negate } => (view.connection_mark == *mark) != *negate,
            Matcher::Dscp { dscp, negate } => (view.dscp == *dscp) != *negate,
            Matcher::PacketSize { from, to, negate } => (*from..=*to).contains(&view.length) != *negate,
            Matcher::ConnectionBytes { from, to } => view
                .connection_bytes
                .is_some_and(|bytes| has_ports && bytes >= *from && (*to == 0 || bytes <= *to)),
            Matcher::Time { from_ms, to_ms, days, utc_offset_s, negate } => {
                let local = view.utc_ns / 1_000_000 + i64::from(*utc_offset_s) * 1000;
                let (day, ms) = (local / 86_400_000, (local % 86_400_000) as u32);
                let inside = if from_ms <= to_ms {
                    *from_ms <= ms && ms <= *to_ms
                } else {
                    ms <= *to_ms || ms >= *from_ms
                };
                // Day 3 of 1970 was its first Sunday.
                let sundays_distance = (day + 7 - 3) % 7;
                (inside && days & 1 << sundays_distance != 0) != *negate
            }
            Matcher::Nth { .. } | Matcher::Random { .. } | Matcher::Limit { .. } => true,
        }
    }

    fn listed(&self, rows: &[RowId], interface: Option<u16>) -> bool {
        interface.is_some_and(|index| rows.contains(&self.interfaces.row(index)))
    }

    fn in_list(&self, number: u32, address: Addr, memory: &Memory) -> bool {
        let list = self.lists.get(number as usize);
        memory.added.contains(&(number, address))
            || list.is_some_and(|list| list.entries.iter().any(|range| in_range(range, address)))
    }
}

/// What an action of mangle does, to what later rules see too.
fn change(action: &Action, view: &mut PacketView, changes: &mut Changes) {
    match action {
        Action::MarkPacket { mark, .. } => {
            changes.packet_mark = Some(*mark);
            view.mark = *mark;
        }
        Action::MarkConnection { mark, .. } => {
            changes.connection_mark = Some(*mark);
            view.connection_mark = *mark;
        }
        Action::MarkRouting { mark, .. } => changes.routing_mark = Some(*mark),
        Action::ChangeDscp { dscp, .. } => {
            changes.dscp = Some(*dscp);
            view.dscp = *dscp;
        }
        Action::ChangeMss { mss: NewMss::ClampToPmtu, .. } => changes.clamp_mss = true,
        Action::ChangeMss { mss: NewMss::Value { bytes }, .. } => {
            changes.mss = Some(changes.mss.unwrap_or(u16::MAX).min(*bytes));
        }
        _ => {}
    }
}

/// The n-th number of the sequence that a seed and a rule begin (SplitMix64, Steele et al., 2014).
fn draw(seed: u64, row: RowId, n: u64) -> u32 {
    let mut z = (seed ^ u64::from(row) << 32).wrapping_add((n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 32) as u32
}

fn in_range(range: &AddressRange, address: Addr) -> bool {
    let address = IpAddr::from(address);
    address.is_ipv4() == range.from.is_ipv4() && range.from <= address && address <= range.to
}

fn in_ports(ranges: &[PortRange], port: u16) -> bool {
    ranges.iter().any(|range| (range.from..=range.to).contains(&port))
}
