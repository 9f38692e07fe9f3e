//! The system calls of AF_XDP sockets.

use std::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::packet_socket::option;

/// `XDP_MAX_TX_SKB_BUDGET` (linux/if_xdp.h, kernel 6.17): frames that one call sends in copy mode.
pub const MAX_TX_BUDGET: c_int = 9;

/// A new socket of a family.
///
/// # Errors
/// Without privilege, or when the kernel does not know the family.
pub fn socket(family: c_int) -> std::io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers.
    let fd = unsafe { libc::socket(family, libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0) };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and ours.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Reads an option of AF_XDP.
///
/// # Errors
/// The kernel's, or when it knows a shorter form of the option than we do.
pub fn get<T>(socket: &OwnedFd, name: c_int) -> std::io::Result<T> {
    // SAFETY: the options used here are structures of integers, for which zeroes are valid.
    let mut value: T = unsafe { std::mem::zeroed() };
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` and `length` are valid places, and `length` says how large the first is.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_XDP,
            name,
            std::ptr::from_mut(&mut value).cast(),
            &mut length,
        )
    };
    match (result, length as usize == size_of::<T>()) {
        (0, true) => Ok(value),
        (0, false) => Err(std::io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Binds a socket to a queue of a netdev.
///
/// # Errors
/// The kernel's: `EOPNOTSUPP` when the driver has no zero-copy, `EBUSY` when the queue has a socket.
pub fn bind(
    socket: &OwnedFd,
    ifindex: u32,
    queue: u32,
    flags: u16,
    shared: Option<&OwnedFd>,
) -> std::io::Result<()> {
    let address = libc::sockaddr_xdp {
        sxdp_family: libc::AF_XDP as u16,
        sxdp_flags: flags,
        sxdp_ifindex: ifindex,
        sxdp_queue_id: queue,
        sxdp_shared_umem_fd: shared.map_or(0, |fd| fd.as_raw_fd() as u32),
    };
    // SAFETY: `address` is a sockaddr_xdp and the length is its size.
    let result = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            std::ptr::from_ref(&address).cast(),
            size_of::<libc::sockaddr_xdp>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Wakes the kernel to send what is in the transmit ring.
///
/// # Errors
/// The kernel's.
#[inline]
pub fn kick_transmit(socket: &OwnedFd) -> std::io::Result<()> {
    // SAFETY: no bytes are passed; the ring says what to send.
    let sent = unsafe {
        libc::sendto(socket.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0)
    };
    if sent < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

/// Wakes the driver to read the fill ring.
#[inline]
pub fn kick_receive(socket: &OwnedFd) {
    // SAFETY: no room for bytes is passed; frames come by the ring.
    unsafe {
        libc::recvfrom(
            socket.as_raw_fd(),
            std::ptr::null_mut(),
            0,
            libc::MSG_DONTWAIT,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        )
    };
}

/// Puts a netdev into promiscuous mode for as long as the socket lives that is returned.
///
/// # Errors
/// The kernel's.
pub fn promiscuous(ifindex: u32) -> std::io::Result<OwnedFd> {
    let socket = socket(libc::AF_PACKET)?;
    let membership = libc::packet_mreq {
        mr_ifindex: ifindex as c_int,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    option(&socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)?;
    Ok(socket)
}
