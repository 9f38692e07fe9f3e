//! What tests of the packet path are written with: packets, heap frames, a clock that moves when told, a
//! router with ports on both sides.
#![forbid(unsafe_code)]

pub mod config;
pub mod counters;
pub mod folder;
pub mod frame;
pub mod offload;
pub mod packet;
pub mod random;
pub mod record;
pub mod router;
mod soak;

pub use config::{RouterConfig, pfifo, queue, queue_limit, rule};
pub use counters::Counter;
pub use folder::Folder;
pub use frame::{HeapFrame, HeapSource};
pub use packet::{Packet, PacketBuilder};
pub use router::{Output, Router};
pub use soak::{cases, seeds};
