//! Flows: connections and their cached actions, translation, and what decisions about a flow rest on.

pub mod cache_epoch;
pub mod conntrack;
pub mod directory;
pub mod epochs;
pub mod nat;
pub mod paths;
pub mod ports;
