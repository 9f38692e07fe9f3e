//! Every input that was worth keeping, and every one that once found a fault, through its target.

#![allow(clippy::print_stdout, reason = "the input at hand is named when it fails")]

use std::fs;
use std::path::{Path, PathBuf};

use tollway_fuzzing::{TARGETS, run};

fn fuzz(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(part)
}

/// The files of a directory, by name.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[test]
fn corpora_find_nothing() {
    for (name, _) in TARGETS {
        let inputs = files(&fuzz("corpus").join(name));
        assert!(!inputs.is_empty(), "target {name} has no corpus");
        for input in inputs {
            println!("{}", input.display());
            run(name, &fs::read(&input).expect("a file of the corpus"));
        }
    }
}

/// A case is called `TARGET-what-it-found`.
#[test]
fn what_was_found_once_stays_found() {
    for case in files(&fuzz("cases")) {
        let file = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (target, _) = file.split_once('-').expect("the name of a target before the first hyphen");
        println!("{file}");
        run(target, &fs::read(&case).expect("a case"));
    }
}

/// Captures lie elsewhere: their names stand in `TOLLWAY_CAPTURES`, separated by colons, as files or directories.
#[test]
fn captures_pass() {
    let names = std::env::var("TOLLWAY_CAPTURES").unwrap_or_default();
    let mut open: Vec<PathBuf> =
        names.split(':').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(files(&path));
            continue;
        }
        let bytes = fs::read(&path).expect("a capture");
        if tollway_fuzzing::pcap::frames(&bytes).is_some() {
            println!("{}", path.display());
            run("frames", &bytes);
        }
    }
}
