//! The generator of the wire cases: 60-byte UDP packets or SYNs through AF_PACKET, paced; of IPv6 80-byte ones.

use std::ffi::CString;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use tollway_wire::tcp::flag;

use crate::args::Args;
use crate::ipv6_frames::standing_for;
use crate::packet::{self, Ends, FRAME};
use crate::random::Random;
use crate::scenario::{DESTINATIONS, SOURCES};

/// Most packets per `sendmmsg`.
const BATCH: usize = 64;
/// Mean pause between two bursts. The pause is drawn from half to one and a half of it, so that bursts
/// do not fall into step with the scheduler tick, by which the kernel accounts CPU time.
const PAUSE: Duration = Duration::from_micros(400);
/// Most packets sent at once after having been held up; below the kernel's backlog of 1000.
const CATCH_UP: u64 = 512;

/// Ports of a client from which it opens connections.
const CLIENT_PORTS: u64 = 64_512;

/// Sends `--count` packets at `--rate` packets/s, round robin over `--flows` (default 4096), or with
/// `--connections-from` each the first of a connection; with `--ipv6 true` those of IPv6 that stand for them.
pub fn run(args: &Args) -> Result<(), String> {
    let interface: String = args.required("interface")?;
    let count: u64 = args.required("count")?;
    let rate: f64 = args.required("rate")?;
    let flows: u32 = args.optional("flows")?.unwrap_or(4096);
    if !(1..=32768).contains(&flows) {
        return Err("--flows wants 1…32768".to_owned());
    }
    if rate.is_nan() || rate < 1.0 {
        return Err("--rate wants at least 1 packet/s".to_owned());
    }
    let destination = args.mac("destination-mac")?;
    let of_ipv4 = match args.optional("connections-from")? {
        Some(first) => (first..).take(count as usize).map(|number| syn(number, destination)).collect(),
        None => frames(flows, destination),
    };
    let mut frames: Vec<Vec<u8>> = match args.optional("ipv6")?.unwrap_or(false) {
        true => of_ipv4.iter().map(|frame| standing_for(frame).to_vec()).collect(),
        false => of_ipv4.iter().map(|frame| frame.to_vec()).collect(),
    };
    if let Some(cpu) = args.optional("cpu")? {
        crate::pin::to_cpu(cpu)?;
    }
    crate::pin::exact_timers();
    let socket = open(&interface)?;
    let started = Instant::now();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut sent, mut next) = (0, 0);
    while sent < count {
        let due = ((started.elapsed().as_secs_f64() * rate) as u64).min(count);
        let burst = due.saturating_sub(sent).min(CATCH_UP) as usize;
        if burst == 0 {
            std::thread::sleep(PAUSE.mul_f64(0.5 + (random.bits() >> 40) as f64 / (1 << 24) as f64));
            continue;
        }
        let end = (next + burst.min(BATCH)).min(frames.len());
        let done = send(&socket, frames.get_mut(next..end).unwrap_or_default())?;
        sent += done as u64;
        next = (next + done) % frames.len();
    }
    println!("{{\"sent\":{sent},\"seconds\":{:.6}}}", started.elapsed().as_secs_f64());
    Ok(())
}

/// One frame per flow; flows differ in addresses and ports, and no two share a source port.
fn frames(flows: u32, destination: [u8; 6]) -> Vec<[u8; FRAME]> {
    (0..flows).map(|flow| flow_frame(flow, destination)).collect()
}

/// The frame of one flow.
fn flow_frame(flow: u32, destination_mac: [u8; 6]) -> [u8; FRAME] {
    packet::udp(&Ends {
        source_mac: [2, 0, 0, 0, 0, 1],
        destination_mac,
        source: Ipv4Addr::from_bits(SOURCES.to_bits() + 1 + flow % 251),
        destination: Ipv4Addr::from_bits(DESTINATIONS.to_bits() + 1 + flow % 64),
        source_port: 16384 + flow as u16,
        destination_port: 4000 + (flow % 16) as u16,
    })
}

