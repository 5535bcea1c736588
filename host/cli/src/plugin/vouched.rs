//! Who vouches for a component, as every command about plugins says it.

use phasm::{
    sandbox::Digest,
    trust::{PluginTrust, PublicKey, Signature, Signed},
};
use serde::Serialize;

use super::super::text;

/// Characters of what whoever signed says with it.
const LONGEST: usize = 200;

/// Who vouches for a component, as far as the keys of a configuration tell.
#[derive(Debug, Serialize)]
pub(super) struct Vouched {
    /// `good`, `none`, `unknown-key`, `wrong` or `unreadable`.
    state: &'static str,
    /// The key, if the configuration has it.
    key: Option<String>,
    /// Its number, which a signature names.
    number: Option<String>,
    /// What whoever signed says with it; nothing that was not checked.
    comment: Option<String>,
    /// Why it does not count.
    why: Option<String>,
}

impl Vouched {
    /// What was found, and the text that was looked at.
    pub(super) fn of(signed: Signed, text: Option<&str>) -> Self {
        let comment = || Some(text?.parse::<Signature>().ok()?.comment().to_owned());
        let nothing = |state| Self { state, key: None, number: None, comment: None, why: None };
        let of_key = |state, key: PublicKey| {
            let (key, number) = (Some(key.to_string()), Some(key.number()));
            Self { key, number, ..nothing(state) }
        };
        match signed {
            Signed::Not => nothing("none"),
            Signed::By(key) => Self { comment: comment(), ..of_key("good", key) },
            Signed::ByStranger(number) => Self { number: Some(number), ..nothing("unknown-key") },
            Signed::Wrong(key, why) => Self { why: Some(why), ..of_key("wrong", key) },
            Signed::Unreadable(why) => Self { why: Some(why), ..nothing("unreadable") },
        }
    }

    /// For people.
    pub(super) fn told(&self) -> String {
        let shown = |text: &Option<String>| text::clean(text.as_deref().unwrap_or_default()).into_owned();
        let (key, number, why) = (shown(&self.key), shown(&self.number), shown(&self.why));
        let comment = self.comment.as_deref().unwrap_or_default();
        match self.state {
            "good" => format!("signed by {key} ({number}), saying: {}", text::short(comment, LONGEST)),
            "unknown-key" => {
                format!("signed with a key of the number {number}, which no policy has: not checked")
            }
            "wrong" => format!("its signature by {key} ({number}) is wrong: {why}"),
            "unreadable" => format!("its signature cannot be read: {why}"),
            _ => "not signed".to_owned(),
        }
    }
}

/// Whether one policy takes a component.
#[derive(Debug, Serialize)]
pub(super) struct Judged {
    /// The table of the configuration that says it.
    policy: String,
    used: bool,
    why: Option<String>,
}

impl Judged {
    /// What every policy says that asks for anything.
    pub(super) fn by_all(trusts: &[PluginTrust], bytes: &[u8], text: Option<&str>) -> Vec<Self> {
        let digest = Digest::of(bytes);
        let judge = |trust: &PluginTrust| {
            let why = trust.judge(&digest, &trust.look(bytes, text)).err();
            Self { policy: trust.table(), used: why.is_none(), why }
        };
        trusts.iter().filter(|trust| !trust.is_empty()).map(judge).collect()
    }

    /// For people.
    pub(super) fn told(&self) -> String {
        match &self.why {
            None => format!("`{}` has it used", self.policy),
            Some(why) => format!("not used: {why}"),
        }
    }
}
