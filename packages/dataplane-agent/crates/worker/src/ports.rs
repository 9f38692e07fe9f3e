//! The control thread's state of the ports: netdev, link state, sockets and counters of each.

mod flow_offload;
mod open;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use tollway_config::dataplane::{DataplaneConfig, IoChoice};
use tollway_config::protocol::{IoBackend, PortInfo};
use tollway_engine::ids::PortId;
use tollway_engine::snapshot::PortFacts;
use tollway_io::af_packet::Receive;
use tollway_io::claim::Claim;
use tollway_io::clock::wall_ms;
use tollway_io::link::{Link, LinkMonitor};
use tollway_io::memory::MemoryPort;
use tollway_io::packet_socket::RingWatch;
use tollway_io::pool::Umem;
use tollway_io::{Port, xdp};

use crate::commands::Command;
use crate::counters::{PortCounters, PortTotals};
use crate::workers::{WorkerLost, Workers};
use flow_offload::FlowOffload;
use open::{claimed, fit_mtu, open};

/// Maximum L2 payload of a port, bytes, as the head of a frame and the stages support.
const MAX_L2MTU: u32 = 9_216;
/// Largest L2 MTU of a port by AF_XDP, bytes.
const MAX_L2MTU_XDP: u32 = (xdp::MAX_FRAME - 14) as u32;
/// Interval of retries to open a port whose netdev is there, ns.
const RETRY_NS: u64 = 5_000_000_000;

/// State of a port.
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
    /// Why a backend was decided on; part of `io_reason`.
    choice_reason: String,
    /// Backend that the configuration asks for.
    pub wanted_io: IoChoice,
    /// Longest IP packet that its interface is to send, bytes; 0 without an interface.
    mtu: u32,
    /// MTU that was set on its netdev for that.
    mtu_given: Option<u32>,
    /// MTU that its netdev refused.
    mtu_refused: Option<u32>,
    /// The backend that was chosen, which need not be the one in use, and the netdev's MTU at the time.
    opened: Option<(IoBackend, u32)>,
    /// Receive mode of its packet sockets.
    receive: Receive,
    /// Rings of its packet sockets.
    rings: Vec<RingWatch>,
    /// The port must be reopened with the same backend.
    reopen: bool,
    /// Why it could not be opened, or renamed; reported once.
    refused: Option<String>,
    /// Packet sockets, which the workers use; none with another backend.
    pub(crate) sockets: Vec<OwnedFd>,
    /// The netdev as last seen; `None` while it is gone, or cannot be opened.
    pub link: Option<Link>,
    /// Index of the netdev that has its name, opened or not; 0 without one.
    netdev_index: u32,
    /// Link-layer address, kept while the netdev is gone.
    pub mac: [u8; 6],
    /// Times the link went down.
    pub link_downs: u64,
    /// Last transition to up, ms since 1970.
    pub last_up_ms: u64,
    /// Last transition to down, ms since 1970.
    pub last_down_ms: u64,
    /// Counters at the last reset, which are subtracted.
    pub baseline: PortTotals,
    /// Errors of the netdev when the counters were reset, received and sent.
    errors_baseline: [u64; 2],
}

