//! TAP devices with virtio-net headers (Documentation/networking/tuntap.rst).

use std::ffi::{c_int, c_short, c_ulong};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use tollway_engine::packet::frame::VnetState;

use crate::mmsg::{MmsgBuffers, Received};
use crate::pool::{Partition, PoolFrame};

const TUNSETIFF: c_ulong = 0x4004_54ca;
const TUNSETOFFLOAD: c_ulong = 0x4004_54d0;
const IFF_TAP: c_int = 0x0002;
const IFF_MULTI_QUEUE: c_int = 0x0100;
const IFF_NO_PI: c_int = 0x1000;
const IFF_VNET_HDR: c_int = 0x4000;
/// Checksums, TCP segmentation of both families, with ECN.
const OFFLOADS: c_ulong = 0x01 | 0x02 | 0x04 | 0x08;

/// A queue of a TAP: a worker's end.
#[derive(Debug)]
pub struct Tap {
    queue: OwnedFd,
    mac: [u8; 6],
}

/// Makes the TAP `name` in the calling thread's network namespace, with `queues` queues. It lives until
/// the last of them is closed.
///
/// # Errors
/// Without `CAP_NET_ADMIN`, without `/dev/net/tun`, or when the name is taken.
pub fn open(name: &str, queues: usize) -> std::io::Result<Vec<Tap>> {
    let mut taps = Vec::with_capacity(queues);
    for _ in 0..queues {
        let file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open("/dev/net/tun")
            .map_err(|error| std::io::Error::new(error.kind(), format!("/dev/net/tun: {error}")))?;
        let queue = OwnedFd::from(file);
        // SAFETY: all-zero is a valid ifreq.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
            *place = byte as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_MULTI_QUEUE) as c_short;
        ioctl(&queue, TUNSETIFF, &mut request)?;
        // SAFETY: the request takes a number.
        if unsafe { libc::ioctl(queue.as_raw_fd(), TUNSETOFFLOAD, OFFLOADS) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        ioctl(&queue, libc::SIOCGIFHWADDR, &mut request)?;
        // SAFETY: SIOCGIFHWADDR filled the hardware address.
        let address = unsafe { request.ifr_ifru.ifru_hwaddr.sa_data };
        let mut mac = [0; 6];
        for (byte, given) in mac.iter_mut().zip(address) {
            *byte = given as u8;
        }
        taps.push(Tap { queue, mac });
    }
    Ok(taps)
}

fn ioctl(queue: &OwnedFd, request: c_ulong, argument: &mut libc::ifreq) -> std::io::Result<()> {
    // SAFETY: every request used here takes a pointer to an ifreq.
    let result = unsafe { libc::ioctl(queue.as_raw_fd(), request as _, std::ptr::from_mut(argument)) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

impl Tap {
    /// Descriptor that becomes readable when the kernel has sent something.
    pub fn fd(&self) -> RawFd {
        self.queue.as_raw_fd()
    }

    /// Link-layer address of the device; frames for it carry it as destination.
    pub fn mac(&self) -> [u8; 6] {
        self.mac
    }

    /// Receives up to `limit` frames that the kernel sent by this queue.
    ///
    /// # Errors
    /// When the device is gone or down.
    pub fn receive(
        &mut self,
        limit: usize,
        buffers: &mut MmsgBuffers,
        pool: &mut Partition,
        sink: impl FnMut(PoolFrame, VnetState),
    ) -> std::io::Result<Received> {
        buffers.read_frames(self.fd(), limit, pool, sink)
    }

    /// Gives the kernel a frame.
    ///
    /// # Errors
    /// When the device is down or its queue is full.
    pub fn send(
        &mut self,
        frame: &PoolFrame,
        state: &VnetState,
        buffers: &mut MmsgBuffers,
    ) -> std::io::Result<()> {
        buffers.write_frame(self.fd(), frame, state)
    }
}
