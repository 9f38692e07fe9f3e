//! What address lists cost: a million entries, and rules that ask for them.

use std::net::Ipv4Addr;

use tollway_config::dataplane::{Action, AddressList, AddressRange, Chain, Matcher, Rule};

use crate::clock::Tsc;
use crate::engine_cases::{CaseResult, compare};
use crate::router::{Router, Setup};
use crate::scenario::Scenario;
use crate::traffic::Traffic;

/// Entries of the list.
const ENTRIES: u32 = 1_000_000;
/// Flows.
const FLOWS: u32 = 65_536;

/// A million addresses, none of which is a source or destination of the traffic.
fn million() -> AddressList {
    let entries = (0..ENTRIES).map(|n| {
        // Odd multiples of a large step, so that they lie all over 32.0.0.0/3.
        let address = Ipv4Addr::from_bits(0x2000_0000 | n.wrapping_mul(0x9e37_79b1) >> 3).into();
        AddressRange { from: address, to: address }
    });
    AddressList { name: "million".to_owned(), entries: entries.collect() }
}

/// 25 rules, before which two ask for the list; or without these.
fn setup(listed: bool, cached: bool) -> Setup {
    let mut setup = Setup::of(Scenario::MASQUERADE_25, Traffic::new(FLOWS, false));
    if listed {
        setup.config.address_lists = vec![million()];
        let asks = [
            Matcher::SrcAddressList { list: 0, negate: false },
            Matcher::DstAddressList { list: 0, negate: false },
        ];
        let rules = (90..).zip(asks);
        let rules = rules.map(|(row, matcher)| Rule {
            row,
            matchers: vec![matcher],
            action: Action::Drop,
            log: None,
        });
        if let Some(Chain { rules: forward, .. }) = setup.config.filter.first_mut() {
            forward.splice(0..0, rules);
        }
    }
    setup.config.settings.allow_fast_path = cached;
    setup
}

/// Rules that ask for a list of a million entries against none, established flows.
pub fn addrlist_1m(windows: usize) -> Result<CaseResult, String> {
    let memory = {
        let router = Router::new(setup(true, true), Tsc::new())?;
        let bytes = router.tables().0.lists.memory();
        format!("{:.1} bytes an entry in the tables", bytes as f64 / f64::from(ENTRIES))
    };
    let mut result = compare(
        windows,
        ("with rules that ask for a list of 1,000,000", setup(true, true)),
        ("without", setup(false, true)),
    )?;
    let slow = compare(
        windows / 8 + 1,
        ("every packet asks twice for a list of 1,000,000", setup(true, false)),
        ("without", setup(false, false)),
    )?;
    result.details.push(memory);
    result
        .details
        .extend(slow.details.into_iter().take(1).map(|line| format!("without the flow cache: {line}")));
    Ok(result)
}
