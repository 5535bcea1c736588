//! Signatures.

use std::{fmt, str::FromStr, sync::Arc};

use phasm_engine::text;

use super::{COMMENT, ED25519, ED25519_HASHED, MAX_SIGNATURE_BYTES, PublicKey, decoded, number, part};

const TRUSTED: &str = "trusted comment: ";

/// A signature as minisign writes it, of whatever was signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    text: Arc<str>,
    id: [u8; 8],
    /// Whether a hash was signed and not the bytes themselves, as before minisign 0.6.
    is_of_hash: bool,
    signature: [u8; 64],
    comment: String,
    /// Signature of the signature and the comment.
    whole: [u8; 64],
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
    /// The signature does not match the bytes.
    #[error("signature does not match")]
    OtherBytes,
    /// The trusted comment does not match its signature.
    #[error("its trusted comment does not match")]
    OtherComment,
    /// Nothing here can check signatures (the feature `signatures`).
    #[error("this program cannot check signatures")]
    Unable,
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

    /// Whether it was made with that key, of these bytes.
    ///
    /// # Errors
    /// [`VerifyError`], and why.
    pub fn verify(&self, key: &PublicKey, bytes: &[u8]) -> Result<(), VerifyError> {
        if !self.is_made_with(key) {
            return Err(VerifyError::OtherKey);
        }
        let is_good = match self.is_of_hash {
            true => signed(key, &hash(bytes)?, &self.signature)?,
            false => signed(key, bytes, &self.signature)?,
        };
        if !is_good {
            return Err(VerifyError::OtherBytes);
        }
        let whole = [&self.signature, self.comment.as_bytes()].concat();
        if signed(key, &whole, &self.whole)? { Ok(()) } else { Err(VerifyError::OtherComment) }
    }
}

#[cfg(feature = "signatures")]
fn signed(key: &PublicKey, bytes: &[u8], signature: &[u8]) -> Result<bool, VerifyError> {
    let key = ring::signature::UnparsedPublicKey::new(&ring::signature::ED25519, &key.key);
    Ok(key.verify(bytes, signature).is_ok())
}

#[cfg(not(feature = "signatures"))]
fn signed(_: &PublicKey, _: &[u8], _: &[u8]) -> Result<bool, VerifyError> {
    Err(VerifyError::Unable)
}

#[cfg(feature = "signatures")]
pub(super) fn hash(bytes: &[u8]) -> Result<[u8; 64], VerifyError> {
    use blake2::Digest as _;
    Ok(blake2::Blake2b512::digest(bytes).into())
}

#[cfg(not(feature = "signatures"))]
fn hash(_: &[u8]) -> Result<[u8; 64], VerifyError> {
    Err(VerifyError::Unable)
}

impl FromStr for Signature {
    type Err = NotASignature;

    fn from_str(text: &str) -> Result<Self, NotASignature> {
        if text.len() as u64 > MAX_SIGNATURE_BYTES {
            return Err(NotASignature("it is too long"));
        }
        let mut lines = text.lines();
        let mut line = || lines.next().unwrap_or_default();
        let (first, of_bytes, comment, of_all) = (line(), line(), line(), line());
        if !first.starts_with(COMMENT) {
            return Err(NotASignature("its first line is no `untrusted comment: `"));
        }
        let bytes: [u8; 74] =
            decoded(of_bytes).ok_or(NotASignature("its second line is no 74 bytes in Base64"))?;
        let is_of_hash = match part(&bytes, 0) {
            Some(ED25519_HASHED) => true,
            Some(ED25519) => false,
            _ => return Err(NotASignature("it is none of Ed25519")),
        };
        let comment = comment
            .strip_prefix(TRUSTED)
            .filter(|comment| !comment.contains(|c| text::is_hidden(c) && c != '\t'))
            .ok_or(NotASignature(
                "its third line does not begin with `trusted comment: `, or has invisible characters",
            ))?;
        let whole = decoded(of_all).ok_or(NotASignature("its fourth line is no 64 bytes in Base64"))?;
        let short = || NotASignature("its second line is too short");
        Ok(Self {
            text: text.into(),
            id: part(&bytes, 2).ok_or_else(short)?,
            is_of_hash,
            signature: part(&bytes, 10).ok_or_else(short)?,
            comment: comment.to_owned(),
            whole,
        })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(all(test, feature = "signatures"))]
mod tests {
    use super::*;
    use crate::plugins::trust::{NotASecretKey, SecretKey};

    const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
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
            assert_eq!(signature.verify(&key, b"tesT"), Err(VerifyError::OtherBytes));
            let other = SecretKey::generate().unwrap().public();
            assert_eq!(signature.verify(&other, b"test"), Err(VerifyError::OtherKey));
            let changed: Signature = text.replace("file:test", "file:tesT").parse().unwrap();
            assert_eq!(changed.verify(&key, b"test"), Err(VerifyError::OtherComment));
            assert_eq!(changed.text(), text.replace("file:test", "file:tesT"));
        }
    }

    /// Made by `minisign -G -W` for this test.
    #[test]
    fn a_key_of_minisigns_without_a_password_signs() {
        let secret = "untrusted comment: minisign encrypted secret key
RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAcyVGJ/06INGJIJpkZSdAP59Id6JPkqcwU7QIHBRCt+sEu9HFzHmTG7LC5dES3q9Tr6/kEXWmN72AHIs5Wf7vmlGnt3K5Z328AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
";
        let public = "RWRzJUYn/Tog0bLC5dES3q9Tr6/kEXWmN72AHIs5Wf7vmlGnt3K5Z328".parse().unwrap();
        let key = SecretKey::read(secret).unwrap();
        assert_eq!((key.public(), key.sign(b"x", "y").unwrap().verify(&public, b"x")), (public, Ok(())));
    }

    #[test]
    fn what_is_signed_here_is_verified_and_keys_are_read_again() {
        let secret = SecretKey::generate().unwrap();
        let again = SecretKey::read(&secret.text()).unwrap();
        assert_eq!(again.public(), secret.public());
        let signature = again.sign(b"bytes", "greet 1.0.0").unwrap();
        assert_eq!(
            (signature.verify(&secret.public(), b"bytes"), signature.comment()),
            (Ok(()), "greet 1.0.0")
        );
        assert!(secret.sign(b"bytes", "two\nlines").is_err());
        assert!(!format!("{secret:?}").contains(secret.text().lines().last().unwrap()));
        let (first, key) = secret.text().split_once('\n').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let other = if key.as_bytes()[90] == b'A' { "B" } else { "A" };
        let changed = format!("{first}\n{}{other}{}", &key[..90], &key[91..]);
        assert_eq!(SecretKey::read(&changed).err(), Some(NotASecretKey::Other));
        assert_eq!(SecretKey::read("").err(), Some(NotASecretKey::Other));
    }

    #[test]
    fn what_is_no_signature_says_so() {
        let no = |text: &str| text.parse::<Signature>().unwrap_err().to_string();
        let four = "; expected a signature of minisign's, which has four lines";
        assert_eq!(no(""), format!("its first line is no `untrusted comment: `{four}"));
        assert!(no(&HASHED.replacen("RUQ", "RVQ", 1)).starts_with("it is none of Ed25519"));
        assert!(no(&HASHED.replacen("RUQ", "RU", 1)).starts_with("its second line is no 74 bytes"));
        assert!(no(&HASHED.replacen("file", "fi\u{202e}le", 1)).starts_with("its third line"));
        assert!(no(&"x".repeat(20_000)).starts_with("it is too long"));
    }
}
