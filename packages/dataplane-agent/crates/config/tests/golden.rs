//! The compiler of the API and these types agree: files that the one writes, the other reads without loss.

use std::path::Path;

use tollway_config::dataplane::DataplaneConfig;
use tollway_config::digest::Digest;

fn golden(name: &str) -> serde_json::Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../../apps/api/test/golden")
        .join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("golden files are JSON")
}

fn read(value: &serde_json::Value) -> DataplaneConfig {
    serde_json::from_value(value.clone()).expect("the types read what the compiler writes")
}

#[test]
fn an_empty_configuration_is_the_default_of_the_types() {
    let mut config = read(&golden("empty"));
    // The compiler names the hooks even when they hold no rules.
    let tables = [
        &mut config.filter,
        &mut config.nat,
        &mut config.mangle,
        &mut config.ipv6_filter,
        &mut config.ipv6_nat,
        &mut config.ipv6_mangle,
    ];
    for chains in tables {
        assert!(chains.iter().all(|chain| chain.rules.is_empty()));
        chains.clear();
    }
    assert_eq!(config, DataplaneConfig::default());
}

#[test]
fn nothing_is_lost_on_the_way() {
    for name in ["empty", "lab", "everything", "names"] {
        let value = golden(name);
        let written = serde_json::to_value(read(&value)).expect("a configuration is JSON");
        assert_eq!(written, value, "{name}");
    }
}

#[test]
fn both_have_the_same_digests() {
    let digests = golden("digests");
    for (name, digest) in digests.as_object().expect("digests by name") {
        assert_eq!(Digest::of(&read(&golden(name)), None).text(), digest, "{name}");
    }
    assert!(digests.get("everything").is_some());
}
