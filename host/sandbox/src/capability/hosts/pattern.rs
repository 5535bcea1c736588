//! Patterns of hosts in grants.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::name::{Host, check_name};

/// Pattern of a host: a name or an address, `*.` before a name for the names below it, or `*` for any host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::capability) enum HostPattern {
    Any,
    /// All names with this suffix, which starts with a dot.
    Below(String),
    Exactly(Host),
}

impl HostPattern {
    /// Returns whether it matches every host that `other` matches.
    pub(in crate::capability) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Below(end), Self::Below(other)) => other.ends_with(end),
            (_, Self::Exactly(host)) => self.matches(host),
            _ => false,
        }
    }

    pub(in crate::capability) fn matches(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::Any, _) => true,
            (Self::Below(end), Host::Name(name)) => name.len() > end.len() && name.ends_with(end),
            (Self::Below(_), Host::Address(_)) => false,
            (Self::Exactly(own), host) => own == host,
        }
    }

    /// Returns whether it names exactly this host.
    pub(in crate::capability) fn names(&self, host: &Host) -> bool {
        matches!(self, Self::Exactly(own) if own == host)
    }

    /// Parses a pattern.
    ///
    /// # Errors
    /// The reason why the text is none.
    pub(in crate::capability) fn read(text: &str) -> Result<Self, &'static str> {
        match text.strip_prefix('*') {
            Some("") => Ok(Self::Any),
            Some(below) => {
                let name =
                    below.strip_prefix('.').ok_or("`*` stands for whole labels, as in `*.example.com`")?;
                let name = name.to_ascii_lowercase();
                check_name(&name)?;
                Ok(Self::Below(format!(".{name}")))
            }
            None => Host::read(text).map(Self::Exactly),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Below(end) => write!(f, "*{end}"),
            Self::Exactly(host) => host.fmt(f),
        }
    }
}
