//! `[tenants]`: whose namespaces are whose, how much each has beside the others, and what is its own.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use phasm_engine::form::{Cursor, Field, Form, Name, Object, Report, SIZE, Site, TEXT, TEXTS, Table, whole};
use serde_json::json;

use super::{
    Surroundings, codes,
    grants::{self, Grant},
    isolation::{self, ISOLATION},
    secrets::{self, Secret},
    trust::{self, TrustWritten},
};
use crate::{
    plugins::limits::{ALLOWANCE, WrittenAllowance},
    tenants::tenant::{Quotas, Tenant},
};
use phasm_sandbox::Limit;

static TENANT: Table = Table::closed(
    "tenant",
    "Who shares this host with others. A namespace that no tenant has is a tenant by itself, of weight 1.",
    &[&NAMESPACES, &WEIGHT, &QUOTAS, &LIMITS, &ISOLATED, &PLUGINS, &GRANTS, &ROOT, &SECRETS, &TRUST],
    &[],
);

static QUOTA: Table = Table::closed(
    "quotas",
    "What a tenant may have at most; what is not said is not bounded. Runs and their bytes are counted in the store, all else by each host for itself.",
    &[&RUNNING, &QUEUED, &OPEN_RUNS, &RUNS_PER_MINUTE, &STORED, &REQUESTS_PER_MINUTE],
    &[],
);

const WEIGHTS: Form<u32> = whole::<u32, 1, 1000>();
const COUNT: Form<u32> = whole::<u32, 1, 1_000_000>();

static NAMESPACES: Field<Vec<Name>> = Field::optional(
    "namespaces",
    TEXTS,
    "Its namespaces, besides the one of its name; `*` stands for all that no tenant has.",
);
static WEIGHT: Field<u32> = Field::optional(
    "weight",
    WEIGHTS,
    "How many slots it has and how much its guests compute beside others: twice as much with twice the weight, where there is not enough for all.",
)
.or("1");
static QUOTAS: Field<Quotas> = Field::optional("quotas", QUOTAS_FORM, "What it may have at most.");
static LIMITS: Field<WrittenAllowance> = Field::optional(
    "limits",
    ALLOWANCE,
    "What each of its attempts may use, where that is less than `[limits]` and `[http]` say.",
);
static ISOLATED: Field<isolation::Tier> = Field::optional(
    "isolation",
    ISOLATION,
    "Where its attempts run unless the plugin's grant says it; without it as `limits.isolation` says.",
);
static PLUGINS: Field<Vec<Name>> = Field::optional(
    "plugins",
    TEXTS,
    "Directories with plugins that it alone has, relative to this file, searched before all others.",
);
static GRANTS: Field<Vec<Grant>> = Field::optional(
    "grants",
    grants::GRANTS,
    "What the plugin of each name may touch in its runs, in place of what `[grants]` says of that name; its `limits` \
     hold as well, and its `isolation` unless this says one.",
);
static ROOT: Field<Name> = Field::optional(
    "root",
    TEXT,
    "Where its directories lie, relative to this file: those of its grants are relative to it and within it, and it has none of those of `[grants]`.",
);
static SECRETS: Field<Vec<Secret>> = Field::optional(
    "secrets",
    secrets::SECRETS,
    "Secrets that it alone has, in place of those of `[secrets]` with the same name and key.",
);

static TRUST: Field<TrustWritten> = Field::optional(
    "trust",
    trust::TENANT_TRUST_FORM,
    "Whose plugins its runs use, in place of what `[trust]` says.",
);

static RUNNING: Field<u32> =
    Field::optional("running", COUNT, "Attempts that hold a slot at once; others wait.");
static QUEUED: Field<u32> = Field::optional(
    "queued",
    COUNT,
    "Tasks that wait for a slot: while there are as many, its submissions are refused.",
);
static OPEN_RUNS: Field<u32> = Field::optional(
    "open-runs",
    COUNT,
    "Runs that have not ended: while there are as many, its submissions are refused.",
);
static RUNS_PER_MINUTE: Field<u32> =
    Field::optional("runs-per-minute", COUNT, "Runs that are submitted within a minute; more are refused.");
static STORED: Field<u64> = Field::optional(
    "stored",
    SIZE,
    "What the store keeps of its runs, their records and logs: while there is as much, its submissions are refused. Runs that go on do so, and count.",
);
static REQUESTS_PER_MINUTE: Field<u32> = Field::optional(
    "requests-per-minute",
    COUNT,
    "Requests by HTTP of its attempts within a minute; more are refused.",
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
pub(super) struct WrittenTenant {
    name: Arc<str>,
    namespaces: Vec<Arc<str>>,
    weight: u32,
    quotas: Quotas,
    limits: WrittenAllowance,
    isolation: Option<isolation::Tier>,
    plugins: Vec<Name>,
    grants: Vec<Grant>,
    root: Option<Name>,
    secrets: Vec<Secret>,
    trust: Option<TrustWritten>,
}

pub(super) const TENANTS: Form<Vec<WrittenTenant>> = Form::new(
    |cursor, report| {
        let members = cursor.each_member(report)?;
        let mut taken = BTreeMap::new();
        let tenant = |(key, cursor): (&phasm_engine::tree::Key, Cursor<'_>)| {
            let object = cursor.object(&TENANT, report)?;
            let name =
                Name { value: key.name.clone(), site: Site { path: cursor.path.clone(), span: key.span } };
            Some(WrittenTenant::read(&name, &object, &mut taken, report))
        };
        Some(members.filter_map(tenant).collect())
    },
    |defs| json!({ "type": "object", "additionalProperties": defs.object(&TENANT) }),
);

impl WrittenTenant {
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
            isolation: object.optional(&ISOLATED),
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
        self.limits.warn((&codes::ABOVE_OTHERS, report), &others);
        let own =
            |limit| Some((self.limits.allowance.get(limit)?, format!("`limits` of tenant `{}`", self.name)));
        let least = |limit| own(limit).into_iter().chain(others(limit)).min_by_key(|(most, _)| *most);
        self.grants.iter().for_each(|grant| grant.limits.warn((&codes::ABOVE_OTHERS, report), least));
    }

    /// What it comes to, by its name, and which directories are to be created first.
    pub(super) fn tenant(
        self,
        around: &Surroundings<'_>,
        report: &Report,
    ) -> (Arc<str>, Tenant, Vec<PathBuf>) {
        let root = self.root.as_ref().map(|root| around.dir.join(&*root.value));
        let dir = root.as_deref().unwrap_or(around.dir);
        let within = Surroundings { dir, env: around.env, is_root: root.is_some() };
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

/// The namespaces that nobody else has, that of its name among them.
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

/// Whether a path stays below where it begins, links apart.
pub(super) fn stays_below(path: &Path) -> bool {
    use std::path::Component;
    let mut depth = 0_i32;
    path.components().all(|component| {
        depth += match component {
            Component::Normal(_) => 1,
            Component::ParentDir => -1,
            Component::CurDir => 0,
            Component::RootDir | Component::Prefix(_) => return false,
        };
        depth >= 0
    })
}
