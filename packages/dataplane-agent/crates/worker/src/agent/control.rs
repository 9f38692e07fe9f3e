//! The control loop: clients, links, routes of other programs, the guard of claimed ports, logs and rates.

use std::sync::Arc;
use std::time::Duration;

use tollway_config::digest::Digest;
use tollway_config::protocol::Event;
use tollway_engine::firewall::address_set::MAX_DYNAMIC;
use tollway_engine::flow::conntrack::Translated;
use tollway_engine::shared::Shared;
use tollway_engine::time::Now;
use tollway_io::claim::Claim;
use tollway_io::clock::{self, wall_ms};
use tollway_io::link::LinkMonitor;
use tollway_io::memory::MemoryPort;
use tollway_io::wake;

use super::{Agent, Stop, requests};
use crate::active::{self, Active, Found};
use crate::commands::Command;
use crate::guard::GuardWatch;
use crate::learned_routes::LearnedRoutes;
use crate::options::AgentError;
use crate::ports::Ports;
use crate::server::Server;
use crate::workers::WorkerLost;

/// Interval at which log lines are taken while there are any.
const LOG_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum number of address-list entries that are expired in a round of the loop, about 20 ms of work.
const EXPIRE_BUDGET: usize = 100_000;
/// Descriptors that are always waited for, before those of other programs' routes and of clients.
const FIXED: usize = 3;
/// Maximum number of events that are kept for the next client while there is none.
const KEPT_EVENTS: usize = 1000;

fn lost(error: WorkerLost) -> AgentError {
    AgentError::Failed(error.to_string())
}

impl Agent {
    /// Forwards with the configuration from disk that was active `ago` configurations ago, or if it does not work, with
    /// the newest former one that does.
    fn resume(&mut self, mut ago: usize) -> Result<(), AgentError> {
        while self.active.revision != 0 {
            let config = Arc::clone(&self.active.config);
            let error = match self.build(&config) {
                Ok(tables) => {
                    self.swap_tables(&config, tables).map_err(lost)?;
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

    /// Opens the ports and forwards with the configuration from disk.
    pub(super) fn begin(
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
        self.ports.configure(&self.active.config);
        if let Some(claim) = claim {
            let changes = self.ports.follow(monitor, claim, &mut self.workers).map_err(lost)?;
            self.links_changed(changes).map_err(lost)?;
            self.offload_flows().map_err(lost)?;
            for netdev in claim.missing() {
                // The netdev may have appeared meanwhile.
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

    /// Serves requests and events until `stop` is requested.
    pub(super) fn control_loop(
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
            // Without a guard the slot stays: poll(2) passes over a negative descriptor.
            set.push(wake::readable(guard.as_ref().map_or(-1, GuardWatch::fd)));
            let zones = self.learned.zones();
            set.extend(self.learned.fds().flatten().map(wake::readable));
            set.extend(server.interests().map(|(fd, events)| libc::pollfd { fd, events, revents: 0 }));
            let now = clock::now().0;
            let until_sample = Duration::from_nanos(self.rates.due_ns().saturating_sub(now));
            wake::poll(&mut set, Some(until_sample.min(LOG_INTERVAL)));
            self.workers.check().map_err(lost)?;
            // The guard comes first: without it the kernel may forward, too.
            if let Some(guard) = &mut guard
                && let Some((topics, message)) =
                    guard.follow(set.get(2).is_some_and(|entry| entry.revents != 0), clock::now().0)
            {
                self.log(topics, message);
            }
            for (zone, entries) in zones.iter().zip(set.get(FIXED..).unwrap_or_default().chunks_exact(2)) {
                let [v4, v6] = entries else { continue };
                if v4.revents != 0 {
                    self.learn_routes(*zone, LearnedRoutes::<u32>::changes).map_err(lost)?;
                }
                if v6.revents != 0 {
                    self.learn_routes(*zone, LearnedRoutes::<u128>::changes).map_err(lost)?;
                }
            }
            if set.iter().skip(FIXED + 2 * zones.len()).any(|entry| entry.revents != 0) {
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
            self.follow_gateways().map_err(lost)?;
            self.follow_routers().map_err(lost)?;
            self.sample(monitor);
            self.traces.collect(&mut self.workers, self.snapshot.mark_names()).map_err(lost)?;
            let journal = &mut self.journal;
            self.workers.take_changes(|change| journal.note(change));
            if let Err(error) = self.journal.flush() {
                self.log("system,error", format!("the connection journal cannot be written: {error}"));
            }
            if self.shared.log.is_pending() {
                let now = wall_ms();
                let lines = self.shared.log.take();
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
        self.shared.free_retired();
        let now = now.0;
        if now >= self.rates.due_ns() {
            let refused = self.shared.address_sets.take_refused();
            if refused != 0 {
                let message = format!("{refused} addresses were not added to lists: {MAX_DYNAMIC} are there");
                self.log("firewall,warning", message);
            }
            // Netlink notifies of links that change, not of their counters.
            if let Ok(links) = monitor.links() {
                self.ports.note_errors(&links);
            }
            self.rates.sample(now, &self.ports, &self.links);
        }
    }
}

/// Sets the time of day for rules. Returns the monotonic time at which it was read.
pub(super) fn set_wall_clock(shared: &Shared) -> Now {
    let now = clock::now();
    let utc_ns = i64::try_from(wall_ms()).unwrap_or(i64::MAX).saturating_mul(1_000_000);
    shared.wall_clock.set(now, utc_ns);
    now
}

/// The log line of a start with another configuration than the last active one.
pub(super) fn starts_with(found: Option<&Found>) -> String {
    match found {
        Some(Found { active, .. }) => {
            format!("starting with the configuration of revision {}", active.revision)
        }
        None => "starting with an empty configuration".to_owned(),
    }
}
