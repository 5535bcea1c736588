//! Phasm's cache folder, for files that can be made again.

use std::{
    env,
    ffi::OsString,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use phasm_files::{FileUse, open_own};

use super::progress::Progress;

/// Why there is no cache folder.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// No variable says where.
    #[error(
        "no place for a cache: neither PHASM_CACHE_DIR nor XDG_CACHE_HOME nor HOME is set; set PHASM_CACHE_DIR to a folder"
    )]
    NoHome,
    /// A folder or file in it cannot be written.
    #[error("{}: {source}; set PHASM_CACHE_DIR to a folder that can be written", path.display())]
    Write {
        /// Which one.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl CacheError {
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Write { path: path.to_path_buf(), source }
    }
}

/// `$PHASM_CACHE_DIR`, else `$XDG_CACHE_HOME/phasm`, else `~/.cache/phasm`.
///
/// # Errors
/// [`CacheError::NoHome`].
pub(super) fn dir() -> Result<PathBuf, CacheError> {
    dir_from(|name| env::var_os(name)).ok_or(CacheError::NoHome)
}

/// A relative `PHASM_CACHE_DIR` is relative to where we were started; the XDG rules have relative paths ignored.
fn dir_from(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = set("PHASM_CACHE_DIR").map(|dir| std::path::absolute(&dir).unwrap_or(dir));
    let xdg = || set("XDG_CACHE_HOME").filter(|dir| dir.is_absolute());
    own.or_else(|| xdg().or_else(|| Some(set("HOME")?.join(".cache"))).map(|dir| dir.join("phasm")))
}

/// Holds `dir/lock` until dropped, against other processes and other threads alike.
///
/// # Errors
/// [`CacheError::Write`].
pub(super) fn lock(dir: &Path, what: &str, progress: &dyn Progress) -> Result<File, CacheError> {
    fs::create_dir_all(dir).map_err(CacheError::at(dir))?;
    let path = dir.join("lock");
    let file = open_own(&path, FileUse::Write).map_err(CacheError::at(&path))?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => progress.step(&format!("waiting for another process that {what}")),
        Err(TryLockError::Error(source)) => return Err(CacheError::Write { path, source }),
    }
    file.lock().map_err(CacheError::at(&path))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, sync::mpsc, thread};

    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let rows = [
            (vec![("PHASM_CACHE_DIR", "/p"), ("XDG_CACHE_HOME", "/x"), ("HOME", "/h")], Some("/p")),
            (vec![("XDG_CACHE_HOME", "/x"), ("HOME", "/h")], Some("/x/phasm")),
            (vec![("XDG_CACHE_HOME", "relative"), ("HOME", "/h")], Some("/h/.cache/phasm")),
            (vec![("PHASM_CACHE_DIR", ""), ("XDG_CACHE_HOME", ""), ("HOME", "/h")], Some("/h/.cache/phasm")),
            (vec![("HOME", "")], None),
            (vec![], None),
        ];
        for (variables, expected) in rows {
            let var =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            assert_eq!(dir_from(var), expected.map(PathBuf::from), "{variables:?}");
        }
        let relative = dir_from(|name| (name == "PHASM_CACHE_DIR").then(|| "here".into())).unwrap();
        assert_eq!(relative, env::current_dir().unwrap().join("here"));
    }

    #[test]
    fn the_second_waits_for_the_first_and_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let first = lock(dir.path(), "works", &|_: &str| ()).unwrap();
        let (waits, waiting) = mpsc::channel();
        thread::scope(|scope| {
            let second = scope.spawn(move || {
                let said = RefCell::new(Vec::new());
                let say = |text: &str| {
                    said.borrow_mut().push(text.to_owned());
                    waits.send(()).unwrap();
                };
                drop(lock(dir.path(), "works", &say).unwrap());
                said.into_inner()
            });
            waiting.recv().unwrap();
            drop(first);
            assert_eq!(second.join().unwrap(), ["waiting for another process that works"]);
        });
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = lock(&file.join("below"), "works", &|_: &str| ()).unwrap_err().to_string();
        assert!(error.contains("file") && error.contains("PHASM_CACHE_DIR"), "{error}");
    }
}
