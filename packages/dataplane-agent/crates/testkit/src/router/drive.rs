//! Packets through a test router, and time.

use std::collections::BTreeMap;

use tollway_config::dataplane::RowId;
use tollway_engine::Engine;
use tollway_engine::ids::PortId;
use tollway_engine::observe::profiler::NoCycles;
use tollway_engine::packet::frame::VnetState;
use tollway_engine::pipeline::batch::{BATCH, Outcome};
use tollway_engine::pipeline::handover::{Handover, HandoverContents};
use tollway_engine::time::Now;
use tollway_wire::{arp, ethernet, icmpv6, ndp};

use super::{Delayed, Output, Router, To, port_mac, trunk};
use crate::frame::HeapFrame;
use crate::ipv6_packet::{Ipv6Builder, Ipv6Packet, host_mac6};
use crate::packet::{PacketBuilder, arp_frame};

/// Packets to every worker.
type Moved = BTreeMap<u32, Vec<Handover<HeapFrame>>>;

impl Router {
    /// When the engines want to be called next.
    pub fn deadline(&self) -> Option<Now> {
        self.engines.iter().filter_map(Engine::next_deadline).min()
    }

    /// Sends one packet into a port and returns what came out.
    pub fn send(&mut self, port: PortId, packet: &PacketBuilder) -> Vec<Output> {
        self.inject(port, packet.clone().eth_dst(port_mac(port)).build(), VnetState::default())
    }

    /// Sends one IPv6 packet into a port and returns what came out.
    pub fn send6(&mut self, port: PortId, packet: &Ipv6Builder) -> Vec<Output> {
        self.inject(port, packet.clone().eth_dst(port_mac(port)).build(), VnetState::default())
    }

    /// Sends one frame into a port.
    pub fn inject(&mut self, port: PortId, frame: Vec<u8>, vnet: VnetState) -> Vec<Output> {
        self.inject_batch(0, vec![(port, frame, vnet)])
    }

    /// Sends frames as one batch that `worker` receives.
    pub fn inject_batch(&mut self, worker: usize, frames: Vec<(PortId, Vec<u8>, VnetState)>) -> Vec<Output> {
        let mut out = std::mem::take(&mut self.early);
        assert!(frames.len() <= BATCH);
        self.injected += frames.len() as u64;
        let steering = self.engines[worker].steering();
        for (port, frame, vnet) in frames {
            let (port, frame, vnet) = self.on_the_wire(port, frame, vnet);
            self.elsewhere.extend(steering.steer(&mut self.batch, HeapFrame::new(frame), port, vnet));
        }
        self.process(worker, &mut out);
        out
    }

    /// Sends a packet from a service in the router namespace (an IPv4 packet without Ethernet header), by the TAP of
    /// the first interface.
    pub fn send_local(&mut self, packet: &[u8]) -> Vec<Output> {
        let tap = self.config.interfaces.first().map_or(0, |interface| interface.row);
        self.send_local_by(0, tap, packet)
    }

    /// Sends like [`Self::send_local`], read from the TAP of an interface by a given worker.
    pub fn send_local_by(&mut self, worker: usize, tap: RowId, packet: &[u8]) -> Vec<Output> {
        self.send_local_to(worker, tap, [0; 6], packet)
    }

    /// Sends like [`Self::send_local`], to a link-layer address that the service has chosen.
    pub fn send_local_to(
        &mut self,
        worker: usize,
        tap: RowId,
        dst_mac: [u8; 6],
        packet: &[u8],
    ) -> Vec<Output> {
        let mut frame = vec![0; ethernet::HEADER];
        frame[..6].copy_from_slice(&dst_mac);
        frame.extend_from_slice(packet);
        let mut out = std::mem::take(&mut self.early);
        self.injected += 1;
        self.batch.push_local(HeapFrame::new(frame), tap, VnetState::default());
        self.process(worker, &mut out);
        out
    }

    /// A frame as it comes into a port: with tags if what the test takes for a port is a VLAN.
    fn on_the_wire(&self, port: PortId, frame: Vec<u8>, vnet: VnetState) -> (PortId, Vec<u8>, VnetState) {
        if !self.trunk {
            return (port, frame, vnet);
        }
        let (frame, vnet) = trunk::tagged(port, &frame, vnet);
        (0, frame, vnet)
    }

