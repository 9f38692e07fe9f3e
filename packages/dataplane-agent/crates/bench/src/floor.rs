//! What the least possible work costs on the same frames in the same run: the baselines of the engine
//! cases. They are floors, not routers: nothing is validated, decided or counted.

use tollway_engine::packet::frame::Frame;
use tollway_io::PoolFrame;

/// `floor/copy-parse`: read the headers, lower the TTL with its checksum, write both link-layer
/// addresses. Returns a sum over what was read.
pub fn copy_parse(frames: &mut [PoolFrame], next_hop: [u8; 12]) -> u64 {
    let mut sum = 0_u64;
    for frame in frames {
        let Some(head) = frame.head_mut().first_chunk_mut::<42>() else { continue };
        if head[12] != 8 || head[13] != 0 || head[14] != 0x45 || head[22] < 2 {
            continue;
        }
        sum = sum.wrapping_add(u64::from(key(head) as u32));
        head[22] -= 1;
        let check = u32::from(u16::from_be_bytes([head[24], head[25]])) + 0x100;
        let folded = (check + (check >> 16)) as u16;
        head[24..26].copy_from_slice(&folded.to_be_bytes());
        head[..12].copy_from_slice(&next_hop);
    }
    sum
}

/// Addresses, ports and protocol of a frame with an IPv4 header without options.
fn key(head: &[u8; 42]) -> u128 {
    let mut bytes = [0; 16];
    bytes[..12].copy_from_slice(&head[26..38]);
    bytes[12] = head[23];
    u128::from_le_bytes(bytes)
}

/// Addresses, ports and protocol of a frame: which flow it belongs to. The default is that of no flow.
pub trait FlowKey: Copy + Default + PartialEq {
    /// That of a frame; `None` if it is too short.
    fn of(frame: &[u8]) -> Option<Self>;
    /// A hash of it.
    fn hash(self) -> u32;
}

/// The key of an IPv4 header without options.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ipv4Key(u128);

impl FlowKey for Ipv4Key {
    fn of(frame: &[u8]) -> Option<Self> {
        frame.first_chunk().map(|head| Self(key(head)))
    }
    fn hash(self) -> u32 {
        hash(self.0)
    }
}

/// The key of an IPv6 header without extensions: addresses, ports and protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ipv6Key([u128; 2], u64);

impl FlowKey for Ipv6Key {
    fn of(frame: &[u8]) -> Option<Self> {
        let head: &[u8; 58] = frame.first_chunk()?;
        let address = |at: usize| head[at..].first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes));
        let ports = head[54..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        Some(Self([address(22), address(38)], u64::from(ports) << 8 | u64::from(head[20])))
    }
    fn hash(self) -> u32 {
        let Self([src, dst], rest) = self;
        hash(src ^ dst.rotate_left(64) ^ u128::from(rest) << 16)
    }
}

/// `floor/flow-64k`: a flow table that knows nothing but "which flow is this".
pub struct FlowTable<K> {
    slots: Vec<Slot<K>>,
    hashes: Vec<u32>,
}

/// Half a cache line, a whole one of IPv6; an empty slot has a zero key.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
struct Slot<K> {
    key: K,
    packets: u64,
}

impl<K: FlowKey> FlowTable<K> {
    /// Room for `flows`, half full then.
    pub fn new(flows: usize) -> Self {
        Self {
            slots: vec![Slot::default(); (2 * flows).next_power_of_two()],
            hashes: Vec::with_capacity(1024),
        }
    }

    /// Adds a frame's flow.
    pub fn insert(&mut self, frame: &[u8]) {
        let Some(key) = K::of(frame) else { return };
        let mask = self.slots.len() - 1;
        let mut at = key.hash() as usize;
        while let Some(slot) = self.slots.get_mut(at & mask) {
            if slot.key == key || slot.key == K::default() {
                slot.key = key;
                return;
            }
            at += 1;
        }
    }

    /// Finds each frame's flow and counts the packet; returns how many were found. Two passes: hash and
    /// touch the slot's line for all, then compare.
    pub fn look_up(&mut self, frames: &[PoolFrame]) -> u64 {
        let mask = self.slots.len() - 1;
        self.hashes.clear();
        let mut touched = 0;
        for frame in frames {
            let hash = K::of(frame.head()).map_or(0, K::hash);
            touched += self.slots.get(hash as usize & mask).map_or(0, |slot| slot.packets);
            self.hashes.push(hash);
        }
        std::hint::black_box(touched);
        let mut found = 0;
        for (frame, &hash) in frames.iter().zip(&self.hashes) {
            let Some(key) = K::of(frame.head()) else { continue };
            let mut at = hash as usize;
            while let Some(slot) = self.slots.get_mut(at & mask) {
                if slot.key == key {
                    slot.packets += 1;
                    found += 1;
                    break;
                }
                if slot.key == K::default() {
                    break;
                }
                at += 1;
            }
        }
        found
    }
}

fn hash(key: u128) -> u32 {
    let folded =
        (key as u64 ^ 0x9e37_79b9_7f4a_7c15) as u128 * ((key >> 64) as u64 ^ 0xd130_2b97_68d5_61f1) as u128;
    (folded ^ folded >> 64) as u32
}
