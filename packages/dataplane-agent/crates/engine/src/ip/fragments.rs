//! Virtual reassembly: every fragment of a datagram gets the ports of the first fragment, and is forwarded on its own
//! (RFC 4787 §11, VPP's shallow reassembly). Fragments that arrive before the first one wait for it.

use std::collections::{HashMap, VecDeque};

use arrayvec::ArrayVec;

use crate::packet::tuple::Addr;
use crate::packet::{Meta, Packet, flag};
use crate::time::Now;

/// Maximum time for the fragments of a datagram to arrive, ns. Shorter than the 15 s of RFC 791, because a 16-bit
/// identification wraps around within seconds at high rates.
pub const TIMEOUT: u64 = 5_000_000_000;
/// Maximum number of incomplete datagrams, per worker.
pub const DATAGRAMS: usize = 1024;
/// Maximum number of fragments of a datagram that wait for the first one.
pub const HELD_PER_DATAGRAM: usize = 16;
/// Maximum number of waiting fragments, per worker.
pub const HELD: usize = 1024;
/// Maximum number of datagrams in `order`: incomplete ones, and complete ones behind an incomplete one.
const ORDER: usize = 65_536;
/// Maximum number of separate byte ranges of an incomplete datagram.
const RANGES: usize = 16;

/// Source, destination, identification, and protocol if it is of IPv4 (RFC 791 §3.2, RFC 8200 §4.5).
pub type DatagramKey = (Addr, Addr, u32, u8);

#[derive(Debug, Clone, Copy)]
struct FirstFragment {
    protocol: u8,
    src_port: u16,
    dst_port: u16,
    icmp: u8,
    sequence: u32,
    tcp_flags_or_icmp_type: u8,
    icmp_code: u8,
    error: bool,
}

#[derive(Debug)]
struct Datagram<F> {
    started: u64,
    first: Option<FirstFragment>,
    /// Bytes present, `start..end`, ascending, no two touching.
    ranges: ArrayVec<(u32, u32), RANGES>,
    /// Length, once the last fragment has arrived.
    len: Option<u32>,
    held: ArrayVec<Packet<F>, HELD_PER_DATAGRAM>,
    /// Two of its fragments overlap, so that none passes any more (RFC 5722 §4).
    overlapping: bool,
}

/// The result of [`Fragments::insert`].
#[derive(Debug)]
pub enum InsertOutcome<F> {
    /// The ports are in the metadata of the fragment; the list contains the fragments that waited.
    Known(ArrayVec<Packet<F>, HELD_PER_DATAGRAM>),
    /// The fragment waits for the first one.
    Held,
    /// The fragment overlaps another one, or exceeds the datagram.
    Invalid(Packet<F>),
    /// No room for the fragment.
    Full(Packet<F>),
}

/// The bytes of a datagram that a fragment carries (RFC 791 §3.2).
#[derive(Debug, Clone, Copy)]
pub struct FragmentRange {
    /// First byte.
    pub offset: u32,
    /// Bytes.
    pub len: u32,
    /// More fragments follow.
    pub more: bool,
}

/// The incomplete datagrams of a worker.
#[derive(Debug)]
pub struct Fragments<F> {
    datagrams: HashMap<DatagramKey, Datagram<F>>,
    /// Datagrams in the order of their start; some may be complete already.
    order: VecDeque<(u64, DatagramKey)>,
    /// Datagrams with waiting fragments, in order of the first of them; some may have none left.
    waiting: VecDeque<(u64, DatagramKey)>,
    held: usize,
}

impl<F> Default for Fragments<F> {
    fn default() -> Self {
        Self { datagrams: HashMap::new(), order: VecDeque::new(), waiting: VecDeque::new(), held: 0 }
    }
}

