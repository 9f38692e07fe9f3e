//! The agent: brings everything up, runs the control loop, takes everything down.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tollway_config::dataplane::DataplaneConfig;
use tollway_config::digest::Digest;
use tollway_config::protocol::Event;
use tollway_engine::EngineLimits;
use tollway_engine::firewall::address_set::MAX_DYNAMIC;
use tollway_engine::flow::conntrack::Translated;
use tollway_engine::ip::fib::FibFull;
use tollway_engine::shared::Shared;
use tollway_engine::snapshot::{Basis, BuildError, Renewed, Snapshot};
use tollway_engine::time::Now;
use tollway_io::claim::{Claim, ClaimError};
use tollway_io::clock::{self, wall_ms};
use tollway_io::generator::Generator;
use tollway_io::link::LinkMonitor;
use tollway_io::memory::MemoryPort;
use tollway_io::pool::{Partition, partitions};
use tollway_io::private;
use tollway_io::thread::{cores, physical_memory, random_u64};
use tollway_io::wake::{self, Wake};

use crate::active::{self, Active, Found, Staged};
use crate::exchange::Command;
use crate::frames::Frames;
use crate::guard::GuardWatch;
use crate::journal::Journal;
use crate::learned_routes::{Learned, LearnedRoutes};
use crate::options::{AgentError, Options};
use crate::ports::{LinkChange, Ports};
use crate::report::Rates;
use crate::requests;
use crate::router_namespace::RouterNamespace;
use crate::server::Server;
use crate::traces::Traces;
use crate::workers::{WorkerLost, Workers};

/// How often the log is collected while somebody writes to it.
const LOG_INTERVAL: Duration = Duration::from_millis(100);
/// Entries of address lists that end per round of the loop at most, some 20 ms of work.
const EXPIRE_BUDGET: usize = 100_000;
/// Events kept for the next client while there is none.
const KEPT_EVENTS: usize = 1000;

/// Log line for a table of routes that cannot take another next hop.
const FULL: &str = "the routes have too many different next hops: at most 32,766 can be told apart";

/// Ends a running agent, from any thread or a signal handler's.
#[derive(Debug, Clone)]
pub struct Stop {
    wake: Arc<Wake>,
    wanted: Arc<AtomicBool>,
}

impl Stop {
    /// A handle for one run.
    ///
    /// # Errors
    /// When the process has no file descriptor left.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { wake: Arc::new(Wake::new()?), wanted: Arc::new(AtomicBool::new(false)) })
    }

    /// Asks the agent to release its ports and end.
    pub fn stop(&self) {
        self.wanted.store(true, Ordering::Release);
        self.wake.signal();
    }

    fn wanted(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }
}

/// A configuration that is ready to be activated.
#[derive(Debug)]
pub struct Prepared {
    /// What the client names it by.
    pub token: u64,
    /// Revision it was made from.
    pub base: u64,
    /// Revision it is.
    pub revision: u64,
    /// It.
    pub config: Arc<DataplaneConfig>,
    /// Its tables.
    pub tables: Renewed,
    /// It on disk: a disk that is full refuses it before anybody relies on it.
    pub staged: Staged,
    /// State of the ports that the tables were built for.
    pub facts_version: u64,
    /// When, ns.
    pub made_ns: u64,
}

/// Everything the control thread owns.
pub struct Agent {
    pub(crate) active: Active,
    /// Of the active configuration.
    pub(crate) digest: Digest,
    pub(crate) snapshot: Arc<Snapshot>,
    /// Configuration that `snapshot` was made from.
    built_from: Arc<DataplaneConfig>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) workers: Workers,
    pub(crate) ports: Ports,
    pub(crate) rates: Rates,
    pub(crate) router: Option<RouterNamespace>,
    /// Routes of other programs in the router's namespace.
    learned: Option<LearnedRoutes>,
    pub(crate) prepared: Vec<Prepared>,
    pub(crate) token: u64,
    pub(crate) traces: Traces,
    /// Counts changes of what [`Ports::facts`] says.
    pub(crate) facts_version: u64,
    pub(crate) started_ns: u64,
    /// The configuration asks for other port backends than before.
    reopen: bool,
    generation: u32,
    active_path: PathBuf,
    journal: Journal,
    events: Vec<Event>,
}

