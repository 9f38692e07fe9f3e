//! Start and stop of an agent: pool, configuration, claim, workers, namespace.

use std::path::PathBuf;
use std::sync::Arc;

use tollway_config::dataplane::DataplaneConfig;
use tollway_config::digest::Digest;
use tollway_engine::EngineLimits;
use tollway_engine::shared::Shared;
use tollway_engine::snapshot::Snapshot;
use tollway_io::claim::{Claim, ClaimError};
use tollway_io::generator::Generator;
use tollway_io::link::LinkMonitor;
use tollway_io::pool::{Partition, partitions};
use tollway_io::thread::{cores, physical_memory, random_u64};
use tollway_io::{clock, owner_only_files};

use super::control::{set_wall_clock, starts_with};
use super::{Agent, Stop};
use crate::active::{self, Active, Found};
use crate::frame_budget::FrameBudget;
use crate::guard::GuardWatch;
use crate::interface_rates::Rates;
use crate::journal::Journal;
use crate::learned_tables::LearnedTables;
use crate::link_counters::LinkCounters;
use crate::options::{AgentError, Options};
use crate::ports::Ports;
use crate::router_namespaces::RouterNamespaces;
use crate::server::Server;
use crate::traces::Traces;
use crate::workers::Workers;

/// Whether [`run`] would claim the ports; changes nothing. To be called while another agent with this data directory
/// still runs, which must not be stopped for a start that would be refused.
///
/// # Errors
/// As [`run`], as far as errors can be detected before the start.
pub fn check(options: &Options) -> Result<(), AgentError> {
    options.check()?;
    let records = options.data_dir.join("agent").join("claims");
    Claim::check(&options.ports, &records, options.take_over).map_err(not_claimed)
}

fn not_claimed(error: ClaimError) -> AgentError {
    match error {
        ClaimError::Missing(_) | ClaimError::Refused { .. } => AgentError::Usage(error.to_string()),
        ClaimError::Incomplete { .. } | ClaimError::Command(_) | ClaimError::Io(_) => {
            AgentError::Failed(error.to_string())
        }
    }
}

/// Returns an error with a line for each netdev that could not be restored.
fn restored<'a>(errors: impl IntoIterator<Item = &'a ClaimError>) -> Result<(), AgentError> {
    let lines: Vec<_> = errors.into_iter().map(ClaimError::to_string).collect();
    if lines.is_empty() { Ok(()) } else { Err(AgentError::Failed(lines.join("\n"))) }
}

/// Runs an agent until `stop` is requested; then ports are released and the router's namespace is removed.
///
/// # Errors
/// [`AgentError::Usage`] for options and ports that cannot be used, [`AgentError::Failed`] else. After a
/// failure at run time claimed ports stay silent, so that nothing leaks past the router until the next
/// start.
pub fn run(options: &Options, stop: &Stop) -> Result<(), AgentError> {
    options.check()?;
    let state = options.data_dir.join("agent");
    owner_only_files::create_folder(&state).map_err(AgentError::failed("the data directory"))?;
    let server = Server::bind(&options.socket)
        .map_err(|error| AgentError::Usage(format!("{}: {error}", options.socket.display())))?;
    let cores = cores();
    let workers = options.workers.unwrap_or_else(|| cores.len().clamp(1, 2));

    let frames = FrameBudget::new(workers, physical_memory());
    let mut sizes = vec![frames.partition(); workers];
    sizes.extend(options.memory.then_some(frames.generator()));
    let mut pools = partitions(&sizes).map_err(AgentError::failed("the frame pool"))?;
    let generator_pool = if options.memory { pools.pop() } else { None };

    let active_path = state.join("active.tollway");
    active::remove_pending(&active_path);
    let mut problems = Vec::new();
    let found = active::load(&active_path, 0, &mut problems);
    if !problems.is_empty() {
        problems.push(starts_with(found.as_ref()));
    }

    let claim = if options.memory {
        None
    } else {
        let instance = &options.netns_name;
        let claim = Claim::take(&options.ports, instance, &state.join("claims"), options.take_over);
        Some(claim.map_err(not_claimed)?)
    };
    if let Some(claim) = &claim
        && !claim.not_restored().is_empty()
    {
        if options.ports.is_empty() {
            // An agent without ports was started only to give netdevs back, and its log is not read.
            let released = claim.release();
            return restored(claim.not_restored().iter().chain(&released));
        }
        problems.extend(claim.not_restored().iter().map(ClaimError::to_string));
    }
    for netdev in claim.iter().flat_map(Claim::unnoted) {
        problems.push(format!(
            "{netdev} was claimed, and what it was like before could not be noted on disk: give it back by ending the router"
        ));
    }
    let start = Start {
        options,
        cores: &cores,
        limits: frames.limits(),
        pools,
        generator_pool,
        active_path,
        claim: claim.as_ref(),
    };
    let result = start.run(stop, server, found, problems);
    match (&result, &claim) {
        (Ok(()), Some(claim)) => restored(&claim.release()),
        _ => result,
    }
}

