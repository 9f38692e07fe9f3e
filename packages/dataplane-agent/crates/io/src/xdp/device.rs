//! Driver and capabilities of a netdev (ethtool(8)'s ioctls, netdev generic netlink).

use std::ffi::c_ulong;

use super::sys;

/// A netdev's driver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Device {
    /// Name of the driver; empty when it does not say.
    pub driver: String,
    /// Queues in use, the larger of both directions.
    pub queues: u32,
    /// The driver redirects frames to AF_XDP sockets by itself.
    pub native_xdp: bool,
}

/// Drivers of links that never leave the machine's memory, where frames come with partial checksums and as
/// super-frames.
const VIRTUAL: [&str; 6] = ["veth", "tun", "virtio_net", "xen_netfront", "macvlan", "bridge"];

impl Device {
    /// Queries the kernel about a netdev. A capability that it does not report counts as missing.
    pub fn of(netdev: &str, ifindex: u32) -> Self {
        Self {
            driver: driver(netdev).unwrap_or_default(),
            queues: queues(netdev).unwrap_or(1).max(1),
            native_xdp: super::features::of(ifindex)
                .is_ok_and(|features| features & super::features::REDIRECT != 0),
        }
    }

    /// The peer is a network stack on this machine.
    pub fn is_virtual(&self) -> bool {
        self.driver.is_empty() || VIRTUAL.contains(&self.driver.as_str())
    }
}

/// Runs an ethtool command on its structure, which begins with the command's number.
pub(crate) fn ethtool<T>(netdev: &str, value: &mut T) -> std::io::Result<()> {
    const SIOCETHTOOL: c_ulong = 0x8946;
    let socket = sys::socket(libc::AF_UNIX)?;
    // SAFETY: all-zero is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(netdev.bytes().take(libc::IFNAMSIZ - 1)) {
        *place = byte as libc::c_char;
    }
    request.ifr_ifru.ifru_data = std::ptr::from_mut(value).cast();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&socket);
    // SAFETY: the request points to the structure of the command that is its first field.
    let result = unsafe { libc::ioctl(fd, SIOCETHTOOL as _, std::ptr::from_mut(&mut request)) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

fn driver(netdev: &str) -> Option<String> {
    const GET_DRIVER_INFO: u32 = 0x03;
    #[repr(C)]
    struct DriverInfo {
        command: u32,
        driver: [u8; 32],
        rest: [u8; 160],
    }
    let mut info = DriverInfo { command: GET_DRIVER_INFO, driver: [0; 32], rest: [0; 160] };
    ethtool(netdev, &mut info).ok()?;
    let name = info.driver.split(|&byte| byte == 0).next()?;
    Some(String::from_utf8_lossy(name).into_owned())
}

fn queues(netdev: &str) -> Option<u32> {
    const GET_CHANNELS: u32 = 0x3c;
    /// Counts of receive, transmit, other and combined channels: first the most, then those in use.
    #[repr(C)]
    struct Channels {
        command: u32,
        most: [u32; 4],
        used: [u32; 4],
    }
    let mut channels = Channels { command: GET_CHANNELS, most: [0; 4], used: [0; 4] };
    ethtool(netdev, &mut channels).ok()?;
    let [receive, transmit, _, combined] = channels.used;
    Some(receive.max(transmit) + combined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_device_has_a_queue_and_is_virtual() {
        let device = Device::of("lo", 1);
        assert_eq!(device.queues, 1);
        assert!(device.is_virtual());
        assert!(!Device { driver: "ixgbe".to_owned(), ..Device::default() }.is_virtual());
    }
}
