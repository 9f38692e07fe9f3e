//! The routes of a family in a network namespace, and notifications of their changes (rtnetlink(7)).

use std::fmt::Debug;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::link::{attributes, message, netlink, u32_at};

const RTMGRP_IPV4_ROUTE: u32 = 0x40;
const RTMGRP_IPV6_ROUTE: u32 = 0x400;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_PREFSRC: u16 = 7;
const RTA_MULTIPATH: u16 = 9;
const RTA_TABLE: u16 = 15;
/// A next hop of another address family (RFC 8950).
const RTA_VIA: u16 = 18;
const RTNH_F_DEAD: u8 = 1;
const RTNH_F_LINKDOWN: u8 = 16;
/// Flags of a next hop that the kernel does not use.
const UNUSABLE: u8 = RTNH_F_DEAD | RTNH_F_LINKDOWN;
/// Bytes of an `rtmsg`.
const RTMSG: usize = 12;
/// Bytes of an `rtnexthop`.
const RTNEXTHOP: usize = 8;
/// Room for changes that the agent has not read yet, bytes.
const RECEIVE_BUFFER: libc::c_int = 16 << 20;
/// Datagrams read per call.
const AT_ONCE: usize = 256;

/// An address of IPv4 or IPv6, host order.
pub trait RouteAddress: Copy + Default + Debug {
    /// Address family, as rtnetlink numbers it.
    const FAMILY: libc::c_int;
    /// Bits of an address.
    const BITS: u8;
    /// Multicast group of the notifications.
    const GROUP: u32;

    /// Reads an attribute, which is in network order.
    fn read(value: &[u8]) -> Option<Self>;
}

impl RouteAddress for u32 {
    const FAMILY: libc::c_int = libc::AF_INET;
    const BITS: u8 = 32;
    const GROUP: u32 = RTMGRP_IPV4_ROUTE;

    fn read(value: &[u8]) -> Option<Self> {
        Some(Self::from_be_bytes(*value.first_chunk()?))
    }
}

impl RouteAddress for u128 {
    const FAMILY: libc::c_int = libc::AF_INET6;
    const BITS: u8 = 128;
    const GROUP: u32 = RTMGRP_IPV6_ROUTE;

    fn read(value: &[u8]) -> Option<Self> {
        Some(Self::from_be_bytes(*value.first_chunk()?))
    }
}

/// A route of the main table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelRoute<A = u32> {
    /// Destination network, host order.
    pub destination: A,
    /// Prefix length, bits.
    pub prefix_len: u8,
    /// Priority; lower wins.
    pub metric: u32,
    /// Routing protocol number.
    pub protocol: u8,
    /// Type of the route: `RTN_UNICAST`, `RTN_BLACKHOLE` …
    pub kind: u8,
    /// Neighbour, host order. Of several next hops the first that can be used.
    pub gateway: Option<A>,
    /// The gateway is not an address of the family.
    pub foreign_gateway: bool,
    /// The route has more next hops than the one that is given here.
    pub multipath: bool,
    /// Index of the device; 0 without one.
    pub device: u32,
    /// Preferred source, host order; unspecified without one.
    pub source: A,
}

/// A change of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelRouteChange<A = u32> {
    /// Added, in place of one with its destination and metric.
    Added(KernelRoute<A>),
    /// Removed.
    Removed(KernelRoute<A>),
}

/// Notifications of changes, and the table itself.
#[derive(Debug)]
pub struct RouteMonitor<A = u32> {
    events: OwnedFd,
    requests: OwnedFd,
    buffer: Vec<u8>,
    family: PhantomData<A>,
}

impl<A: RouteAddress> RouteMonitor<A> {
    /// A socket in the network namespace of the calling thread.
    ///
    /// # Errors
    /// When no netlink socket can be opened.
    pub fn new() -> std::io::Result<Self> {
        let events = netlink(libc::NETLINK_ROUTE, A::GROUP)?;
        // SAFETY: the option's value is a c_int and the length is its size. Without the privilege the buffer
        // stays as it is, and overruns come earlier.
        unsafe {
            libc::setsockopt(
                events.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_RCVBUFFORCE,
                std::ptr::from_ref(&RECEIVE_BUFFER).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            );
        }
        let requests = netlink(libc::NETLINK_ROUTE, 0)?;
        Ok(Self { events, requests, buffer: vec![0; 256 << 10], family: PhantomData })
    }

    /// Descriptor that becomes readable when some route changed.
    pub fn fd(&self) -> RawFd {
        self.events.as_raw_fd()
    }

