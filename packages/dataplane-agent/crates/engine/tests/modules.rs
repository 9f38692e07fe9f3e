//! The order of the modules. `lib.rs` declares them from the bottom up, as does `pipeline/mod.rs`: a module uses those
//! declared before it and none after it. In no folder do modules, each with all that is in it, use each other in a
//! circle; a folder's own file and what is in the folder may. No stage uses another.

use tollway_testkit::Modules;

/// A tracked protocol is a file that implements `Protocol` and a row of the table beside that, so that the one names
/// the other. Of a connection its file reads the hot state, which holds the tracker of TCP.
const EXCEPTIONS: [[&str; 3]; 6] = [
    ["flow/conntrack", "generic", "protocol"],
    ["flow/conntrack", "icmp", "protocol"],
    ["flow/conntrack", "sample", "protocol"],
    ["flow/conntrack", "tcp", "protocol"],
    ["flow/conntrack", "udp", "protocol"],
    ["flow/conntrack", "tcp", "hot_state"],
];

#[test]
fn modules_use_only_those_below_them_and_nothing_in_a_circle() {
    let modules = Modules::of_crate(env!("CARGO_MANIFEST_DIR"));
    let rooms = modules.arrows("");
    assert!(rooms.len() > 8 && rooms["pipeline"].contains_key("flow"), "the imports are read: {rooms:?}");
    for folder in ["", "pipeline"] {
        assert_eq!(modules.upward(folder), None);
    }
    assert_eq!(modules.circles_without(&EXCEPTIONS), [""; 0]);
    modules.draw("engine");
}

#[test]
fn no_stage_uses_another() {
    let modules = Modules::of_crate(env!("CARGO_MANIFEST_DIR"));
    let stages = modules.declared("pipeline/stage");
    assert_eq!(stages.len(), tollway_engine::pipeline::STAGE_COUNT, "a folder of stages alone: {stages:?}");
    assert_eq!(modules.arrows("pipeline/stage"), Default::default());
}
