//! The XDP program and its map.

use std::os::fd::{AsRawFd, OwnedFd};

use crate::bpf::extended::{Assembler, Instruction, Op, R1, R2, R3, Size};
use crate::bpf::{self, MapShape};

const MAP_TYPE_XSKMAP: u32 = 17;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
/// The program takes frames of several buffers (kernel 5.18).
const XDP_HAS_FRAGS: u32 = 1 << 5;

/// `bpf_redirect_map` (bpf-helpers(7)).
const REDIRECT_MAP: i32 = 51;
/// Action for a frame whose queue has no socket (`enum xdp_action`).
const XDP_DROP: i32 = 1;
/// Offset of `rx_queue_index` in `struct xdp_md`.
const RX_QUEUE_INDEX: i16 = 16;

/// Mode in which the program is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XdpMode {
    /// In the driver.
    Native,
    /// In the kernel's network core, on socket buffers.
    Generic,
}

impl XdpMode {
    /// `XDP_FLAGS_…` (linux/if_link.h).
    const fn flags(self) -> u32 {
        match self {
            XdpMode::Generic => 1 << 1,
            XdpMode::Native => 1 << 2,
        }
    }
}

/// `return bpf_redirect_map(map, context->rx_queue_index, XDP_DROP)`.
fn program(map: &OwnedFd) -> Vec<Instruction> {
    let mut code = Assembler::default();
    code.load(Size::Word, R2, R1, RX_QUEUE_INDEX).load_map(R1, map).op_value(Op::Move, R3, XDP_DROP);
    code.call(REDIRECT_MAP).exit();
    code.finish()
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
    pub fn new(ifindex: u32, queues: u32, mode: XdpMode) -> std::io::Result<Self> {
        let shape = MapShape { kind: MAP_TYPE_XSKMAP, key_size: 4, value_size: 4, entries: queues, flags: 0 };
        let map = bpf::map(shape)?;
        let program = bpf::load(&program(&map), PROG_TYPE_XDP, ATTACH_XDP, XDP_HAS_FRAGS)?;
        let link = bpf::link(&program, ifindex, ATTACH_XDP, mode.flags())?;
        Ok(Self { map, _link: link })
    }

    /// Gives the frames of a queue to a socket that is bound to it.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn redirect(&self, queue: u32, socket: &OwnedFd) -> std::io::Result<()> {
        bpf::insert(&self.map, &queue, &socket.as_raw_fd())
    }
}
