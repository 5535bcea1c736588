//! `metadata`.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::json;

use crate::document::foreign;
use crate::{
    document::name::NAME,
    form::{Cursor, Field, Form, Name, Object, Report, TEXT, Table},
    tree::TreeNode,
    value::Value,
};

pub(super) const METADATA: Form<Metadata> = Form::new(Metadata::read, |defs| defs.object(&METADATA_TABLE));

/// `workflowMetadata` of a CronWorkflow.
pub(super) const RUN_METADATA: Form<Metadata> =
    Form::new(Metadata::of_runs, |defs| defs.object(&RUN_METADATA_TABLE));

/// `metadata`.
#[derive(Default)]
pub(super) struct Metadata {
    pub(super) name: Option<Name>,
    pub(super) namespace: Option<Name>,
    pub(super) version: Option<Name>,
    pub(super) labels: BTreeMap<Arc<str>, Value>,
}

static METADATA_TABLE: Table = Table::closed(
    "metadata",
    "Name and labels of the workflow.",
    &[&WORKFLOW_NAME, &NAMESPACE, &VERSION, &LABELS_FIELD, &ANNOTATIONS],
    &[],
)
.knowing(foreign::METADATA);

static WORKFLOW_NAME: Field<Name> = Field::required(
    "name",
    "the workflow's name",
    NAME,
    "Name of the workflow; expressions see `workflow.name`.",
);

static RUN_METADATA_TABLE: Table = Table::closed(
    "workflowMetadata",
    "Metadata of the runs of a schedule.",
    &[&RUN_NAME, &NAMESPACE, &VERSION, &LABELS_FIELD, &ANNOTATIONS],
    &[],
);

static RUN_NAME: Field<Name> = Field::optional("name", NAME, "Name of the runs; the schedule's, if absent.");

static NAMESPACE: Field<Name> =
    Field::optional("namespace", NAME, "Namespace of the workflow; expressions see `workflow.namespace`.")
        .or("default");

static VERSION: Field<Name> = Field::optional("version", TEXT, "Version of the workflow, for people.");

static LABELS_FIELD: Field<BTreeMap<Arc<str>, Value>> =
    Field::optional("labels", LABELS, "Labels to find it by; expressions see `workflow.labels.<key>`.");

static ANNOTATIONS: Field<BTreeMap<Arc<str>, Value>> =
    Field::optional("annotations", LABELS, "Notes for people and tools; the engine does not look at them.");

impl Metadata {
    /// With what is only there.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            name: self.name.or(other.name),
            namespace: self.namespace.or(other.namespace),
            version: self.version.or(other.version),
            labels: if self.labels.is_empty() { other.labels } else { self.labels },
        }
    }

    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let object = cursor.object(&METADATA_TABLE, report)?;
        Some(Self { name: object.optional(&WORKFLOW_NAME), ..Self::rest(&object) })
    }

    fn of_runs(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let object = cursor.object(&RUN_METADATA_TABLE, report)?;
        Some(Self { name: object.optional(&RUN_NAME), ..Self::rest(&object) })
    }

    fn rest(object: &Object<'_, '_>) -> Self {
        object.optional(&ANNOTATIONS);
        Self {
            name: None,
            namespace: object.optional(&NAMESPACE),
            version: object.optional(&VERSION),
            labels: object.optional(&LABELS_FIELD).unwrap_or_default(),
        }
    }
}

/// Text, numbers and truth values by any key.
const LABELS: Form<BTreeMap<Arc<str>, Value>> = Form::new(
    labels,
    |_| json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } }),
);

fn labels(cursor: &Cursor<'_>, report: &Report) -> Option<BTreeMap<Arc<str>, Value>> {
    let mut labels = BTreeMap::new();
    for (key, value) in cursor.each_member(report)? {
        if matches!(value.tree.node, TreeNode::Array(_) | TreeNode::Object(_) | TreeNode::Null) {
            value.wrong_type("text", report);
        }
        labels.insert(key.name.clone(), value.tree.to_value());
    }
    Some(labels)
}
