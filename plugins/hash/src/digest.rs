//! The functions that make digests.

use hmac::{Hmac, KeyInit as _, Mac as _};
use md5::Md5;
use phasm_sdk::prelude::*;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

inputs! {
    /// Function that makes a digest.
    #[derive(Clone, Copy)]
    pub enum Algorithm {
        /// SHA-2 with 256 bits.
        Sha256 = "sha-256",
        /// SHA-2 with 512 bits.
        Sha512 = "sha-512",
        /// SHA-1, for checksums of others: its collisions are known.
        Sha1 = "sha-1",
        /// MD5, for checksums of others: its collisions are known.
        Md5 = "md5",
        /// BLAKE3 with 256 bits.
        Blake3 = "blake3",
    }
}

impl Algorithm {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha-256",
            Self::Sha512 => "sha-512",
            Self::Sha1 => "sha-1",
            Self::Md5 => "md5",
            Self::Blake3 => "blake3",
        }
    }

    /// Returns the size of a digest in bytes.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Sha256 | Self::Blake3 => 32,
            Self::Sha512 => 64,
            Self::Sha1 => 20,
            Self::Md5 => 16,
        }
    }

    /// Returns the digest, or the HMAC if there is a key.
    pub(crate) fn digest(self, content: &[u8], key: Option<&[u8]>) -> Result<Vec<u8>> {
        let Some(key) = key else {
            return Ok(match self {
                Self::Sha256 => Sha256::digest(content).to_vec(),
                Self::Sha512 => Sha512::digest(content).to_vec(),
                Self::Sha1 => Sha1::digest(content).to_vec(),
                Self::Md5 => Md5::digest(content).to_vec(),
                Self::Blake3 => blake3::hash(content).as_bytes().to_vec(),
            });
        };
        macro_rules! hmac {
            ($function:ty) => {{
                let mut mac = Hmac::<$function>::new_from_slice(key).or_error("input `key`")?;
                mac.update(content);
                Ok(mac.finalize().into_bytes().to_vec())
            }};
        }
        match self {
            Self::Sha256 => hmac!(Sha256),
            Self::Sha512 => hmac!(Sha512),
            Self::Sha1 => hmac!(Sha1),
            Self::Md5 => hmac!(Md5),
            Self::Blake3 => Err(Outcome::error("input `key`: there is no HMAC with `blake3`").kind("input")),
        }
    }
}
