//! Where the server of a store is reached: a line in a file beside the store, which the server holds a lock on for as long as it is there.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use phasm::sandbox::Digest;
use phasm_files::{FileUse, open_own};

use crate::{ownership, paths, user_dirs};

/// The longest line that is read.
const MAX_LINE_BYTES: u64 = 4096;

/// Says where the server is until it is dropped.
#[derive(Debug)]
pub(super) struct Address {
    path: PathBuf,
    _held: File,
}

impl Address {
    /// Leaves it; nothing if another server of that store is there already.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn leave(store: &Path, url: &str) -> io::Result<Option<Self>> {
        let Some(path) = place(store) else { return Ok(None) };
        // Where the user has no data directory, clients of a database's server name it.
        let made = paths::database_url(store)
            .is_none_or(|_| path.parent().is_some_and(|dir| fs::create_dir_all(dir).is_ok()));
        if !made {
            return Ok(None);
        }
        let mut file = open_own(&path, FileUse::Write)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        file.set_len(0)?;
        writeln!(file, "{url}")?;
        Ok(Some(Self { path, _held: file }))
    }
}

impl Drop for Address {
    fn drop(&mut self) {
        // A process that is killed leaves the file behind, unlocked.
        drop(fs::remove_file(&self.path));
    }
}

/// The URL of the server that serves that store now, as far as that is known: left by this user, and not by one that is gone.
pub(super) fn known(store: &Path) -> Option<String> {
    let path = place(store)?;
    let file = open_own(&path, FileUse::Read).ok()?;
    // Others who may write in the directory can neither create such a file nor open it to lock it.
    if ownership::open_to_others(&file.metadata().ok()?).is_some() {
        return None;
    }
    let Err(TryLockError::WouldBlock) = file.try_lock_shared() else { return None };
    let mut line = String::new();
    (&file).take(MAX_LINE_BYTES).read_to_string(&mut line).ok()?;
    Some(line.trim().to_owned()).filter(|url| !url.is_empty())
}

/// Returns the path: next to a file, or with the user's data for a database.
fn place(store: &Path) -> Option<PathBuf> {
    let Some(url) = paths::database_url(store) else {
        let mut name = store.as_os_str().to_owned();
        name.push(".server");
        return Some(name.into());
    };
    let digest = Digest::of(url.as_bytes()).to_string();
    let digest: String = digest.trim_start_matches("sha256:").chars().take(16).collect();
    Some(user_dirs::data_dir()?.join(format!("{digest}.server")))
}

/// For this user alone.
pub(super) fn own(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-A81.
    #[test]
    fn an_address_is_known_while_its_server_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("runs.db");
        assert_eq!(known(&store), None);
        let address = Address::leave(&store, "http://127.0.0.1:1").unwrap();
        assert!(address.is_some());
        assert_eq!(known(&store).as_deref(), Some("http://127.0.0.1:1"));
        assert!(Address::leave(&store, "http://127.0.0.1:2").unwrap().is_none());
        assert_eq!(known(&store).as_deref(), Some("http://127.0.0.1:1"));
        drop(address);
        assert!(!dir.path().join("runs.db.server").exists());
        // One that was killed.
        let left =
            own(OpenOptions::new().write(true).create_new(true)).open(dir.path().join("runs.db.server"));
        left.unwrap().write_all(b"http://127.0.0.1:3\n").unwrap();
        assert_eq!(known(&store), None);
        let again = Address::leave(&store, "http://127.0.0.1:4").unwrap();
        assert_eq!(known(&store).as_deref(), Some("http://127.0.0.1:4"));
        drop(again);
    }

    /// R-A81: what others could have left there is not believed.
    #[cfg(unix)]
    #[test]
    fn what_others_may_write_is_not_believed() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("runs.db");
        let _address = Address::leave(&store, "http://127.0.0.1:1").unwrap();
        let file = dir.path().join("runs.db.server");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(known(&store), None);
    }
}
