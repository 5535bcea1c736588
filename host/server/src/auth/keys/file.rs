//! The key file: readable by its owner only, and replaced as a whole under a lock file next to it.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use phasm_files::{FileUse, open_own, read_own_text};
use serde::{Deserialize, Serialize};

use super::Key;
use crate::auth::token::random;

/// The largest file of keys, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Identity of a file's state: modification time, size and inode. `None` without a file.
pub(super) type Mark = Option<(SystemTime, u64, u64)>;

/// The file that keys are kept in.
#[derive(Clone, Debug)]
pub struct KeyFile {
    path: PathBuf,
}

/// Content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFileContent {
    keys: Vec<Key>,
    /// Random digits by which numbers are disguised for keys that are bound to namespaces, the same for all servers of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<String>,
}

/// Why a file of keys is of no use.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// The file cannot be read or written.
    #[error("the file of keys {path} cannot be used")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is not a key file.
    #[error("{path} is not a file of keys")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// A name may be given once.
    #[error("there is a key named `{name}` already; remove it first, or choose another name")]
    Taken {
        /// The name.
        name: String,
    },
}

impl KeyFile {
    /// The file of that name, which need not exist.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Every key; none if there is no file.
    ///
    /// # Errors
    /// [`KeyFileError`]
    pub fn all(&self) -> Result<Vec<Key>, KeyFileError> {
        self.read().map(|content| content.keys)
    }

    /// The seed of the file; none if it has none yet.
    ///
    /// # Errors
    /// [`KeyFileError`]
    pub(super) fn seed(&self) -> Result<Option<String>, KeyFileError> {
        self.read().map(|content| content.seed)
    }

    fn read(&self) -> Result<KeyFileContent, KeyFileError> {
        let text = match read_own_text(&self.path, MAX_FILE_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(KeyFileContent::default()),
            Err(source) => return Err(self.failed(source)),
        };
        serde_json::from_str(&text)
            .map_err(|source| KeyFileError::Foreign { path: self.path.clone(), source })
    }

    /// Adds a key.
    ///
    /// # Errors
    /// [`KeyFileError`]
    pub fn add(&self, key: Key) -> Result<(), KeyFileError> {
        let _alone = self.lock()?;
        let KeyFileContent { mut keys, seed } = self.read()?;
        if keys.iter().any(|one| one.name == key.name) {
            return Err(KeyFileError::Taken { name: key.name });
        }
        keys.push(key);
        let seed = match seed {
            Some(seed) => seed,
            None => random::<32>().map_err(|error| self.failed(io::Error::other(error)))?,
        };
        self.write(&KeyFileContent { keys, seed: Some(seed) })
    }

    /// Removes the key of that name; false if there is none.
    ///
    /// # Errors
    /// [`KeyFileError`]
    pub fn remove(&self, name: &str) -> Result<bool, KeyFileError> {
        let _alone = self.lock()?;
        let KeyFileContent { keys, seed } = self.read()?;
        let (removed, kept): (Vec<_>, Vec<_>) = keys.into_iter().partition(|key| key.name == name);
        if removed.is_empty() {
            return Ok(false);
        }
        self.write(&KeyFileContent { keys: kept, seed }).map(|()| true)
    }

    /// Locks the file against other writers until the guard is dropped. The lock is a file of its own, as the key file is replaced; it stays behind,
    /// as removing it would let two writers in.
    fn lock(&self) -> Result<fs::File, KeyFileError> {
        let lock = || {
            let file = open_own(&self.beside(".lock"), FileUse::Write)?;
            file.lock()?;
            Ok(file)
        };
        lock().map_err(|source| self.failed(source))
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(ending);
        name.into()
    }

    pub(super) fn mark(&self) -> Result<Mark, KeyFileError> {
        match fs::metadata(&self.path) {
            Ok(found) => {
                let changed = found.modified().map_err(|source| self.failed(source))?;
                Ok(Some((changed, found.len(), inode(&found))))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.failed(source)),
        }
    }

    fn write(&self, content: &KeyFileContent) -> Result<(), KeyFileError> {
        let text = serde_json::to_string_pretty(content).unwrap_or_default() + "\n";
        let new = self.beside(".new");
        let write = || {
            drop(fs::remove_file(&new));
            let mut file = private(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &self.path)
        };
        write().map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> KeyFileError {
        KeyFileError::Io { path: self.path.clone(), source }
    }
}

/// A new file that only its owner reads.
fn private(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
fn inode(found: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::{super::Role, *};

    /// R-A10: none of several that are added at once is lost.
    #[test]
    fn many_who_change_keys_at_once_lose_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys");
        let (add, barrier) =
            (|name: String| Key::make(&name, Role::Read, Vec::new()).unwrap().0, std::sync::Barrier::new(8));
        KeyFile::at(path.clone()).add(add("old".into())).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (path, barrier) = (path.clone(), &barrier);
                scope.spawn(move || {
                    let file = KeyFile::at(path);
                    barrier.wait();
                    (0..10).for_each(|key| file.add(add(format!("{thread}-{key}"))).unwrap());
                    assert!(file.remove(&format!("{thread}-0")).unwrap());
                });
            }
        });
        assert_eq!(KeyFile::at(path).all().unwrap().len(), 1 + 8 * 9);
    }

    #[test]
    fn keys_are_added_once_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let file = KeyFile::at(dir.path().join("keys"));
        assert_eq!((file.all().unwrap(), file.mark().unwrap()), (Vec::new(), None));
        let (key, _) = Key::make("ci", Role::Read, vec!["a".into()]).unwrap();
        file.add(key.clone()).unwrap();
        assert!(matches!(file.add(key.clone()), Err(KeyFileError::Taken { .. })));
        assert_eq!(file.all().unwrap(), [key]);
        let before = file.mark().unwrap();
        assert!(!file.remove("other").unwrap());
        assert_eq!(file.mark().unwrap(), before);
        assert!(file.remove("ci").unwrap());
        assert_ne!(file.mark().unwrap(), before);
        assert_eq!(file.all().unwrap(), []);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_the_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let file = KeyFile::at(dir.path().join("keys"));
        file.add(Key::make("ci", Role::Admin, Vec::new()).unwrap().0).unwrap();
        assert_eq!(fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_is_no_file_of_keys_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = KeyFile::at(dir.path().join("keys"));
        for text in ["", "[]", "{\"keys\":[{}]}", "{\"keys\":[],\"more\":1}"] {
            fs::write(file.path(), text).unwrap();
            assert!(matches!(file.all(), Err(KeyFileError::Foreign { .. })), "{text}");
        }
    }
}
