//! Words of other engines, or of everyday speech, and the names they stand for here.

use crate::suggest::did_you_mean;

/// Names that expressions cannot begin with, and what to write instead.
const FOR_ROOTS: [(&str, &str); 8] = [
    ("item", "the item of an iteration is `loop.item`"),
    ("dag", "how many children a container has, and in which phases, is in `children`"),
    (
        "attempt",
        "how often a task was tried again is `retries`; the attempt's number, from 1, is `_attempt` in pipelines",
    ),
    ("attempts", "how often a task was tried again is `retries`"),
    ("status", "what became of an attempt is its `phase`"),
    ("message", "the message of an attempt is `msg`"),
    ("steps", "the tasks of a dag or pipeline are `tasks`"),
    ("env", "the operator's values for expressions are `vars`"),
];

/// Members by what they are called elsewhere.
const FOR_MEMBERS: [(&str, &str); 12] = [
    ("attempt", "retries"),
    ("attempts", "retries"),
    ("status", "phase"),
    ("state", "phase"),
    ("message", "msg"),
    ("exitCode", "code"),
    ("result", "outputs"),
    ("count", "total"),
    ("i", "index"),
    ("approvedBy", "resumedBy"),
    ("by", "resumedBy"),
    ("startedBy", "submittedBy"),
];

/// Returns the text to write instead of `name`, with which no expression can begin.
pub(crate) fn instead_of_root(name: &str) -> Option<String> {
    FOR_ROOTS.iter().find(|(foreign, _)| *foreign == name).map(|(_, hint)| (*hint).to_owned())
}

/// Returns the text to write instead of `name`, which is none of `members`.
pub(crate) fn instead_of_member(name: &str, members: &[&'static str]) -> Option<String> {
    let meant = FOR_MEMBERS.iter().find(|(foreign, own)| *foreign == name && members.contains(own));
    match meant {
        Some((_, own)) => Some(format!("write `{own}`")),
        None => did_you_mean(name, members.iter().copied()),
    }
}
