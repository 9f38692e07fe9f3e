//! The translated TCP connections on disk, so that they survive a killed agent: a peer that is suddenly
//! seen under another address or port resets the connection.
//!
//! A header, then records of [`RECORD`] bytes, appended as connections appear and end. They are not
//! forced to the disk: what the kernel has accepted survives the process, and after a power cut the
//! connections are gone anyway. A file that is mostly history is rewritten.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 1 | 1 appeared, 2 ended |
//! | 1 | 1 | flags: 1 srcnat, 2 dstnat |
//! | 2 | 1 | IP protocol |
//! | 3 | 1 | zero |
//! | 4 | 38 | original direction: source, destination (16 bytes each), ports, zone (2 each) |
//! | 42 | 38 | reply direction |
//! | 80 | 4 | interface row of the masquerade |
//! | 84 | 4 | connection mark |
//! | 88 | 4 | FNV-1a of the bytes before |
//!
//! In files of the format before this one the directions have no zone.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use tollway_engine::flow::conntrack::{Change, Translated};
use tollway_engine::packet::tuple::{Addr, Tuple};
use tollway_io::owner_only_files;

use crate::workers::MAX_CONNECTIONS;

const MAGIC: [u8; 12] = *b"TOLLWAYJ\x02\0\0\0";
const RECORD: usize = 92;
/// The format before this one.
const MAGIC_WITHOUT_ZONES: [u8; 12] = *b"TOLLWAYJ\x01\0\0\0";
const RECORD_WITHOUT_ZONES: usize = 88;
/// Number of obsolete records up to which the file is not rewritten.
const SLACK: usize = 65_536;

/// Longest file there can be, bytes: it is rewritten before it gets longer.
const MAX_FILE: u64 = MAGIC.len() as u64 + (3 * MAX_CONNECTIONS as u64 + SLACK as u64) * RECORD as u64;

/// The journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// `None` until the file could be written.
    file: Option<File>,
    live: HashMap<Tuple, Translated>,
    /// Records in the file.
    records: usize,
    /// The last write failed, so the file may end in the middle of a record.
    torn: bool,
    pending: Vec<u8>,
}

fn put_tuple(tuple: &Tuple, out: &mut Vec<u8>) {
    out.extend_from_slice(&tuple.src.0.to_be_bytes());
    out.extend_from_slice(&tuple.dst.0.to_be_bytes());
    out.extend_from_slice(&tuple.src_port.to_be_bytes());
    out.extend_from_slice(&tuple.dst_port.to_be_bytes());
    out.extend_from_slice(&tuple.zone.to_be_bytes());
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (front, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*front)
}

fn take_tuple(bytes: &mut &[u8], protocol: u8, has_zone: bool) -> Option<Tuple> {
    Some(Tuple {
        src: Addr(u128::from_be_bytes(take(bytes)?)),
        dst: Addr(u128::from_be_bytes(take(bytes)?)),
        src_port: u16::from_be_bytes(take(bytes)?),
        dst_port: u16::from_be_bytes(take(bytes)?),
        protocol,
        icmp: 0,
        zone: if has_zone { u16::from_be_bytes(take(bytes)?) } else { 0 },
    })
}

/// FNV-1a, 32 bits: finds a record that was cut or torn.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn encode(change: &Change, out: &mut Vec<u8>) {
    let start = out.len();
    let (kind, saved) = match change {
        Change::Appeared(saved) => (1, *saved),
        Change::Ended(original) => {
            let original = *original;
            let reply = original.reversed();
            (2, Translated { original, reply, srcnat: false, dstnat: false, masquerade: 0, mark: 0 })
        }
    };
    out.extend_from_slice(&[
        kind,
        u8::from(saved.srcnat) | u8::from(saved.dstnat) << 1,
        saved.original.protocol,
        0,
    ]);
    put_tuple(&saved.original, out);
    put_tuple(&saved.reply, out);
    out.extend_from_slice(&saved.masquerade.to_be_bytes());
    out.extend_from_slice(&saved.mark.to_be_bytes());
    let sum = checksum(out.get(start..).unwrap_or_default());
    out.extend_from_slice(&sum.to_be_bytes());
}

fn decode(record: &[u8], has_zones: bool) -> Option<Change> {
    let mut rest = record;
    let [kind, flags, protocol, _] = take(&mut rest)?;
    let original = take_tuple(&mut rest, protocol, has_zones)?;
    let reply = take_tuple(&mut rest, protocol, has_zones)?;
    let masquerade = u32::from_be_bytes(take(&mut rest)?);
    let mark = u32::from_be_bytes(take(&mut rest)?);
    let sum = u32::from_be_bytes(take(&mut rest)?);
    if sum != checksum(record.split_last_chunk::<4>()?.0) {
        return None;
    }
    let (srcnat, dstnat) = (flags & 1 != 0, flags & 2 != 0);
    match kind {
        1 => Some(Change::Appeared(Translated { original, reply, srcnat, dstnat, masquerade, mark })),
        2 => Some(Change::Ended(original)),
        _ => None,
    }
}

