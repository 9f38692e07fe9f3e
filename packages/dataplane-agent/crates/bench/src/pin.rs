//! Where and how a measuring thread runs.

/// Binds the calling thread to one core.
pub fn to_cpu(cpu: usize) -> Result<(), String> {
    // SAFETY: cpu_set_t is a bit set, for which zero is a valid value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(format!("there is no core {cpu}"));
    }
    // SAFETY: `cpu` was checked against the size of the set.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: the pointer is to a cpu_set_t of the length given; 0 is the calling thread.
    let result = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    match result {
        0 => Ok(()),
        _ => Err(format!("cannot run on core {cpu}: {}", std::io::Error::last_os_error())),
    }
}

/// Removes the 50 µs of slack of this thread's timers (prctl(2), PR_SET_TIMERSLACK).
pub fn exact_timers() {
    // SAFETY: no pointers are involved; the call cannot fail for this option.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

/// Raises the priority of the calling thread (setpriority(2)); without the privilege nothing changes.
pub fn first_in_line() {
    // SAFETY: no pointers are involved; 0 is the calling thread.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
}

/// Involuntary context switches of the calling thread (getrusage(2)).
pub fn times_preempted() -> i64 {
    // SAFETY: rusage consists of integers, for which zero is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to an rusage.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    usage.ru_nivcsw
}

/// The last core, where a small machine has the least to do.
pub fn last_cpu() -> usize {
    std::thread::available_parallelism().map_or(0, |cores| cores.get() - 1)
}