    /// Reads pending changes, oldest first, a bounded number of them. `false` when some were lost in an overrun: then
    /// [`Self::routes`] must be read.
    pub fn changes(&mut self, changes: &mut Vec<KernelRouteChange<A>>) -> bool {
        let mut complete = true;
        for _ in 0..AT_ONCE {
            // SAFETY: the buffer is valid for its length.
            let read = unsafe {
                let (pointer, length) = (self.buffer.as_mut_ptr().cast(), self.buffer.len());
                libc::recv(self.events.as_raw_fd(), pointer, length, libc::MSG_DONTWAIT)
            };
            let Ok(read) = usize::try_from(read) else {
                match std::io::Error::last_os_error().raw_os_error() {
                    Some(libc::ENOBUFS) => complete = false,
                    Some(libc::EINTR) => {}
                    _ => return complete,
                }
                continue;
            };
            let mut rest = self.buffer.get(..read).unwrap_or_default();
            while let Some((kind, body, after)) = message(rest) {
                match kind {
                    libc::RTM_NEWROUTE => changes.extend(parse(body).map(KernelRouteChange::Added)),
                    libc::RTM_DELROUTE => changes.extend(parse(body).map(KernelRouteChange::Removed)),
                    _ => {}
                }
                rest = after;
            }
        }
        complete
    }

    /// Every route of the main table.
    ///
    /// # Errors
    /// When the kernel does not answer.
    pub fn routes(&mut self) -> std::io::Result<Vec<KernelRoute<A>>> {
        let mut request = [0_u8; 28];
        request[0..4].copy_from_slice(&28_u32.to_ne_bytes());
        request[4..6].copy_from_slice(&libc::RTM_GETROUTE.to_ne_bytes());
        request[6..8].copy_from_slice(&((libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16).to_ne_bytes());
        request[16] = A::FAMILY as u8;
        let sent =
            // SAFETY: the buffer is valid for its length.
            unsafe { libc::send(self.requests.as_raw_fd(), request.as_ptr().cast(), request.len(), 0) };
        if sent < 0 {
            return Err(std::io::Error::last_os_error());
        }
        let mut routes = Vec::new();
        loop {
            // SAFETY: the buffer is valid for its length.
            let read = unsafe {
                let (pointer, length) = (self.buffer.as_mut_ptr().cast(), self.buffer.len());
                libc::recv(self.requests.as_raw_fd(), pointer, length, 0)
            };
            let Ok(read) = usize::try_from(read) else {
                let error = std::io::Error::last_os_error();
                if error.kind() == std::io::ErrorKind::Interrupted {
                    continue;
                }
                return Err(error);
            };
            let mut rest = self.buffer.get(..read).unwrap_or_default();
            while let Some((kind, body, after)) = message(rest) {
                match i32::from(kind) {
                    libc::NLMSG_DONE => return Ok(routes),
                    libc::NLMSG_ERROR => {
                        return Err(std::io::Error::other("the kernel refused to list routes"));
                    }
                    _ if kind == libc::RTM_NEWROUTE => routes.extend(parse(body)),
                    _ => {}
                }
                rest = after;
            }
        }
    }
}

/// Next hop of a multipath route.
struct NextHop<A> {
    flags: u8,
    device: u32,
    gateway: Option<A>,
    foreign_gateway: bool,
}

/// The next hops in the value of an `RTA_MULTIPATH`: `rtnexthop`s, each with its attributes, on boundaries of four
/// bytes.
#[derive(Clone)]
struct NextHops<'a, A> {
    rest: &'a [u8],
    family: PhantomData<A>,
}

impl<A: RouteAddress> Iterator for NextHops<'_, A> {
    type Item = NextHop<A>;

    fn next(&mut self) -> Option<NextHop<A>> {
        let length = usize::from(u16::from_ne_bytes(*self.rest.first_chunk()?));
        let own = self.rest.get(RTNEXTHOP..length)?;
        let flags = *self.rest.get(2)?;
        let mut hop = NextHop { flags, device: u32_at(self.rest, 4)?, gateway: None, foreign_gateway: false };
        for (kind, value) in attributes(own) {
            match kind {
                RTA_GATEWAY => hop.gateway = A::read(value),
                RTA_VIA => hop.foreign_gateway = true,
                _ => {}
            }
        }
        self.rest = self.rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(hop)
    }
}

