//! A packet socket, shared by two threads: the worker that receives from it, and the control thread that watches its
//! ring.
//!
//! The kernel writes a virtio-net header before it passes a slot of a ring to user space. A frame whose kind of
//! segmentation such a header cannot express (SCTP, IP fragments; datagrams before Linux 6.2) is dropped, but the
//! kernel keeps the slot, and from then on finds the ring full: every frame is dropped, and no reader can change that
//! (`tpacket_rcv` in net/packet/af_packet.c, since Linux 5.6). Read from the socket's queue, only that frame is
//! dropped.

use std::ffi::c_int;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::wake;

/// Consecutive checks at which a ring must not have advanced to be taken as stopped. A worker that empties a full ring
/// during one check is noticed at the next.
const CHECKS: u32 = 2;

/// A packet socket and what the kernel has counted for it.
#[derive(Debug)]
pub(crate) struct PacketSocket {
    fd: OwnedFd,
    accepted: AtomicU64,
    dropped: AtomicU64,
}

/// Frames since the socket was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    accepted: u64,
    dropped: u64,
}

impl PacketSocket {
    /// Takes over a bound socket.
    pub(crate) fn new(fd: OwnedFd) -> Self {
        Self { fd, accepted: AtomicU64::new(0), dropped: AtomicU64::new(0) }
    }

    /// The descriptor, for poll(2) and options.
    pub(crate) fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Sets an option.
    pub(crate) fn set<T>(&self, level: c_int, name: c_int, value: &T) -> std::io::Result<()> {
        option(&self.fd, level, name, value)
    }

    /// Reads an option.
    pub(crate) fn get<T: Copy>(&self, level: c_int, name: c_int, mut value: T) -> std::io::Result<T> {
        let mut length = size_of::<T>() as libc::socklen_t;
        // SAFETY: `value` and `length` are valid places, and `length` says how large the first is; T is plain
        // data in every use.
        let result = unsafe {
            libc::getsockopt(
                self.as_raw_fd(),
                level,
                name,
                std::ptr::from_mut(&mut value).cast(),
                &mut length,
            )
        };
        if result == 0 { Ok(value) } else { Err(std::io::Error::last_os_error()) }
    }

    /// Frames that the kernel dropped because the buffer was full.
    pub(crate) fn dropped(&self) -> u64 {
        self.count().dropped
    }

    /// Sum of what the kernel has reported: reading the counter resets it (packet(7), `PACKET_STATISTICS`).
    fn count(&self) -> Counts {
        let empty = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let new = self.get(libc::SOL_PACKET, libc::PACKET_STATISTICS, empty).unwrap_or(empty);
        // Dropped frames are among the packets.
        let (dropped, accepted) = (new.tp_drops, new.tp_packets.saturating_sub(new.tp_drops));
        let add = |total: &AtomicU64, count: u32| {
            total.fetch_add(u64::from(count), Ordering::Relaxed) + u64::from(count)
        };
        Counts { accepted: add(&self.accepted, accepted), dropped: add(&self.dropped, dropped) }
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Sets an option of a socket.
pub(crate) fn option<T>(socket: &impl AsFd, level: c_int, name: c_int, value: &T) -> std::io::Result<()> {
    // SAFETY: `value` is alive and the length is its size; the options used here take plain data, or a
    // sock_fprog whose program the caller keeps alive.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Watches a socket's ring from another thread than the one that receives. It does not keep the socket open.
#[derive(Debug)]
pub struct RingWatch {
    socket: Weak<PacketSocket>,
    stillness: Stillness,
}

impl RingWatch {
    /// Watches a socket, without keeping it open.
    pub(crate) fn new(socket: &Arc<PacketSocket>) -> Self {
        Self { socket: Arc::downgrade(socket), stillness: Stillness::default() }
    }

    /// Checks the ring, to be called a few times a second. Returns whether the kernel has stopped filling it and will
    /// not resume.
    pub fn has_stopped(&mut self) -> bool {
        let Some(socket) = self.socket.upgrade() else { return false };
        let counts = socket.count();
        let waiting = wake::poll(&mut [wake::readable(socket.as_raw_fd())], Some(Duration::ZERO)) > 0;
        self.stillness.look(counts, waiting)
    }
}

/// Counts consecutive checks at which frames were dropped although the ring had room.
#[derive(Debug, Default)]
struct Stillness {
    before: Counts,
    looks: u32,
}

impl Stillness {
    /// `waiting` is true when frames wait for the worker, so that the ring may really be full.
    fn look(&mut self, counts: Counts, waiting: bool) -> bool {
        let before = std::mem::replace(&mut self.before, counts);
        if waiting || counts.accepted != before.accepted {
            self.looks = 0;
        } else if counts.dropped != before.dropped {
            self.looks += 1;
        }
        self.looks >= CHECKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_has_stopped_when_it_is_empty_and_frames_are_dropped_all_the_same() {
        let mut stillness = Stillness::default();
        let mut look = |accepted, dropped, waiting| stillness.look(Counts { accepted, dropped }, waiting);
        assert!(!look(10, 0, false));
        // Full, for however long.
        for dropped in 1..20 {
            assert!(!look(10, dropped, true));
        }
        // The worker has just emptied it, and takes what comes.
        assert!(!look(10, 21, false));
        assert!(!look(11, 21, false));
        assert!(!look(11, 22, false));
        // Nothing happens at all.
        assert!(!look(11, 22, false));
        assert!(look(11, 23, false));
        assert!(!look(12, 24, false));
    }
}
