//! Target of a request, as grants see it.

use super::path;
use crate::capability::hosts::name::{Host, parse_port, split_port};

/// Methods that are never granted: CONNECT would make the host a tunnel, TRACE and TRACK reveal headers.
const FORBIDDEN_METHODS: [&str; 3] = ["CONNECT", "TRACE", "TRACK"];

/// Methods that a grant without methods means. Others do what only a server's author knows, so a grant has to name them.
pub(super) const USUAL_METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Maximum length of a path in messages, in characters.
const MAX_SHOWN_PATH_CHARS: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) method: String,
    pub(super) secure: bool,
    pub(super) host: Host,
    pub(super) port: u16,
    /// Path without the query.
    pub(super) path: String,
}

impl Target {
    /// Parses the target of a request.
    ///
    /// # Errors
    /// The reason why the target is ambiguous.
    pub(super) fn new(method: &str, secure: bool, authority: &str, path: &str) -> Result<Self, String> {
        check_method(method)?;
        if authority.contains('@') {
            return Err("there is a user in its URL; credentials go into headers".to_owned());
        }
        let (host, port) = split_port(authority);
        let usual = if secure { 443 } else { 80 };
        let port = port.map_or(Some(usual), parse_port);
        let port = port.ok_or("its port is not a number from 1 to 65535")?;
        let host = Host::read(host).map_err(|why| format!("its host is invalid: {why}"))?;
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let path = if path.is_empty() { "/" } else { path };
        Ok(Self { method: method.to_owned(), secure, host, port, path: path.to_owned() })
    }

    /// Returns whether servers may read another path in it.
    pub(super) fn is_ambiguous(&self) -> bool {
        path::is_ambiguous(&self.path)
    }

    /// Returns whether the method is one that a grant without methods means.
    pub(super) fn has_usual_method(&self) -> bool {
        USUAL_METHODS.contains(&self.method.as_str())
    }

    /// Returns the same target with a method that a header puts in place of the request's.
    ///
    /// # Errors
    /// The reason why no grant can have the method.
    pub(super) fn with_method(&self, method: &str) -> Result<Self, String> {
        check_method(method)?;
        Ok(Self { method: method.to_owned(), ..self.clone() })
    }

    /// Returns the value of the header `Host`.
    pub(super) fn authority(&self) -> String {
        let usual = if self.secure { 443 } else { 80 };
        if self.port == usual { self.host.to_string() } else { format!("{}:{}", self.host, self.port) }
    }

    fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }

    /// Formats the request for people: `GET https://api.example.com/v1/items`.
    pub(super) fn shown(&self) -> String {
        format!("{} {}", self.method, self.url())
    }

    /// Returns the URL.
    pub(super) fn url(&self) -> String {
        let visible = |c: &char| c.is_ascii_graphic();
        let path: String = self.path.chars().filter(visible).take(MAX_SHOWN_PATH_CHARS).collect();
        format!("{}://{}{path}", self.scheme(), self.authority())
    }

    /// Returns a narrow pattern that would grant the request.
    pub(super) fn pattern(&self) -> String {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"/-._~:@!$&'()+,;=%".contains(&b);
        let is_plain =
            self.path.len() <= MAX_SHOWN_PATH_CHARS && self.path.bytes().all(plain) && !self.is_ambiguous();
        let path = if is_plain { self.path.as_str() } else { "" };
        format!("{} {}://{}{path}", self.method, self.scheme(), self.authority())
    }

    #[cfg(test)]
    pub(super) fn of_url(method: &str, url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").unwrap();
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        Self::new(method, scheme == "https", authority, path)
    }
}

fn check_method(method: &str) -> Result<(), String> {
    if FORBIDDEN_METHODS.iter().any(|forbidden| forbidden.eq_ignore_ascii_case(method)) {
        return Err(format!("{} is never granted", method.to_ascii_uppercase()));
    }
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-') {
        let shown: String = method.chars().take(20).collect();
        return Err(format!(
            "`{}` is not an HTTP method; methods have capital letters",
            shown.escape_debug()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_targets_are_refused() {
        let rows = [
            ("https://user:pw@a.example/", "there is a user in its URL; credentials go into headers"),
            ("https://a.example@evil.example/", "there is a user in its URL; credentials go into headers"),
            ("https://a.example:0/", "its port is not a number from 1 to 65535"),
            ("https://a.example:/", "its port is not a number from 1 to 65535"),
            ("https://a.example:+80/", "its port is not a number from 1 to 65535"),
            ("https://a.example:99999/", "its port is not a number from 1 to 65535"),
            ("https://a.example:80:443/", "its host is invalid: it is not a name of a host"),
            ("https://a.example./", "its host is invalid: it ends with a dot; write it without"),
            (
                "https://2130706433/",
                "its host is invalid: it ends with a number and is not an IPv4 address of four decimal numbers",
            ),
            ("https:///", "its host is invalid: it is empty"),
        ];
        for (url, why) in rows {
            assert_eq!(Target::of_url("GET", url), Err(why.to_owned()), "{url}");
        }
        for method in FORBIDDEN_METHODS {
            assert_eq!(Target::of_url(method, "https://a"), Err(format!("{method} is never granted")));
        }
        assert_eq!(Target::of_url("trace", "https://a"), Err("TRACE is never granted".to_owned()));
        for method in ["get", "Get", "", "G:T", "GET1", "P\u{d6}ST"] {
            let why = Target::of_url(method, "https://a").unwrap_err();
            assert!(why.ends_with("is not an HTTP method; methods have capital letters"), "{method}: {why}");
        }
    }

    #[test]
    fn a_target_is_shown_without_its_query_and_granted_by_its_pattern() {
        let rows = [
            ("https://A.example:443/v1?token=x", "GET https://a.example/v1", "GET https://a.example/v1"),
            ("http://a.example:81", "GET http://a.example:81/", "GET http://a.example:81/"),
            ("https://a.example/a\"b", "GET https://a.example/a\"b", "GET https://a.example"),
            ("https://a.example/../b", "GET https://a.example/../b", "GET https://a.example"),
        ];
        for (url, shown, pattern) in rows {
            let target = Target::of_url("GET", url).unwrap();
            assert_eq!((target.shown().as_str(), target.pattern().as_str()), (shown, pattern));
            let pattern: super::super::HttpPattern = pattern.parse().unwrap();
            assert!(pattern.matches(&target), "{url}");
        }
    }
}
