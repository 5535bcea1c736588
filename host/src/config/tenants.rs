//! `[tenants]`: whose namespaces are whose, how much each has beside the others, and what is its own.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use phasm_engine::form::{Cursor, Field, Form, Name, Object, Report, SIZE, Site, TEXT, TEXTS, Table, whole};
use serde_json::json;

use super::{
    ConfigSource, codes,
    grants::{self, Grant},
    isolation::{self, ISOLATION},
    secrets::{self, Secret},
    trust::{self, TrustTable},
};
use crate::{
    plugins::limits::{ALLOWANCE, AllowanceTable},
    tenants::tenant::{Quotas, Tenant},
};
use phasm_sandbox::Limit;

static TENANT: Table = Table::closed(
    "tenant",
    "A tenant of this host. A namespace that no tenant owns is a tenant by itself, of weight 1.",
    &[&NAMESPACES, &WEIGHT, &QUOTAS, &LIMITS, &ISOLATION_TIER, &PLUGINS, &GRANTS, &ROOT, &SECRETS, &TRUST],
    &[],
);

static QUOTA: Table = Table::closed(
    "quotas",
    "Quotas of a tenant; an absent one is no bound. Runs and their bytes are counted in the store, everything else by each host for itself.",
    &[&RUNNING, &QUEUED, &OPEN_RUNS, &RUNS_PER_MINUTE, &STORED, &REQUESTS_PER_MINUTE],
    &[],
);

const WEIGHTS: Form<u32> = whole::<u32, 1, 1000>();
const COUNT: Form<u32> = whole::<u32, 1, 1_000_000>();

static NAMESPACES: Field<Vec<Name>> = Field::optional(
    "namespaces",
    TEXTS,
    "Its namespaces, in addition to the one with its name; `*` stands for all that no tenant owns.",
);
static WEIGHT: Field<u32> = Field::optional(
    "weight",
    WEIGHTS,
    "Its share of slots and CPU time while there is not enough for all tenants: twice as much with twice the weight.",
)
.or("1");
static QUOTAS: Field<Quotas> = Field::optional("quotas", QUOTAS_FORM, "Its quotas.");
static LIMITS: Field<AllowanceTable> = Field::optional(
    "limits",
    ALLOWANCE,
    "Limits of each of its attempts, where they are lower than the limits of `[limits]` and `[http]`.",
);
static ISOLATION_TIER: Field<isolation::Tier> = Field::optional(
    "isolation",
    ISOLATION,
    "Isolation of its attempts unless the plugin's grant sets it; by default as in `limits.isolation`.",
);
static PLUGINS: Field<Vec<Name>> = Field::optional(
    "plugins",
    TEXTS,
    "Directories with plugins of its own, relative to this file, searched before all others.",
);
static GRANTS: Field<Vec<Grant>> = Field::optional(
    "grants",
    grants::GRANTS,
    "Grants by plugin in its runs. They replace the grants of `[grants]` for that plugin, except that `limits` there apply as well, and \
     `isolation` unless it is set here.",
);
static ROOT: Field<Name> = Field::optional(
    "root",
    TEXT,
    "The folder of its directories, relative to this file. Directories of its grants are relative to that folder and within it, and directories of `[grants]` do not apply.",
);
static SECRETS: Field<Vec<Secret>> = Field::optional(
    "secrets",
    secrets::SECRETS,
    "Secrets of its own, which replace the secrets of `[secrets]` with the same name and key.",
);

static TRUST: Field<TrustTable> = Field::optional(
    "trust",
    trust::TENANT_TRUST_FORM,
    "Keys by which its plugins are trusted, instead of the keys of `[trust]`.",
);

static RUNNING: Field<u32> =
    Field::optional("running", COUNT, "Attempts that hold a slot at once; others wait.");
static QUEUED: Field<u32> = Field::optional(
    "queued",
    COUNT,
    "Tasks that wait for a slot; at that number its submissions are refused.",
);
static OPEN_RUNS: Field<u32> = Field::optional(
    "open-runs",
    COUNT,
    "Runs that have not ended; at that number its submissions are refused.",
);
static RUNS_PER_MINUTE: Field<u32> =
    Field::optional("runs-per-minute", COUNT, "Runs submitted within a minute; more are refused.");
static STORED: Field<u64> = Field::optional(
    "stored",
    SIZE,
    "Bytes of its runs in the store, with their journals and logs; at that size its submissions are refused. Open runs continue, and count.",
);
static REQUESTS_PER_MINUTE: Field<u32> = Field::optional(
    "requests-per-minute",
    COUNT,
    "HTTP requests of its attempts within a minute; more are refused.",
);

const QUOTAS_FORM: Form<Quotas> = Form::new(
    |cursor, report| {
        let object = cursor.object(&QUOTA, report)?;
        Some(Quotas {
            running: object.optional(&RUNNING),
            queued: object.optional(&QUEUED),
            open_runs: object.optional(&OPEN_RUNS),
            runs_per_minute: object.optional(&RUNS_PER_MINUTE),
            stored: object.optional(&STORED),
            requests_per_minute: object.optional(&REQUESTS_PER_MINUTE),
        })
    },
    |defs| defs.object(&QUOTA),
);

