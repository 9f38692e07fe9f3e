//! Claims netdevs from the kernel, and restores them.
//!
//! A claimed netdev has no addresses, no IPv6, and an nft `netdev` chain that drops everything on ingress; packet
//! sockets see frames before it, the kernel's protocols after it, so they neither answer nor forward. The former state
//! is written to a record first, so that the next start can restore it if this process is killed.

mod eligibility;
mod error;
mod features;
mod guard;
mod record;
mod restore;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::command::ip;
use crate::link::{Link, LinkMonitor};
use crate::owner_only_files;
use eligibility::{check, refuse_cutting_off};
pub use error::ClaimError;
use features::{GRO, LRO, RX_VLAN, set_disable_ipv6, set_feature};
use guard::Guard;
pub use guard::GuardMonitor;
use record::{Record, device, observe};

/// Claimed netdevs of one agent.
#[derive(Debug)]
pub struct Claim {
    netdevs: Vec<String>,
    guard: Guard,
    /// Folder of the records. They are read by the next process only, so the folder may be removed while this one runs.
    records: PathBuf,
    /// Records by netdev.
    noted: Mutex<BTreeMap<String, Noted>>,
    missing: Vec<String>,
    not_restored: Vec<ClaimError>,
}

/// State of a netdev before it was claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Noted {
    record: Record,
    is_on_disk: bool,
}

impl Claim {
    /// Claims `netdevs`. `instance` distinguishes several agents of one machine; `records` is the directory of the
    /// records. Netdevs that an agent of this instance claimed before and did not restore are restored first, unless
    /// they are claimed again. A netdev that does not exist is claimed by [`Self::take_one`] when it appears: a start
    /// without it is treated like its disappearance. The same applies to a netdev that was claimed before and cannot be
    /// claimed now: a VLAN whose device is down cannot be set up, or another device may have its name.
    ///
    /// # Errors
    /// When a netdev that was not claimed before is unfit, carries the default route or the caller's SSH session and
    /// `take_over` is false, or cannot be claimed; then nothing is claimed.
    pub fn take(
        netdevs: &[String],
        instance: &str,
        records: &Path,
        take_over: bool,
    ) -> Result<Self, ClaimError> {
        let mut claim = Self::new(netdevs, instance, records);
        // A record that cannot be written, as on a full disk, is kept in memory; forwarding goes on.
        let _ = owner_only_files::create_folder(records);
        let mut links = LinkMonitor::new()?.links()?;
        for (index, netdev) in netdevs.iter().enumerate() {
            if netdevs.iter().take(index).any(|other| other == netdev) {
                return Err(ClaimError::refused(netdev, "it is named twice"));
            }
            if claim.record(netdev).is_some() {
                // The netdev was eligible when it was claimed; the others continue in any case. Without its name it
                // counts as missing, and the caller retries.
                let _ = claim.keep_name(netdev, &mut links);
            } else if let Some(link) = links.iter().find(|link| link.name == *netdev) {
                check(link, &links, take_over)?;
            }
        }
        claim.not_restored = claim.restore_leftovers(netdevs);
        for netdev in netdevs {
            let was_claimed = claim.record(netdev).is_some();
            match claim.take_one(netdev) {
                Ok(()) => {}
                Err(ClaimError::Missing(_)) => claim.missing.push(netdev.clone()),
                // If they were released, the kernel would forward their packets without the router's rules.
                Err(_) if was_claimed => {}
                Err(error) => {
                    // The records say what to undo; the first error is the one to report.
                    let _ = claim.release();
                    return Err(error);
                }
            }
        }
        Ok(claim)
    }

    /// Whether [`Self::take`] would claim `netdevs` once the netdevs that an agent with these `records` has claimed
    /// have been restored. Changes nothing.
    ///
    /// # Errors
    /// As [`Self::take`], of netdevs that were claimed before, too.
    pub fn check(netdevs: &[String], records: &Path, take_over: bool) -> Result<(), ClaimError> {
        let claim = Self::new(netdevs, "", records);
        let links = LinkMonitor::new()?.links()?;
        for link in netdevs.iter().filter_map(|netdev| links.iter().find(|link| link.name == *netdev)) {
            check(link, &links, take_over)?;
            if !take_over && let Some(record) = claim.record_of(link) {
                refuse_cutting_off(&link.name, &record.routes, &record.addresses)?;
            }
        }
        Ok(())
    }

