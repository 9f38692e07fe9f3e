//! The active configuration on disk, with which the agent forwards before any API has connected, and the configurations
//! that were active before, which are used if it is damaged: `active.tollway`, `active.1.tollway`, `active.2.tollway`.
//!
//! A header of [`HEADER`] bytes, then the configuration as msgpack:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | `TOLLWAY` and a zero byte |
//! | 8 | 4 | format of this file, 2, little-endian |
//! | 12 | 4 | format of the configuration |
//! | 16 | 8 | revision |
//! | 24 | 32 | SHA-256 of what is before it and of the configuration's bytes; in format 1 of these alone |

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tollway_config::dataplane::{DataplaneConfig, FORMAT};
use tollway_config::framing::{from_msgpack, to_msgpack};
use tollway_io::owner_only_files;

const MAGIC: [u8; 8] = *b"TOLLWAY\0";
const FILE_FORMAT: u32 = 2;
/// The previous format, whose checksum does not cover the header.
const BODY_FORMAT: u32 = 1;
const HEADER: usize = 56;
/// Bytes of the header before the checksum.
const HEAD: usize = 24;
/// Number of former configurations that are kept.
const EARLIER: usize = 2;

/// A configuration with its identity.
#[derive(Debug, Clone, PartialEq)]
pub struct Active {
    /// Revision; 0 before the first activation.
    pub revision: u64,
    /// The configuration.
    pub config: Arc<DataplaneConfig>,
}

impl Active {
    /// The active configuration of a router that has none yet.
    pub fn empty() -> Self {
        Self { revision: 0, config: Arc::default() }
    }
}

/// A configuration in a file next to that of the active one, which [`Self::activate`] replaces by it. If the value is
/// dropped without activation, the file is removed.
#[derive(Debug)]
pub struct PendingFile {
    temporary: PathBuf,
    path: PathBuf,
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        // After an activation the file has been renamed already.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Writes a configuration to a file next to `path` and syncs it. `token` makes its name unique among pending files.
///
/// # Errors
/// The file cannot be written; then nothing has changed.
pub fn write_pending(
    path: &Path,
    token: u64,
    revision: u64,
    config: &DataplaneConfig,
) -> std::io::Result<PendingFile> {
    let body = to_msgpack(config).map_err(std::io::Error::other)?;
    let mut head = Vec::with_capacity(HEAD);
    head.extend_from_slice(&MAGIC);
    head.extend_from_slice(&FILE_FORMAT.to_le_bytes());
    head.extend_from_slice(&config.format.to_le_bytes());
    head.extend_from_slice(&revision.to_le_bytes());
    let digest = Sha256::new().chain_update(&head).chain_update(&body).finalize();
    let pending =
        PendingFile { temporary: path.with_extension(format!("{token}.new")), path: path.to_owned() };
    // The folder may have been removed since the start.
    path.parent().map_or(Ok(()), owner_only_files::create_folder)?;
    let mut file = owner_only_files::create(&pending.temporary)?;
    file.write_all(&head)?;
    file.write_all(&digest)?;
    file.write_all(&body)?;
    file.sync_all()?;
    Ok(pending)
}

impl PendingFile {
    /// Replaces the active configuration, which is kept as the newest of the former ones.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn activate(self) -> std::io::Result<()> {
        keep(&self.path);
        fs::rename(&self.temporary, &self.path)?;
        if let Some(parent) = self.path.parent() {
            File::open(parent)?.sync_all()?;
        }
        Ok(())
    }
}

/// Path of the configuration that was active `ago` configurations ago.
fn place_of(path: &Path, ago: usize) -> PathBuf {
    if ago == 0 { path.to_owned() } else { path.with_extension(format!("{ago}.tollway")) }
}

