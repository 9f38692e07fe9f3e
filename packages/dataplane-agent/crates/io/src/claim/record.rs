//! The state of a netdev before it was claimed, on disk.

use std::fs;
use std::os::linux::fs::MetadataExt;

use super::error::ClaimError;
use super::features::{GRO, LRO, RX_VLAN, disable_ipv6_path, has_feature};
use crate::command::ip;
use crate::link::{Link, LinkMonitor};

/// The state of a netdev, as lines of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// Identity of the device, whatever its name: see [`device`]. Empty if it is not known.
    pub(super) device: String,
    /// The interface was up (`IFF_UP`).
    pub(super) up: bool,
    /// Bytes; 0 if it is not known.
    pub(super) mtu: u32,
    /// `net.ipv6.conf.IFACE.disable_ipv6`; `None` without IPv6 in the kernel.
    pub(super) disable_ipv6: Option<String>,
    /// Large receive offload was on.
    pub(super) lro: bool,
    /// Generic receive offload was on.
    pub(super) gro: bool,
    /// The device takes VLAN tags off received frames.
    pub(super) vlan: bool,
    /// Words of `ip address add`, without the device.
    pub(super) addresses: Vec<String>,
    /// Words of `ip route replace`, without the device.
    pub(super) routes: Vec<String>,
}

impl Record {
    /// The text of the record, with one property per line.
    pub(super) fn to_text(&self) -> String {
        let flags = [("up", self.up), ("lro", self.lro), ("gro", self.gro), ("vlan", self.vlan)];
        let mut text = String::new();
        for (key, value) in flags {
            text += &format!("{key} {}\n", u8::from(value));
        }
        text += &format!("mtu {}\n", self.mtu);
        if !self.device.is_empty() {
            text += &format!("device {}\n", self.device);
        }
        if let Some(value) = &self.disable_ipv6 {
            text += &format!("disable-ipv6 {value}\n");
        }
        for (key, lines) in [("address", &self.addresses), ("route", &self.routes)] {
            for line in lines {
                text += &format!("{key} {line}\n");
            }
        }
        text
    }

    /// Reads what [`Self::to_text`] wrote; unknown lines are passed over.
    pub(super) fn from_text(text: &str) -> Self {
        let mut record = Record::default();
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("device", words)) => record.device = words.to_owned(),
                Some(("up", value)) => record.up = value == "1",
                Some(("mtu", value)) => record.mtu = value.parse().unwrap_or(0),
                Some(("lro", value)) => record.lro = value == "1",
                Some(("gro", value)) => record.gro = value == "1",
                Some(("vlan", value)) => record.vlan = value == "1",
                Some(("disable-ipv6", value)) => record.disable_ipv6 = Some(value.to_owned()),
                Some(("address", words)) => record.addresses.push(words.to_owned()),
                Some(("route", words)) => record.routes.push(words.to_owned()),
                _ => {}
            }
        }
        record
    }

    /// Whether it is the record of a device of this boot and this network namespace. Other records are not valid, as
    /// their devices have been created and configured anew. An empty record, which a power cut may leave, is not valid
    /// either.
    pub(super) fn is_of_here(&self) -> bool {
        let is_unknown = self.device.is_empty() && *self != Self::default();
        is_unknown || self.device.split_once(' ').is_some_and(|(_, place)| place == here())
    }

    /// The routes in an order in which the kernel takes them: a gateway has to be reached by a route without one, and
    /// ip(8) lists them by destination, the default route first.
    pub(super) fn routes_in_order(&self) -> impl Iterator<Item = &String> {
        let has_gateway = |words: &&String| words.split(' ').any(|word| word == "via");
        let direct = self.routes.iter().filter(move |words| !has_gateway(words));
        direct.chain(self.routes.iter().filter(has_gateway))
    }
}

/// Identity of a netdev that does not depend on its name: its index, the network namespace and the boot of the machine,
/// within which the kernel uses an index once.
pub(super) fn device(link: &Link) -> String {
    format!("{} {}", link.index, here())
}

/// The network namespace and the boot of the machine.
fn here() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let netns = fs::metadata("/proc/thread-self/ns/net").map_or(0, |netns| netns.st_ino());
    format!("{netns} {}", boot.trim())
}

/// The present settings of an interface.
pub(super) fn observe(netdev: &str) -> Result<Record, ClaimError> {
    let links = LinkMonitor::new()?.links()?;
    let link = links.iter().find(|link| link.name == netdev);
    let link = link.ok_or_else(|| ClaimError::Missing(netdev.to_owned()))?;
    let mut record = Record {
        device: device(link),
        up: link.up,
        mtu: link.mtu,
        lro: has_feature(netdev, LRO),
        gro: has_feature(netdev, GRO),
        vlan: has_feature(netdev, RX_VLAN),
        ..Record::default()
    };
    record.disable_ipv6 =
        fs::read_to_string(disable_ipv6_path(netdev)).ok().map(|value| value.trim().to_owned());
    for line in ip(&format!("-o address show dev {netdev}"))?.lines() {
        record.addresses.extend(address_words(line));
    }
    for family in ["-4", "-6"] {
        for line in ip(&format!("{family} route show dev {netdev}"))?.lines() {
            record.routes.extend(route_words(line));
        }
    }
    Ok(record)
}

