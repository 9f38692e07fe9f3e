//! The packet path of the router: pure, single-threaded, deterministic.
//!
//! ```text
//!  Batch ─► parse ─► arp ─► fragment ─► flow_cache ─────── hit: rewritten, done ───────────┐
//!                                          │ miss                                          │
//!          track ◄─────────────────────────┘                                               │
//!            └─► mangle_pre ─► dst_nat ─► route ─► ttl ─► mangle ─► filter ─► mangle_post  │
//!                                                                                │         │
//!          install ◄─ classify ◄─ src_nat ◄──────────────────────────────────────┘         │
//!             ├─► local ───────────────────────────────────────────────────────────────────┤
//!             └─► emit ────────────────────────────────────────────────────────────────────┴─► queue ─► Batch
//! ```
//!
//! No I/O, no threads, no clock, no randomness of its own: frames, time ([`time::Now`]) and the cycle
//! counter ([`observe::profiler::CycleClock`]) are arguments, so every behaviour can be replayed in a unit test.
#![forbid(unsafe_code)]

// From the bottom up: a module uses those declared before it (tests/modules.rs).

// Identifiers, clock, configuration errors, random numbers, pages of memory.
pub mod error;
pub mod ids;
pub mod interface;
pub mod pages;
mod random;
mod sync;
pub mod time;

// A packet: frame, tuple, metadata, verdict.
pub mod packet;

// Flows: connections, their cached actions, translation.
pub mod flow;

// Rules, address sets, marks.
pub mod firewall;

// Routes, neighbours, fragments.
pub mod ip;

// Profiles, traces, the log.
pub mod observe;

// Queues.
pub mod qos;

// Compiled, immutable configuration (snapshot).
pub mod snapshot;

// State shared by all workers: directory, neighbours, routes, address sets.
pub mod shared;

// The stages, in the order of the drawing above.
pub mod pipeline;

// One worker's engine.
pub mod engine;

pub use engine::{Engine, EngineLimits};
