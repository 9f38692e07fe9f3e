//! In no folder do modules, each with all that is in it, use each other in a circle; see `tollway_testkit::modules`.

use tollway_testkit::Modules;

#[test]
fn modules_use_nothing_in_a_circle() {
    let modules = Modules::of_crate(env!("CARGO_MANIFEST_DIR"));
    assert!(modules.arrows("")["engine_cases"].contains_key("measure"), "the imports are read");
    assert_eq!(modules.circles(), [""; 0]);
    modules.draw("bench");
}
