//! Files that an earlier run left.

use tollway_worker::{active, journal};

/// The active configuration.
pub fn active(data: &[u8]) {
    if let Ok(active) = active::parse(data) {
        crate::config::build(&active.config);
    }
}

/// The journal of translated connections.
pub fn journal(data: &[u8]) {
    let live = journal::parse(data);
    for (original, translated) in &live {
        assert_eq!(original, &translated.original);
    }
}