fn apply(live: &mut HashMap<Tuple, Translated>, change: &Change) {
    match change {
        Change::Appeared(saved) => {
            if live.len() < MAX_CONNECTIONS as usize || live.contains_key(&saved.original) {
                live.insert(saved.original, *saved);
            }
        }
        Change::Ended(original) => {
            live.remove(original);
        }
    }
}

fn read(path: &Path) -> HashMap<Tuple, Translated> {
    let mut bytes = Vec::new();
    // Connections that cannot be read are lost, as they would be without a journal.
    match File::open(path).and_then(|file| file.take(MAX_FILE).read_to_end(&mut bytes)) {
        Ok(_) => parse(&bytes),
        Err(_) => HashMap::new(),
    }
}

/// The connections that are open at the end of a journal, by their original tuples. Records after a damaged one are
/// ignored.
pub fn parse(bytes: &[u8]) -> HashMap<Tuple, Translated> {
    let mut live = HashMap::new();
    let formats = [(MAGIC, RECORD, true), (MAGIC_WITHOUT_ZONES, RECORD_WITHOUT_ZONES, false)];
    let known = |(magic, len, zones)| bytes.strip_prefix(&magic).map(|records| (records, len, zones));
    let Some((records, len, has_zones)) = formats.into_iter().find_map(known) else { return live };
    for record in records.chunks_exact(len) {
        match decode(record, has_zones) {
            Some(change) => apply(&mut live, &change),
            None => break,
        }
    }
    live
}

impl Journal {
    /// Reads the journal of an earlier run and continues it. An error that prevents writing, as a full disk does, is
    /// returned together with the journal; writing is retried at the next change.
    pub fn open(path: &Path) -> (Self, Option<std::io::Error>) {
        let live = read(path);
        let mut journal =
            Self { path: path.to_owned(), file: None, live, records: 0, torn: false, pending: Vec::new() };
        let problem = journal.rewrite().err();
        journal.torn = problem.is_some();
        (journal, problem)
    }

    /// The open connections.
    pub fn connections(&self) -> Vec<Translated> {
        self.live.values().copied().collect()
    }

    /// Notes a change, to be written by [`Self::flush`].
    pub fn note(&mut self, change: Change) {
        apply(&mut self.live, &change);
        encode(&change, &mut self.pending);
        self.records += 1;
    }

