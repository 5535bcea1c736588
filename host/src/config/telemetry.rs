//! `[telemetry]`: where spans of runs are sent.

use std::{fmt, sync::Arc};

use phasm_engine::{
    form::{Cursor, FRACTION, Field, Form, Name, Report, Rule, SOME_TEXT, TEXT, Table},
    tree::Key,
};
use serde_json::json;

use super::{ConfigSource, codes, secrets::SecretSource};

static TELEMETRY: Table = Table::closed(
    "telemetry",
    "The collector of traces: spans of runs, steps, attempts and requests. Without `otlp` here or in the environment nothing is.",
    &[&OTLP, &HEADERS, &SAMPLING, &SERVICE, &RESOURCE],
    &[],
);

static HEADER: Table = Table::closed(
    "telemetryHeader",
    "The source of a header's value.",
    &[&VARIABLE, &FILE],
    &[Rule::ExactlyOne(&["env", "file"])],
);

static OTLP: Field<Name> = Field::optional(
    "otlp",
    SOME_TEXT,
    "URL of a collector that accepts OTLP over HTTP, such as `http://localhost:4318`. Spans are posted to `/v1/traces`.",
);
static HEADERS: Field<Vec<Header>> = Field::optional(
    "headers",
    BY_HEADER,
    "Headers of each request, such as the collector's key: the source of each value by name.",
)
.or("{}");
static SAMPLING: Field<f64> = Field::optional(
    "sampling",
    FRACTION,
    "Fraction of the traces that are recorded: all with 1, none with 0. A trace that a caller began follows the caller's decision.",
)
.or("1");
static SERVICE: Field<Name> =
    Field::optional("service-name", SOME_TEXT, "The service name of this host in traces.").or("phasm");
static RESOURCE: Field<Vec<(Arc<str>, Name)>> = Field::optional(
    "resource",
    ATTRIBUTES,
    "Further resource attributes of this host in traces, as texts by name.",
)
.or("{}");

static VARIABLE: Field<Name> = Field::optional("env", TEXT, "The environment variable that holds it.");
static FILE: Field<Name> = Field::optional(
    "file",
    TEXT,
    "The file that holds it, of up to 64 KiB, relative to this file; a newline at its end is not part of it.",
);

const ATTRIBUTES: Form<Vec<(Arc<str>, Name)>> = Form::new(
    |cursor, report| {
        let members = cursor.each_member(report)?;
        let member = |(key, value): (&Key, Cursor<'_>)| Some((key.name.clone(), TEXT.read(&value, report)?));
        Some(members.filter_map(member).collect())
    },
    |_| json!({ "type": "object", "additionalProperties": { "type": "string" } }),
);

const BY_HEADER: Form<Vec<Header>> = Form::new(
    |cursor, report| {
        let members = cursor.each_member(report)?;
        let header = |(key, value): (&Key, Cursor<'_>)| {
            let object = value.object(&HEADER, report)?;
            let env = object.optional(&VARIABLE).map(SecretSource::Env);
            let source = env.or(object.optional(&FILE).map(SecretSource::File))?;
            Some(Header { name: Name { value: key.name.clone(), site: value.site() }, source })
        };
        Some(members.filter_map(header).collect())
    },
    |defs| json!({ "type": "object", "additionalProperties": defs.object(&HEADER) }),
);

/// A header as written.
struct Header {
    name: Name,
    source: SecretSource,
}

/// Where spans of runs are sent, as configured.
#[derive(Clone, Default, PartialEq)]
pub struct TelemetrySettings {
    /// The collector's URL.
    pub otlp: Option<String>,
    /// Headers of each request to the collector.
    pub headers: Vec<(String, String)>,
    /// How many of the traces that begin here are recorded, from 0 to 1.
    pub sampling: Option<f64>,
    /// The service name that spans carry.
    pub service_name: Option<String>,
    /// Further resource attributes of the service.
    pub resource: Vec<(String, String)>,
}

/// Without what headers say.
impl fmt::Debug for TelemetrySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelemetrySettings").field("otlp", &self.otlp).finish_non_exhaustive()
    }
}

/// The section as it is written, before anything outside of it is read.
#[derive(Default)]
pub(super) struct TelemetryTable {
    otlp: Option<Name>,
    headers: Vec<Header>,
    sampling: Option<f64>,
    service: Option<Name>,
    resource: Vec<(Arc<str>, Name)>,
}

pub(super) const TELEMETRY_FORM: Form<TelemetryTable> = Form::new(
    |cursor, report| {
        let object = cursor.object(&TELEMETRY, report)?;
        Some(TelemetryTable {
            otlp: object.optional(&OTLP),
            headers: object.or_default(&HEADERS),
            sampling: object.optional(&SAMPLING),
            service: object.optional(&SERVICE),
            resource: object.or_default(&RESOURCE),
        })
    },
    |defs| defs.object(&TELEMETRY),
);

impl TelemetryTable {
    /// Returns the settings, with the headers' values.
    pub(super) fn settings(self, around: &ConfigSource<'_>, report: &Report) -> TelemetrySettings {
        let headers = self.headers.iter().filter_map(|header| header.read(around, report));
        TelemetrySettings {
            headers: headers.collect(),
            otlp: self.otlp.and_then(|otlp| collector(&otlp, report)),
            sampling: self.sampling,
            service_name: self.service.map(|name| name.value.to_string()),
            resource: self
                .resource
                .into_iter()
                .map(|(name, text)| (name.to_string(), text.value.to_string()))
                .collect(),
        }
    }
}

impl Header {
    /// One that is not to be had is a warning, as a secret that is not.
    fn read(&self, around: &ConfigSource<'_>, report: &Report) -> Option<(String, String)> {
        let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if self.name.value.is_empty() || !self.name.value.bytes().all(is_token) {
            let message = format!("`{}` is not a name of a header", self.name.value);
            report.problem(self.name.problem(&codes::NO_COLLECTOR, message));
            return None;
        }
        match self.source.value(around) {
            Ok(value) => Some((self.name.value.to_ascii_lowercase(), value)),
            Err(why) => {
                let message = format!("{why}; expected the header's value");
                report.warning(self.source.written().problem(&codes::NO_SECRET, message));
                None
            }
        }
    }
}

/// Checks the collector's URL.
fn collector(otlp: &Name, report: &Report) -> Option<String> {
    let rest = otlp.value.strip_prefix("http://").or_else(|| otlp.value.strip_prefix("https://"));
    if rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['?', '#', '@', ' '])) {
        return Some(otlp.value.to_string());
    }
    // A user name or a query may hold a secret.
    let message = if otlp.value.contains(['@', '?']) {
        "expected a collector such as http://localhost:4318, without a password and a query; credentials go into `headers`".to_owned()
    } else {
        format!("found `{}`; expected a collector such as http://localhost:4318", otlp.value)
    };
    report.problem(otlp.problem(&codes::NO_COLLECTOR, message));
    None
}
