//! Files below a directory.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Returns every file below a directory that has content. Those of an attempt that has ended may go while this reads.
pub(crate) fn contents(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else if fs::metadata(&path).is_ok_and(|file| file.len() > 0) {
            found.push(path);
        }
    }
    found
}
