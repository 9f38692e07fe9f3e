//! A forwarder beside the engine, which does what [`Offload`] says and nothing else.

use std::net::Ipv4Addr;

use tollway_engine::engine::offload::{Offload, OffloadedCounts};
use tollway_engine::ids::PortId;
use tollway_wire::ipv4;
use tollway_wire::tcp::flag;

use crate::router::{Output, Router, To};
use crate::{Packet, PacketBuilder};

/// Flows of a router that are forwarded beside it.
#[derive(Debug, Default)]
pub struct Forwarder {
    flows: Vec<Flow>,
}

#[derive(Debug)]
struct Flow {
    offload: Offload,
    packets: u64,
    bytes: u64,
}

/// The fields of a packet that an [`Offload`] changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forwarded {
    /// Port it leaves by.
    pub port: PortId,
    /// Link-layer destination and source.
    pub link: ([u8; 6], [u8; 6]),
    /// Source and destination.
    pub addresses: (Ipv4Addr, Ipv4Addr),
    /// Ports.
    pub ports: (u16, u16),
    /// Time to live.
    pub ttl: u8,
}

impl Forwarded {
    /// From a packet that an engine has forwarded; `None` for any other.
    pub fn read(output: &Output) -> Option<Self> {
        let To::Port(port) = output.to else { return None };
        let Packet { eth_dst, eth_src, src, dst, ports, ttl, .. } = Packet::read(&output.bytes)?;
        Some(Self { port, link: (eth_dst, eth_src), addresses: (src, dst), ports, ttl })
    }
}

impl Forwarder {
    /// Looks at every flow and takes over those that the router has found since.
    pub fn look(&mut self, router: &mut Router) {
        let now = router.now();
        let found = router.offloads.as_mut().map(std::mem::take).unwrap_or_default();
        let engine = &mut router.engines[0];
        self.flows.retain_mut(|flow| {
            let OffloadedCounts { right, .. } =
                engine.add_offloaded_counts(&mut flow.offload.handle, flow.packets, flow.bytes, now);
            if !right {
                engine.end_offload(&flow.offload.handle);
            }
            right
        });
        for offload in found {
            let known =
                |flow: &Flow| (flow.offload.in_port, flow.offload.tuple) == (offload.in_port, offload.tuple);
            if !self.flows.iter().any(known) {
                self.flows.push(Flow { offload, packets: 0, bytes: 0 });
            }
        }
    }

    /// Number of flows.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Forwards a packet of a known flow. `None`: that is the router's business.
    pub fn forward(&mut self, port: PortId, packet: &PacketBuilder) -> Option<Forwarded> {
        let packet = Packet::read(&packet.build())?;
        let closing = packet.tcp_flags.is_some_and(|flags| flags & (flag::FIN | flag::SYN | flag::RST) != 0);
        let flow = self.flows.iter_mut().find(|flow| flow.matches(port, &packet))?;
        let headers = if packet.protocol == ipv4::TCP { 40 } else { 28 };
        let length = headers + packet.payload.len() as u64;
        if packet.ttl <= 1
            || (closing && !flow.offload.address_pair_only)
            || length > u64::from(flow.offload.mtu)
        {
            return None;
        }
        flow.packets += 1;
        flow.bytes += length;
        let Offload { target, out_port, dst_mac, src_mac, .. } = flow.offload;
        let address =
            |address: tollway_engine::packet::tuple::Addr| Ipv4Addr::from_bits(address.as_v4().unwrap_or(0));
        Some(Forwarded {
            port: out_port,
            link: (dst_mac, src_mac),
            addresses: (address(target.src), address(target.dst)),
            ports: if flow.offload.address_pair_only {
                packet.ports
            } else {
                (target.src_port, target.dst_port)
            },
            ttl: packet.ttl - 1,
        })
    }
}

impl Flow {
    fn matches(&self, port: PortId, packet: &Packet) -> bool {
        let Offload { tuple, in_port, address_pair_only, .. } = self.offload;
        let addresses = (tuple.src.as_v4(), tuple.dst.as_v4());
        in_port == port
            && addresses == (Some(packet.src.to_bits()), Some(packet.dst.to_bits()))
            && (address_pair_only
                || (tuple.protocol, tuple.src_port, tuple.dst_port)
                    == (packet.protocol, packet.ports.0, packet.ports.1))
    }
}
