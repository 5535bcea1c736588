//! Signatures as Standard Webhooks have them.

use std::{fmt, str::FromStr, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// Prefix by which a secret is recognised.
const PREFIX: &str = "whsec_";
/// Bytes of a secret.
const LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

/// A signing secret. Its `Debug` form hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(Arc<[u8]>);

/// A text that is no [`SigningSecret`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `whsec_` and 24 to 64 random bytes in base64")]
pub struct NotASigningSecret;

impl FromStr for SigningSecret {
    type Err = NotASigningSecret;

    fn from_str(text: &str) -> Result<Self, NotASigningSecret> {
        let bytes = text.strip_prefix(PREFIX).and_then(|text| STANDARD.decode(text).ok());
        let bytes = bytes.filter(|bytes| LENGTHS.contains(&bytes.len())).ok_or(NotASigningSecret)?;
        Ok(Self(bytes.into()))
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningSecret")
    }
}

#[cfg(feature = "http")]
impl SigningSecret {
    /// The signature of a message that is sent at that second.
    pub(crate) fn sign(&self, id: &str, seconds: i64, body: &str) -> String {
        use hmac::{Hmac, KeyInit as _, Mac as _};
        // A key may have any length.
        let Ok(mut mac) = Hmac::<sha2::Sha256>::new_from_slice(&self.0) else { return String::new() };
        mac.update(format!("{id}.{seconds}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-Y4: the example that the specification's libraries are tested with.
    #[cfg(feature = "http")]
    #[test]
    fn a_message_is_signed_as_the_standard_says() {
        let secret: SigningSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse().unwrap();
        let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_says_that_it_is_one() {
        for wrong in ["", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_c2hvcnQ=", "whsec_%%%"] {
            assert_eq!(wrong.parse::<SigningSecret>(), Err(NotASigningSecret), "{wrong}");
        }
        assert!(format!("whsec_{}", STANDARD.encode([7; 65])).parse::<SigningSecret>().is_err());
        let secret: SigningSecret = format!("whsec_{}", STANDARD.encode([7; 64])).parse().unwrap();
        assert_eq!(format!("{secret:?}"), "SigningSecret");
    }
}
