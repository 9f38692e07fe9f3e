//! The inputs of the reference of a matcher or an action, and its results.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use tollway_config::dataplane::{AddressList, AddressRange, PortRange, RowId};

use super::outcome::{Changes, ListAddition, RuleVerdict};
use super::view::PacketView;
use crate::interface::InterfaceMap;
use crate::packet::tuple::Addr;

/// The result of the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReferenceOutcome {
    /// The verdict; a NAT rule by its position over all chains of the table.
    pub verdict: RuleVerdict,
    /// Rows of the rules that matched, in order.
    pub matched: Vec<RowId>,
    /// Rows of the rules that ask for a log line, in order.
    pub logs: Vec<RowId>,
    /// A `fasttrack-connection` rule matched.
    pub fasttrack: bool,
    /// Additions to address lists, in order.
    pub adds: Vec<ListAddition>,
    /// Changes by rules of mangle: the last one of each kind; of segment sizes the smallest.
    pub changes: Changes,
}

/// State of rules from packet to packet, and their additions to address lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    /// Packets counted, per rule and matcher.
    pub(super) counts: BTreeMap<(RowId, &'static str), u64>,
    /// Per rule: when the bucket was filled last, ms, and its level in `1 / per_ms` of a token.
    pub(super) buckets: BTreeMap<RowId, (u64, i128)>,
    /// Lists and addresses.
    pub(super) added: BTreeSet<(u32, Addr)>,
}

impl Memory {
    /// Removes the addresses that rules have added to lists.
    pub fn forget_lists(&mut self) {
        self.added.clear();
    }
}

/// A packet that a rule matches, and the outcome so far.
pub(super) struct ReferenceHit<'a> {
    /// The packet; rules may change its marks.
    pub view: &'a mut PacketView,
    /// Index of the rule over all chains of the table.
    pub index: u32,
    /// State of matchers from packet to packet.
    pub memory: &'a mut Memory,
    /// Outcome so far.
    pub outcome: &'a mut ReferenceOutcome,
}

/// Input of the reference of a matcher.
#[derive(Debug)]
pub(super) struct ReferenceInput<'a> {
    /// The packet.
    pub view: &'a PacketView,
    /// The rule.
    pub row: RowId,
    /// Address lists of the configuration.
    pub lists: &'a [AddressList],
    /// Interfaces of the configuration.
    pub interfaces: &'a InterfaceMap,
    /// State of matchers from packet to packet.
    pub memory: &'a mut Memory,
}

impl ReferenceInput<'_> {
    /// Whether the packet is of a protocol with ports.
    pub fn has_ports(&self) -> bool {
        self.view.tuple.protocol == 6 || self.view.tuple.protocol == 17
    }

    /// Whether a list contains an address, in its configured entries or in those that rules have added.
    pub fn in_list(&self, number: u32, address: Addr) -> bool {
        let list = self.lists.get(number as usize);
        self.memory.added.contains(&(number, address))
            || list.is_some_and(|list| list.entries.iter().any(|range| in_range(range, address)))
    }
}

/// Whether an address is in a range of its family.
pub(super) fn in_range(range: &AddressRange, address: Addr) -> bool {
    let address = IpAddr::from(address);
    address.is_ipv4() == range.from.is_ipv4() && range.from <= address && address <= range.to
}

/// Whether a port is in one of some ranges.
pub(super) fn in_ports(ranges: &[PortRange], port: u16) -> bool {
    ranges.iter().any(|range| (range.from..=range.to).contains(&port))
}