impl PortState {
    /// Whether the netdev has carrier.
    pub fn running(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.running)
    }

    /// Errors of the netdev, received and sent, as it was seen last; `None` while it is gone.
    pub fn errors(&self) -> Option<[u64; 2]> {
        self.link.as_ref().map(|link| [link.rx_errors, link.tx_errors])
    }

    /// Receive and transmit errors since the counters were reset, or since the netdev's own counters began again.
    pub fn errors_since_reset(&self) -> [u64; 2] {
        let [rx, tx] = self.errors().unwrap_or_default();
        let [rx_before, tx_before] = self.errors_baseline;
        [rx.checked_sub(rx_before).unwrap_or(rx), tx.checked_sub(tx_before).unwrap_or(tx)]
    }

    /// In the form of the protocol.
    pub fn info(&self) -> PortInfo {
        PortInfo {
            name: self.name.clone(),
            netdev: self.netdev.clone(),
            io: self.io,
            io_reason: self.io_reason.clone(),
            mac_address: mac_text(self.mac),
            max_l2mtu: match self.io {
                IoBackend::AfXdp => MAX_L2MTU_XDP,
                IoBackend::AfPacket | IoBackend::Memory => MAX_L2MTU,
            },
        }
    }

    /// The backend in use, as a text for users.
    fn uses(&self) -> String {
        let word = if self.io == IoBackend::AfXdp { "AF_XDP" } else { "packet sockets" };
        format!("{} ({}) uses {word}: {}", self.name, self.netdev, self.io_reason)
    }

    /// Notes a new reason for the backend in use. Returns a message for the log if the reason has changed.
    fn decide_for(&mut self, reason: String) -> Option<String> {
        if self.choice_reason == reason {
            return None;
        }
        self.io_reason = self.io_reason.replacen(&self.choice_reason, &reason, 1);
        self.choice_reason = reason;
        Some(self.uses())
    }

    fn note_transition(&mut self, up: bool) {
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

/// A change of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkChange {
    /// Number of the port.
    pub port: PortId,
    /// Carrier, if the link changed.
    pub running: Option<bool>,
    /// Netdev exists.
    pub present: bool,
    /// For the log.
    pub message: String,
}

/// The ports, by [`PortId`].
#[derive(Debug)]
pub struct Ports {
    /// States of the ports.
    pub states: Vec<PortState>,
    /// Counters of the ports, by worker, then by port.
    pub counters: Vec<Vec<Arc<PortCounters>>>,
    /// The memory in which AF_XDP sockets exchange frames.
    umem: Option<&'static Umem>,
    /// When ports that could not be opened are retried, ns.
    retry_ns: Option<u64>,
    /// The kernel's flow offload for the workers.
    pub(crate) offload: FlowOffload,
}

fn state(index: usize, netdev: &str, io: IoBackend, reason: &str) -> PortState {
    PortState {
        name: format!("ether{}", index + 1),
        netdev: netdev.to_owned(),
        io,
        io_reason: reason.to_owned(),
        choice_reason: String::new(),
        wanted_io: IoChoice::Auto,
        mtu: 0,
        mtu_given: None,
        mtu_refused: None,
        opened: None,
        receive: Receive::Ring,
        rings: Vec::new(),
        reopen: false,
        refused: None,
        sockets: Vec::new(),
        link: None,
        netdev_index: 0,
        mac: [0; 6],
        link_downs: 0,
        last_up_ms: 0,
        last_down_ms: 0,
        baseline: PortTotals::default(),
        errors_baseline: [0; 2],
    }
}

impl Ports {
    /// Netdevs, in claim order; none of them is open yet.
    pub fn netdevs(names: &[String], workers: usize, umem: Option<&'static Umem>) -> Self {
        let states = names.iter().enumerate();
        let states = states.map(|(index, name)| state(index, name, IoBackend::AfPacket, "")).collect();
        Self { umem, ..Self::new(states, workers) }
    }

    /// Memory ports, which always have carrier.
    pub fn memory(macs: &[[u8; 6]], workers: usize) -> Self {
        let port = |(index, mac): (usize, &[u8; 6])| {
            let mut port = state(index, "", IoBackend::Memory, "memory mode");
            port.mac = *mac;
            port.link = Some(Link { mac: *mac, mtu: 1500, up: true, running: true, ..Link::default() });
            port.note_transition(true);
            port
        };
        Self::new(macs.iter().enumerate().map(port).collect(), workers)
    }

    fn new(states: Vec<PortState>, workers: usize) -> Self {
        let per_worker = || states.iter().map(|_| Arc::new(PortCounters::default())).collect();
        let counters = (0..workers).map(|_| per_worker()).collect();
        Self { states, counters, umem: None, retry_ns: None, offload: FlowOffload::default() }
    }

