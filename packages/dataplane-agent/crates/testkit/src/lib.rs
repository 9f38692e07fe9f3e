//! Test support for the packet path: packets, frames on the heap, configurations, a clock that the test advances, a
//! router with hosts at its ports, and the workers that tests and benchmarks share.
#![forbid(unsafe_code)]

pub mod config;
pub mod counters;
pub mod dual_stack;
pub mod folder;
pub mod frame;
pub mod ipv6_packet;
pub mod modules;
pub mod networks;
pub mod offload;
pub mod packet;
pub mod random;
pub mod record;
pub mod router;
pub mod routing;
mod soak;
pub mod workers;

pub use config::{RouterConfig, pfifo, queue, queue_limit, rule};
pub use counters::Counter;
pub use folder::Folder;
pub use frame::{HeapFrame, HeapSource};
pub use ipv6_packet::{Ipv6Builder, Ipv6Packet};
pub use modules::Modules;
pub use networks::Networks;
pub use packet::{Packet, PacketBuilder};
pub use router::{Output, Router};
pub use soak::{cases, seeds};