/// One tenant as written.
pub(super) struct TenantTable {
    name: Arc<str>,
    namespaces: Vec<Arc<str>>,
    weight: u32,
    quotas: Quotas,
    limits: AllowanceTable,
    isolation: Option<isolation::Tier>,
    plugins: Vec<Name>,
    grants: Vec<Grant>,
    root: Option<Name>,
    secrets: Vec<Secret>,
    trust: Option<TrustTable>,
}

pub(super) const TENANTS: Form<Vec<TenantTable>> = Form::new(
    |cursor, report| {
        let members = cursor.each_member(report)?;
        let mut taken = BTreeMap::new();
        let tenant = |(key, cursor): (&phasm_engine::tree::Key, Cursor<'_>)| {
            let object = cursor.object(&TENANT, report)?;
            let name =
                Name { value: key.name.clone(), site: Site { path: cursor.path.clone(), span: key.span } };
            Some(TenantTable::read(&name, &object, &mut taken, report))
        };
        Some(members.filter_map(tenant).collect())
    },
    |defs| json!({ "type": "object", "additionalProperties": defs.object(&TENANT) }),
);

impl TenantTable {
    fn read(
        name: &Name,
        object: &Object<'_, '_>,
        taken: &mut BTreeMap<Arc<str>, Arc<str>>,
        report: &Report,
    ) -> Self {
        let named = object.or_default(&NAMESPACES);
        Self {
            name: Arc::clone(&name.value),
            namespaces: own(name, named, taken, report),
            weight: object.optional(&WEIGHT).unwrap_or(1),
            quotas: object.or_default(&QUOTAS),
            limits: object.or_default(&LIMITS),
            isolation: object.optional(&ISOLATION_TIER),
            plugins: object.or_default(&PLUGINS),
            grants: object.or_default(&GRANTS),
            root: object.optional(&ROOT),
            secrets: object.or_default(&SECRETS),
            trust: object.optional(&TRUST),
        }
    }

    /// The plugins that it says something of.
    pub(super) fn granted(&self) -> impl Iterator<Item = &Name> {
        self.grants.iter().map(|grant| &grant.plugin)
    }

    /// Warns of its limits that bound nothing, where `others` says what every attempt may use.
    pub(super) fn warn(&self, report: &Report, others: impl Fn(Limit) -> Option<(u64, String)>) {
        self.limits.warn(&codes::ABOVE_OTHERS, report, &others);
        let own =
            |limit| Some((self.limits.allowance.get(limit)?, format!("`limits` of tenant `{}`", self.name)));
        let least = |limit| own(limit).into_iter().chain(others(limit)).min_by_key(|(most, _)| *most);
        self.grants.iter().for_each(|grant| grant.limits.warn(&codes::ABOVE_OTHERS, report, least));
    }

    /// Returns the tenant by its name, and the directories that are created before a run.
    pub(super) fn tenant(
        self,
        around: &ConfigSource<'_>,
        report: &Report,
    ) -> (Arc<str>, Tenant, Vec<PathBuf>) {
        let root = self.root.as_ref().map(|root| around.dir.join(&*root.value));
        let dir = root.as_deref().unwrap_or(around.dir);
        let within = ConfigSource { dir, env: around.env, is_root: root.is_some() };
        let mut create = Vec::new();
        let mut tenant = Tenant {
            namespaces: self.namespaces,
            weight: self.weight,
            quotas: self.quotas,
            limits: self.limits.allowance,
            isolation: self.isolation.map(|tier| tier.0),
            plugins: self.plugins.iter().map(|dir| around.dir.join(&*dir.value)).collect(),
            own_dirs: root.is_some(),
            trust: self.trust.map(|trust| trust.policy(report)),
            ..Tenant::default()
        };
        for grant in self.grants {
            let plugin = grant.plugin.value.to_string();
            let (grants, dirs) = grant.granted(&within, report);
            create.extend(dirs);
            tenant.grants.insert(plugin, grants);
        }
        self.secrets.iter().for_each(|secret| secret.look_up(around, &mut tenant.secrets, report));
        (self.name, tenant, create)
    }
}

/// The tenant's own namespaces, with that of its name.
fn own(
    tenant: &Name,
    namespaces: Vec<Name>,
    taken: &mut BTreeMap<Arc<str>, Arc<str>>,
    report: &Report,
) -> Vec<Arc<str>> {
    let mut own = Vec::new();
    for namespace in [tenant.clone()].into_iter().chain(namespaces) {
        match taken.insert(Arc::clone(&namespace.value), Arc::clone(&tenant.value)) {
            Some(other) if other != tenant.value => {
                let message = format!(
                    "namespace `{}` is tenant `{other}`'s already; expected one that no other tenant has",
                    namespace.value
                );
                report.problem(namespace.problem(&codes::TAKEN_NAMESPACE, message));
            }
            _ => own.push(namespace.value),
        }
    }
    own
}
