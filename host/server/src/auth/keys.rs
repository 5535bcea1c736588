//! Keys: made once, shown once, kept as digests.
//!
//! A key has 256 random bits, so that a plain digest without salt reveals nothing of it.

mod file;

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::{ConditionallySelectable as _, ConstantTimeEq as _};

use self::file::Mark;
pub use self::file::{KeyFile, KeyFileError};
pub use super::caller::Role;
use super::token::random;

/// Prefix of keys, so that scanners recognize leaked ones.
const PREFIX: &str = "phasm_";
/// Random bytes of a key.
const KEY_BYTES: usize = 32;

/// A key as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Name of the key in logs, and for removing it.
    pub name: String,
    /// Role of the key's holder.
    pub role: Role,
    /// The namespaces it is bound to; all, if there are none.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// When it was made, RFC 3339.
    pub created: String,
    /// SHA-256 of the key, in hexadecimal.
    digest: String,
}

impl Key {
    /// Makes a key, and what is to be shown of it once.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn make(name: &str, role: Role, namespaces: Vec<String>) -> Result<(Self, String), io::Error> {
        let mut random = [0; KEY_BYTES];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let text = format!("{PREFIX}{}", hex(&random));
        let created = phasm::clock::Clock::start().now().to_rfc3339();
        let digest = digest(&text);
        Ok((Self { name: name.to_owned(), role, namespaces, created, digest }, text))
    }
}

fn digest(key: &str) -> String {
    hex(&Sha256::digest(key.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The keys of a server, at some moment.
#[derive(Debug, Default)]
pub(crate) struct KeyRing(Vec<Key>);

impl KeyRing {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key of that text. All are compared, each in full, whatever it is.
    pub(crate) fn find(&self, text: &str) -> Option<&Key> {
        let digest = digest(text);
        let mut found = u64::MAX;
        for (key, index) in self.0.iter().zip(0_u64..) {
            let same = key.digest.as_bytes().ct_eq(digest.as_bytes());
            found.conditional_assign(&index, same);
        }
        self.0.get(usize::try_from(found).ok()?)
    }
}

/// The keys in a file, read again when it has changed.
pub(crate) struct Keys {
    file: Option<KeyFile>,
    /// Seed where the file has none.
    fallback: String,
    read: Mutex<Option<(Mark, Arc<KeyRing>)>>,
}

impl Keys {
    pub(crate) fn at(file: Option<PathBuf>) -> Self {
        // Without random bytes there are no sessions and no keys either.
        let fallback = random::<32>().unwrap_or_default();
        Self { file: file.map(KeyFile::at), fallback, read: Mutex::default() }
    }

    /// Returns the digits by which numbers are disguised.
    pub(crate) fn seed(&self) -> String {
        let kept = self.file.as_ref().and_then(|file| file.seed().ok().flatten());
        kept.unwrap_or_else(|| self.fallback.clone())
    }

    /// Returns the current keys.
    pub(crate) fn now(&self) -> Result<Arc<KeyRing>, KeyFileError> {
        let Some(file) = &self.file else { return Ok(Arc::default()) };
        let mark = file.mark()?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, ring)) = read.as_ref().filter(|(of, _)| *of == mark) {
            return Ok(Arc::clone(ring));
        }
        let ring = Arc::new(KeyRing(file.all()?));
        *read = Some((mark, Arc::clone(&ring)));
        Ok(ring)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_by_its_text_and_by_nothing_else() {
        let made = ["a", "b", "c"].map(|name| Key::make(name, Role::Run, Vec::new()).unwrap());
        let ring = KeyRing(made.iter().map(|(key, _)| key.clone()).collect());
        for (key, text) in &made {
            assert_eq!(ring.find(text), Some(key));
            assert_eq!(text.len(), PREFIX.len() + 2 * KEY_BYTES);
            assert!(!serde_json::to_string(key).unwrap().contains(text.as_str()));
            assert_eq!(ring.find(&key.digest), None);
            assert_eq!(ring.find(&text.to_uppercase()), None);
        }
        assert_eq!(ring.find(""), None);
        assert_eq!(KeyRing::default().find(""), None);
    }
}
