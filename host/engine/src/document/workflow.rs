//! The document's top: apiVersion, kind, metadata and spec.

mod cron;
mod metadata;
mod other_system;
mod schedule;

mod spec;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::json;

use super::{
    SettingDoc,
    dialect::{Dialect, PHASM},
    foreign, setting,
};
use crate::{
    form::{AnyField as _, Cursor, Field, Form, Name, Report, Rule, Table, Words, word},
    schedule::Cron,
    tree::Tree,
    value::Value,
};

use self::{
    cron::{CRON_SPEC, CronDoc},
    metadata::Metadata,
    spec::{SPEC_OF_WORKFLOW, SpecDoc},
};

/// A workflow as written.
#[derive(Debug)]
pub(crate) struct WorkflowDoc {
    pub(crate) dialect: &'static Dialect,
    pub(crate) name: Option<Name>,
    pub(crate) namespace: Option<Name>,
    pub(crate) version: Option<Name>,
    pub(crate) labels: BTreeMap<Arc<str>, Value>,
    /// The schedule of a CronWorkflow; `None` for a plain workflow.
    pub(crate) cron: Option<Cron>,
    pub(crate) spec: SpecDoc,
    /// Timeouts, delays and counts that are expressions.
    pub(crate) settings: Vec<SettingDoc>,
}

impl WorkflowDoc {
    /// Returns the namespace that the workflow belongs to.
    pub(crate) fn namespace(&self) -> Arc<str> {
        self.namespace.as_ref().map_or_else(|| Arc::from("default"), |name| name.value.clone())
    }
}

pub(super) static WORKFLOW: Table = Table::closed(
    "workflow",
    "A workflow as written, in JSON or YAML.",
    &[&API_VERSION, &KIND, &METADATA, &SPEC],
    &[Rule::Stated(|defs| {
        json!({
            "if": { "properties": { "kind": { "const": "CronWorkflow" } }, "required": ["kind"] },
            "then": { "properties": { "spec": CRON_SPEC.schema(defs) } },
            "else": { "properties": { "spec": SPEC_OF_WORKFLOW.schema(defs) } },
        })
    })],
)
.knowing(foreign::WORKFLOW);

static API_VERSION: Field<&'static Dialect> = Field::required(
    "apiVersion",
    "`phasm/v1` or `aether/v1`",
    word::<&'static Dialect>(),
    "The language of the workflow file: `phasm/v1`, or `aether/v1` for files of the engine Aether.",
);

static KIND: Field<DocumentKind> = Field::required(
    "kind",
    "`Workflow`",
    word::<DocumentKind>(),
    "`Workflow`, or `CronWorkflow` with a schedule.",
);

static METADATA: Field<Metadata> = Field::required(
    "metadata",
    "an object with the workflow's name",
    metadata::METADATA,
    "Name and labels of the workflow.",
);

/// Which of two objects it is depends on the kind.
static SPEC: Field<()> = Field::required(
    "spec",
    "an object with entrypoint and templates",
    Form::new(|_, _| Some(()), |_| json!({})),
    "The definition of the workflow; for a `CronWorkflow`, also its schedule.",
);

#[derive(Clone, Copy, PartialEq, Eq)]
enum DocumentKind {
    Workflow,
    Cron,
}

impl Words for DocumentKind {
    const WORDS: &'static [(&'static str, Self)] =
        &[("Workflow", Self::Workflow), ("CronWorkflow", Self::Cron)];
}

/// Reads a document; `None` when there is no spec to look at.
pub(crate) fn read(tree: &Tree, report: &Report) -> Option<WorkflowDoc> {
    let document = Cursor::root(tree);
    if let Some(problem) = other_system::problem_of(&document) {
        report.problem(problem);
        return None;
    }
    let object = document.object(&WORKFLOW, report)?;
    // Where it is unknown, no spelling is wrong.
    let dialect = object.optional(&API_VERSION).unwrap_or(&PHASM);
    // Before everything that differs by it.
    dialect.begin(report);
    let is_cron = object.optional(&KIND) == Some(DocumentKind::Cron);
    let metadata = object.optional(&METADATA).unwrap_or_default();
    let spec = object.get(SPEC.name())?;
    let CronDoc { cron, runs, spec } = if is_cron {
        CRON_SPEC.read(&spec, report)?
    } else {
        let spec = SPEC_OF_WORKFLOW.read(&spec, report)?;
        CronDoc { cron: None, runs: Metadata::default(), spec }
    };
    let own = metadata.name.as_ref().map(|name| Arc::clone(&name.value));
    let cron = cron.zip(own).map(|(cron, name)| Cron { name, ..cron });
    let Metadata { name, namespace, version, labels } = runs.or(metadata);
    let settings = setting::found(report);
    Some(WorkflowDoc { dialect, name, namespace, version, labels, cron, spec, settings })
}
