//! Requests of a plugin for grants. A request grants nothing.

use std::{collections::BTreeMap, fmt::Display, str::FromStr};

use serde::{Deserialize, Serialize};

use super::grant_record;
use phasm_sandbox::{DirGrant, Grants, HttpGrant, HttpPattern, Network, TcpGrant, TcpPattern, WallClock};

/// The grants that a plugin asks for, written as in `[grants.NAME]`. The operator decides about them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct GrantRequests {
    /// Directories, as the plugin sees them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dirs: Vec<DirRequest>,
    /// Whether it reads and writes artifacts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub artifacts: bool,
    /// Names of variables of its environment.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Requests, as patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<String>,
    /// Addresses inside of networks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub http_networks: Vec<String>,
    /// TCP connections, as patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tcp: Vec<String>,
    /// Addresses inside of networks that connections go to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tcp_networks: Vec<String>,
    /// Whether it needs the host's time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_clock: Option<ClockRequest>,
}

/// A directory that a plugin asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirRequest {
    /// The path that it sees.
    pub guest: String,
    /// Whether it writes there, too.
    #[serde(default)]
    pub mode: DirAccess,
}

/// How a directory is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DirAccess {
    /// Reading only.
    #[default]
    Ro,
    /// Reading and writing.
    Rw,
}

/// The clock that a plugin asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClockRequest {
    /// The host's.
    Real,
}

/// The most of each kind that is looked at.
const MAX_REQUESTS: usize = 256;

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A key of TOML, in quotes where it needs them.
fn key(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { quoted(text) }
}

impl GrantRequests {
    /// Whether it asks for nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the requests that are not granted, each in a few words.
    #[must_use]
    pub fn lacking(&self, granted: &Grants) -> Vec<String> {
        let lacking = grant_record::lacking(&grant_record::described(&self.grants()), granted);
        lacking.into_iter().map(|(what, _)| what).collect()
    }

    /// Returns the requests that `other` does not contain, each in a few words.
    #[must_use]
    pub fn beyond(&self, other: &Self) -> Vec<String> {
        self.lacking(&other.grants())
    }

    /// Lines of a configuration that grant the requests to the plugin of that name. Paths on the host and values of variables are
    /// left open.
    #[must_use]
    pub fn lines(&self, name: &str) -> String {
        let members = self.members().into_iter().map(|line| line + "\n");
        format!("[grants.{}]\n{}", key(name), members.collect::<String>())
    }

    /// Says in a sentence which lines of a configuration grant what the plugin of that name asks for and lacks; none if it lacks nothing.
    #[must_use]
    pub fn advice(&self, name: &str, granted: &Grants) -> Option<String> {
        if self.lacking(granted).is_empty() {
            return None;
        }
        let lines: Vec<_> = self.members().iter().map(|line| format!("`{line}`")).collect();
        Some(format!(
            "{} under `[grants.{}]` in the configuration (`--config`) grants these permissions",
            lines.join(" and "),
            key(name)
        ))
    }

    /// Says in a sentence which line of a configuration grants a directory to the plugin of that name.
    pub(super) fn directory_advice(name: &str) -> String {
        let line = "dirs = [{ host = \"WHERE\", guest = \"/data\", mode = \"ro\" }]";
        format!(
            "`{line}` under `[grants.{}]` in the configuration (`--config`) grants a directory, which the plugin sees as `/data`",
            key(name)
        )
    }

    /// Says in a sentence which line of a configuration grants artifacts to the plugin of that name.
    pub(super) fn artifact_advice(name: &str) -> String {
        format!(
            "`artifacts = true` under `[grants.{}]` in the configuration (`--config`) grants `/artifacts/in` and `/artifacts/out`",
            key(name)
        )
    }

    /// Each line of a configuration that grants some of it.
    fn members(&self) -> Vec<String> {
        let list = |items: Vec<String>| items.join(", ");
        let texts = |texts: &[String]| list(texts.iter().map(|text| quoted(text)).collect());
        let dirs = self.dirs.iter().map(|dir| {
            let mode = if dir.mode == DirAccess::Rw { "rw" } else { "ro" };
            format!("{{ host = \"WHERE\", guest = {}, mode = \"{mode}\" }}", quoted(&dir.guest))
        });
        let env = self.env.iter().map(|name| format!("{} = \"WHAT\"", key(name)));
        let members = [
            ("dirs", list(dirs.collect()), ["[", "]"]),
            ("artifacts", if self.artifacts { "true".to_owned() } else { String::new() }, ["", ""]),
            ("env", list(env.collect()), ["{ ", " }"]),
            ("http", texts(&self.http), ["[", "]"]),
            ("http-networks", texts(&self.http_networks), ["[", "]"]),
            ("tcp", texts(&self.tcp), ["[", "]"]),
            ("tcp-networks", texts(&self.tcp_networks), ["[", "]"]),
            ("wall-clock", self.wall_clock.map_or_else(String::new, |_| quoted("real")), ["", ""]),
        ];
        let there = members.into_iter().filter(|(_, value, _)| !value.is_empty());
        there.map(|(member, value, [open, close])| format!("{member} = {open}{value}{close}")).collect()
    }

