//! The order of the modules. `lib.rs` declares them from the bottom up, as does `pipeline/mod.rs`: a module uses those
//! declared before it and none after it. The children of a module do not use each other in a circle. No stage uses another.

use tollway_testkit::Modules;

#[test]
fn modules_use_only_those_below_them_and_nothing_in_a_circle() {
    let modules = Modules::of_crate(env!("CARGO_MANIFEST_DIR"));
    let rooms = modules.arrows("");
    assert!(rooms.len() > 8 && rooms["pipeline"].contains_key("flow"), "the imports are read: {rooms:?}");
    for folder in ["", "pipeline"] {
        assert_eq!(modules.upward(folder), None);
    }
    let mut circles = modules.circles();
    circles.retain(|circle| !circle.contains('/') || circle.starts_with("pipeline/stage:"));
    assert_eq!(circles, [""; 0]);
    modules.draw("engine");
}

#[test]
fn no_stage_uses_another() {
    let modules = Modules::of_crate(env!("CARGO_MANIFEST_DIR"));
    let stages = modules.declared("pipeline/stage");
    assert_eq!(stages.len(), tollway_engine::pipeline::STAGE_COUNT, "a folder of stages alone: {stages:?}");
    assert_eq!(modules.arrows("pipeline/stage"), Default::default());
}