    /// Writes the noted changes.
    ///
    /// # Errors
    /// When the write fails: reported once, until one succeeds again. Pending changes are not kept meanwhile; the next
    /// change rewrites the whole file.
    pub fn flush(&mut self) -> std::io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let result = match &mut self.file {
            Some(file) if !self.torn && self.records <= 2 * self.live.len() + SLACK => {
                file.write_all(&self.pending)
            }
            _ => self.rewrite(),
        };
        self.pending.clear();
        let known = std::mem::replace(&mut self.torn, result.is_err());
        if known { Ok(()) } else { result }
    }

    fn rewrite(&mut self) -> std::io::Result<()> {
        let temporary = self.path.with_extension("journal.new");
        let mut bytes = MAGIC.to_vec();
        for saved in self.live.values() {
            encode(&Change::Appeared(*saved), &mut bytes);
        }
        let mut file = owner_only_files::create(&temporary)?;
        file.write_all(&bytes)?;
        std::fs::rename(&temporary, &self.path)?;
        self.file = Some(file);
        self.records = self.live.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tollway_testkit::Folder;

    use super::*;

    fn saved(port: u16) -> Translated {
        let original = Tuple {
            src: Addr::v4(1),
            dst: Addr::v4(2),
            src_port: port,
            dst_port: 80,
            protocol: 6,
            icmp: 0,
            zone: port % 3,
        };
        let reply = Tuple {
            src: Addr::v4(2),
            dst: Addr::v4(9),
            src_port: 80,
            dst_port: port ^ 1,
            protocol: 6,
            icmp: 0,
            zone: 0,
        };
        Translated { original, reply, srcnat: true, dstnat: false, masquerade: 7, mark: 3 }
    }

    fn sorted(mut connections: Vec<Translated>) -> Vec<Translated> {
        connections.sort_by_key(|saved| saved.original.src_port);
        connections
    }

    #[test]
    fn what_lives_is_found_again_whatever_is_torn_off_the_end() {
        let folder = Folder::new("journal");
        let path = folder.join("connections.journal");
        let (mut journal, problem) = Journal::open(&path);
        assert!(problem.is_none());
        for port in 0..10 {
            journal.note(Change::Appeared(saved(port)));
        }
        journal.flush().unwrap();
        journal.note(Change::Ended(saved(3).original));
        journal.flush().unwrap();
        let expected: Vec<_> = (0..10).filter(|&port| port != 3).map(saved).collect();
        assert_eq!(sorted(journal.connections()), expected);
        drop(journal);

        let whole = std::fs::read(&path).unwrap();
        assert_eq!(whole.len(), MAGIC.len() + 11 * RECORD);
        assert_eq!(sorted(Journal::open(&path).0.connections()), expected);
        for cut in 1..RECORD {
            std::fs::write(&path, &whole[..whole.len() - cut]).unwrap();
            assert_eq!(read(&path).len(), 10, "the last record, an end, is torn");
        }
        let mut bad = whole.clone();
        bad[MAGIC.len() + 5 * RECORD + 20] ^= 1;
        std::fs::write(&path, &bad).unwrap();
        assert_eq!(read(&path).len(), 5);
    }

    #[test]
    fn connections_of_the_format_without_zones_are_those_of_the_main_zone() {
        let mut bytes = MAGIC_WITHOUT_ZONES.to_vec();
        let mut record = Vec::new();
        let main = Translated { original: Tuple { zone: 0, ..saved(5).original }, ..saved(5) };
        encode(&Change::Appeared(main), &mut record);
        // Both zones are zero bytes here, and end the directions.
        let body: Vec<u8> = [&record[..40], &record[42..78], &record[80..88]].concat();
        bytes.extend_from_slice(&body);
        bytes.extend_from_slice(&checksum(&body).to_be_bytes());
        assert_eq!(bytes.len(), MAGIC_WITHOUT_ZONES.len() + RECORD_WITHOUT_ZONES);
        assert_eq!(parse(&bytes).into_values().collect::<Vec<_>>(), [main]);
    }

    #[test]
    fn a_failed_write_is_reported_once_and_repaired() {
        let folder = Folder::new("journal-full");
        let path = folder.join("connections.journal");
        let (mut journal, problem) = Journal::open(&path);
        assert!(problem.is_none());
        // Not writable, as a full disk is not.
        journal.file = Some(File::open(&path).unwrap());
        journal.note(Change::Appeared(saved(1)));
        assert!(journal.flush().is_err());
        journal.path = path.join("below-a-file");
        journal.note(Change::Appeared(saved(2)));
        assert!(journal.flush().is_ok(), "it has been reported");
        journal.path.clone_from(&path);
        journal.note(Change::Appeared(saved(3)));
        assert!(journal.flush().is_ok());
        journal.note(Change::Appeared(saved(4)));
        assert!(journal.flush().is_ok());
        assert_eq!(sorted(read(&path).into_values().collect()), [1, 2, 3, 4].map(saved));
    }

    #[test]
    fn a_disk_that_is_full_at_start_keeps_what_was_there() {
        let folder = Folder::new("journal-start");
        let path = folder.join("connections.journal");
        let (mut journal, _) = Journal::open(&path);
        journal.note(Change::Appeared(saved(1)));
        journal.flush().unwrap();
        // A folder in the place of the new file: it cannot be written.
        let new = path.with_extension("journal.new");
        std::fs::create_dir(&new).unwrap();
        let (mut journal, problem) = Journal::open(&path);
        assert!(problem.is_some());
        assert_eq!(journal.connections(), [saved(1)]);
        journal.note(Change::Appeared(saved(2)));
        assert!(journal.flush().is_ok(), "it has been reported");
        std::fs::remove_dir(&new).unwrap();
        journal.note(Change::Appeared(saved(3)));
        journal.flush().unwrap();
        assert_eq!(sorted(read(&path).into_values().collect()), [1, 2, 3].map(saved));
    }

    #[test]
    fn the_file_is_for_its_owner_alone() {
        let folder = Folder::new("journal-mode");
        let path = folder.join("connections.journal");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert!(Journal::open(&path).1.is_none());
        assert_eq!(mode(), 0o600);
        // The file, and what a killed agent was about to put in its place, as an earlier version left them.
        let new = path.with_extension("journal.new");
        std::fs::write(&new, b"").unwrap();
        for open in [&path, &new] {
            std::fs::set_permissions(open, std::fs::Permissions::from_mode(0o666)).unwrap();
        }
        assert!(Journal::open(&path).1.is_none());
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn history_is_thrown_away() {
        let folder = Folder::new("journal-history");
        let path = folder.join("connections.journal");
        let (mut journal, problem) = Journal::open(&path);
        assert!(problem.is_none());
        journal.note(Change::Appeared(saved(1)));
        for _ in 0..SLACK {
            journal.note(Change::Appeared(saved(2)));
            journal.note(Change::Ended(saved(2).original));
        }
        journal.flush().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len() as usize, MAGIC.len() + RECORD);
        journal.note(Change::Appeared(saved(4)));
        journal.flush().unwrap();
        assert_eq!(sorted(read(&path).into_values().collect()), [saved(1), saved(4)]);
    }
}