    /// Reads the records of netdevs of this boot and this network namespace.
    fn new(netdevs: &[String], instance: &str, records: &Path) -> Self {
        let claim = Self {
            netdevs: netdevs.to_vec(),
            guard: Guard::new(instance),
            records: records.to_owned(),
            noted: Mutex::default(),
            missing: Vec::new(),
            not_restored: Vec::new(),
        };
        for netdev in claim.files().filter(|name| !is_temporary(name)) {
            if let Some(record) = claim.saved(&netdev).filter(Record::is_of_here) {
                claim.noted().insert(netdev, Noted { record, is_on_disk: true });
            }
        }
        claim
    }

    /// Netdevs that did not exist when the others were claimed.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Netdevs of an earlier agent that could not be given back, or not in their former state.
    pub fn not_restored(&self) -> &[ClaimError] {
        &self.not_restored
    }

    fn record_path(&self, netdev: &str) -> PathBuf {
        self.records.join(netdev)
    }

    fn noted(&self) -> MutexGuard<'_, BTreeMap<String, Noted>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// State of a netdev before it was claimed.
    fn record(&self, netdev: &str) -> Option<Record> {
        self.noted().get(netdev).map(|noted| noted.record.clone())
    }

    /// The record on disk under a name, which may be of an earlier boot.
    fn saved(&self, netdev: &str) -> Option<Record> {
        fs::read_to_string(self.record_path(netdev)).ok().map(|text| Record::from_text(&text))
    }

