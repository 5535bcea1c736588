//! The document's top: apiVersion, kind, metadata and spec.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    plan::catalogue::shape,
    time::Millis,
    tree::{Node, Tree},
    value::Value,
};

use super::{
    HooksDoc, ParametersDoc, Report, TemplateDoc,
    field::{boolean, name, text, timeout, whole, word},
    hooks,
    parameters::Use,
    schedule::schedule,
    walk::{Cursor, Name, Object},
};

/// A workflow as written.
#[derive(Debug)]
pub(crate) struct WorkflowDoc {
    pub(crate) name: Option<Name>,
    pub(crate) namespace: Option<Name>,
    pub(crate) version: Option<Name>,
    pub(crate) labels: BTreeMap<Arc<str>, Value>,
    pub(crate) cron: bool,
    pub(crate) spec: SpecDoc,
}

/// `spec`.
#[derive(Debug)]
pub(crate) struct SpecDoc {
    pub(crate) entrypoint: Option<Name>,
    pub(crate) arguments: ParametersDoc,
    pub(crate) timeout: Option<Millis>,
    pub(crate) priority: u16,
    pub(crate) parallelism: Option<u32>,
    pub(crate) max_nested_depth: usize,
    pub(crate) templates: Vec<TemplateDoc>,
    /// Whether every template has a readable name; if not, nothing follows from a missing one.
    pub(crate) sound: bool,
    pub(crate) hooks: HooksDoc,
}

/// `spec.timeout` where none is written: 1 h.
const TIMEOUT: Millis = 60 * 60 * 1000;

/// Reads a document; `None` when there is no spec to look at.
pub(crate) fn read(tree: &Tree, report: &Report) -> Option<WorkflowDoc> {
    let mut object = Cursor::root(tree).object(report)?;
    object.required("apiVersion", "`aether/v1`", |cursor, report| word(&[("aether/v1", ())], cursor, report));
    let kinds = [("Workflow", false), ("CronWorkflow", true)];
    let cron =
        object.required("kind", "`Workflow`", |cursor, report| word(&kinds, cursor, report)).unwrap_or(false);
    let metadata =
        object.required("metadata", "an object with the workflow's name", Metadata::read).unwrap_or_default();
    let spec = object.required("spec", "an object with entrypoint and templates", |cursor, report| {
        if cron { cron_spec(cursor, report) } else { SpecDoc::read(cursor, report) }
    });
    object.finish();
    let Metadata { name, namespace, version, labels } = metadata;
    Some(WorkflowDoc { name, namespace, version, labels, cron, spec: spec? })
}

#[derive(Default)]
struct Metadata {
    name: Option<Name>,
    namespace: Option<Name>,
    version: Option<Name>,
    labels: BTreeMap<Arc<str>, Value>,
}

impl Metadata {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let mut object = cursor.object(report)?;
        let name = object.required("name", "the workflow's name", name);
        Some(Self { name, ..Self::rest(object) })
    }

    /// What a schedule gives its runs, with a name or without.
    fn of_runs(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let mut object = cursor.object(report)?;
        let name = object.optional("name", name);
        Some(Self { name, ..Self::rest(object) })
    }

    fn rest(mut object: Object<'_, '_>) -> Self {
        let metadata = Self {
            name: None,
            namespace: object.optional("namespace", name),
            version: object.optional("version", text),
            labels: object.optional("labels", labels).unwrap_or_default(),
        };
        object.optional("annotations", labels);
        object.finish();
        metadata
    }
}

fn labels(cursor: &Cursor<'_>, report: &Report) -> Option<BTreeMap<Arc<str>, Value>> {
    let object = cursor.object(report)?;
    let mut labels = BTreeMap::new();
    for (key, value) in object.members() {
        if matches!(value.tree.node, Node::Array(_) | Node::Object(_) | Node::Null) {
            value.wrong_type("text", report);
        }
        labels.insert(key.name.clone(), value.tree.to_value());
    }
    Some(labels)
}

impl SpecDoc {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let mut object = cursor.object(report)?;
        let spec = Self::fields(&mut object);
        object.finish();
        Some(spec)
    }

    fn fields(object: &mut Object<'_, '_>) -> Self {
        let entrypoint = object.required("entrypoint", "the name of a template", text);
        let arguments = ParametersDoc::field(object, "arguments", Use::Inputs);
        let (templates, sound) =
            object.required("templates", "a list of templates", templates).unwrap_or_default();
        Self {
            entrypoint,
            arguments,
            timeout: object.optional("timeout", spec_timeout).unwrap_or(Some(TIMEOUT)),
            priority: object.optional("priority", whole(0..=1000)).unwrap_or(500),
            parallelism: object.optional("parallelism", whole(1..=u32::MAX)),
            max_nested_depth: object.optional("maxNestedDepth", whole(1..=10_u8)).unwrap_or(3).into(),
            templates,
            sound,
            hooks: object.optional("hooks", hooks::read).unwrap_or_default(),
        }
    }
}

/// `None` is `none`.
fn spec_timeout(cursor: &Cursor<'_>, report: &Report) -> Option<Option<Millis>> {
    if matches!(&cursor.tree.node, Node::String(text) if &**text == "none") {
        return Some(None);
    }
    timeout(cursor, report).map(Some)
}

fn templates(cursor: &Cursor<'_>, report: &Report) -> Option<(Vec<TemplateDoc>, bool)> {
    let items: Vec<_> = cursor.items(report)?.collect();
    if items.is_empty() {
        report.problem(cursor.problem(&shape::EMPTY, "empty list; expected at least one template"));
    }
    let list: Vec<_> = items.iter().filter_map(|item| TemplateDoc::read(item, report)).collect();
    let sound = !items.is_empty() && list.len() == items.len() && list.iter().all(|t| t.name.is_some());
    Some((list, sound))
}

/// A schedule around a workflow's spec: validated, but nothing runs it yet.
fn cron_spec(cursor: &Cursor<'_>, report: &Report) -> Option<SpecDoc> {
    let mut object = cursor.object(report)?;
    object.required("schedule", "five fields, as `0 * * * *`", schedule);
    for field in ["timezone", "startAt", "endAt"] {
        object.optional(field, text);
    }
    let policies = [("Allow", ()), ("Forbid", ()), ("Replace", ())];
    object.optional("concurrencyPolicy", |cursor, report| word(&policies, cursor, report));
    for field in ["startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        object.optional(field, whole(0..=u32::MAX));
    }
    object.optional("suspend", boolean);
    object.optional("workflowMetadata", Metadata::of_runs);
    let spec = object.required("workflowSpec", "the spec of the workflow to run", SpecDoc::read);
    object.finish();
    spec
}
