//! Flows between hosts and a server, and their next packets.

use tollway_config::dataplane::DataplaneConfig;
use tollway_testkit::Networks;
use tollway_testkit::networks::zone;
use tollway_testkit::packet::{PacketBuilder, ip, tcp_flag};
use tollway_testkit::random::Random;
use tollway_testkit::record::{ConnectionRecord, Opener};

use super::{HOSTS, SERVER};

/// First sequence numbers of host and server.
const FIRST_SEQ: [u32; 2] = [1000, 70_000];

/// What both ends of a flow remember.
#[derive(Clone, Copy)]
pub(super) struct Flow {
    networks: Networks,
    /// Number of the host's network.
    network: usize,
    pub(super) v6: bool,
    host: &'static str,
    port: u16,
    service: u16,
    pub(super) protocol: u8,
    /// Next sequence number of host and server; 0 before the handshake.
    seq: [u32; 2],
    /// As the server sees the host and itself.
    outside: (u32, u16, u32, u16),
    stage: u8,
}

impl Flow {
    pub(super) fn new(networks: Networks, random: &mut Random) -> Self {
        let protocol = [6, 6, 17, 17, 1][random.below(5) as usize];
        let host = HOSTS[random.below(3) as usize];
        let port = 4000 + random.below(6) as u16;
        let service = if protocol == 17 { 53 } else { 80 } + random.below(4) as u16;
        let outside = (ip(host), port, ip(SERVER), service);
        let v6 = random.one_in(2);
        let network = if networks == Networks::One { 0 } else { random.below(2) as usize };
        Self { networks, network, v6, host, port, service, protocol, seq: FIRST_SEQ, outside, stage: 0 }
    }

    /// A flow with the same addresses and ports in the other network, if there is one.
    pub(super) fn twin(self) -> Self {
        let network = (self.network + 1) % self.networks.count();
        let outside = (ip(self.host), self.port, ip(SERVER), self.service);
        Self { network, seq: FIRST_SEQ, outside, stage: 0, ..self }
    }

    /// Whether another flow has the same addresses and ports in the other network.
    pub(super) fn is_twin(&self, other: &Self) -> bool {
        let key = |flow: &Self| (flow.v6, flow.host, flow.port, flow.service, flow.protocol);
        self.network != other.network && key(self) == key(other)
    }

    /// The server answers to where packets came from.
    pub(super) fn learn(&mut self, records: &[ConnectionRecord], config: &DataplaneConfig) {
        let (v6, protocol, host, service) = (self.v6, self.protocol, self.host, self.service);
        let opener =
            Opener { v6, zone: zone(config, self.network), protocol, host, port: self.port, service };
        if let Some(record) = records.iter().rfind(|record| record.is_of(&opener)) {
            self.outside = record.outside();
        }
    }

    /// The next packet of the flow: ingress port and packet.
    pub(super) fn next(&mut self, random: &mut Random) -> (u16, PacketBuilder) {
        let answers = self.stage > 0 && random.one_in(2);
        let builder = if answers {
            PacketBuilder::ipv4_bits(self.outside.2, self.outside.0)
        } else {
            PacketBuilder::ipv4(self.host, SERVER)
        };
        let (from, to) = if answers { (self.outside.3, self.outside.1) } else { (self.port, self.service) };
        let len = [0, 1, 100, 700, 1400][random.below(5) as usize];
        let mut packet = match self.protocol {
            6 => self.segment(builder, answers, (from, to), len, random),
            17 => builder.udp(from, to).payload_len(len),
            _ if answers => builder.echo_reply(to, 1).payload_len(len),
            _ => builder.echo_request(from, 1).payload_len(len),
        };
        if self.protocol != 6 {
            self.stage = 1;
        }
        if random.one_in(60) {
            packet = packet.ttl(1);
        }
        // Flows have one, and now and then another.
        packet = packet.dscp(if random.one_in(50) { 46 } else { [0, 10][usize::from(self.port % 2)] });
        if random.one_in(20) {
            packet = packet.dont_fragment(false);
        }
        if random.one_in(80) {
            packet = packet.ip_options(&[1, 1, 1, 0]);
        }
        let ingress =
            if answers { self.networks.uplink(self.network) } else { self.networks.lan(self.network) };
        (ingress, packet)
    }

    fn segment(
        &mut self,
        builder: PacketBuilder,
        answers: bool,
        (from, to): (u16, u16),
        len: usize,
        random: &mut Random,
    ) -> PacketBuilder {
        let side = usize::from(answers);
        let (seq, ack) = (self.seq[side], self.seq[1 - side]);
        let strange = random.one_in(60);
        let (flags, len) = match (self.stage, answers) {
            (0, _) => (tcp_flag::SYN, 0),
            (1, true) => (tcp_flag::SYN | tcp_flag::ACK, 0),
            _ if strange => {
                ([tcp_flag::FIN | tcp_flag::ACK, tcp_flag::RST, tcp_flag::SYN][seq as usize % 3], 0)
            }
            _ if random.one_in(4) => (tcp_flag::ACK | tcp_flag::PSH, len),
            _ => (tcp_flag::ACK, len),
        };
        if self.stage < 2 {
            self.stage = if answers { 2 } else { self.stage.max(1) };
        }
        let seq = if random.one_in(60) { seq.wrapping_add(random.bits() as u32) } else { seq };
        let control = u32::from(flags & (tcp_flag::SYN | tcp_flag::FIN) != 0);
        if seq == self.seq[side] && (flags & tcp_flag::SYN == 0 || self.seq[side] == FIRST_SEQ[side]) {
            self.seq[side] = seq.wrapping_add(len as u32 + control);
        }
        let ack = if flags & tcp_flag::ACK == 0 { 0 } else { ack };
        let segment = builder.tcp(from, to, flags, seq, ack);
        let segment = if flags & tcp_flag::SYN == 0 {
            segment
        } else {
            segment.tcp_options(&[1, 1, 2, 4, 5, 180, 1, 0])
        };
        segment.payload_len(len)
    }
}