impl Agent {
    /// Builds the tables for a configuration, for the ports as they are now. Parts that did not change are
    /// those in use.
    ///
    /// # Errors
    /// Names the row that cannot work.
    pub fn build(&mut self, config: &DataplaneConfig) -> Result<Renewed, BuildError> {
        self.generation += 1;
        let basis = Basis { config: &self.built_from, snapshot: &self.snapshot };
        Snapshot::renew(basis, config, &self.ports.facts(), self.generation)
    }

    /// Puts tables to work on every worker.
    fn put_to_work(&mut self, config: &Arc<DataplaneConfig>, tables: Renewed) -> Result<(), WorkerLost> {
        let Renewed { snapshot, routes } = tables;
        let snapshot = Arc::new(snapshot);
        if let Err(FibFull) = self.shared.take_over_routes(&self.snapshot, &snapshot, routes.as_deref()) {
            self.log("route,error", FULL.to_owned());
        }
        self.shared.take_over_lists(&snapshot);
        self.workers.swap(&snapshot)?;
        self.snapshot = snapshot;
        self.built_from = Arc::clone(config);
        Ok(())
    }

    /// Puts a prepared configuration to work everywhere and on disk.
    ///
    /// # Errors
    /// When its file cannot be put in place or a worker is lost; the reason is for people.
    pub fn activate(&mut self, prepared: Prepared) -> Result<(), String> {
        let Prepared { config, tables, staged, revision, facts_version, .. } = prepared;
        let tables = if facts_version == self.facts_version {
            tables
        } else {
            self.build(&config).map_err(|error| error.to_string())?
        };
        self.put_to_work(&config, tables).map_err(|lost| lost.to_string())?;
        self.digest = Digest::of(&config, Some((&self.active.config, &self.digest)));
        self.active = Active { revision, config };
        self.reopen |= self.ports.ask(&self.active.config);
        staged.commit().map_err(|error| format!("{}: {error}", self.active_path.display()))?;
        self.offload_flows().map_err(|lost| lost.to_string())?;
        self.update_router_namespace().map_err(|lost| lost.to_string())
    }

    /// Writes a configuration beside the active one.
    ///
    /// # Errors
    /// When the disk does not take it; the reason is for people.
    pub fn stage(&self, token: u64, revision: u64, config: &DataplaneConfig) -> Result<Staged, String> {
        active::stage(&self.active_path, token, revision, config).map_err(|error| {
            let path = self.active_path.display();
            format!("the data plane cannot store the configuration in {path}: {error}")
        })
    }

    /// Lets the kernel forward flows of the ports as they are open now, if that is wanted.
    fn offload_flows(&mut self) -> Result<(), WorkerLost> {
        let wanted = self.active.config.settings.flow_offload;
        let Ports { states, offload, .. } = &mut self.ports;
        for message in offload.follow(wanted, states, &mut self.workers)? {
            self.log("system,info", message);
        }
        Ok(())
    }

    fn update_router_namespace(&mut self) -> Result<(), WorkerLost> {
        self.follow_in_router_namespace()?;
        self.learn_routes(LearnedRoutes::all_there_are)
    }

    /// Gives the router's namespace the interfaces, addresses and routes that the router has now.
    fn follow_in_router_namespace(&mut self) -> Result<(), WorkerLost> {
        let Some(router) = &mut self.router else { return Ok(()) };
        for problem in router.apply(&self.active.config, self.snapshot.fib(), &mut self.workers)? {
            self.log("system,error", format!("router namespace: {problem}"));
        }
        Ok(())
    }

