//! A configuration as written: what may stand in it, and what of it was read.

use std::path::PathBuf;

use phasm_engine::{
    form::{Cursor, Field, Form, Name, Report, TEXT, TEXTS, Table},
    value::Map,
};
use serde_json::json;

use crate::retention::Retention;

use super::{
    Surroundings,
    grants::{self, Grant},
    http::{self, Http},
    limits::{self, Limited},
    notify::{self, WrittenEndpoint},
    retention,
    secrets::{self, Secret},
    server::{self, ServerWritten},
    telemetry::{self, TelemetryWritten},
    tenants::{self, WrittenTenant},
    trust::{self, TrustWritten},
};

/// The whole file.
pub(super) static CONFIGURATION: Table = Table::closed(
    "configuration",
    "What an operator allows: plugins, what each may touch, values for expressions, secrets, limits, who shares the host, how the network \
     is reached, how long runs are kept, whose plugins are used, how a server is reached, where spans are sent, who is told of runs.",
    &[
        &PLUGINS, &GRANTS, &VARS, &SECRETS, &LIMITS, &TENANTS, &HTTP, &RETENTION, &LIBRARY, &TRUST, &SERVER,
        &TELEMETRY, &NOTIFY,
    ],
    &[],
);

static PLUGINS: Field<Vec<Name>> = Field::optional(
    "plugins",
    TEXTS,
    "Directories with plugins, relative to this file, searched after those of `--plugins`.",
);
static GRANTS: Field<Vec<Grant>> =
    Field::optional("grants", grants::GRANTS, "What the plugin of each name may touch; by default nothing.");
static VARS: Field<Map> = Field::optional(
    "vars",
    VALUES,
    "Values that expressions read as `vars.<name>`, or by their name alone; dates and times are text.",
);
static SECRETS: Field<Vec<Secret>> = Field::optional(
    "secrets",
    secrets::SECRETS,
    "By name and key, where the values are that `secretKeyRef` asks for.",
);
static LIMITS: Field<Limited> = Field::optional("limits", limits::LIMITS, "What every guest may use.");
static TENANTS: Field<Vec<WrittenTenant>> =
    Field::optional("tenants", tenants::TENANTS, "By name, who shares this host.");
static HTTP: Field<Http> =
    Field::optional("http", http::HTTP, "How plugins that are granted hosts reach them.");
static RETENTION: Field<Retention> =
    Field::optional("retention", retention::RETENTION_FORM, "How long runs that have ended are kept.");

static LIBRARY: Field<Name> = Field::optional(
    "library",
    TEXT,
    "The directory that `phasm plugin add` keeps plugins in, relative to this file; without it the user's own.",
);
static TRUST: Field<TrustWritten> = Field::optional(
    "trust",
    trust::TRUST_FORM,
    "Whose plugins are used, and which versions wait to be approved.",
);

static SERVER: Field<ServerWritten> = Field::optional(
    "server",
    server::SERVER_FORM,
    "How `phasm serve --listen` is reached, and what its clients may take.",
);

static NOTIFY: Field<Vec<WrittenEndpoint>> =
    Field::optional("notify", notify::NOTIFY, "By name, who outside is told of runs.");

static TELEMETRY: Field<TelemetryWritten> = Field::optional(
    "telemetry",
    telemetry::TELEMETRY_FORM,
    "Where spans of runs, steps, attempts and requests are sent.",
);

/// Anything by name.
const VALUES: Form<Map> = Form::new(
    |cursor, report| {
        let members = cursor.each_member(report)?;
        Some(members.map(|(key, value)| (key.name.clone(), value.tree.to_value())).collect())
    },
    |_| json!({ "type": "object" }),
);

/// What a configuration says, before anything outside of it is looked at.
#[derive(Default)]
pub(super) struct Written {
    pub(super) plugins: Vec<Name>,
    pub(super) grants: Vec<Grant>,
    pub(super) vars: Map,
    pub(super) secrets: Vec<Secret>,
    pub(super) limits: Limited,
    pub(super) tenants: Vec<WrittenTenant>,
    pub(super) http: Http,
    pub(super) retention: Retention,
    pub(super) library: Option<Name>,
    pub(super) trust: TrustWritten,
    pub(super) server: ServerWritten,
    pub(super) notify: Vec<WrittenEndpoint>,
    pub(super) telemetry: TelemetryWritten,
}

impl Written {
    /// What stands at `cursor`; whatever is wrong with it is reported.
    pub(super) fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let object = cursor.object(&CONFIGURATION, report)?;
        Some(Self {
            plugins: object.or_default(&PLUGINS),
            grants: object.or_default(&GRANTS),
            vars: object.or_default(&VARS),
            secrets: object.or_default(&SECRETS),
            limits: object.or_default(&LIMITS),
            tenants: object.or_default(&TENANTS),
            http: object.or_default(&HTTP),
            retention: object.or_default(&RETENTION),
            library: object.optional(&LIBRARY),
            trust: object.or_default(&TRUST),
            server: object.or_default(&SERVER),
            notify: object.or_default(&NOTIFY),
            telemetry: object.or_default(&TELEMETRY),
        })
    }

    pub(super) fn plugin_dirs(&self, around: &Surroundings<'_>) -> Vec<PathBuf> {
        self.plugins.iter().map(|dir| around.dir.join(&*dir.value)).collect()
    }
}
