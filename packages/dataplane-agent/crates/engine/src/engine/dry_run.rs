//! Dry run: what the router would do with a packet now.
//!
//! The described packet is built and passed through the real stages of an engine that is created for it. That engine
//! uses the tables of the present configuration and copies of the neighbours and of the packet's connection; it reads
//! the directory of flows, and changes nothing that others see. So a dry run and production cannot diverge, and nothing
//! has to be undone. State that only the owner of the flow has is requested from it: the packet's connection, and
//! connections that hold tuples which a translation would use.

use std::sync::Arc;

use tollway_config::dataplane::RowId;
use tollway_config::protocol::{PacketDescription, TraceFilter, TracedPacket};
use tollway_wire::{ethernet, icmp, icmpv6, ipv4, ipv6, tcp, udp};

use crate::engine::{Engine, EngineLimits};
use crate::flow::conntrack::table::Copied;
use crate::ids::PortId;
use crate::ip::fib::Lookup;
use crate::observe::profiler::NoCycles;
use crate::observe::trace::{Decision, PacketFilter, TraceBuffer, TraceRecord, text};
use crate::packet::family::Family;
use crate::packet::frame::{Frame, HeapFrame, HeapFrames, VnetState};
use crate::packet::slow_reason::SlowReason;
use crate::packet::tuple::{Addr, Tuple, icmp_kind, icmpv6_kind, steer};
use crate::pipeline::Stage;
use crate::pipeline::batch::{Batch, Outcome};
use crate::pipeline::handover::{Handover, HandoverContents, HandoverPurpose};
use crate::shared::Shared;
use crate::snapshot::Snapshot;
use crate::time::Now;

/// Maximum number of connections that are requested because they hold a tuple that a translation would use.
const CLASHES: usize = 256;
/// Bounds of the engine.
const LIMITS: EngineLimits =
    EngineLimits { max_connections: CLASHES as u32 + 2, queue_frames: 4, queue_bytes: 1 << 20 };
/// Number of packets to record: the described one, and answers to it.
const ROOM: usize = 8;
/// Window of a described TCP segment, bytes.
const WINDOW: u16 = 65_535;
/// Link-layer address of the station that a described packet comes from; locally administered.
const STATION: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// State of a flow at its owner.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The connection.
    connection: Option<Copied>,
    /// State of the worker's random numbers.
    random: u64,
    /// The connection table has no room for another connection.
    full: bool,
}

/// Why a dry run has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DryRunError<E> {
    /// The description is not a possible packet, for this reason.
    Description(String),
    /// Connections hold all ports that the translation has tried, but not all ports were tried.
    Crowded,
    /// A worker could not be asked.
    Probe(E),
}

impl<F: Frame> Engine<F> {
    /// The state of a flow at this worker.
    pub fn probe(&self, tuple: &Tuple) -> Probe {
        let (table, actions, random) = self.for_probe();
        Probe { connection: table.copy_of(tuple, actions), random, full: table.is_full() }
    }
}

/// Returns what the router would do with a packet now. `probe` asks a worker ([`Engine::probe`]); `wall_ms` is the wall
/// clock, milliseconds since 1970.
///
/// # Errors
/// The description has an interface without a port, an address of the wrong family, or a length that is too short for
/// the headers; so many ports are in use that it is not known which one a translation would find; or `probe` fails.
pub fn dry_run<E>(
    description: &PacketDescription,
    snapshot: &Arc<Snapshot>,
    shared: &Shared,
    now: Now,
    wall_ms: u64,
    mut probe: impl FnMut(u32, Tuple) -> Result<Probe, E>,
) -> Result<TracedPacket, DryRunError<E>> {
    let described = Described::new(description, snapshot).map_err(DryRunError::Description)?;
    let workers = snapshot.workers();
    let tuple = described.tuple;
    let owner = shared.directory.owner(&tuple).unwrap_or_else(|| steer(&tuple, workers));
    let mut known = vec![(owner, probe(owner, tuple).map_err(DryRunError::Probe)?)];
    let run = |known: &[(u32, Probe)], cached| {
        DryRun { described: &described, snapshot, shared, owner, now, known }.run(cached)
    };
    let by_cache = run(&known, true).records.into_iter().next();
    let mut wanted = None;
    let mut way = run(&known, false);
    while known.len() < CLASHES {
        let unknown = |worker: &u32| known.iter().all(|(known, _)| known != worker);
        if let Some(worker) = way.workers.iter().copied().find(unknown) {
            // The flow moves to that worker.
            known.push((worker, probe(worker, tuple).map_err(DryRunError::Probe)?));
        } else if let Some(tuple) = way.reply.filter(|reply| Some(*reply) != wanted) {
            // Another connection may hold the tuple that the translation has chosen.
            let home = steer(&tuple, workers);
            let found = probe(home, tuple).map_err(DryRunError::Probe)?;
            if found.connection.is_none() {
                break;
            }
            known.push((home, found));
            wanted = Some(tuple);
        } else {
            break;
        }
        way = run(&known, false);
    }
    if known.len() >= CLASHES {
        return Err(DryRunError::Crowded);
    }
    let mut records = way.records.into_iter();
    let Some(mut record) = records.next() else {
        return Err(DryRunError::Description("the packet cannot be followed".to_owned()));
    };
    if let Some(by_cache) = by_cache {
        adopt_cache(&mut record, &by_cache, known.first().and_then(|(_, probe)| probe.connection.as_ref()));
    }
    let mut packet = text::packet(&record, 1, wall_ms, snapshot.mark_names());
    packet.worker = owner;
    for record in records {
        let slow = packet.slow_reason.take();
        text::join(&mut packet, &record, snapshot.mark_names());
        packet.slow_reason = slow.or(packet.slow_reason);
    }
    Ok(packet)
}