/// `2: eth0    inet 10.0.0.1/24 brd 10.0.0.255 scope global eth0\  valid_lft …` as words for adding it.
/// Addresses that the kernel or a router advertisement made come back by themselves.
fn address_words(line: &str) -> Option<String> {
    let (front, _) = line.split_once('\\').unwrap_or((line, ""));
    let mut words = front.split_whitespace().skip(2);
    let family = words.next()?;
    let all: Vec<&str> = words.collect();
    let made_by_itself = ["dynamic", "temporary", "mngtmpaddr", "kernel_ll", "kernel_ra", "link"];
    if family == "inet6" && all.iter().any(|word| made_by_itself.contains(word)) {
        return None;
    }
    let mut kept = vec![*all.first()?];
    for pair in all.windows(2) {
        if let [key @ ("brd" | "scope" | "peer" | "metric"), value] = pair {
            kept.push(key);
            kept.push(value);
        }
    }
    // The last word is the label, which only IPv4 has.
    if family == "inet" {
        kept.extend(["label", all.last()?]);
    }
    Some(kept.join(" "))
}

/// A line of `ip route show` as words for adding it; `None` for routes the kernel makes by itself.
fn route_words(line: &str) -> Option<String> {
    if line.contains("proto kernel") || line.contains("proto ra") || line.trim().is_empty() {
        return None;
    }
    let states = ["linkdown", "dead", "offload", "trap", "rt_offload"];
    let words: Vec<&str> = line.split_whitespace().filter(|word| !states.contains(word)).collect();
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_the_disk() {
        let record = Record {
            device: "3 4026531840 12ab".into(),
            up: true,
            mtu: 9000,
            disable_ipv6: Some("0".into()),
            lro: false,
            gro: true,
            vlan: true,
            addresses: vec!["10.0.0.1/24 brd 10.0.0.255 scope global label eth0".into()],
            routes: vec!["default via 10.0.0.254 metric 100".into()],
        };
        assert_eq!(Record::from_text(&record.to_text()), record);
    }

    #[test]
    fn a_record_is_of_one_boot_and_namespace() {
        let of = |device: String| Record { device, ..Record::default() }.is_of_here();
        let link = Link { index: 7, ..Link::default() };
        assert!(of(device(&link)));
        assert!(Record { up: true, ..Record::default() }.is_of_here(), "of a version that did not note it");
        assert!(!Record::from_text("").is_of_here());
        assert!(!Record::from_text("\0\0\0\0").is_of_here());
        let (netns, boot) =
            here().split_once(' ').map(|(netns, boot)| (netns.to_owned(), boot.to_owned())).unwrap();
        assert!(!of(format!("7 {netns} 12ab")));
        assert!(!of(format!("7 1{netns} {boot}")));
    }

    #[test]
    fn routes_without_a_gateway_come_before_those_with_one() {
        let of = |routes: &[&str]| routes.iter().map(|&words| words.to_owned()).collect::<Vec<_>>();
        let routes = [
            "default via 10.9.9.1",
            "10.7.0.0/16 via 10.9.9.1",
            "10.9.9.1 scope link",
            "10.8.0.0/16 scope link",
        ];
        let record = Record { routes: of(&routes), ..Record::default() };
        let ordered: Vec<_> = record.routes_in_order().cloned().collect();
        let [default, far, host, near] = routes;
        assert_eq!(ordered, of(&[host, near, default, far]));
    }

    #[test]
    fn addresses_are_read_from_ip() {
        let line = "2: eth0    inet 10.0.0.1/24 brd 10.0.0.255 scope global dynamic eth0:1\\       valid_lft forever preferred_lft forever";
        assert_eq!(address_words(line).unwrap(), "10.0.0.1/24 brd 10.0.0.255 scope global label eth0:1");
        let peer = "7: ppp0    inet 10.0.0.1 peer 10.0.0.2/32 scope global ppp0\\       valid_lft forever";
        assert_eq!(address_words(peer).unwrap(), "10.0.0.1 peer 10.0.0.2/32 scope global label ppp0");
        let local = "2: eth0    inet6 fe80::1/64 scope link \\       valid_lft forever preferred_lft forever";
        assert_eq!(address_words(local), None);
        let global =
            "2: eth0    inet6 2001:db8::1/64 scope global \\       valid_lft forever preferred_lft forever";
        assert_eq!(address_words(global).unwrap(), "2001:db8::1/64 scope global");
    }

    #[test]
    fn routes_of_the_kernel_are_left_to_it() {
        assert_eq!(route_words("10.0.0.0/24 proto kernel scope link src 10.0.0.1"), None);
        assert_eq!(
            route_words("default via 10.0.0.254 proto static metric 100 linkdown ").unwrap(),
            "default via 10.0.0.254 proto static metric 100"
        );
    }
}
