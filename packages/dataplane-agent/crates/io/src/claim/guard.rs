//! The nft table that keeps the kernel from claimed netdevs, and notifications of its removal: restarting
//! nftables.service flushes the whole ruleset.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::command::{CommandError, run};
use crate::link::{attributes, message, netlink};

/// `NFNLGRP_NFTABLES` as a bit of `nl_groups`, `NFNL_SUBSYS_NFTABLES` (linux/netfilter/nfnetlink.h).
const GROUP: u32 = 1 << 6;
const SUBSYSTEM: u16 = 10;
/// `NFT_MSG_DELTABLE`, `NFT_MSG_DELCHAIN` (linux/netfilter/nf_tables.h).
const DELETED_TABLE: u16 = 2;
const DELETED_CHAIN: u16 = 5;
/// `NFTA_TABLE_NAME` and `NFTA_CHAIN_TABLE`; before the attributes there is a `struct nfgenmsg`.
const TABLE_NAME: u16 = 1;
const HEADER: usize = 4;

/// Prefix of the name of each table; the name of its agent follows.
const PREFIX: &str = "tollway_";

/// The table of one agent, with a chain for each claimed netdev.
#[derive(Debug)]
pub(super) struct Guard {
    table: String,
}

impl Guard {
    /// The table of the agent that is called `instance`.
    pub(super) fn new(instance: &str) -> Self {
        let plain = instance.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
        Self { table: format!("{PREFIX}{}", plain.collect::<String>()) }
    }

    /// Installs the chain that drops everything at the ingress of a netdev.
    pub(super) fn install(&self, netdev: &str) -> Result<(), CommandError> {
        let table = &self.table;
        let chain = chain_name(netdev);
        let rules = format!(
            "add table netdev {table}\n\
             add chain netdev {table} {chain} {{ type filter hook ingress device \"{netdev}\" priority -500; policy drop; }}\n"
        );
        // A chain of a netdev that vanished may be left without its hook.
        let fresh = format!(
            "add table netdev {table}\nadd chain netdev {table} {chain}\ndelete chain netdev {table} {chain}\n{rules}"
        );
        nft(&fresh).or_else(|_| nft(&rules))
    }

    /// The table as nft(8) lists it; nothing if it is gone.
    pub(super) fn listed(&self) -> Listed {
        Listed(run("nft", &["list", "table", "netdev", &self.table], "").unwrap_or_default())
    }

    /// Removes the chain of a netdev, which may be gone already with its netdev.
    pub(super) fn remove(&self, netdev: &str) {
        remove_chain(&self.table, netdev);
        self.remove_stale(netdev);
    }

    /// Removes the chains of a netdev that earlier agents of other names have left, and their tables with the last one.
    /// A netdev is claimed by one agent at a time.
    pub(super) fn remove_stale(&self, netdev: &str) {
        let tables = run("nft", &["list", "tables", "netdev"], "").unwrap_or_default();
        for table in tables.lines().filter_map(|line| line.strip_prefix("table netdev ")) {
            if table == self.table || !table.starts_with(PREFIX) || !remove_chain(table, netdev) {
                continue;
            }
            let left = run("nft", &["list", "table", "netdev", table], "");
            if left.is_ok_and(|lines| !lines.contains("chain")) {
                let _ = nft(&format!("delete table netdev {table}\n"));
            }
        }
    }

    /// Removes the table.
    pub(super) fn remove_table(&self) -> Result<(), CommandError> {
        let table = &self.table;
        nft(&format!("add table netdev {table}\ndelete table netdev {table}\n"))
    }
}

/// A table as nft(8) lists it.
#[derive(Debug)]
pub(super) struct Listed(String);

impl Listed {
    /// Whether the chain of a netdev is there, and drops.
    pub(super) fn covers(&self, netdev: &str) -> bool {
        let chain = self.0.split_once(&format!("chain {} {{", chain_name(netdev)));
        chain
            .and_then(|(_, rest)| rest.split_once('}'))
            .is_some_and(|(lines, _)| lines.contains("policy drop"))
    }
}

/// Removes the chain of a netdev from a table. Whether there was one.
fn remove_chain(table: &str, netdev: &str) -> bool {
    nft(&format!("delete chain netdev {table} {}\n", chain_name(netdev))).is_ok()
}