/// Keeps the active configuration as the newest of the former ones. If that fails, it is logged and the router goes on.
fn keep(path: &Path) {
    let inode = |ago| fs::metadata(place_of(path, ago)).ok().map(|file| file.ino());
    // After a start with a former configuration, that file and the active one are the same.
    if inode(0).is_none() || inode(0) == inode(1) {
        return;
    }
    for ago in (1..EARLIER).rev() {
        let _ = fs::rename(place_of(path, ago), place_of(path, ago + 1));
    }
    // A hard link needs no room on a full disk. On a file system without hard links the file is renamed: the active one
    // is missing for a moment, in which a start would use the former one, which is the same.
    let newest = place_of(path, 1);
    if fs::hard_link(path, &newest).is_err() {
        let _ = fs::rename(path, &newest);
    }
}

/// Removes pending files of an agent that was killed.
pub fn remove_pending(path: &Path) {
    let (Some(folder), Some(stem)) = (path.parent(), path.file_stem().and_then(|stem| stem.to_str())) else {
        return;
    };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(stem) && name.ends_with(".new")) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The configuration found on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The configuration.
    pub active: Active,
    /// Number of configurations since it was the active one; 0 for the active one.
    pub ago: usize,
}

/// Reads the newest intact configuration, beginning with the one that was active `ago` configurations ago. `None` if
/// there is none. Problems with newer ones are added to `problems`, for users; damaged files are renamed to `….bad`. A
/// former configuration becomes the active one.
pub fn load(path: &Path, ago: usize, problems: &mut Vec<String>) -> Option<Found> {
    let mut missing = None;
    for ago in ago..=EARLIER {
        let place = place_of(path, ago);
        match read(&place) {
            Ok(Some(active)) => {
                problems.extend(missing);
                if ago != 0 {
                    // If this fails, the next start finds the former file again.
                    let _ = fs::hard_link(&place, path);
                }
                return Some(Found { active, ago });
            }
            // At the first start there is no file, which is not reported.
            Ok(None) if ago == 0 => missing = Some(format!("{} is missing", place.display())),
            Ok(None) => {}
            Err(problem) => {
                problems.extend(missing.take());
                problems.push(problem);
            }
        }
    }
    None
}

/// Reads one file; `Ok(None)` when there is none.
fn read(path: &Path) -> Result<Option<Active>, String> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    parse(&bytes).map(Some).map_err(|reason| {
        let aside = path.with_extension("bad");
        let kept = match fs::rename(path, &aside) {
            Ok(()) => format!("it is kept as {}", aside.display()),
            Err(error) => format!("it could not be moved aside: {error}"),
        };
        format!("{}: {reason}; {kept}", path.display())
    })
}

/// Reads the content of the file.
///
/// # Errors
/// Describes what is wrong with it.
pub fn parse(bytes: &[u8]) -> Result<Active, String> {
    let header = bytes.first_chunk::<HEADER>().ok_or("shorter than its header")?;
    let body = bytes.get(HEADER..).unwrap_or_default();
    let number = |at: usize| {
        header.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b))
    };
    if !header.starts_with(&MAGIC) {
        return Err("not a configuration of this agent".to_owned());
    }
    let covered = match number(8) {
        FILE_FORMAT => header.get(..HEAD).unwrap_or_default(),
        BODY_FORMAT => &[],
        other => return Err(format!("file format {other} is not known (known: {FILE_FORMAT})")),
    };
    if ![FORMAT, FORMAT - 1].contains(&number(12)) {
        return Err(format!("configuration format {} is not known (known: {FORMAT})", number(12)));
    }
    let digest = Sha256::new().chain_update(covered).chain_update(body).finalize();
    if header.get(HEAD..) != Some(digest.as_slice()) {
        return Err("the checksum does not fit: the file is damaged".to_owned());
    }
    let revision = u64::from(number(16)) | u64::from(number(20)) << 32;
    if revision == 0 {
        return Err("it has no revision: the file is damaged".to_owned());
    }
    let mut config: DataplaneConfig = from_msgpack(body)?;
    config.upgrade();
    Ok(Active { revision, config: Arc::new(config) })
}

#[cfg(test)]
mod tests;
