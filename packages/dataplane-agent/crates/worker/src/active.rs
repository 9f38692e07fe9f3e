//! The active configuration on disk, from which the agent forwards before any API has spoken to it.
//!
//! A header of [`HEADER`] bytes, then the configuration as msgpack:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | `TOLLWAY` and a zero byte |
//! | 8 | 4 | format of this file, 1, little-endian |
//! | 12 | 4 | format of the configuration |
//! | 16 | 8 | revision |
//! | 24 | 32 | SHA-256 of the configuration's bytes |

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tollway_config::dataplane::{DataplaneConfig, FORMAT};

use crate::framing::{from_msgpack, to_msgpack};

const MAGIC: [u8; 8] = *b"TOLLWAY\0";
const FILE_FORMAT: u32 = 1;
const HEADER: usize = 56;

/// A configuration with its identity.
#[derive(Debug, Clone, PartialEq)]
pub struct Active {
    /// Revision; 0 before the first activation.
    pub revision: u64,
    /// The configuration.
    pub config: Arc<DataplaneConfig>,
}

impl Active {
    /// What a router without any configuration has.
    pub fn empty() -> Self {
        Self { revision: 0, config: Arc::default() }
    }
}

/// A configuration on its way to the disk: written beside the active one, not yet in its place. It is thrown away
/// unless it gets there.
#[derive(Debug)]
pub struct Staged {
    temporary: PathBuf,
    path: PathBuf,
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After a commit there is no file of this name any more.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Writes a configuration beside `path`, down to the disk. `token` tells apart those that are staged at a time.
///
/// # Errors
/// When the disk does not take it; then nothing has changed.
pub fn stage(path: &Path, token: u64, revision: u64, config: &DataplaneConfig) -> std::io::Result<Staged> {
    let body = to_msgpack(config).map_err(std::io::Error::other)?;
    let digest = Sha256::digest(&body);
    let staged = Staged { temporary: path.with_extension(format!("{token}.new")), path: path.to_owned() };
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&staged.temporary)?;
    file.write_all(&MAGIC)?;
    file.write_all(&FILE_FORMAT.to_le_bytes())?;
    file.write_all(&config.format.to_le_bytes())?;
    file.write_all(&revision.to_le_bytes())?;
    file.write_all(&digest)?;
    file.write_all(&body)?;
    file.sync_all()?;
    Ok(staged)
}

impl Staged {
    /// Puts it in the place of the active one.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn commit(self) -> std::io::Result<()> {
        fs::rename(&self.temporary, &self.path)?;
        if let Some(parent) = self.path.parent() {
            File::open(parent)?.sync_all()?;
        }
        Ok(())
    }
}

/// Removes what a killed agent had staged.
pub fn remove_staged(path: &Path) {
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

/// Reads the active configuration. `Ok(None)` when there is none.
///
/// # Errors
/// Says what is wrong with the file; it has then been moved aside to `….bad`, for people to look at.
pub fn load(path: &Path) -> Result<Option<Active>, String> {
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
/// Says what is wrong with it.
pub fn parse(bytes: &[u8]) -> Result<Active, String> {
    let header = bytes.first_chunk::<HEADER>().ok_or("shorter than its header")?;
    let body = bytes.get(HEADER..).unwrap_or_default();
    let number = |at: usize| {
        header.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b))
    };
    if !header.starts_with(&MAGIC) {
        return Err("not a configuration of this agent".to_owned());
    }
    if number(8) != FILE_FORMAT {
        return Err(format!("file format {} is not known (known: {FILE_FORMAT})", number(8)));
    }
    if ![FORMAT, FORMAT - 1].contains(&number(12)) {
        return Err(format!("configuration format {} is not known (known: {FORMAT})", number(12)));
    }
    let digest = Sha256::digest(body);
    if header.get(24..) != Some(digest.as_slice()) {
        return Err("the checksum does not fit: the file is damaged".to_owned());
    }
    let revision = u64::from(number(16)) | u64::from(number(20)) << 32;
    let mut config: DataplaneConfig = from_msgpack(body)?;
    config.upgrade();
    Ok(Active { revision, config: Arc::new(config) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tollway-active-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn what_was_stored_is_loaded() {
        let directory = directory("roundtrip");
        let path = directory.join("active.tollway");
        assert_eq!(load(&path), Ok(None));
        let config: Arc<DataplaneConfig> = Arc::default();
        let staged = stage(&path, 1, 5_000_000_000, &config).unwrap();
        assert_eq!(load(&path), Ok(None));
        staged.commit().unwrap();
        assert_eq!(load(&path), Ok(Some(Active { revision: 5_000_000_000, config })));
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn what_was_only_staged_leaves_nothing() {
        let directory = directory("staged");
        let path = directory.join("active.tollway");
        stage(&path, 1, 3, &DataplaneConfig::default()).unwrap().commit().unwrap();
        drop(stage(&path, 2, 4, &DataplaneConfig::default()).unwrap());
        let names =
            || -> Vec<_> { fs::read_dir(&directory).unwrap().map(|e| e.unwrap().file_name()).collect() };
        assert_eq!(names(), ["active.tollway"]);
        std::mem::forget(stage(&path, 3, 4, &DataplaneConfig::default()).unwrap());
        assert_eq!(names().len(), 2);
        remove_staged(&path);
        assert_eq!(names(), ["active.tollway"]);
        assert_eq!(load(&path).unwrap().unwrap().revision, 3);
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn every_damaged_byte_is_noticed_and_the_file_kept() {
        let directory = directory("damage");
        let path = directory.join("active.tollway");
        stage(&path, 1, 3, &DataplaneConfig::default()).unwrap().commit().unwrap();
        let good = fs::read(&path).unwrap();
        // The revision (16..24) is not covered by the checksum of the configuration.
        for at in (0..16).chain(24..good.len()) {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            assert!(parse(&bad).is_err(), "byte {at}");
        }
        for length in 0..good.len() {
            assert!(parse(&good[..length]).is_err(), "length {length}");
        }
        fs::write(&path, &good[..good.len() - 1]).unwrap();
        assert!(load(&path).unwrap_err().contains("damaged"));
        assert_eq!(load(&path), Ok(None));
        assert_eq!(fs::read(path.with_extension("bad")).unwrap().len(), good.len() - 1);
        fs::remove_dir_all(directory).unwrap();
    }
}