    /// Takes over the backends and MTUs of a configuration. Returns whether one has changed, so that [`Self::follow`]
    /// has to be called.
    pub fn configure(&mut self, config: &DataplaneConfig) -> bool {
        let mut changed = false;
        for port in &mut self.states {
            let of = config.interfaces.iter().find(|interface| interface.kind.port() == Some(&port.name));
            let wanted = of.map_or(IoChoice::Auto, |interface| interface.kind.io());
            changed |= std::mem::replace(&mut port.wanted_io, wanted) != wanted;
            let mtu = of.map_or(0, |interface| u32::from(interface.mtu).min(MAX_L2MTU));
            changed |= std::mem::replace(&mut port.mtu, mtu) != mtu;
        }
        changed
    }

    /// Checks the rings of packet sockets; to be called a few times a second. Returns whether one has stopped: then
    /// [`Self::follow`] opens its port anew, without rings.
    pub fn rings_stopped(&mut self) -> bool {
        let mut stopped = false;
        for port in self.states.iter_mut().filter(|port| !port.reopen) {
            port.reopen = port.rings.iter_mut().any(RingWatch::has_stopped);
            if port.reopen {
                port.receive = Receive::Queue;
                stopped = true;
            }
        }
        stopped
    }

    /// Whether [`Self::follow`] is to retry to open a port whose netdev is there, or to rename it: the cause of the
    /// failure may be gone without a notification.
    pub fn retry(&mut self, now_ns: u64) -> bool {
        if self.states.iter().all(|port| port.refused.is_none()) {
            self.retry_ns = None;
            return false;
        }
        let due = self.retry_ns.is_some_and(|at| now_ns >= at);
        if due || self.retry_ns.is_none() {
            self.retry_ns = Some(now_ns.saturating_add(RETRY_NS));
        }
        due
    }

    /// The properties of the ports that a snapshot is built from.
    pub fn facts(&self) -> Vec<PortFacts> {
        let facts =
            |port: &PortState| PortFacts { name: port.name.clone(), mac: port.mac, running: port.running() };
        self.states.iter().map(facts).collect()
    }

