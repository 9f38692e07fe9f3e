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

/// A random number from the system.
pub fn random_u64() -> u64 {
    let mut bytes = [0_u8; 8];
    // SAFETY: the buffer is valid for its length. Eight bytes are never returned in part.
    unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    u64::from_ne_bytes(bytes)
}
