//! How many cases random tests run, and from which seed.
//!
//! `cargo test` runs the same cases each time. `npm run soak` sets `TOLLWAY_SOAK` to how many times as many to run, and
//! `PROPTEST_RNG_SEED`, which proptest reads too, to a fresh seed. Every property test says by [`cases`] how many it
//! runs, 256 where it has no reason for another number: with `PROPTEST_CASES` all would run the same number, whatever
//! one takes.

use std::ops::Range;

/// Factor of the usual number of cases; 1 unless `TOLLWAY_SOAK` says more.
fn factor() -> u32 {
    number("TOLLWAY_SOAK").and_then(|factor| u32::try_from(factor).ok()).unwrap_or(1).max(1)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Cases of a property test that usually runs `usual` of them.
pub fn cases(usual: u32) -> u32 {
    usual.saturating_mul(factor())
}

/// Seeds of a randomized test that usually runs with `usual` of them.
pub fn seeds(usual: u64) -> Range<u64> {
    let first = number("PROPTEST_RNG_SEED").unwrap_or(0) % (1 << 48);
    first..first + usual.saturating_mul(u64::from(factor()))
}
