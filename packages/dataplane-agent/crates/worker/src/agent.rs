//! The agent: starts everything, runs the control loop, stops everything.

mod autoconfiguration;
mod control;
mod learning;
mod requests;
mod start;
mod stop;

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tollway_config::dataplane::DataplaneConfig;
use tollway_config::digest::Digest;
use tollway_config::protocol::Event;
use tollway_engine::ip::fib::FibFull;
use tollway_engine::shared::Shared;
use tollway_engine::snapshot::{Basis, BuildError, ChangedRoutes, Rebuilt, Snapshot};
use tollway_io::clock::wall_ms;

use crate::active::{self, Active, PendingFile};
use crate::interface_rates::Rates;
use crate::journal::Journal;
use crate::learned_tables::LearnedTables;
use crate::link_counters::LinkCounters;
use crate::ports::{LinkChange, Ports};
use crate::router_namespaces::RouterNamespaces;
use crate::traces::Traces;
use crate::workers::{WorkerLost, Workers};

pub use start::{check, run};
pub use stop::Stop;

/// Log line for a routing table that has no room for another next hop.
const FULL: &str = "the routes have too many different next hops: at most 32,766 can be distinguished";

/// A configuration that is ready to be activated.
#[derive(Debug)]
pub struct Prepared {
    /// Token of the client.
    pub token: u64,
    /// Revision from which it was derived.
    pub base: u64,
    /// Revision that it gets.
    pub revision: u64,
    /// The configuration.
    pub config: Arc<DataplaneConfig>,
    /// Tables of the configuration.
    pub tables: Rebuilt,
    /// The pending file: if the disk is full, the configuration is refused before it is activated.
    pub pending: PendingFile,
    /// [`Agent::facts_version`] that the tables were built for.
    pub facts_version: u64,
    /// When it was prepared, monotonic clock, ns.
    pub made_ns: u64,
}

/// Everything the control thread owns.
pub struct Agent {
    /// The configuration in force and its revision.
    pub(crate) active: Active,
    /// Digest of the active configuration.
    pub(crate) digest: Digest,
    /// The compiled configuration in force.
    pub(crate) snapshot: Arc<Snapshot>,
    /// Configuration that `snapshot` was made from, with the addresses that the router has made itself.
    built_from: Arc<DataplaneConfig>,
    /// What all workers share.
    pub(crate) shared: Arc<Shared>,
    /// The worker threads.
    pub(crate) workers: Workers,
    /// The claimed interfaces.
    pub(crate) ports: Ports,
    /// Rates of the interfaces.
    pub(crate) rates: Rates,
    /// Counters of VLANs.
    pub(crate) links: LinkCounters,
    /// The network namespaces of the router's own services; `None` without them.
    pub(crate) router: Option<RouterNamespaces>,
    /// Routes of other programs in these namespaces.
    learned: LearnedTables,
    /// Addresses and routes by router advertisements.
    autoconfiguration: autoconfiguration::Autoconfiguration,
    /// Configurations that were prepared and not yet committed.
    pub(crate) prepared: Vec<Prepared>,
    /// Token of the configuration prepared last.
    pub(crate) token: u64,
    /// Traces that run.
    pub(crate) traces: Traces,
    /// Incremented when the result of [`Ports::facts`] changes.
    pub(crate) facts_version: u64,
    /// Start of the agent, ns of the monotonic clock.
    pub(crate) started_ns: u64,
    /// A port must be reopened, with another backend or because its socket has failed.
    reopen: bool,
    generation: u32,
    active_path: PathBuf,
    journal: Journal,
    events: Vec<Event>,
}

impl Agent {
    /// Builds the tables for a configuration, for the ports as they are now. Parts that did not change are shared with
    /// the tables in use.
    ///
    /// # Errors
    /// Names the row that cannot work.
    pub fn build(&mut self, config: &DataplaneConfig) -> Result<Rebuilt, BuildError> {
        self.generation += 1;
        let basis = Basis { config: &self.built_from, snapshot: &self.snapshot };
        let extended = self.autoconfiguration.extended(config);
        let config = extended.as_ref().unwrap_or(config);
        Snapshot::rebuild(basis, config, &self.ports.facts(), self.generation)
    }