    /// Names of the files on disk.
    fn files(&self) -> impl Iterator<Item = String> {
        let entries = fs::read_dir(&self.records).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok())
    }

    /// The record of a netdev, which may have been renamed since.
    fn record_of(&self, link: &Link) -> Option<Record> {
        let noted = self.noted();
        let mut records = noted.iter().map(|(name, noted)| (name, &noted.record));
        records
            .find(|(name, record)| **name == link.name || record.device == device(link))
            .map(|found| found.1.clone())
    }

    /// Netdevs whose state could not be noted on disk: if this process is killed, they stay as they are.
    pub fn unnoted(&self) -> Vec<String> {
        let noted = self.noted();
        noted.iter().filter(|(_, noted)| !noted.is_on_disk).map(|(netdev, _)| netdev.clone()).collect()
    }

    /// Claims one netdev; also for one that came back after it had vanished.
    ///
    /// # Errors
    /// When a command fails.
    pub fn take_one(&self, netdev: &str) -> Result<(), ClaimError> {
        let links = LinkMonitor::new()?.links()?;
        let link = links.iter().find(|link| link.name == netdev);
        let device = device(link.ok_or_else(|| ClaimError::Missing(netdev.to_owned()))?);
        match self.record(netdev) {
            None => self.save(netdev, observe(netdev)?),
            // The netdev has reappeared as another device.
            Some(record) if record.device != device => self.save(netdev, Record { device, ..record }),
            Some(_) => {}
        }
        self.guard.install(netdev)?;
        self.guard.remove_stale(netdev);
        set_disable_ipv6(netdev, "1")?;
        ip(&format!("address flush dev {netdev}"))?;
        set_feature(netdev, LRO, false);
        ip(&format!("link set dev {netdev} up"))?;
        Ok(())
    }

    /// A claimed netdev and its guard are identified by name: renames it back if it has another name in `links`.
    /// Returns the other one.
    ///
    /// # Errors
    /// When it cannot be renamed, or the chain cannot be installed again.
    pub fn keep_name(&self, netdev: &str, links: &mut [Link]) -> Result<Option<String>, ClaimError> {
        if links.iter().any(|link| link.name == netdev) {
            return Ok(None);
        }
        let Some(record) = self.record(netdev) else { return Ok(None) };
        let Some(link) = links.iter_mut().find(|link| device(link) == record.device) else { return Ok(None) };
        let other = link.name.clone();
        // Before Linux 6.2 a netdev takes no name while it is up.
        if ip(&format!("link set dev {other} name {netdev}")).is_err() {
            ip(&format!("link set dev {other} down"))?;
            ip(&format!("link set dev {other} name {netdev}"))?;
            ip(&format!("link set dev {netdev} up"))?;
        }
        netdev.clone_into(&mut link.name);
        self.guard.install(netdev)?;
        Ok(Some(other))
    }

    /// Records the state of a netdev in memory, and on disk if possible.
    fn save(&self, netdev: &str, record: Record) {
        let path = self.record_path(netdev);
        let temporary = path.with_extension("new");
        let saved = owner_only_files::create(&temporary)
            .and_then(|mut file| file.write_all(record.to_text().as_bytes()))
            .and_then(|()| fs::rename(&temporary, &path));
        let is_on_disk = saved.is_ok();
        if !is_on_disk {
            let _ = fs::remove_file(&temporary);
        }
        self.noted().insert(netdev.to_owned(), Noted { record, is_on_disk });
    }

    /// Prepares a claimed netdev for AF_XDP, which supports neither merged frames (GRO) nor stripped VLAN tags, or for
    /// packet sockets, which support both: then the former settings are restored.
    pub fn set_frames_as_received(&self, netdev: &str, as_received: bool) {
        let Some(record) = self.record(netdev) else { return };
        for (feature, before) in [(GRO, record.gro), (RX_VLAN, record.vlan)] {
            if before {
                set_feature(netdev, feature, !as_received);
            }
        }
    }

    /// Sets the MTU of a claimed netdev so that it carries IP packets of up to `mtu` bytes, and at least to its MTU
    /// before the claim. Returns the MTU that is set.
    ///
    /// # Errors
    /// When the device refuses it.
    pub fn set_mtu(&self, netdev: &str, mtu: u32) -> Result<u32, ClaimError> {
        let mtu = mtu.max(self.record(netdev).map_or(0, |record| record.mtu));
        ip(&format!("link set dev {netdev} mtu {mtu}"))?;
        Ok(mtu)
    }

    /// Restores the guard of claimed netdevs that are there, if a notification says that it may have been removed.
    /// Returns the netdevs whose chain was missing.
    ///
    /// # Errors
    /// When it cannot be restored, or netlink does not answer; the rest is tried all the same.
    pub fn keep_guard(&self, monitor: &GuardMonitor) -> Result<Vec<String>, ClaimError> {
        if monitor.may_be_removed(&self.guard) { self.guard_again() } else { Ok(Vec::new()) }
    }

    /// Guards like [`Self::keep_guard`], without a notification.
    ///
    /// # Errors
    /// As [`Self::keep_guard`].
    pub fn guard_again(&self) -> Result<Vec<String>, ClaimError> {
        let links = LinkMonitor::new()?.links()?;
        let listed = self.guard.listed();
        let mut result = Ok(Vec::new());
        for netdev in &self.netdevs {
            let is_here = links.iter().any(|link| link.name == *netdev) && self.record(netdev).is_some();
            if !is_here || listed.covers(netdev) {
                continue;
            }
            match (self.guard.install(netdev), &mut result) {
                (Ok(()), Ok(again)) => again.push(netdev.clone()),
                (Err(error), Ok(_)) => result = Err(error.into()),
                (_, Err(_)) => {}
            }
        }
        result
    }

    /// Restores every netdev. Returns the errors; the other netdevs are restored nevertheless.
    pub fn release(&self) -> Vec<ClaimError> {
        let restored = self.netdevs.iter().map(|netdev| self.restore(netdev));
        let mut errors: Vec<_> = restored.filter_map(Result::err).collect();
        errors.extend(self.guard.remove_table().err().map(ClaimError::from));
        errors
    }

    /// Restores netdevs that have a record and are not claimed again. Returns the errors.
    fn restore_leftovers(&self, again: &[String]) -> Vec<ClaimError> {
        for name in self.files() {
            // The record is from before a reboot: nothing is claimed any more.
            if is_temporary(&name) || self.saved(&name).is_some_and(|record| !record.is_of_here()) {
                let _ = fs::remove_file(self.record_path(&name));
            }
        }
        let noted: Vec<String> = self.noted().keys().cloned().collect();
        let leftovers = noted.iter().filter(|netdev| !again.contains(netdev));
        leftovers.filter_map(|netdev| self.restore(netdev).err()).collect()
    }

    fn restore(&self, netdev: &str) -> Result<(), ClaimError> {
        let Some(record) = self.record(netdev) else { return Ok(()) };
        let links = LinkMonitor::new()?.links()?;
        // Under another name, if it was renamed.
        let named = links.iter().find(|link| link.name == netdev);
        let present = named.or_else(|| links.iter().find(|link| device(link) == record.device));
        self.guard.remove(netdev);
        let restored = present.map_or(Ok(()), |link| restore::restore(link, netdev, &record));
        self.noted().remove(netdev);
        let path = self.record_path(netdev);
        // There is no file if the record could not be written, or if the folder was removed.
        match fs::remove_file(&path) {
            Err(error) if path.exists() => {
                let difference = format!("{} stays", path.display());
                restored.and(Err(restore::incomplete(netdev, &difference, &error.to_string())))
            }
            _ => restored,
        }
    }
}

/// Whether a file is a record that is being written, or was by a process that was killed.
fn is_temporary(name: &str) -> bool {
    name.ends_with(".new")
}

#[cfg(test)]
mod tests;