/// Adds the result of the flow cache to a record of all stages.
fn adopt_cache(record: &mut TraceRecord, by_cache: &TraceRecord, connection: Option<&Copied>) {
    let resumes = by_cache.fast
        && connection.is_some_and(|copied| copied.resumes(copied.direction_of(&by_cache.tuple)));
    // A rule that is evaluated for every packet may drop the packet.
    (record.fast, record.slow) = (by_cache.fast && !record.is_dropped(), by_cache.slow);
    if resumes {
        record.slow = Some(SlowReason::Rule);
    }
    if let Some(step) = record.steps.iter_mut().find(|step| step.stage == Stage::FlowCache.name()) {
        match record.slow {
            _ if by_cache.fast => step.decision = Decision::Cached { resumed: resumes },
            Some(reason) => step.decision = Decision::ToStages(reason),
            None => {}
        }
    }
}

/// A described packet, without the state of its connection.
struct Described<'a> {
    description: &'a PacketDescription,
    tuple: Tuple,
    family: Family,
    /// Ingress port; `None` for a packet of the router.
    port: Option<PortId>,
    /// Link-layer destination; zero for a packet of the router.
    link_dst: [u8; 6],
}

impl<'a> Described<'a> {
    fn new(description: &'a PacketDescription, snapshot: &Snapshot) -> Result<Self, String> {
        let family = Family::of(description.src_address);
        if Family::of(description.dst_address) != family {
            return Err(format!("dst-address: expected an {} address, as src-address is", family.name()));
        }
        let (src, dst) = (Addr::from(description.src_address), Addr::from(description.dst_address));
        let (port, link_dst) = match description.in_interface {
            None => (None, [0; 6]),
            Some(row) => {
                let interface = snapshot.interface_of(row);
                let port = interface.and_then(|interface| interface.port.zip(Some(interface)));
                let (port, interface) =
                    port.ok_or("in-interface: expected an interface whose port is there")?;
                (Some(port), link_destination(snapshot, row, interface.mac, dst))
            }
        };
        let headers = ip_header(family) + header_len(description.protocol);
        if usize::from(description.length) < headers {
            return Err(format!("length: expected at least {headers} bytes for the headers"));
        }
        let kind = match (description.protocol, family) {
            (ipv4::ICMP, Family::V4) => icmp_kind(description.icmp_type),
            (ipv6::ICMPV6, Family::V6) => icmpv6_kind(description.icmp_type),
            _ => None,
        };
        let (src_port, dst_port) = match description.protocol {
            ipv4::TCP | ipv4::UDP => (description.src_port, description.dst_port),
            _ if kind.is_some() => (description.src_port, description.src_port),
            _ => (0, 0),
        };
        let (protocol, icmp) = (description.protocol, kind.unwrap_or(0));
        let ingress = description.in_interface.and_then(|row| snapshot.interface_of(row));
        let zone = ingress.map_or(0, |interface| interface.zone);
        let tuple = Tuple { src, dst, src_port, dst_port, protocol, icmp, zone };
        Ok(Self { description, tuple, family, port, link_dst })
    }