/// Resources acquired before the first thread starts.
struct Start<'a> {
    options: &'a Options,
    cores: &'a [usize],
    limits: EngineLimits,
    pools: Vec<Partition>,
    generator_pool: Option<Partition>,
    active_path: PathBuf,
    claim: Option<&'a Claim>,
}

impl Start<'_> {
    fn run(
        self,
        stop: &Stop,
        mut server: Server,
        found: Option<Found>,
        problems: Vec<String>,
    ) -> Result<(), AgentError> {
        let count = self.pools.len();
        let mut generator = None;
        let mut memory_ends = Vec::new();
        let ports = match self.generator_pool {
            Some(pool) => {
                let (made, ends) =
                    Generator::new(pool, count).map_err(AgentError::failed("the traffic generator"))?;
                memory_ends = ends;
                generator = Some(made);
                Ports::memory(&Generator::PORT_MACS, count)
            }
            None => Ports::netdevs(&self.options.ports, count, self.pools.first().map(Partition::umem)),
        };
        let shared = Arc::new(Shared::new(count as u32, random_u64()));
        let empty = Snapshot::build(&DataplaneConfig::default(), &ports.facts(), count as u32, 0);
        let snapshot = Arc::new(empty.map_err(|error| AgentError::Failed(error.to_string()))?);
        // Before the first packet, as rules with a time of day need the wall clock.
        set_wall_clock(&shared);
        let workers =
            Workers::start(self.pools, self.limits, self.cores, &shared, &snapshot, &ports.counters)
                .map_err(AgentError::failed("the worker threads"))?;
        let router = match self.claim {
            Some(_) => Some(
                RouterNamespaces::new(&self.options.netns_name)
                    .map_err(AgentError::failed("the router's network namespace"))?,
            ),
            None => None,
        };
        let mut learned = LearnedTables::default();
        // Without these routes the router does not start; those of VRFs come with the configuration.
        let unread = router.as_ref().map(|router| learned.follow(router)).unwrap_or_default();
        if let Some(problem) = unread.into_iter().next() {
            return Err(AgentError::Failed(problem));
        }
        let (journal, problem) = Journal::open(&self.active_path.with_file_name("connections.journal"));
        let problem = problem.map(|error| format!("the connection journal cannot be written: {error}"));
        let (active, ago) = found.map_or((Active::empty(), 0), |found| (found.active, found.ago));
        let mut agent = Agent {
            active,
            digest: Digest::default(),
            snapshot,
            built_from: Arc::default(),
            shared,
            workers,
            ports,
            rates: Rates::default(),
            links: LinkCounters::default(),
            router,
            learned,
            autoconfiguration: Default::default(),
            prepared: Vec::new(),
            traces: Traces::default(),
            // Small enough for clients whose numbers are doubles or 32-bit integers.
            token: random_u64() >> 34,
            facts_version: 0,
            started_ns: clock::now().0,
            reopen: false,
            generation: 0,
            journal,
            active_path: self.active_path,
            events: Vec::new(),
        };
        for problem in problems.into_iter().chain(problem) {
            agent.log("system,error", problem);
        }
        let monitor = LinkMonitor::new().map_err(AgentError::failed("the link monitor"))?;
        let guard = self.claim.map(GuardWatch::new).transpose();
        let guard = guard.map_err(AgentError::failed("the watch over claimed ports"))?;
        let result = agent.begin(ago, &monitor, self.claim, memory_ends).and_then(|()| {
            let generator = generator.map(Generator::start).transpose();
            let generator = generator.map_err(AgentError::failed("the traffic generator"))?;
            let result = agent.control_loop(stop, &mut server, &monitor, self.claim, guard);
            drop(generator);
            result
        });
        // What is due then is sent in the last turn of a worker.
        agent.shared.end_advertising(clock::now());
        agent.workers.stop();
        if let Some(router) = agent.router
            && result.is_ok()
        {
            router.remove();
        }
        result
    }
}
