//! `[grants.<plugin>]`: what one plugin may touch.

use std::{collections::BTreeMap, path::PathBuf};

use phasm_engine::form::{BOOLEAN, Cursor, Field, Form, Name, Object, Report, Site, TEXTS, Table};
use serde_json::json;

use self::{
    clocks::{SEED, WALL_CLOCK_FORM},
    dirs::Dir,
};
use super::{
    ConfigSource,
    isolation::{self, ISOLATION},
};
use crate::plugins::limits::{ALLOWANCE, AllowanceTable};
use phasm_sandbox::{Grants, Randomness, WallClock};

mod clocks;
pub(super) mod dirs;
mod http;
mod tcp;

static GRANT: Table = Table::closed(
    "grant",
    "Grants of one plugin.",
    &[
        &DIRS,
        &ARTIFACTS,
        &ENVIRONMENT,
        &HTTP,
        &HTTP_NETWORKS,
        &TCP,
        &TCP_NETWORKS,
        &WALL_CLOCK,
        &RANDOM_SEED,
        &ISOLATION_TIER,
        &LIMITS,
    ],
    &[],
);

static DIRS: Field<Vec<Dir>> =
    Field::optional("dirs", dirs::DIRECTORIES, "Directories, and everything below them.").or("[]");
static ARTIFACTS: Field<bool> = Field::optional(
    "artifacts",
    BOOLEAN,
    "Whether it reads artifacts that its inputs name, in `/artifacts/in`, and makes artifacts of files in `/artifacts/out`.",
)
.or("false");
static ENVIRONMENT: Field<BTreeMap<String, String>> =
    Field::optional("env", TEXT_BY_NAME, "The plugin's environment, in full; nothing is inherited.").or("{}");
static HTTP: Field<Vec<Name>> = Field::optional(
    "http",
    TEXTS,
    "Requests that may be made, such as `https://api.example.com` or `GET,POST https://*.example.com:8443/v1/*`.",
)
.or("[]");
static HTTP_NETWORKS: Field<Vec<Name>> = Field::optional(
    "http-networks",
    TEXTS,
    "Private, loopback and other internal addresses that host names may resolve to, such as `10.1.0.0/16` or `127.0.0.1`.",
)
.or("[]");
static TCP: Field<Vec<Name>> = Field::optional(
    "tcp",
    TEXTS,
    "TCP connections that may be made, such as `db.internal:5432`, `*.example.com:443` or `10.0.0.7:5432`.",
)
.or("[]");
static TCP_NETWORKS: Field<Vec<Name>> = Field::optional(
    "tcp-networks",
    TEXTS,
    "Private, loopback and other internal addresses that may be connected to and that host names may resolve to, such as `10.1.0.0/16`.",
)
.or("[]");
static WALL_CLOCK: Field<WallClock> = Field::optional(
    "wall-clock",
    WALL_CLOCK_FORM,
    "The time of the wall clock: the host's (`real`), or a fixed one such as `2026-01-31T08:00:00Z`.",
)
.or("1970-01-01T00:00:00Z");
static RANDOM_SEED: Field<Randomness> = Field::optional(
    "random-seed",
    SEED,
    "Seed of random bytes: with it, every call draws the same ones, so that work can be repeated exactly.",
);

static ISOLATION_TIER: Field<isolation::Tier> = Field::optional(
    "isolation",
    ISOLATION,
    "Isolation of its attempts: together in the host's process (`shared`), or in locked-down processes of their own (`process`); by default as in `limits.isolation`.",
);

static LIMITS: Field<AllowanceTable> = Field::optional(
    "limits",
    ALLOWANCE,
    "Limits of each of its attempts, where they are lower than the limits of `[limits]` and `[http]`.",
);

/// One plugin's grants as written.
pub(super) struct Grant {
    pub(super) plugin: Name,
    dirs: Vec<Dir>,
    artifacts: bool,
    env: BTreeMap<String, String>,
    http: Vec<Name>,
    http_networks: Vec<Name>,
    tcp: Vec<Name>,
    tcp_networks: Vec<Name>,
    wall_clock: WallClock,
    random: Randomness,
    isolation: Option<isolation::Tier>,
    pub(super) limits: AllowanceTable,
}

/// The grants of each plugin, by its name.
pub(super) const GRANTS: Form<Vec<Grant>> = Form::new(
    |cursor, report| {
        let members = cursor.each_member(report)?;
        let grant = |(key, cursor): (&phasm_engine::tree::Key, Cursor<'_>)| {
            let site = Site { path: cursor.path.clone(), span: key.span };
            let object = cursor.object(&GRANT, report)?;
            Some(Grant::read(Name { value: key.name.clone(), site }, &object))
        };
        Some(members.filter_map(grant).collect())
    },
    |defs| json!({ "type": "object", "additionalProperties": defs.object(&GRANT) }),
);

const TEXT_BY_NAME: Form<BTreeMap<String, String>> = Form::new(
    |cursor, report| {
        let members = cursor.each_member(report)?;
        let text = |(key, value): (&phasm_engine::tree::Key, Cursor<'_>)| {
            Some((key.name.to_string(), value.text(report)?.to_string()))
        };
        Some(members.filter_map(text).collect())
    },
    |_| json!({ "type": "object", "additionalProperties": { "type": "string" } }),
);

impl Grant {
    fn read(plugin: Name, object: &Object<'_, '_>) -> Self {
        let dirs: Vec<Dir> = object.or_default(&DIRS);
        dirs::check_once(&dirs, object.report);
        Self {
            plugin,
            dirs,
            artifacts: object.or_default(&ARTIFACTS),
            env: object.or_default(&ENVIRONMENT),
            http: object.or_default(&HTTP),
            http_networks: object.or_default(&HTTP_NETWORKS),
            tcp: object.or_default(&TCP),
            tcp_networks: object.or_default(&TCP_NETWORKS),
            wall_clock: object.or_default(&WALL_CLOCK),
            random: object.or_default(&RANDOM_SEED),
            isolation: object.optional(&ISOLATION_TIER),
            limits: object.or_default(&LIMITS),
        }
    }

    /// Returns the grants, and the directories among them that are created before a run.
    pub(super) fn granted(self, around: &ConfigSource<'_>, report: &Report) -> (Grants, Vec<PathBuf>) {
        let (dirs, create) = dirs::granted(self.dirs, around, report);
        let http = http::granted(&self.http, &self.http_networks, report);
        let tcp = tcp::granted(&self.tcp, &self.tcp_networks, report);
        let isolation = self.isolation.map(|written| written.0);
        let Self {
            artifacts, env, wall_clock, random, limits: AllowanceTable { allowance: limits, .. }, ..
        } = self;
        (Grants { dirs, artifacts, env, http, tcp, wall_clock, random, isolation, limits }, create)
    }
}
