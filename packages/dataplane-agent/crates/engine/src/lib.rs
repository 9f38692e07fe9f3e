//! The packet path of the router: pure, single-threaded, deterministic.
//!
//! ```text
//!  Batch ─► parse ─► arp ─► fragment ─► fast_path ──────── hit: rewritten, done ───────────┐
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
//! counter ([`profiler::CycleClock`]) are arguments, so every behaviour can be replayed in a unit test.
#![forbid(unsafe_code)]

pub mod batch;
pub mod engine;
pub mod frame;
pub mod packet;
pub mod pipeline;
pub mod profiler;
pub mod shared;
pub mod slow;
pub mod snapshot;
pub mod sorting;
pub mod stats;
pub mod time;
pub mod tuple;
pub mod verdict;

// What packets are judged by; no frames, no stages.
pub mod classifier;
pub mod conntrack;
pub mod error;
pub mod fib;
pub mod interface;
pub mod nat;

// What a worker, or all of them, keep.
pub mod directory;
pub mod epochs;
pub mod fragments;
pub mod lists;
pub mod marks;
pub mod neighbor;
pub mod offload;
pub mod paths;
pub mod policy;
pub mod qos;
mod state;
pub mod trace;

mod icmp;
mod log;
mod stage;
mod sync;
mod trie;
mod wheel;

pub use engine::{Engine, EngineLimits};
