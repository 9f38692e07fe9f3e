//! `time`.

use tollway_config::dataplane::Matcher as M;

use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, OutcomeValidity, PacketView};
use super::{CompileScope, Condition};
use crate::error::BuildError;
use crate::time::Now;

const DAY_MS: i64 = 86_400_000;
const NS_PER_MS: i64 = 1_000_000;
/// Maximum time for which a result is valid, ns: the wall clock may be set meanwhile.
const LONGEST: u64 = 60_000_000_000;

/// A span of the time of day, on certain days of the week. A span that includes midnight applies on each of these days
/// before its end and after its beginning, as in iptables-extensions(8) without `--contiguous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeOfDay {
    from_ms: u32,
    to_ms: u32,
    days: u8,
    offset_ms: i64,
    negate: bool,
}

impl TimeOfDay {
    /// Checks moments (milliseconds after midnight, both included) and days (bit 0 is Sunday).
    ///
    /// # Errors
    /// Describes what is wrong.
    pub fn new(
        (from_ms, to_ms): (u32, u32),
        days: u8,
        utc_offset_s: i32,
        negate: bool,
    ) -> Result<Self, &'static str> {
        if i64::from(from_ms.max(to_ms)) > DAY_MS {
            return Err("time: expected moments within a day, 0s to 1d");
        }
        if days == 0 || days > 0x7f {
            return Err("time: expected one or more of sun, mon, tue, wed, thu, fri, sat");
        }
        Ok(Self { from_ms, to_ms, days, offset_ms: i64::from(utc_offset_s) * 1000, negate })
    }

    /// Milliseconds since the beginning of 1970, local time.
    fn local_ms(&self, utc_ns: i64) -> i64 {
        utc_ns.div_euclid(NS_PER_MS) + self.offset_ms
    }

    /// Whether a time, ns since 1970 UTC, is in the span, inverted if negated.
    #[inline]
    pub fn holds(&self, utc_ns: i64) -> bool {
        let local = self.local_ms(utc_ns);
        // The first of January 1970 was a Thursday.
        let weekday = (local.div_euclid(DAY_MS) + 4).rem_euclid(7);
        let moment = local.rem_euclid(DAY_MS);
        let (from, to) = (i64::from(self.from_ms), i64::from(self.to_ms));
        let inside = if from <= to { from <= moment && moment <= to } else { from <= moment || moment <= to };
        (inside && self.days >> weekday & 1 != 0) != self.negate
    }

    /// For how long from a time on the result of [`Self::holds`] stays the same, ns; at most a minute.
    pub fn stays_for_ns(&self, utc_ns: i64) -> u64 {
        let moment = self.local_ms(utc_ns).rem_euclid(DAY_MS);
        let ahead = |edge: i64| (edge - moment - 1).rem_euclid(DAY_MS) + 1;
        let edges = [i64::from(self.from_ms), i64::from(self.to_ms) + 1, 0];
        let wait_ms = edges.into_iter().map(ahead).min().unwrap_or(1);
        let wait_ns = wait_ms * NS_PER_MS - utc_ns.rem_euclid(NS_PER_MS);
        u64::try_from(wait_ns).unwrap_or(1).min(LONGEST)
    }
}

/// The condition of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time(TimeOfDay);

impl Condition for Time {
    /// Depends on the clock.
    const DEPENDS_ON: Depends = Depends::TIME;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let M::Time { from_ms, to_ms, days, utc_offset_s, negate } = *matcher else {
            return Err(scope.wrong_row());
        };
        let time = TimeOfDay::new((from_ms, to_ms), days, utc_offset_s, negate);
        time.map(Self).map_err(|message| scope.error(message))
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        self.0.holds(view.utc_ns)
    }

    fn limit_validity(&self, view: &PacketView, validity: &mut OutcomeValidity) {
        validity.narrow(u64::MAX, Now(view.now.0.saturating_add(self.0.stays_for_ns(view.utc_ns))));
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let M::Time { from_ms, to_ms, days, utc_offset_s, negate } = matcher else { return false };
        let local = asked.view.utc_ns / 1_000_000 + i64::from(*utc_offset_s) * 1000;
        let (day, ms) = (local / 86_400_000, (local % 86_400_000) as u32);
        let inside =
            if from_ms <= to_ms { *from_ms <= ms && ms <= *to_ms } else { ms <= *to_ms || ms >= *from_ms };
        // Day 3 of 1970 was its first Sunday.
        let days_after_sunday = (day + 7 - 3) % 7;
        (inside && days & 1 << days_after_sunday != 0) != *negate
    }
}
