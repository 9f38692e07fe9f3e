//! Which netdevs may be claimed.

use std::fs;

use super::error::ClaimError;
use crate::command::ip;
use crate::link::Link;

/// Refuses a netdev that cannot be a port, or not without `take_over`. `links` are all netdevs.
///
/// # Errors
/// [`ClaimError::Refused`] with the reason, or that ip(8) failed.
pub(super) fn check(link: &Link, links: &[Link], take_over: bool) -> Result<(), ClaimError> {
    if link.loopback {
        return Err(ClaimError::refused(&link.name, "it is the loopback device"));
    }
    if link.mac == [0; 6] {
        return Err(ClaimError::refused(&link.name, "it is no Ethernet device"));
    }
    if let Some(master) = link.master {
        let name =
            links.iter().find(|other| other.index == master).map_or("another device", |other| &other.name);
        return Err(ClaimError::refused(
            &link.name,
            &format!("it is part of {name}; take it out first (ip link set {} nomaster)", link.name),
        ));
    }
    if take_over {
        return Ok(());
    }
    let mut routes = Vec::new();
    for family in ["-4", "-6"] {
        routes.extend(
            ip(&format!("-o {family} route show default dev {}", link.name))?.lines().map(str::to_owned),
        );
    }
    refuse_cutting_off(&link.name, &routes, &[ip(&format!("-o address show dev {}", link.name))?])
}

/// Refuses a netdev whose `routes` or `addresses`, as printed by ip(8), this machine's administration needs.
pub(super) fn refuse_cutting_off(
    netdev: &str,
    routes: &[String],
    addresses: &[String],
) -> Result<(), ClaimError> {
    if routes.iter().any(|route| route.starts_with("default")) {
        return Err(ClaimError::refused(
            netdev,
            "it carries this machine's default route, which would be cut off (--take-over claims it all the same)",
        ));
    }
    let mut words = addresses.iter().flat_map(|line| line.split_whitespace());
    if let Some(address) = ssh_server_address()
        && words.any(|word| word.split('/').next() == Some(address.as_str()))
    {
        return Err(ClaimError::refused(
            netdev,
            "it carries the SSH session that you are using (--take-over claims it all the same)",
        ));
    }
    Ok(())
}

/// The address on which the caller's SSH session came in: `SSH_CONNECTION` of this process or of one of
/// its ancestors, since sudo(8) takes it out of the environment.
fn ssh_server_address() -> Option<String> {
    let of = |environment: &[u8]| {
        environment.split(|&byte| byte == 0).find_map(|entry| {
            let value = std::str::from_utf8(entry).ok()?.strip_prefix("SSH_CONNECTION=")?;
            value.split(' ').nth(2).map(str::to_owned)
        })
    };
    let mut pid = std::process::id();
    while pid > 1 {
        if let Some(address) = fs::read(format!("/proc/{pid}/environ")).ok().as_deref().and_then(of) {
            return Some(address);
        }
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        pid = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    }
    None
}
