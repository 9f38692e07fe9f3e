//! Restores a netdev to the state in its record.

use super::error::ClaimError;
use super::features::{GRO, LRO, RX_VLAN, set_disable_ipv6, set_feature};
use super::record::Record;
use crate::command::run;
use crate::link::Link;

/// Prefix of ip(8)'s message about the line of a batch that failed, after the reason.
const FAILED: &str = "Command failed -:";

/// Restores a netdev to the state of a record, made under the name `netdev`; it may have another name now.
///
/// # Errors
/// The first property that could not be restored; the others are tried all the same.
pub(super) fn restore(link: &Link, netdev: &str, record: &Record) -> Result<(), ClaimError> {
    let name = &link.name;
    for (feature, before) in [(LRO, record.lro), (GRO, record.gro), (RX_VLAN, record.vlan)] {
        if before {
            set_feature(name, feature, true);
        }
    }
    let mut result = Ok(());
    if let Some(value) = &record.disable_ipv6 {
        let set = set_disable_ipv6(name, value);
        result = set.map_err(|error| incomplete(name, "not its state of IPv6", &error.to_string()));
    }
    // The properties to restore, and the command for each.
    let mut parts = Vec::new();
    for words in &record.addresses {
        // A label begins with the name of the device.
        let words = words.replacen(&format!(" label {netdev}"), &format!(" label {name}"), 1);
        parts.push((format!("address {words}"), format!("address replace {words} dev {name}")));
    }
    for words in record.routes_in_order() {
        parts.push((format!("route {words}"), format!("route replace {words} dev {name}")));
    }
    if record.mtu != 0 && record.mtu != link.mtu {
        parts.push((format!("MTU of {}", record.mtu), format!("link set dev {name} mtu {}", record.mtu)));
    }
    if !record.up {
        parts.push(("state of being down".to_owned(), format!("link set dev {name} down")));
    }
    if parts.is_empty() {
        return result;
    }
    let lines: String = parts.iter().map(|(_, command)| format!("{command}\n")).collect();
    let restored = run("ip", &["-force", "-batch", "-"], &lines).map(drop);
    result.and(restored.map_err(|error| {
        let mut failed = failures(&error.reason);
        let first = failed.next().and_then(|(line, why)| Some((&parts.get(line.checked_sub(1)?)?.0, why)));
        match (first, failed.count()) {
            (Some((part, why)), 0) => incomplete(name, &format!("not its {part}"), why),
            (Some((part, why)), more) => incomplete(name, &format!("not its {part} (and {more} more)"), why),
            (None, _) => incomplete(name, "not its addresses and routes", &error.to_string()),
        }
    }))
}

/// The error for a netdev that was restored only in part.
pub(super) fn incomplete(netdev: &str, difference: &str, reason: &str) -> ClaimError {
    ClaimError::Incomplete {
        netdev: netdev.to_owned(),
        difference: difference.to_owned(),
        reason: reason.to_owned(),
    }
}

/// The lines of a batch, counted from 1, that ip(8) reports as failed, and the reasons.
fn failures(said: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut why = "";
    said.lines().filter_map(move |line| {
        let Some(number) = line.strip_prefix(FAILED) else {
            why = line.strip_prefix("Error: ").unwrap_or(line).trim_end_matches('.');
            return None;
        };
        Some((number.parse().ok()?, why))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ip_says_of_a_batch_names_lines_and_reasons() {
        let said = "Error: Nexthop has invalid gateway.\nCommand failed -:2\nRTNETLINK answers: File exists\nCommand failed -:13";
        let found: Vec<_> = failures(said).collect();
        assert_eq!(found, [(2, "Nexthop has invalid gateway"), (13, "RTNETLINK answers: File exists")]);
        assert_eq!(failures("No such file or directory (os error 2)").count(), 0);
        assert_eq!(failures("Command failed -:").count(), 0);
    }

    #[test]
    fn what_a_netdev_could_not_be_given_is_told_with_its_name() {
        // None of this name is there.
        let link = Link { name: "tollway-none".to_owned(), ..Link::default() };
        let routes = vec!["default via 10.0.0.254".to_owned(), "10.9.0.0/16".to_owned()];
        let record = Record { up: true, routes, ..Record::default() };
        let said = restore(&link, "eth0", &record).unwrap_err().to_string();
        let expected = "tollway-none was given back, but not its route 10.9.0.0/16 (and 1 more): ";
        assert!(said.starts_with(expected), "{said}");
    }
}
