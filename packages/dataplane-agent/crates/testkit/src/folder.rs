//! A folder of one test.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// An empty folder, which goes with its test.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// `name` tells it from those of the other tests of the same program.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tollway-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder for temporary files");
        Self(path)
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