    /// Follows the routes of other programs.
    fn learn_routes(
        &mut self,
        what: impl FnOnce(&mut LearnedRoutes) -> std::io::Result<Learned>,
    ) -> Result<(), WorkerLost> {
        let Some(learned) = self.learned.as_mut().map(what) else { return Ok(()) };
        let learned = match learned {
            Ok(learned) => learned,
            Err(error) => {
                self.log("route,error", format!("the routes of other programs cannot be read: {error}"));
                return Ok(());
            }
        };
        if self.change_routes(&learned).is_ok() {
            return Ok(());
        }
        // A table that has run out of numbers keeps those of next hops that are gone.
        let config = Arc::clone(&self.active.config);
        self.generation += 1;
        let workers = self.workers.len() as u32;
        let Ok(snapshot) = Snapshot::build(&config, &self.ports.facts(), workers, self.generation) else {
            return Ok(());
        };
        self.facts_version += 1;
        self.put_to_work(&config, Renewed { snapshot, routes: None })?;
        if let Err(FibFull) = self.change_routes(&learned) {
            self.log("route,error", FULL.to_owned());
        }
        Ok(())
    }

    fn change_routes(&self, learned: &Learned) -> Result<(), FibFull> {
        match learned {
            Learned::Changes(changes) => self.shared.change_routes(&self.snapshot, changes).map(drop),
            Learned::All(routes) => self.shared.replace_dynamic_routes(&self.snapshot, routes).map(drop),
        }
    }

    /// Tells the log of the router.
    pub fn log(&mut self, topics: &str, message: String) {
        self.events.push(Event::Log { time_ms: wall_ms(), topics: topics.to_owned(), message });
    }

    /// Takes changes of links into account: events, and tables for the ports as they are now.
    fn links_changed(&mut self, changes: Vec<LinkChange>) -> Result<(), WorkerLost> {
        if changes.is_empty() {
            return Ok(());
        }
        for change in changes {
            self.log("interface,info", change.message);
            let Some(state) = self.ports.states.get(usize::from(change.port)) else { continue };
            if let Some(running) = change.running {
                let port = state.name.clone();
                self.events.push(Event::Link { port, running, present: change.present });
            }
            self.events.push(Event::Port { port: state.info() });
        }
        self.facts_version += 1;
        let config = Arc::clone(&self.active.config);
        match self.build(&config) {
            Ok(tables) => self.put_to_work(&config, tables)?,
            Err(error) => {
                self.log("system,error", format!("the active configuration no longer works: {error}"));
            }
        }
        // Routes by an interface are of use while it has a carrier.
        self.follow_in_router_namespace()
    }
}

/// Whether [`run`] would claim the ports; touches nothing. To be asked while another agent with this data directory goes on,
/// which is to be ended by nobody who is refused then.
///
/// # Errors
/// As [`run`], of what can be known before.
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

/// Ends with what could not be given back, a line each.
fn given_back<'a>(errors: impl IntoIterator<Item = &'a ClaimError>) -> Result<(), AgentError> {
    let lines: Vec<_> = errors.into_iter().map(ClaimError::to_string).collect();
    if lines.is_empty() { Ok(()) } else { Err(AgentError::Failed(lines.join("\n"))) }
}

/// Runs an agent until `stop` says so; then ports are released and the router's namespace is removed.
///
/// # Errors
/// [`AgentError::Usage`] for options and ports that cannot be used, [`AgentError::Failed`] else. After a
/// failure at run time claimed ports stay silent, so that nothing leaks past the router until the next
/// start.
pub fn run(options: &Options, stop: &Stop) -> Result<(), AgentError> {
    options.check()?;
    let state = options.data_dir.join("agent");
    private::create_folder(&state).map_err(AgentError::failed("the data directory"))?;
    let server = Server::bind(&options.socket)
        .map_err(|error| AgentError::Usage(format!("{}: {error}", options.socket.display())))?;
    let cores = cores();
    let workers = options.workers.unwrap_or_else(|| cores.len().clamp(1, 2));

    let frames = Frames::new(workers, physical_memory());
    let mut sizes = vec![frames.partition(); workers];
    sizes.extend(options.memory.then_some(frames.generator()));
    let mut pools = partitions(&sizes).map_err(AgentError::failed("the frame pool"))?;
    let generator_pool = if options.memory { pools.pop() } else { None };

    let active_path = state.join("active.tollway");
    active::remove_staged(&active_path);
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
            // It may have been started for giving back alone, and nobody see its log.
            let released = claim.release();
            return given_back(claim.not_restored().iter().chain(&released));
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
        (Ok(()), Some(claim)) => given_back(&claim.release()),
        _ => result,
    }
}

