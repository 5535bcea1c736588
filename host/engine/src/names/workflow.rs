//! `workflow`: the run itself.

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
