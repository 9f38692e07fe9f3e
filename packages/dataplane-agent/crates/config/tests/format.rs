//! Configurations of former formats.

use tollway_config::dataplane::{ArpMode, DataplaneConfig, FORMAT, Interface, InterfaceKind, IoChoice};
use tollway_config::framing::{from_msgpack, to_msgpack};

#[test]
fn interfaces_of_the_format_before_are_those_of_their_ports() {
    let interface = serde_json::json!({
        "row": 7, "name": "wan", "port": "ether2", "disabled": false, "mtu": 1492, "mac-address": null,
        "arp": "enabled", "arp-timeout-ms": 30_000, "io": "af-xdp",
    });
    let mut without_io = interface.clone();
    without_io.as_object_mut().unwrap().remove("io");
    let mut written = serde_json::to_value(DataplaneConfig::default()).unwrap();
    let fields = written.as_object_mut().unwrap();
    fields.insert("format".to_owned(), (FORMAT - 1).into());
    fields.insert("interfaces".to_owned(), vec![interface, without_io].into());
    // As the agent's file has it.
    let mut config: DataplaneConfig = from_msgpack(&to_msgpack(&written).unwrap()).unwrap();
    config.upgrade();
    let now = |io| Interface {
        row: 7,
        name: "wan".to_owned(),
        kind: InterfaceKind::Ethernet { port: "ether2".to_owned(), io },
        disabled: false,
        mtu: 1492,
        mac_address: None,
        arp: ArpMode::Enabled,
        arp_timeout_ms: Some(30_000),
        zone: 0,
    };
    assert_eq!(config.format, FORMAT);
    assert_eq!(config.interfaces, [now(IoChoice::AfXdp), now(IoChoice::Auto)]);
    let again: DataplaneConfig = from_msgpack(&to_msgpack(&config).unwrap()).unwrap();
    assert_eq!(again, config);
    config.upgrade();
    assert_eq!(again, config);
}

#[test]
fn an_interface_has_one_kind_and_no_unknown_property() {
    let interface = |more: &[(&str, serde_json::Value)]| {
        let mut fields = serde_json::json!({
            "row": 9, "name": "v", "disabled": false, "mtu": 1500, "mac-address": null, "arp": "enabled",
            "arp-timeout-ms": null,
        });
        for (name, value) in more {
            fields.as_object_mut().unwrap().insert((*name).to_owned(), value.clone());
        }
        serde_json::from_value::<Interface>(fields).map_err(|error| error.to_string())
    };
    let vlan = serde_json::json!({ "type": "vlan", "parent": 7, "vlan-id": 10, "service-tag": false });
    let port = serde_json::json!("ether1");
    let kind = InterfaceKind::Vlan { parent: 7, vlan_id: 10, service_tag: false };
    assert_eq!(interface(&[("kind", vlan.clone())]).unwrap().kind, kind);
    assert!(interface(&[]).unwrap_err().contains("kind"));
    assert!(interface(&[("kind", vlan.clone()), ("port", port)]).unwrap_err().contains("both"));
    assert!(interface(&[("kind", vlan), ("vlan", 1.into())]).unwrap_err().contains("vlan"));
}
