//! Flows: connection tracking, cached actions and what they depend on, address translation.

pub mod actions;
pub mod cache_epoch;
pub mod change_counters;
pub mod conntrack;
pub mod directory;
pub mod nat;
pub mod new_addresses;
mod number_hasher;
pub mod outside_ports;
pub mod paths;
