//! Compiled code whose origin is proved by a key: sealed when written, verified before it is loaded.
//!
//! Loading compiled code is loading machine code, and wasmtime accepts a file with a flipped bit. So this is the one place of the
//! project with `unsafe` in it, and code is loaded only if it is sealed or [`FreshCode`].

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use wasmtime::{Engine, component::Component};

use super::key::Key;

/// Length of the tag in front of the code, in bytes.
const TAG_BYTES: usize = 32;

/// Purpose of a piece of code. The purpose is sealed with the code, so that one valid piece cannot stand in for another.
pub(super) struct Purpose<'a> {
    /// Kind of file, and its format.
    pub(super) kind: &'static str,
    /// All other facts about the code.
    pub(super) about: &'a [u8],
}

/// Reason why sealed code was not loaded.
#[derive(Debug)]
pub(super) enum SealError {
    /// Sealed with another key, for another purpose, or changed since.
    Foreign,
    /// Authentic, and for another version of wasmtime or another machine.
    Unfit(String),
}

fn mac(key: &Key, purpose: &Purpose<'_>, code: &[u8]) -> Option<Hmac<Sha256>> {
    // HMAC takes keys of any length; there is no error to meet.
    let mut mac = Hmac::<Sha256>::new_from_slice(key.bytes()).ok()?;
    mac.update(purpose.kind.as_bytes());
    mac.update(&[0]);
    mac.update(&(purpose.about.len() as u64).to_le_bytes());
    mac.update(purpose.about);
    mac.update(code);
    Some(mac)
}

/// Returns `code` with its seal in front.
#[cfg(feature = "compile")]
pub(super) fn seal(key: &Key, purpose: &Purpose<'_>, code: &[u8]) -> Option<Vec<u8>> {
    let tag = mac(key, purpose, code)?.finalize().into_bytes();
    Some([tag.as_slice(), code].concat())
}

/// Returns the component in `sealed`, if it was sealed with `key` for this purpose and has not changed since.
pub(super) fn open(
    key: &Key,
    engine: &Engine,
    purpose: &Purpose<'_>,
    sealed: &[u8],
) -> Result<Component, SealError> {
    let (tag, code) = sealed.split_at_checked(TAG_BYTES).ok_or(SealError::Foreign)?;
    let mac = mac(key, purpose, code).ok_or(SealError::Foreign)?;
    mac.verify_slice(tag).map_err(|_| SealError::Foreign)?;
    // Only a holder of the key could have made the tag, and only `seal` uses the key.
    deserialize(engine, code).map_err(|error| SealError::Unfit(format!("{error:#}")))
}

/// Machine code that was just made, in this process or in a child that it started, and was never stored outside of them.
#[cfg(any(feature = "compile", target_os = "linux"))]
pub(super) struct FreshCode(Vec<u8>);

#[cfg(any(feature = "compile", target_os = "linux"))]
impl FreshCode {
    /// Wraps code that wasmtime has just serialized.
    pub(super) fn new(code: Vec<u8>) -> Self {
        Self(code)
    }

    #[cfg(feature = "compile")]
    pub(super) fn code(&self) -> &[u8] {
        &self.0
    }

    /// Returns the component that was compiled.
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
