//! `[retention]`: how long runs that have ended are kept.

use std::{collections::BTreeMap, sync::Arc};

use phasm_engine::form::{Cursor, Field, Form, Object, PAUSE, Table, whole};
use phasm_engine::time::Millis;
use serde_json::json;

use crate::store::retention::{Keep, Retention};

static RETENTION: Table = Table::closed(
    "retention",
    "How long ended runs are kept; runs that neither field bounds are kept for ever. `phasm serve` deletes the others every ten \
     minutes, `phasm prune` when it is called.",
    &[&AGE, &COUNT, &NAMESPACES],
    &[],
);

static KEEP: Table =
    Table::closed("keep", "How long the runs of one namespace are kept.", &[&AGE, &COUNT], &[]);

const RUNS: Form<u32> = whole::<u32, 0, { u32::MAX as i64 }>();

static AGE: Field<Millis> = Field::optional("age", PAUSE, "Time that runs are kept after they ended.");
static COUNT: Field<u32> =
    Field::optional("count", RUNS, "Number of latest runs that are kept in each namespace.");
static NAMESPACES: Field<BTreeMap<Arc<str>, Keep>> =
    Field::optional("namespaces", BY_NAMESPACE, "Retention by namespace, instead of the common one.")
        .or("{}");

const BY_NAMESPACE: Form<BTreeMap<Arc<str>, Keep>> = Form::new(
    |cursor, report| {
        let members = cursor.each_member(report)?;
        let of = |cursor: &Cursor<'_>| Some(keep(&cursor.object(&KEEP, report)?));
        Some(members.filter_map(|(name, cursor)| Some((name.name.clone(), of(&cursor)?))).collect())
    },
    |defs| json!({ "type": "object", "additionalProperties": defs.object(&KEEP) }),
);

pub(super) const RETENTION_FORM: Form<Retention> = Form::new(
    |cursor, report| {
        let object = cursor.object(&RETENTION, report)?;
        let namespaces = object.or_default(&NAMESPACES);
        Some(Retention { namespaces, others: keep(&object), phase: None })
    },
    |defs| defs.object(&RETENTION),
);

fn keep(object: &Object<'_, '_>) -> Keep {
    Keep { age: object.optional(&AGE), count: object.optional(&COUNT).map(u64::from) }
}
