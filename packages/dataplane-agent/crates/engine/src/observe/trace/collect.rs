//! Collects the records of the workers: the running traces, and the packets that each has recorded.

use tollway_config::protocol::{TraceFilter, TraceOutcome, TracedPacket};

use super::{Filters, PacketFilter, TRACES, TraceBuffer, TraceRecord, text};
use crate::firewall::marks::MarkNames;
use crate::time::Now;

/// Maximum number of packets of a trace.
pub const MAX_PACKETS: u32 = 10_000;
/// A trace ends when it has not been read for this time, ns.
pub const LIFE: u64 = 30_000_000_000;
/// Maximum time to wait for further parts of a packet that waits or is between workers, ns.
const HELD_TIMEOUT_NS: u64 = 1_000_000_000;

#[derive(Debug)]
struct Trace {
    id: u64,
    filter: PacketFilter,
    wanted: usize,
    packets: Vec<TracedPacket>,
    lost: u64,
    done: bool,
    asked: Now,
}

/// A packet of which further parts may follow.
#[derive(Debug)]
struct Open {
    id: u32,
    traces: u8,
    since: Now,
    /// Number of the next part.
    next: u8,
    packet: TracedPacket,
}

/// Records of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceResult {
    /// Oldest first.
    pub packets: Vec<TracedPacket>,
    /// No further packets will be recorded.
    pub done: bool,
    /// Number of packets for which there was no room.
    pub lost: u64,
}

/// The traces of a router.
#[derive(Debug, Default)]
pub struct Collector {
    traces: [Option<Trace>; TRACES],
    open: Vec<Open>,
    /// Parts of packets whose first part has not been collected yet.
    early: Vec<TraceRecord>,
    last_id: u64,
}

impl Collector {
    /// Starts a trace of at most `packets` packets. Returns its id; `None` if the maximum number of traces is running.
    pub fn start(&mut self, filter: &TraceFilter, packets: u32, now: Now) -> Option<u64> {
        let place = self.traces.iter_mut().find(|place| place.is_none())?;
        self.last_id += 1;
        *place = Some(Trace {
            id: self.last_id,
            filter: PacketFilter::new(filter),
            wanted: packets.clamp(1, MAX_PACKETS) as usize,
            packets: Vec::new(),
            lost: 0,
            done: false,
            asked: now,
        });
        Some(self.last_id)
    }

    /// The filters that workers should use now.
    pub fn filters(&self) -> Filters {
        std::array::from_fn(|place| {
            let trace = self.traces.get(place)?.as_ref()?;
            (!trace.done).then_some(trace.filter)
        })
    }

    /// Whether workers have to record packets, or further parts of packets are expected.
    pub fn is_running(&self) -> bool {
        !self.open.is_empty() || self.filters().iter().any(Option::is_some)
    }

    /// Packets with greater numbers than `after`; `None` when there is no such trace.
    pub fn read(&mut self, trace: u64, after: u64, now: Now) -> Option<TraceResult> {
        let trace = self.traces.iter_mut().flatten().find(|known| known.id == trace)?;
        trace.asked = now;
        Some(TraceResult {
            packets: trace.packets.iter().filter(|packet| packet.number > after).cloned().collect(),
            done: trace.done,
            lost: trace.lost,
        })
    }

    /// Ends a trace; `false` when there is no such.
    pub fn stop(&mut self, trace: u64) -> bool {
        let mut places = self.traces.iter_mut();
        let place = places.find(|place| place.as_ref().is_some_and(|known| known.id == trace));
        place.map(Option::take).is_some()
    }

    /// Ends traces that have not been read for [`LIFE`].
    pub fn expire(&mut self, now: Now) {
        for place in &mut self.traces {
            if place.as_ref().is_some_and(|trace| now.0.saturating_sub(trace.asked.0) >= LIFE) {
                *place = None;
            }
        }
        if self.traces.iter().all(Option::is_none) {
            self.open.clear();
            self.early.clear();
        }
    }

    /// Adds the records of the workers since the last call. `wall_ms` is the wall clock at `now`, milliseconds since
    /// 1970.
    pub fn add<'a>(
        &mut self,
        buffers: impl IntoIterator<Item = &'a TraceBuffer>,
        names: &MarkNames,
        now: Now,
        wall_ms: u64,
    ) {
        let mut records = std::mem::take(&mut self.early);
        let waited = records.len();
        for buffer in buffers {
            records.extend(buffer.records().iter().cloned());
            for (place, lost) in self.traces.iter_mut().zip(buffer.lost()) {
                if let Some(trace) = place.as_mut().filter(|trace| !trace.done) {
                    trace.lost += lost;
                }
            }
        }
        let mut numbered: Vec<(usize, TraceRecord)> = records.into_iter().enumerate().collect();
        numbered.sort_by_key(|(_, record)| (record.part, record.at));
        for (place, record) in numbered {
            if record.begins() {
                let ago_ms = now.0.saturating_sub(record.at.0) / 1_000_000;
                let packet = text::packet(&record, 0, wall_ms.saturating_sub(ago_ms), names);
                self.open.push(Open {
                    id: record.id,
                    traces: record.traces,
                    since: record.at,
                    next: 1,
                    packet,
                });
            } else if let Some(open) =
                self.open.iter_mut().find(|open| open.id == record.id && open.next == record.part)
            {
                open.next = record.part.saturating_add(1);
                text::join(&mut open.packet, &record, names);
            } else if place >= waited {
                self.early.push(record);
            }
        }
        self.close_finished(now);
    }

    /// Numbers the packets that are complete, and adds them to their traces.
    fn close_finished(&mut self, now: Now) {
        let open = std::mem::take(&mut self.open);
        let is_finished = |open: &Open| {
            open.packet.outcome != TraceOutcome::Held || now.0.saturating_sub(open.since.0) >= HELD_TIMEOUT_NS
        };
        let (mut finished, open): (Vec<_>, Vec<_>) = open.into_iter().partition(is_finished);
        self.open = open;
        finished.sort_by_key(|open| open.since);
        for Open { traces, packet, .. } in finished {
            for (place, trace) in self.traces.iter_mut().enumerate() {
                let wanted = trace.as_mut().filter(|_| traces >> place & 1 != 0);
                let Some(trace) = wanted.filter(|trace| !trace.done) else { continue };
                if trace.filter.wants_only_drops() && packet.outcome != TraceOutcome::Dropped {
                    continue;
                }
                let number = trace.packets.len() as u64 + 1;
                trace.packets.push(TracedPacket { number, ..packet.clone() });
                trace.done = trace.packets.len() >= trace.wanted;
            }
        }
    }
}
