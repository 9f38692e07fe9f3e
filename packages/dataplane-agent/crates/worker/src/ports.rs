//! The ports as the control thread knows them: which netdev, its state, its sockets, its counters.

use std::sync::Arc;

use tollway_config::protocol::{IoBackend, PortInfo};
use tollway_engine::snapshot::{PortFacts, PortId};
use tollway_io::Port;
use tollway_io::af_packet;
use tollway_io::claim::Claim;
use tollway_io::clock::wall_ms;
use tollway_io::link::{Link, LinkMonitor};
use tollway_io::memory::MemoryPort;

use crate::counters::{PortCounters, PortTotals};
use crate::exchange::Command;
use crate::workers::{WorkerLost, Workers};

/// Largest L2 payload of a port, bytes: what the head of a frame and the stages are made for.
const MAX_L2MTU: u32 = 9_216;

/// Why a netdev is served by a packet socket.
const AF_PACKET_REASON: &str = "carries super-frames and partial checksums of local stacks as they are";

/// One port.
#[derive(Debug)]
pub struct PortState {
    /// Factory name.
    pub name: String,
    /// Netdev; empty for a memory port.
    pub netdev: String,
    /// Backend.
    pub io: IoBackend,
    /// Why this backend.
    pub io_reason: String,
    /// The netdev as last seen; `None` while it is gone.
    pub link: Option<Link>,
    /// Link-layer address, kept while the netdev is gone.
    pub mac: [u8; 6],
    /// Times the link went down.
    pub link_downs: u64,
    /// Last transition to up, ms since 1970.
    pub last_up_ms: u64,
    /// Last transition to down, ms since 1970.
    pub last_down_ms: u64,
    /// What is subtracted from the counters since they were reset.
    pub baseline: PortTotals,
}

impl PortState {
    /// Has carrier.
    pub fn running(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.running)
    }

    fn came_up(&mut self, up: bool) {
        if up {
            self.last_up_ms = wall_ms();
        } else {
            self.last_down_ms = wall_ms();
            self.link_downs += 1;
        }
    }
}

/// `aa:bb:cc:dd:ee:ff`.
pub fn mac_text(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

/// What happened to a port's link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkChange {
    /// Factory name.
    pub port: String,
    /// Has carrier.
    pub running: bool,
    /// Netdev exists.
    pub present: bool,
    /// For the log.
    pub message: String,
}

/// All ports, by [`PortId`].
#[derive(Debug)]
pub struct Ports {
    /// Their states.
    pub states: Vec<PortState>,
    /// Their counters, by worker, then by port.
    pub counters: Vec<Vec<Arc<PortCounters>>>,
}

fn state(index: usize, netdev: &str, io: IoBackend, reason: &str) -> PortState {
    PortState {
        name: format!("ether{}", index + 1),
        netdev: netdev.to_owned(),
        io,
        io_reason: reason.to_owned(),
        link: None,
        mac: [0; 6],
        link_downs: 0,
        last_up_ms: 0,
        last_down_ms: 0,
        baseline: PortTotals::default(),
    }
}

impl Ports {
    /// Netdevs, in claim order; none of them is open yet.
    pub fn netdevs(names: &[String], workers: usize) -> Self {
        let states = names.iter().enumerate();
        Self::new(
            states.map(|(index, name)| state(index, name, IoBackend::AfPacket, AF_PACKET_REASON)).collect(),
            workers,
        )
    }

    /// Memory ports, which always have carrier.
    pub fn memory(macs: &[[u8; 6]], workers: usize) -> Self {
        let port = |(index, mac): (usize, &[u8; 6])| {
            let mut port = state(index, "", IoBackend::Memory, "memory mode");
            port.mac = *mac;
            port.link = Some(Link { mac: *mac, mtu: 1500, up: true, running: true, ..Link::default() });
            port.came_up(true);
            port
        };
        Self::new(macs.iter().enumerate().map(port).collect(), workers)
    }

    fn new(states: Vec<PortState>, workers: usize) -> Self {
        let per_worker = || states.iter().map(|_| Arc::new(PortCounters::default())).collect();
        let counters = (0..workers).map(|_| per_worker()).collect();
        Self { states, counters }
    }

    /// What a snapshot needs to know.
    pub fn facts(&self) -> Vec<PortFacts> {
        let facts =
            |port: &PortState| PortFacts { name: port.name.clone(), mac: port.mac, running: port.running() };
        self.states.iter().map(facts).collect()
    }

    /// In the form of the protocol.
    pub fn info(&self) -> Vec<PortInfo> {
        let info = |port: &PortState| PortInfo {
            name: port.name.clone(),
            netdev: port.netdev.clone(),
            io: port.io,
            io_reason: port.io_reason.clone(),
            mac_address: mac_text(port.mac),
            max_l2mtu: MAX_L2MTU,
        };
        self.states.iter().map(info).collect()
    }

