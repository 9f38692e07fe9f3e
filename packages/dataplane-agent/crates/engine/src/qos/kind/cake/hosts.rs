//! Hosts, with the number of their bulk flows (flows that always have something to send), so that hosts and not flows
//! get equal shares.

use tollway_config::dataplane::CakeFlowmode;

use crate::qos::kind::header::{HeaderFields, hash_addr, mix};
use crate::qos::kind::pool::Pool;

#[derive(Debug, Default)]
struct Host {
    hash: u64,
    /// Number of flows of the host.
    flows: u32,
    /// Number of flows that always have something to send.
    bulk: u32,
}

/// The hosts of one end.
#[derive(Debug, Default)]
struct End {
    hosts: Pool<Host>,
}

impl End {
    fn bind(&mut self, hash: u64) -> u32 {
        let index = self.hosts.find(hash as u32, |host| host.hash == hash).unwrap_or_else(|| {
            self.hosts.grow_heads();
            self.hosts.insert(hash as u32, Host { hash, ..Host::default() })
        });
        if let Some(host) = self.hosts.get_mut(index) {
            host.flows += 1;
        }
        index
    }

    fn unbind(&mut self, index: u32) {
        if let Some(host) = self.hosts.get_mut(index) {
            host.flows = host.flows.saturating_sub(1);
            if host.flows == 0 {
                self.hosts.remove(index);
            }
        }
    }

    fn count(&mut self, index: u32, up: bool) {
        if let Some(host) = self.hosts.get_mut(index) {
            host.bulk = if up { host.bulk + 1 } else { host.bulk.saturating_sub(1) };
        }
    }

    fn bulk(&self, index: u32) -> u32 {
        self.hosts.get(index).map_or(0, |host| host.bulk)
    }
}

const NONE: u32 = u32::MAX;

/// The source and the destination host of a flow, each only if the mode isolates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    src: u32,
    dst: u32,
}

impl Default for Pair {
    fn default() -> Self {
        Self { src: NONE, dst: NONE }
    }
}

/// The hosts of both ends, sources and destinations.
#[derive(Debug, Default)]
pub struct Hosts {
    src: End,
    dst: End,
}

impl Hosts {
    /// Binds a flow of a tin, which begins to wait, to its hosts.
    pub fn bind(&mut self, mode: CakeFlowmode, fields: &HeaderFields, tin: usize, seed: u64) -> Pair {
        let (src, dst) = match mode {
            CakeFlowmode::DualSrchost => (true, false),
            CakeFlowmode::DualDsthost => (false, true),
            CakeFlowmode::TripleIsolate => (true, true),
            _ => (false, false),
        };
        let hash = |address| hash_addr(address, seed).wrapping_add(tin as u64);
        Pair {
            src: if src { self.src.bind(hash(fields.src)) } else { NONE },
            dst: if dst { self.dst.bind(hash(fields.dst)) } else { NONE },
        }
    }

    /// Unbinds a flow that ends.
    pub fn unbind(&mut self, pair: Pair) {
        self.src.unbind(pair.src);
        self.dst.unbind(pair.dst);
    }

    /// Counts a flow that has become, or is no longer, a bulk flow.
    pub fn count(&mut self, pair: Pair, up: bool) {
        self.src.count(pair.src, up);
        self.dst.count(pair.dst, up);
    }

    /// Number of flows among which the share of a flow's hosts is divided.
    pub fn load(&self, pair: Pair) -> u32 {
        self.src.bulk(pair.src).max(self.dst.bulk(pair.dst)).max(1)
    }
}

/// Hash of the flow of a packet, by the fields that the mode isolates.
pub fn flow_hash(mode: CakeFlowmode, fields: &HeaderFields, seed: u64) -> u64 {
    match mode {
        CakeFlowmode::Flowblind => 0,
        CakeFlowmode::Srchost => hash_addr(fields.src, seed),
        CakeFlowmode::Dsthost => hash_addr(fields.dst, seed),
        CakeFlowmode::Hosts => mix(hash_addr(fields.src, seed), hash_addr(fields.dst, !seed)),
        CakeFlowmode::Flows
        | CakeFlowmode::DualSrchost
        | CakeFlowmode::DualDsthost
        | CakeFlowmode::TripleIsolate => fields.flow_hash(seed),
    }
}