impl<F> Fragments<F> {
    /// Inserts a fragment. `packet` comes back unless it is held; the returned `Known` list does not
    /// contain it.
    pub fn insert(
        &mut self,
        key: DatagramKey,
        range: FragmentRange,
        packet: &mut Option<Packet<F>>,
        now: Now,
    ) -> InsertOutcome<F> {
        let Some(mut fragment) = packet.take() else { return InsertOutcome::Held };
        self.compact_order();
        let full = self.datagrams.len() >= DATAGRAMS || self.order.len() >= ORDER;
        if full && !self.datagrams.contains_key(&key) {
            return InsertOutcome::Full(fragment);
        }
        let order = &mut self.order;
        let datagram = self.datagrams.entry(key).or_insert_with(|| {
            order.push_back((now.0, key));
            Datagram {
                started: now.0,
                first: None,
                ranges: ArrayVec::new(),
                len: None,
                held: ArrayVec::new(),
                overlapping: false,
            }
        });
        let is_ipv6 = key.0.as_v4().is_none();
        if range.offset == 0 && datagram.first.is_some() && !is_ipv6 {
            // The identification was reused for another datagram.
            self.held -= datagram.held.len();
            datagram.held.clear();
            datagram.ranges.clear();
            datagram.len = None;
        }
        if datagram.overlapping || !datagram.add(range) {
            // A fragment within what is there is dropped alone: the network may have doubled it.
            datagram.overlapping |= is_ipv6 && !datagram.contains(range);
            return InsertOutcome::Invalid(fragment);
        }
        if range.offset == 0 {
            datagram.first = Some(FirstFragment {
                protocol: fragment.meta.tuple.protocol,
                src_port: fragment.meta.tuple.src_port,
                dst_port: fragment.meta.tuple.dst_port,
                icmp: fragment.meta.tuple.icmp,
                sequence: fragment.meta.sequence,
                tcp_flags_or_icmp_type: fragment.meta.tcp_flags_or_icmp_type,
                icmp_code: fragment.meta.icmp_code,
                error: fragment.meta.is(flag::ICMP_ERROR),
            });
        }
        let Some(first) = datagram.first else {
            if self.held >= HELD || datagram.held.is_full() {
                return InsertOutcome::Full(fragment);
            }
            self.held += 1;
            datagram.held.push(fragment);
            if datagram.held.len() == 1 {
                self.waiting.push_back((datagram.started, key));
                self.compact_waiting();
            }
            return InsertOutcome::Held;
        };
        first.set_ports(&mut fragment.meta);
        let mut waited = std::mem::take(&mut datagram.held);
        self.held -= waited.len();
        for other in &mut waited {
            first.set_ports(&mut other.meta);
        }
        if datagram.is_complete() {
            self.datagrams.remove(&key);
            self.compact_order();
        }
        *packet = Some(fragment);
        InsertOutcome::Known(waited)
    }

    /// Evicts the oldest datagram if there is no room for that of `key`, or the oldest datagram with waiting fragments
    /// if this fragment has to wait and there is no room for it. Returns the waiting fragments of the evicted datagram;
    /// `None` if there is room. The fragments of a datagram usually arrive within microseconds. If new datagrams were
    /// refused until old ones time out, a few hundred fragments a second from any sender could block all fragmented
    /// traffic.
    pub fn make_room(
        &mut self,
        key: DatagramKey,
        range: FragmentRange,
    ) -> Option<ArrayVec<Packet<F>, HELD_PER_DATAGRAM>> {
        self.compact_order();
        let full = self.datagrams.len() >= DATAGRAMS || self.order.len() >= ORDER;
        let known = self.datagrams.get(&key);
        if full && known.is_none() {
            return self.order.pop_front().and_then(|(_, key)| self.evict(key));
        }
        let waits =
            range.offset != 0 && known.is_none_or(|known| known.first.is_none() && !known.held.is_full());
        if self.held < HELD || !waits {
            return None;
        }
        while let Some((started, key)) = self.waiting.pop_front() {
            if self.waits(started, key) {
                return self.evict(key);
            }
        }
        None
    }

    fn evict(&mut self, key: DatagramKey) -> Option<ArrayVec<Packet<F>, HELD_PER_DATAGRAM>> {
        let waited = self.datagrams.remove(&key)?.held;
        self.held -= waited.len();
        self.compact_order();
        Some(waited)
    }

    /// Whether fragments of the datagram that began at `started` wait for its first one.
    fn waits(&self, started: u64, key: DatagramKey) -> bool {
        self.datagrams
            .get(&key)
            .is_some_and(|datagram| datagram.started == started && !datagram.held.is_empty())
    }

