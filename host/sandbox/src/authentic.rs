//! Compiled code that provably came from whoever holds the key: sealed when written, checked before it is loaded.
//!
//! Loading compiled code is loading machine code, and wasmtime accepts a file with a flipped bit; so this is the one
//! place of the project with `unsafe` in it, and nothing is loaded that is neither sealed nor [`Fresh`].

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use wasmtime::{Engine, component::Component};

/// Bytes of the tag in front of the code.
const TAG: usize = 32;

/// What compiled code is sealed with. Whoever holds it can have a host that trusts it execute anything.
#[derive(Clone)]
pub struct Key([u8; Key::LENGTH]);

/// What a piece of code is for. Sealed with the code, so that one valid piece cannot stand in for another.
pub(super) struct Purpose<'a> {
    /// The kind of file, and its format.
    pub(super) kind: &'static str,
    /// Everything else that is said about the code.
    pub(super) about: &'a [u8],
}

/// Why sealed code was not loaded.
#[derive(Debug)]
pub(super) enum Refused {
    /// Sealed with another key, for another purpose, or changed since.
    Foreign,
    /// Authentic, and for another version of wasmtime or another machine.
    Unfit(String),
}

impl Key {
    /// Bytes of a key.
    pub const LENGTH: usize = 32;

    /// A key from bytes that nobody can guess.
    #[must_use]
    pub const fn new(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }

    fn mac(&self, purpose: &Purpose<'_>, code: &[u8]) -> Option<Hmac<Sha256>> {
        // HMAC takes keys of any length; there is no error to meet.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(purpose.kind.as_bytes());
        mac.update(&[0]);
        mac.update(&(purpose.about.len() as u64).to_le_bytes());
        mac.update(purpose.about);
        mac.update(code);
        Some(mac)
    }

    /// `code` with its seal in front.
    #[cfg(feature = "compile")]
    pub(super) fn seal(&self, purpose: &Purpose<'_>, code: &[u8]) -> Option<Vec<u8>> {
        let tag = self.mac(purpose, code)?.finalize().into_bytes();
        Some([tag.as_slice(), code].concat())
    }

    /// The component in `sealed`, if it was sealed with this key for this purpose and nothing changed since.
    pub(super) fn open(
        &self,
        engine: &Engine,
        purpose: &Purpose<'_>,
        sealed: &[u8],
    ) -> Result<Component, Refused> {
        let (tag, code) = sealed.split_at_checked(TAG).ok_or(Refused::Foreign)?;
        let mac = self.mac(purpose, code).ok_or(Refused::Foreign)?;
        mac.verify_slice(tag).map_err(|_| Refused::Foreign)?;
        // Only a holder of the key could have made the tag, and only `seal` uses the key.
        deserialize(engine, code).map_err(|error| Refused::Unfit(format!("{error:#}")))
    }
}

/// Machine code that was made just now, in this process or in a child that it started, and has been in nobody else's hands.
#[cfg(any(feature = "compile", target_os = "linux"))]
pub(super) struct Fresh(Vec<u8>);

#[cfg(any(feature = "compile", target_os = "linux"))]
impl Fresh {
    /// What wasmtime has just serialized.
    pub(super) fn new(code: Vec<u8>) -> Self {
        Self(code)
    }

    #[cfg(feature = "compile")]
    pub(super) fn code(&self) -> &[u8] {
        &self.0
    }

    /// The component that was compiled.
    pub(super) fn component(&self, engine: &Engine) -> wasmtime::Result<Component> {
        deserialize(engine, &self.0)
    }
}

#[expect(unsafe_code, reason = "wasmtime's only way to load compiled code; audited here and nowhere else")]
fn deserialize(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `code` are the exact bytes, already in memory, that wasmtime serialized: both callers know it, by the seal or by
    // having just made them. Code for an engine of another version or other settings is refused by `deserialize` itself.
    unsafe { Component::deserialize(engine, code) }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}
