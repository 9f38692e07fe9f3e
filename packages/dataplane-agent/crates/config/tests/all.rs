//! All tests of the crate from outside, as one program: each program would compile reading and writing configurations
//! anew.

mod digest;
mod format;
mod framing;
mod golden;
mod record;
