//! The agent: worker threads that connect `io` and `engine`, and the control thread that serves the API's socket, keeps
//! the configuration on disk, follows the netdevs and keeps the router's namespace up to date.

pub mod active;
pub mod address_lists;
pub mod agent;
pub mod busy_poll;
pub mod commands;
pub mod core_time;
pub mod counters;
pub mod frame_budget;
mod guard;
pub mod handover_ring;
pub mod interface_rates;
pub mod journal;
mod learned_routes;
mod learned_tables;
pub mod link_counters;
mod offloaded_flows;
pub mod options;
mod port_backend;
pub mod ports;
mod profile;
pub mod report;
pub mod router_namespace;
pub mod router_namespaces;
pub mod routes;
pub mod server;
pub mod traces;
pub mod worker;
pub mod workers;

#[cfg(test)]
mod modules_tests;

pub use agent::{Stop, check, run};
pub use options::{AgentError, Options};