fn nft(commands: &str) -> Result<(), CommandError> {
    run("nft", &["-f", "-"], commands).map(drop)
}

/// nft names take letters, digits and `_`; netdev names nearly everything. Distinct names stay distinct.
fn chain_name(netdev: &str) -> String {
    let mut name = String::from("in_");
    for byte in netdev.bytes() {
        if byte.is_ascii_alphanumeric() {
            name.push(char::from(byte));
        } else {
            name += &format!("_{byte:02x}");
        }
    }
    name
}

/// Notifications of tables and chains that are removed.
#[derive(Debug)]
pub struct GuardMonitor {
    events: OwnedFd,
}

impl GuardMonitor {
    /// A socket in the network namespace of the calling thread.
    ///
    /// # Errors
    /// When no netlink socket can be opened.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { events: netlink(libc::NETLINK_NETFILTER, GROUP)? })
    }

    /// Descriptor that becomes readable when some table changed.
    pub fn fd(&self) -> RawFd {
        self.events.as_raw_fd()
    }

    /// Reads all pending notifications. Whether the table or a chain of it may have been removed.
    pub(super) fn may_be_removed(&self, guard: &Guard) -> bool {
        let mut buffer = vec![0_u8; 64 << 10];
        let mut removed = false;
        loop {
            // SAFETY: the buffer is valid for its length.
            let read = unsafe {
                libc::recv(self.fd(), buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_DONTWAIT)
            };
            let Ok(read) = usize::try_from(read) else {
                match std::io::Error::last_os_error().raw_os_error() {
                    // The lost notifications may have been about it.
                    Some(libc::ENOBUFS) => removed = true,
                    Some(libc::EINTR) => {}
                    _ => return removed,
                }
                continue;
            };
            if read == 0 {
                return removed;
            }
            let mut rest = buffer.get(..read).unwrap_or_default();
            while let Some((kind, body, after)) = message(rest) {
                removed |= is_removal(kind, body, &guard.table);
                rest = after;
            }
        }
    }
}

/// Whether a message says that a table of this name, or one of its chains, is gone.
fn is_removal(kind: u16, body: &[u8], table: &str) -> bool {
    [SUBSYSTEM << 8 | DELETED_TABLE, SUBSYSTEM << 8 | DELETED_CHAIN].contains(&kind)
        && attributes(body.get(HEADER..).unwrap_or_default())
            .any(|(kind, value)| kind == TABLE_NAME && value.strip_suffix(b"\0") == Some(table.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_names_are_distinct_and_plain() {
        assert_eq!(chain_name("eth1"), "in_eth1");
        assert_eq!(chain_name("br-lan.7"), "in_br_2dlan_2e7");
    }

    #[test]
    fn a_listed_chain_is_found_by_its_netdev() {
        let hook =
            |netdev| format!("type filter hook ingress device \"{netdev}\" priority -500; policy drop;");
        let (first, third) = (hook("eth1"), hook("eth3"));
        let listed = Listed(format!(
            "table netdev tollway_a {{\n\tchain in_eth1 {{\n\t\t{first}\n\t}}\n\n\tchain in_eth2 {{\n\t}}\n\n\tchain in_eth3 {{\n\t\t{third}\n\t}}\n}}\n"
        ));
        let found = ["eth1", "eth2", "eth3", "eth"].map(|netdev| listed.covers(netdev));
        assert_eq!(found, [true, false, true, false]);
        assert!(!Listed(String::new()).covers("eth1"));
    }

    #[test]
    fn only_what_is_taken_from_its_table_disturbs_the_guard() {
        // nfgenmsg, then NFTA_TABLE_NAME with `tollway_a` and its end, padded.
        let body = [&[5, 0, 0, 0][..], &[14, 0, 1, 0], b"tollway_a\0\0\0"].concat();
        assert!(is_removal(0x0a02, &body, "tollway_a"));
        assert!(is_removal(0x0a05, &body, "tollway_a"));
        assert!(!is_removal(0x0a00, &body, "tollway_a"), "a new table");
        assert!(!is_removal(0x0902, &body, "tollway_a"), "another subsystem");
        assert!(!is_removal(0x0a02, &body, "tollway_"));
        for length in 0..body.len() - 3 {
            assert!(!is_removal(0x0a02, &body[..length], "tollway_a"), "{length}");
        }
    }
}
