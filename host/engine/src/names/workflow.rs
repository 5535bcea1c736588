//! `workflow`: the run itself.

use std::sync::Arc;

use super::{DeclarationSite, Members, Root, RunContext, Shape, member_of, walk};
use crate::{time::Timestamp, value::Value};

pub(super) static WORKFLOW: Root = Root {
    name: "workflow",
    visible: |_| true,
    shape: Shape::Object(&[
        ("name", Shape::Text),
        ("namespace", Shape::Text),
        ("id", Shape::Text),
        ("phase", Shape::Phase),
        ("scheduledTime", Shape::Any),
        ("submittedBy", Shape::Text),
        ("parameters", Shape::Declared(DeclarationSite::Workflow)),
        ("labels", Shape::Any),
        ("arguments", Shape::Object(&[("parameters", Shape::Declared(DeclarationSite::Workflow))])),
    ]),
    hint: "",
    value,
};

/// Returns the steps of a path behind the parameters of the workflow, which have two spellings. Absent for a path that reads anything
/// else.
pub(crate) fn workflow_parameter(path: &[Arc<str>]) -> Option<&[Arc<str>]> {
    let is = |at: usize, word: &str| path.get(at).is_some_and(|found| **found == *word);
    let parameters = if is(1, "arguments") { 2 } else { 1 };
    path.get(parameters + 1..).filter(|_| is(0, WORKFLOW.name) && is(parameters, "parameters"))
}

fn value(run: &dyn RunContext, path: Members<'_>) -> Value {
    let Some((first, rest)) = path.split_first() else { return Value::Null };
    let workflow = run.workflow();
    match (first.as_ref(), rest) {
        ("name", []) => workflow.name.clone().into(),
        ("namespace", []) => workflow.namespace.clone().into(),
        ("id", []) => workflow.id.clone().into(),
        ("phase", []) => workflow.phase.as_str().into(),
        ("scheduledTime", []) => {
            workflow.scheduled.map(Timestamp::to_rfc3339).map_or(Value::Null, Value::from)
        }
        ("submittedBy", []) => workflow.submitted_by.cloned().map_or(Value::Null, Value::from),
        ("parameters", rest) => member_of(workflow.parameters, rest),
        ("arguments", [key, rest @ ..]) if key.as_ref() == "parameters" => {
            member_of(workflow.parameters, rest)
        }
        ("labels", [label, rest @ ..]) => {
            workflow.labels.get(label).map_or(Value::Null, |value| walk(value, rest))
        }
        _ => Value::Null,
    }
}