/// What has been acquired before the first thread starts.
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
        // Before the first packet: rules of a time of day would go by another day.
        set_wall_clock(&shared);
        let workers =
            Workers::start(self.pools, self.limits, self.cores, &shared, &snapshot, &ports.counters)
                .map_err(AgentError::failed("the worker threads"))?;
        let router = match self.claim {
            Some(_) => Some(
                RouterNamespace::new(&self.options.netns_name)
                    .map_err(AgentError::failed("the router's network namespace"))?,
            ),
            None => None,
        };
        let learned = router.as_ref().map(|router| LearnedRoutes::new(router.namespace())).transpose();
        let learned = learned.map_err(AgentError::failed("the router's routes"))?;
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
            router,
            learned,
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
        agent.workers.stop();
        if let Some(router) = agent.router
            && result.is_ok()
        {
            router.remove();
        }
        result
    }
}

/// Says what a start goes on with when not all is well.
fn starts_with(found: Option<&Found>) -> String {
    match found {
        Some(Found { active, .. }) => {
            format!("starting with the configuration of revision {}", active.revision)
        }
        None => "starting with an empty configuration".to_owned(),
    }
}

fn lost(error: WorkerLost) -> AgentError {
    AgentError::Failed(error.to_string())
}

impl Agent {
    /// Forwards by the configuration from disk, which was active `ago` configurations ago; by the newest one before it
    /// that works, if it does not.
    fn resume(&mut self, mut ago: usize) -> Result<(), AgentError> {
        while self.active.revision != 0 {
            let config = Arc::clone(&self.active.config);
            let error = match self.build(&config) {
                Ok(tables) => {
                    self.put_to_work(&config, tables).map_err(lost)?;
                    break;
                }
                Err(error) => error,
            };
            let revision = self.active.revision;
            let mut problems =
                vec![format!("the configuration of revision {revision} cannot work ({error})")];
            let found = active::load(&self.active_path, ago + 1, &mut problems);
            problems.push(starts_with(found.as_ref()));
            for problem in problems {
                self.log("system,error", problem);
            }
            (self.active, ago) = found.map_or((Active::empty(), ago), |found| (found.active, found.ago));
        }
        self.digest = Digest::of(&self.active.config, None);
        Ok(())
    }

    /// Opens the ports and forwards by the configuration from disk.
    fn begin(
        &mut self,
        ago: usize,
        monitor: &LinkMonitor,
        claim: Option<&Claim>,
        memory_ends: Vec<Vec<MemoryPort>>,
    ) -> Result<(), AgentError> {
        self.resume(ago)?;
        let saved: Arc<[Translated]> = self.journal.connections().into();
        if !saved.is_empty() {
            let count = saved.len();
            let restored = self.workers.count(|_| Command::Restore(Arc::clone(&saved))).map_err(lost)?;
            self.log("system,info", format!("{restored} of {count} translated connections taken up again"));
        }
        Ports::connect_memory(memory_ends, &mut self.workers).map_err(lost)?;
        self.ports.ask(&self.active.config);
        if let Some(claim) = claim {
            let changes = self.ports.follow(monitor, claim, &mut self.workers).map_err(lost)?;
            self.links_changed(changes).map_err(lost)?;
            self.offload_flows().map_err(lost)?;
            for netdev in claim.missing() {
                // It may have come meanwhile.
                let port =
                    self.ports.states.iter().find(|port| port.netdev == *netdev && port.link.is_none());
                let Some(port) = port.map(|port| port.name.clone()) else { continue };
                let message = format!(
                    "{port} ({netdev}): there is no such network device now; it is used when it comes"
                );
                self.log("interface,warning", message);
            }
        }
        self.update_router_namespace().map_err(lost)
    }

