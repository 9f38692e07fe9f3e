//! The agent: worker threads that join `io` and `engine`, and the control thread that serves the API's
//! socket, keeps the configuration on disk, follows the netdevs and keeps the router's namespace up to date.

pub mod active;
pub mod agent;
mod backend;
pub mod busy_poll;
pub mod core_time;
pub mod counters;
pub mod exchange;
mod flow_offload;
mod flows;
pub mod frames;
mod guard;
pub mod handover_ring;
pub mod journal;
mod learned_routes;
pub mod lists;
pub mod options;
pub mod ports;
mod profile;
pub mod report;
pub mod requests;
pub mod router_namespace;
pub mod routes;
pub mod server;
pub mod traces;
pub mod worker;
pub mod workers;

pub use agent::{Stop, check, run};
pub use options::{AgentError, Options};
