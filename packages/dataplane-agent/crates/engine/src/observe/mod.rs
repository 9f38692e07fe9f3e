//! What observers see: cycle counts and packet traces.

pub mod profiler;
pub mod trace;
