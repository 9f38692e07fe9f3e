//! Flows: connection tracking, cached actions and what they depend on, address translation.

pub mod cache_epoch;
pub mod conntrack;
pub mod directory;
pub mod epochs;
pub mod nat;
pub mod outside_ports;
pub mod paths;
