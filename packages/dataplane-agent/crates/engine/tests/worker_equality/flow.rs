//! Flows between hosts and a server, and their next packets.

use tollway_config::dataplane::DataplaneConfig;
use tollway_testkit::Networks;
use tollway_testkit::networks::zone;
use tollway_testkit::packet::{PacketBuilder, tcp_flag};
use tollway_testkit::random::Random;
use tollway_testkit::record::{ConnectionRecord, Opener};

use super::{FLOWS, HOSTS, SERVER};

/// What both ends of a flow know, seen through one router: its translations are its own.
#[derive(Clone)]
pub(super) struct Flow {
    number: u8,
    networks: Networks,
    /// Number of the host's network.
    network: usize,
    pub(super) v6: bool,
    host: &'static str,
    pub(super) protocol: u8,
    service: u16,
    seq: [u32; 2],
    answered: bool,
    /// The host and the server as the server sees them.
    pub(super) outside: Option<(u32, u16, u32, u16)>,
}

impl Flow {
    pub(super) fn new(number: u64, networks: Networks, random: &mut Random) -> Self {
        let protocol = [6, 6, 17, 17, 1][random.below(5) as usize];
        let service = if protocol == 6 { 80 } else { 53 } + random.below(4) as u16;
        let host = HOSTS[number as usize % HOSTS.len()];
        Self {
            number: number as u8,
            networks,
            network: 0,
            v6: random.one_in(2),
            host,
            protocol,
            service,
            seq: [1000, 70_000],
            answered: false,
            outside: None,
        }
    }

    /// The flow with the next number: with two networks one of the same addresses and ports, in the other network.
    pub(super) fn next_twin(&self, random: &mut Random) -> Self {
        let number = self.number + 1;
        if self.networks == Networks::One {
            return Self::new(number.into(), self.networks, random);
        }
        Self { number, network: 1, ..self.clone() }
    }

    /// Where the server sees packets come from.
    pub(super) fn learn(&mut self, records: &[ConnectionRecord], config: &DataplaneConfig) {
        let (v6, protocol, host, service) = (self.v6, self.protocol, self.host, self.service);
        let opener =
            Opener { v6, zone: zone(config, self.network), protocol, host, port: self.port(), service };
        if let Some(record) = records.iter().rfind(|record| record.is_of(&opener)) {
            self.outside = Some(record.outside());
        }
    }

    fn port(&self) -> u16 {
        4000 + u16::from(if self.networks == Networks::One { self.number } else { self.number / 2 })
    }

    /// The next packet, with the flow and a number of its own for a payload.
    pub(super) fn next(&mut self, turn: &Turn) -> Option<(u16, PacketBuilder)> {
        let answers = turn.answers && self.outside.is_some();
        let (builder, from, to) = match self.outside.filter(|_| answers) {
            Some((host, port, server, service)) => (PacketBuilder::ipv4_bits(server, host), service, port),
            None => (PacketBuilder::ipv4(self.host, SERVER), self.port(), self.service),
        };
        let mut payload = vec![0; turn.len];
        payload[..4].copy_from_slice(&[
            self.number,
            u8::from(answers),
            (turn.number >> 8) as u8,
            turn.number as u8,
        ]);
        let side = usize::from(answers);
        let packet = match self.protocol {
            6 => {
                let opening = self.seq[side] == [1000, 70_000][side];
                // Nobody answers what was not opened, and nobody goes on before the answer.
                if !answers && opening == self.answered {
                    return None;
                }
                let (seq, ack) = (self.seq[side], self.seq[1 - side]);
                let (flags, ack) = match (opening, answers) {
                    (true, false) => (tcp_flag::SYN, 0),
                    (true, true) => (tcp_flag::SYN | tcp_flag::ACK, ack),
                    _ if turn.pushes => (tcp_flag::ACK | tcp_flag::PSH, ack),
                    _ => (tcp_flag::ACK, ack),
                };
                let len = if opening { 1 } else { payload.len() as u32 };
                self.seq[side] = seq.wrapping_add(len);
                self.answered |= answers;
                let builder = builder.tcp(from, to, flags, seq, ack);
                if opening { builder } else { builder.payload(&payload) }
            }
            17 => builder.udp(from, to).payload(&payload),
            _ if answers => builder.echo_reply(to, 1).payload(&payload),
            _ => builder.echo_request(from, 1).payload(&payload),
        };
        let networks = self.networks;
        let ingress = if answers { networks.uplink(self.network) } else { networks.lan(self.network) };
        Some((ingress, packet.ttl(turn.ttl).dont_fragment(false)))
    }
}

/// What a flow is to send, the same through every router.
pub(super) struct Turn {
    pub(super) number: u32,
    pub(super) flow: usize,
    answers: bool,
    pushes: bool,
    pub(super) len: usize,
    ttl: u8,
    pub(super) fragments: bool,
    pub(super) receiver: usize,
}

impl Turn {
    pub(super) fn new(number: u32, random: &mut Random) -> Self {
        Self {
            number,
            flow: random.below(FLOWS) as usize,
            answers: random.one_in(2),
            pushes: random.one_in(4),
            len: [4, 40, 700, 1200][random.below(4) as usize],
            ttl: if random.one_in(50) { 1 } else { 64 },
            fragments: random.one_in(12),
            receiver: random.below(8) as usize,
        }
    }
}
