//! Files and folders for their owner alone, independent of the umask: the data folder has the router's connections.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Creates an empty file of mode 0600 to be written, in place of what has this name: a truncated file would keep its
/// mode, and processes that have it open could go on reading.
///
/// # Errors
/// When the file system refuses, or a folder has this name.
pub fn create(path: &Path) -> std::io::Result<File> {
    // If it cannot be removed, the next call fails.
    let _ = fs::remove_file(path);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Creates a folder of mode 0700, and those above it that are missing. One that exists keeps its mode.
///
/// # Errors
/// When the file system refuses.
pub fn create_folder(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use tollway_testkit::Folder;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn others_see_nothing_of_a_file_that_was_there_or_was_not() {
        let folder = Folder::new("private");
        let path = folder.join("file");
        create(&path).unwrap().write_all(b"first").unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        let mut known = File::open(&path).unwrap();
        create(&path).unwrap().write_all(b"second").unwrap();
        assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o600, b"second".to_vec()));
        assert_eq!(std::io::read_to_string(&mut known).unwrap(), "first");
        assert!(create(&folder).is_err());
    }

    #[test]
    fn folders_on_the_way_are_closed_too_and_those_that_exist_left_alone() {
        let folder = Folder::new("private-folder");
        fs::set_permissions(&*folder, fs::Permissions::from_mode(0o755)).unwrap();
        let below = folder.join("agent").join("claims");
        create_folder(&below).unwrap();
        create_folder(&below).unwrap();
        assert_eq!([mode(&folder), mode(&folder.join("agent")), mode(&below)], [0o755, 0o700, 0o700]);
    }
}
