//! Configurations of former formats.

use tollway_config::dataplane::{DataplaneConfig, FORMAT, Prefix, QueueLimit, QueueTarget, QueueType};
use tollway_config::framing::{from_msgpack, to_msgpack};

#[test]
fn queues_of_the_format_before_keep_their_sizes() {
    let queue = |row: u32, up: u32, down: u32| {
        let limit = |packets: u32| serde_json::json!({ "max-limit": 1_000_000, "bucket-ms": 100, "packet-limit": packets });
        serde_json::json!({
            "row": row,
            "targets": [{ "address": "192.0.2.1", "prefix-len": 32 }],
            "upload": limit(up),
            "download": limit(down),
        })
    };
    let mut written = serde_json::to_value(DataplaneConfig::default()).unwrap();
    let fields = written.as_object_mut().unwrap();
    for absent in ["mangle", "mark-names", "queue-types", "tree-queues", "interface-queues"] {
        assert!(fields.remove(absent).is_some());
    }
    fields.insert("format".to_owned(), (FORMAT - 1).into());
    fields.insert("simple-queues".to_owned(), vec![queue(7, 50, 10), queue(8, 10, 300)].into());
    // As the agent's file has it.
    let mut config: DataplaneConfig = from_msgpack(&to_msgpack(&written).unwrap()).unwrap();
    config.upgrade();
    assert_eq!(config.format, FORMAT);
    let size = |limit: &QueueLimit| config.queue_types.get(limit.queue_type as usize).cloned();
    let sizes: Vec<_> =
        config.simple_queues.iter().map(|queue| (size(&queue.upload), size(&queue.download))).collect();
    let pfifo = |limit| Some(QueueType::Pfifo { limit });
    assert_eq!(sizes, [(pfifo(50), pfifo(10)), (pfifo(10), pfifo(300))]);
    let address = std::net::Ipv4Addr::new(192, 0, 2, 1).into();
    assert_eq!(config.simple_queues[0].targets, [QueueTarget::Prefix(Prefix { address, prefix_len: 32 })]);
    let again = config.clone();
    config.upgrade();
    assert_eq!(config, again);
}
