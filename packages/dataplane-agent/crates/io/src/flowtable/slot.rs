//! The array of slots, mapped into this process and used by the programs and the workers.

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::Action;

/// Offsets within a slot, as the programs have them.
pub(super) mod offset {
    use std::mem::offset_of;

    use super::Slot;

    macro_rules! offsets {
        ($($name:ident $field:ident)*) => {
            $(pub const $name: i16 = offset_of!(Slot, $field) as i16;)*
        };
    }
    offsets! {
        EPOCH epoch OUT_IFINDEX out_ifindex MTU mtu TRANSLATES translates MACS macs SRC src DST dst PORTS ports
        HEADER_CHANGE header_change PORTS_CHANGE ports_change ADDRESSES_CHANGE addresses_change
        PACKETS packets BYTES bytes
    }
    /// In the control slot.
    pub const MODE: i16 = OUT_IFINDEX;
}

/// Two cache lines: the action, and the counters. Fields of packets are in network order. In the first slot, the
/// control slot, the epoch is the table's, 0 for no valid slot, and `out_ifindex` the mode.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Slot {
    epoch: AtomicU64,
    out_ifindex: AtomicU32,
    mtu: AtomicU16,
    translates: AtomicU16,
    macs: [AtomicU32; 3],
    _pad: AtomicU32,
    src: AtomicU32,
    dst: AtomicU32,
    ports: AtomicU32,
    header_change: AtomicU16,
    _pad_2: AtomicU16,
    ports_change: AtomicU32,
    addresses_change: AtomicU32,
    packets: AtomicU64,
    bytes: AtomicU64,
    _pad_3: [AtomicU64; 6],
}

/// Bytes of a slot.
pub(super) const SLOT: usize = size_of::<Slot>();
const _: () = assert!(SLOT == 128);

impl Slot {
    /// Epoch in which the flow was installed; in the first slot the current one.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// See [`Self::epoch`]; 0 is none.
    pub fn set_epoch(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::Release);
    }

    /// Increments the epoch, which may be done by several threads at a time.
    pub fn next_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// In the first slot: 1 if keys are address pairs, 0 if they are flows.
    pub fn set_key_kind(&self, kind: u32) {
        self.out_ifindex.store(kind, Ordering::Release);
    }

    /// Writes everything but the epoch; the counters begin at zero.
    pub fn fill(&self, action: &Action) {
        let set = |cell: &AtomicU32, value| cell.store(value, Ordering::Relaxed);
        set(&self.out_ifindex, action.out_ifindex);
        self.mtu.store(action.mtu, Ordering::Relaxed);
        let translates = action.addresses_change != 0 || action.ports_change != 0;
        self.translates.store(translates.into(), Ordering::Relaxed);
        let [a, b, c, d, e, f] = action.dst_mac;
        let [g, h, i, j, k, l] = action.src_mac;
        for (cell, word) in self.macs.iter().zip([[a, b, c, d], [e, f, g, h], [i, j, k, l]]) {
            set(cell, u32::from_ne_bytes(word));
        }
        set(&self.src, action.src.to_be());
        set(&self.dst, action.dst.to_be());
        let ([a, b], [c, d]) = (action.src_port.to_be_bytes(), action.dst_port.to_be_bytes());
        set(&self.ports, u32::from_ne_bytes([a, b, c, d]));
        self.header_change.store(action.header_change.to_be(), Ordering::Relaxed);
        set(&self.ports_change, action.ports_change.to_be().into());
        set(&self.addresses_change, action.addresses_change.to_be().into());
        self.packets.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Packets and L3 bytes.
    pub fn counts(&self) -> (u64, u64) {
        (self.packets.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}

/// The mapped array.
#[derive(Debug)]
pub(super) struct Slots {
    first: *const Slot,
    count: usize,
}

// SAFETY: the mapping belongs to the value until it is dropped, and all fields are atomics.
unsafe impl Send for Slots {}
// SAFETY: slots are atomics, which threads may share.
unsafe impl Sync for Slots {}

impl Slots {
    /// Maps an array that was made with `BPF_F_MMAPABLE` for so many slots.
    pub fn map(array: &OwnedFd, count: usize) -> Result<Self> {
        let (access, length) = (libc::PROT_READ | libc::PROT_WRITE, count * SLOT);
        // SAFETY: a mapping at an address of the kernel's choice touches no existing memory.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), length, access, libc::MAP_SHARED, array.as_raw_fd(), 0)
        };
        if base == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        Ok(Self { first: base.cast_const().cast(), count })
    }

    /// A slot.
    pub fn get(&self, index: u32) -> Option<&Slot> {
        // SAFETY: the mapping holds `count` slots, is aligned to pages and stays as long as `self`; a slot is
        // integers only, which the kernel's programs too change as atomics or in words.
        ((index as usize) < self.count).then(|| unsafe { &*self.first.add(index as usize) })
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: the value owns the mapping, and no reference into it outlives the value.
        unsafe { libc::munmap(self.first.cast_mut().cast(), self.count * SLOT) };
    }
}
