//! Connections as the control protocol shows them.

use tollway_config::protocol::CONNECTION_RECORD;

use super::connection::{Connection, Direction};
use super::table::Table;
use super::tcp::State;
use crate::slow::SlowReason;
use crate::time::Now;

/// IP protocol number of TCP.
const TCP: u8 = 6;

impl Table {
    /// Appends a packed record (`protocol::ReplyBody::Connections`) for each confirmed connection in `places`
    /// places of the table from `from` on; says from where to go on, `None` at the end of the table. A
    /// connection keeps its place, so what lives all the while is in exactly one of the parts.
    pub fn dump(&self, from: u32, places: u32, now: Now, out: &mut Vec<u8>) -> Option<u32> {
        let end = from.saturating_add(places);
        let (part, next) = match self.connections.get(from as usize..end as usize) {
            Some(part) => (part, Some(end)),
            None => (self.connections.get(from as usize..).unwrap_or_default(), None),
        };
        for (slot, conn) in (from..).zip(part).filter(|(_, conn)| Self::is_shown(conn)) {
            let slow = self.slow_reason(slot, conn).map_or(0, SlowReason::place);
            out.extend_from_slice(&record(conn, slow, now));
        }
        next
    }

    /// Why the packets of a connection are not all forwarded by the flow cache. A direction of which
    /// nothing has come is not asked.
    fn slow_reason(&self, slot: u32, conn: &Connection) -> Option<SlowReason> {
        if conn.original.protocol == TCP && conn.status.assured() && conn.tcp.state() != State::Established {
            return Some(SlowReason::TcpClosing);
        }
        [Direction::Original, Direction::Reply].into_iter().find_map(|direction| {
            if conn.packets.get(direction.index()) == Some(&0) {
                return None;
            }
            conn.slow_reason(direction).or_else(|| match self.installed(slot << 1 | direction as u32) {
                Some(action) if action.version != conn.version => Some(SlowReason::Stale),
                Some(action) => (action.resume != 0).then_some(SlowReason::Rule),
                None => Some(SlowReason::NewConnection),
            })
        })
    }
}

fn record(conn: &Connection, slow: u8, now: Now) -> [u8; CONNECTION_RECORD] {
    let mut record = [0u8; CONNECTION_RECORD];
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(field) = record.get_mut(at..at + bytes.len()) {
            field.copy_from_slice(bytes);
        }
    };
    let protocol = conn.original.protocol;
    let family = if conn.original.src.as_v4().is_some() { 4 } else { 6 };
    let state = if protocol == TCP { conn.tcp.state() as u8 } else { 255 };
    let left = conn.expires.0.saturating_sub(now.0) / 1_000_000;
    put(0, &conn.id.to_le_bytes());
    put(8, &[protocol, family]);
    put(10, &conn.status.0.to_le_bytes());
    put(12, &[state, conn.icmp_type, conn.icmp_code, slow]);
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
        put(96 + at, &cell(&conn.packets));
        put(104 + at, &cell(&conn.bytes));
        put(128 + at, &cell(&conn.fasttrack_packets));
        put(136 + at, &cell(&conn.fasttrack_bytes));
    }
    record
}
