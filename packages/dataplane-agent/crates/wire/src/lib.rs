//! Wire formats: parse and emit headers, compute and adjust checksums.
#![forbid(unsafe_code)]
