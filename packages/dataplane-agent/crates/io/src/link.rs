//! The netdevs of the namespace that the agent claims ports in, and notifications of their changes
//! (rtnetlink(7)).

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A netdev.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// Index.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Link-layer address; zero for devices without one.
    pub mac: [u8; 6],
    /// MTU, bytes.
    pub mtu: u32,
    /// Administratively up.
    pub up: bool,
    /// Up and with carrier.
    pub running: bool,
    /// A loopback device.
    pub loopback: bool,
    /// Index of the bridge or bond it is part of.
    pub master: Option<u32>,
    /// Receive errors.
    pub rx_errors: u64,
    /// Transmit errors.
    pub tx_errors: u64,
}

/// Notifications of changes, and the list itself.
#[derive(Debug)]
pub struct LinkMonitor {
    events: OwnedFd,
    requests: OwnedFd,
}

const RTMGRP_LINK: u32 = 1;
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_MASTER: u16 = 10;
const IFLA_STATS64: u16 = 23;
const IFF_LOWER_UP: u32 = 1 << 16;

/// A netlink socket that joins these groups.
pub(crate) fn netlink(protocol: libc::c_int, groups: u32) -> std::io::Result<OwnedFd> {
    let fd =
        // SAFETY: the call takes no pointers.
        unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, protocol) };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and ours.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: all-zero is a valid sockaddr_nl.
    let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
    address.nl_family = libc::AF_NETLINK as u16;
    address.nl_groups = groups;
    // SAFETY: `address` is a sockaddr_nl and the length is its size.
    let bound = unsafe {
        libc::bind(fd, std::ptr::from_ref(&address).cast(), size_of::<libc::sockaddr_nl>() as libc::socklen_t)
    };
    if bound == 0 { Ok(socket) } else { Err(std::io::Error::last_os_error()) }
}

impl LinkMonitor {
    /// A socket in the network namespace of the calling thread.
    ///
    /// # Errors
    /// When no netlink socket can be opened.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self {
            events: netlink(libc::NETLINK_ROUTE, RTMGRP_LINK)?,
            requests: netlink(libc::NETLINK_ROUTE, 0)?,
        })
    }

    /// Descriptor that becomes readable when some netdev changed.
    pub fn fd(&self) -> RawFd {
        self.events.as_raw_fd()
    }

    /// Discards all pending notifications. Their content does not matter, nor does an overrun: the list is read anew
    /// after any of them.
    pub fn clear(&self) {
        let mut buffer = [0_u8; 16 << 10];
        loop {
            // SAFETY: the buffer is valid for its length.
            let read = unsafe {
                libc::recv(self.fd(), buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_DONTWAIT)
            };
            let overrun = || std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOBUFS);
            if read <= 0 && !(read < 0 && overrun()) {
                return;
            }
        }
    }

    /// All netdevs.
    ///
    /// # Errors
    /// When the kernel does not answer.
    pub fn links(&self) -> std::io::Result<Vec<Link>> {
        let mut request = [0_u8; 32];
        request[0..4].copy_from_slice(&32_u32.to_ne_bytes());
        request[4..6].copy_from_slice(&libc::RTM_GETLINK.to_ne_bytes());
        request[6..8].copy_from_slice(&((libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16).to_ne_bytes());
        let sent =
            // SAFETY: the buffer is valid for its length.
            unsafe { libc::send(self.requests.as_raw_fd(), request.as_ptr().cast(), request.len(), 0) };
        if sent < 0 {
            return Err(std::io::Error::last_os_error());
        }
        let mut links = Vec::new();
        let mut buffer = vec![0_u8; 64 << 10];
        loop {
            let read =
                // SAFETY: the buffer is valid for its length.
                unsafe { libc::recv(self.requests.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
            let Ok(read) = usize::try_from(read) else {
                let error = std::io::Error::last_os_error();
                if error.kind() == std::io::ErrorKind::Interrupted {
                    continue;
                }
                return Err(error);
            };
            let mut rest = buffer.get(..read).unwrap_or_default();
            while let Some((kind, body, after)) = message(rest) {
                match i32::from(kind) {
                    libc::NLMSG_DONE => return Ok(links),
                    libc::NLMSG_ERROR => {
                        return Err(std::io::Error::other("the kernel refused to list netdevs"));
                    }
                    _ if kind == libc::RTM_NEWLINK => links.extend(parse(body)),
                    _ => {}
                }
                rest = after;
            }
        }
    }
}

/// A number in native byte order, as netlink(7) has it.
pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// Splits the first netlink message off: type, body, rest.
pub(crate) fn message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32_at(bytes, 0)? as usize;
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let body = bytes.get(16..length)?;
    Some((kind, body, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// Reads an `ifinfomsg` and its attributes.
fn parse(body: &[u8]) -> Option<Link> {
    let flags = u32_at(body, 8)?;
    let flag = |bit: i32| flags & bit as u32 != 0;
    let mut link = Link {
        index: u32_at(body, 4)?,
        up: flag(libc::IFF_UP),
        running: flag(libc::IFF_UP) && flag(libc::IFF_RUNNING) && flags & IFF_LOWER_UP != 0,
        loopback: flag(libc::IFF_LOOPBACK),
        ..Link::default()
    };
    for (kind, value) in attributes(body.get(16..)?) {
        match kind {
            IFLA_IFNAME => link.name = String::from_utf8_lossy(value).trim_end_matches('\0').to_owned(),
            IFLA_ADDRESS => link.mac = value.try_into().unwrap_or_default(),
            IFLA_MTU => link.mtu = u32_at(value, 0)?,
            IFLA_MASTER => link.master = u32_at(value, 0),
            IFLA_STATS64 => {
                let counter = |index: usize| {
                    value
                        .get(index * 8..)
                        .and_then(|bytes| bytes.first_chunk())
                        .map_or(0, |b| u64::from_ne_bytes(*b))
                };
                (link.rx_errors, link.tx_errors) = (counter(4), counter(5));
            }
            _ => {}
        }
    }
    Some(link)
}

/// Types and values of attributes, up to one that does not fit.
pub(crate) fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let header = rest.first_chunk::<4>()?;
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let value = rest.get(4..length)?;
        let kind = u16::from_ne_bytes([header[2], header[3]]) & 0x3fff;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_device_is_listed() {
        let links = LinkMonitor::new().unwrap().links().unwrap();
        let loopback = links.iter().find(|link| link.name == "lo").unwrap();
        assert!(loopback.loopback && loopback.index > 0 && loopback.mtu > 0);
    }

    #[test]
    fn truncated_messages_are_passed_over() {
        assert!(parse(&[0; 10]).is_none());
        assert!(message(&[40, 0, 0, 0, 16, 0, 0, 0]).is_none());
    }
}
