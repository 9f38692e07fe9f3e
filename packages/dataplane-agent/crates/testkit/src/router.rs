//! A whole router in memory: one engine per worker, hand-over between them, ports on the outside.

mod drive;
mod observe;
mod output;
pub(crate) mod trunk;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tollway_config::dataplane::DataplaneConfig;
use tollway_engine::engine::offload::Offload;
use tollway_engine::ids::PortId;
use tollway_engine::ip::fib::RouteChange;
use tollway_engine::observe::trace::Collector;
use tollway_engine::packet::tuple::Zone;
use tollway_engine::pipeline::batch::Batch;
use tollway_engine::pipeline::handover::Handover;
use tollway_engine::shared::Shared;
use tollway_engine::snapshot::{PortFacts, Snapshot};
use tollway_engine::time::Now;
use tollway_engine::{Engine, EngineLimits};

use crate::config::RouterConfig;
use crate::counters::Counter;
use crate::dual_stack::in_ipv6;
use crate::frame::{HeapFrame, HeapSource};
use crate::ipv6_packet::ip6;
use crate::packet::ip;
use crate::workers::{Workers, rebuild};

pub use output::{Output, To};

/// Ticks of all workers within which they agree that all have a configuration, if they can.
const ROUNDS: u32 = 32;

/// Link-layer address of port `n`.
pub fn port_mac(port: PortId) -> [u8; 6] {
    let [high, low] = port.to_be_bytes();
    [2, 0, 0, 1, high, low]
}

/// So many running ports, `ether1` and so on, with [`port_mac`].
pub fn port_facts(count: PortId) -> Vec<PortFacts> {
    let facts = |port| PortFacts { name: format!("ether{}", port + 1), mac: port_mac(port), running: true };
    (0..count).map(facts).collect()
}

/// Link-layer address that a test host with this address has.
pub fn host_mac(address: u32) -> [u8; 6] {
    let [a, b, c, d] = address.to_be_bytes();
    [2, 1, a, b, c, d]
}

/// A packet between two workers.
struct Delayed {
    from: u32,
    to: u32,
    packet: Handover<HeapFrame>,
}

/// The router.
pub struct Router {
    /// One engine a worker.
    pub(crate) engines: Vec<Engine<HeapFrame>>,
    /// Frames received by the worker whose turn it is, for other workers.
    elsewhere: Vec<(u32, Handover<HeapFrame>)>,
    /// Packets sent while the workers took over a configuration.
    early: Vec<Output>,
    shared: Arc<Shared>,
    snapshot: Arc<Snapshot>,
    config: DataplaneConfig,
    ports: Vec<PortFacts>,
    source: HeapSource,
    batch: Batch<HeapFrame>,
    now: Now,
    hosts: BTreeMap<(PortId, u32), [u8; 6]>,
    /// Hosts of IPv6.
    hosts6: BTreeSet<(PortId, u128)>,
    seen: BTreeMap<Counter, u64>,
    /// Frames injected.
    pub injected: u64,
    /// Packets that came out, by any way but hand-over.
    pub emitted: u64,
    /// ARP requests the hosts answered.
    pub resolved: u64,
    /// No worker takes packets from another.
    pub refuse_handovers: bool,
    /// Workers call [`Engine::before_sleep`] after each batch.
    pub sleeps: bool,
    /// Packets lost to that.
    pub refused: u64,
    /// Packets between workers are held until [`Self::deliver_handovers`].
    pub delay_handovers: bool,
    delayed: Vec<Delayed>,
    /// Flows that could be forwarded elsewhere are gathered here, if they are to be looked for.
    pub offloads: Option<Vec<Offload>>,
    traces: Collector,
    /// Packets that wait for ports that accept none, by worker.
    untaken: BTreeMap<usize, Vec<Output>>,
    /// The ports are VLANs of one port: see [`RouterConfig::trunk`].
    trunk: bool,
}

/// Capacity of the connection table that test routers have.
pub const CONNECTIONS: u32 = 16_384;

/// Bounds that each worker of a test router has.
pub const LIMITS: EngineLimits =
    EngineLimits { max_connections: CONNECTIONS, queue_frames: 4096, queue_bytes: 64 << 20 };

impl Router {
    /// A router with one worker.
    pub fn new(config: RouterConfig) -> Self {
        Self::with_workers(config, 1)
    }

    /// Several workers.
    pub fn with_workers(config: RouterConfig, workers: u32) -> Self {
        Self::with_limits(config, workers, LIMITS)
    }

