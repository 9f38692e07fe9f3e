//! The truth: rules as configured, one after the other, as slowly as they read.
//!
//! Shares no code with the compiled form, so that each can be wrong on its own.

use std::net::IpAddr;

use tollway_config::dataplane::{Action, AddressList, AddressRange, Chain, Matcher, PortRange, RowId};

use super::evaluate::Verdict;
use super::view::PacketView;
use crate::interface::InterfaceMap;
use crate::tuple::Addr;

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
    /// Runs a packet through a built-in chain.
    pub fn evaluate(&self, hook: &str, view: &PacketView) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(chain) = self.chains.iter().position(|chain| chain.name == hook) {
            outcome.verdict = self.chain(chain, view, &mut outcome).unwrap_or(Verdict::Accept);
        }
        outcome
    }

    /// `None` when the chain ends, or returns, without a verdict.
    fn chain(&self, index: usize, view: &PacketView, outcome: &mut Outcome) -> Option<Verdict> {
        let before: usize = self.chains.iter().take(index).map(|chain| chain.rules.len()).sum();
        for (at, rule) in self.chains.get(index)?.rules.iter().enumerate() {
            if !rule.matchers.iter().all(|matcher| self.matches(matcher, view)) {
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
                    if let Some(verdict) = self.chain(*chain as usize, view, outcome) {
                        return Some(verdict);
                    }
                }
                Action::Log
                | Action::Passthrough
                | Action::AddSrcToAddressList { .. }
                | Action::AddDstToAddressList { .. } => {}
                Action::FasttrackConnection => outcome.fasttrack = true,
                Action::Masquerade { .. }
                | Action::SrcNat { .. }
                | Action::DstNat { .. }
                | Action::Redirect { .. } => return Some(Verdict::Nat { rule: (before + at) as u32 }),
            }
        }
        None
    }

    fn matches(&self, matcher: &Matcher, view: &PacketView) -> bool {
        let tuple = &view.tuple;
        let has_ports = tuple.protocol == 6 || tuple.protocol == 17;
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
            Matcher::SrcAddressList { list, negate } => self.in_list(*list, tuple.src) != *negate,
            Matcher::DstAddressList { list, negate } => self.in_list(*list, tuple.dst) != *negate,
            Matcher::SrcPort { ports, negate } => has_ports && in_ports(ports, tuple.src_port) != *negate,
            Matcher::DstPort { ports, negate } => has_ports && in_ports(ports, tuple.dst_port) != *negate,
            Matcher::Port { ports, negate } => {
                let either = in_ports(ports, tuple.src_port) || in_ports(ports, tuple.dst_port);
                has_ports && either != *negate
            }
            Matcher::TcpFlags { set, clear, negate } => {
                let as_asked = view.tcp_flags & set == *set && view.tcp_flags & clear == 0;
                tuple.protocol == 6 && as_asked != *negate
            }
            Matcher::IcmpOptions { icmp_type, code_from, code_to, negate } => {
                let as_asked =
                    view.icmp_type == *icmp_type && (*code_from..=*code_to).contains(&view.icmp_code);
                tuple.protocol == 1 && as_asked != *negate
            }
            Matcher::ConnectionState { states, negate } => states.contains(&view.state) != *negate,
            Matcher::ConnectionNatState { srcnat, dstnat, negate } => {
                (*srcnat && view.srcnat || *dstnat && view.dstnat) != *negate
            }
            Matcher::PacketSize { .. }
            | Matcher::ConnectionBytes { .. }
            | Matcher::Time { .. }
            | Matcher::Nth { .. }
            | Matcher::Random { .. }
            | Matcher::Limit { .. } => false,
        }
    }

    fn listed(&self, rows: &[RowId], interface: Option<u16>) -> bool {
        interface.is_some_and(|index| rows.contains(&self.interfaces.row(index)))
    }

    fn in_list(&self, list: u32, address: Addr) -> bool {
        let list = self.lists.get(list as usize);
        list.is_some_and(|list| list.entries.iter().any(|range| in_range(range, address)))
    }
}

fn in_range(range: &AddressRange, address: Addr) -> bool {
    let address = IpAddr::from(address);
    address.is_ipv4() == range.from.is_ipv4() && range.from <= address && address <= range.to
}

fn in_ports(ranges: &[PortRange], port: u16) -> bool {
    ranges.iter().any(|range| (range.from..=range.to).contains(&port))
}
