//! Established flows for the engine cases.

use std::net::Ipv4Addr;

use tollway_engine::packet::tuple::{Addr, Tuple, steer};
use tollway_wire::tcp::flag;

use crate::packet::{self, Ends, FRAME};
use crate::random::Random;
use crate::scenario::{DESTINATIONS, SOURCES};

/// Link-layer address of the router's `lan` port.
pub const LAN_PORT_MAC: [u8; 6] = [2, 0, 0, 0x77, 0, 1];
/// Link-layer address of the router's `wan` port.
pub const WAN_PORT_MAC: [u8; 6] = [2, 0, 0, 0x78, 0, 1];
/// The generator's link-layer address.
pub const GENERATOR_MAC: [u8; 6] = [2, 0, 0, 0x77, 0, 2];
/// The sink's link-layer address.
pub const SINK_MAC: [u8; 6] = [2, 0, 0, 0x78, 0, 2];

/// Bytes of data in a TCP frame.
const DATA: u32 = (FRAME - 54) as u32;

/// Flows from `lan` to `wan`, in an order that no prefetcher follows.
pub struct Traffic {
    flows: Vec<Ends>,
    frames: Vec<[u8; FRAME]>,
    order: Vec<u32>,
    at: usize,
}

impl Traffic {
    /// `count` flows, half of them TCP (the even ones) unless `udp_only`.
    pub fn new(count: u32, udp_only: bool) -> Self {
        Self::of((0..count).map(|flow| (ends(flow), is_tcp(flow, udp_only))).collect())
    }

    /// `count` flows, half of them TCP, that belong to one of several workers.
    pub fn steered(count: usize, worker: u32, workers: u32) -> Self {
        let flows = (0..).map(|flow| (ends(flow), is_tcp(flow, false)));
        Self::of(flows.filter(|flow| belongs(flow, worker, workers)).take(count).collect())
    }

    /// The [`Self::subscribers`] that belong to one of several workers.
    pub fn steered_subscribers(count: u32, worker: u32, workers: u32) -> Self {
        let flows = subscribers(count).filter(|flow| belongs(flow, worker, workers));
        Self::of(flows.collect())
    }

    /// `count` UDP flows, each from an address of its own.
    pub fn subscribers(count: u32) -> Self {
        Self::of(subscribers(count).collect())
    }

    /// Flows, each with whether it is TCP.
    pub fn of(flows: Vec<(Ends, bool)>) -> Self {
        let frame = |(ends, tcp): &(Ends, bool)| match tcp {
            true => packet::tcp(ends, flag::ACK | flag::PSH, 1001, 5001),
            false => packet::udp(ends),
        };
        let frames = flows.iter().map(frame).collect();
        let order = shuffled(flows.len() as u32);
        Self { frames, flows: flows.into_iter().map(|(ends, _)| ends).collect(), order, at: 0 }
    }

    /// Frames of flows that nothing is known of: they are sent as they are, and not answered.
    pub fn of_frames(frames: Vec<[u8; FRAME]>) -> Self {
        let order = shuffled(frames.len() as u32);
        Self { flows: Vec::new(), frames, order, at: 0 }
    }

    /// Number of flows.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// A data packet of every flow.
    pub fn frames(&self) -> &[[u8; FRAME]] {
        &self.frames
    }

    /// The first packet of a flow.
    pub fn opening(&self, flow: usize) -> Option<[u8; FRAME]> {
        let ends = self.flows.get(flow)?;
        Some(if self.is_tcp(flow) { packet::tcp(ends, flag::SYN, 1000, 0) } else { packet::udp(ends) })
    }

    /// The answer to an opening packet as it left the router.
    pub fn answer(&self, flow: usize, sent: &[u8]) -> Option<[u8; FRAME]> {
        let ends = packet::answering(sent)?;
        Some(if self.is_tcp(flow) {
            packet::tcp(&ends, flag::SYN | flag::ACK, 5000, 1001)
        } else {
            packet::udp(&ends)
        })
    }

    /// The next data packet; TCP flows send new data every time.
    pub fn next(&mut self) -> [u8; FRAME] {
        let flow = self.order.get(self.at).map_or(0, |&flow| flow as usize);
        self.at = (self.at + 1) % self.order.len().max(1);
        self.data(flow).unwrap_or([0; FRAME])
    }

    /// The next data packet of a flow.
    pub fn data(&mut self, flow: usize) -> Option<[u8; FRAME]> {
        let frame = self.frames.get_mut(flow)?;
        let packet = *frame;
        if packet[23] == 6 {
            packet::advance_sequence(frame, DATA);
        }
        Some(packet)
    }

    fn is_tcp(&self, flow: usize) -> bool {
        self.frames.get(flow).is_some_and(|frame| frame[23] == 6)
    }
}

/// UDP flows, each from an address of its own, and that they are not TCP.
fn subscribers(count: u32) -> impl Iterator<Item = (Ends, bool)> {
    let source = |flow| Ipv4Addr::from_bits(SOURCES.to_bits() + flow);
    (0..count).map(move |flow| (Ends { source: source(flow), ..ends(flow) }, false))
}

/// Whether a flow, and whether it is TCP, is steered to a worker.
fn belongs((ends, tcp): &(Ends, bool), worker: u32, workers: u32) -> bool {
    let tuple = Tuple {
        src: Addr::v4(ends.source.to_bits()),
        dst: Addr::v4(ends.destination.to_bits()),
        src_port: ends.source_port,
        dst_port: ends.destination_port,
        protocol: if *tcp { 6 } else { 17 },
        icmp: 0,
        zone: 0,
    };
    steer(&tuple, workers) == worker
}

fn is_tcp(flow: u32, udp_only: bool) -> bool {
    !udp_only && flow.is_multiple_of(2)
}

/// Flows of one protocol differ in their source port, so that masquerade can keep it.
pub fn ends(flow: u32) -> Ends {
    Ends {
        source_mac: GENERATOR_MAC,
        destination_mac: LAN_PORT_MAC,
        source: Ipv4Addr::from_bits(SOURCES.to_bits() + 1 + flow % 8191),
        destination: Ipv4Addr::from_bits(DESTINATIONS.to_bits() + 1 + flow % 509),
        source_port: 16384 + (flow / 2 % 32768) as u16,
        destination_port: 4000 + (flow % 16) as u16,
    }
}

/// 0…count-1 in a fixed random order.
fn shuffled(count: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for i in (1..order.len()).rev() {
        order.swap(i, (random.bits() >> 11) as usize % (i + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn all_flows_are_sent_once_per_turn_and_differ() {
        let mut traffic = Traffic::new(65_536, false);
        let tuples: BTreeSet<_> =
            (0..65_536).map(|_| traffic.next()).map(|f| (f[23], f[26..38].to_vec())).collect();
        assert_eq!(tuples.len(), 65_536);
        assert_eq!(tuples.iter().filter(|(protocol, _)| *protocol == 6).count(), 32_768);
    }

    #[test]
    fn tcp_sends_new_data_on_every_turn() {
        let mut traffic = Traffic::new(2, false);
        let turn: Vec<_> = (0..4).map(|_| traffic.next()).filter(|frame| frame[23] == 6).collect();
        let sequence = |frame: &[u8; FRAME]| u32::from_be_bytes(frame[38..42].try_into().unwrap());
        assert_eq!(turn.iter().map(sequence).collect::<Vec<_>>(), [1001, 1007]);
    }
}
