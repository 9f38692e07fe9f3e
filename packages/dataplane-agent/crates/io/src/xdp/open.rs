//! Opening a netdev: program, sockets, and the assignment of queues to workers.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use super::bpf::{Attached, XdpMode};
use super::device::Device;
use super::kernel_frames::{KernelFrames, MAX_FRAME};
use super::port::{Netdev, Receiver, Transmitter, XdpPort};
use super::ring::{Consumer, Producer};
use super::sys;
use crate::link::Link;
use crate::packet_socket::option;
use crate::pool::Umem;

/// Entries of the rings for received frames, frames to send, and frames to receive into.
const RING: u32 = 4096;
/// Entries of the completion ring, which all workers that send by one queue share.
const COMPLETION_RING: u32 = 2 * RING;

/// Bytes that may be in flight from a socket to the peer of a virtual link.
const SEND_BUFFER: libc::c_int = 8 << 20;

/// Link-layer header and two VLAN tags, bytes.
const LINK_LAYER: usize = 22;
/// Largest MTU of a netdev whose frames fit, bytes.
pub const MAX_MTU: u32 = (MAX_FRAME - LINK_LAYER) as u32;

/// An open netdev.
#[derive(Debug)]
pub struct Opened {
    /// In the order of the workers.
    pub ports: Vec<XdpPort>,
    /// Mode of operation, as a text for users.
    pub how: String,
}

/// Opens the netdev `link` for `workers` workers: with the driver's XDP if it has that, else with the
/// kernel's; with zero-copy if the driver has that.
///
/// # Errors
/// Says what does not fit or what the kernel refused, for people.
pub fn open(
    umem: &'static Umem,
    link: &Link,
    device: &Device,
    workers: usize,
    modes: &[XdpMode],
) -> Result<Opened, String> {
    if link.mtu > MAX_MTU {
        return Err(format!(
            "its MTU of {} is beyond the {MAX_MTU} bytes that a frame of AF_XDP holds here",
            link.mtu
        ));
    }
    let mut problems = Vec::new();
    for &mode in modes {
        match open_in(umem, link.index, device, workers.max(1), mode) {
            Ok(mut opened) => {
                for problem in problems {
                    opened.how = format!("{} ({problem})", opened.how);
                }
                return Ok(opened);
            }
            Err(error) => problems.push(match mode {
                XdpMode::Native => format!("the driver {} has no XDP: {error}", device.driver),
                XdpMode::Generic => format!("generic XDP: {error}"),
            }),
        }
    }
    Err(problems.join("; "))
}

