//! Converts trace records to sentences.

use std::fmt::Write;
use std::net::IpAddr;

use tollway_config::dataplane::{ConnectionState, Mark};
use tollway_config::protocol::{TraceOutcome, TraceStep, TracedPacket};
use tollway_wire::ipv4;

use super::{Decision, Mangled, TraceRecord};
use crate::firewall::marks::MarkNames;
use crate::ids::{Direction, QueueDirection};
use crate::packet::names::{flag_names, state_name};
use crate::packet::slow_reason::SlowReason;
use crate::packet::tuple::Addr;
use crate::packet::verdict::{DropReason, Verdict};

/// Creates a packet from its first known part. `time_ms` is the wall clock of that part.
pub fn packet(record: &TraceRecord, number: u64, time_ms: u64, names: &MarkNames) -> TracedPacket {
    let mut packet = TracedPacket {
        number,
        time_ms,
        worker: record.worker,
        in_interface: record.in_interface,
        out_interface: 0,
        protocol: record.tuple.protocol,
        src_address: record.tuple.src.into(),
        dst_address: record.tuple.dst.into(),
        src_port: record.tuple.src_port,
        dst_port: record.tuple.dst_port,
        length: record.length,
        segments: record.segments,
        fast: false,
        slow_reason: None,
        steps: Vec::new(),
        outcome: TraceOutcome::Held,
        drop_reason: None,
    };
    join(&mut packet, record, names);
    packet
}

/// Appends a later part to a packet.
pub fn join(packet: &mut TracedPacket, record: &TraceRecord, names: &MarkNames) {
    let mut rows = record.rows.iter().copied();
    for step in &record.steps {
        packet.steps.push(TraceStep {
            stage: step.stage.to_owned(),
            decision: sentence(&step.decision, names),
            rows: rows.by_ref().take(step.rows.into()).collect(),
        });
    }
    packet.worker = record.worker;
    // If its queue drops the packet, this is the interface by which it was to leave.
    if record.out_interface != 0 {
        packet.out_interface = record.out_interface;
    }
    packet.fast |= record.fast;
    if let Some(reason) = record.slow {
        packet.slow_reason = Some(reason.name().to_owned());
    }
    (packet.outcome, packet.drop_reason) = match record.verdict {
        Verdict::Tx(_) => (TraceOutcome::Forwarded, None),
        Verdict::Local(_) => (TraceOutcome::Delivered, None),
        Verdict::Drop(DropReason::EchoAnswered) => (TraceOutcome::Answered, None),
        Verdict::Drop(reason) => (TraceOutcome::Dropped, Some(reason.name().to_owned())),
        Verdict::Continue
        | Verdict::DecidedElsewhere
        | Verdict::Forward
        | Verdict::Echo
        | Verdict::Handover(_)
        | Verdict::Held => (TraceOutcome::Held, None),
    };
}

/// Sentence about a decision, for people.
pub fn sentence(decision: &Decision, names: &MarkNames) -> String {
    match *decision {
        Decision::Dropped(DropReason::EchoAnswered) => "answered".to_owned(),
        Decision::Dropped(reason) => format!("dropped: {}", lower(reason.text())),
        Decision::Parsed { protocol, kind, code, ttl } => parsed(protocol, kind, code, ttl),
        Decision::WaitsForFragment => "waits for the first fragment of its datagram".to_owned(),
        Decision::FragmentKnown => "fragment of a datagram whose ports are known".to_owned(),
        Decision::FromCache { resumed, source, destination } => from_cache(resumed, source, destination),
        Decision::Cached { resumed: false } => "in the flow cache, which does what follows".to_owned(),
        Decision::Cached { resumed: true } => {
            "in the flow cache, up to a rule that has to be evaluated for every packet".to_owned()
        }
        Decision::ToStages(reason) => format!("not forwarded by the flow cache: {}", lower(reason.text())),
        Decision::ToWorker(worker) => format!("handed over to worker {worker}"),
        Decision::Tracked { state, direction } => tracked(state, direction),
        Decision::Translated { address, port } => format!("becomes {}", endpoint(address, port)),
        Decision::NotTranslated => "the rules leave it as it is".to_owned(),
        Decision::ToRouter => "for the router itself".to_owned(),
        Decision::ToAll => "for every station of a network".to_owned(),
        Decision::Routed { next_hop, direct: true } => {
            format!("straight to {}, a neighbour", IpAddr::from(next_hop))
        }
        Decision::Routed { next_hop, direct: false } => format!("by the next hop {}", IpAddr::from(next_hop)),
        Decision::TimeToLive(ttl) => format!("time to live becomes {ttl}"),
        Decision::Accepted => "accepted".to_owned(),
        Decision::Bypassed => "passed over: its connection is fasttracked".to_owned(),
        Decision::Mangled(mangled) => changed(&mangled, names),
        Decision::InQueue { tree, simple } => in_queue(tree, simple),
        Decision::Decided { tracked: false, .. } => "belongs to no connection".to_owned(),
        Decision::Decided { uncached: None, .. } => {
            "the flow cache forwards the packets that follow".to_owned()
        }
        Decision::Decided { uncached: Some(SlowReason::NewConnection), .. } => {
            "the first packet of its direction: the next one tells what the flow cache keeps".to_owned()
        }
        Decision::Decided { uncached: Some(reason), .. } => {
            format!("the flow cache does not keep it: {}", lower(reason.text()))
        }
        Decision::Delivered => "given to the services of the router".to_owned(),
        Decision::Echo => "echo request, answered as soon as its queue lets it pass".to_owned(),
        Decision::WaitsForNeighbor => "waits for the link-layer address of its next hop".to_owned(),
        Decision::Complete => "sent".to_owned(),
        Decision::ToQueue => "handed to its queue".to_owned(),
        Decision::Passed => "passed its queue at once".to_owned(),
        Decision::WaitsInQueue => "waits in its queue".to_owned(),
        Decision::WaitsForInterface => "waits in the queue of its interface".to_owned(),
        Decision::LeftQueue { after } => {
            let micros = after / 1000;
            format!("left its queue after {}.{:03} ms", micros / 1000, micros % 1000)
        }
    }
}

