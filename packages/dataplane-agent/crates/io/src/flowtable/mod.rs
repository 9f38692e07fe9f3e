//! Flow offload: flows that the kernel forwards between ports by packet socket. What the worker has decided about a
//! flow is written to a table that two eBPF programs at the port's ingress execute, so that its packets are neither
//! copied to the process and back nor wake a worker.
//!
//! The table is a hash map from flows to slots and an array of slots, which is mapped into this process. A slot is
//! valid while its epoch is the table's: one write invalidates all of them.

use std::io::Result;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;

use crate::bpf::{self, MapShape};
use crate::packet_socket::option;

mod program;
mod slot;

use program::Maps;
use slot::{SLOT, Slots};

/// `BPF_MAP_TYPE_…`, `BPF_F_…`, `BPF_PROG_TYPE_…`, `BPF_TCX_INGRESS` (linux/bpf.h), `SO_ATTACH_BPF` (socket(7)).
const HASH: u32 = 1;
const ARRAY: u32 = 2;
const ARRAY_PER_CORE: u32 = 6;
const WITHOUT_RESERVE: u32 = 1;
const MAPPABLE: u32 = 1 << 10;
const SOCKET_FILTER: u32 = 1;
const CLASSIFIER: u32 = 3;
const TCX_INGRESS: u32 = 46;
/// `BPF_F_BEFORE`: otherwise another program could take packets that the sockets no longer get.
const BEFORE_OTHERS: u32 = 1 << 3;

/// Maximum number of flow directions in the table.
pub const CAPACITY: u32 = 1 << 16;
/// Time from [`Share::remove`] of a flow to [`Share::free_slot`], ns: longer than a packet can be between the two
/// programs.
pub const GRACE: u64 = 1_000_000_000;

/// A direction of a flow, key of the hash map.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    src: [u8; 4],
    dst: [u8; 4],
    ports: [u8; 4],
    /// Index of the netdev that receives it, and in the lowest byte the protocol.
    ingress: u32,
}

impl Key {
    /// The key of packets with these addresses and ports in host order, received by the netdev `ifindex`.
    pub fn flow(ifindex: u32, protocol: u8, src: u32, dst: u32, src_port: u16, dst_port: u16) -> Self {
        let ([a, b], [c, d]) = (src_port.to_be_bytes(), dst_port.to_be_bytes());
        let ingress = ifindex << 8 | u32::from(protocol);
        Self { src: src.to_be_bytes(), dst: dst.to_be_bytes(), ports: [a, b, c, d], ingress }
    }

    /// The key of all packets from one address to another, received by the netdev `ifindex`.
    pub fn address_pair(ifindex: u32, src: u32, dst: u32) -> Self {
        Self::flow(ifindex, 0, src, dst, 0, 0)
    }
}

/// Forwarding of a flow's packets. Addresses and ports are in host order, and those of the packet where they are not
/// translated; the changes are differences for checksums (RFC 1624), in host order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action {
    /// Netdev they leave by.
    pub out_ifindex: u32,
    /// MTU of the egress device, bytes.
    pub mtu: u16,
    /// Link-layer destination.
    pub dst_mac: [u8; 6],
    /// Link-layer source.
    pub src_mac: [u8; 6],
    /// Source.
    pub src: u32,
    /// Destination.
    pub dst: u32,
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Change of the IPv4 header checksum, TTL included.
    pub header_change: u16,
    /// Change of checksums by the addresses, 0 without.
    pub addresses_change: u16,
    /// Change of checksums by the ports, 0 without.
    pub ports_change: u16,
}

/// The kind of keys of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// [`Key::flow`].
    Flows,
    /// [`Key::address_pair`].
    Pairs,
}

/// The table, its programs, and what is attached.
#[derive(Debug)]
pub struct Flowtable {
    maps: Maps,
    slots: Slots,
    decide: OwnedFd,
    forward: OwnedFd,
}

impl Flowtable {
    /// An empty one that no port uses.
    ///
    /// # Errors
    /// When the kernel refuses: no privilege, or too old (it takes 6.6).
    pub fn new() -> Result<Self> {
        let count = CAPACITY + 1;
        let size = |of: usize| of as u32;
        let flows = MapShape {
            kind: HASH,
            key_size: size(size_of::<Key>()),
            value_size: 4,
            entries: CAPACITY,
            flags: WITHOUT_RESERVE,
        };
        let slots =
            MapShape { kind: ARRAY, key_size: 4, value_size: size(SLOT), entries: count, flags: MAPPABLE };
        let decided = MapShape { kind: ARRAY_PER_CORE, key_size: 4, value_size: 8, entries: 1, flags: 0 };
        let maps = Maps { flows: bpf::map(flows)?, slots: bpf::map(slots)?, decided: bpf::map(decided)? };
        let slots = Slots::map(&maps.slots, count as usize)?;
        let decide = bpf::load(&program::decide(&maps), SOCKET_FILTER, 0, 0)?;
        let forward = bpf::load(&program::forward(&maps), CLASSIFIER, TCX_INGRESS, 0)?;
        if let Some(control) = slots.get(0) {
            control.set_epoch(1);
        }
        Ok(Self { maps, slots, decide, forward })
    }

