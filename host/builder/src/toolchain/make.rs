//! Makes a private toolchain, and replaces an older one with it.

use std::{fs, io, path::Path};

use super::{
    super::{folder::TARGET, progress::Progress},
    Failure, Toolchain, debian,
    error::MakeError,
    private::Private,
    recipe::Recipe,
    rust::Rust,
};

/// Prefix of the folders of toolchains in the making.
const UNFINISHED: &str = "making-";

/// Makes the toolchain, replacing one that is not usable any more. The caller holds the lock.
pub(super) fn make(home: &Path, rust: &Rust, progress: &dyn Progress) -> Result<Toolchain, Failure> {
    try_make(home, rust, progress).map_err(|error| Failure {
        way: "a private toolchain from the distribution's packages".to_owned(),
        reason: error.to_string(),
        remedy: error.remedy(),
    })
}

fn try_make(home: &Path, rust: &Rust, progress: &dyn Progress) -> Result<Toolchain, MakeError> {
    remove_leftovers(home).map_err(MakeError::at(home))?;
    let work = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(home).map_err(MakeError::at(home))?;
    let made = debian::make(&Recipe { work: work.path(), rust, progress })?;
    let release = made.release().to_owned();
    made.publish(home)?;
    let home_shown = home.display();
    progress.step(&format!("made a private toolchain for {TARGET}: rustc {release}, in {home_shown}"));
    Private::open(home).and_then(|private| private.toolchain(rust)).ok_or(MakeError::Useless)
}

/// Removes folders of processes that were killed. No other process works here while the lock is held.
fn remove_leftovers(home: &Path) -> io::Result<()> {
    for entry in fs::read_dir(home)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_killed_processes_are_removed_and_others_stay() {
        let home = tempfile::tempdir().unwrap();
        let folder = "wasm32-wasip2-recipe1";
        for dir in ["making-abc/tree/usr/bin", folder] {
            fs::create_dir_all(home.path().join(dir)).unwrap();
        }
        for file in ["making-abc/tree/usr/bin/rustc", "lock", "wasm32-wasip2-recipe1/phasm-toolchain.json"] {
            fs::write(home.path().join(file), "").unwrap();
        }
        remove_leftovers(home.path()).unwrap();
        let entries = fs::read_dir(home.path()).unwrap();
        let mut left = entries.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        left.sort();
        assert_eq!(left, ["lock", folder]);
    }
}
