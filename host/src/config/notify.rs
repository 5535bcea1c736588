//! `[notify]`: webhook endpoints.

use std::sync::Arc;

use phasm_engine::{
    form::{BOOLEAN, Cursor, Field, Form, Name, Object, Report, Site, TEXT, TEXTS, Table, Words, word},
    phase::Phase,
    tree::Key,
};
use serde_json::json;

use super::{
    ConfigSource, codes,
    secrets::{SECRET_SOURCE, SecretSource},
};
use crate::notify::{DEFAULT_PHASES, Endpoint, SigningSecret, TOLD_PHASES};
use phasm_sandbox::HttpPattern;

/// The longest name: it is part of each notice's id.
const MAX_NAME_BYTES: usize = 40;

static ENDPOINT: Table = Table::closed(
    "endpoint",
    "A webhook endpoint: it is notified of runs by signed requests, which are retried until it accepts them.",
    &[&URL, &SIGNING, &ON, &NAMESPACES, &WORKFLOWS, &NAMED, &INSIDE],
    &[],
);

static URL: Field<Name> = Field::required(
    "url",
    "where notifications are posted to",
    TEXT,
    "The URL that notifications are posted to, with `https://` or `http://`.",
);
static SIGNING: Field<Vec<SecretSource>> = Field::required(
    "secrets",
    "what notifications are signed with, as `[{ env = \"HOOK\" }]`",
    SOURCES,
    "Signing secrets: `whsec_` and 24 to 64 bytes in base64. Each signs every notification, so that a new one can be added before the old one is removed.",
);
static ON: Field<Vec<NotifyPhase>> = Field::optional(
    "on",
    PHASES,
    "Phases that are notified: phases of runs, and `Suspended` when tasks wait for approval; without it all but `Running`.",
);
static NAMESPACES: Field<Vec<Name>> =
    Field::optional("namespaces", TEXTS, "Runs of these namespaces; without it, all.");
static WORKFLOWS: Field<Vec<Name>> =
    Field::optional("workflows", TEXTS, "Runs of these workflows; without it, all.");
static NAMED: Field<bool> = Field::optional(
    "named",
    BOOLEAN,
    "Whether the endpoint is notified only of runs whose workflow names it (`spec.notify`). Any workflow may name any endpoint.",
)
.or("false");
static INSIDE: Field<bool> = Field::optional(
    "inside",
    BOOLEAN,
    "Whether the URL's host name may resolve to an internal address (private, loopback and so on). A numeric address and `localhost` always may.",
)
.or("false");

/// A phase that can be told of.
#[derive(Clone, Copy)]
struct NotifyPhase(Phase);

impl Words for NotifyPhase {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("Running", Self(Phase::Running)),
        ("Suspended", Self(Phase::Suspended)),
        ("Succeeded", Self(Phase::Succeeded)),
        ("Failed", Self(Phase::Failed)),
        ("Error", Self(Phase::Error)),
        ("Timeout", Self(Phase::Timeout)),
        ("Skipped", Self(Phase::Skipped)),
        ("Cancelled", Self(Phase::Cancelled)),
    ];
}

const PHASES: Form<Vec<NotifyPhase>> = Form::new(
    |cursor, report| {
        let items = cursor.items(report)?;
        Some(items.filter_map(|item| word::<NotifyPhase>().read(&item, report)).collect())
    },
    |_| json!({ "type": "array", "items": { "enum": TOLD_PHASES.map(Phase::as_str) } }),
);

const SOURCES: Form<Vec<SecretSource>> = Form::new(
    |cursor, report| {
        let items = cursor.items(report)?;
        let source = |item: Cursor<'_>| SecretSource::read(&item.object(&SECRET_SOURCE, report)?);
        Some(items.filter_map(source).collect())
    },
    |defs| json!({ "type": "array", "items": defs.object(&SECRET_SOURCE) }),
);

