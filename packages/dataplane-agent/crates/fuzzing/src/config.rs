//! Configurations as clients may send them.

use tollway_config::dataplane::DataplaneConfig;
use tollway_config::framing::from_msgpack;
use tollway_engine::snapshot::{PortFacts, Snapshot};

/// A configuration that can be read is built, or refused with a reason.
pub fn run(data: &[u8]) {
    if let Ok(config) = from_msgpack::<DataplaneConfig>(data) {
        build(&config);
    }
}

/// Builds the tables of a configuration for ports `ether1` to `ether3`.
pub fn build(config: &DataplaneConfig) -> Option<Snapshot> {
    let port = |number: u8| PortFacts {
        name: format!("ether{number}"),
        mac: [2, 0, 0, 0, 0, number],
        running: number != 3,
    };
    match Snapshot::build(config, &[port(1), port(2), port(3)], 2, 1) {
        Ok(snapshot) => Some(snapshot),
        Err(error) => {
            assert!(!error.message.is_empty());
            None
        }
    }
}
