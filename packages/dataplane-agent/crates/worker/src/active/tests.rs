use std::os::unix::fs::PermissionsExt;

use tollway_testkit::Folder;

use super::*;

/// The files of one test.
struct Files(Folder);

impl Files {
    fn new(name: &str) -> Self {
        Self(Folder::new(&format!("active-{name}")))
    }

    fn path(&self) -> PathBuf {
        self.0.join("active.tollway")
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&*self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Activates these revisions, one after the other.
    fn activate(&self, revisions: std::ops::RangeInclusive<u64>) {
        for revision in revisions {
            write_pending(&self.path(), revision, revision, &config(revision)).unwrap().activate().unwrap();
        }
    }

    /// Result of a start: the revision, how many ago, and what it says.
    fn start(&self) -> (Option<(u64, usize)>, Vec<String>) {
        let mut problems = Vec::new();
        let found = load(&self.path(), 0, &mut problems);
        let known = found.map(|Found { active, ago }| {
            assert_eq!(active.config, config(active.revision), "the configuration of its revision");
            (active.revision, ago)
        });
        (known, problems)
    }
}

/// A configuration that names its revision.
fn config(revision: u64) -> Arc<DataplaneConfig> {
    let mut config = DataplaneConfig::default();
    config.tracking.udp_timeout_ms = revision as u32;
    Arc::new(config)
}

#[test]
fn what_was_stored_is_loaded() {
    let folder = Files::new("roundtrip");
    assert_eq!(folder.start(), (None, Vec::new()), "a first start says nothing");
    let pending = write_pending(&folder.path(), 1, 5_000_000_000, &config(5_000_000_000)).unwrap();
    assert_eq!(folder.start(), (None, Vec::new()));
    pending.activate().unwrap();
    assert_eq!(folder.start(), (Some((5_000_000_000, 0)), Vec::new()));
}

#[test]
fn a_folder_that_was_removed_is_made_anew() {
    let folder = Files::new("removed");
    folder.activate(1..=2);
    fs::remove_dir_all(&*folder.0).unwrap();
    folder.activate(3..=3);
    assert_eq!(folder.names(), ["active.tollway"]);
    assert_eq!(fs::metadata(&*folder.0).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(folder.start(), (Some((3, 0)), Vec::new()));
}

#[test]
fn what_was_only_pending_leaves_nothing() {
    let folder = Files::new("pending");
    folder.activate(3..=3);
    drop(write_pending(&folder.path(), 2, 4, &config(4)).unwrap());
    assert_eq!(folder.names(), ["active.tollway"]);
    std::mem::forget(write_pending(&folder.path(), 3, 4, &config(4)).unwrap());
    assert_eq!(folder.names().len(), 2);
    remove_pending(&folder.path());
    assert_eq!(folder.names(), ["active.tollway"]);
    assert_eq!(folder.start().0, Some((3, 0)));
}

#[test]
fn every_damaged_byte_is_noticed_and_the_file_kept() {
    let folder = Files::new("damage");
    folder.activate(3..=3);
    let good = fs::read(folder.path()).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x40;
        assert!(parse(&bad).is_err(), "byte {at}");
    }
    for length in 0..good.len() {
        assert!(parse(&good[..length]).is_err(), "length {length}");
    }
    fs::write(folder.path(), &good[..good.len() - 1]).unwrap();
    let (found, problems) = folder.start();
    assert!(found.is_none() && problems.len() == 1 && problems[0].contains("damaged"), "{problems:?}");
    assert_eq!(folder.names(), ["active.bad"]);
    assert_eq!(fs::read(folder.path().with_extension("bad")).unwrap().len(), good.len() - 1);
}

#[test]
fn files_of_the_format_before_are_read() {
    let folder = Files::new("format");
    folder.activate(7..=7);
    let mut bytes = fs::read(folder.path()).unwrap();
    bytes[8..12].copy_from_slice(&BODY_FORMAT.to_le_bytes());
    let digest = Sha256::digest(&bytes[HEADER..]);
    bytes[HEAD..HEADER].copy_from_slice(&digest);
    assert_eq!(parse(&bytes).unwrap().revision, 7);
    bytes[16..24].fill(0);
    assert!(parse(&bytes).is_err(), "an agent without a revision would start empty");
}

#[test]
fn the_last_ones_are_kept_for_their_owner_alone() {
    let folder = Files::new("kept");
    let left = folder.path().with_extension("9.new");
    fs::write(&left, b"").unwrap();
    fs::set_permissions(&left, fs::Permissions::from_mode(0o666)).unwrap();
    folder.activate(1..=1);
    assert_eq!(folder.names(), ["active.9.new", "active.tollway"]);
    folder.activate(2..=9);
    assert_eq!(folder.names(), ["active.1.tollway", "active.2.tollway", "active.tollway"]);
    for (ago, revision) in [(0, 9), (1, 8), (2, 7)] {
        let place = place_of(&folder.path(), ago);
        assert_eq!(read(&place).unwrap().unwrap().revision, revision);
        assert_eq!(fs::metadata(place).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_damaged_one_gives_way_to_the_one_before_and_says_so() {
    type Damage = fn(&Path);
    let truncate: Damage = |path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    };
    let flip: Damage = |path| {
        let mut bytes = fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(path, bytes).unwrap();
    };
    let flip_revision: Damage = |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes[17] ^= 1;
        fs::write(path, bytes).unwrap();
    };
    let empty: Damage = |path| fs::write(path, b"").unwrap();
    let zeros: Damage = |path| fs::write(path, [0; 4096]).unwrap();
    let remove: Damage = |path| fs::remove_file(path).unwrap();
    let folder_instead: Damage = |path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    };
    for (number, damage) in
        [truncate, flip, flip_revision, empty, zeros, remove, folder_instead].into_iter().enumerate()
    {
        let folder = Files::new(&format!("before-{number}"));
        folder.activate(1..=4);
        damage(&folder.path());
        let (found, problems) = folder.start();
        assert_eq!(found, Some((3, 1)), "damage {number}");
        assert_eq!(problems.len(), 1, "damage {number}: {problems:?}");
        assert!(problems[0].contains("active.tollway"), "{problems:?}");
        damage(&place_of(&folder.path(), 1));
        if number != 6 {
            // The one before has become the active one.
            assert!(folder.path().exists(), "damage {number}");
        }
    }
}

#[test]
fn the_oldest_one_is_better_than_none() {
    let folder = Files::new("oldest");
    folder.activate(1..=4);
    fs::write(folder.path(), b"").unwrap();
    fs::write(place_of(&folder.path(), 1), b"TOLLWAY").unwrap();
    let (found, problems) = folder.start();
    assert_eq!((found, problems.len()), (Some((2, 2)), 2), "{problems:?}");
    assert_eq!(folder.start(), (Some((2, 0)), Vec::new()), "the next start takes it without a word");
    for ago in 0..=EARLIER {
        fs::write(place_of(&folder.path(), ago), b"").unwrap();
    }
    let (found, problems) = folder.start();
    assert!(found.is_none() && !problems.is_empty(), "empty, and not silently: {problems:?}");
}

/// A configuration that cannot work is passed over by the place it has.
#[test]
fn a_start_can_go_on_to_the_ones_before() {
    let folder = Files::new("onward");
    folder.activate(1..=3);
    let mut problems = Vec::new();
    let found = load(&folder.path(), 1, &mut problems).unwrap();
    assert_eq!((found.active.revision, found.ago, problems.len()), (2, 1, 0));
    assert!(load(&folder.path(), EARLIER + 1, &mut problems).is_none());
}

/// After such a start two names are of one file: the next activation must not push the other one out.
#[test]
fn an_earlier_one_that_is_active_again_is_kept_once() {
    let folder = Files::new("again");
    folder.activate(1..=3);
    fs::write(folder.path(), b"").unwrap();
    assert_eq!(folder.start().0, Some((2, 1)));
    folder.activate(4..=4);
    let kept = |ago| read(&place_of(&folder.path(), ago)).unwrap().unwrap().revision;
    assert_eq!([0, 1, 2].map(kept), [4, 2, 1]);
}

#[test]
fn what_cannot_be_kept_does_not_stop_an_activation() {
    let folder = Files::new("unkept");
    folder.activate(1..=1);
    // Neither a link nor a file can be put here.
    fs::create_dir_all(place_of(&folder.path(), 1).join("x")).unwrap();
    fs::create_dir_all(place_of(&folder.path(), 2).join("x")).unwrap();
    folder.activate(2..=3);
    assert_eq!(folder.start(), (Some((3, 0)), Vec::new()));
}
