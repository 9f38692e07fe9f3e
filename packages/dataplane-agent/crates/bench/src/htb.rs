//! The kernel router's queues: the simple queues of a compiled configuration as HTB classes.
//!
//! Each port gets an HTB with one class per queue, of the queue's rate and bucket, over a pfifo. Which
//! class a packet belongs to is its priority, and that is set by nft where source and destination are those
//! of the LAN's view, in `forward` (`tc-htb(8)`, nft(8) "meta priority").

use std::fmt::Write;
use std::net::IpAddr;

use tollway_config::dataplane::{DataplaneConfig, QueueLimit, QueueTarget, QueueType};

use crate::args::Args;
use crate::scenario::Scenario;

/// First minor number of a class.
const FIRST_CLASS: u32 = 0x10;

/// Prints the queueing disciplines of `--scenario`.
pub fn run(args: &Args) -> Result<(), String> {
    let scenario = Scenario::by_name(&args.required::<String>("scenario")?)?;
    print!("{}", disciplines(&scenario.config([0; 6], [0; 6])));
    Ok(())
}

/// Commands for `tc -batch`: uploads leave by `wan`, downloads by `lan`. Empty without queues.
fn disciplines(config: &DataplaneConfig) -> String {
    let mut text = String::new();
    if config.simple_queues.is_empty() {
        return text;
    }
    for (device, is_upload) in [("wan", true), ("lan", false)] {
        let _ = writeln!(text, "qdisc add dev {device} root handle 1: htb");
        for (class, queue) in (FIRST_CLASS..).zip(&config.simple_queues) {
            let QueueLimit { max_limit, bucket_ms, queue_type, .. } =
                if is_upload { queue.upload } else { queue.download };
            let Some(QueueType::Pfifo { limit: packet_limit }) = config.queue_types.get(queue_type as usize)
            else {
                continue;
            };
            let burst = max_limit / 8 * u64::from(bucket_ms) / 1000;
            let size =
                format!("rate {max_limit}bit ceil {max_limit}bit burst {burst} cburst {burst} quantum 60000");
            let _ = writeln!(text, "class add dev {device} parent 1: classid 1:{class:x} htb {size}");
            let _ = writeln!(text, "qdisc add dev {device} parent 1:{class:x} pfifo limit {packet_limit}");
        }
    }
    text
}

/// The nft chain that gives packets their classes; `None` without queues.
pub fn classifier(config: &DataplaneConfig) -> Option<String> {
    if config.simple_queues.is_empty() {
        return None;
    }
    let mut text = String::from("  chain classes {\n    type filter hook forward priority filter + 1;\n");
    for (class, queue) in (FIRST_CLASS..).zip(&config.simple_queues) {
        for (field, target) in
            ["daddr", "saddr"].iter().flat_map(|field| queue.targets.iter().map(move |t| (field, t)))
        {
            let QueueTarget::Prefix(target) = target else { continue };
            let IpAddr::V4(address) = target.address else { continue };
            let _ = writeln!(
                text,
                "    ip {field} {address}/{} meta priority set 1:{class:x} accept",
                target.prefix_len
            );
        }
    }
    text.push_str("  }\n");
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_becomes_a_class_of_each_port_and_a_rule_of_each_direction() {
        let config = Scenario::MASQUERADE_25_QUEUE.config([0; 6], [0; 6]);
        let text = disciplines(&config);
        assert_eq!(text.lines().count(), 6);
        for device in ["lan", "wan"] {
            let class = format!(
                "class add dev {device} parent 1: classid 1:10 htb rate 1000000000bit ceil 1000000000bit burst 12500000 cburst 12500000 "
            );
            assert!(text.contains(&class), "{text}");
        }
        let chain = classifier(&config).unwrap();
        assert!(chain.contains("ip daddr 10.77.0.2/32 meta priority set 1:10 accept"), "{chain}");
        assert!(chain.contains("ip saddr 10.77.0.2/32 meta priority set 1:10 accept"), "{chain}");
        let without = Scenario::MASQUERADE_25.config([0; 6], [0; 6]);
        assert_eq!((disciplines(&without), classifier(&without)), (String::new(), None));
    }
}
