//! Patterns in grants of TCP.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::capability::hosts::{
    name::{Host, parse_port, split_port},
    pattern::HostPattern,
};

/// Pattern of granted connections: `db.internal:5432`.
///
/// `*.` before a name stands for one or more labels, `*` alone for any host. The port is a number, or `*` for any.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpPattern {
    host: HostPattern,
    port: Option<u16>,
}

/// A text that is no [`TcpPattern`], and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; expected a host and a port such as `db.internal:5432`, `*.example.com:443` or `10.0.0.7:5432`")]
pub struct NotATcpPattern(String);

impl TcpPattern {
    pub(super) fn matches(&self, host: &Host, port: u16) -> bool {
        self.port.is_none_or(|own| own == port) && self.host.matches(host)
    }

    /// Returns whether the host matches, at any port.
    pub(super) fn matches_host(&self, host: &Host) -> bool {
        self.host.matches(host)
    }

    /// Returns whether it names exactly this host.
    pub(super) fn names(&self, host: &Host) -> bool {
        self.host.names(host)
    }

    /// Returns whether it matches every connection that `other` matches.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        (self.port.is_none() || self.port == other.port) && self.host.covers(&other.host)
    }
}

impl FromStr for TcpPattern {
    type Err = NotATcpPattern;

    fn from_str(text: &str) -> Result<Self, NotATcpPattern> {
        let wrong = |why: &str| NotATcpPattern(why.to_owned());
        let text = text.trim();
        if text.contains("://") {
            return Err(wrong("it has a scheme"));
        }
        if text.contains('/') {
            return Err(wrong("it has a `/`; networks are granted by `tcp-networks`"));
        }
        if text.contains('@') {
            return Err(wrong("it has a user"));
        }
        if text.matches(':').count() > 1 && !text.starts_with('[') {
            return Err(wrong("an IPv6 address is written in brackets, as in `[fd00::7]:5432`"));
        }
        let (host, port) = split_port(text);
        let port = match port.ok_or_else(|| wrong("it has no port; `:*` stands for any"))? {
            "*" => None,
            port => Some(
                parse_port(port)
                    .ok_or_else(|| wrong("its port is neither a number from 1 to 65535 nor `*`"))?,
            ),
        };
        let host = HostPattern::read(host).map_err(|why| NotATcpPattern(format!("its host: {why}")))?;
        Ok(Self { host, port })
    }
}

impl fmt::Display for TcpPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => write!(f, "{}:*", self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-I140.
    #[test]
    fn a_pattern_means_what_it_says() {
        let rows = [
            ("db.internal:5432", "db.internal", 5432, true),
            ("DB.Internal:5432", "db.internal", 5432, true),
            ("db.internal:5432", "db.internal", 5433, false),
            ("db.internal:5432", "other.internal", 5432, false),
            ("db.internal:5432", "db.internal.evil.example", 5432, false),
            ("db.internal:*", "db.internal", 1, true),
            ("*.example.com:443", "a.example.com", 443, true),
            ("*.example.com:443", "a.b.example.com", 443, true),
            ("*.example.com:443", "example.com", 443, false),
            ("*.example.com:443", "evilexample.com", 443, false),
            ("*:443", "anything.example", 443, true),
            ("*:443", "8.8.8.8", 443, true),
            ("*.8:443", "8.8.8.8", 443, false),
            ("10.0.0.7:5432", "10.0.0.7", 5432, true),
            ("10.0.0.7:5432", "[::ffff:10.0.0.7]", 5432, true),
            ("[::ffff:10.0.0.7]:5432", "10.0.0.7", 5432, true),
            ("[fd00::7]:5432", "[fd00:0::7]", 5432, true),
            ("[fd00::7]:5432", "[fd00::8]", 5432, false),
        ];
        for (pattern, host, port, expected) in rows {
            let matches = pattern
                .parse::<TcpPattern>()
                .is_ok_and(|read| read.matches(&Host::read(host).unwrap(), port));
            assert_eq!(matches, expected, "{pattern} {host}:{port}");
        }
    }

    #[test]
    fn a_pattern_covers_what_it_means_and_narrower_ones() {
        let rows = [
            ("*:*", "a.example:1", true),
            ("*:1", "*:*", false),
            ("*.a.example:1", "*.b.a.example:1", true),
            ("*.a.example:1", "a.example:1", false),
            ("a.example:*", "a.example:1", true),
            ("a.example:1", "a.example:2", false),
            ("10.0.0.7:1", "10.0.0.7:1", true),
        ];
        for (pattern, other, expected) in rows {
            let read = |text: &str| text.parse::<TcpPattern>().unwrap();
            assert_eq!(read(pattern).covers(&read(other)), expected, "{pattern} {other}");
        }
    }

    #[test]
    fn an_invalid_pattern_is_explained() {
        let rows = [
            ("", "it has no port; `:*` stands for any"),
            ("db.internal", "it has no port; `:*` stands for any"),
            ("[::1]", "it has no port; `:*` stands for any"),
            ("db.internal:", "its port is neither a number from 1 to 65535 nor `*`"),
            ("db.internal:0", "its port is neither a number from 1 to 65535 nor `*`"),
            ("db.internal:65536", "its port is neither a number from 1 to 65535 nor `*`"),
            ("db.internal:1-9", "its port is neither a number from 1 to 65535 nor `*`"),
            ("tcp://db.internal:1", "it has a scheme"),
            ("10.0.0.0/8:1", "it has a `/`; networks are granted by `tcp-networks`"),
            ("me@db.internal:1", "it has a user"),
            ("fd00::7:5432", "an IPv6 address is written in brackets, as in `[fd00::7]:5432`"),
            (":5432", "its host: it is empty"),
            ("*db.internal:1", "its host: `*` stands for whole labels, as in `*.example.com`"),
            ("127.1:1", "its host: it ends with a number and is not an IPv4 address of four decimal numbers"),
        ];
        for (text, why) in rows {
            assert_eq!(text.parse::<TcpPattern>().unwrap_err().0, why, "{text}");
        }
    }

    #[test]
    fn patterns_are_written_as_they_are_read() {
        for text in ["db.internal:5432", "*.a.example:*", "*:443", "[::1]:81", "127.0.0.1:5432"] {
            assert_eq!(text.parse::<TcpPattern>().unwrap().to_string(), text);
        }
    }
}
