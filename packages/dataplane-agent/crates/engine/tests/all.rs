//! All tests of the engine from outside, as one program: each program would compile the engine for its frames anew.

mod arp;
mod arp_flood;
mod blocked_port;
mod both_ways;
mod damaged;
mod damaged_v6;
mod discovery_v6;
mod dry_run;
mod dry_run_v6;
mod family_changes;
mod fast_equals_slow;
mod fasttrack;
mod filter;
mod filter_v6;
mod flow_cache;
mod forwarding;
mod forwarding_v6;
mod fragmented_segments;
mod host_v6;
mod icmp_fragments;
mod interface_queues;
mod interleaving;
mod ipv6_cache;
mod journal;
mod local_groups;
mod loopback;
mod mangle;
mod mangle_v6;
mod million_frames;
mod modules;
mod multipath;
mod nat;
mod nat_elsewhere;
mod nat_ports;
mod nat_v6;
mod offload;
mod policy_routing;
mod queue_changes;
mod queue_chaos;
mod queue_disorder;
mod queue_edges;
mod queue_isolation;
mod queue_kinds;
mod queue_order;
mod queue_ownership;
mod queue_segments;
mod queue_trees;
mod queues;
mod queues_v6;
mod router_advertisements;
mod routes;
mod settings;
mod settings_v6;
mod slow;
mod stateful;
mod tcp_fast_open;
mod trace;
mod tracking_off;
mod tree_equality;
mod untracked_fragments;
mod vlan;
mod vrfs;
mod worker_equality;
mod workers;

/// Cargo looks for no tests by itself here, so that a file that is missing above would be tested by nobody.
#[test]
fn every_file_is_named() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let named = include_str!("all.rs");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "all") else { continue };
        assert!(named.lines().any(|line| line == format!("mod {module};")), "{name} is not named in all.rs");
        files += 1;
    }
    assert!(files > 40, "{folder} holds {files} files");
}
