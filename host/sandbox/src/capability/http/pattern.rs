//! Patterns in grants of HTTP, and the requests that they match.

use std::{fmt, str::FromStr};

use super::{
    path,
    target::{Target, USUAL_METHODS},
};
use crate::capability::hosts::{
    name::{Host, parse_port, split_port},
    pattern::HostPattern,
};

/// Pattern of granted requests: `GET,POST https://*.example.com:8443/v1/*`.
///
/// Without methods, GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS are granted; others must be named, and CONNECT, TRACE and TRACK
/// never are. `*.` before a name stands for one or more labels, `*` alone for any
/// host. Without a port, the scheme's default is granted; `:*` grants any. Without a path, any is granted; one that ends in `*`
/// grants all paths with that prefix, another exactly itself. The query is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpPattern {
    methods: Vec<String>,
    secure: bool,
    host: HostPattern,
    port: Option<u16>,
    path: PathPattern,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathPattern {
    Any,
    Exactly(String),
    Beginning(String),
}

/// A text that is no [`HttpPattern`], and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}; expected a pattern such as `https://api.example.com` or `GET,POST https://*.example.com:8443/v1/*`"
)]
pub struct NotAPattern(String);

impl HttpPattern {
    pub(super) fn matches(&self, target: &Target) -> bool {
        self.secure == target.secure
            && self.port.is_none_or(|port| port == target.port)
            && self.grants_method(target)
            && self.host.matches(&target.host)
            && self.path.matches(target)
    }

    fn grants_method(&self, target: &Target) -> bool {
        if self.methods.is_empty() {
            target.has_usual_method()
        } else {
            self.methods.contains(&target.method)
        }
    }

    /// Returns whether it matches every request that `other` matches.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let has = |method: &str| match self.methods.as_slice() {
            [] => USUAL_METHODS.contains(&method),
            own => own.iter().any(|own| own == method),
        };
        let methods = match other.methods.as_slice() {
            [] => self.methods.is_empty() || USUAL_METHODS.into_iter().all(has),
            named => named.iter().all(|method| has(method)),
        };
        self.secure == other.secure
            && methods
            && (self.port.is_none() || self.port == other.port)
            && self.host.covers(&other.host)
            && self.path.covers(&other.path)
    }

    /// Returns whether it names exactly this host.
    pub(super) fn names(&self, host: &Host) -> bool {
        self.host.names(host)
    }
}

impl PathPattern {
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Beginning(start), Self::Beginning(path) | Self::Exactly(path)) => path.starts_with(start),
            (Self::Exactly(own), Self::Exactly(path)) => own == path,
            _ => false,
        }
    }

    /// Returns whether the path matches. A path that servers may read in several ways matches no pattern but any.
    fn matches(&self, target: &Target) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(_) | Self::Beginning(_) if target.is_ambiguous() => false,
            Self::Exactly(own) => *own == path::normal(&target.path),
            Self::Beginning(start) => path::normal(&target.path).starts_with(start),
        }
    }
}

impl FromStr for HttpPattern {
    type Err = NotAPattern;

    fn from_str(text: &str) -> Result<Self, NotAPattern> {
        let wrong = |why: &str| NotAPattern(why.to_owned());
        let (methods, url) = match text.trim().split_once(' ') {
            Some((methods, url)) => {
                (methods.split(',').map(method_name).collect::<Result<_, _>>()?, url.trim())
            }
            None => (Vec::new(), text.trim()),
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong("it has no scheme"))?;
        let secure = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(wrong("its scheme is neither `https` nor `http`")),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if path.contains(['?', '#']) || authority.contains(['?', '#', '@']) {
            return Err(wrong("it has a query, a fragment or a user"));
        }
        let (host, port) = split_port(authority);
        let port = match port {
            None => Some(if secure { 443 } else { 80 }),
            Some("*") => None,
            Some(port) => {
                Some(parse_port(port).ok_or_else(|| wrong("its port is not a number from 1 to 65535"))?)
            }
        };
        let host = HostPattern::read(host).map_err(|why| NotAPattern(format!("its host: {why}")))?;
        Ok(Self { methods, secure, host, port, path: path_pattern(path)? })
    }
}