/// A sentence in the form in which it continues another one: without full stop, with a lower-case first letter.
fn lower(text: &str) -> String {
    let mut text = text.trim_end_matches('.').to_owned();
    // Acronyms stay in upper case.
    let second_is_small = text.chars().nth(1).is_some_and(|second| !second.is_uppercase());
    if second_is_small && let Some(first) = text.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    text
}

fn endpoint(address: Addr, port: u16) -> String {
    let address = IpAddr::from(address);
    match (port, address) {
        (0, _) => address.to_string(),
        (_, IpAddr::V4(_)) => format!("{address}:{port}"),
        (_, IpAddr::V6(_)) => format!("[{address}]:{port}"),
    }
}

fn parsed(protocol: u8, kind: u8, code: u8, ttl: u8) -> String {
    let what = match protocol {
        ipv4::TCP if kind == 0 => "TCP without flags".to_owned(),
        ipv4::TCP => format!("TCP {}", flag_names(kind)),
        ipv4::UDP => "UDP".to_owned(),
        ipv4::ICMP => format!("ICMP type {kind} code {code}"),
        other => format!("IP protocol {other}"),
    };
    format!("{what}, time to live {ttl}")
}

fn tracked(state: ConnectionState, direction: Direction) -> String {
    let name = state_name(state);
    match (state, direction) {
        (ConnectionState::Established, Direction::Reply) => format!("{name}, in reply direction"),
        (ConnectionState::Established | ConnectionState::New, Direction::Original) => {
            format!("{name}, in original direction")
        }
        _ => name.to_owned(),
    }
}

fn changed(mangled: &Mangled, names: &MarkNames) -> String {
    let mark = |what: &str, mark: Option<Mark>| match (mark?, mark.and_then(|mark| names.name(mark))) {
        (0, _) => Some(format!("no {what} any more")),
        (_, Some(name)) => Some(format!("{what} {name}")),
        (mark, None) => Some(format!("{what} {mark:#010x}")),
    };
    let parts = [
        mark("packet mark", mangled.packet_mark),
        mark("connection mark", mangled.connection_mark),
        mark("routing mark", mangled.routing_mark),
        mangled.dscp.map(|dscp| format!("DSCP {dscp}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        "the rules leave it as it is".to_owned()
    } else {
        format!("gets {}", parts.join(", "))
    }
}

fn in_queue(tree: bool, simple: Option<QueueDirection>) -> String {
    let direction =
        simple.map(|direction| if direction == QueueDirection::Upload { "upload" } else { "download" });
    match (tree, direction) {
        (false, Some(direction)) => format!("in a queue, as {direction}"),
        (true, Some(direction)) => format!("in a queue of the tree, and in a simple one as {direction}"),
        (true, None) => "in a queue of the tree".to_owned(),
        (false, None) => "in a queue".to_owned(),
    }
}

fn from_cache(resumed: bool, source: Option<(Addr, u16)>, destination: Option<(Addr, u16)>) -> String {
    let mut line = String::from("forwarded from the flow cache");
    // Writing to a String cannot fail.
    if let Some((address, port)) = source {
        let _ = write!(line, ", source becomes {}", endpoint(address, port));
    }
    if let Some((address, port)) = destination {
        let _ = write!(line, ", destination becomes {}", endpoint(address, port));
    }
    if resumed {
        line.push_str(", with rules that are evaluated for each packet");
    }
    line
}
