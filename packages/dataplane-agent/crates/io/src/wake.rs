//! Waking a thread that sleeps in poll, and sleeping.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

#[cfg(feature = "loom")]
use loom::sync::atomic::{AtomicBool, Ordering, fence};
#[cfg(not(feature = "loom"))]
use std::sync::atomic::{AtomicBool, Ordering, fence};

/// Whether somebody sleeps. Between "I look for the last time and sleep" and "I put something there, does it sleep?"
/// nothing may be lost: of the two, at least one sees the other.
#[derive(Debug)]
pub struct Doze(AtomicBool);

impl Doze {
    /// Awake.
    #[allow(clippy::new_without_default, reason = "it says more than a default")]
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// To be called by the sleeper before its last look.
    pub fn going_to_sleep(&self) {
        self.0.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// To be called by the sleeper when it is up.
    pub fn awake(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// To be called after something was put where the sleeper looks: whether it must be woken.
    pub fn must_be_woken(&self) -> bool {
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed)
    }
}

/// An eventfd with the knowledge whether anybody sleeps on it.
#[derive(Debug)]
pub struct Wake {
    fd: OwnedFd,
    doze: Doze,
}

impl Wake {
    /// A new one; nobody sleeps.
    ///
    /// # Errors
    /// When the process has no file descriptor left.
    pub fn new() -> std::io::Result<Self> {
        // SAFETY: the call takes no pointers.
        let fd = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
        if fd < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and ours.
        Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(fd) }, doze: Doze::new() })
    }

    /// Descriptor to poll for input.
    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// To be called by the sleeper before its last look at its queues: from here on [`Self::notify`]
    /// makes the descriptor readable.
    pub fn going_to_sleep(&self) {
        self.doze.going_to_sleep();
    }

    /// To be called by the sleeper when it is up.
    pub fn awake(&self) {
        self.doze.awake();
    }

    /// To be called after something was put in the sleeper's queue. A system call only if it sleeps.
    pub fn notify(&self) {
        if self.doze.must_be_woken() {
            self.signal();
        }
    }

    /// Makes the descriptor readable whether somebody sleeps or not.
    pub fn signal(&self) {
        let one = 1_u64.to_ne_bytes();
        // SAFETY: the buffer is eight valid bytes. A full counter means that it is readable already.
        unsafe { libc::write(self.fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Makes the descriptor unreadable.
    pub fn clear(&self) {
        let mut count = [0_u8; 8];
        // SAFETY: the buffer is eight valid bytes; the descriptor does not block.
        unsafe { libc::read(self.fd(), count.as_mut_ptr().cast(), count.len()) };
    }
}

/// Waits until one of `fds` is ready, a signal came or `timeout` is over (`None`: no limit). Returns how
/// many are ready.
pub fn poll(fds: &mut [libc::pollfd], timeout: Option<Duration>) -> usize {
    let limit = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().min(3600) as libc::time_t,
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the slice is valid for its length, `limit` is null or points to a live timespec.
    let ready = unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, limit, std::ptr::null()) };
    usize::try_from(ready).unwrap_or(0)
}

/// An entry for [`poll`] that waits for input.
pub fn readable(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}
