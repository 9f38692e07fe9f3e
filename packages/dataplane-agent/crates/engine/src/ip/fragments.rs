//! Virtual reassembly: every fragment of a datagram gets the ports of the first fragment, and is forwarded on its own
//! (RFC 4787 §11, VPP's shallow reassembly). Fragments that arrive before the first one wait for it; those of an ICMP error
//! wait until all have arrived.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrayvec::ArrayVec;

use crate::packet::frame::Frame;
use crate::packet::tuple::{Addr, Zone};
use crate::packet::{Meta, Packet, flag};
use crate::time::Now;

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

/// Source, destination, identification, protocol if it is of IPv4 (RFC 791 §3.2, RFC 8200 §4.5), and zone.
pub type DatagramKey = (Addr, Addr, u32, u8, Zone);

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
    /// The ports are in the metadata of the fragment; the list contains the fragments that waited. Those of an ICMP error are
    /// all of its fragments.
    Known(ArrayVec<Packet<F>, HELD_PER_DATAGRAM>),
    /// The fragment waits for the first one, or for all of an ICMP error.
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

/// The settings of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FragmentLimits {
    /// Maximum memory of waiting fragments over all workers, bytes.
    pub bytes: usize,
    /// Maximum time for the fragments of a datagram to arrive, ns.
    pub time: u64,
}

impl FragmentLimits {
    /// Those of IPv6, which has no settings for them: the memory is the default of Linux (ip6frag_high_thresh).
    pub const IPV6: Self = Self { bytes: 4 << 20, time: 5_000_000_000 };
}

/// The incomplete datagrams of a worker, of one family.
#[derive(Debug)]
pub struct Fragments<F> {
    datagrams: HashMap<DatagramKey, Datagram<F>>,
    /// Datagrams in the order of their start; some may be complete already.
    order: VecDeque<(u64, DatagramKey)>,
    /// Datagrams with waiting fragments, in order of the first of them; some may have none left.
    waiting: VecDeque<(u64, DatagramKey)>,
    held: usize,
    /// Memory of the waiting fragments of all workers, bytes.
    bytes: Arc<AtomicUsize>,
    limits: FragmentLimits,
}

impl<F: Frame> Fragments<F> {
    /// An empty table. `bytes` is the memory of the waiting fragments of all workers.
    pub fn new(bytes: Arc<AtomicUsize>, limits: FragmentLimits) -> Self {
        Self {
            datagrams: HashMap::new(),
            order: VecDeque::new(),
            waiting: VecDeque::new(),
            held: 0,
            bytes,
            limits,
        }
    }

    /// Takes over other settings. Fragments that wait stay until others need their room or their time is over.
    pub fn set_limits(&mut self, limits: FragmentLimits) {
        self.limits = limits;
    }

    /// Whether there is no room for another waiting fragment of this memory.
    fn is_full(&self, bytes: usize) -> bool {
        self.held >= HELD || self.bytes.load(Ordering::Relaxed).saturating_add(bytes) > self.limits.bytes
    }

    /// Counts fragments that wait no longer.
    fn release(&mut self, released: &[Packet<F>]) {
        self.held -= released.len();
        self.bytes.fetch_sub(released.iter().map(footprint).sum(), Ordering::Relaxed);
    }

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
            datagram.ranges.clear();
            datagram.len = None;
            let outdated = std::mem::take(&mut datagram.held);
            self.release(&outdated);
        }
        let bytes = footprint(&fragment);
        let full = self.is_full(bytes);
        let Some(datagram) = self.datagrams.get_mut(&key) else { return InsertOutcome::Full(fragment) };
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
        let complete = datagram.is_complete();
        let Some(first) = datagram.first.filter(|first| complete || !first.error) else {
            if full || datagram.held.is_full() {
                return InsertOutcome::Full(fragment);
            }
            self.held += 1;
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
            datagram.held.push(fragment);
            if datagram.held.len() == 1 {
                self.waiting.push_back((datagram.started, key));
                self.compact_waiting();
            }
            return InsertOutcome::Held;
        };
        first.set_ports(&mut fragment.meta);
        let mut waited = std::mem::take(&mut datagram.held);
        for other in &mut waited {
            first.set_ports(&mut other.meta);
        }
        if complete {
            self.datagrams.remove(&key);
            self.compact_order();
        }
        self.release(&waited);
        *packet = Some(fragment);
        InsertOutcome::Known(waited)
    }

    /// Evicts the oldest datagram if there is no room for that of `key`, or the oldest datagram with waiting fragments
    /// if this fragment, of this many bytes of memory, has to wait and there is no room for it. Returns the waiting
    /// fragments of the evicted datagram; `None` if there is room. The fragments of a datagram usually arrive within
    /// microseconds. If new datagrams were refused until old ones time out, a few hundred fragments a second from any
    /// sender could block all fragmented traffic.
    pub fn make_room(
        &mut self,
        key: DatagramKey,
        range: FragmentRange,
        bytes: usize,
    ) -> Option<ArrayVec<Packet<F>, HELD_PER_DATAGRAM>> {
        self.compact_order();
        let full = self.datagrams.len() >= DATAGRAMS || self.order.len() >= ORDER;
        let known = self.datagrams.get(&key);
        if full && known.is_none() {
            return self.order.pop_front().and_then(|(_, key)| self.evict(key));
        }
        let waits =
            range.offset != 0 && known.is_none_or(|known| known.first.is_none() && !known.held.is_full());
        if !waits || !self.is_full(bytes) {
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
        self.release(&waited);
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
            if now.0 < started.saturating_add(self.limits.time) {
                return None;
            }
            self.order.pop_front();
            if self.datagrams.get(&key).is_some_and(|datagram| datagram.started == started)
                && let Some(datagram) = self.datagrams.remove(&key)
                && !datagram.held.is_empty()
            {
                self.release(&datagram.held);
                return Some(datagram.held);
            }
        }
        None
    }

    /// When [`Self::expire`] has to be called next.
    pub fn next_deadline(&self) -> Option<Now> {
        self.order.front().map(|(started, _)| Now(started.saturating_add(self.limits.time)))
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

/// Memory of a fragment, bytes.
fn footprint<F: Frame>(packet: &Packet<F>) -> usize {
    packet.frame.as_ref().map_or(0, Frame::footprint)
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
