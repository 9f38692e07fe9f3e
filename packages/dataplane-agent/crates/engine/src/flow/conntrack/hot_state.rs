//! The hot state of a connection: the part that every packet reads or writes in addition to the flow entry of its
//! direction. It is one cache line, so that a cached packet accesses two: the flow entry and the hot state.

use super::status::Status;
use super::tcp::ProtocolState;
use crate::ids::Direction;
use crate::packet::slow_reason::SlowReason;
use crate::time::Now;

/// Deadlines in the hot state are in units of 2²² ns (4.2 ms), of which 32 bits are kept. They are compared modulo 2³²:
/// half of the range is more than a hundred days, and the longest timeout is fifty.
const TICK_BITS: u32 = 22;

/// A time in the unit of the deadlines, rounded down.
const fn ticks(now: Now) -> u32 {
    (now.0 >> TICK_BITS) as u32
}

/// Time from now on until a deadline, ns; 0 when it has passed.
pub(super) fn left(deadline: u32, now: Now) -> u64 {
    let left = deadline.wrapping_sub(ticks(now)) as i32;
    let end = u64::try_from(left).unwrap_or(0) << TICK_BITS;
    end.saturating_sub(now.0 & ((1 << TICK_BITS) - 1))
}

/// The hot state of a connection, one cache line of 64 bytes.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct HotState {
    /// TCP windows and state; of ICMP its first type and code; unused for other protocols.
    pub protocol_state: ProtocolState,
    /// L3 bytes per direction that have not been moved to the table's spilled counters.
    bytes: [u32; 2],
    /// Wire segments per direction, likewise.
    packets: [u16; 2],
    /// When the connection expires without another packet, in ticks, rounded up.
    pub(super) expires: u32,
    /// Status bits.
    pub status: Status,
    /// Version of the connection: it changes whenever a change of state, mark or NAT invalidates the cached actions of
    /// both directions.
    pub version: u16,
    /// Number of the batch in which the connection's packets must take the slow path. After 65,536 batches the number
    /// repeats, which sends packets of one batch to the slow path without need.
    pub slow_batch: u16,
    /// Why the last packet of each direction was not cached; `None` if it was, or if there was none.
    pub(super) slow: [Option<SlowReason>; 2],
}

impl HotState {
    /// The state of a slot that no connection has used yet.
    pub(super) fn unused() -> Self {
        Self { status: Status::default(), ..Self::new(ProtocolState::default()) }
    }

    /// The state of a connection that is being created.
    pub(super) fn new(protocol_state: ProtocolState) -> Self {
        let mut status = Status::default();
        status.set_used();
        Self {
            protocol_state,
            bytes: [0; 2],
            packets: [0; 2],
            expires: 0,
            status,
            version: 1,
            slow_batch: 0,
            slow: [None; 2],
        }
    }

    /// Makes the cached actions of both directions invalid.
    pub fn invalidate(&mut self) {
        self.version = self.version.wrapping_add(1);
    }

    /// Whether its lifetime has not ended.
    #[inline]
    pub fn is_alive(&self, now: Now) -> bool {
        (self.expires.wrapping_sub(ticks(now)) as i32) > 0
    }

    /// Time until it expires if no further packet arrives, ns.
    pub(super) fn left(&self, now: Now) -> u64 {
        left(self.expires, now)
    }

    /// Sets its expiry to `lifetime` ns from now, rounded up to a tick.
    #[inline]
    pub(super) fn extend(&mut self, now: Now, lifetime: u64) {
        const ROUND_UP: u64 = (1 << TICK_BITS) - 1;
        self.expires = (now.0.saturating_add(lifetime).saturating_add(ROUND_UP) >> TICK_BITS) as u32;
    }

    /// Why the last packet of a direction was not cached; `None` if it was, or if there was none.
    pub fn slow_reason(&self, direction: Direction) -> Option<SlowReason> {
        self.slow.get(direction.index()).copied().flatten()
    }

    /// Sets the slow reason of a direction; `None` when the last decision was cached.
    pub(crate) fn set_slow_reason(&mut self, direction: Direction, reason: Option<SlowReason>) {
        if let Some(cell) = self.slow.get_mut(direction.index()) {
            *cell = reason;
        }
    }

    /// Adds to the counters of a direction. `false`, without counting, when one would
    /// overflow: the caller then empties them with [`Self::take_counts`].
    #[inline]
    pub(crate) fn count(&mut self, direction: Direction, packets: u32, bytes: u64) -> bool {
        let (Some(packet_cell), Some(byte_cell)) =
            (self.packets.get_mut(direction.index()), self.bytes.get_mut(direction.index()))
        else {
            return false;
        };
        let packets = u64::from(*packet_cell) + u64::from(packets);
        let bytes = u64::from(*byte_cell) + bytes;
        if packets >> 16 | bytes >> 32 != 0 {
            return false;
        }
        (*packet_cell, *byte_cell) = (packets as u16, bytes as u32);
        true
    }

    /// Bytes of both directions together, as far as they are counted here.
    #[inline]
    pub(super) fn carried(&self) -> u64 {
        let [original, reply] = &self.bytes;
        // One of both was just written: a single load of both would stall until the write has left the store buffer.
        u64::from(*original) + u64::from(std::hint::black_box(*reply))
    }

    /// Packets and bytes of both directions, as far as they are counted here.
    pub(super) fn counts(&self) -> ([u64; 2], [u64; 2]) {
        (self.packets.map(u64::from), self.bytes.map(u64::from))
    }

    /// Takes [`Self::counts`] and sets the counters to zero.
    pub(super) fn take_counts(&mut self) -> ([u64; 2], [u64; 2]) {
        let counts = self.counts();
        (self.packets, self.bytes) = ([0; 2], [0; 2]);
        counts
    }
}

const _: () = assert!(size_of::<HotState>() == 64);
