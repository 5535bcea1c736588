//! The three places where a task is written, and a plugin's manifest.

use serde_json::{Value as Json, json};

use crate::{
    form::{Defs, Form, Refusal, Rule, Table, When},
    problem::codes::shape,
};

use super::{TaskDoc, TaskSpot, fields::*};
use crate::document::foreign;

/// `task` in a template.
pub(in crate::document) const TASK_TEMPLATE: Form<TaskDoc> = Form::new(
    |cursor, report| {
        TaskDoc::read(&TaskSpot { table: &TEMPLATE, name: &NAME_FIELD, calls: false }, cursor, report)
    },
    |defs| defs.object(&TEMPLATE),
);

/// A task of a dag.
pub(in crate::document) const DAG_TASK: Form<TaskDoc> = Form::new(
    |cursor, report| TaskDoc::read(&TaskSpot { table: &DAG, name: &NAME_FIELD, calls: true }, cursor, report),
    |defs| defs.object(&DAG),
);

/// A task of a pipeline, in our spelling.
pub(in crate::document) const PIPELINE_TASK: Form<TaskDoc> = Form::new(
    |cursor, report| {
        TaskDoc::read(&TaskSpot { table: &PIPELINE, name: &LABEL_FIELD, calls: true }, cursor, report)
    },
    |defs| defs.object(&PIPELINE),
);

/// Fields of which a task has exactly one: they say which work it does.
pub(super) const WORK: &[&str] = &["template", "executor"];

static TEMPLATE: Table = Table::closed(
    "taskTemplate",
    "A task that is called by its name: an executor's work, or with `template` a wrapper, which runs a whole dag, loop or \
     pipeline as one task.",
    &[
        &NAME_FIELD,
        &EXECUTOR_FIELD,
        &TEMPLATE_FIELD,
        &ARGUMENTS_FIELD,
        &INPUTS_FIELD,
        &OUTPUTS_FIELD,
        &TIMEOUT_FIELD,
        &MAX_RUNTIME,
        &MAX_INACTIVITY,
        &DEADLINE,
        &RETRY_FIELD,
        &POLICY_FIELD,
        &CONTINUE_ON,
        &PHASE_CONDITIONS,
        &RESOURCES,
        &HOOKS_FIELD,
    ],
    &[
        Rule::Stated(retry_xor_policy),
        Rule::Refused(Refusal {
            fields: &["dependencies", "when"],
            when: When::Always,
            entry: &shape::NOT_ALLOWED,
            why: "in a task template; expected it where the template is called",
            hint: "move it to the dag's task",
        }),
        Rule::Refused(Refusal {
            fields: &["arguments"],
            when: When::Without(&["template"]),
            entry: &shape::NOT_ALLOWED,
            why: "in a task template with an executor; expected `inputs` with values",
            hint: "give the input a `value` or `default`",
        }),
        Rule::ExactlyOne(WORK),
    ],
).knowing(foreign::TASK);

static DAG: Table = Table::closed(
    "dagTask",
    "A task of a dag: a call of a template, or an inline executor.",
    &[
        &NAME_FIELD,
        &TEMPLATE_FIELD,
        &EXECUTOR_FIELD,
        &DEPENDENCIES,
        &ARGUMENTS_FIELD,
        &INPUTS_FIELD,
        &OUTPUTS_FIELD,
        &WHEN,
        &TIMEOUT_FIELD,
        &MAX_RUNTIME,
        &MAX_INACTIVITY,
        &DEADLINE,
        &RETRY_FIELD,
        &POLICY_FIELD,
        &CONTINUE_ON,
        &PHASE_CONDITIONS,
        &RESOURCES,
        &HOOKS_FIELD,
    ],
    &[Rule::ExactlyOne(WORK), Rule::Stated(retry_xor_policy), Rule::Refused(DECLARED_BY_A_CALL)],
)
.knowing(foreign::TASK);

static PIPELINE: Table = Table::closed(
    "pipelineTask",
    "A task of a pipeline: a call of a template, or an inline executor; NoETL's labelled form is another spelling.",
    &[
        &LABEL_FIELD,
        &TEMPLATE_FIELD,
        &EXECUTOR_FIELD,
        &ARGUMENTS_FIELD,
        &INPUTS_FIELD,
        &OUTPUTS_FIELD,
        &WHEN,
        &TIMEOUT_FIELD,
        &MAX_RUNTIME,
        &MAX_INACTIVITY,
        &DEADLINE,
        &RETRY_FIELD,
        &POLICY_FIELD,
        &PHASE_CONDITIONS,
        &RESOURCES,
        &HOOKS_FIELD,
    ],
    &[
        Rule::Stated(retry_xor_policy),
        Rule::Refused(ORDERED_BY_THE_PIPELINE),
        Rule::ExactlyOne(WORK),
        Rule::Refused(DECLARED_BY_A_CALL),
    ],
).knowing(foreign::TASK);

/// Fields with which a plugin's manifest gives defaults to the document.
pub(super) static MANIFEST: Table = Table::closed(
    "defaults",
    "A plugin's default policies.",
    &[&MAX_RUNTIME, &MAX_INACTIVITY, &DEADLINE, &RETRY_FIELD],
    &[],
);

const DECLARED_BY_A_CALL: Refusal = Refusal {
    fields: &["inputs", "outputs"],
    when: When::With("template"),
    entry: &shape::NOT_ALLOWED,
    why: "on a call of a template; expected it in the template",
    hint: "pass values as `arguments`",
};

/// Fields that no task of a pipeline has, in either spelling.
pub(in crate::document) const ORDERED_BY_THE_PIPELINE: Refusal = Refusal {
    fields: &["dependencies", "continueOn"],
    when: When::Always,
    entry: &shape::NOT_ALLOWED,
    why: "in a pipeline, whose tasks run in order; expected a policy rule",
    hint: "rules say what happens after an attempt: continue, jump, break, fail",
};

fn retry_xor_policy(_: &mut Defs) -> Json {
    json!({ "not": { "required": ["retry", "policy"] } })
}
