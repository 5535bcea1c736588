//! Secret keys that plugins are signed with.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use minisign::{KeyPair, PError, SecretKeyBox};
use phasm::plugins::trust::{NotASignature, PublicKey, Signature};

/// Where the checksum begins in the bytes of a secret key.
const CHECKSUM: usize = 126;
/// Mark of keys whose bytes are encrypted, after the mark of the algorithm.
const ENCRYPTED: &[u8] = b"EdSc";

/// A secret key of minisign's without a password: its file alone is enough to sign.
pub(super) struct SigningKey(KeyPair);

/// A text that is no [`SigningKey`].
#[derive(Debug, thiserror::Error)]
pub(super) enum NotASigningKey {
    /// The key has a password.
    #[error("it has a password; minisign asks for it: `minisign -S -s KEY -m FILE`")]
    Encrypted,
    /// Not a secret key.
    #[error("it is not a minisign secret key")]
    Other,
}

/// A signature that was not made.
#[derive(Debug, thiserror::Error)]
pub(super) enum SignError {
    /// The key cannot sign, for example because its halves do not belong together.
    #[error("the key cannot sign: {0}")]
    Key(PError),
    /// The comment has characters that signatures may not have, or is too long.
    #[error(transparent)]
    Comment(#[from] NotASignature),
}

impl SigningKey {
    /// Generates a key.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub(super) fn generate() -> Result<Self, PError> {
        KeyPair::generate_unencrypted_keypair().map(Self)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`NotASigningKey`], and why.
    pub(super) fn read(text: &str) -> Result<Self, NotASigningKey> {
        let other = |_| NotASigningKey::Other;
        let sk = match SecretKeyBox::from_string(text).and_then(SecretKeyBox::into_unencrypted_secret_key) {
            Ok(sk) => sk,
            Err(_) => {
                let line = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
                let bytes = STANDARD.decode(line.trim()).map_err(|_| NotASigningKey::Other)?;
                if bytes.starts_with(ENCRYPTED) {
                    return Err(NotASigningKey::Encrypted);
                }
                // `minisign -G -W` leaves the checksum out, which the library refuses.
                if bytes.get(CHECKSUM..).is_none_or(|checksum| checksum != [0; 32]) {
                    return Err(NotASigningKey::Other);
                }
                minisign::SecretKey::from_bytes(&bytes).map_err(other)?
            }
        };
        let pk = minisign::PublicKey::from_secret_key(&sk).map_err(other)?;
        let key = Self(KeyPair { pk, sk });
        // Its halves belong together, and its algorithm is known.
        key.sign(b"", "").map_err(|_| NotASigningKey::Other)?;
        Ok(key)
    }

    /// Returns the text of its file.
    ///
    /// # Errors
    /// The key cannot be encoded.
    pub(super) fn text(&self) -> Result<String, PError> {
        let comment = format!("secret key {}, for `phasm plugin sign`", self.number());
        self.0.sk.to_box(Some(&comment)).map(SecretKeyBox::into_string)
    }

    /// Returns the public key that verifies its signatures.
    ///
    /// # Errors
    /// The secret key's file has another algorithm's mark.
    pub(super) fn public(&self) -> Result<PublicKey, NotASigningKey> {
        self.0.pk.to_base64().parse().map_err(|_| NotASigningKey::Other)
    }

    /// Signs bytes, with a comment of one line.
    ///
    /// # Errors
    /// [`SignError`], and why.
    pub(super) fn sign(&self, bytes: &[u8], comment: &str) -> Result<Signature, SignError> {
        let KeyPair { pk, sk } = &self.0;
        let signature = minisign::sign(
            Some(pk),
            sk,
            bytes,
            // Readers of signatures trim it.
            Some(comment.trim()),
            Some("signature of a plugin for Phasm"),
        );
        Ok(signature.map_err(SignError::Key)?.into_string().parse()?)
    }

    fn number(&self) -> String {
        self.public().map(|public| public.number()).unwrap_or_default()
    }
}

impl fmt::Debug for SigningKey {
    /// Leaves the key out: minisign's own shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({}, …)", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I35: made by `minisign -G -W` for this test.
    #[test]
    fn a_key_of_minisigns_without_a_password_signs() {
        let secret = "untrusted comment: minisign encrypted secret key
RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAcyVGJ/06INGJIJpkZSdAP59Id6JPkqcwU7QIHBRCt+sEu9HFzHmTG7LC5dES3q9Tr6/kEXWmN72AHIs5Wf7vmlGnt3K5Z328AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
";
        let public: PublicKey = "RWRzJUYn/Tog0bLC5dES3q9Tr6/kEXWmN72AHIs5Wf7vmlGnt3K5Z328".parse().unwrap();
        let key = SigningKey::read(secret).unwrap();
        assert_eq!(key.public().unwrap(), public);
        assert_eq!(key.sign(b"x", "y").unwrap().verify(&public, b"x"), Ok(()));
    }

    #[test]
    fn signatures_are_verified_and_keys_are_read_again() {
        let key = SigningKey::generate().unwrap();
        let again = SigningKey::read(&key.text().unwrap()).unwrap();
        let public = key.public().unwrap();
        assert_eq!(again.public().unwrap(), public);
        for comment in ["greet 1.0.0", "greet 1.0.0 "] {
            let signature = again.sign(b"bytes", comment).unwrap();
            assert_eq!((signature.verify(&public, b"bytes"), signature.comment()), (Ok(()), "greet 1.0.0"));
        }
        let error = key.sign(b"bytes", "two\nlines").unwrap_err();
        assert!(matches!(error, SignError::Comment(_)), "{error}");
        assert!(!format!("{key:?}").contains(key.text().unwrap().lines().last().unwrap()));
    }

    #[test]
    fn a_text_that_is_no_key_is_refused() {
        let text = SigningKey::generate().unwrap().text().unwrap();
        let (comment, key) = text.trim_end().split_once('\n').unwrap();
        let bytes = STANDARD.decode(key).unwrap();
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = bytes.clone();
            change(&mut bytes);
            SigningKey::read(&format!("{comment}\n{}\n", STANDARD.encode(bytes))).unwrap_err().to_string()
        };
        let other = NotASigningKey::Other.to_string();
        // Another seed, without and with the checksum.
        assert_eq!(with(&|bytes| bytes[70] ^= 1), other);
        assert_eq!(
            with(&|bytes| {
                bytes[70] ^= 1;
                bytes[CHECKSUM..].fill(0);
            }),
            other
        );
        assert_eq!(with(&|bytes| bytes.truncate(100)), other);
        assert_eq!(with(&|bytes| bytes[0] = b'X'), other);
        assert_eq!(with(&|bytes| bytes[2..4].copy_from_slice(b"Sc")), NotASigningKey::Encrypted.to_string());
        assert_eq!(SigningKey::read("").unwrap_err().to_string(), other);
    }
}