    /// Every fault at once.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut faults = Vec::new();
        faults.extend(unreadable::<HttpPattern>("http", &self.http));
        faults.extend(unreadable::<Network>("http-networks", &self.http_networks));
        faults.extend(unreadable::<TcpPattern>("tcp", &self.tcp));
        faults.extend(unreadable::<Network>("tcp-networks", &self.tcp_networks));
        let dirs = self.dirs.iter().filter(|dir| !dir.guest.starts_with('/') || !is_plain(&dir.guest));
        faults.extend(
            dirs.map(|dir| {
                format!("wants.dirs: found guest {:?}; expected a path such as `/data`", dir.guest)
            }),
        );
        let env = self.env.iter().filter(|name| name.is_empty() || name.contains('=') || !is_plain(name));
        faults.extend(env.map(|name| format!("wants.env: found {name:?}; expected a variable's name")));
        let counts = [
            self.http.len(),
            self.http_networks.len(),
            self.tcp.len(),
            self.tcp_networks.len(),
            self.dirs.len(),
            self.env.len(),
        ];
        if counts.iter().any(|count| *count > MAX_REQUESTS) {
            faults.push(format!("wants: more than {MAX_REQUESTS} of one kind"));
        }
        if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
    }

    /// The grants that fulfil every request. Invalid patterns were refused before.
    fn grants(&self) -> Grants {
        let dir = |dir: &DirRequest| DirGrant {
            read_only: dir.mode == DirAccess::Ro,
            ..DirGrant::read_only("", dir.guest.as_str())
        };
        let http = HttpGrant { allow: readable(&self.http), networks: readable(&self.http_networks) };
        let tcp = TcpGrant { allow: readable(&self.tcp), networks: readable(&self.tcp_networks) };
        Grants {
            dirs: self.dirs.iter().map(dir).collect(),
            artifacts: self.artifacts,
            env: self.env.iter().map(|name| (name.clone(), String::new())).collect::<BTreeMap<_, _>>(),
            http,
            tcp,
            wall_clock: if self.wall_clock.is_some() { WallClock::Real } else { WallClock::default() },
            ..Grants::default()
        }
    }
}

/// Returns the faults of the texts that are none of the kind.
fn unreadable<T: FromStr<Err: Display>>(key: &str, texts: &[String]) -> Vec<String> {
    let faults = texts.iter().filter_map(|text| Some((text, text.parse::<T>().err()?)));
    faults.map(|(text, why)| format!("wants.{key}: found {text:?}: {why}")).collect()
}

fn readable<T: FromStr>(texts: &[String]) -> Vec<T> {
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

fn is_plain(text: &str) -> bool {
    !text.contains(phasm_engine::text::is_hidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(text: &str) -> GrantRequests {
        toml::from_str(text).unwrap()
    }

    /// R-I33.
    #[test]
    fn what_more_is_asked_for_is_said_in_words() {
        let old = wants("http = ['GET https://a.example/v1/*']\ndirs = [{ guest = '/data' }]");
        let new = wants(
            "http = ['https://a.example', 'GET https://a.example/v1/x']\nenv = ['TOKEN']\nwall-clock = 'real'\n\
             tcp = ['db.internal:5432']\ntcp-networks = ['10.0.0.7']\n\
             dirs = [{ guest = '/data', mode = 'rw' }, { guest = '/out' }]",
        );
        let more = [
            "writing to the directory /data",
            "the directory /out",
            "the environment variable TOKEN",
            "requests of https://a.example",
            "TCP connections to db.internal:5432",
            "TCP connections to addresses of 10.0.0.7",
            "the wall clock",
        ];
        assert_eq!(new.beyond(&old), more);
        assert_eq!(old.beyond(&new), Vec::<String>::new());
        assert_eq!(new.beyond(&new), Vec::<String>::new());
        assert_eq!(GrantRequests::default().beyond(&old), Vec::<String>::new());
    }

    #[test]
    fn what_is_asked_for_can_be_pasted() {
        let all = wants(
            "http = ['https://a.example']\nhttp-networks = ['10.0.0.0/8']\ntcp = ['a.example:1']\ntcp-networks = ['10.0.0.0/8']\nenv = ['TOKEN']\nwall-clock = 'real'\n\
             dirs = [{ guest = '/da\"ta', mode = 'rw' }]",
        );
        let lines = all.lines("a.b").replace("WHERE", ".");
        let config = crate::config::Config::parse(&lines, std::path::Path::new("."));
        let granted = config.unwrap().grants.remove("a.b").unwrap();
        assert_eq!(all.lacking(&granted), Vec::<String>::new());
        assert!(!all.lacking(&Grants::default()).is_empty());
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let error =
            wants("http = ['a.example']\nhttp-networks = ['x']\nenv = ['A=B']\ndirs = [{ guest = 'data' }]\ntcp = ['b.example']\ntcp-networks = ['y']")
                .check()
                .unwrap_err();
        for says in [
            "wants.http: found \"a.example\": it has no scheme",
            "wants.http-networks",
            "wants.tcp: found \"b.example\": it has no port",
            "wants.tcp-networks",
            "wants.env",
            "wants.dirs",
        ] {
            assert!(error.contains(says), "{error}");
        }
        assert!(toml::from_str::<GrantRequests>("sockets = true").is_err());
    }
}
