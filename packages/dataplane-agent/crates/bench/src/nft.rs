//! The kernel router's firewall: a compiled configuration written as an nft ruleset.

use std::fmt::Write;
use std::net::IpAddr;

use tollway_config::dataplane::{
    Action, AddressRange, Chain, ConnectionState, DataplaneConfig, Matcher, PortRange, Rule,
};

use crate::args::Args;
use crate::htb;
use crate::scenario::Scenario;

/// Prints the ruleset of `--scenario`.
pub fn run(args: &Args) -> Result<(), String> {
    let scenario = Scenario::by_name(&args.required::<String>("scenario")?)?;
    print!("{}", ruleset(&scenario.config([0; 6], [0; 6]))?);
    Ok(())
}

/// The `forward` and `srcnat` chains of a configuration, and what its queues need, as one nft table for each family; empty
/// without rules, so that the kernel hooks nothing. Interfaces are matched by name. Each rule counts, as the agent's do.
/// Fails on what the bench's scenarios do not use.
pub fn ruleset(config: &DataplaneConfig) -> Result<String, String> {
    let mut text = String::new();
    if !(config.filter.is_empty() && config.nat.is_empty() && config.simple_queues.is_empty()) {
        table(&mut text, config, "ip", [&config.filter, &config.nat])?;
        text.extend(htb::classifier(config));
        text.push_str("}\n");
    }
    if !(config.ipv6_filter.is_empty() && config.ipv6_nat.is_empty()) {
        table(&mut text, config, "ip6", [&config.ipv6_filter, &config.ipv6_nat])?;
        text.push_str("}\n");
    }
    Ok(text)
}

/// The beginning of a family's table, with its chains of filter and NAT.
fn table(
    text: &mut String,
    config: &DataplaneConfig,
    family: &str,
    [filter, nat]: [&Vec<Chain>; 2],
) -> Result<(), String> {
    let _ = writeln!(text, "table {family} bench {{");
    for (chains, hook, header) in [
        (filter, "forward", "type filter hook forward priority filter; policy accept;"),
        (nat, "srcnat", "type nat hook postrouting priority srcnat; policy accept;"),
    ] {
        for chain in chains {
            if chain.name != hook {
                return Err(format!("chain {} has no nft form here", chain.name));
            }
            write_chain(text, config, chain, header)?;
        }
    }
    Ok(())
}

fn write_chain(
    text: &mut String,
    config: &DataplaneConfig,
    chain: &Chain,
    header: &str,
) -> Result<(), String> {
    let _ = writeln!(text, "  chain {} {{\n    {header}", chain.name);
    for rule in &chain.rules {
        let _ = writeln!(text, "    {}", statement(config, rule)?);
    }
    text.push_str("  }\n");
    Ok(())
}

fn statement(config: &DataplaneConfig, rule: &Rule) -> Result<String, String> {
    let mut words = Vec::new();
    for matcher in &rule.matchers {
        words.push(expression(config, matcher)?);
    }
    words.push("counter".to_owned());
    words.push(match rule.action {
        Action::Accept => "accept".to_owned(),
        Action::Drop => "drop".to_owned(),
        Action::Masquerade { to_ports: None, randomise_ports: false } => "masquerade".to_owned(),
        _ => return Err(format!("row {}: action has no nft form here", rule.row)),
    });
    Ok(words.join(" "))
}

fn expression(config: &DataplaneConfig, matcher: &Matcher) -> Result<String, String> {
    let not = |negate: &bool| if *negate { "!= " } else { "" };
    Ok(match matcher {
        Matcher::InInterface { interfaces, negate } => {
            format!("iifname {}{}", not(negate), names(config, interfaces))
        }
        Matcher::OutInterface { interfaces, negate } => {
            format!("oifname {}{}", not(negate), names(config, interfaces))
        }
        Matcher::Protocol { protocol, negate } => format!("meta l4proto {}{protocol}", not(negate)),
        Matcher::SrcAddress { range, negate } => {
            format!("{} saddr {}{}", family(range), not(negate), addresses(range))
        }
        Matcher::DstAddress { range, negate } => {
            format!("{} daddr {}{}", family(range), not(negate), addresses(range))
        }
        Matcher::DstPort { ports: list, negate } => format!("th dport {}{}", not(negate), ports(list)),
        Matcher::SrcPort { ports: list, negate } => format!("th sport {}{}", not(negate), ports(list)),
        Matcher::ConnectionState { states, negate } => {
            format!("ct state {}{}", not(negate), state_names(states))
        }
        other => return Err(format!("matcher {other:?} has no nft form here")),
    })
}