    fn control_loop(
        &mut self,
        stop: &Stop,
        server: &mut Server,
        monitor: &LinkMonitor,
        claim: Option<&Claim>,
        mut guard: Option<GuardWatch<'_>>,
    ) -> Result<(), AgentError> {
        let mut set = Vec::new();
        while !stop.wanted() {
            set.clear();
            set.push(wake::readable(stop.wake.fd()));
            set.push(wake::readable(monitor.fd()));
            // Without a namespace the slot stays: poll(2) passes over a negative descriptor.
            set.push(wake::readable(self.learned.as_ref().map_or(-1, LearnedRoutes::fd)));
            set.push(wake::readable(guard.as_ref().map_or(-1, GuardWatch::fd)));
            set.extend(server.interests().map(|(fd, events)| libc::pollfd { fd, events, revents: 0 }));
            let now = clock::now().0;
            let until_sample = Duration::from_nanos(self.rates.due_ns().saturating_sub(now));
            wake::poll(&mut set, Some(until_sample.min(LOG_INTERVAL)));
            self.workers.check().map_err(lost)?;
            // First: until it is back the kernel may forward, too.
            if let Some(guard) = &mut guard
                && let Some((topics, message)) =
                    guard.follow(set.get(3).is_some_and(|entry| entry.revents != 0), clock::now().0)
            {
                self.log(topics, message);
            }
            if set.get(2).is_some_and(|entry| entry.revents != 0) {
                self.learn_routes(LearnedRoutes::changes).map_err(lost)?;
            }
            if set.iter().skip(4).any(|entry| entry.revents != 0) {
                server.serve(|request, greeted| requests::answer(self, request, greeted));
            }
            self.reopen |= self.ports.rings_stopped() || self.ports.retry(clock::now().0);
            if set.get(1).is_some_and(|entry| entry.revents != 0) || std::mem::take(&mut self.reopen) {
                monitor.clear();
                if let Some(claim) = claim {
                    let changes = self.ports.follow(monitor, claim, &mut self.workers).map_err(lost)?;
                    self.links_changed(changes).map_err(lost)?;
                    self.offload_flows().map_err(lost)?;
                }
            }
            self.sample(monitor);
            self.traces.collect(&mut self.workers, self.snapshot.mark_names()).map_err(lost)?;
            let journal = &mut self.journal;
            self.workers.take_changes(|change| journal.note(change));
            if let Err(error) = self.journal.flush() {
                self.log("system,error", format!("the connection journal cannot be written: {error}"));
            }
            if self.shared.log_pending() {
                let now = wall_ms();
                let lines = self.shared.take_log();
                self.events.extend(lines.into_iter().map(|line| Event::Log {
                    time_ms: now,
                    topics: line.topics.to_owned(),
                    message: line.message,
                }));
            }
            if server.has_listeners() {
                for event in self.events.drain(..) {
                    server.publish(event);
                }
            } else {
                server.keep_listening();
                let surplus = self.events.len().saturating_sub(KEPT_EVENTS);
                self.events.drain(..surplus);
            }
        }
        Ok(())
    }

    fn sample(&mut self, monitor: &LinkMonitor) {
        let now = set_wall_clock(&self.shared);
        self.shared.expire_list_entries(now, EXPIRE_BUDGET);
        self.shared.drop_spent();
        let now = now.0;
        if now >= self.rates.due_ns() {
            let refused = self.shared.lists.take_refused();
            if refused != 0 {
                let message = format!("{refused} addresses were not added to lists: {MAX_DYNAMIC} are there");
                self.log("firewall,warning", message);
            }
            // The kernel tells of links that change, not of their counters.
            if let Ok(links) = monitor.links() {
                self.ports.note_errors(&links);
            }
            self.rates.sample(now, &self.ports);
        }
    }
}

/// Tells the workers what time of day it is. Returns the monotonic time at which it is that.
fn set_wall_clock(shared: &Shared) -> Now {
    let now = clock::now();
    let utc_ns = i64::try_from(wall_ms()).unwrap_or(i64::MAX).saturating_mul(1_000_000);
    shared.set_wall_clock(now, utc_ns);
    now
}
