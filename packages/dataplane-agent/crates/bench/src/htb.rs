//! The kernel router's queues: the simple queues of a compiled configuration as HTB classes.
//!
//! Each port gets an HTB with one class per queue, of the queue's rate and bucket, over a pfifo. Which
//! class a packet belongs to is its priority, and that is set by nft where source and destination are those
//! of the LAN's view, in `forward` (`tc-htb(8)`, nft(8) "meta priority").

use std::fmt::Write;
use std::net::IpAddr;

use tollway_config::dataplane::{DataplaneConfig, Prefix, QueueLimit, QueueTarget, QueueType, RowId};

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
            let limit = if is_upload { queue.upload } else { queue.download };
            let parent = queue.parent.and_then(|row| class_of(config, row)).unwrap_or(0);
            let parent = if parent == 0 { String::new() } else { format!("{parent:x}") };
            let QueueLimit { limit_at, max_limit, bucket_ms, queue_type, .. } = limit;
            let burst = max_limit / 8 * u64::from(bucket_ms) / 1000;
            let rate = if limit_at == 0 { max_limit } else { limit_at };
            let size =
                format!("rate {rate}bit ceil {max_limit}bit burst {burst} cburst {burst} quantum 60000");
            let _ = writeln!(text, "class add dev {device} parent 1:{parent} classid 1:{class:x} htb {size}");
            let has_children = config.simple_queues.iter().any(|child| child.parent == Some(queue.row));
            if let Some(QueueType::Pfifo { limit }) = config.queue_types.get(queue_type as usize)
                && !has_children
            {
                let _ = writeln!(text, "qdisc add dev {device} parent 1:{class:x} pfifo limit {limit}");
            }
        }
    }
    text
}

/// Class of the queue with a row.
fn class_of(config: &DataplaneConfig, row: RowId) -> Option<u32> {
    (FIRST_CLASS..).zip(&config.simple_queues).find(|(_, queue)| queue.row == row).map(|(class, _)| class)
}

/// The nft chain that gives packets their classes, by a map of networks; `None` without queues.
pub fn classifier(config: &DataplaneConfig) -> Option<String> {
    let mut classes = Vec::new();
    for (class, queue) in (FIRST_CLASS..).zip(&config.simple_queues) {
        if config.simple_queues.iter().any(|child| child.parent == Some(queue.row)) {
            continue;
        }
        for target in &queue.targets {
            let QueueTarget::Prefix(Prefix { address: IpAddr::V4(address), prefix_len }) = target else {
                continue;
            };
            classes.push(format!("{address}/{prefix_len} : 1:{class:x}"));
        }
    }
    if classes.is_empty() {
        return None;
    }
    let classes = classes.join(", ");
    let mut text = String::from("  chain classes {\n    type filter hook forward priority filter + 1;\n");
    // The destination has the last word.
    for field in ["saddr", "daddr"] {
        let _ = writeln!(text, "    meta priority set ip {field} map {{ {classes} }}");
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
        assert!(chain.contains("meta priority set ip daddr map { 10.77.0.2/32 : 1:10 }"), "{chain}");
        assert!(chain.contains("meta priority set ip saddr map { 10.77.0.2/32 : 1:10 }"), "{chain}");
        let tree = Scenario::HTB_25.config([0; 6], [0; 6]);
        let text = disciplines(&tree);
        assert!(text.contains("class add dev lan parent 1: classid 1:10 htb rate 100000000000bit"), "{text}");
        assert!(text.contains("class add dev lan parent 1:10 classid 1:29 htb rate 100000000bit"), "{text}");
        assert!(!text.contains("parent 1:10 pfifo"), "{text}");
        let chain = classifier(&tree).unwrap();
        assert!(chain.contains(": 1:11") && !chain.contains(": 1:10,"), "{chain}");
        let without = Scenario::MASQUERADE_25.config([0; 6], [0; 6]);
        assert_eq!((disciplines(&without), classifier(&without)), (String::new(), None));
    }
}