    fn process(&mut self, worker: usize, out: &mut Vec<Output>) {
        let now = self.now;
        self.engines[worker].process(&mut self.batch, &mut self.source, &NoCycles, now);
        if let Some(offloads) = &mut self.offloads {
            self.engines[worker].find_offload(&self.batch, |_| true, offloads);
        }
        self.collect(worker, out);
        self.flushed(worker);
    }

    /// Acknowledges to a worker's engine that everything has left, unless its ports take nothing.
    fn flushed(&mut self, worker: usize) {
        if !self.untaken.contains_key(&worker) {
            self.engines[worker].sent();
            if self.sleeps {
                self.engines[worker].before_sleep(self.now);
            }
        }
    }

    /// From now on ports take nothing from a worker: what it sends waits for [`Self::unblock`].
    pub fn block(&mut self, worker: usize) {
        self.untaken.entry(worker).or_default();
    }

    /// Ports take what waited, and all that comes.
    pub fn unblock(&mut self, worker: usize) -> Vec<Output> {
        let out = self.untaken.remove(&worker).unwrap_or_default();
        self.engines[worker].sent();
        out
    }

    /// A port takes nothing from a worker for now, and the worker says so to its engine; or takes packets again.
    pub fn set_port_blocked(&mut self, worker: usize, port: PortId, blocked: bool) {
        self.engines[worker].set_port_blocked(port, blocked, self.now);
    }

    /// Lets time pass in steps of the engines' deadlines.
    pub fn advance_ms(&mut self, ms: u64) -> Vec<Output> {
        self.advance(ms * 1_000_000)
    }

    /// Advances like [`Self::advance_ms`], by nanoseconds.
    pub fn advance(&mut self, ns: u64) -> Vec<Output> {
        let end = Now(self.now.0 + ns);
        let mut out = std::mem::take(&mut self.early);
        let mut stood = 0;
        loop {
            let lists = Some(Now(self.shared.address_sets.next_due())).filter(|due| due.0 != u64::MAX);
            let due = self.engines.iter().filter_map(Engine::next_deadline).chain(lists).min();
            let Some(due) = due.filter(|due| *due <= end) else { break };
            stood = if due > self.now { 0 } else { stood + 1 };
            self.now = self.now.max(due);
            self.tick(&mut out);
            // A deadline that does not move forward would spin here for ever.
            if stood > 64 {
                stood = 0;
                self.now = Now(self.now.0 + 1_000_000).min(end);
                if self.now == end {
                    break;
                }
            }
        }
        self.now = end;
        self.tick(&mut out);
        out
    }

    /// Lets time pass without calling the engines, as under load.
    pub fn sleep(&mut self, ns: u64) {
        self.now.0 += ns;
    }

    /// Lets timers expire at all workers.
    pub(super) fn tick(&mut self, out: &mut Vec<Output>) {
        self.shared.expire_list_entries(self.now, usize::MAX);
        for worker in 0..self.engines.len() {
            let now = self.now;
            self.engines[worker].tick(&mut self.batch, &mut self.source, &NoCycles, now);
            self.collect(worker, out);
            self.flushed(worker);
        }
    }