    /// Counters of a port, over all workers, since the agent started.
    pub fn all_time(&self, port: usize) -> PortTotals {
        let mut totals = PortTotals::default();
        for counters in self.counters.iter().filter_map(|worker| worker.get(port)) {
            counters.add_to(&mut totals);
        }
        totals
    }

    /// Counters of a port, over all workers, since they were reset.
    pub fn totals(&self, port: usize) -> PortTotals {
        let totals = self.all_time(port);
        self.states.get(port).map_or(totals, |state| totals.since(&state.baseline))
    }

    /// Sets a port's counters to zero.
    pub fn reset(&mut self, port: usize) {
        let totals = self.all_time(port);
        if let Some(state) = self.states.get_mut(port) {
            state.baseline = totals;
        }
    }

    /// Compares with what the kernel says and brings the sockets in line: closed for a netdev that is gone,
    /// opened (and claimed, if it comes back) for one that is there. Returns what changed.
    ///
    /// # Errors
    /// When a worker is lost. A port that cannot be opened is reported as a change and stays closed.
    pub fn follow(
        &mut self,
        monitor: &LinkMonitor,
        claim: &Claim,
        workers: &mut Workers,
    ) -> Result<Vec<LinkChange>, WorkerLost> {
        let mut changes = Vec::new();
        let Ok(links) = monitor.links() else { return Ok(changes) };
        for (index, port) in self.states.iter_mut().enumerate() {
            if port.io == IoBackend::Memory {
                continue;
            }
            let found = links.iter().find(|link| link.name == port.netdev);
            let was = port.link.take();
            let was_running = was.as_ref().is_some_and(|link| link.running);
            let change = |message: String, port: &PortState, present: bool| LinkChange {
                port: port.name.clone(),
                running: port.running(),
                present,
                message,
            };
            let same_device = matches!((&was, found), (Some(was), Some(found)) if was.index == found.index);
            if was.is_some() && !same_device {
                workers.ask(|_| Command::SetPort(index as PortId, None))?;
                if was_running {
                    port.came_up(false);
                }
                changes.push(change(
                    format!("{} ({}): the network device is gone", port.name, port.netdev),
                    port,
                    false,
                ));
            }
            let Some(found) = found else { continue };
            if !same_device && let Err(reason) = open(index, port, found, claim, workers)? {
                let message = format!("{} ({}) cannot be opened: {reason}", port.name, port.netdev);
                // It is tried again whenever some netdev changes.
                changes.push(change(message, port, true));
                continue;
            }
            port.mac = found.mac;
            let (up, before) = (found.running, was_running && same_device);
            port.link = Some(found.clone());
            if up != before {
                port.came_up(up);
            }
            let moved = matches!(&was, Some(was) if same_device && was.mac != found.mac);
            if moved {
                let message = format!("{}: the link-layer address is {}", port.name, mac_text(port.mac));
                changes.push(change(message, port, true));
            }
            if up != before || !same_device {
                let word = if up { "link up" } else { "link down" };
                changes.push(change(format!("{} {word}", port.name), port, true));
            }
        }
        Ok(changes)
    }

    /// Gives every worker its end of the memory ports; `ends` is by port, then by worker.
    ///
    /// # Errors
    /// When a worker is lost.
    pub fn connect_memory(ends: Vec<Vec<MemoryPort>>, workers: &mut Workers) -> Result<(), WorkerLost> {
        for (port, ends) in ends.into_iter().enumerate() {
            let mut ends = ends.into_iter();
            workers.ask(|_| Command::SetPort(port as PortId, ends.next().map(Port::Memory)))?;
        }
        Ok(())
    }
}

/// Claims a netdev (again) and gives every worker a socket on it.
fn open(
    index: usize,
    port: &mut PortState,
    link: &Link,
    claim: &Claim,
    workers: &mut Workers,
) -> Result<Result<(), String>, WorkerLost> {
    if let Err(error) = claim.take_one(&port.netdev) {
        return Ok(Err(error.to_string()));
    }
    let sockets = match af_packet::open(link.index, workers.len()) {
        Ok(sockets) => sockets,
        Err(error) => return Ok(Err(error.to_string())),
    };
    port.io_reason = match &sockets.fanout_refused {
        Some(error) => {
            format!("{AF_PACKET_REASON}; one worker receives for all, fanout was refused: {error}")
        }
        None => AF_PACKET_REASON.to_owned(),
    };
    let mut sockets = sockets.ports.into_iter();
    workers.ask(|_| Command::SetPort(index as PortId, sockets.next().map(Port::AfPacket)))?;
    Ok(Ok(()))
}
