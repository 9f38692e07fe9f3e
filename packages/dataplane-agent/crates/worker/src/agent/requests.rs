//! Executes the requests of clients.

use std::sync::Arc;

use tollway_config::dataplane::RowId;
use tollway_config::protocol::{
    ErrorCode, ErrorReply, Message, PROTOCOL, PacketDescription, QUEUE_RECORD, Reply, ReplyBody, Request,
    RequestBody, TOKEN_BUCKET_RECORD, TracedPacket,
};
use tollway_engine::engine::dry_run::{DryRunError, dry_run};
use tollway_engine::observe::trace::TRACES;
use tollway_engine::observe::trace::collect::TraceResult;
use tollway_engine::snapshot::BuildError;
use tollway_io::clock;

use super::{Agent, Prepared};
use crate::address_lists;
use crate::commands::{Answer, Command, Dump, WorkerReport};
use crate::report::{self, StatsInput};
use crate::routes;
use crate::server::error;
use crate::workers::WorkerLost;

/// Lifetime of a token, ns.
const TOKEN_LIFE_NS: u64 = 30_000_000_000;
/// Most records of a worker in an answer about a queue's milliseconds.
const TOKEN_BUCKET_RECORDS: usize = 4096;
/// Configurations that may be prepared at a time.
const TOKENS: usize = 8;

/// An error reply without the id of the request.
struct Refusal(ErrorReply);

impl From<WorkerLost> for Refusal {
    fn from(lost: WorkerLost) -> Self {
        refusal(ErrorCode::Internal, lost.to_string())
    }
}

impl From<BuildError> for Refusal {
    fn from(error: BuildError) -> Self {
        Refusal(ErrorReply { id: 0, code: ErrorCode::BadConfig, message: error.message, row: error.row })
    }
}

fn refusal(code: ErrorCode, message: impl Into<String>) -> Refusal {
    Refusal(ErrorReply { id: 0, code, message: message.into(), row: None })
}

/// Answers one request. `greeted`: the client has said hello.
pub fn answer(agent: &mut Agent, request: Request, greeted: &mut bool) -> Message {
    let id = request.id;
    if !*greeted && !matches!(request.body, RequestBody::Hello { .. }) {
        return error(id, ErrorCode::BadRequest, "the first request must be hello");
    }
    match perform(agent, request.body) {
        Ok(body) => {
            *greeted = true;
            Message::Reply(Reply { id, body })
        }
        Err(Refusal(refused)) => Message::Error(ErrorReply { id, ..refused }),
    }
}

