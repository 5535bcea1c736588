//! `[tenants]`: whose namespaces are whose, and how much each computes beside the others.

use std::{collections::BTreeMap, sync::Arc};

use phasm_engine::form::{Cursor, Field, Form, Name, Report, TEXTS, Table, whole};
use serde_json::json;

use super::{
    codes,
    isolation::{self, ISOLATION},
};
use crate::{
    allowance::ALLOWANCE,
    sandbox::{Allowance, Tenants},
};

static TENANT: Table = Table::closed(
    "tenant",
    "Who shares this host with others. A namespace that no tenant has is a tenant by itself, of weight 1.",
    &[&NAMESPACES, &WEIGHT, &LIMITS, &ISOLATED],
    &[],
);

const WEIGHTS: Form<u32> = whole::<u32, 1, 1000>();

static NAMESPACES: Field<Vec<Name>> =
    Field::optional("namespaces", TEXTS, "Its namespaces, besides the one of its name.");
static WEIGHT: Field<u32> = Field::optional(
    "weight",
    WEIGHTS,
    "How much its guests compute beside those of others: twice as much with twice the weight, where there is not enough for all.",
)
.or("1");

static LIMITS: Field<Allowance> = Field::optional(
    "limits",
    ALLOWANCE,
    "What each of its attempts may use, where that is less than `[limits]` and `[http]` say.",
);
static ISOLATED: Field<isolation::Tier> = Field::optional(
    "isolation",
    ISOLATION,
    "Where its attempts run unless the plugin's grant says it; without it as `limits.isolation` says.",
);

pub(super) const TENANTS: Form<Tenants> = Form::new(
    |cursor, report| {
        let mut read = Read { report, tenants: Tenants::default(), taken: BTreeMap::new() };
        for (name, cursor) in cursor.each_member(report)? {
            read.tenant(&name.name, &cursor);
        }
        Some(read.tenants)
    },
    |defs| json!({ "type": "object", "additionalProperties": defs.object(&TENANT) }),
);

struct Read<'a> {
    report: &'a Report,
    tenants: Tenants,
    /// Whose each namespace is.
    taken: BTreeMap<Arc<str>, Arc<str>>,
}

impl Read<'_> {
    fn tenant(&mut self, name: &Arc<str>, cursor: &Cursor<'_>) {
        let Some(object) = cursor.object(&TENANT, self.report) else { return };
        let weight = object.optional(&WEIGHT).unwrap_or(1);
        let mut namespaces = self.own(name, object.or_default(&NAMESPACES));
        if self.taken.entry(Arc::clone(name)).or_insert_with(|| Arc::clone(name)) == name {
            namespaces.push(Arc::clone(name));
        }
        self.tenants.add(name, weight, namespaces);
        self.tenants.limit(name, object.or_default(&LIMITS));
        if let Some(tier) = object.optional(&ISOLATED) {
            self.tenants.isolate(name, tier.0);
        }
    }

    /// Those that nobody else has.
    fn own(&mut self, tenant: &Arc<str>, namespaces: Vec<Name>) -> Vec<Arc<str>> {
        let mut own = Vec::new();
        for namespace in namespaces {
            match self.taken.insert(Arc::clone(&namespace.value), Arc::clone(tenant)) {
                Some(other) if other != *tenant => {
                    let message = format!(
                        "namespace `{}` is tenant `{other}`'s already; expected one that no other tenant has",
                        namespace.value
                    );
                    self.report.problem(namespace.problem(&codes::TAKEN_NAMESPACE, message));
                }
                _ => own.push(namespace.value),
            }
        }
        own
    }
}
