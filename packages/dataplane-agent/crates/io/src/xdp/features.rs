//! The XDP features of a driver (Documentation/netlink/specs/netdev.yaml, kernel 6.3).

use std::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `NETDEV_XDP_ACT_REDIRECT`.
pub const REDIRECT: u64 = 1 << 1;

const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const GET_FAMILY: u8 = 3;
const DEV_IFINDEX: u16 = 1;
const DEV_XDP_FEATURES: u16 = 3;
const DEV_GET: u8 = 1;
/// Netlink and generic netlink header, bytes.
const HEADERS: usize = 20;

/// Returns the XDP feature bits of a netdev's driver.
///
/// # Errors
/// When the kernel does not report them.
pub fn of(ifindex: u32) -> std::io::Result<u64> {
    // SAFETY: the call takes no pointers.
    let fd = unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, GENERIC) };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and ours.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let family = ask(&socket, libc::GENL_ID_CTRL as u16, GET_FAMILY, FAMILY_NAME, b"netdev\0")?;
    let id = attribute(&family, FAMILY_ID).and_then(|value| value.first_chunk().copied());
    let id = u16::from_ne_bytes(id.ok_or(std::io::ErrorKind::Unsupported)?);
    let device = ask(&socket, id, DEV_GET, DEV_IFINDEX, &ifindex.to_ne_bytes())?;
    let bits = attribute(&device, DEV_XDP_FEATURES).and_then(|value| value.first_chunk().copied());
    Ok(u64::from_ne_bytes(bits.ok_or(std::io::ErrorKind::Unsupported)?))
}

const GENERIC: c_int = 16;

/// Sends a command with one attribute and returns the attributes of the answer.
fn ask(socket: &OwnedFd, family: u16, command: u8, kind: u16, value: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut request = Vec::with_capacity(64);
    let length = HEADERS + 4 + value.len().next_multiple_of(4);
    request.extend_from_slice(&(length as u32).to_ne_bytes());
    request.extend_from_slice(&family.to_ne_bytes());
    request.extend_from_slice(&(libc::NLM_F_REQUEST as u16).to_ne_bytes());
    request.extend_from_slice(&[0; 8]);
    request.extend_from_slice(&[command, 1, 0, 0]);
    request.extend_from_slice(&(4 + value.len() as u16).to_ne_bytes());
    request.extend_from_slice(&kind.to_ne_bytes());
    request.extend_from_slice(value);
    request.resize(length, 0);
    // SAFETY: the buffer is valid for its length.
    let sent = unsafe { libc::send(socket.as_raw_fd(), request.as_ptr().cast(), request.len(), 0) };
    if sent < 0 {
        return Err(std::io::Error::last_os_error());
    }
    let mut answer = vec![0_u8; 16 << 10];
    // SAFETY: the buffer is valid for its length.
    let read = unsafe { libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), 0) };
    let Ok(read) = usize::try_from(read) else { return Err(std::io::Error::last_os_error()) };
    answer.truncate(read);
    let kind = answer.get(4..6).and_then(|bytes| bytes.first_chunk().copied()).map(u16::from_ne_bytes);
    if kind != Some(family) || read < HEADERS {
        return Err(std::io::ErrorKind::Unsupported.into());
    }
    Ok(answer.split_off(HEADERS))
}

fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    while let Some(&[l0, l1, k0, k1]) = bytes.first_chunk() {
        let length = usize::from(u16::from_ne_bytes([l0, l1]));
        let value = bytes.get(4..length)?;
        if u16::from_ne_bytes([k0, k1]) & 0x3fff == wanted {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_answers_or_says_that_it_does_not_know() {
        // The loopback device has no XDP of its own.
        assert!(of(1).map_or(true, |bits| bits & REDIRECT == 0));
        assert!(of(u32::MAX).is_err());
    }

    #[test]
    fn attributes_are_found_and_damaged_ones_end_the_search() {
        let bytes = [8, 0, 1, 0, 1, 2, 3, 4, 6, 0, 3, 0, 9, 9, 0, 0];
        assert_eq!(attribute(&bytes, 3), Some([9, 9].as_slice()));
        assert_eq!(attribute(&bytes, 2), None);
        assert_eq!(attribute(&[3, 0, 1, 0], 1), None);
        assert_eq!(attribute(&[200, 0, 1, 0], 1), None);
    }
}
