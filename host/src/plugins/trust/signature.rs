//! Signatures.

use std::{fmt, str::FromStr, sync::Arc};

use minisign_verify as minisign;
use phasm_engine::text;

use super::{MAX_SIGNATURE_BYTES, PublicKey, decoded, number, part};

/// A signature as minisign writes it, of some bytes or of their hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    text: Arc<str>,
    id: [u8; 8],
    comment: String,
}

/// A text that is no [`Signature`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; expected a signature of minisign's, which has four lines")]
pub struct NotASignature(&'static str);

/// Why a signature does not vouch for some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// Signed by another key.
    #[error("signed by a different key")]
    OtherKey,
    /// The signature does not match the bytes, or the trusted comment.
    #[error("signature does not match")]
    Mismatch,
}

impl Signature {
    /// The number of the key that it says it was made with.
    #[must_use]
    pub fn key_number(&self) -> String {
        number(self.id)
    }

    /// The signer's comment; to be believed only after verification.
    #[must_use]
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// The text of its file.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_made_with(&self, key: &PublicKey) -> bool {
        self.id == key.id
    }

    /// Checks that the signature was made with that key, of these bytes.
    ///
    /// # Errors
    /// [`VerifyError`], and why.
    pub fn verify(&self, key: &PublicKey, bytes: &[u8]) -> Result<(), VerifyError> {
        if !self.is_made_with(key) {
            return Err(VerifyError::OtherKey);
        }
        let key = minisign::PublicKey::from_base64(&key.to_string()).map_err(|_| VerifyError::Mismatch)?;
        let signature = minisign::Signature::decode(&self.text).map_err(|_| VerifyError::Mismatch)?;
        // Versions of minisign before 0.6 signed the bytes themselves.
        let allow_legacy = true;
        key.verify(bytes, &signature, allow_legacy).map_err(|_| VerifyError::Mismatch)
    }
}

fn describe(error: &minisign::Error) -> &'static str {
    if matches!(error, minisign::Error::UnsupportedAlgorithm) {
        "it is none of Ed25519"
    } else {
        "its lines are not a signature"
    }
}

impl FromStr for Signature {
    type Err = NotASignature;

    fn from_str(text: &str) -> Result<Self, NotASignature> {
        if text.len() as u64 > MAX_SIGNATURE_BYTES {
            return Err(NotASignature("it is too long"));
        }
        let signature = minisign::Signature::decode(text);
        let signature = signature.map_err(|error| NotASignature(describe(&error)))?;
        let comment = signature.trusted_comment();
        if comment.contains(|c| text::is_hidden(c) && c != '\t') {
            return Err(NotASignature("its trusted comment has invisible characters"));
        }
        let bytes: Option<[u8; 74]> = text.lines().nth(1).and_then(decoded);
        let id = bytes.and_then(|bytes| part(&bytes, 2)).ok_or(NotASignature("its second line is cut"))?;
        Ok(Self { text: text.into(), id, comment: comment.to_owned() })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    const OTHER_KEY: &str = "RWRzJUYn/Tog0bLC5dES3q9Tr6/kEXWmN72AHIs5Wf7vmlGnt3K5Z328";
    /// By minisign, of `test`: as it is now, and as it was before 0.6.
    const HASHED: &str = "untrusted comment: signature from minisign secret key
RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=
trusted comment: timestamp:1633700835\tfile:test\tprehashed
wLMDjy9FLAuxZ3q4NlEvkgtyhrr0gtTu6KC4KBJdITbbOeAi1zBIYo0v4iTgt8jJpIidRJnp94ABQkJAgAooBQ==
";
    const LEGACY: &str = "untrusted comment: signature from minisign secret key
RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSSbXxwA=
trusted comment: timestamp:1555779966\tfile:test
QtKMXWyYcwdpZAlPF7tE2ENJkRd1ujvKjlj1m9RtHTBnZPa5WKU5uWRs5GoP5M/VqE81QFuMKI5k/SfNQUaOAA==
";

    /// R-I35.
    #[test]
    fn what_minisign_signed_is_verified() {
        let key: PublicKey = KEY.parse().unwrap();
        for text in [HASHED, LEGACY] {
            let signature: Signature = text.parse().unwrap();
            assert_eq!(signature.verify(&key, b"test"), Ok(()));
            assert_eq!(signature.verify(&key, b"tesT"), Err(VerifyError::Mismatch));
            let other: PublicKey = OTHER_KEY.parse().unwrap();
            assert_eq!(signature.verify(&other, b"test"), Err(VerifyError::OtherKey));
            let changed: Signature = text.replace("file:test", "file:tesT").parse().unwrap();
            assert_eq!(changed.verify(&key, b"test"), Err(VerifyError::Mismatch));
            assert_eq!(changed.text(), text.replace("file:test", "file:tesT"));
        }
    }

    #[test]
    fn what_is_no_signature_says_so() {
        let no = |text: &str| text.parse::<Signature>().unwrap_err().to_string();
        let four = "; expected a signature of minisign's, which has four lines";
        assert_eq!(no(""), format!("its lines are not a signature{four}"));
        assert!(no(&HASHED.replacen("RUQ", "RVQ", 1)).starts_with("it is none of Ed25519"));
        assert!(no(&HASHED.replacen("RUQ", "RU", 1)).starts_with("its lines are not"));
        assert!(
            no(&HASHED.replacen("file", "fi\u{202e}le", 1)).starts_with("its trusted comment has invisible")
        );
        assert!(no(&"x".repeat(20_000)).starts_with("it is too long"));
    }
}
