//! Compiled code on disk, so that a component is compiled once and not once a process.
//!
//! ```text
//! <dir>/                0700
//!   key                 0600, 32 random bytes, made once
//!   code/               0700
//!     <digest>-<settings>.cwasm   HMAC-SHA256 of purpose and code, then the code
//! ```
//!
//! A file that is missing, torn, foreign or changed reads as absent: the component is compiled again and the file
//! replaced. Files appear by renaming, so readers see all of one or none.

use std::{
    fs::{self, File, OpenOptions},
    hash::{Hash, Hasher},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use sha2::{Digest as _, Sha256};
use wasmtime::{Engine, component::Component};

use self::authentic::{Key, Purpose};
use super::digest::{Digest, Hex};

mod authentic;

const KEY_LENGTH: usize = 32;

/// One cache directory, for one engine.
pub(super) struct Cache {
    code: PathBuf,
    key: Key,
    settings: [u8; 32],
}

impl Cache {
    /// Opens the cache in `dir`, making directory and key where they are missing.
    pub(super) fn open(dir: &Path, engine: &Engine) -> io::Result<Self> {
        let code = dir.join("code");
        private_dir(dir)?;
        private_dir(&code)?;
        let key = Key::new(key(&dir.join("key"))?);
        Ok(Self { code, key, settings: settings(engine) })
    }

    /// The compiled component of this digest, if it is here and authentic.
    pub(super) fn load(&self, engine: &Engine, digest: &Digest) -> Option<Component> {
        let sealed = fs::read(self.path(digest)).ok()?;
        let component = self.key.open(engine, &self.purpose(digest), &sealed);
        if component.is_none() {
            tracing::warn!("{} is not authentic; compiling again", self.path(digest).display());
        }
        component
    }

    /// Keeps `component`, and forgets what other engines compiled from the same bytes.
    pub(super) fn store(&self, digest: &Digest, component: &Component) -> io::Result<()> {
        let code = component.serialize().map_err(|error| io::Error::other(format!("{error:#}")))?;
        let purpose = self.purpose(digest);
        let sealed = self.key.seal(&purpose, &code).ok_or_else(|| io::Error::other("cannot seal"))?;
        let path = self.path(digest);
        replace(&path, &sealed)?;
        self.forget_others(digest, &path);
        Ok(())
    }

    fn forget_others(&self, digest: &Digest, kept: &Path) {
        let prefix = format!("{}-", Hex(digest.as_bytes()));
        for entry in fs::read_dir(&self.code).into_iter().flatten().flatten() {
            let same = entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix));
            if same && entry.path() != kept {
                // Another process may have been quicker.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        let settings = self.settings.get(..8).unwrap_or_default();
        self.code.join(format!("{}-{}.cwasm", Hex(digest.as_bytes()), Hex(settings)))
    }

    fn purpose(&self, digest: &Digest) -> Purpose {
        Purpose { component: *digest.as_bytes(), settings: self.settings }
    }
}

/// wasmtime's version and every setting that shapes its code, as one hash.
fn settings(engine: &Engine) -> [u8; 32] {
    struct Settings(Sha256);
    impl Hasher for Settings {
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
        fn finish(&self) -> u64 {
            0
        }
    }
    let mut hasher = Settings(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.0.finalize().into()
}

/// The key in `path`; a new one where there is none, or one that others could have read or changed.
fn key(path: &Path) -> io::Result<[u8; KEY_LENGTH]> {
    if let Some(key) = read_key(path)? {
        return Ok(key);
    }
    let mut new = [0; KEY_LENGTH];
    getrandom::fill(&mut new).map_err(io::Error::other)?;
    let temporary = write_beside(path, &new)?;
    // Of two processes that start together, both use the key that is there first.
    let linked = fs::hard_link(&temporary, path);
    let result = match linked {
        Ok(()) => Ok(new),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match read_key(path)? {
            Some(key) => Ok(key),
            None => fs::rename(&temporary, path).map(|()| new),
        },
        Err(error) => Err(error),
    };
    let _ = fs::remove_file(temporary);
    result
}

fn read_key(path: &Path) -> io::Result<Option<[u8; KEY_LENGTH]>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    (&file).take(KEY_LENGTH as u64 + 1).read_to_end(&mut bytes)?;
    Ok(if is_private(&file)? { bytes.try_into().ok() } else { None })
}

/// Writes `bytes` to `path` so that every reader sees the old file or the new one.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = write_beside(path, bytes)?;
    fs::rename(&temporary, path).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// Writes `bytes` to a new private file in the directory of `path`.
fn write_beside(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Relaxed);
    let temporary = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
    // Left behind by a process of the same number that was killed.
    let _ = fs::remove_file(&temporary);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&temporary)?.write_all(bytes)?;
    Ok(temporary)
}

#[cfg(unix)]
fn private_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    if fs::metadata(dir)?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn private_dir(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

#[cfg(unix)]
fn is_private(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = file.metadata()?;
    Ok(metadata.mode() & 0o077 == 0 && metadata.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn is_private(_: &File) -> io::Result<bool> {
    Ok(true)
}
