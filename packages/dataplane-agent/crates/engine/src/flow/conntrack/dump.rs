//! Records of connections for the control protocol.

use tollway_config::protocol::record::{ConnectionRecord, PackedAddress, connection_flag};
use tollway_wire::ipv4::{ICMP, TCP};
use tollway_wire::ipv6::ICMPV6;

use super::connection::{Connection, Totals};
use super::entry::action_flag;
use super::status::Status;
use super::table::ConnectionTable;
use crate::ids::Direction;
use crate::packet::slow_reason::SlowReason;
use crate::time::Now;

/// Status bits that the record contains.
const SHOWN: u16 = 0xff;

impl ConnectionTable {
    /// Appends a packed record (`protocol::ReplyBody::Connections`) for each confirmed connection in `places` slots of
    /// the table from `from` on. Returns the slot from which to continue; `None` at the end of the table. A connection
    /// keeps its slot, so a connection that exists during the whole dump is in exactly one of its parts.
    pub fn dump(&self, from: u32, places: u32, now: Now, out: &mut Vec<u8>) -> Option<u32> {
        let (end, slots) = (from.saturating_add(places), self.hot.len() as u32);
        for slot in (from..end.min(slots)).filter(|slot| self.is_shown(*slot)) {
            if let Some(conn) = self.connection(slot) {
                self.record(slot, &conn, now).write(out);
            }
        }
        (end <= slots).then_some(end)
    }

    /// Why the packets of a connection are not all forwarded by the flow cache; `None` when they are. A direction
    /// without packets does not count; neither does one whose next packet will install a cached action, if the other
    /// direction is cached.
    fn slow_reason(&self, slot: u32, conn: &Connection, totals: &Totals) -> Option<SlowReason> {
        let mut reasons = [Direction::Original, Direction::Reply]
            .into_iter()
            .filter(|direction| totals.packets.get(direction.index()) != Some(&0))
            .map(|direction| {
                conn.slow_reason(direction).or_else(|| match self.installed(slot << 1 | direction as u32) {
                    Some(action) if action.version != conn.version => Some(SlowReason::Stale),
                    Some(action) => action.has(action_flag::RESUMES).then_some(SlowReason::Rule),
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

    fn record(&self, slot: u32, conn: &Connection, now: Now) -> ConnectionRecord {
        let (totals, fasttracked) = self.totals(slot);
        let slow = self.slow_reason(slot, conn, &totals).map_or(0, SlowReason::number);
        record(conn, &totals, &fasttracked, slow, now)
    }
}

fn record(
    conn: &Connection,
    totals: &Totals,
    fasttracked: &Totals,
    slow_reason: u8,
    now: Now,
) -> ConnectionRecord {
    let Connection { original, reply, .. } = conn;
    let protocol = original.protocol;
    let is_icmp = matches!(protocol, ICMP | ICMPV6);
    let (icmp_type, icmp_code) = if is_icmp { conn.protocol_state.icmp_kind() } else { (0, 0) };
    let cell = |cells: &[u64; 2], direction: Direction| cells.get(direction.index()).copied().unwrap_or(0);
    ConnectionRecord {
        id: conn.id,
        protocol,
        family: if original.src.as_v4().is_some() { 4 } else { 6 },
        flags: conn.status.0 & SHOWN,
        tcp_state: if protocol == TCP { conn.protocol_state.state() as u8 } else { 255 },
        icmp_type,
        icmp_code,
        slow_reason,
        src_address: PackedAddress(original.src.0),
        dst_address: PackedAddress(original.dst.0),
        reply_src_address: PackedAddress(reply.src.0),
        reply_dst_address: PackedAddress(reply.dst.0),
        src_port: original.src_port,
        dst_port: original.dst_port,
        reply_src_port: reply.src_port,
        reply_dst_port: reply.dst_port,
        timeout: u32::try_from(conn.left(now) / 1_000_000).unwrap_or(u32::MAX),
        mark: conn.mark,
        orig_packets: cell(&totals.packets, Direction::Original),
        orig_bytes: cell(&totals.bytes, Direction::Original),
        repl_packets: cell(&totals.packets, Direction::Reply),
        repl_bytes: cell(&totals.bytes, Direction::Reply),
        orig_fasttrack_packets: cell(&fasttracked.packets, Direction::Original),
        orig_fasttrack_bytes: cell(&fasttracked.bytes, Direction::Original),
        repl_fasttrack_packets: cell(&fasttracked.packets, Direction::Reply),
        repl_fasttrack_bytes: cell(&fasttracked.bytes, Direction::Reply),
        zone: original.zone,
    }
}

/// The bits of the record have the values of the bits of the connection.
const _: () = assert!(
    Status(connection_flag::SEEN_REPLY).seen_reply()
        && Status(connection_flag::ASSURED).assured()
        && Status(connection_flag::CONFIRMED).confirmed()
        && Status(connection_flag::FASTTRACK).fasttrack()
        && Status(connection_flag::SRCNAT).srcnat()
        && Status(connection_flag::DSTNAT).dstnat()
        && Status(connection_flag::HW_OFFLOAD).offloaded()
);