    /// Delivers what the batch of a worker holds; hosts answer ARP.
    fn collect(&mut self, from: usize, out: &mut Vec<Output>) {
        let mut moved = Moved::new();
        let mut answers = Vec::new();
        for (worker, packet) in std::mem::take(&mut self.elsewhere) {
            self.hand_over(from, worker, packet, &mut moved);
        }
        let done: Vec<_> = self.batch.drain().collect();
        for done in done {
            let mut vnet = done.vnet;
            let mut bytes = done.frame.bytes().to_vec();
            let to = match done.outcome {
                Outcome::Tx { .. } if self.trunk => {
                    let port;
                    (port, bytes, vnet) = trunk::untagged(&bytes, vnet);
                    To::Port(port)
                }
                Outcome::Tx { port, .. } => To::Port(port),
                Outcome::Local { interface } => To::Local(interface),
                Outcome::Handover { worker, packet } => {
                    let contents = HandoverContents::Parsed(packet);
                    let packet = Handover { frame: done.frame, vnet: done.vnet, contents };
                    self.hand_over(from, worker, packet, &mut moved);
                    continue;
                }
            };
            let output = Output { to, bytes, vnet, fast: done.fast, own: done.own, segments: done.segments };
            self.emitted += 1;
            if let (To::Port(port), Some(request)) = (to, output.arp())
                && request.operation == arp::REQUEST
                && let Some(&mac) = self.hosts.get(&(port, request.target_addr))
            {
                self.resolved += 1;
                let reply = arp::Repr {
                    operation: arp::REPLY,
                    sender_mac: mac,
                    sender_addr: request.target_addr,
                    target_mac: request.sender_mac,
                    target_addr: request.sender_addr,
                };
                answers.push((port, arp_frame(request.sender_mac, reply)));
                continue;
            }
            if let To::Port(port) = to
                && let Some(answer) = self.advertisement(port, &output)
            {
                self.resolved += 1;
                answers.push((port, answer));
                continue;
            }
            match self.untaken.get_mut(&from) {
                Some(untaken) => untaken.push(output),
                None => out.push(output),
            }
        }
        for (worker, packets) in moved {
            for packet in packets {
                self.batch.push_handover(packet);
            }
            self.process(worker as usize, out);
        }
        for (port, frame) in answers {
            self.injected += 1;
            let (port, frame, vnet) = self.on_the_wire(port, frame, VnetState::default());
            self.batch.push_rx(HeapFrame::new(frame), port, vnet);
            self.process(0, out);
        }
    }

    /// The answer of a host of IPv6 to a solicitation.
    fn advertisement(&self, port: PortId, output: &Output) -> Option<Vec<u8>> {
        let asked = Ipv6Packet::read(&output.bytes)?;
        let ndp::Message::NeighborSolicitation { target, options } = asked.discovery()? else { return None };
        let link = options.link(ndp::option::SOURCE_LINK);
        if !self.hosts6.contains(&(port, target)) || link.is_none() {
            return None;
        }
        let mac = host_mac6(target);
        let message = ndp::NeighborRepr {
            icmp_type: icmpv6::NEIGHBOR_ADVERTISEMENT,
            flags: ndp::flag::SOLICITED | ndp::flag::OVERRIDE,
            target,
            link: Some(mac),
        };
        let answer = Ipv6Builder::of_bits(target, asked.src.to_bits()).neighbor(message);
        Some(answer.eth_src(mac).eth_dst(link?).build())
    }

    fn hand_over(&mut self, from: usize, to: u32, packet: Handover<HeapFrame>, moved: &mut Moved) {
        if self.refuse_handovers {
            if let HandoverContents::Parsed(packet) = &packet.contents {
                self.engines[from].not_handed_over(packet);
            }
            self.refused += 1;
        } else if self.delay_handovers {
            self.delayed.push(Delayed { from: from as u32, to, packet });
        } else {
            moved.entry(to).or_default().push(packet);
        }
    }

    /// Delivers the first `packets` of the packets that are held between workers.
    pub fn deliver_handovers(&mut self, packets: usize) -> Vec<Output> {
        let mut out = std::mem::take(&mut self.early);
        for Delayed { to, packet, .. } in self.delayed.drain(..packets).collect::<Vec<_>>() {
            self.batch.push_handover(packet);
            self.process(to as usize, &mut out);
        }
        out
    }

    /// Delivers like [`Self::deliver_handovers`], only to one worker and as one batch.
    pub fn deliver_handovers_to(&mut self, worker: usize, packets: usize) -> Vec<Output> {
        self.deliver(packets, worker, |_| true)
    }

    /// Delivers like [`Self::deliver_handovers_to`], only what one worker has sent.
    pub fn deliver_handovers_between(&mut self, from: usize, to: usize, packets: usize) -> Vec<Output> {
        self.deliver(packets, to, |sender| sender as usize == from)
    }

    fn deliver(&mut self, packets: usize, worker: usize, from: impl Fn(u32) -> bool) -> Vec<Output> {
        assert!(packets <= BATCH);
        let (mut left, mut out) = (packets, std::mem::take(&mut self.early));
        for delayed in std::mem::take(&mut self.delayed) {
            if left > 0 && delayed.to as usize == worker && from(delayed.from) {
                self.batch.push_handover(delayed.packet);
                left -= 1;
            } else {
                self.delayed.push(delayed);
            }
        }
        self.process(worker, &mut out);
        out
    }

    /// Packets that are held between workers.
    pub fn on_the_way(&self) -> usize {
        self.delayed.len()
    }
}
