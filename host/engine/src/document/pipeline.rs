//! `pipeline`: tasks in order, in our spelling or in NoETL's labelled form.

mod labelled;

use serde_json::json;

use super::foreign;
use crate::{
    form::{Cursor, Field, Form, Object, Report, Table, whole},
    tree::TreeNode,
};

use self::labelled::LABELLED;
use super::{
    TaskDoc,
    container::{
        CONTAINER_CONDITIONS, CONTAINER_INPUTS, CONTAINER_NAME, CONTAINER_OUTPUTS, CONTAINER_TIMEOUT,
        NOT_A_CONTAINERS,
    },
    dag::TasksDoc,
    task::PIPELINE_TASK,
};

/// `pipeline`, without what all templates have.
#[derive(Clone, Debug)]
pub(crate) struct PipelineDoc {
    pub(crate) tasks: TasksDoc,
    pub(crate) max_jumps: u32,
}

pub(super) static PIPELINE: Table = Table::closed(
    "pipeline",
    "Tasks that run in order, one at a time; policy rules repeat, jump and end.",
    &[
        &CONTAINER_NAME,
        &TASKS,
        &MAX_JUMPS,
        &CONTAINER_INPUTS,
        &CONTAINER_OUTPUTS,
        &CONTAINER_CONDITIONS,
        &CONTAINER_TIMEOUT,
    ],
    &[NOT_A_CONTAINERS],
)
.knowing(foreign::CONTAINERS);

static TASKS: Field<TasksDoc> = Field::required(
    "tasks",
    "a list of tasks",
    Form::new(
        |cursor, report| TasksDoc::read(&TASK, cursor, report),
        |defs| json!({ "type": "array", "minItems": 1, "items": TASK.schema(defs) }),
    ),
    "The tasks in their order, at least one, each with a label of its own: `{name: fetch, …}`, or `fetch: {kind: …}`.",
);

static MAX_JUMPS: Field<u32> = Field::optional(
    "maxJumps",
    whole::<u32, 0, { u32::MAX as i64 }>().or_expression(),
    "Jumps at most; one more and the pipeline ends Error with the reason `max-jumps`.",
)
.or("1000");

/// Fields of which one alone is a task with much missing, not a label.
const OWN_FIELDS: [&str; 3] = ["name", "template", "executor"];

/// A task, in our spelling or in seed 002's labelled form: a single member, named by the label.
const TASK: Form<TaskDoc> = Form::new(task, |defs| {
    let own = OWN_FIELDS.map(|field| json!({ "required": [field] }));
    json!({
        "if": { "type": "object", "minProperties": 1, "maxProperties": 1, "not": { "anyOf": own } },
        "then": LABELLED.schema(defs),
        "else": PIPELINE_TASK.schema(defs),
    })
});

impl PipelineDoc {
    pub(super) fn read(object: &Object<'_, '_>) -> Self {
        Self { tasks: object.optional(&TASKS).unwrap_or_default(), max_jumps: object.or_default(&MAX_JUMPS) }
    }
}

fn task(cursor: &Cursor<'_>, report: &Report) -> Option<TaskDoc> {
    if let TreeNode::Object(members) = &cursor.tree.node
        && let [(key, _)] = members.as_slice()
        && !OWN_FIELDS.contains(&&*key.name)
    {
        return LABELLED.read(cursor, report);
    }
    PIPELINE_TASK.read(cursor, report)
}