    /// The frame. `place` is the next sequence number and acknowledgement number of its TCP connection.
    fn frame(&self, place: Option<(u32, u32)>) -> Vec<u8> {
        let description = self.description;
        let mut bytes = vec![0; ethernet::HEADER + usize::from(description.length)];
        let ethertype = if self.family == Family::V6 { ethernet::IPV6 } else { ethernet::IPV4 };
        ethernet::Repr { dst_addr: self.link_dst, src_addr: STATION, ethertype }.emit(&mut bytes);
        let ip = bytes.get_mut(ethernet::HEADER..).unwrap_or_default();
        let header = ip_header(self.family);
        let payload_len = description.length.saturating_sub(header as u16);
        match (self.tuple.src.as_v4(), self.tuple.dst.as_v4()) {
            (Some(src_addr), Some(dst_addr)) => ipv4::Repr {
                tos: 0,
                ident: 0,
                dont_fragment: false,
                ttl: description.ttl,
                protocol: description.protocol,
                src_addr,
                dst_addr,
                payload_len,
            }
            .emit(ip),
            _ => ipv6::Repr {
                traffic_class: 0,
                next_header: description.protocol,
                hop_limit: description.ttl,
                src_addr: self.tuple.src.0,
                dst_addr: self.tuple.dst.0,
                payload_len,
            }
            .emit(ip),
        }
        self.write_transport(ip.get_mut(header..).unwrap_or_default(), place);
        bytes
    }

    fn write_transport(&self, l4: &mut [u8], place: Option<(u32, u32)>) {
        let description = self.description;
        let Tuple { src, dst, src_port, dst_port, .. } = self.tuple;
        let v4 = src.as_v4().zip(dst.as_v4());
        match (description.protocol, v4) {
            (ipv4::TCP, _) => {
                let flags = description.tcp_flags;
                let (next, ack) = place.unwrap_or((1, 1));
                // A SYN of a known connection is a retransmission.
                let again = place.is_some() && flags & tcp::flag::SYN != 0;
                let seq = next.wrapping_sub(u32::from(again));
                let ack = if flags & tcp::flag::ACK == 0 { 0 } else { ack };
                let header = tcp::Repr { src_port, dst_port, seq, ack, flags, window: WINDOW };
                match v4 {
                    Some((src, dst)) => header.emit(l4, src, dst),
                    None => header.emit_over_ipv6(l4, src.0, dst.0),
                }
            }
            (ipv4::UDP, Some((src, dst))) => udp::Repr { src_port, dst_port }.emit(l4, src, dst),
            (ipv4::UDP, None) => udp::Repr { src_port, dst_port }.emit_over_ipv6(l4, src.0, dst.0),
            (ipv4::ICMP, Some(_)) => {
                let [high, low] = src_port.to_be_bytes();
                let (icmp_type, code) = (description.icmp_type, description.icmp_code);
                icmp::Repr { icmp_type, code, rest: [high, low, 0, 1] }.emit(l4);
            }
            (ipv6::ICMPV6, None) => {
                let [high, low] = src_port.to_be_bytes();
                let (icmp_type, code) = (description.icmp_type, description.icmp_code);
                icmpv6::Repr { icmp_type, code, rest: [high, low, 0, 1] }.emit(l4, src.0, dst.0);
            }
            _ => {}
        }
    }
}

/// Length of an IP header without options, bytes.
const fn ip_header(family: Family) -> usize {
    match family {
        Family::V4 => ipv4::HEADER,
        Family::V6 => ipv6::HEADER,
    }
}

/// Link-layer destination of a packet that a station on the network of an interface sends: the broadcast or a multicast
/// address (RFC 1122 §2.4, RFC 1112 §6.4, RFC 2464 §7), or that of the router.
fn link_destination(snapshot: &Snapshot, row: RowId, router: [u8; 6], dst: Addr) -> [u8; 6] {
    let Some(dst) = dst.as_v4() else { return ethernet::group_of_ipv6(dst.0).unwrap_or(router) };
    let is_in_row = |index| snapshot.interface(index).is_some_and(|interface| interface.row == row);
    let zone = snapshot.interface_of(row).map_or(0, |interface| interface.zone);
    if dst == u32::MAX
        || matches!(snapshot.lookup(zone, dst), Lookup::Broadcast { interface } if is_in_row(interface))
    {
        return [0xff; 6];
    }
    let [first, second, third, fourth] = dst.to_be_bytes();
    if first >> 4 == 0xe { [1, 0, 0x5e, second & 0x7f, third, fourth] } else { router }
}

/// Shortest transport header of a protocol, bytes.
const fn header_len(protocol: u8) -> usize {
    match protocol {
        ipv4::TCP => tcp::HEADER,
        ipv4::UDP => udp::HEADER,
        ipv4::ICMP => icmp::HEADER,
        ipv6::ICMPV6 => icmpv6::HEADER,
        _ => 0,
    }
}