fn names(config: &DataplaneConfig, rows: &[u32]) -> String {
    let interfaces = config.interfaces.iter().filter(|interface| rows.contains(&interface.row));
    set(interfaces.map(|interface| format!("\"{}\"", interface.name)).collect())
}

/// The keyword of the family of a range.
fn family(range: &AddressRange) -> &'static str {
    if range.from.is_ipv4() { "ip" } else { "ip6" }
}

/// A prefix where the range is one, as that is the kernel's cheaper form.
fn addresses(range: &AddressRange) -> String {
    let (low, high, beyond) = match (range.from, range.to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => (from.to_bits().into(), to.to_bits().into(), 96),
        (IpAddr::V6(from), IpAddr::V6(to)) => (from.to_bits(), to.to_bits(), 0),
        _ => (1, 0, 0),
    };
    let span: u128 = low ^ high;
    if span & span.wrapping_add(1) == 0 && low & span == 0 {
        return format!("{}/{}", range.from, span.leading_zeros() - beyond);
    }
    format!("{}-{}", range.from, range.to)
}

fn ports(ranges: &[PortRange]) -> String {
    let text = |range: &PortRange| match range.from == range.to {
        true => range.from.to_string(),
        false => format!("{}-{}", range.from, range.to),
    };
    set(ranges.iter().map(text).collect())
}

fn state_names(states: &[ConnectionState]) -> String {
    let name = |state: &ConnectionState| match state {
        ConnectionState::Invalid => "invalid",
        ConnectionState::Established => "established",
        ConnectionState::Related => "related",
        ConnectionState::New => "new",
        ConnectionState::Untracked => "untracked",
    };
    set(states.iter().map(|state| name(state).to_owned()).collect())
}

fn set(mut members: Vec<String>) -> String {
    match members.len() {
        1 => members.remove(0),
        _ => format!("{{ {} }}", members.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_the_scenario_is_written() {
        let config = Scenario::MASQUERADE_25.config([0; 6], [0; 6]);
        let text = ruleset(&config).unwrap();
        assert_eq!(text.matches(" counter ").count(), 26);
        assert!(text.contains("ct state invalid counter drop"), "{text}");
        assert!(text.contains("ip daddr 203.51.7.0/24 meta l4proto 6 th dport 8007 counter drop"), "{text}");
        assert!(text.contains("iifname \"lan\" oifname \"wan\" counter accept"), "{text}");
        assert!(text.contains("oifname \"wan\" counter masquerade"), "{text}");
    }

    #[test]
    fn the_rules_of_ipv6_are_in_a_table_of_their_own() {
        let config = Scenario::MASQUERADE_25.over_ipv6().config([0; 6], [0; 6]);
        let text = ruleset(&config).unwrap();
        assert_eq!(text.matches(" counter ").count(), 52);
        assert!(text.contains("table ip6 bench {"), "{text}");
        assert!(text.contains("ip6 saddr 2001:db8::c033:0/120 counter drop"), "{text}");
    }

    #[test]
    fn without_rules_nothing_is_hooked() {
        assert_eq!(ruleset(&Scenario::ROUTING.config([0; 6], [0; 6])), Ok(String::new()));
    }

    #[test]
    fn ranges_become_prefixes_only_where_they_are_one() {
        let range =
            |from: &str, to: &str| AddressRange { from: from.parse().unwrap(), to: to.parse().unwrap() };
        assert_eq!(addresses(&range("10.0.0.0", "10.0.0.255")), "10.0.0.0/24");
        assert_eq!(addresses(&range("10.0.0.1", "10.0.0.1")), "10.0.0.1/32");
        assert_eq!(addresses(&range("10.0.0.1", "10.0.0.2")), "10.0.0.1-10.0.0.2");
        assert_eq!(addresses(&range("0.0.0.0", "255.255.255.255")), "0.0.0.0/0");
        assert_eq!(addresses(&range("2001:db8::", "2001:db8::ff")), "2001:db8::/120");
        assert_eq!(addresses(&range("2001:db8::1", "2001:db8::2")), "2001:db8::1-2001:db8::2");
    }
}
