//! Accesses that were refused to a guest, for the operator who may want to grant them.

#[cfg(feature = "http")]
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::text::cut;

/// Number of refusals that are reported, and bytes of each.
const MAX_REFUSALS: usize = 4;
const MAX_REFUSAL_BYTES: usize = 400;
/// Refusals that a list keeps.
#[cfg(feature = "http")]
const MAX_LISTED_REFUSALS: usize = 3;

/// Grant whose lack says something about messages of files only.
pub(super) const DIRECTORIES: &str = "directories";
/// Beginning of a summary that names missing grants.
pub const MISSING_GRANT: &str = "not granted: ";

/// Words of messages about files, as libraries of several languages write them.
const FILE_WORDS: [&str; 10] = [
    "no such file",
    "file",
    "director",
    "folder",
    "path",
    "enoent",
    "notcapable",
    "bad descriptor",
    "os error 44",
    "os error 76",
];

fn is_about_files(message: &str) -> bool {
    let message = message.to_lowercase();
    FILE_WORDS.iter().any(|word| message.contains(word))
}

/// Refusals that one guest met; bounded, however much it asks for.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Refusals {
    grants: BTreeSet<Cow<'static, str>>,
    others: Vec<Box<str>>,
}

impl Refusals {
    /// Notes an access for which there is no grant.
    pub(super) fn add_missing_grant(&mut self, what: &'static str) {
        self.grants.insert(what.into());
    }

    /// Notes the reason of a refusal in spite of a grant. The first few are reported.
    pub(super) fn add(&mut self, why: impl FnOnce() -> String) {
        if self.others.len() < MAX_REFUSALS {
            let why = why();
            let why = cut(&why, MAX_REFUSAL_BYTES);
            if self.others.iter().all(|known| **known != *why) {
                self.others.push(why.into());
            }
        }
    }

    /// Bounds refusals that were received from an untrusted process: no more and no longer than those noted here.
    #[cfg(target_os = "linux")]
    pub(crate) fn bounded(self) -> Self {
        let mut bounded = Self::default();
        let grants = self.grants.iter().take(MAX_REFUSALS);
        bounded.grants.extend(grants.map(|what| cut(what, MAX_REFUSAL_BYTES).to_owned().into()));
        self.others.into_iter().for_each(|why| bounded.add(|| why.into()));
        bounded
    }

    /// Returns the refusals that may explain `message` as text; empty if there are none. A guest's library asks for its directories when
    /// it begins, whether or not it needs a file: that there are none is no explanation of a message about something else.
    pub(crate) fn summary(&self, message: &str) -> String {
        let is_cause = |what: &&str| *what != DIRECTORIES || message.is_empty() || is_about_files(message);
        let grants: Vec<&str> = self.grants.iter().map(|what| &**what).filter(is_cause).collect();
        let grants = (!grants.is_empty()).then(|| format!("{MISSING_GRANT}{}", grants.join(", ")));
        let others = (!self.others.is_empty()).then(|| format!("refused: {}", self.others.join("; ")));
        let parts: Vec<_> = [grants, others].into_iter().flatten().collect();
        parts.join("; ")
    }
}

/// Refusals that the requests and connections of an attempt meet, for its message: the first few, each once.
#[cfg(feature = "http")]
#[derive(Default)]
pub(super) struct RefusalList(Mutex<Vec<String>>);

#[cfg(feature = "http")]
impl RefusalList {
    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a refusal, and returns whether it is new. Each has a line in the log besides.
    pub(super) fn keep(&self, why: &str) -> bool {
        let mut refusals = self.lock();
        let is_news = refusals.len() < MAX_LISTED_REFUSALS && refusals.iter().all(|known| known != why);
        if is_news {
            refusals.push(why.to_owned());
        }
        is_news
    }

    /// Reports what was kept.
    pub(super) fn report(&self, refusals: &mut Refusals) {
        let own = self.lock().clone();
        own.into_iter().for_each(|why| refusals.add(|| why));
    }
}

/// Returns the line of a configuration that grants what was refused.
#[cfg(feature = "http")]
pub(super) fn advice(key: &str, entry: &str, plugin: &str) -> String {
    format!("`{key} = [\"{entry}\"]` under `[grants.{plugin}]` in the configuration (`--config`) grants it")
}

/// Adds a [summary](Refusals::summary) of refusals to `message`.
pub(crate) fn explain(message: Arc<str>, summary: &str) -> Arc<str> {
    let separator = if message.is_empty() { "" } else { "; " };
    if summary.is_empty() { message } else { format!("{message}{separator}{summary}").into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I3.
    #[test]
    fn refusals_are_listed_for_people() {
        let rows: [(&[&'static str], &[&str], &str, &str); 11] = [
            (&[], &[], "gone", "gone"),
            (&["directories"], &[], "", "not granted: directories"),
            (
                &["directories"],
                &[],
                "No such file or directory",
                "No such file or directory; not granted: directories",
            ),
            (&["directories"], &[], "os error 44", "os error 44; not granted: directories"),
            (&["directories"], &[], "connection refused", "connection refused"),
            (&["directories"], &["a pipe"], "gone", "gone; refused: a pipe"),
            (&["network", "directories"], &[], "gone", "gone; not granted: network"),
            (&["network", "network"], &[], "", "not granted: network"),
            (&["network", "directories"], &[], "no file", "no file; not granted: directories, network"),
            (&[], &["a pipe", "a pipe"], "gone", "gone; refused: a pipe"),
            (&["network"], &["1", "2", "3", "4", "5"], "", "not granted: network; refused: 1; 2; 3; 4"),
        ];
        for (grants, others, message, text) in rows {
            let mut refusals = Refusals::default();
            grants.iter().for_each(|grant| refusals.add_missing_grant(grant));
            others.iter().for_each(|why| refusals.add(|| (*why).to_owned()));
            assert_eq!(&*explain(message.into(), &refusals.summary(message)), text);
        }
        let mut long = Refusals::default();
        long.add(|| "x".repeat(1 << 20));
        assert!(long.summary("").len() < 500);
    }
}
