//! A configuration as written: what may stand in it, and what of it was read.

use std::path::PathBuf;

use phasm_engine::{
    form::{Cursor, Field, Form, Name, Report, TEXT, TEXTS, Table},
    value::Map,
};
use serde_json::json;

use crate::store::retention::Retention;

use super::{
    ConfigSource,
    artifacts::{self, ArtifactsTable},
    grants::{
        self, Grant,
        dirs::{self, SharedDir},
    },
    http::{self, Http},
    limits::{self, LimitsTable},
    notify::{self, EndpointTable},
    retention,
    secrets::{self, Secret},
    server::{self, ServerTable},
    telemetry::{self, TelemetryTable},
    tenants::{self, TenantTable},
    trust::{self, TrustTable},
};

/// The whole file.
pub(super) static CONFIGURATION: Table = Table::closed(
    "configuration",
    "The operator's configuration: plugins and their grants, variables, secrets, limits, tenants, HTTP, retention, trusted keys, the \
     server, traces, webhooks.",
    &[
        &PLUGINS, &GRANTS, &DIRS, &VARS, &SECRETS, &LIMITS, &TENANTS, &HTTP, &RETENTION, &ARTIFACTS,
        &LIBRARY, &TRUST, &SERVER, &TELEMETRY, &NOTIFY,
    ],
    &[],
);

static PLUGINS: Field<Vec<Name>> = Field::optional(
    "plugins",
    TEXTS,
    "Directories with plugins, relative to this file, searched after the directories of `--plugins`.",
);
static GRANTS: Field<Vec<Grant>> =
    Field::optional("grants", grants::GRANTS, "Grants by plugin; by default none.");
static DIRS: Field<Vec<SharedDir>> = Field::optional(
    "dirs",
    dirs::SHARED_DIRECTORIES,
    "Directories that several plugins see, in addition to their grants.",
);
static VARS: Field<Map> = Field::optional(
    "vars",
    VALUES,
    "Values that expressions read as `vars.<name>`, or by their name alone; dates and times are text.",
);
static SECRETS: Field<Vec<Secret>> = Field::optional(
    "secrets",
    secrets::SECRETS,
    "Sources of the values that `secretKeyRef` names, by name and key.",
);
static LIMITS: Field<LimitsTable> = Field::optional("limits", limits::LIMITS, "Limits of every guest.");
static TENANTS: Field<Vec<TenantTable>> =
    Field::optional("tenants", tenants::TENANTS, "Tenants of this host by name.");
static HTTP: Field<Http> = Field::optional("http", http::HTTP, "HTTP requests of plugins, and their limits.");
static RETENTION: Field<Retention> =
    Field::optional("retention", retention::RETENTION_FORM, "How long ended runs are kept.");

static ARTIFACTS: Field<ArtifactsTable> =
    Field::optional("artifacts", artifacts::ARTIFACTS_FORM, "Artifacts of runs, and their limits.");

static LIBRARY: Field<Name> = Field::optional(
    "library",
    TEXT,
    "The directory that `phasm plugin add` keeps plugins in, relative to this file; without it the user's own.",
);
static TRUST: Field<TrustTable> = Field::optional(
    "trust",
    trust::TRUST_FORM,
    "Keys by which plugins are trusted, and the versions that wait for approval.",
);

static SERVER: Field<ServerTable> = Field::optional(
    "server",
    server::SERVER_FORM,
    "How `phasm serve --listen` is reached, and the limits of its clients.",
);

static NOTIFY: Field<Vec<EndpointTable>> =
    Field::optional("notify", notify::NOTIFY, "Webhook endpoints by name.");

static TELEMETRY: Field<TelemetryTable> = Field::optional(
    "telemetry",
    telemetry::TELEMETRY_FORM,
    "The collector of traces: spans of runs, steps, attempts and requests.",
);

/// Anything by name.
const VALUES: Form<Map> = Form::new(
    |cursor, report| {
        let members = cursor.each_member(report)?;
        Some(members.map(|(key, value)| (key.name.clone(), value.tree.to_value())).collect())
    },
    |_| json!({ "type": "object" }),
);

/// A configuration as it is written, before anything outside of it is read.
#[derive(Default)]
pub(super) struct ConfigTable {
    pub(super) plugins: Vec<Name>,
    pub(super) grants: Vec<Grant>,
    pub(super) dirs: Vec<SharedDir>,
    pub(super) vars: Map,
    pub(super) secrets: Vec<Secret>,
    pub(super) limits: LimitsTable,
    pub(super) tenants: Vec<TenantTable>,
    pub(super) http: Http,
    pub(super) retention: Retention,
    pub(super) artifacts: ArtifactsTable,
    pub(super) library: Option<Name>,
    pub(super) trust: TrustTable,
    pub(super) server: ServerTable,
    pub(super) notify: Vec<EndpointTable>,
    pub(super) telemetry: TelemetryTable,
}

impl ConfigTable {
    /// Reads the table at `cursor` and reports every problem in it.
    pub(super) fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let object = cursor.object(&CONFIGURATION, report)?;
        Some(Self {
            plugins: object.or_default(&PLUGINS),
            grants: object.or_default(&GRANTS),
            dirs: object.or_default(&DIRS),
            vars: object.or_default(&VARS),
            secrets: object.or_default(&SECRETS),
            limits: object.or_default(&LIMITS),
            tenants: object.or_default(&TENANTS),
            http: object.or_default(&HTTP),
            retention: object.or_default(&RETENTION),
            artifacts: object.or_default(&ARTIFACTS),
            library: object.optional(&LIBRARY),
            trust: object.or_default(&TRUST),
            server: object.or_default(&SERVER),
            notify: object.or_default(&NOTIFY),
            telemetry: object.or_default(&TELEMETRY),
        })
    }

    pub(super) fn plugin_dirs(&self, around: &ConfigSource<'_>) -> Vec<PathBuf> {
        self.plugins.iter().map(|dir| around.dir.join(&*dir.value)).collect()
    }
}
