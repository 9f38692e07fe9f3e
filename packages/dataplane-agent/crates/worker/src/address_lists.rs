//! Dynamic entries of address lists, for clients.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use tollway_config::protocol::record::{AddressListRecord, NO_END, PackedAddress};
use tollway_config::protocol::{ADDRESS_LIST_RECORD, DynamicAddress, ReplyBody};
use tollway_engine::firewall::address_set::{Added, AddressSets, DynamicEntry, MAX_DYNAMIC, SetKey};
use tollway_engine::shared::Shared;
use tollway_engine::time::Now;

/// Every entry, packed.
pub fn entries(sets: &AddressSets, now: Now) -> ReplyBody {
    let mut lists: Vec<String> = Vec::new();
    let mut numbers: HashMap<Arc<str>, u32> = HashMap::new();
    let mut records = Vec::with_capacity(sets.dynamic() * ADDRESS_LIST_RECORD);
    sets.for_each_dynamic(now, |entry| {
        let number = *numbers.entry(Arc::clone(&entry.list)).or_insert_with(|| {
            lists.push(entry.list.to_string());
            lists.len() as u32 - 1
        });
        pack(number, entry, &mut records);
    });
    ReplyBody::AddressListEntries { lists, records }
}

fn pack(list: u32, entry: &DynamicEntry, out: &mut Vec<u8>) {
    let family = if entry.address.as_v4().is_some() { 4 } else { 6 };
    let left = entry.left_ms.map_or(NO_END, |left| left.min(u64::from(NO_END - 1)) as u32);
    let age = (entry.age_ms / 1000).min(u64::from(u32::MAX)) as u32;
    let address = PackedAddress(entry.address.0);
    let record = AddressListRecord { list, family, prefix_len: entry.len, reserved: 0, address, left, age };
    record.write(out);
}

/// Adds entries, or restarts the timeouts of those that exist. Returns how many there were.
///
/// # Errors
/// One of them is not a prefix, or there is no room for all; then none is added.
pub fn add(shared: &Shared, entries: &[DynamicAddress], now: Now) -> Result<u64, String> {
    for entry in entries {
        check(entry)?;
    }
    if shared.address_sets.dynamic().saturating_add(entries.len()) > MAX_DYNAMIC {
        return Err(format!("address lists take {MAX_DYNAMIC} entries beside the configuration, no more"));
    }
    for entry in entries {
        let DynamicAddress { list, address, prefix_len, timeout_ms } = entry;
        let added = shared.address_sets.add_to(
            list,
            (*address).into(),
            *prefix_len,
            *timeout_ms,
            now,
            &shared.change_counters,
        );
        if added == Added::Full {
            return Err("there are too many address lists, or too many entries in them".to_owned());
        }
    }
    Ok(entries.len() as u64)
}

/// Removes entries. Returns how many there were.
///
/// # Errors
/// One of them is not a prefix; then none is removed.
pub fn remove(shared: &Shared, entries: &[DynamicAddress]) -> Result<u64, String> {
    for entry in entries {
        check(entry)?;
    }
    let removed = entries.iter().filter(|entry| {
        shared.address_sets.remove_from(
            &entry.list,
            entry.address.into(),
            entry.prefix_len,
            &shared.change_counters,
        )
    });
    Ok(removed.count() as u64)
}

fn check(entry: &DynamicAddress) -> Result<(), String> {
    let DynamicAddress { list, address, prefix_len, .. } = entry;
    if list.is_empty() {
        return Err("list: expected a name".to_owned());
    }
    let bits = if matches!(address, IpAddr::V4(_)) { 32 } else { 128 };
    if *prefix_len > bits {
        return Err(format!("prefix-len {prefix_len}: expected 0 to {bits}"));
    }
    let mapped = matches!(address, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some());
    if mapped || SetKey::around(0, (*address).into(), *prefix_len).address != (*address).into() {
        return Err(format!("address {address}/{prefix_len}: expected the first address of a network"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(list: &str, address: &str, prefix_len: u8, timeout_ms: u64) -> DynamicAddress {
        DynamicAddress { list: list.into(), address: address.parse().unwrap(), prefix_len, timeout_ms }
    }

    #[test]
    fn what_is_added_is_answered_and_removed() {
        let shared = Shared::new(1, 7);
        let now = Now::from_ms(1_000_000);
        let all = [
            entry("a", "10.0.0.0", 8, 0),
            entry("b", "192.0.2.1", 32, 5_500),
            entry("a", "2001:db8::", 32, 1),
        ];
        assert_eq!(add(&shared, &all, now), Ok(3));
        let later = Now::from_ms(1_002_500);
        let ReplyBody::AddressListEntries { lists, records } = entries(&shared.address_sets, later) else {
            panic!()
        };
        assert_eq!(lists, ["a", "b"]);
        assert_eq!(records.len(), 3 * ADDRESS_LIST_RECORD);
        let mut expected = vec![1, 0, 0, 0, 4, 32, 0, 0];
        expected.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1]);
        expected.extend(3_000u32.to_le_bytes());
        expected.extend(2u32.to_le_bytes());
        assert_eq!(records[32..64], expected);
        assert_eq!(records[..6], [0, 0, 0, 0, 4, 8]);
        assert_eq!(records[24..28], u32::MAX.to_le_bytes());
        assert_eq!(records[64..70], [0, 0, 0, 0, 6, 32]);
        assert_eq!(remove(&shared, &all[..2]), Ok(2));
        assert_eq!(remove(&shared, &all), Ok(1));
    }

    #[test]
    fn what_is_no_prefix_is_refused_and_nothing_added() {
        let shared = Shared::new(1, 7);
        let good = entry("a", "10.0.0.0", 8, 0);
        for bad in [
            entry("", "10.0.0.0", 8, 0),
            entry("a", "10.0.0.1", 8, 0),
            entry("a", "10.0.0.0", 33, 0),
            entry("a", "2001:db8::1", 64, 0),
            entry("a", "::", 129, 0),
            entry("a", "::ffff:1.2.3.4", 128, 0),
        ] {
            let error = add(&shared, &[good.clone(), bad.clone()], Now(0)).unwrap_err();
            assert!(error.contains("expected"), "{error}");
            assert!(remove(&shared, &[bad]).is_err());
        }
        assert_eq!(shared.address_sets.dynamic(), 0);
    }
}