    /// Several workers with given bounds.
    pub fn with_limits(config: RouterConfig, workers: u32, limits: EngineLimits) -> Self {
        let config = config.config;
        let trunk = trunk::is_trunk(&config);
        let ports = port_facts(config.interfaces.len() as PortId);
        let limits = vec![limits; workers as usize];
        let Workers { engines, shared, snapshot } =
            Workers::new(&config, &ports, &limits).expect("a possible configuration");
        Self {
            engines,
            shared,
            snapshot,
            config,
            ports,
            source: HeapSource::default(),
            batch: Batch::new(),
            now: Now::from_ms(1_000),
            hosts: BTreeMap::new(),
            hosts6: BTreeSet::new(),
            seen: BTreeMap::new(),
            injected: 0,
            emitted: 0,
            resolved: 0,
            refuse_handovers: false,
            sleeps: false,
            refused: 0,
            delay_handovers: false,
            delayed: Vec::new(),
            offloads: None,
            elsewhere: Vec::new(),
            early: Vec::new(),
            traces: Collector::default(),
            untaken: BTreeMap::new(),
            trunk,
        }
    }

    /// Adds hosts to a port that answer ARP, with [`host_mac`].
    pub fn hosts(mut self, port: PortId, addresses: &[&str]) -> Self {
        for address in addresses {
            self.hosts.insert((port, ip(address)), host_mac(ip(address)));
        }
        self
    }

    /// Adds hosts to a port that answer neighbour solicitations, with [`host_mac6`](crate::ipv6_packet::host_mac6).
    pub fn hosts6(mut self, port: PortId, addresses: &[&str]) -> Self {
        self.hosts6.extend(addresses.iter().map(|address| (port, ip6(address))));
        self
    }

    /// Adds to the hosts those of IPv6 that stand for them; see [`dual_stack`](crate::dual_stack).
    pub fn hosts_in_ipv6(mut self) -> Self {
        let of_ipv4: Vec<_> = self.hosts.keys().map(|(port, address)| (*port, in_ipv6(*address))).collect();
        self.hosts6.extend(of_ipv4);
        self
    }

    /// Takes a host of IPv6 off a port.
    pub fn remove_host6(&mut self, port: PortId, address: &str) {
        self.hosts6.remove(&(port, ip6(address)));
    }

    /// Takes a host off a port.
    pub fn remove_host(&mut self, port: PortId, address: &str) {
        self.hosts.remove(&(port, ip(address)));
    }

    /// Time now.
    pub fn now(&self) -> Now {
        self.now
    }

    /// State shared by the workers.
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Number of workers.
    pub fn workers(&self) -> usize {
        self.engines.len()
    }

    /// The active snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The active configuration.
    pub fn config(&self) -> &DataplaneConfig {
        &self.config
    }

    /// The frame pool.
    pub fn source(&mut self) -> &mut HeapSource {
        &mut self.source
    }

    /// Activates another configuration, and lets the workers agree that all have it. What they send for it comes with
    /// the next packets.
    pub fn reconfigure(&mut self, change: impl FnOnce(&mut DataplaneConfig)) {
        self.prepare(change);
        self.activate_all();
        let mut out = std::mem::take(&mut self.early);
        for _ in 0..ROUNDS {
            if !self.engines.iter().any(Engine::is_changing) {
                break;
            }
            self.tick(&mut out);
        }
        self.early = out;
    }

    /// Raises or drops the carrier of a port.
    pub fn carrier(&mut self, port: PortId, running: bool) {
        self.ports[usize::from(port)].running = running;
        self.prepare(|_| {});
        self.activate_all();
    }

    /// Builds another configuration, for [`Self::activate`]. Routes of a table that it shares with the one
    /// before are followed at once.
    pub fn prepare(&mut self, change: impl FnOnce(&mut DataplaneConfig)) {
        let before = self.config.clone();
        change(&mut self.config);
        self.snapshot = rebuild(&self.shared, (&before, &self.snapshot), &self.config, &self.ports)
            .expect("a possible configuration");
    }

    /// [`Self::change_routes`] in the table of a zone.
    pub fn change_routes_in(&mut self, zone: Zone, changes: &[RouteChange]) {
        self.shared.change_routes(&self.snapshot, zone, changes).expect("not too many next hops");
    }

    /// Another program changes its routes.
    pub fn change_routes(&mut self, changes: &[RouteChange]) {
        self.change_routes_in(0, changes);
    }

    /// Takes gateways that do not answer any more out of use, and those back that answer again.
    pub fn follow_gateways(&mut self) {
        if !self.snapshot.gateway_checks().take_changes().is_empty() {
            self.shared.follow_gateways(&self.snapshot, &self.config).expect("not too many next hops");
        }
    }

    /// Activates the prepared configuration at one worker.
    pub fn activate(&mut self, worker: usize) {
        self.engines[worker].apply(self.snapshot.clone(), self.now);
    }

    fn activate_all(&mut self) {
        for worker in 0..self.engines.len() {
            self.activate(worker);
        }
    }
}
