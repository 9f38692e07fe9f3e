//! Sleeping in poll, and waking a sleeping thread.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

#[cfg(feature = "loom")]
use loom::sync::atomic::{AtomicBool, Ordering, fence};
#[cfg(not(feature = "loom"))]
use std::sync::atomic::{AtomicBool, Ordering, fence};

/// Whether a thread sleeps. The sleeper sets the flag and then checks its queues a last time; a producer writes to a
/// queue and then reads the flag. Of the two at least one sees what the other wrote, so no wake-up is lost.
#[derive(Debug)]
pub struct SleepFlag(AtomicBool);

impl SleepFlag {
    /// Awake.
    #[allow(clippy::new_without_default, reason = "new is the name for an awake thread")]
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// To be called by the sleeper before it checks its queues for the last time.
    pub fn before_sleep(&self) {
        self.0.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// To be called by the sleeper after the poll.
    pub fn after_sleep(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// To be called after a write to a queue of the sleeper: whether it must be woken.
    pub fn needs_wakeup(&self) -> bool {
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed)
    }
}

/// An eventfd, and whether a thread sleeps on it.
#[derive(Debug)]
pub struct Wake {
    fd: OwnedFd,
    flag: SleepFlag,
}

impl Wake {
    /// A new one; no thread sleeps.
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
        Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(fd) }, flag: SleepFlag::new() })
    }

    /// Descriptor to poll for input.
    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// To be called by the sleeper before it checks its queues for the last time: from here on [`Self::notify`]
    /// makes the descriptor readable.
    pub fn before_sleep(&self) {
        self.flag.before_sleep();
    }

    /// To be called by the sleeper after the poll.
    pub fn after_sleep(&self) {
        self.flag.after_sleep();
    }

    /// To be called after a write to a queue of the sleeper. A system call only if it sleeps.
    pub fn notify(&self) {
        if self.flag.needs_wakeup() {
            self.signal();
        }
    }

    /// Makes the descriptor readable whether a thread sleeps or not.
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
