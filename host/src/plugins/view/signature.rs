//! Signatures of a component, and the policies that require them.

use phasm_sandbox::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plugins::trust::{PluginTrust, PublicKey, Signature, SignatureCheck};

/// The signature of a component, checked with the keys of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Signature")]
pub struct SignatureStatus {
    /// `good`, `none`, `unknown-key`, `wrong` or `unreadable`.
    #[schemars(extend("enum" = ["good", "none", "unknown-key", "wrong", "unreadable"]))]
    pub state: String,
    /// The key, if it is in the configuration.
    pub key: Option<String>,
    /// Its number, which a signature names.
    pub number: Option<String>,
    /// The signer's comment; only from a signature that was verified.
    pub comment: Option<String>,
    /// Why it does not count.
    pub why: Option<String>,
}

impl SignatureStatus {
    /// The result of a check, with the text that was checked.
    #[must_use]
    pub fn of(check: SignatureCheck, text: Option<&str>) -> Self {
        let comment = || Some(text?.parse::<Signature>().ok()?.comment().to_owned());
        let nothing =
            |state: &str| Self { state: state.to_owned(), key: None, number: None, comment: None, why: None };
        let of_key = |state, key: PublicKey| {
            let (key, number) = (Some(key.to_string()), Some(key.number()));
            Self { key, number, ..nothing(state) }
        };
        match check {
            SignatureCheck::Not => nothing("none"),
            SignatureCheck::By(key) => Self { comment: comment(), ..of_key("good", key) },
            SignatureCheck::ByStranger(number) => Self { number: Some(number), ..nothing("unknown-key") },
            SignatureCheck::Wrong(key, why) => Self { why: Some(why), ..of_key("wrong", key) },
            SignatureCheck::Unreadable(why) => Self { why: Some(why), ..nothing("unreadable") },
        }
    }
}

/// The verdict of one policy on a component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyVerdict {
    /// The table of the configuration that says it.
    pub policy: String,
    /// Whether it is used.
    pub used: bool,
    /// Why not.
    pub why: Option<String>,
}

impl PolicyVerdict {
    /// The results for every policy that requires anything.
    #[must_use]
    pub fn by_all(trusts: &[PluginTrust], bytes: &[u8], text: Option<&str>) -> Vec<Self> {
        let digest = Digest::of(bytes);
        let judge = |trust: &PluginTrust| {
            let why = trust.judge(&digest, &trust.look(bytes, text)).err();
            Self { policy: trust.table(), used: why.is_none(), why }
        };
        trusts.iter().filter(|trust| !trust.is_empty()).map(judge).collect()
    }
}