fn perform(agent: &mut Agent, body: RequestBody) -> Result<ReplyBody, Refusal> {
    match body {
        RequestBody::Hello { protocol } => hello(agent, protocol),
        RequestBody::Prepare { base, revision, config } => {
            if base != agent.active.revision {
                let message = format!("revision {} is active, not {base}", agent.active.revision);
                return Err(refusal(ErrorCode::StaleBase, message));
            }
            let config = Arc::new(*config);
            let tables = agent.build(&config)?;
            agent.token += 1;
            let token = agent.token;
            let pending = agent.write_pending(token, revision, &config).map_err(|reason| {
                agent.log("system,error,critical", format!("A change was refused: {reason}."));
                refusal(ErrorCode::Internal, reason)
            })?;
            let now = clock::now().0;
            agent.prepared.retain(|prepared| now.saturating_sub(prepared.made_ns) < TOKEN_LIFE_NS);
            if agent.prepared.len() >= TOKENS {
                agent.prepared.remove(0);
            }
            agent.prepared.push(Prepared {
                token,
                base,
                revision,
                config,
                tables,
                pending,
                facts_version: agent.facts_version,
                made_ns: now,
            });
            Ok(ReplyBody::Prepared { token })
        }
        RequestBody::Activate { token } => {
            let at = agent.prepared.iter().position(|prepared| prepared.token == token);
            let prepared = at.map(|at| agent.prepared.remove(at));
            let fresh = |prepared: &Prepared| clock::now().0.saturating_sub(prepared.made_ns) < TOKEN_LIFE_NS;
            let prepared = prepared.filter(fresh).ok_or_else(|| {
                refusal(ErrorCode::UnknownToken, "no configuration is prepared under this token")
            })?;
            if prepared.base != agent.active.revision {
                let message = format!("revision {} was activated meanwhile", agent.active.revision);
                return Err(refusal(ErrorCode::StaleBase, message));
            }
            agent.activate(prepared).map_err(|reason| refusal(ErrorCode::Internal, reason))?;
            let digest = agent.digest.text().to_owned();
            Ok(ReplyBody::Activated { revision: agent.active.revision, digest })
        }
        RequestBody::Discard { token } => {
            let before = agent.prepared.len();
            agent.prepared.retain(|prepared| prepared.token != token);
            Ok(ReplyBody::Done { count: (before - agent.prepared.len()) as u64 })
        }
        RequestBody::Stats => {
            let reports = reports(agent)?;
            let input = StatsInput {
                now_ns: clock::now().0,
                started_ns: agent.started_ns,
                revision: agent.active.revision,
                digest: agent.digest.text(),
                config: &agent.active.config,
                snapshot: &agent.snapshot,
                ports: &agent.ports,
                links: &agent.links,
                rates: &agent.rates,
            };
            Ok(ReplyBody::Stats(Box::new(report::stats(&input, &reports))))
        }
        RequestBody::Connections => {
            let records = agent.workers.dump(Dump::Connections)?;
            Ok(ReplyBody::Connections { now_ns: clock::now().0, records })
        }
        RequestBody::Queues => {
            let records = agent.workers.dump(Dump::Queues)?;
            Ok(ReplyBody::Queues { now_ns: clock::now().0, records })
        }
        RequestBody::TokenBucket { row, after } => token_bucket(agent, row, after),
        RequestBody::ResetQueueCounters { rows } => reset_queue_counters(agent, &rows),
        RequestBody::RemoveConnections { ids } => {
            let ids: Arc<[u64]> = ids.into();
            let count = agent.workers.count(|_| Command::RemoveConnections(Arc::clone(&ids)))?;
            Ok(ReplyBody::Done { count })
        }
        RequestBody::Neighbors => {
            Ok(ReplyBody::Neighbors { neighbors: agent.shared.neighbors(&agent.snapshot) })
        }
        RequestBody::RemoveNeighbor { interface, address } => {
            let removed = agent.shared.remove_neighbor(interface, address.into());
            Ok(ReplyBody::Done { count: removed.into() })
        }
        RequestBody::Ipv6Neighbors => {
            Ok(ReplyBody::Ipv6Neighbors { neighbors: agent.shared.neighbors6(&agent.snapshot) })
        }
        RequestBody::RemoveIpv6Neighbor { interface, address } => {
            let removed = agent.shared.remove_neighbor(interface, address.into());
            Ok(ReplyBody::Done { count: removed.into() })
        }
        RequestBody::Ipv6Addresses => Ok(ReplyBody::Ipv6Addresses {
            addresses: agent.shared.ipv6_addresses(&agent.snapshot, clock::now()),
        }),
        RequestBody::Routes => Ok(routes::all(&agent.snapshot)),
        RequestBody::Ipv6Routes => Ok(routes::all_ipv6(&agent.snapshot)),
        RequestBody::RouteTo { address } => Ok(routes::to(&agent.snapshot, address)),
        RequestBody::AddressListEntries => {
            Ok(address_lists::entries(&agent.shared.address_sets, clock::now()))
        }
        RequestBody::AddAddressListEntries { entries } => {
            let count = address_lists::add(&agent.shared, &entries, clock::now());
            count.map(|count| ReplyBody::Done { count }).map_err(|why| refusal(ErrorCode::BadRequest, why))
        }
        RequestBody::RemoveAddressListEntries { entries } => {
            let count = address_lists::remove(&agent.shared, &entries);
            count.map(|count| ReplyBody::Done { count }).map_err(|why| refusal(ErrorCode::BadRequest, why))
        }
        RequestBody::StartTrace { filter, packets } => {
            let traces = &mut agent.traces;
            let trace = traces.start(&filter, packets, &mut agent.workers, agent.snapshot.mark_names())?;
            let full =
                || refusal(ErrorCode::BadRequest, format!("{TRACES} traces run already: end one first"));
            Ok(ReplyBody::TraceStarted { trace: trace.ok_or_else(full)? })
        }
        RequestBody::Trace { trace, after } => {
            let noted = agent.traces.read(trace, after, &mut agent.workers, agent.snapshot.mark_names())?;
            let TraceResult { packets, done, lost } = noted.ok_or_else(unknown_trace)?;
            Ok(ReplyBody::Trace { packets, done, lost })
        }
        RequestBody::DryRun { packet } => {
            let packet = dry_run_packet(agent, &packet)?;
            Ok(ReplyBody::Trace { packets: vec![packet], done: true, lost: 0 })
        }
        RequestBody::StopTrace { trace } => {
            let stopped = agent.traces.stop(trace, &mut agent.workers, agent.snapshot.mark_names())?;
            Ok(ReplyBody::Done { count: stopped.into() })
        }
        RequestBody::ResetCounters { rows } => {
            let count = rows.len() as u64;
            let rows: Arc<[u32]> = rows.into();
            agent.workers.ask(|_| Command::ResetCounters(Arc::clone(&rows)))?;
            Ok(ReplyBody::Done { count })
        }
        RequestBody::ResetInterfaceCounters { rows } => {
            let mut count = 0;
            for index in 0..agent.ports.states.len() {
                let Some(port) = agent.ports.states.get(index) else { continue };
                let mut interfaces = agent.active.config.interfaces.iter();
                let of_port = interfaces.find(|interface| interface.kind.port() == Some(&port.name));
                let row = of_port.map(|interface| interface.row);
                if rows.is_empty() || row.is_some_and(|row| rows.contains(&row)) {
                    agent.ports.reset(index);
                    count += 1;
                }
            }
            let chosen = |row: &RowId| rows.is_empty() || rows.contains(row);
            for row in agent.links.rows().filter(chosen).collect::<Vec<_>>() {
                count += u64::from(agent.links.reset(row));
            }
            Ok(ReplyBody::Done { count })
        }
    }
}