    /// Attaches the forwarding program to a netdev. It forwards what connected packet sockets do not get.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn attach(&self, ifindex: u32) -> Result<Link> {
        Ok(Link { _program: bpf::link(&self.forward, ifindex, TCX_INGRESS, BEFORE_OTHERS)? })
    }

    /// Attaches the filter that drops the packet socket's copies of packets that the table forwards. The netdev of the
    /// socket must be attached before, and stay attached for as long.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn connect(&self, socket: &impl AsFd) -> Result<()> {
        let program = self.decide.as_raw_fd();
        option(socket, libc::SOL_SOCKET, libc::SO_ATTACH_BPF, &program)
    }

    /// Invalidates every flow: flows that were installed before are not forwarded any more.
    pub fn invalidate(&self) {
        if let Some(control) = self.slots.get(0) {
            control.next_epoch();
        }
    }

    /// Invalidates every flow. Later flows have keys of this kind.
    pub fn set_key_kind(&self, kind: KeyKind) {
        self.invalidate();
        if let Some(control) = self.slots.get(0) {
            control.set_key_kind(u32::from(kind == KeyKind::Pairs));
        }
    }

    fn epoch(&self) -> u64 {
        self.slots.get(0).map_or(0, slot::Slot::epoch)
    }
}

/// A netdev whose packets the table may forward, as long as this lives. It must go after the sockets are
/// disconnected ([`disconnect`]) or closed.
#[derive(Debug)]
pub struct Link {
    _program: OwnedFd,
}

/// Removes the filter from a socket, so that it receives all packets again.
///
/// # Errors
/// When it had no filter.
pub fn disconnect(socket: &impl AsFd) -> Result<()> {
    option::<libc::c_int>(socket, libc::SOL_SOCKET, libc::SO_DETACH_FILTER, &0)
}

/// A worker's part of the slots.
#[derive(Debug)]
pub struct Share {
    table: Arc<Flowtable>,
    free: Vec<u32>,
}

/// A flow in the table.
#[derive(Debug)]
pub struct Installed {
    slot: u32,
    key: Key,
}

impl Share {
    /// Worker `worker`'s of `workers`.
    pub fn new(table: Arc<Flowtable>, worker: u32, workers: u32) -> Self {
        let each = CAPACITY / workers.max(1);
        let first = 1 + worker * each;
        Self { table, free: (first..first + each).rev().collect() }
    }

    /// Whether there is room for so many flows.
    #[inline]
    pub fn has_room(&self, flows: usize) -> bool {
        self.free.len() >= flows
    }

    /// The table.
    pub fn table(&self) -> &Flowtable {
        &self.table
    }

    /// Installs a flow that was decided at `epoch`. `None` when there is no room, or another worker has installed it:
    /// without connection tracking, packets from one address to another are received by several.
    pub fn install(&mut self, key: Key, action: &Action, epoch: Epoch) -> Option<Installed> {
        let number = self.free.pop()?;
        let slot = self.table.slots.get(number)?;
        slot.fill(action);
        slot.set_epoch(epoch.0);
        if bpf::insert(&self.table.maps.flows, &key, &number).is_err() {
            slot.set_epoch(0);
            self.free.push(number);
            return None;
        }
        Some(Installed { slot: number, key })
    }

    /// The epoch in which decisions made from now on are valid.
    pub fn epoch(&self) -> Epoch {
        Epoch(self.table.epoch())
    }

    /// Whether a flow is still forwarded.
    pub fn is_valid(&self, flow: &Installed) -> bool {
        self.table.slots.get(flow.slot).is_some_and(|slot| slot.epoch() == self.table.epoch())
    }

    /// Packets and L3 bytes that the kernel has forwarded of a flow.
    pub fn counts(&self, flow: &Installed) -> (u64, u64) {
        self.table.slots.get(flow.slot).map_or((0, 0), slot::Slot::counts)
    }

    /// Removes a flow. Packets that another core is forwarding are still forwarded and counted.
    pub fn remove(&mut self, flow: &Installed) {
        if let Some(slot) = self.table.slots.get(flow.slot) {
            slot.set_epoch(0);
        }
        let _gone_already = bpf::delete(&self.table.maps.flows, &flow.key);
    }

    /// Frees the slot of a removed flow, [`GRACE`] after that.
    pub fn free_slot(&mut self, flow: Installed) {
        self.free.push(flow.slot);
    }
}

/// See [`Share::epoch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch(u64);