fn method_name(word: &str) -> Result<String, NotAPattern> {
    let is_word = !word.is_empty() && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
    if is_word {
        Ok(word.to_owned())
    } else {
        Err(NotAPattern(format!("`{word}` is not an HTTP method; methods have capital letters")))
    }
}

fn path_pattern(text: &str) -> Result<PathPattern, NotAPattern> {
    let path = text.strip_suffix('*').unwrap_or(text);
    if path.contains('*') {
        return Err(NotAPattern("`*` stands elsewhere than at the end of its path".to_owned()));
    }
    if path::is_ambiguous(path) || !path.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(NotAPattern("its path cannot be the path of a request".to_owned()));
    }
    Ok(match (text, path == text) {
        ("" | "/*", _) => PathPattern::Any,
        (_, true) => PathPattern::Exactly(path::normal(path)),
        (_, false) => PathPattern::Beginning(path::normal(path)),
    })
}

impl fmt::Display for HttpPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { methods, secure, host, port, path } = self;
        if !methods.is_empty() {
            write!(f, "{} ", methods.join(","))?;
        }
        f.write_str(if *secure { "https://" } else { "http://" })?;
        host.fmt(f)?;
        match port {
            None => f.write_str(":*")?,
            Some(443) if *secure => {}
            Some(80) if !*secure => {}
            Some(port) => write!(f, ":{port}")?,
        }
        match path {
            PathPattern::Any => Ok(()),
            PathPattern::Exactly(path) => f.write_str(path),
            PathPattern::Beginning(start) => write!(f, "{start}*"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, method: &str, url: &str) -> bool {
        let pattern: HttpPattern = pattern.parse().unwrap();
        Target::of_url(method, url).is_ok_and(|target| pattern.matches(&target))
    }

    #[test]
    fn a_pattern_means_what_it_says() {
        let rows = [
            ("https://a.example", "GET", "https://a.example/x?y", true),
            ("https://a.example", "DELETE", "https://A.EXAMPLE:443", true),
            ("https://a.example", "GET", "http://a.example/", false),
            ("https://a.example", "GET", "https://a.example:8443/", false),
            ("https://a.example", "GET", "https://b.example/", false),
            ("https://a.example", "GET", "https://a.example.evil.example/", false),
            ("https://a.example", "GET", "https://evil-a.example/", false),
            ("https://a.example:8443", "GET", "https://a.example:8443/", true),
            ("https://a.example:*", "GET", "https://a.example:1/", true),
            ("GET,POST https://a.example", "POST", "https://a.example/", true),
            ("GET,POST https://a.example", "PUT", "https://a.example/", false),
            ("https://*.a.example", "GET", "https://x.a.example/", true),
            ("https://*.a.example", "GET", "https://x.y.a.example/", true),
            ("https://*.a.example", "GET", "https://a.example/", false),
            ("https://*.a.example", "GET", "https://xa.example/", false),
            ("https://*", "GET", "https://anything.example/", true),
            ("http://127.0.0.1:81", "GET", "http://[::ffff:127.0.0.1]:81/", true),
            ("https://a.example/v1/*", "GET", "https://a.example/v1/x", true),
            ("https://a.example/v1/*", "GET", "https://a.example/v1", false),
            ("https://a.example/v1/*", "GET", "https://a.example/v2/", false),
            ("https://a.example/v1/*", "GET", "https://a.example/v1/../v2", false),
            ("https://a.example/v1/*", "GET", "https://a.example/v1/%2E%2e/v2", false),
            ("https://a.example/v1/*", "GET", "https://a.example/v1/..;x/v2", false),
            ("https://a.example/v1/*", "GET", "https://a.example/v1/..%2fv2", false),
            ("https://a.example/v1/*", "GET", "https://a.example/v1/..%5cv2", false),
            ("https://a.example/v1/*", "GET", "https://a.example//v1/x", false),
            ("https://a.example/v1", "GET", "https://a.example/v1?q=/../", true),
            ("https://a.example/v1", "GET", "https://a.example/v1/", false),
            ("https://a.example", "GET", "https://a.example/v1/../v2", true),
            ("https://a.example/v1/*", "GET", "https://a.example/%76%31/x", true),
            ("https://a.example/%7eme", "GET", "https://a.example/~me", true),
            ("https://a.example/~me/caf%c3%a9", "GET", "https://a.example/%7Eme/caf%C3%A9", true),
            ("https://a.example/v1/*", "GET", "https://a.example/v1/a%20b", true),
            ("https://a.example/v1/*", "GET", "https://a.example/v1/..%3b/v2", false),
            ("https://a.example/v1/*", "GET", "https://a.example/v1/..%20/v2", false),
            ("https://a.example/v1/*", "GET", "https://a.example/v1/%u002e%u002e/v2", false),
            ("https://a.example/v1/*", "GET", "https://a.example/v1/..%c0%afv2", false),
            ("https://a.example", "PATCH", "https://a.example/", true),
            ("https://a.example", "PROPFIND", "https://a.example/", false),
            ("https://a.example", "DEBUG", "https://a.example/", false),
            ("https://a.example", "get", "https://a.example/", false),
            ("PROPFIND https://a.example", "PROPFIND", "https://a.example/", true),
            ("TRACK https://a.example", "TRACK", "https://a.example/", false),
        ];
        for (pattern, method, url, expected) in rows {
            assert_eq!(matches(pattern, method, url), expected, "{pattern} {method} {url}");
        }
    }

    #[test]
    fn a_pattern_covers_what_it_means_and_narrower_ones() {
        let rows = [
            ("https://*", "GET https://a.example/x", true),
            ("https://a.example", "https://a.example", true),
            ("https://*.a.example", "https://*.b.a.example", true),
            ("https://*.b.a.example", "https://*.a.example", false),
            ("https://*.a.example", "https://a.example", false),
            ("https://*.a.example", "https://*", false),
            ("GET https://a.example", "https://a.example", false),
            ("GET,PUT https://a.example", "PUT https://a.example", true),
            ("https://a.example", "PROPFIND https://a.example", false),
            ("GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS https://a.example", "https://a.example", true),
            ("https://a.example/%7Ex*", "https://a.example/~x/y", true),
            ("https://a.example:*", "https://a.example:81", true),
            ("https://a.example", "https://a.example:*", false),
            ("https://a.example/x*", "https://a.example/xy*", true),
            ("https://a.example/xy*", "https://a.example/x*", false),
            ("https://a.example/x", "https://a.example", false),
            ("http://a.example", "https://a.example", false),
        ];
        for (pattern, other, expected) in rows {
            let read = |text: &str| text.parse::<HttpPattern>().unwrap();
            assert_eq!(read(pattern).covers(&read(other)), expected, "{pattern} {other}");
        }
    }

    #[test]
    fn an_invalid_pattern_is_explained() {
        let rows = [
            ("a.example", "it has no scheme"),
            ("ftp://a", "its scheme is neither `https` nor `http`"),
            ("get https://a", "`get` is not an HTTP method; methods have capital letters"),
            ("https://u@a", "it has a query, a fragment or a user"),
            ("https://a/?x", "it has a query, a fragment or a user"),
            ("https://a:0", "its port is not a number from 1 to 65535"),
            ("https://a:65536", "its port is not a number from 1 to 65535"),
            ("https://", "its host: it is empty"),
            ("https://*a.example", "its host: `*` stands for whole labels, as in `*.example.com`"),
            (
                "https://bücher.example",
                "its host: it has characters beyond ASCII; write its punycode form, `xn--…`",
            ),
            (
                "http://*.0.0.1",
                "its host: it ends with a number and is not an IPv4 address of four decimal numbers",
            ),
            ("https://a/*/b", "`*` stands elsewhere than at the end of its path"),
            ("https://a/../b", "its path cannot be the path of a request"),
        ];
        for (text, why) in rows {
            let refused = text.parse::<HttpPattern>().unwrap_err();
            assert_eq!(refused.0, why, "{text}");
        }
    }

    #[test]
    fn patterns_are_written_as_they_are_read() {
        for text in [
            "https://a.example",
            "GET,POST https://*.a.example:8443/v1/*",
            "http://*:*/x",
            "http://[::1]:81",
            "http://127.0.0.1",
        ] {
            assert_eq!(text.parse::<HttpPattern>().unwrap().to_string(), text);
        }
    }
}