    /// In the form of the protocol.
    pub fn info(&self) -> Vec<PortInfo> {
        self.states.iter().map(PortState::info).collect()
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
            state.errors_baseline = state.errors().unwrap_or(state.errors_baseline);
        }
    }

    /// Takes the netdevs' counters of errors, as far as they are those that the ports use.
    pub fn note_errors(&mut self, links: &[Link]) {
        for used in self.states.iter_mut().filter_map(|port| port.link.as_mut()) {
            if let Some(link) = links.iter().find(|link| link.index == used.index && link.name == used.name) {
                (used.rx_errors, used.tx_errors) = (link.rx_errors, link.tx_errors);
            }
        }
    }

    /// Reconciles the ports with the kernel's netdevs: sockets of a netdev that is gone are closed, one that is there
    /// is opened (and claimed, if it has come back). Returns what changed.
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
        let Ok(mut links) = monitor.links() else { return Ok(changes) };
        for (index, port) in self.states.iter_mut().enumerate() {
            if port.io == IoBackend::Memory {
                continue;
            }
            let kept = claim.keep_name(&port.netdev, &mut links);
            let found = links.iter().find(|link| link.name == port.netdev);
            let was = port.link.take();
            let was_running = was.as_ref().is_some_and(|link| link.running);
            let keeps_name = kept.is_ok();
            let change = |message: String, running: Option<bool>, present: bool| LinkChange {
                port: index as PortId,
                running,
                present,
                message,
            };
            match kept {
                Ok(None) => {}
                Ok(Some(other)) => {
                    let message = format!(
                        "{} ({}) had been renamed {other}; a claimed interface keeps its name, and has it again",
                        port.name, port.netdev
                    );
                    changes.push(change(message, None, true));
                }
                Err(error) => {
                    let reason = format!("cannot keep its name: {error}");
                    if port.refused.as_ref() != Some(&reason) {
                        let message = format!("{} ({}) {reason}", port.name, port.netdev);
                        changes.push(change(message, None, found.is_some()));
                        port.refused = Some(reason);
                    }
                }
            }
            let same_device = matches!((&was, found), (Some(was), Some(found)) if was.index == found.index);
            if was.is_some() && !same_device {
                self.offload.forget(index, port, workers)?;
                workers.ask(|_| Command::SetPort(index as PortId, None))?;
                if was_running {
                    port.note_transition(false);
                }
                let message = format!("{} ({}): the network device is gone", port.name, port.netdev);
                changes.push(change(message, Some(false), false));
            }
            let Some(mut found) = found.cloned() else {
                port.netdev_index = 0;
                if keeps_name {
                    port.refused = None;
                }
                continue;
            };
            if !same_device {
                port.opened = None;
            }
            if std::mem::replace(&mut port.netdev_index, found.index) != found.index {
                port.receive = Receive::Ring;
                (port.mtu_given, port.mtu_refused) = (None, None);
                port.errors_baseline = [0; 2];
            }
            let opened = match claimed(port, claim) {
                Ok(()) => {
                    if let Some(message) =
                        fit_mtu(index, port, &mut found, claim, workers, &mut self.offload)?
                    {
                        changes.push(change(message, None, true));
                    }
                    open(index, port, &found, claim, workers, self.umem, &mut self.offload)?
                }
                Err(reason) => Err(reason),
            };
            match opened {
                Ok(Some(message)) => changes.push(change(message, None, true)),
                Ok(None) => {}
                Err(reason) => {
                    // It is retried whenever any netdev changes, and every few seconds.
                    if port.refused.as_ref() != Some(&reason) {
                        let message = format!("{} ({}) cannot be opened: {reason}", port.name, port.netdev);
                        changes.push(change(message, Some(false), true));
                        port.refused = Some(reason);
                    }
                    continue;
                }
            }
            port.refused = None;
            port.mac = found.mac;
            let (up, before) = (found.running, was_running && same_device);
            port.link = Some(found.clone());
            if up != before {
                port.note_transition(up);
            }
            let moved = matches!(&was, Some(was) if same_device && was.mac != found.mac);
            if moved {
                let message = format!("{}: the link-layer address is {}", port.name, mac_text(port.mac));
                changes.push(change(message, None, true));
            }
            if up != before || !same_device {
                let word = if up { "link up" } else { "link down" };
                changes.push(change(format!("{} {word}", port.name), Some(up), true));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_the_own_netdev_since_the_reset() {
        let mut ports = Ports::memory(&[[2, 0, 0, 0, 0, 1]], 1);
        ports.states[0].link = Some(Link { index: 3, name: "eth0".to_owned(), ..Link::default() });
        let seen = |ports: &mut Ports, index: u32, name: &str, rx_errors: u64, tx_errors: u64| {
            ports.note_errors(&[Link {
                index,
                name: name.to_owned(),
                rx_errors,
                tx_errors,
                ..Link::default()
            }]);
            ports.states[0].errors_since_reset()
        };
        assert_eq!(seen(&mut ports, 3, "eth0", 5, 7), [5, 7]);
        assert_eq!(seen(&mut ports, 4, "eth0", 100, 100), [5, 7], "another that has its name now");
        assert_eq!(seen(&mut ports, 4, "eth1", 100, 100), [5, 7]);
        ports.reset(0);
        assert_eq!(ports.states[0].errors_since_reset(), [0, 0]);
        assert_eq!(seen(&mut ports, 3, "eth0", 6, 9), [1, 2]);
        ports.states[0].link = None;
        assert_eq!(ports.states[0].errors_since_reset(), [0, 0]);
        ports.states[0].link = Some(Link { index: 9, name: "eth0".to_owned(), ..Link::default() });
        assert_eq!(seen(&mut ports, 9, "eth0", 2, 1), [2, 1], "a netdev that counts anew");
    }
}