/// An endpoint as written.
pub(super) struct EndpointTable {
    name: Name,
    url: Option<Name>,
    secrets: Vec<SecretSource>,
    on: Option<Vec<NotifyPhase>>,
    namespaces: Vec<Name>,
    workflows: Vec<Name>,
    named: bool,
    inside: bool,
}

pub(super) const NOTIFY: Form<Vec<EndpointTable>> = Form::new(
    |cursor, report| {
        let members = cursor.each_member(report)?;
        let endpoint = |(key, cursor): (&Key, Cursor<'_>)| {
            let site = Site { path: cursor.path.clone(), span: key.span };
            let name = Name { value: Arc::clone(&key.name), site };
            Some(EndpointTable::read(name, &cursor.object(&ENDPOINT, report)?))
        };
        Some(members.filter_map(endpoint).collect())
    },
    |defs| json!({ "type": "object", "additionalProperties": defs.object(&ENDPOINT) }),
);

impl EndpointTable {
    fn read(name: Name, object: &Object<'_, '_>) -> Self {
        Self {
            name,
            url: object.optional(&URL),
            secrets: object.or_default(&SIGNING),
            on: object.optional(&ON),
            namespaces: object.or_default(&NAMESPACES),
            workflows: object.or_default(&WORKFLOWS),
            named: object.or_default(&NAMED),
            inside: object.or_default(&INSIDE),
        }
    }

    /// Reports what no schema says.
    fn check(&self, report: &Report) {
        let name = &self.name;
        if !is_name(&name.value) {
            let message = format!("`{}`; expected up to {MAX_NAME_BYTES} of a-z, 0-9 and `-`", name.value);
            report.problem(name.problem(&codes::NO_ENDPOINT_NAME, message));
        }
        if let Some(url) = self.url.as_ref().filter(|url| !is_url(&url.value)) {
            let message = "no URL that can be posted to; expected `https://` or `http://`, a host without a user and a password, and a path";
            report.problem(url.problem(&codes::NO_ENDPOINT_URL, message));
        }
    }

    /// Returns the endpoint and its name, with the endpoint's secrets.
    pub(super) fn endpoint(&self, around: &ConfigSource<'_>, report: &Report) -> (Arc<str>, Endpoint) {
        self.check(report);
        let texts = |names: &[Name]| names.iter().map(|name| Arc::clone(&name.value)).collect();
        let on = match &self.on {
            Some(on) => on.iter().map(|told| told.0).collect(),
            None => DEFAULT_PHASES.to_vec(),
        };
        let secret = |source: &SecretSource| signing_secret(source, around, report);
        let endpoint = Endpoint {
            url: self.url.as_ref().map(|url| Arc::clone(&url.value)).unwrap_or_default(),
            secrets: self.secrets.iter().filter_map(secret).collect(),
            on,
            namespaces: texts(&self.namespaces),
            workflows: texts(&self.workflows),
            named: self.named,
            inside: self.inside,
        };
        (Arc::clone(&self.name.value), endpoint)
    }
}

/// A missing secret is a warning, as elsewhere: deliveries wait for a host that has it.
fn signing_secret(
    source: &SecretSource,
    around: &ConfigSource<'_>,
    report: &Report,
) -> Option<SigningSecret> {
    match source.value(around) {
        Err(why) => {
            let message = format!("{why}; expected the secret that notifications are signed with");
            report.warning(source.written().problem(&codes::NO_SECRET, message));
            None
        }
        Ok(value) => {
            let read = value.trim().parse::<SigningSecret>();
            let wrong =
                |why| report.problem(source.written().problem(&codes::NO_SIGNING_SECRET, format!("{why}")));
            read.map_err(wrong).ok()
        }
    }
}

fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Returns whether a URL names a service by its scheme and host, without a user.
pub(super) fn is_url(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_visible = url.bytes().all(|byte| byte.is_ascii_graphic());
    is_visible
        && !authority.contains(['*', '@'])
        && format!("{scheme}://{authority}").parse::<HttpPattern>().is_ok()
}
