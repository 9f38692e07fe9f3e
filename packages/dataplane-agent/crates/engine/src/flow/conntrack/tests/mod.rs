//! The table as the packet path uses it.

mod properties;
mod protocols;
mod scripts;
mod table;

use tollway_config::dataplane::{ConnectionState, Tracking};
use tollway_wire::tcp::{Options, flag};

use super::tcp::{Order, ProtocolState, Segment, SegmentOutcome, State};
use super::*;
use crate::ids::{ConnRef, EntryIndex};
use crate::packet::key::FlowKey;
use crate::packet::tuple::{Addr, Tuple};
use crate::time::Now;

const SECOND: u64 = 1_000_000_000;
const UDP: Transport = Transport::Udp(udp::Datagram);

fn tuple(protocol: u8, src: u32, src_port: u16) -> Tuple {
    Tuple {
        src: Addr::v4(0x0a00_0000 | src),
        dst: Addr::v4(0x0808_0808),
        src_port,
        dst_port: 443,
        protocol,
        icmp: 0,
        zone: 0,
    }
}

fn v6(src: u128) -> Tuple {
    Tuple {
        src: Addr(0x2001 << 112 | src),
        dst: Addr(0x2002 << 112),
        src_port: 1,
        dst_port: 2,
        protocol: 17,
        icmp: 0,
        zone: 0,
    }
}

fn table(max: u32) -> ConnectionTable {
    ConnectionTable::new(1, 2, max, 7)
}

struct Harness {
    table: ConnectionTable,
    timeouts: Timeouts,
    now: Now,
}

impl Harness {
    fn new(max: u32) -> Self {
        Self { table: table(max), timeouts: Timeouts::default(), now: Now(SECOND) }
    }
    fn track(&mut self, tuple: &Tuple, transport: &Transport) -> Tracked {
        self.table.track(tuple, transport, self.now, &self.timeouts)
    }
    /// Tracks and lets the packet leave.
    fn pass(&mut self, tuple: &Tuple, transport: &Transport) -> Tracked {
        let tracked = self.track(tuple, transport);
        if let Some(conn) = tracked.conn {
            self.table.confirm(conn).unwrap();
        }
        tracked
    }
    /// Tracks a packet as the fast path does; `None` when it does not.
    fn take(&mut self, index: EntryIndex, transport: &Transport) -> Option<Order> {
        let Self { table, timeouts, now } = self;
        match table.fast_update(index, transport, *now, timeouts) {
            true => Some(Order::InOrder),
            false => table.track_out_of_order_or_closing(index, transport, *now, timeouts),
        }
    }

    fn tcp(&mut self, tuple: &Tuple, segment: Segment) -> Tracked {
        self.pass(tuple, &Transport::Tcp(segment))
    }
    fn state(&self, tuple: &Tuple) -> State {
        let (conn, _) = self.table.find(tuple).unwrap();
        self.table.get(conn).unwrap().protocol_state.state()
    }
}

fn seconds_left(harness: &Harness, conn: ConnRef) -> u64 {
    harness.table.get(conn).unwrap().left(harness.now) / SECOND
}

fn segment(flags: u8, seq: u32, ack: u32, payload: u32) -> Segment {
    Segment { seq, ack, payload, window: 1000, flags, options: Options::default() }
}

fn scaled(mut segment: Segment) -> Segment {
    segment.options = Options::new(Some(7), true, None);
    segment
}

/// Client 100, server 5000; afterwards both have sent one byte of sequence space.
fn handshake(harness: &mut Harness, flow: &Tuple) {
    let back = flow.reversed();
    assert_eq!(harness.tcp(flow, scaled(segment(flag::SYN, 100, 0, 0))).state, ConnectionState::New);
    let synack = scaled(segment(flag::SYN | flag::ACK, 5000, 101, 0));
    assert_eq!(harness.tcp(&back, synack).state, ConnectionState::Established);
    assert_eq!(harness.state(flow), State::SynRecv);
    harness.tcp(flow, segment(flag::ACK, 101, 5001, 0));
    assert_eq!(harness.state(flow), State::Established);
}

/// Tracks a UDP packet that was looked up when `entry` was its own.
fn track_looked_up(harness: &mut Harness, tuple: &Tuple, entry: EntryIndex) -> Tracked {
    let key = FlowKey::of(tuple);
    let flow = Flow { tuple, key: &key, hash: harness.table.hash_of(&key, tuple), entry };
    harness.table.track_flow(&flow, &UDP, harness.now, &harness.timeouts)
}
