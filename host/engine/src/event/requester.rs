//! Names of callers.

use std::{fmt, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest name, in characters.
const MAX_CHARS: usize = 128;

/// Name of the caller that has made a request, as the host has authenticated it: the name of a key, or a word with a colon before
/// the name of something else, such as `local:ada` or `schedule:default/nightly`. Names of keys have no colon.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Requester(Arc<str>);

impl Requester {
    /// Names a caller that the embedding program has authenticated. Control characters are left out, and a long name is cut.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let name: String = name.chars().filter(|c| !c.is_control()).take(MAX_CHARS).collect();
        Self(name.into())
    }

    /// Names the holder of a key. A key whose name could be mistaken for another kind of caller is shown as `key:NAME`.
    #[must_use]
    pub fn key(name: &str) -> Self {
        if name.contains(':') { Self::new(&format!("key:{name}")) } else { Self::new(name) }
    }

    /// Names a user of the machine that a command runs on, who has proved nothing to Phasm.
    #[must_use]
    pub fn local(user: &str) -> Self {
        Self::new(&format!("local:{user}"))
    }

    /// Names a schedule, which starts runs and cancels those that it replaces.
    #[must_use]
    pub fn schedule(namespace: &str, name: &str) -> Self {
        Self::new(&format!("schedule:{namespace}/{name}"))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name, shared.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.0
    }
}

impl fmt::Display for Requester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_cannot_be_called_as_another_kind_of_caller() {
        for name in ["local:ada", "schedule:default/nightly", "key:ada", ":"] {
            assert_eq!(Requester::key(name).as_str(), format!("key:{name}"));
        }
        assert_eq!(Requester::key("ada").as_str(), "ada");
        assert_eq!(Requester::local("ada").as_str(), "local:ada");
        assert_eq!(Requester::schedule("default", "nightly").as_str(), "schedule:default/nightly");
        assert_eq!(Requester::new("a\n\u{1b}b").as_str(), "ab");
        assert_eq!(Requester::new(&"é".repeat(1000)).as_str().chars().count(), MAX_CHARS);
    }
}
