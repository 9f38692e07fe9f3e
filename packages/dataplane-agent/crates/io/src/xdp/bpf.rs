//! The XDP program and its map, by bpf(2) alone: six instructions need no compiler.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE: libc::c_int = 2;
const PROG_LOAD: libc::c_int = 5;
const LINK_CREATE: libc::c_int = 28;

const MAP_TYPE_XSKMAP: u32 = 17;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
/// The program takes frames of several buffers (kernel 5.18).
const XDP_HAS_FRAGS: u32 = 1 << 5;

/// `bpf_redirect_map` (bpf-helpers(7)).
const REDIRECT_MAP: i32 = 51;
/// What becomes of a frame whose queue has no socket (`enum xdp_action`).
const XDP_DROP: i32 = 1;
/// Offset of `rx_queue_index` in `struct xdp_md`.
const RX_QUEUE_INDEX: i16 = 16;

/// How the program is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// By the driver.
    Native,
    /// By the kernel's network core, on socket buffers.
    Generic,
}

impl Mode {
    /// `XDP_FLAGS_…` (linux/if_link.h).
    const fn flags(self) -> u32 {
        match self {
            Mode::Generic => 1 << 1,
            Mode::Native => 1 << 2,
        }
    }
}

/// An instruction (Documentation/bpf/standardization/instruction-set.rst).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

const fn instruction(code: u8, dst: u8, src: u8, offset: i16, immediate: i32) -> Instruction {
    Instruction { code, registers: dst | src << 4, offset, immediate }
}

/// `return bpf_redirect_map(map, context->rx_queue_index, XDP_DROP)`.
const fn program(map: i32) -> [Instruction; 6] {
    const LOAD_WORD: u8 = 0x61;
    const LOAD_IMMEDIATE_64: u8 = 0x18;
    const MAP_DESCRIPTOR: u8 = 1;
    const MOVE_IMMEDIATE: u8 = 0xb7;
    const CALL: u8 = 0x85;
    const EXIT: u8 = 0x95;
    [
        instruction(LOAD_WORD, 2, 1, RX_QUEUE_INDEX, 0),
        instruction(LOAD_IMMEDIATE_64, 1, MAP_DESCRIPTOR, 0, map),
        instruction(0, 0, 0, 0, 0),
        instruction(MOVE_IMMEDIATE, 3, 0, 0, XDP_DROP),
        instruction(CALL, 0, 0, 0, REDIRECT_MAP),
        instruction(EXIT, 0, 0, 0, 0),
    ]
}

/// Calls bpf(2) with the first bytes of `union bpf_attr`; the kernel takes the rest as zero.
fn bpf<T>(command: libc::c_int, attributes: &mut T) -> std::io::Result<libc::c_int> {
    // SAFETY: the attributes are as long as we say; pointers in them are to memory that the caller keeps
    // alive, as long as the kernel expects for the command.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size_of::<T>() as libc::c_uint)
    };
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(result as libc::c_int) }
}

fn descriptor<T>(command: libc::c_int, attributes: &mut T) -> std::io::Result<OwnedFd> {
    // SAFETY: the commands that this is called with return a new descriptor, which is ours.
    bpf(command, attributes).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The program on a netdev. The kernel takes it off when this is dropped or the process ends.
#[derive(Debug)]
pub struct Attached {
    map: OwnedFd,
    _link: OwnedFd,
}

impl Attached {
    /// Puts the program on the netdev with index `ifindex`, with `queues` queues and no socket yet: from
    /// now on the kernel sees no frame of it.
    ///
    /// # Errors
    /// When the kernel or the driver refuses, or the netdev has an XDP program already.
    pub fn new(ifindex: u32, queues: u32, mode: Mode) -> std::io::Result<Self> {
        #[repr(C)]
        struct MapCreate {
            kind: u32,
            key_size: u32,
            value_size: u32,
            entries: u32,
        }
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
        #[repr(C)]
        struct LinkCreate {
            program: u32,
            ifindex: u32,
            attach_type: u32,
            flags: u32,
        }
        let mut create = MapCreate { kind: MAP_TYPE_XSKMAP, key_size: 4, value_size: 4, entries: queues };
        let map = descriptor(MAP_CREATE, &mut create)?;
        let instructions = program(map.as_raw_fd());
        let mut load = ProgLoad {
            kind: PROG_TYPE_XDP,
            count: instructions.len() as u32,
            instructions: instructions.as_ptr() as u64,
            license: c"Apache-2.0".as_ptr() as u64,
            log_level: 0,
            log_size: 0,
            log: 0,
            kernel_version: 0,
            flags: XDP_HAS_FRAGS,
            name: *b"tollway\0\0\0\0\0\0\0\0\0",
            ifindex: 0,
            attach_type: ATTACH_XDP,
        };
        let program = descriptor(PROG_LOAD, &mut load)?;
        let mut create = LinkCreate {
            program: program.as_raw_fd() as u32,
            ifindex,
            attach_type: ATTACH_XDP,
            flags: mode.flags(),
        };
        let link = descriptor(LINK_CREATE, &mut create)?;
        Ok(Self { map, _link: link })
    }

    /// Gives the frames of a queue to a socket that is bound to it.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn redirect(&self, queue: u32, socket: &OwnedFd) -> std::io::Result<()> {
        #[repr(C)]
        struct MapUpdate {
            map: u32,
            _pad: u32,
            key: u64,
            value: u64,
            flags: u64,
        }
        let value = socket.as_raw_fd();
        let mut update = MapUpdate {
            map: self.map.as_raw_fd() as u32,
            _pad: 0,
            key: std::ptr::from_ref(&queue) as u64,
            value: std::ptr::from_ref(&value) as u64,
            flags: 0,
        };
        bpf(MAP_UPDATE, &mut update).map(|_| ())
    }
}