    /// Removes datagrams without waiting fragments from [`Self::waiting`], when it has become long.
    fn compact_waiting(&mut self) {
        if self.waiting.len() < 2 * HELD {
            return;
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain(|&(started, key)| self.waits(started, key));
        self.waiting = waiting;
    }

    /// Removes complete datagrams from the front of the order.
    fn compact_order(&mut self) {
        while let Some((started, key)) = self.order.front() {
            if self.datagrams.get(key).is_some_and(|datagram| datagram.started == *started) {
                break;
            }
            self.order.pop_front();
        }
    }

    /// Removes an expired datagram with waiting fragments, and returns these. `None` if there is none.
    pub fn expire(&mut self, now: Now) -> Option<ArrayVec<Packet<F>, HELD_PER_DATAGRAM>> {
        while let Some(&(started, key)) = self.order.front() {
            if now.0 < started.saturating_add(TIMEOUT) {
                return None;
            }
            self.order.pop_front();
            if self.datagrams.get(&key).is_some_and(|datagram| datagram.started == started)
                && let Some(datagram) = self.datagrams.remove(&key)
                && !datagram.held.is_empty()
            {
                self.held -= datagram.held.len();
                return Some(datagram.held);
            }
        }
        None
    }

    /// When [`Self::expire`] has to be called next.
    pub fn next_deadline(&self) -> Option<Now> {
        self.order.front().map(|(started, _)| Now(started.saturating_add(TIMEOUT)))
    }

    /// The waiting fragments.
    pub fn packets_mut(&mut self) -> impl Iterator<Item = &mut Packet<F>> {
        self.datagrams.values_mut().flat_map(|datagram| &mut datagram.held)
    }

    /// Number of waiting fragments.
    pub fn held(&self) -> usize {
        self.held
    }
}

impl FirstFragment {
    fn set_ports(self, meta: &mut Meta) {
        // The headers of later fragments of IPv6 may name others.
        meta.tuple.protocol = self.protocol;
        meta.tuple.src_port = self.src_port;
        meta.tuple.dst_port = self.dst_port;
        meta.tuple.icmp = self.icmp;
        meta.sequence = self.sequence;
        meta.tcp_flags_or_icmp_type = self.tcp_flags_or_icmp_type;
        meta.icmp_code = self.icmp_code;
        meta.flags |= flag::FRAGMENT_PORTS_KNOWN;
        if self.error {
            meta.flags |= flag::ICMP_ERROR;
        }
    }
}

impl<F> Datagram<F> {
    fn add(&mut self, range: FragmentRange) -> bool {
        let (start, end) = (range.offset, range.offset + range.len);
        if self.ranges.contains(&(start, end)) {
            // A duplicate of a fragment.
            return true;
        }
        let overlaps = self.ranges.iter().any(|&(from, to)| start < to && from < end);
        let beyond = self.len.is_some_and(|len| end > len)
            || (!range.more && self.ranges.iter().any(|&(_, to)| to > end));
        if overlaps || beyond {
            return false;
        }
        let at = self.ranges.iter().position(|&(from, _)| from >= end).unwrap_or(self.ranges.len());
        let before =
            at.checked_sub(1).filter(|&before| self.ranges.get(before).is_some_and(|r| r.1 == start));
        let after = self.ranges.get(at).copied().filter(|range| range.0 == end);
        match (before.and_then(|before| self.ranges.get_mut(before)), after) {
            (Some(range), Some(next)) => {
                range.1 = next.1;
                self.ranges.remove(at);
            }
            (Some(range), None) => range.1 = end,
            (None, Some(_)) => {
                if let Some(range) = self.ranges.get_mut(at) {
                    range.0 = start;
                }
            }
            (None, None) => {
                if self.ranges.try_insert(at, (start, end)).is_err() {
                    return false;
                }
            }
        }
        if !range.more {
            self.len = Some(end);
        }
        true
    }

    fn contains(&self, range: FragmentRange) -> bool {
        let end = range.offset + range.len;
        self.ranges.iter().any(|&(from, to)| from <= range.offset && end <= to)
    }

    fn is_complete(&self) -> bool {
        matches!((self.ranges.as_slice(), self.len), ([(0, end)], Some(len)) if *end == len)
    }
}