/// The first packet of a connection of its own for every number. Within 64,512 of them no two have the same source
/// port, and the next as many go to another destination, so that masquerading need not change ports.
fn syn(number: u64, destination_mac: [u8; 6]) -> [u8; FRAME] {
    let (block, port) = ((number / CLIENT_PORTS) as u32, (number % CLIENT_PORTS) as u16);
    let ends = Ends {
        source_mac: [2, 0, 0, 0, 0, 1],
        destination_mac,
        source: Ipv4Addr::from_bits(SOURCES.to_bits() + 1 + (number % 4093) as u32),
        destination: Ipv4Addr::from_bits(DESTINATIONS.to_bits() + 1 + block % 0xffff),
        source_port: 1024 + port,
        destination_port: 443,
    };
    packet::tcp(&ends, flag::SYN, number as u32, 0)
}

/// An AF_PACKET socket that only sends, past the queueing discipline.
fn open(interface: &str) -> Result<OwnedFd, String> {
    let failed = |what: &str| format!("{interface}: {what}: {}", std::io::Error::last_os_error());
    let name = CString::new(interface).map_err(|_| "--interface holds a zero byte".to_owned())?;
    // SAFETY: `name` is a NUL-terminated string that outlives the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 {
        return Err(failed("no such interface"));
    }
    // SAFETY: no pointers are involved. Protocol 0 receives nothing.
    let raw = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if raw < 0 {
        return Err(failed("packet socket"));
    }
    // SAFETY: `raw` was just opened and has no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    let on: libc::c_int = 1;
    // SAFETY: the option value points to a c_int of the length given.
    let bypass = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_QDISC_BYPASS,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if bypass != 0 {
        return Err(failed("PACKET_QDISC_BYPASS"));
    }
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: 0,
        sll_ifindex: index as i32,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    // SAFETY: the pointer is to a sockaddr_ll of the length given.
    let bound = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    if bound != 0 {
        return Err(failed("bind"));
    }
    Ok(socket)
}

/// Sends up to [`BATCH`] frames; returns how many the kernel took. A full device is no error: the
/// packet counts as not sent and is tried again.
fn send(socket: &OwnedFd, frames: &mut [Vec<u8>]) -> Result<usize, String> {
    let mut vectors = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; BATCH];
    // SAFETY: mmsghdr consists of integers and pointers, for which zero is a valid value.
    let mut headers: [libc::mmsghdr; BATCH] = unsafe { std::mem::zeroed() };
    let mut count = 0;
    for ((vector, header), frame) in vectors.iter_mut().zip(&mut headers).zip(frames) {
        *vector = libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: frame.len() };
        header.msg_hdr.msg_iov = vector;
        header.msg_hdr.msg_iovlen = 1;
        count += 1;
    }
    // SAFETY: the first `count` headers each point to one vector, and each vector to a frame of the
    // length it gives; all of them outlive the call.
    let done = unsafe { libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), count, 0) };
    if done >= 0 {
        return Ok(done as usize);
    }
    let error = std::io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ENOBUFS | libc::EAGAIN | libc::EINTR) => Ok(0),
        _ => Err(format!("sendmmsg: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn connections_differ_also_once_they_have_one_source_address() {
        let numbers = [0, 1, 4093, 64_511, 64_512, 64_513, 200_000, 1_000_000];
        let seen: BTreeSet<_> =
            numbers.iter().map(|&number| syn(number, [2, 0, 0, 0, 0, 9])[30..38].to_vec()).collect();
        assert_eq!(seen.len(), numbers.len());
    }

    #[test]
    fn flows_differ() {
        let frames = frames(4096, [2, 0, 0, 0, 0, 9]);
        let tuples: BTreeSet<_> = frames.iter().map(|frame| frame[26..38].to_vec()).collect();
        assert_eq!(tuples.len(), frames.len());
    }
}
