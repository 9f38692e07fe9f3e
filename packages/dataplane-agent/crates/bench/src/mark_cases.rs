//! Marks: as many rules of mangle and leaves of a queue tree as brought other routers to their knees.

use std::net::Ipv4Addr;

use tollway_config::dataplane::{
    Action, AddressRange, Chain, Mark, Matcher, QueueLimit, Rule, TreeParent, TreeQueue,
};

use crate::measure::{CaseResult, compare};
use crate::scenario::{SOURCES, Scenario, queue};
use crate::timed_engine::Setup;
use crate::traffic::Traffic;

/// Rules, and leaves.
const MARKS: u32 = 640;
/// Flows, each from an address of its own.
const FLOWS: u32 = 4096;
/// Addresses of a rule: all flows are in one rule for each direction.
const ADDRESSES: u32 = FLOWS.div_ceil(MARKS / 2) + 1;
/// Limit that nothing measured reaches, bits/s.
const AMPLE: u64 = 10_000_000_000;
const FIRST_RULE: u32 = 10_000;
const FIRST_NODE: u32 = 20_000;

/// 640 rules that mark packets by their address, and a tree with a leaf for each mark; against the same router without
/// both. No limit is reached.
pub fn marks_640(windows: usize) -> Result<CaseResult, String> {
    let setup = || Setup::of(Scenario::MASQUERADE_25, Traffic::new(FLOWS, false));
    let mut marked = setup();
    marked.config.mangle = vec![Chain { name: "forward".to_owned(), rules: (0..MARKS).map(rule).collect() }];
    let root = TreeQueue {
        row: FIRST_NODE,
        parent: TreeParent::Global,
        packet_marks: Vec::new(),
        limit: limit(100 * AMPLE),
    };
    let leaf = |number| TreeQueue {
        row: FIRST_NODE + 1 + number,
        parent: TreeParent::Queue { row: FIRST_NODE },
        packet_marks: vec![mark(number)],
        limit: limit(AMPLE),
    };
    marked.config.tree_queues = std::iter::once(root).chain((0..MARKS).map(leaf)).collect();
    compare(windows, ("with 640 marks", marked), ("without marks", setup()))
}

/// Marks have 32 bits.
const fn mark(number: u32) -> Mark {
    0x9e37_0000 | number
}

fn limit(max_limit: u64) -> QueueLimit {
    queue(0, max_limit, Vec::new()).upload
}

/// Rules for the two directions of the same addresses stand beside each other.
fn rule(number: u32) -> Rule {
    let first = SOURCES.to_bits() + number / 2 * ADDRESSES;
    let address = |bits: u32| Ipv4Addr::from_bits(bits).into();
    let range = AddressRange { from: address(first), to: address(first + ADDRESSES - 1) };
    let matcher = if number.is_multiple_of(2) {
        Matcher::SrcAddress { range, negate: false }
    } else {
        Matcher::DstAddress { range, negate: false }
    };
    Rule {
        row: FIRST_RULE + number,
        matchers: vec![matcher],
        action: Action::MarkPacket { mark: mark(number), passthrough: false },
        log: None,
    }
}