/// Queues whose counters are reset at a time: packets wait for as long as that takes.
const RESET_TOGETHER: usize = 500;
/// Most records of a queue at one worker.
const RECORDS_PER_QUEUE: usize = 5;

fn reset_queue_counters(agent: &mut Agent, rows: &[RowId]) -> Result<ReplyBody, Refusal> {
    let mut records = Vec::new();
    let all = rows.is_empty().then_some(rows);
    for rows in rows.chunks(RESET_TOGETHER).chain(all) {
        let room = rows.len() * RECORDS_PER_QUEUE * QUEUE_RECORD;
        let rows: Arc<[RowId]> = rows.into();
        let reset = |_| Command::ResetQueueCounters(Arc::clone(&rows), Vec::with_capacity(room));
        for answer in agent.workers.ask(reset)? {
            if let Answer::Records(part, _) = answer {
                records.extend(part);
            }
        }
    }
    Ok(ReplyBody::Queues { now_ns: clock::now().0, records })
}

/// The milliseconds of a queue, of all workers together, oldest first.
fn token_bucket(agent: &mut Agent, row: RowId, after: u64) -> Result<ReplyBody, Refusal> {
    let room = TOKEN_BUCKET_RECORD * TOKEN_BUCKET_RECORDS;
    let answers = agent.workers.ask(|_| Command::TokenBucket(row, after, Vec::with_capacity(room)))?;
    let mut all = Vec::new();
    for answer in answers {
        if let Answer::Records(part, _) = answer {
            all.extend_from_slice(&part);
        }
    }
    let mut records: Vec<&[u8]> = all.chunks_exact(TOKEN_BUCKET_RECORD).collect();
    records.sort_by_key(|record| record.first_chunk().map_or(0, |number| u64::from_le_bytes(*number)));
    Ok(ReplyBody::TokenBucket { now_ns: clock::now().0, records: records.concat() })
}

/// Dry run of a packet. The worker that owns its flow is asked for its state.
fn dry_run_packet(agent: &mut Agent, packet: &PacketDescription) -> Result<TracedPacket, Refusal> {
    let Agent { snapshot, shared, workers, .. } = agent;
    let probe = |worker: u32, tuple| match workers.ask_one(worker as usize, Command::Probe(tuple))? {
        Answer::Probe(probe) => Ok(*probe),
        _ => Err(WorkerLost(worker as usize)),
    };
    dry_run(packet, snapshot, shared, clock::now(), clock::wall_ms(), probe).map_err(|error| match error {
        DryRunError::Description(message) => refusal(ErrorCode::BadRequest, message),
        DryRunError::Crowded => refusal(
            ErrorCode::BadRequest,
            "the translation finds its first ports taken, as most are; whether one is left for this packet cannot be determined"
                .to_owned(),
        ),
        DryRunError::Probe(lost) => lost.into(),
    })
}

fn unknown_trace() -> Refusal {
    refusal(ErrorCode::BadRequest, "no trace of this number runs; one that nobody asks about for 30 s ends")
}

fn hello(agent: &Agent, protocol: u32) -> Result<ReplyBody, Refusal> {
    if protocol != PROTOCOL {
        let message = format!("protocol {protocol} is not spoken here, {PROTOCOL} is");
        return Err(refusal(ErrorCode::BadRequest, message));
    }
    Ok(ReplyBody::Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        revision: agent.active.revision,
        digest: agent.digest.text().to_owned(),
        ports: agent.ports.info(),
        router_netns: agent.router.as_ref().map(|router| router.main().name().to_owned()).unwrap_or_default(),
    })
}

fn reports(agent: &mut Agent) -> Result<Vec<WorkerReport>, WorkerLost> {
    let answers = agent.workers.ask(|_| Command::Stats)?;
    let report = |answer| if let Answer::Stats(report) = answer { Some(*report) } else { None };
    Ok(answers.into_iter().filter_map(report).collect())
}