/// Reads an `rtmsg` and its attributes; `None` if it is not a route of the family in the main table, for all sources.
fn parse<A: RouteAddress>(body: &[u8]) -> Option<KernelRoute<A>> {
    let header: &[u8; RTMSG] = body.first_chunk()?;
    let [family, prefix_len, source_len, tos, table, protocol, _, kind, ..] = *header;
    let cloned = u32_at(header, 8)? & libc::RTM_F_CLONED != 0;
    let is_plain = source_len == 0 && tos == 0 && !cloned;
    if i32::from(family) != A::FAMILY || prefix_len > A::BITS || !is_plain {
        return None;
    }
    let mut route = KernelRoute {
        destination: A::default(),
        prefix_len,
        metric: 0,
        protocol,
        kind,
        gateway: None,
        foreign_gateway: false,
        multipath: false,
        device: 0,
        source: A::default(),
    };
    let mut table = u32::from(table);
    for (kind, value) in attributes(body.get(RTMSG..)?) {
        match kind {
            RTA_DST => route.destination = A::read(value)?,
            RTA_OIF => route.device = u32_at(value, 0)?,
            RTA_GATEWAY => route.gateway = A::read(value),
            RTA_PRIORITY => route.metric = u32_at(value, 0)?,
            RTA_PREFSRC => route.source = A::read(value)?,
            RTA_TABLE => table = u32_at(value, 0)?,
            RTA_VIA => route.foreign_gateway = true,
            RTA_MULTIPATH => {
                let hops = NextHops { rest: value, family: PhantomData };
                route.multipath = hops.clone().count() > 1;
                let usable = |hop: &NextHop<A>| hop.flags & UNUSABLE == 0 && !hop.foreign_gateway;
                let hop = hops.clone().find(usable).or_else(|| hops.clone().next())?;
                route.device = hop.device;
                route.gateway = hop.gateway;
                route.foreign_gateway = hop.foreign_gateway;
            }
            _ => {}
        }
    }
    (table == u32::from(libc::RT_TABLE_MAIN)).then_some(route)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netns::Namespace;

    #[test]
    fn routes_are_listed_and_their_changes_told() {
        let name = format!("tollway-routes-{}", std::process::id());
        // Without the privilege to make a namespace there is nothing to look at.
        let Ok(namespace) = Namespace::open_or_create(&name) else { return };
        let mut monitor = namespace.within(RouteMonitor::<u32>::new).unwrap().unwrap();
        namespace.ip("link add d0 type veth peer name d1").unwrap();
        namespace.set("net/ipv6/conf/d0/disable_ipv6", "0").unwrap();
        let lines = [
            "link set dev d1 up",
            "address add 10.0.0.1/24 dev d0",
            "link set dev d0 up",
            "route add 10.7.0.0/16 via 10.0.0.2 proto 186 metric 20",
            "route add 10.8.0.0/16 nexthop via 10.0.0.3 nexthop via 10.0.0.4",
            "route add 10.5.0.0/16 via inet6 fe80::1 dev d0",
            "route add 10.4.0.0/16 nexthop via inet6 fe80::1 dev d0 nexthop via 10.0.0.5",
            "route add blackhole 10.9.0.0/16 proto bird",
            "route add 10.6.0.0/16 via 10.0.0.2 table 77",
        ];
        namespace.ip_batch(&lines.map(str::to_owned)).unwrap();
        let listed = monitor.routes().unwrap();
        let one = |network: u8| {
            let destination = u32::from_be_bytes([10, network, 0, 0]);
            listed.iter().find(|route| route.destination == destination).copied()
        };
        let learned = one(7).unwrap();
        assert_eq!((learned.metric, learned.protocol, learned.prefix_len), (20, 186, 16));
        assert_eq!((learned.gateway, learned.kind), (Some(0x0a00_0002), libc::RTN_UNICAST));
        assert_eq!(
            one(8).map(|route| (route.gateway, route.device, route.multipath)),
            Some((Some(0x0a00_0003), learned.device, true))
        );
        assert!(!learned.multipath && !learned.foreign_gateway);
        // A next hop of IPv6: not a route without a gateway.
        assert!(one(5).is_some_and(|route| route.foreign_gateway));
        assert_eq!(
            one(4).map(|route| (route.gateway, route.foreign_gateway, route.multipath)),
            Some((Some(0x0a00_0005), false, true))
        );
        assert_eq!(one(9).map(|route| route.kind), Some(libc::RTN_BLACKHOLE));
        assert_eq!(one(6), None);
        namespace.ip("route del 10.7.0.0/16 metric 20").unwrap();
        let mut changes = Vec::new();
        assert!(monitor.changes(&mut changes));
        assert!(changes.contains(&KernelRouteChange::Added(learned)), "{changes:?}");
        assert_eq!(changes.last(), Some(&KernelRouteChange::Removed(learned)));
        namespace.remove().unwrap();
    }

    #[test]
    fn routes_of_ipv6_are_listed_and_their_changes_told() {
        let name = format!("tollway-routes6-{}", std::process::id());
        let Ok(namespace) = Namespace::open_or_create(&name) else { return };
        let mut monitor = namespace.within(RouteMonitor::<u128>::new).unwrap().unwrap();
        namespace.ip("link add d0 type veth peer name d1").unwrap();
        namespace.set("net/ipv6/conf/d0/disable_ipv6", "0").unwrap();
        let lines = [
            "link set dev d1 up",
            "address add 2001:db8::1/64 dev d0 nodad",
            "link set dev d0 up",
            "-6 route add 2001:db8:7::/48 via fe80::2 dev d0 proto 186 metric 20",
            "-6 route add 2001:db8:8::/48 nexthop via 2001:db8::3 nexthop via 2001:db8::4",
            "-6 route add blackhole 2001:db8:9::/48 proto bird",
            "-6 route add 2001:db8:6::/48 via 2001:db8::2 table 77",
        ];
        for line in lines {
            namespace.ip(line).unwrap();
        }
        let listed = monitor.routes().unwrap();
        let one = |network: u128| {
            let destination = 0x2001_0db8_u128 << 96 | network << 80;
            listed.iter().find(|route| (route.destination, route.prefix_len) == (destination, 48)).copied()
        };
        let learned = one(7).unwrap();
        assert_eq!((learned.metric, learned.protocol, learned.multipath), (20, 186, false));
        assert_eq!((learned.gateway, learned.kind), (Some(0xfe80 << 112 | 2), libc::RTN_UNICAST));
        let several = one(8).unwrap();
        assert_eq!((several.gateway.map(|gateway| gateway & 0xff), several.multipath), (Some(3), true));
        assert_eq!(one(9).map(|route| route.kind), Some(libc::RTN_BLACKHOLE));
        assert_eq!(one(6), None);
        namespace.ip("-6 route del 2001:db8:7::/48 metric 20").unwrap();
        namespace.ip("-6 route del 2001:db8:8::/48 via 2001:db8::3").unwrap();
        let mut changes = Vec::new();
        assert!(monitor.changes(&mut changes));
        assert!(changes.contains(&KernelRouteChange::Added(learned)), "{changes:?}");
        assert!(changes.contains(&KernelRouteChange::Removed(learned)), "{changes:?}");
        // One of the next hops goes: it alone is told.
        let Some(KernelRouteChange::Removed(gone)) = changes.last() else { panic!("{changes:?}") };
        assert_eq!((gone.destination, gone.multipath), (several.destination, false));
        namespace.remove().unwrap();
    }

    #[test]
    fn of_several_next_hops_the_first_usable_one_counts() {
        let hop = |flags: u8, device: u32, last: u8| {
            let mut bytes = vec![16, 0, flags, 0];
            bytes.extend(device.to_ne_bytes());
            bytes.extend([8, 0, RTA_GATEWAY as u8, 0, 10, 0, 0, last]);
            bytes
        };
        let read = |hops: Vec<u8>| {
            let mut body = vec![0; RTMSG];
            body[0] = libc::AF_INET as u8;
            body[4] = libc::RT_TABLE_MAIN;
            body.extend([(4 + hops.len()) as u8, 0, RTA_MULTIPATH as u8, 0]);
            body.extend(hops);
            parse::<u32>(&body).map(|route| (route.device, route.gateway.map_or(0, |gateway| gateway & 0xff)))
        };
        let (dead, down) = (RTNH_F_DEAD, RTNH_F_LINKDOWN);
        assert_eq!(read([hop(0, 3, 1), hop(0, 4, 2)].concat()), Some((3, 1)));
        assert_eq!(read([hop(dead, 3, 1), hop(down, 5, 3), hop(0, 4, 2)].concat()), Some((4, 2)));
        assert_eq!(read([hop(dead, 3, 1), hop(dead, 4, 2)].concat()), Some((3, 1)));
        // Shorter than its own header, or than it says.
        assert_eq!(read(vec![4, 0, 0, 0, 3, 0, 0, 0]), None);
        assert_eq!(read(vec![24, 0, 0, 0, 3, 0, 0, 0]), None);
    }

    #[test]
    fn truncated_messages_are_passed_over() {
        for length in 0..RTMSG {
            assert_eq!(parse::<u32>(&vec![0; length]), None);
            assert_eq!(parse::<u128>(&vec![0; length]), None);
        }
        let mut body = vec![0; RTMSG + 8];
        body[0] = libc::AF_INET as u8;
        body[4] = libc::RT_TABLE_MAIN;
        body[RTMSG..RTMSG + 4].copy_from_slice(&[3, 0, RTA_OIF as u8, 0]);
        assert!(parse::<u32>(&body).is_some_and(|route| route.device == 0));
        assert_eq!(parse::<u128>(&body), None, "of the other family");
    }
}
