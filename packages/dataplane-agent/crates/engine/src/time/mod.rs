//! Points in time, which are passed as arguments.

mod wall_clock;
pub mod wheel;

pub use wall_clock::WallClock;

/// A point on the monotonic clock, nanoseconds since an origin the caller chooses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Now(pub u64);

impl Now {
    /// Time from milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }
    /// In whole milliseconds.
    pub const fn ms(self) -> u64 {
        self.0 / 1_000_000
    }
}
