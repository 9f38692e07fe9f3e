//! `time`.

use super::super::{Depends, PacketView};
use super::Names;
use crate::error::BuildError;
use crate::time::Now;

const DAY_MS: i64 = 86_400_000;
const NS_PER_MS: i64 = 1_000_000;
/// Longest time that an answer is remembered, ns: the wall clock may be set meanwhile.
const LONGEST: u64 = 60_000_000_000;

/// The time of day lies in a span, on certain days of the week. A span that passes midnight holds before
/// its end and after its beginning of each named day, as in iptables-extensions(8) without `--contiguous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    from_ms: u32,
    to_ms: u32,
    days: u8,
    offset_ms: i64,
    negate: bool,
}

impl Time {
    /// The clock.
    pub const DEPENDS_ON: Depends = Depends::TIME;

    /// Checks moments (milliseconds after midnight, both included) and days (bit 0 is Sunday).
    pub fn new(
        (from_ms, to_ms): (u32, u32),
        days: u8,
        utc_offset_s: i32,
        negate: bool,
        names: &Names<'_>,
    ) -> Result<Self, BuildError> {
        if i64::from(from_ms.max(to_ms)) > DAY_MS {
            return Err(names.error("time: expected moments within a day, 0s to 1d"));
        }
        if days == 0 || days > 0x7f {
            return Err(names.error("time: expected one or more of sun, mon, tue, wed, thu, fri, sat"));
        }
        Ok(Self { from_ms, to_ms, days, offset_ms: i64::from(utc_offset_s) * 1000, negate })
    }

    /// Milliseconds since the midnight on which 1970 began here.
    fn local_ms(&self, view: &PacketView) -> i64 {
        view.utc_ns.div_euclid(NS_PER_MS) + self.offset_ms
    }

    /// Whether now is in the span.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        let local = self.local_ms(view);
        // The first of January 1970 was a Thursday.
        let weekday = (local.div_euclid(DAY_MS) + 4).rem_euclid(7);
        let moment = local.rem_euclid(DAY_MS);
        let (from, to) = (i64::from(self.from_ms), i64::from(self.to_ms));
        let inside = if from <= to { from <= moment && moment <= to } else { from <= moment || moment <= to };
        (inside && self.days >> weekday & 1 != 0) != self.negate
    }

    /// The moment until which the answer stays, or after which it should be asked for anew.
    pub fn changes_at(&self, view: &PacketView) -> Now {
        let moment = self.local_ms(view).rem_euclid(DAY_MS);
        let ahead = |edge: i64| (edge - moment - 1).rem_euclid(DAY_MS) + 1;
        let edges = [i64::from(self.from_ms), i64::from(self.to_ms) + 1, 0];
        let wait_ms = edges.into_iter().map(ahead).min().unwrap_or(1);
        let wait_ns = wait_ms * NS_PER_MS - view.utc_ns.rem_euclid(NS_PER_MS);
        Now(view.now.0.saturating_add(u64::try_from(wait_ns).unwrap_or(1).min(LONGEST)))
    }
}
