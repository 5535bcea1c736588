//! Descriptions of signatures of components.

use phasm::plugins::{PolicyVerdict, SignatureStatus};

use crate::terminal::text;

/// Maximum number of characters of a signer's comment that are shown.
const MAX_COMMENT_CHARS: usize = 200;

/// Returns the signers, as a text.
pub(super) fn told(vouched: &SignatureStatus) -> String {
    let shown = |text: &Option<String>| text::clean(text.as_deref().unwrap_or_default()).into_owned();
    let (key, number, why) = (shown(&vouched.key), shown(&vouched.number), shown(&vouched.why));
    let comment = vouched.comment.as_deref().unwrap_or_default();
    match vouched.state.as_str() {
        "good" => format!("signed by {key} ({number}), saying: {}", text::short(comment, MAX_COMMENT_CHARS)),
        "unknown-key" => {
            format!("signed with the key {number}, which is in no policy: not checked")
        }
        "wrong" => format!("its signature by {key} ({number}) is wrong: {why}"),
        "unreadable" => format!("its signature cannot be read: {why}"),
        _ => "not signed".to_owned(),
    }
}

/// Whether a policy takes it, for people.
pub(super) fn judged(judged: &PolicyVerdict) -> String {
    match &judged.why {
        None => format!("accepted by `{}`", judged.policy),
        Some(why) => format!("not used: {why}"),
    }
}
