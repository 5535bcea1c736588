//! `[http]`: how guests that are granted hosts reach them.

use std::{collections::BTreeMap, net::IpAddr, str::FromStr, sync::Arc, time::Duration};

use phasm_engine::{
    form::{Cursor, Field, Form, Name, Object, Report, SIZE, TEXTS, TIMEOUT, Table, whole},
    problem::codes::Entry,
    time::Millis,
    tree::Key,
};
use phasm_files::read_trusted;
use serde_json::json;

use super::{ConfigSource, codes};
use phasm_sandbox::{HttpConfig, HttpLimits, HttpPattern, Network};

/// Size of the largest file with certificates, in bytes.
const MAX_ROOTS_BYTES: u64 = 16 << 20;

static TABLE: Table = Table::closed(
    "http",
    "HTTP requests of plugins that are granted `http`, and their limits. Sizes are bytes or text such as `64 MiB`.",
    &[
        &REQUESTS,
        &SENT,
        &RECEIVED,
        &HEADERS,
        &TIME,
        &CONNECTIONS,
        &PLUGIN_CONNECTIONS,
        &ALL_CONNECTIONS,
        &ROOTS,
        &HOSTS,
    ],
    &[],
);

const COUNT: Form<u32> = whole::<u32, 1, 1_000_000>();

static REQUESTS: Field<u32> = Field::optional("requests", COUNT, "Requests of an attempt.").or("100");
static SENT: Field<u64> =
    Field::optional("sent", SIZE, "Bytes that an attempt sends, headers included.").or("16 MiB");
static RECEIVED: Field<u64> =
    Field::optional("received", SIZE, "Bytes that an attempt receives, headers included.").or("64 MiB");
static HEADERS: Field<u64> = Field::optional("headers", SIZE, "The headers of one message.").or("64 KiB");
static TIME: Field<Millis> =
    Field::optional("time", TIMEOUT, "From the start of a request to the end of its response.").or("5m");
static CONNECTIONS: Field<u32> =
    Field::optional("connections", COUNT, "Connections of an attempt at once; one more is refused.").or("8");
static PLUGIN_CONNECTIONS: Field<u32> = Field::optional(
    "plugin-connections",
    COUNT,
    "Connections of a plugin at once, by HTTP and by TCP; one more waits.",
)
.or("64");
static ALL_CONNECTIONS: Field<u32> = Field::optional(
    "all-connections",
    COUNT,
    "Connections of all plugins at once, likewise; one more waits.",
)
.or("256");
static ROOTS: Field<Vec<Name>> = Field::optional(
    "roots",
    TEXTS,
    "Files with certificates in PEM, relative to this file, that are trusted in addition to the platform's.",
)
.or("[]");
static HOSTS: Field<Vec<(Name, Vec<Name>)>> =
    Field::optional("hosts", ADDRESSES, "Addresses by host name, used instead of DNS, for TCP as well.")
        .or("{}");

const ADDRESSES: Form<Vec<(Name, Vec<Name>)>> = Form::new(
    |cursor, report| {
        let members = cursor.each_member(report)?;
        let member = |(key, value): (&Key, Cursor<'_>)| {
            let name = Name { value: key.name.clone(), site: value.site() };
            Some((name, TEXTS.read(&value, report)?))
        };
        Some(members.filter_map(member).collect())
    },
    |_| json!({ "type": "object", "additionalProperties": { "type": "array", "items": { "type": "string" } } }),
);

/// `[http]` as written.
#[derive(Default)]
pub(super) struct Http {
    limits: HttpLimits,
    roots: Vec<Name>,
    hosts: Vec<(Name, Vec<Name>)>,
}

pub(super) const HTTP: Form<Http> =
    Form::new(|cursor, report| Some(Http::read(&cursor.object(&TABLE, report)?)), |defs| defs.object(&TABLE));

impl Http {
    fn read(object: &Object<'_, '_>) -> Self {
        let mut limits = HttpLimits::default();
        let sizes =
            [(&SENT, &mut limits.sent), (&RECEIVED, &mut limits.received), (&HEADERS, &mut limits.headers)];
        sizes.into_iter().for_each(|(field, limit)| replace(limit, object.optional(field)));
        let counts = [
            (&REQUESTS, &mut limits.requests),
            (&CONNECTIONS, &mut limits.connections),
            (&PLUGIN_CONNECTIONS, &mut limits.plugin_connections),
            (&ALL_CONNECTIONS, &mut limits.all_connections),
        ];
        counts.into_iter().for_each(|(field, limit)| replace(limit, object.optional(field)));
        replace(&mut limits.time, object.optional(&TIME).map(Duration::from_millis));
        Self { limits, roots: object.or_default(&ROOTS), hosts: object.or_default(&HOSTS) }
    }

    /// Returns the HTTP configuration, with the certificates that it names.
    pub(super) fn config(&self, around: &ConfigSource<'_>, report: &Report) -> HttpConfig {
        let address = |name: &Name| parsed::<IpAddr>(name, &codes::NO_NETWORK, report);
        let host = |(name, addresses): &(Name, Vec<Name>)| {
            (name.value.to_ascii_lowercase(), addresses.iter().filter_map(address).collect())
        };
        HttpConfig {
            limits: self.limits.clone(),
            roots: self.roots.iter().filter_map(|file| root(file, around, report)).collect(),
            hosts: self.hosts.iter().map(host).collect::<BTreeMap<String, Vec<IpAddr>>>(),
            secrets: Vec::new(),
        }
    }
}

/// The text of a file that holds certificates.
fn root(file: &Name, around: &ConfigSource<'_>, report: &Report) -> Option<Arc<str>> {
    let path = around.dir.join(&*file.value);
    let read = read_trusted(&path, MAX_ROOTS_BYTES).map_err(|error| error.to_string());
    let text = read.and_then(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string()));
    let read = text.and_then(|text| {
        let holds = text.contains("-----BEGIN CERTIFICATE-----");
        if holds { Ok(text) } else { Err("it holds no certificate in PEM".to_owned()) }
    });
    match read {
        Ok(text) => Some(text.into()),
        Err(why) => {
            let message = format!("{}: {why}; expected a file with certificates in PEM", path.display());
            report.problem(file.problem(&codes::NO_ROOTS, message));
            None
        }
    }
}

/// The patterns among the texts; the others are reported.
pub(super) fn patterns(texts: &[Name], report: &Report) -> Vec<HttpPattern> {
    texts.iter().filter_map(|text| parsed(text, &codes::NO_PATTERN, report)).collect()
}

/// The networks among the texts; the others are reported.
pub(super) fn networks(texts: &[Name], report: &Report) -> Vec<Network> {
    texts.iter().filter_map(|text| parsed(text, &codes::NO_NETWORK, report)).collect()
}

pub(super) fn parsed<T: FromStr<Err: std::fmt::Display>>(
    text: &Name,
    entry: &Entry,
    report: &Report,
) -> Option<T> {
    let read = text.value.parse::<T>();
    read.map_err(|why| report.problem(text.problem(entry, format!("`{}`: {why}", text.value)))).ok()
}

fn replace<T>(limit: &mut T, by: Option<T>) {
    if let Some(by) = by {
        *limit = by;
    }
}
