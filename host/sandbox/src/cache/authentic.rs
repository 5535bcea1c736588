//! Compiled code that provably came from this cache: sealed when written, checked before it is loaded.
//!
//! Loading compiled code is loading machine code, and wasmtime accepts a file with a flipped bit; so this is the one
//! place of the project with `unsafe` in it, and the check and the load are one function.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use wasmtime::{Engine, component::Component};

/// Bytes of the tag in front of the code.
const TAG: usize = 32;

/// The secret of one cache directory.
pub(super) struct Key([u8; 32]);

/// What a piece of code is for: the component's digest and the compiler's settings. Sealed with the code, so that one
/// valid file cannot stand in for another.
pub(super) struct Purpose {
    pub(super) component: [u8; 32],
    pub(super) settings: [u8; 32],
}

impl Key {
    pub(super) const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    fn mac(&self, purpose: &Purpose, code: &[u8]) -> Option<Hmac<Sha256>> {
        // HMAC takes keys of any length; there is no error to meet.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(b"phasm compiled code 1");
        mac.update(&purpose.component);
        mac.update(&purpose.settings);
        mac.update(code);
        Some(mac)
    }

    /// `code` with its seal in front.
    pub(super) fn seal(&self, purpose: &Purpose, code: &[u8]) -> Option<Vec<u8>> {
        let tag = self.mac(purpose, code)?.finalize().into_bytes();
        Some([tag.as_slice(), code].concat())
    }

    /// The component in `sealed`, if it was sealed with this key for this purpose and nothing changed since.
    pub(super) fn open(&self, engine: &Engine, purpose: &Purpose, sealed: &[u8]) -> Option<Component> {
        let (tag, code) = sealed.split_at_checked(TAG)?;
        self.mac(purpose, code)?.verify_slice(tag).ok()?;
        #[expect(
            unsafe_code,
            reason = "wasmtime's only way to load compiled code; audited here and nowhere else"
        )]
        // SAFETY: `code` are the exact bytes, already in memory, that `Component::serialize` gave for an engine of the
        // same version and settings: only a holder of the key could have made the tag, and only `seal` uses the key.
        unsafe { Component::deserialize(engine, code) }.ok()
    }
}