    /// Activates tables on every worker.
    fn swap_tables(&mut self, config: &Arc<DataplaneConfig>, tables: Rebuilt) -> Result<(), WorkerLost> {
        let Rebuilt { snapshot, routes } = tables;
        let snapshot = Arc::new(snapshot);
        if let Err(FibFull) = self.shared.take_over_routes(&self.snapshot, &snapshot, &routes) {
            self.log("route,error", FULL.to_owned());
        }
        self.shared.take_over_lists(&snapshot);
        self.links.follow(&snapshot, self.workers.len());
        self.workers.apply(&snapshot, &self.links)?;
        self.snapshot = snapshot;
        self.built_from = self.effective(config);
        Ok(())
    }

    /// Activates a prepared configuration on every worker and on disk.
    ///
    /// # Errors
    /// Its file cannot be activated, or a worker is lost; the message is for users.
    pub fn activate(&mut self, prepared: Prepared) -> Result<(), String> {
        let Prepared { config, tables, pending, revision, facts_version, .. } = prepared;
        let tables = if facts_version == self.facts_version {
            tables
        } else {
            self.build(&config).map_err(|error| error.to_string())?
        };
        self.swap_tables(&config, tables).map_err(|lost| lost.to_string())?;
        self.digest = Digest::of(&config, Some((&self.active.config, &self.digest)));
        self.active = Active { revision, config };
        self.reopen |= self.ports.configure(&self.active.config);
        pending.activate().map_err(|error| format!("{}: {error}", self.active_path.display()))?;
        self.offload_flows().map_err(|lost| lost.to_string())?;
        self.update_router_namespace().map_err(|lost| lost.to_string())
    }

    /// Writes a configuration beside the active one.
    ///
    /// # Errors
    /// When the disk does not take it; the reason is for people.
    pub fn write_pending(
        &self,
        token: u64,
        revision: u64,
        config: &DataplaneConfig,
    ) -> Result<PendingFile, String> {
        active::write_pending(&self.active_path, token, revision, config).map_err(|error| {
            let path = self.active_path.display();
            format!("the data plane cannot store the configuration in {path}: {error}")
        })
    }

    /// Offloads flows of the ports as they are open now, if the settings say so.
    fn offload_flows(&mut self) -> Result<(), WorkerLost> {
        let wanted = self.active.config.settings.flow_offload;
        let Ports { states, offload, .. } = &mut self.ports;
        for message in offload.follow(wanted, states, &mut self.workers)? {
            self.log("system,info", message);
        }
        Ok(())
    }

    fn update_router_namespace(&mut self) -> Result<(), WorkerLost> {
        self.sync_router_namespace()?;
        self.learn_all_routes()
    }

    /// Synchronises the router's namespaces with the interfaces, addresses and routes of the router.
    fn sync_router_namespace(&mut self) -> Result<(), WorkerLost> {
        let Some(router) = &mut self.router else { return Ok(()) };
        let deprecated = self.autoconfiguration.deprecated();
        let problems = router.apply(&self.active.config, &self.snapshot, &deprecated, &mut self.workers)?;
        for problem in problems {
            self.log("system,error", format!("router namespace: {problem}"));
        }
        Ok(())
    }

    /// Takes gateways that do not answer any more out of use, and those back that answer again.
    pub(super) fn follow_gateways(&mut self) -> Result<(), WorkerLost> {
        let changes = self.snapshot.gateway_checks().take_changes();
        if changes.is_empty() {
            return Ok(());
        }
        for (gateway, down) in changes {
            let state = if down { "does not answer" } else { "answers again" };
            self.log("route,info", format!("gateway {} {state}", IpAddr::from(gateway.address)));
        }
        if let Err(FibFull) = self.shared.follow_gateways(&self.snapshot, &self.built_from) {
            // As with routes of other programs, a new table has numbers again.
            let config = Arc::clone(&self.active.config);
            self.generation += 1;
            let facts = self.ports.facts();
            let effective = self.effective(&config);
            if let Ok(snapshot) = Snapshot::build_after(&self.snapshot, &effective, &facts, self.generation) {
                self.facts_version += 1;
                self.swap_tables(&config, Rebuilt { snapshot, routes: ChangedRoutes::default() })?;
            }
        }
        self.sync_router_namespace()
    }

    /// Adds a line to the log of the router.
    pub fn log(&mut self, topics: &str, message: String) {
        self.events.push(Event::Log { time_ms: wall_ms(), topics: topics.to_owned(), message });
    }

    /// Handles changes of links: sends events, and builds tables for the present state of the ports.
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
            Ok(tables) => self.swap_tables(&config, tables)?,
            Err(error) => {
                self.log("system,error", format!("the active configuration no longer works: {error}"));
            }
        }
        // Routes by an interface are active while it has a carrier.
        self.sync_router_namespace()
    }
}
