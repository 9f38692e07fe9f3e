//! Threads, the cores on which they run, and properties of the machine.

/// Cores on which this process may run, ascending.
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

/// Core that the calling thread runs on now; the kernel may migrate it at any time. No system call where the
/// C library reads it from the vDSO or the thread's rseq area.
#[inline]
pub fn current_core() -> u32 {
    // SAFETY: the call takes nothing. It fails only on kernels older than any this runs on.
    u32::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
}

/// Sets the timer slack of the calling thread to 1 µs in place of 50 µs (prctl(2), `PR_SET_TIMERSLACK`). Long sleeps in
/// poll keep the slack of a thousandth of their length that the kernel gives them.
pub fn set_precise_timers() {
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
    fn a_thread_runs_on_one_of_the_cores_it_may_use() {
        assert!(cores().contains(&(current_core() as usize)));
    }

    #[test]
    fn only_the_thread_that_asks_for_it_has_precise_timers() {
        let slack = || {
            // SAFETY: the option takes nothing and returns the calling thread's slack.
            unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) }
        };
        let before = slack();
        let inside = std::thread::spawn(move || {
            set_precise_timers();
            slack()
        });
        assert_eq!((inside.join().unwrap(), slack()), (1000, before));
        assert!(before > 1000);
    }
}
