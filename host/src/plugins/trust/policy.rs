//! Trust policies.

use std::{collections::BTreeSet, sync::Arc};

use super::{PublicKey, Signature};
use phasm_sandbox::Digest;

/// A policy: the keys that are trusted, and whether a signature is required.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Whether one of the keys has to vouch for a plugin; otherwise only signatures that pretend to be theirs are refused.
    pub require_signature: bool,
    /// Trusted keys.
    pub keys: Vec<PublicKey>,
}

/// A policy in force, for all runs or those of one tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginTrust {
    /// The policy.
    pub policy: Policy,
    /// The tenant that has this policy; none for the common one.
    pub tenant: Option<Arc<str>>,
    /// Components that need no signature, such as embedded ones.
    pub exempt: BTreeSet<Digest>,
}

/// The result of a signature check with the keys of a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SignatureCheck {
    /// There is no signature.
    #[default]
    Not,
    /// This key's owner.
    By(PublicKey),
    /// Signed by a key that the policy does not have, given by its number.
    ByStranger(String),
    /// Not a signature by this key, although it claims to be one.
    Wrong(PublicKey, String),
    /// The file next to the component is not a signature.
    Unreadable(String),
}

impl From<Policy> for PluginTrust {
    fn from(policy: Policy) -> Self {
        Self { policy, ..Self::default() }
    }
}

impl PluginTrust {
    /// Returns true if plugins need no signature.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.policy.require_signature && self.policy.keys.is_empty()
    }

    /// Checks a text that may be a signature of these bytes.
    #[must_use]
    pub fn look(&self, bytes: &[u8], text: Option<&str>) -> SignatureCheck {
        let Some(text) = text else { return SignatureCheck::Not };
        let signature: Signature = match text.parse() {
            Ok(signature) => signature,
            Err(error) => return SignatureCheck::Unreadable(error.to_string()),
        };
        match self.policy.keys.iter().find(|key| signature.is_made_with(key)) {
            None => SignatureCheck::ByStranger(signature.key_number()),
            Some(key) => match signature.verify(key, bytes) {
                Ok(()) => SignatureCheck::By(*key),
                Err(why) => SignatureCheck::Wrong(*key, why.to_string()),
            },
        }
    }

    /// Whether a plugin may be used.
    ///
    /// # Errors
    /// The fault of the signature, the policy that requires one, and its keys.
    pub fn judge(&self, digest: &Digest, signed: &SignatureCheck) -> Result<(), String> {
        let required = self.policy.require_signature && !self.exempt.contains(digest);
        let fault = match signed {
            SignatureCheck::By(_) => return Ok(()),
            SignatureCheck::Wrong(key, why) => format!("its signature by {} is invalid: {why}", key.name()),
            _ if !required => return Ok(()),
            SignatureCheck::Not => "it is not signed".to_owned(),
            SignatureCheck::ByStranger(number) => {
                format!("it is signed with another key, of the number {number}")
            }
            SignatureCheck::Unreadable(why) => format!("its signature cannot be read: {why}"),
        };
        Err(format!(
            "{fault}; `{}` of the configuration requires a signature by {}",
            self.table(),
            listed(&self.policy.keys)
        ))
    }

    /// The table of the configuration that says it.
    #[must_use]
    pub fn table(&self) -> String {
        match &self.tenant {
            Some(tenant) => format!("[tenants.{tenant}.trust]"),
            None => "[trust]".to_owned(),
        }
    }
}

fn listed(keys: &[PublicKey]) -> String {
    match keys {
        [] => "a trusted key, and names none (`keys`)".to_owned(),
        keys => keys.iter().map(PublicKey::name).collect::<Vec<_>>().join(" or "),
    }
}

#[cfg(test)]
mod tests {
    use minisign::KeyPair;

    use super::*;

    fn public(key: &KeyPair) -> PublicKey {
        key.pk.to_base64().parse().unwrap()
    }

    fn trust(require_signature: bool, key: &KeyPair) -> PluginTrust {
        PluginTrust {
            exempt: BTreeSet::from([Digest::of(b"carried")]),
            ..Policy { require_signature, keys: vec![public(key)] }.into()
        }
    }

    /// R-I35.
    #[test]
    fn a_policy_takes_what_its_keys_vouch_for_and_says_why_not() {
        let [ours, theirs] = [0, 1].map(|_| KeyPair::generate_unencrypted_keypair().unwrap());
        let bytes = b"a component";
        let digest = Digest::of(bytes);
        let (strict, lax) = (trust(true, &ours), trust(false, &ours));
        let by = |key: &KeyPair, bytes: &[u8]| {
            minisign::sign(Some(&key.pk), &key.sk, bytes, Some("x"), None).unwrap().to_string()
        };
        let judge = |trust: &PluginTrust, text: Option<&str>| trust.judge(&digest, &trust.look(bytes, text));
        let good = by(&ours, bytes);
        assert_eq!(
            [judge(&strict, Some(&good)), judge(&lax, Some(&good)), judge(&lax, None)],
            [Ok(()), Ok(()), Ok(())]
        );
        let asks =
            format!("; `[trust]` of the configuration requires a signature by {}", public(&ours).name());
        assert_eq!(judge(&strict, None), Err(format!("it is not signed{asks}")));
        let other =
            format!("it is signed with another key, of the number {}{asks}", public(&theirs).number());
        assert_eq!(judge(&strict, Some(&by(&theirs, bytes))), Err(other));
        let wrong = by(&ours, b"another component");
        let is_wrong =
            format!("its signature by {} is invalid: signature does not match{asks}", public(&ours).name());
        assert_eq!(judge(&strict, Some(&wrong)), Err(is_wrong));
        assert!(judge(&lax, Some(&wrong)).is_err(), "what pretends to be a trusted key's is refused anyway");
        assert!(judge(&strict, Some("junk")).unwrap_err().starts_with("its signature cannot be read: "));
        assert_eq!(judge(&lax, Some("junk")), Ok(()));
        assert_eq!(strict.judge(&Digest::of(b"carried"), &SignatureCheck::Not), Ok(()));
        let acme = PluginTrust { tenant: Some("acme".into()), ..strict.clone() };
        assert!(judge(&acme, None).unwrap_err().contains("`[tenants.acme.trust]` of the configuration"));
        assert!(PluginTrust::default().is_empty() && !strict.is_empty() && !lax.is_empty());
    }
}
