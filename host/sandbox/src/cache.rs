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
    fs,
    hash::{Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

use phasm_files::read_regular;
use sha2::{Digest as _, Sha256};
use wasmtime::{Engine, component::Component};

use super::{
    digest::{Digest, Hex},
    files::{private_dir, replace},
    key::Key,
    sealed_code::{self, FreshCode, Purpose, SealError},
};

/// Kind and format version of the files.
const FORMAT: &str = "phasm compiled code 2";

/// Maximum size of compiled code, in bytes. A larger file did not come from a component that could be loaded.
const MAX_CODE_BYTES: u64 = 4 << 30;

/// Cache directory for one engine.
pub(super) struct Cache {
    code: PathBuf,
    key: Key,
    settings: [u8; 32],
}

impl Cache {
    /// Opens the cache in `dir`, creating the directory and the key if they are missing.
    pub(super) fn open(dir: &Path, engine: &Engine) -> io::Result<Self> {
        let code = dir.join("code");
        private_dir(dir)?;
        private_dir(&code)?;
        let key = Key::make_or_replace(&dir.join("key"))?;
        Ok(Self { code, key, settings: settings(engine) })
    }

    pub(super) fn key(&self) -> &Key {
        &self.key
    }

    /// Returns the compiled component of this digest, if it is cached and authentic.
    pub(super) fn load(&self, engine: &Engine, digest: &Digest) -> Option<Component> {
        let sealed = read_regular(&self.path(digest), MAX_CODE_BYTES).ok()?;
        let path = self.path(digest);
        match sealed_code::open(
            &self.key,
            engine,
            &Purpose { kind: FORMAT, about: &self.about(digest) },
            &sealed,
        ) {
            Ok(component) => return Some(component),
            Err(SealError::Foreign) => {
                tracing::warn!("{} is not authentic; compiling again", path.display());
            }
            Err(SealError::Unfit(why)) => tracing::warn!("{}: {why}; compiling again", path.display()),
        }
        None
    }

    /// Stores the code of a component, and removes code that other engines compiled from the same bytes.
    pub(super) fn store(&self, digest: &Digest, code: &FreshCode) -> io::Result<()> {
        let purpose = Purpose { kind: FORMAT, about: &self.about(digest) };
        let sealed = sealed_code::seal(&self.key, &purpose, code.code())
            .ok_or_else(|| io::Error::other("cannot seal"))?;
        let path = self.path(digest);
        replace(&path, &sealed)?;
        self.remove_stale(digest, &path);
        Ok(())
    }

    fn remove_stale(&self, digest: &Digest, kept: &Path) {
        let prefix = format!("{}-", Hex(digest.as_bytes()));
        for entry in fs::read_dir(&self.code).into_iter().flatten().flatten() {
            let same = entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix));
            if same && entry.path() != kept {
                // Another process may have been faster.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        let settings = self.settings.get(..8).unwrap_or_default();
        self.code.join(format!("{}-{}.cwasm", Hex(digest.as_bytes()), Hex(settings)))
    }

    /// Returns the digest of the component and the compiler's settings.
    fn about(&self, digest: &Digest) -> Vec<u8> {
        [digest.as_bytes().as_slice(), &self.settings].concat()
    }
}

/// Returns a hash of wasmtime's version and of every setting that affects its code.
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
