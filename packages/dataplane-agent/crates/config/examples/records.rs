//! Prints where the fields of packed records are, the names of numbers in them, and the constants of the protocol: the
//! module that clients read them by is made from it.

use std::io::Write;

use serde_json::json;
use tollway_config::dataplane::{
    FIRST_AUTOCONFIGURED_ROW, FIRST_DYNAMIC_ROW, FORMAT, MAX_INTERFACES, MAX_JUMP_DEPTH, MAX_QUEUE_LEVELS,
    MAX_ROUTING_TABLES, MAX_VLAN_TAGS,
};
use tollway_config::protocol::record::{CODES, NO_END, layouts};
use tollway_config::protocol::{MAX_FRAME, MAX_TOKEN_BUCKETS, MAX_TRACES, PROTOCOL};

fn main() -> std::io::Result<()> {
    let records: Vec<_> = layouts()
        .into_iter()
        .map(|layout| {
            let fields: Vec<_> = layout
                .fields
                .iter()
                .map(|field| json!({ "name": field.name, "doc": field.doc, "offset": field.offset }))
                .collect();
            json!({ "name": layout.name, "size": layout.size, "fields": fields })
        })
        .collect();
    let codes: Vec<_> =
        CODES.into_iter().map(|codes| json!({ "name": codes.name, "codes": codes.codes })).collect();
    let constants = json!([
        ["PROTOCOL", PROTOCOL, "Version of the message set."],
        ["FORMAT", FORMAT, "Version of the configuration's format."],
        [
            "MAX_QUEUE_LEVELS",
            MAX_QUEUE_LEVELS,
            "Levels that a tree of queues has at most, the root's included."
        ],
        ["MAX_JUMP_DEPTH", MAX_JUMP_DEPTH, "Jumps inside jumps that a chain of rules has at most."],
        ["MAX_INTERFACES", MAX_INTERFACES, "Interfaces at most, of all types."],
        ["MAX_VLAN_TAGS", MAX_VLAN_TAGS, "VLANs one on the other that an interface has at most."],
        ["MAX_ROUTING_TABLES", MAX_ROUTING_TABLES, "Routing tables beside the main table at most."],
        ["MAX_FRAME", MAX_FRAME, "Largest frame either side accepts, bytes."],
        ["MAX_TRACES", MAX_TRACES, "Traces that are followed at a time."],
        ["MAX_TOKEN_BUCKETS", MAX_TOKEN_BUCKETS, "Queues whose milliseconds are noted at a time."],
        [
            "FIRST_AUTOCONFIGURED_ROW",
            FIRST_AUTOCONFIGURED_ROW,
            "First row of addresses that the router makes itself in advertised networks.",
        ],
        ["FIRST_DYNAMIC_ROW", FIRST_DYNAMIC_ROW, "First id of rows that the agent makes itself."],
        ["NO_END", NO_END, "Time left of an address list entry that stays until the agent ends."],
    ]);
    let text = serde_json::to_string(&json!({ "records": records, "codes": codes, "constants": constants }))?;
    std::io::stdout().write_all(text.as_bytes())
}
