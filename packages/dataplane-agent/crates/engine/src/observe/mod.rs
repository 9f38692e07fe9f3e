//! Observation: cycle counts, packet traces and the log.

pub mod log;
pub mod profiler;
pub mod trace;
