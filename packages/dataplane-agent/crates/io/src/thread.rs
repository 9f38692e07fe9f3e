//! Placing threads on cores.

/// Cores this process may run on, ascending.
pub fn cores() -> Vec<usize> {
    // SAFETY: a cpu_set_t of zeroes is valid; the kernel fills it.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return vec![0];
        }
        set
    };
    // SAFETY: the index stays below CPU_SETSIZE, which is the size of the set.
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Pins the calling thread to one core.
///
/// # Errors
/// When the core may not be used.
pub fn pin(cpu: usize) -> std::io::Result<()> {
    // SAFETY: a cpu_set_t of zeroes is valid; CPU_SET ignores an index beyond the set.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Lets the calling thread's timers expire when they are due, to the microsecond, where the kernel would
/// put them together with others of the next 50 µs (prctl(2), `PR_SET_TIMERSLACK`). Long sleeps in poll
/// keep the slack of a thousandth of their length that the kernel gives them.
pub fn wake_punctually() {
    // SAFETY: the option takes a number of nanoseconds and changes nothing but this thread's slack.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1000 as libc::c_ulong) };
}

/// Memory of the machine, bytes.
pub fn physical_memory() -> usize {
    // SAFETY: the calls take no pointers.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(size).unwrap_or(0))
}

/// A random number from the system.
pub fn random_u64() -> u64 {
    let mut bytes = [0_u8; 8];
    // SAFETY: the buffer is valid for its length. Eight bytes are never returned in part.
    unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    u64::from_ne_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_thread_that_asks_for_it_wakes_punctually() {
        let slack = || {
            // SAFETY: the option takes nothing and returns the calling thread's slack.
            unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) }
        };
        let before = slack();
        let inside = std::thread::spawn(move || {
            wake_punctually();
            slack()
        });
        assert_eq!((inside.join().unwrap(), slack()), (1000, before));
        assert!(before > 1000);
    }
}
