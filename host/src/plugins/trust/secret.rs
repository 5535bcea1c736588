//! Secret keys without a password: the file alone is enough to sign.

use std::fmt;

use blake2::{Blake2b, Digest as _, digest::consts::U32};
use ring::{
    rand::{SecureRandom as _, SystemRandom},
    signature::{Ed25519KeyPair, KeyPair as _},
};

use super::{COMMENT, ED25519, ED25519_HASHED, PublicKey, Signature, decoded, encoded, part, signature};

/// Bytes of a secret key in a file.
const LENGTH: usize = 158;
/// Where in it the key's number, the key and its checksum begin.
const NUMBER: usize = 54;
const SEED: usize = 62;
const PUBLIC: usize = 94;
const CHECKSUM: usize = 126;

/// A secret key. Its holder can sign.
pub struct SecretKey {
    id: [u8; 8],
    seed: [u8; 32],
    pair: Ed25519KeyPair,
}

/// A text that is no [`SecretKey`] that can be used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotASecretKey {
    /// The key has a password.
    #[error("it has a password; minisign asks for it: `minisign -S -s KEY -m FILE`")]
    Encrypted,
    /// Not a secret key.
    #[error("it is not a minisign secret key")]
    Other,
    /// The system gives no random bytes.
    #[error("the system gives no random bytes")]
    NoRandomness,
}

impl SecretKey {
    /// Generates a key.
    ///
    /// # Errors
    /// [`NotASecretKey::NoRandomness`].
    pub fn generate() -> Result<Self, NotASecretKey> {
        let (mut id, mut seed) = ([0; 8], [0; 32]);
        let random = SystemRandom::new();
        let filled = random.fill(&mut id).and_then(|()| random.fill(&mut seed));
        filled.map_err(|_| NotASecretKey::NoRandomness)?;
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|_| NotASecretKey::Other)?;
        Ok(Self { id, seed, pair })
    }

    /// The key in the text of a file.
    ///
    /// # Errors
    /// [`NotASecretKey`], and why.
    pub fn read(text: &str) -> Result<Self, NotASecretKey> {
        let line = text.lines().rfind(|line| !line.trim().is_empty()).ok_or(NotASecretKey::Other)?;
        let bytes: [u8; LENGTH] = decoded(line).ok_or(NotASecretKey::Other)?;
        match (part(&bytes, 0), part(&bytes, 2), part(&bytes, 4)) {
            (Some(ED25519), Some([0, 0]), Some([b'B', b'2'])) => {}
            (Some(ED25519), Some([b'S', b'c']), _) => return Err(NotASecretKey::Encrypted),
            _ => return Err(NotASecretKey::Other),
        }
        let other = NotASecretKey::Other;
        let (id, seed) = (part(&bytes, NUMBER).ok_or(other)?, part::<32>(&bytes, SEED).ok_or(other)?);
        let public: [u8; 32] = part(&bytes, PUBLIC).ok_or(other)?;
        let pair = Ed25519KeyPair::from_seed_and_public_key(&seed, &public).map_err(|_| other)?;
        let key = Self { id, seed, pair };
        // minisign leaves the checksum out of keys without a password.
        let checksum = part(&bytes, CHECKSUM).filter(|checksum| *checksum != [0; 32]);
        if checksum.is_none_or(|checksum| checksum == key.checksum()) { Ok(key) } else { Err(other) }
    }

    /// The text of its file.
    #[must_use]
    pub fn text(&self) -> String {
        let nothing = [0; 48];
        let parts: [&[u8]; 8] = [
            &ED25519,
            &[0, 0],
            b"B2",
            &nothing,
            &self.id,
            &self.seed,
            self.pair.public_key().as_ref(),
            &self.checksum(),
        ];
        format!(
            "{COMMENT}secret key {}, for `phasm plugin sign`\n{}\n",
            super::number(self.id),
            encoded(&parts.concat())
        )
    }

    /// The public key that verifies its signatures.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        let key = part(self.pair.public_key().as_ref(), 0).unwrap_or_default();
        PublicKey { id: self.id, key }
    }

    /// Signs `bytes`, with a comment of one line.
    ///
    /// # Errors
    /// [`NotASignature`](super::NotASignature) if the comment has invisible characters, or is too long.
    pub fn sign(&self, bytes: &[u8], comment: &str) -> Result<Signature, super::NotASignature> {
        let hash = signature::hash(bytes).unwrap_or([0; 64]);
        let signed = self.pair.sign(&hash);
        let whole = self.pair.sign(&[signed.as_ref(), comment.as_bytes()].concat());
        let first = encoded(&[&ED25519_HASHED, self.id.as_slice(), signed.as_ref()].concat());
        let whole = encoded(whole.as_ref());
        format!("{COMMENT}signature of a plugin for Phasm\n{first}\ntrusted comment: {comment}\n{whole}\n")
            .parse()
    }

    fn checksum(&self) -> [u8; 32] {
        let mut hash = Blake2b::<U32>::new();
        let parts: [&[u8]; 4] = [&ED25519, &self.id, &self.seed, self.pair.public_key().as_ref()];
        parts.iter().for_each(|part| hash.update(part));
        hash.finalize().into()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({}, …)", super::number(self.id))
    }
}
