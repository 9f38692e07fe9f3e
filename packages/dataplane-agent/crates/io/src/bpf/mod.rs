//! bpf(2) without a library: the few commands that the programs of this crate need. They are assembled here, as classic
//! BPF ([`classic`]) or eBPF ([`extended`]); so few instructions and helpers need no compiler.

use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

pub mod classic;
pub mod extended;
mod labels;

use extended::Instruction;

const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE: libc::c_int = 2;
const MAP_DELETE: libc::c_int = 3;
const PROG_LOAD: libc::c_int = 5;
const LINK_CREATE: libc::c_int = 28;
/// `BPF_NOEXIST` (linux/bpf.h).
const ONLY_NEW: u64 = 1;

/// Bytes of the verifier's explanation that an error keeps.
const EXPLANATION: usize = 64 << 10;

/// Calls bpf(2) with the first bytes of `union bpf_attr`; the kernel takes the rest as zero.
fn bpf<T>(command: libc::c_int, attributes: &mut T) -> Result<libc::c_int> {
    // SAFETY: the attributes are as long as we say; pointers in them are to memory that the caller keeps
    // alive, as long as the kernel expects for the command.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size_of::<T>() as libc::c_uint)
    };
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result as libc::c_int) }
}

fn descriptor<T>(command: libc::c_int, attributes: &mut T) -> Result<OwnedFd> {
    // SAFETY: the commands that this is called with return a new descriptor, which is ours.
    bpf(command, attributes).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Type and sizes of a map (`union bpf_attr`, BPF_MAP_CREATE).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MapShape {
    /// `BPF_MAP_TYPE_…`.
    pub kind: u32,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value.
    pub value_size: u32,
    /// Most entries.
    pub entries: u32,
    /// `BPF_F_…`.
    pub flags: u32,
}

/// Makes a map.
///
/// # Errors
/// When the kernel refuses: no privilege, no such kind, no memory.
pub fn map(mut shape: MapShape) -> Result<OwnedFd> {
    descriptor(MAP_CREATE, &mut shape)
}

#[repr(C)]
struct Element {
    map: u32,
    _pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

impl Element {
    fn new<K, V>(map: &OwnedFd, key: &K, value: Option<&V>, flags: u64) -> Self {
        Self {
            map: map.as_raw_fd() as u32,
            _pad: 0,
            key: std::ptr::from_ref(key) as u64,
            value: value.map_or(0, |value| std::ptr::from_ref(value) as u64),
            flags,
        }
    }
}

/// Adds an entry to a map. `K` and `V` must have the sizes of the map's shape, without padding.
///
/// # Errors
/// When there is one with this key, the map is full, or it cannot hold the value.
pub fn insert<K, V>(map: &OwnedFd, key: &K, value: &V) -> Result<()> {
    bpf(MAP_UPDATE, &mut Element::new(map, key, Some(value), ONLY_NEW)).map(|_| ())
}

/// Takes an entry out of a map.
///
/// # Errors
/// When there is none.
pub fn delete<K>(map: &OwnedFd, key: &K) -> Result<()> {
    bpf(MAP_DELETE, &mut Element::new::<K, ()>(map, key, None, 0)).map(|_| ())
}

/// Loads a program of a kind (`BPF_PROG_TYPE_…`) that is going to be attached as `attach` says (`BPF_…`).
///
/// # Errors
/// When the kernel refuses the program, with the end of the verifier's log.
pub fn load(instructions: &[Instruction], kind: u32, attach: u32, flags: u32) -> Result<OwnedFd> {
    #[repr(C)]
    struct ProgLoad {
        kind: u32,
        count: u32,
        instructions: u64,
        license: u64,
        log_level: u32,
        log_size: u32,
        log: u64,
        kernel_version: u32,
        flags: u32,
        name: [u8; 16],
        ifindex: u32,
        attach_type: u32,
    }
    let mut attributes = ProgLoad {
        kind,
        count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        license: c"Apache-2.0".as_ptr() as u64,
        log_level: 0,
        log_size: 0,
        log: 0,
        kernel_version: 0,
        flags,
        name: *b"tollway\0\0\0\0\0\0\0\0\0",
        ifindex: 0,
        attach_type: attach,
    };
    until_verified(|| descriptor(PROG_LOAD, &mut attributes)).map_err(|error| {
        let mut text = vec![0_u8; EXPLANATION];
        (attributes.log_level, attributes.log_size) = (1, text.len() as u32);
        attributes.log = text.as_mut_ptr() as u64;
        let _refused_again = until_verified(|| descriptor(PROG_LOAD, &mut attributes));
        let text = String::from_utf8_lossy(&text);
        let said = text.trim_end_matches('\0').trim_end();
        let start = said.char_indices().rev().nth(2_000).map_or(0, |(at, _)| at);
        match said.get(start..) {
            Some(end) if !end.is_empty() => Error::new(error.kind(), format!("{error}: {end}")),
            _ => error,
        }
    })
}

/// Number of attempts to load a program: the verifier stops with EAGAIN when a signal is pending for the process.
const LOAD_TRIES: usize = 16;

/// Repeats loading a program while the verifier is interrupted.
fn until_verified<T>(mut load: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..LOAD_TRIES {
        match load() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            outcome => return outcome,
        }
    }
    load()
}

/// Attaches a program to a netdev. The kernel takes it off when the link is dropped or the process ends.
///
/// # Errors
/// When the kernel or the driver refuses.
pub fn link(program: &OwnedFd, ifindex: u32, attach: u32, flags: u32) -> Result<OwnedFd> {
    #[repr(C)]
    struct LinkCreate {
        program: u32,
        ifindex: u32,
        attach_type: u32,
        flags: u32,
    }
    let mut create = LinkCreate { program: program.as_raw_fd() as u32, ifindex, attach_type: attach, flags };
    descriptor(LINK_CREATE, &mut create)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_whose_verification_was_interrupted_is_loaded_again() {
        let refusing = |times: usize, kind: ErrorKind| {
            let mut calls = 0;
            let outcome = until_verified(|| {
                calls += 1;
                if calls > times { Ok(()) } else { Err(Error::from(kind)) }
            });
            (outcome.is_ok(), calls)
        };
        assert_eq!(refusing(3, ErrorKind::WouldBlock), (true, 4));
        assert_eq!(refusing(LOAD_TRIES, ErrorKind::WouldBlock), (false, LOAD_TRIES));
        assert_eq!(refusing(1, ErrorKind::PermissionDenied), (false, 1));
    }
}