fn open_in(
    umem: &'static Umem,
    ifindex: u32,
    device: &Device,
    workers: usize,
    mode: XdpMode,
) -> std::io::Result<Opened> {
    let queues = device.queues.max(1);
    let attached = Attached::new(ifindex, queues, mode)?;
    let mut how = match mode {
        XdpMode::Native => "native XDP of the driver".to_owned(),
        XdpMode::Generic => "generic XDP of the kernel".to_owned(),
    };
    // Whether the driver supports zero-copy is known only by trying.
    let zero_copy = match mode {
        XdpMode::Native => Bound::new(umem, ifindex, 0, libc::XDP_ZEROCOPY),
        XdpMode::Generic => Err(std::io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
    };
    let (first, flag) = match zero_copy {
        Ok(bound) => {
            how += ", zero-copy";
            (bound, libc::XDP_ZEROCOPY)
        }
        Err(error) => {
            how += ", frames are copied";
            if mode == XdpMode::Native {
                how += &format!(" (zero-copy was refused: {error})");
            }
            (Bound::new(umem, ifindex, 0, libc::XDP_COPY)?, libc::XDP_COPY)
        }
    };
    let mut bound = vec![first];
    for queue in 1..queues {
        bound.push(Bound::new(umem, ifindex, queue, flag)?);
    }
    how += &match queues {
        1 => ", one queue".to_owned(),
        queues => format!(", {queues} queues"),
    };
    for (queue, bound) in bound.iter().enumerate() {
        attached.redirect(queue as u32, &bound.socket)?;
    }
    let netdev = Arc::new(Netdev {
        kernel_frames: KernelFrames::new(umem, flag == libc::XDP_ZEROCOPY),
        zero_copy: flag == libc::XDP_ZEROCOPY,
        partial_checksums: device.is_virtual(),
        _attached: attached,
        _promiscuous: sys::promiscuous(ifindex)?,
    });
    Ok(Opened { ports: distribute(&netdev, bound, ifindex, workers)?, how })
}

/// Queue q is received by worker q mod `workers`. A worker sends by the first of its queues. A worker without a queue
/// has a socket for sending that is bound to another worker's queue.
fn distribute(
    netdev: &Arc<Netdev>,
    bound: Vec<Bound>,
    ifindex: u32,
    workers: usize,
) -> std::io::Result<Vec<XdpPort>> {
    let mut further = Vec::new();
    for worker in bound.len()..workers {
        let queue = worker % bound.len();
        let Some(bound) = bound.get(queue) else { continue };
        let socket = sys::socket(libc::AF_XDP)?;
        option(&socket, libc::SOL_XDP, libc::XDP_TX_RING, &RING)?;
        let ring = bind_for_sending(&socket, ifindex, queue as u32, &bound.socket)?;
        further.push(Transmitter::new(Some(socket), ring, Arc::clone(&bound.completions)));
    }
    let mut receivers: Vec<Vec<Receiver>> = (0..workers).map(|_| Vec::new()).collect();
    let mut transmitters = Vec::new();
    for (queue, bound) in bound.into_iter().enumerate() {
        let Bound { socket, receive, fill, transmit, completions } = bound;
        if queue < workers {
            transmitters.push(Transmitter::new(None, transmit, completions));
        }
        if let Some(of) = receivers.get_mut(queue % workers) {
            of.push(Receiver { socket, ring: receive, fill });
        }
    }
    transmitters.extend(further);
    let ends = receivers.into_iter().zip(transmitters);
    ends.map(|(receivers, transmitter)| XdpPort::new(Arc::clone(netdev), receivers, transmitter)).collect()
}

fn bind_for_sending(
    socket: &OwnedFd,
    ifindex: u32,
    queue: u32,
    shared: &OwnedFd,
) -> std::io::Result<Producer<libc::xdp_desc>> {
    prepare_sending(socket)?;
    let offsets: libc::xdp_mmap_offsets = sys::get(socket, libc::XDP_MMAP_OFFSETS)?;
    let ring = Producer::new(socket, libc::XDP_PGOFF_TX_RING, &offsets.tx, RING)?;
    sys::bind(socket, ifindex, queue, libc::XDP_SHARED_UMEM, Some(shared))?;
    Ok(ring)
}

fn prepare_sending(socket: &OwnedFd) -> std::io::Result<()> {
    option(socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER)?;
    // Kernels without the option send 32 frames per call, which only costs more calls.
    let _ = option(socket, libc::SOL_XDP, sys::MAX_TX_BUDGET, &RING);
    Ok(())
}

/// A socket bound to a queue, with its rings.
struct Bound {
    socket: OwnedFd,
    receive: Consumer<libc::xdp_desc>,
    fill: Producer<u64>,
    transmit: Producer<libc::xdp_desc>,
    completions: Arc<Mutex<Consumer<u64>>>,
}

impl Bound {
    fn new(umem: &Umem, ifindex: u32, queue: u32, mode: u16) -> std::io::Result<Self> {
        let socket = sys::socket(libc::AF_XDP)?;
        let memory = libc::xdp_umem_reg {
            addr: umem.start() as u64,
            len: umem.len() as u64,
            chunk_size: Umem::CHUNK as u32,
            headroom: 0,
            flags: libc::XDP_UMEM_UNALIGNED_CHUNK_FLAG,
            tx_metadata_len: 0,
        };
        option(&socket, libc::SOL_XDP, libc::XDP_UMEM_REG, &memory)?;
        let rings = [
            (libc::XDP_UMEM_FILL_RING, RING),
            (libc::XDP_UMEM_COMPLETION_RING, COMPLETION_RING),
            (libc::XDP_RX_RING, RING),
            (libc::XDP_TX_RING, RING),
        ];
        for (ring, size) in rings {
            option(&socket, libc::SOL_XDP, ring, &size)?;
        }
        prepare_sending(&socket)?;
        let offsets: libc::xdp_mmap_offsets = sys::get(&socket, libc::XDP_MMAP_OFFSETS)?;
        let (fill_page, completion_page) = (
            libc::XDP_UMEM_PGOFF_FILL_RING as libc::off_t,
            libc::XDP_UMEM_PGOFF_COMPLETION_RING as libc::off_t,
        );
        let fill = Producer::new(&socket, fill_page, &offsets.fr, RING)?;
        let completions = Consumer::new(&socket, completion_page, &offsets.cr, COMPLETION_RING)?;
        let receive = Consumer::new(&socket, libc::XDP_PGOFF_RX_RING, &offsets.rx, RING)?;
        let transmit = Producer::new(&socket, libc::XDP_PGOFF_TX_RING, &offsets.tx, RING)?;
        sys::bind(&socket, ifindex, queue, mode | libc::XDP_USE_NEED_WAKEUP, None)?;
        Ok(Self { socket, receive, fill, transmit, completions: Arc::new(Mutex::new(completions)) })
    }
}
