//! See `tollway_fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tollway_fuzzing::run("configuration", data));
