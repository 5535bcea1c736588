//! Keys that seal compiled code, and their files.

use std::{
    fmt, fs,
    io::{self, Read as _},
    path::Path,
};

use phasm_files::{FileUse, open_own};

use super::files::{is_private, write_temporary};

/// Key that seals compiled code. Its holder can make any host that trusts it execute anything.
#[derive(Clone)]
pub struct Key([u8; Key::LENGTH]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// Length of a key, in bytes.
    pub const LENGTH: usize = 32;

    /// Makes a key of `bytes`, which must be unpredictable.
    #[must_use]
    pub const fn new(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }

    pub(super) const fn bytes(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }

    /// Reads the key in `path`.
    ///
    /// # Errors
    /// Fails when there is none, when it has another length, or when other users could have read or changed it.
    pub fn read(path: &Path) -> io::Result<Self> {
        read(path)?.ok_or_else(|| {
            let expected = format!("expected {} bytes in a file that is its owner's alone", Self::LENGTH);
            io::Error::new(io::ErrorKind::InvalidData, expected)
        })
    }

    /// Reads the key in `path`, or makes a new one if there is no file.
    ///
    /// # Errors
    /// See [`Self::read`]; also when the file cannot be written.
    pub fn read_or_make(path: &Path) -> io::Result<Self> {
        if path.exists() { Self::read(path) } else { Self::make_or_replace(path) }
    }

    /// Reads the key in `path`, or makes a new one if there is none, or one that other users could have read or changed.
    pub(super) fn make_or_replace(path: &Path) -> io::Result<Self> {
        match read(path) {
            Ok(Some(key)) => return Ok(key),
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let mut new = [0; Self::LENGTH];
        getrandom::fill(&mut new).map_err(io::Error::other)?;
        let temporary = write_temporary(path, &new)?;
        let result = put(&temporary, path).map(|there| there.unwrap_or(Self::new(new)));
        let _ = fs::remove_file(temporary);
        result
    }
}

/// Makes `new` the key in `path`. If two processes start together, both use the key that is there first.
fn put(new: &Path, path: &Path) -> io::Result<Option<Key>> {
    match rename_unless_there(new, path) {
        Ok(()) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match read(path)? {
            Some(key) => Ok(Some(key)),
            None => fs::rename(new, path).map(|()| None),
        },
        Err(error) => Err(error),
    }
}

/// Gives a file its name, unless there is one of that name.
fn rename_unless_there(new: &Path, path: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::{
            fs::{CWD, RenameFlags, renameat_with},
            io::Errno,
        };
        match renameat_with(CWD, new, CWD, path, RenameFlags::NOREPLACE) {
            // Some file systems cannot do it.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            renamed => return Ok(renamed?),
        }
    }
    fs::hard_link(new, path).and_then(|()| fs::remove_file(new))
}

/// Returns `None` if the file holds no key, or is not private.
fn read(path: &Path) -> io::Result<Option<Key>> {
    let file = match open_own(path, FileUse::Read) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    (&file).take(Key::LENGTH as u64 + 1).read_to_end(&mut bytes)?;
    Ok(if is_private(&file)? { bytes.try_into().ok().map(Key::new) } else { None })
}
