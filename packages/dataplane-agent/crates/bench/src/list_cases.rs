//! What address lists cost: a million entries and rules that ask for them, and entries that come and go.

use std::net::{IpAddr, Ipv4Addr};

use tollway_config::dataplane::{Action, AddressList, AddressRange, Chain, DataplaneConfig, Matcher, Rule};
use tollway_engine::firewall::address_set::Added;
use tollway_engine::shared::Shared;
use tollway_engine::time::Now;

use crate::changes::{Changing, while_changing};
use crate::clock::Tsc;
use crate::measure::{CaseResult, compare};
use crate::scenario::Scenario;
use crate::timed_engine::{Setup, TimedEngine};
use crate::traffic::Traffic;

/// Entries of the list.
const ENTRIES: u32 = 1_000_000;
/// Flows.
const FLOWS: u32 = 65_536;
/// Flows while entries of the list come and go.
const FLOWS_MEANWHILE: u32 = 4096;
/// The list whose entries come and go.
const CHANGING: &str = "changing";
/// Entries that it has at a time.
const STANDING: u32 = 16_384;
/// Changes a second.
const CHANGES: f64 = 200_000.0;

/// Addresses all over 32.0.0.0/3, where no source or destination of the traffic lies: odd multiples of a large step.
fn elsewhere(n: u32) -> u32 {
    0x2000_0000 | n.wrapping_mul(0x9e37_79b1) >> 3
}

/// A million addresses, none of which is a source or destination of the traffic.
fn million() -> AddressList {
    let entries = (0..ENTRIES).map(|n| {
        let address = Ipv4Addr::from_bits(elsewhere(n)).into();
        AddressRange { from: address, to: address }
    });
    AddressList { name: "million".to_owned(), entries: entries.collect() }
}

/// 25 rules, before which two ask for the list; or without these.
fn setup(listed: bool, cached: bool) -> Setup {
    let mut setup = Setup::of(Scenario::MASQUERADE_25, Traffic::new(FLOWS, false));
    if listed {
        ask_for(&mut setup.config, million());
    }
    setup.config.settings.allow_fast_path = cached;
    setup
}

/// Puts two rules before the others that drop what has its source or its destination in a list.
fn ask_for(config: &mut DataplaneConfig, list: AddressList) {
    config.address_lists = vec![list];
    let asks = [
        Matcher::SrcAddressList { list: 0, negate: false },
        Matcher::DstAddressList { list: 0, negate: false },
    ];
    let rules = (90..).zip(asks);
    let rules =
        rules.map(|(row, matcher)| Rule { row, matchers: vec![matcher], action: Action::Drop, log: None });
    if let Some(Chain { rules: forward, .. }) = config.filter.first_mut() {
        forward.splice(0..0, rules);
    }
}

/// Rules that ask for a list of a million entries against none, established flows.
pub fn addrlist_1m(windows: usize) -> Result<CaseResult, String> {
    let memory = {
        let router = TimedEngine::new(setup(true, true), Tsc::new())?;
        let bytes = router.tables().0.address_sets.memory();
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

/// Adds entries of a length to the list, and removes each after so many others.
fn update(changing: &Changing, shared: &Shared, prefix_len: u8) -> Result<(), String> {
    let entry = |n: u32| IpAddr::V4(Ipv4Addr::from_bits(elsewhere(n) & u32::MAX << (32 - prefix_len))).into();
    let mut next = 0_u32;
    changing.keep_pace(CHANGES / 2.0, || {
        let (new, old) = (entry(next), next.checked_sub(STANDING).map(entry));
        next = next.wrapping_add(1);
        let (added, removed) = changing.timed(|| {
            let now = Now::from_ms(1000);
            let added =
                shared.address_sets.add_to(CHANGING, new, prefix_len, 0, now, &shared.change_counters);
            let removed = old.is_some_and(|old| {
                shared.address_sets.remove_from(CHANGING, old, prefix_len, &shared.change_counters)
            });
            (added == Added::New, removed)
        });
        Ok(u64::from(added) + u64::from(removed))
    })
}

/// Established flows that depend on what a list holds, while another core changes entries of that list that concern
/// none of them: single addresses, then networks. The worse of both counts.
pub fn list_updates(windows: usize) -> Result<CaseResult, String> {
    let mut parts = Vec::new();
    for (entries, prefix_len) in [("addresses", 32), ("/24 networks", 24)] {
        let tsc = Tsc::new();
        let router = || {
            let mut setup = Setup::of(Scenario::MASQUERADE_25, Traffic::new(FLOWS_MEANWHILE, false));
            ask_for(&mut setup.config, AddressList { name: CHANGING.to_owned(), entries: Vec::new() });
            TimedEngine::new(setup, tsc)
        };
        let (mut router, mut reference) = (router()?, router()?);
        let shared = router.tables().0;
        let writer = |changing: &Changing| update(changing, &shared, prefix_len);
        let mut part = while_changing(windows / 2 + 1, &mut router, Some(&mut reference), tsc, writer)?;
        for line in &mut part.details {
            *line = format!("{entries}: {line}");
        }
        parts.push(part);
    }
    let details = parts.iter().flat_map(|part| part.details.iter().cloned()).collect();
    let ratio = |part: &CaseResult| part.baseline_ns / part.ours_ns;
    let worse = parts.into_iter().min_by(|one, other| ratio(one).total_cmp(&ratio(other)));
    worse.map(|part| CaseResult { details, ..part }).ok_or_else(|| "nothing was measured".to_owned())
}