/// A run of a described packet.
struct DryRun<'a> {
    described: &'a Described<'a>,
    snapshot: &'a Arc<Snapshot>,
    shared: &'a Shared,
    owner: u32,
    now: Now,
    known: &'a [(u32, Probe)],
}

/// Result of the packet.
struct DryRunPath {
    /// One record for each worker, in order.
    records: Vec<TraceRecord>,
    /// The workers.
    workers: Vec<u32>,
    /// The reply tuple of the connection that the packet has created, unless the connection existed before.
    reply: Option<Tuple>,
}

impl DryRun<'_> {
    /// Passes the packet through the stages. With `cached`, the flow cache contains the entries of the owner.
    fn run(&self, cached: bool) -> DryRunPath {
        let shared = Arc::new(self.shared.fork());
        let own = self.known.first().and_then(|(_, probe)| probe.connection.as_ref());
        let place = own.and_then(|copied| copied.expected(&self.described.tuple));
        let mut engine = self.engine(&shared, self.owner, cached);
        let mut batch = self.received(place);
        let mut records: Vec<TraceRecord> = self.pass(&mut engine, &mut batch, true).into_iter().collect();
        if cached && !self.snapshot.tracking() {
            // Without tracking, the fast path needs the cached next hop, which the first packet has filled in.
            batch = self.received(place);
            records = self.pass(&mut engine, &mut batch, true).into_iter().collect();
        }
        let mut workers = vec![self.owner];
        // The flow may move to another worker.
        while !cached
            && records.len() < CLASHES
            && let Some((to, packet)) = handed_over(&mut batch)
        {
            workers.push(to);
            engine = self.engine(&shared, to, false);
            batch.push_handover(packet);
            records.extend(self.pass(&mut engine, &mut batch, false));
        }
        // No other connection can have the tuples of the connection that the packet belongs to, unless a new one has
        // replaced it.
        let made = engine.reply_of(&self.described.tuple);
        let made = made.filter(|reply| own.is_none_or(|copied| !copied.holds(reply)));
        DryRunPath { records, workers, reply: made }
    }

    /// A worker's engine, with copies of its connections.
    fn engine(&self, shared: &Arc<Shared>, worker: u32, cached: bool) -> Engine<HeapFrame> {
        let workers = self.snapshot.workers();
        let mut engine =
            Engine::<HeapFrame>::new(worker, workers, Arc::clone(shared), Arc::clone(self.snapshot), LIMITS);
        let known = || self.known.iter().filter(|(known, _)| *known == worker).map(|(_, probe)| probe);
        let first = known().next();
        engine.become_dry_run(first.map_or(0, |probe| probe.random), |table, actions| {
            for copied in known().filter_map(|probe| probe.connection.as_ref()) {
                table.paste(copied, cached, actions);
            }
            if first.is_some_and(|probe| probe.full) {
                table.close();
            }
        });
        engine
    }

    /// A batch with the packet as received.
    fn received(&self, place: Option<(u32, u32)>) -> Batch<HeapFrame> {
        let mut batch = Batch::new();
        let frame = HeapFrame(self.described.frame(place));
        match self.described.port {
            Some(port) => batch.push_rx(frame, port, VnetState::default()),
            // The description has no TAP.
            None => batch.push_local(frame, 0, VnetState::default()),
        }
        batch.mark_steered();
        batch
    }

    fn pass(
        &self,
        engine: &mut Engine<HeapFrame>,
        batch: &mut Batch<HeapFrame>,
        begins: bool,
    ) -> Option<TraceRecord> {
        let everything = [Some(PacketFilter::new(&TraceFilter::default())), None, None, None];
        engine.trace(&everything, Some(TraceBuffer::with_room(ROOM)));
        engine.process(batch, &mut HeapFrames, &NoCycles, self.now);
        let buffer = engine.trace(&[None; crate::observe::trace::TRACES], None)?;
        // Answers of the router begin in the same buffer.
        let noted = buffer.records().iter().filter(|record| record.begins() == begins);
        noted.min_by_key(|record| record.id).cloned()
    }
}

/// The packet whose flow moves, and the worker to which it moves.
fn handed_over(batch: &mut Batch<HeapFrame>) -> Option<(u32, Handover<HeapFrame>)> {
    let done: Vec<_> = batch.drain().collect();
    done.into_iter().find_map(|done| match done.outcome {
        Outcome::Handover { worker, packet } if matches!(packet.purpose, HandoverPurpose::NewFlow(_)) => {
            let contents = HandoverContents::Parsed(packet);
            Some((worker, Handover { frame: done.frame, vnet: done.vnet, contents }))
        }
        Outcome::Handover { .. } | Outcome::Tx { .. } | Outcome::Local { .. } => None,
    })
}
