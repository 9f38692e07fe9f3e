//! Fuzz targets: functions that take any bytes and must return. `cargo fuzz` drives them from `fuzz/`; the
//! test of this crate replays `fuzz/corpus` and the named cases of `fuzz/cases`, so that what was found once stays
//! found.
#![forbid(unsafe_code)]

mod config;
mod control;
mod files;
mod frames;
mod headers;
mod packets;
pub mod pcap;

/// A target: panics when something is wrong.
pub type Target = fn(&[u8]);

/// Every target by the name of its corpus.
pub const TARGETS: &[(&str, Target)] = &[
    ("headers", headers::run),
    ("frames", frames::run),
    ("packets", packets::run),
    ("control", control::run),
    ("configuration", config::run),
    ("active", files::active),
    ("journal", files::journal),
];

/// Runs the target with a name.
///
/// # Panics
/// When there is none, and when the target finds a fault.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, target) = target.expect("a target with this name");
    target(data);
}
