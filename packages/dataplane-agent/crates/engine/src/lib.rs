//! The packet path of the router: pure, single-threaded, deterministic.
//!
//! No I/O, no threads, no clock, no randomness of its own: frames, time ([`time::Now`]) and the cycle
//! counter ([`profiler::CycleClock`]) are arguments, so every behaviour can be replayed in a unit test.
#![forbid(unsafe_code)]

pub mod frame;
pub mod time;
pub mod tuple;
