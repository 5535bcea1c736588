//! Trust in plugins: minisign signatures, and the policies that require them.
//!
//! ```text
//!  bytes, text of a signature ─▶ PluginTrust::look: signed by which key, or why not   (once, when a plugin is read)
//!                                     │
//!                                     ▼
//!                               PluginTrust::judge: used or refused
//! ```

mod key;
mod policy;
mod signature;

pub use self::{
    key::{NotAPublicKey, PublicKey},
    policy::{PluginTrust, Policy, SignatureCheck},
    signature::{NotASignature, Signature, VerifyError},
};

/// The largest file with a signature that is read; they have about 300 bytes.
pub const MAX_SIGNATURE_BYTES: u64 = 16 << 10;

/// Mark of Ed25519 keys.
const ED25519: [u8; 2] = *b"Ed";

/// The number of a key, as minisign shows it.
fn number(id: [u8; 8]) -> String {
    format!("{:016X}", u64::from_le_bytes(id))
}

/// The bytes that a line of base64 stands for, if they are `N`.
fn decoded<const N: usize>(line: &str) -> Option<[u8; N]> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(line.trim()).ok()?.try_into().ok()
}

fn encoded(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// `N` bytes of `bytes` from `at` on.
fn part<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}
