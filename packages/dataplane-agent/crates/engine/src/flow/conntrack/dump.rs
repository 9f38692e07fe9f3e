//! Connections as the control protocol shows them.

use tollway_config::protocol::CONNECTION_RECORD;
use tollway_wire::ipv4::{ICMP, TCP};

use super::connection::{Connection, Totals};
use super::table::ConnectionTable;
use crate::ids::Direction;
use crate::packet::slow_reason::SlowReason;
use crate::time::Now;

/// Status bits that the record has.
const SHOWN: u16 = 0xff;

impl ConnectionTable {
    /// Appends a packed record (`protocol::ReplyBody::Connections`) for each confirmed connection in `places`
    /// places of the table from `from` on; says from where to go on, `None` at the end of the table. A
    /// connection keeps its place, so what lives all the while is in exactly one of the parts.
    pub fn dump(&self, from: u32, places: u32, now: Now, out: &mut Vec<u8>) -> Option<u32> {
        let (end, slots) = (from.saturating_add(places), self.hot.len() as u32);
        for slot in (from..end.min(slots)).filter(|slot| self.is_shown(*slot)) {
            if let Some(conn) = self.connection(slot) {
                out.extend_from_slice(&self.record(slot, &conn, now));
            }
        }
        (end <= slots).then_some(end)
    }

    /// Why the packets of a connection are not all forwarded by the flow cache. A direction of which
    /// nothing has come is not asked; nor is one whose next packet will be decided once for all that follow, while the
    /// other's are forwarded by the cache.
    fn slow_reason(&self, slot: u32, conn: &Connection, totals: &Totals) -> Option<SlowReason> {
        let mut reasons = [Direction::Original, Direction::Reply]
            .into_iter()
            .filter(|direction| totals.packets.get(direction.index()) != Some(&0))
            .map(|direction| {
                conn.slow_reason(direction).or_else(|| match self.installed(slot << 1 | direction as u32) {
                    Some(action) if action.version != conn.version => Some(SlowReason::Stale),
                    Some(action) => (action.resume != 0).then_some(SlowReason::Rule),
                    None => Some(SlowReason::NewConnection),
                })
            });
        let passes = |reason: &Option<SlowReason>| {
            matches!(reason, None | Some(SlowReason::Stale | SlowReason::NewConnection))
        };
        let (first, second) = (reasons.next()?, reasons.next());
        match second {
            None => first,
            Some(second) if passes(&first) && passes(&second) => first.and(second),
            Some(second) => {
                if passes(&first) {
                    second
                } else {
                    first
                }
            }
        }
    }

    fn record(&self, slot: u32, conn: &Connection, now: Now) -> [u8; CONNECTION_RECORD] {
        let (totals, fasttracked) = self.totals(slot);
        let slow = self.slow_reason(slot, conn, &totals).map_or(0, SlowReason::place);
        record(conn, &totals, &fasttracked, slow, now)
    }
}

fn record(
    conn: &Connection,
    totals: &Totals,
    fasttracked: &Totals,
    slow: u8,
    now: Now,
) -> [u8; CONNECTION_RECORD] {
    let mut record = [0u8; CONNECTION_RECORD];
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(field) = record.get_mut(at..at + bytes.len()) {
            field.copy_from_slice(bytes);
        }
    };
    let protocol = conn.original.protocol;
    let family = if conn.original.src.as_v4().is_some() { 4 } else { 6 };
    let state = if protocol == TCP { conn.tcp.state() as u8 } else { 255 };
    let left = conn.left(now) / 1_000_000;
    let (icmp_type, icmp_code) = if protocol == ICMP { conn.tcp.icmp_kind() } else { (0, 0) };
    put(0, &conn.id.to_le_bytes());
    put(8, &[protocol, family]);
    put(10, &(conn.status.0 & SHOWN).to_le_bytes());
    put(12, &[state, icmp_type, icmp_code, slow]);
    for (tuple, addresses, ports) in [(&conn.original, 16, 80), (&conn.reply, 48, 84)] {
        put(addresses, &tuple.src.0.to_be_bytes());
        put(addresses + 16, &tuple.dst.0.to_be_bytes());
        put(ports, &tuple.src_port.to_le_bytes());
        put(ports + 2, &tuple.dst_port.to_le_bytes());
    }
    put(88, &u32::try_from(left).unwrap_or(u32::MAX).to_le_bytes());
    put(92, &conn.mark.to_le_bytes());
    for (direction, at) in [(Direction::Original, 0), (Direction::Reply, 16)] {
        let cell = |cells: &[u64; 2]| cells.get(direction.index()).copied().unwrap_or(0).to_le_bytes();
        put(96 + at, &cell(&totals.packets));
        put(104 + at, &cell(&totals.bytes));
        put(128 + at, &cell(&fasttracked.packets));
        put(136 + at, &cell(&fasttracked.bytes));
    }
    record
}
