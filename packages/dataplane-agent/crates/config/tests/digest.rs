//! Digests of configurations.

use tollway_config::dataplane::{Action, AddressList, AddressRange, Chain, DataplaneConfig, Rule};
use tollway_config::digest::{Digest, END, Hash, insertion, row_hash, section_hash};

fn rule(row: u32) -> Rule {
    Rule { row, matchers: Vec::new(), action: Action::Accept, log: None }
}

fn config(rows: &[u32]) -> DataplaneConfig {
    let rules = rows.iter().copied().map(rule).collect();
    DataplaneConfig {
        filter: vec![Chain { name: "forward".to_owned(), rules }],
        ..DataplaneConfig::default()
    }
}

fn digest(config: &DataplaneConfig) -> String {
    Digest::of(config, None).text().to_owned()
}

#[test]
fn order_and_every_row_count() {
    let base = digest(&config(&[1, 2, 3, 4]));
    for other in [&[1, 2, 4, 3][..], &[2, 1, 3, 4], &[4, 3, 2, 1], &[1, 2, 3], &[1, 2, 3, 4, 5], &[]] {
        assert_ne!(digest(&config(other)), base, "{other:?}");
    }
    let mut changed = config(&[1, 2, 3, 4]);
    changed.filter[0].rules[2].action = Action::Drop;
    assert_ne!(digest(&changed), base);
    let mut renamed = config(&[1, 2, 3, 4]);
    renamed.filter[0].name = "input".to_owned();
    assert_ne!(digest(&renamed), base);
    let mut settings = config(&[1, 2, 3, 4]);
    settings.settings.flow_offload = true;
    assert_ne!(digest(&settings), base);
    assert_eq!(digest(&config(&[1, 2, 3, 4])), base);
}

#[test]
fn a_section_is_told_of_a_change_by_what_the_change_brings() {
    let hashes: Vec<Hash> = (0..20_u32).map(|row| row_hash(&row)).collect();
    let at = |place: Option<usize>| place.and_then(|place| hashes.get(place)).copied().unwrap_or(END);
    let whole = section_hash(&hashes);
    for place in 0..hashes.len() {
        let mut without = hashes.clone();
        let row = without.remove(place);
        let grown = insertion(at(place.checked_sub(1)), row, at(Some(place + 1)));
        assert_eq!(section_hash(&without).wrapping_add(grown), whole, "{place}");
    }
}

#[test]
fn what_is_made_from_the_one_before_is_what_is_made_anew() {
    let steps: [&[u32]; 7] = [&[1, 2, 3], &[1, 9, 2, 3], &[9, 2, 3], &[9, 9, 9], &[9, 9], &[], &[3, 9, 9, 1]];
    let mut before: Option<(DataplaneConfig, Digest)> = None;
    for (number, rows) in steps.into_iter().enumerate() {
        let mut next = config(rows);
        if number % 2 == 1 {
            // A section that comes and goes moves the others.
            let range = |last: u8| {
                let address = std::net::Ipv4Addr::new(10, 0, 0, last).into();
                AddressRange { from: address, to: address }
            };
            let entries = vec![range(1), range(number as u8)];
            next.address_lists = vec![AddressList { name: "a b".to_owned(), entries }];
        }
        let made = Digest::of(&next, before.as_ref().map(|(config, digest)| (config, digest)));
        assert_eq!(made, Digest::of(&next, None), "{rows:?}");
        before = Some((next, made));
    }
}
