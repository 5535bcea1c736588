//! The fields of tasks.

use crate::{
    document::{
        ConditionsDoc, ExecutorDoc, ExprDoc, HooksDoc, ParametersDoc, PolicyDoc, RetryDoc, TimeoutPolicyDoc,
        conditions::{CONDITIONS, TOLERANCE},
        executor::EXECUTOR,
        expression::CONDITION,
        hooks::HOOKS,
        name::{LABEL, NAME},
        parameters::{ARGUMENTS, INPUTS, OUTPUTS},
        policy::POLICY,
        retry::RETRY,
        timing::TIMEOUT_POLICY,
    },
    form::{Cursor, Field, Form, IGNORED, Name, Report, SIZE, TEXT, TEXTS, TIMEOUT, Table},
    settings::Tolerance,
    time::Millis,
};

pub(super) static NAME_FIELD: Field<Name> = Field::required(
    "name",
    "the task's name",
    NAME,
    "Name of the task, unique among its neighbours; expressions see it as `tasks.<name>`.",
);

pub(super) static LABEL_FIELD: Field<Name> = Field::required(
    "name",
    "the task's name",
    LABEL,
    "Label of the task, unique in the pipeline; expressions see `tasks.<label>`, and its latest outputs as `<label>`.",
);

pub(super) static TEMPLATE_FIELD: Field<Name> = Field::optional(
    "template",
    TEXT,
    "Name of the template to call; in a task template, of the dag, loop or pipeline to wrap.",
);

pub(super) static EXECUTOR_FIELD: Field<ExecutorDoc> =
    Field::optional("executor", EXECUTOR, "The executor that does the work; instead of `template`.");

pub(super) static DEPENDENCIES: Field<Vec<Name>> = Field::optional(
    "dependencies",
    TEXTS,
    "Tasks of the same dag that must end first: Succeeded or Skipped, or with an end that is tolerated.",
);

pub(super) static ARGUMENTS_FIELD: Field<ParametersDoc> = Field::optional(
    "arguments",
    ARGUMENTS,
    "Arguments for the called template; they take precedence over the template's own values.",
);

pub(super) static INPUTS_FIELD: Field<ParametersDoc> = Field::optional(
    "inputs",
    INPUTS,
    "Inputs of the executor, bound once for all attempts; not on a call of a template.",
);

pub(super) static OUTPUTS_FIELD: Field<ParametersDoc> = Field::optional(
    "outputs",
    OUTPUTS,
    "Outputs of the task; none declared passes everything. Not on a call of a template.",
);

pub(super) static WHEN: Field<ExprDoc> = Field::optional(
    "when",
    CONDITION,
    "Evaluated once, when the task is ready: false skips it, and tasks that depend on it continue; a failing expression is an \
     Error.",
);

pub(super) static TIMEOUT_FIELD: Field<Millis> = Field::optional(
    "timeout",
    TIMEOUT.or_expression(),
    "How long the task may last from its first dispatch, retries, delays and suspension included; then it ends Timeout.",
)
.such_as(&["30s", "10m", "1h"]);

pub(in crate::document) static MAX_RUNTIME: Field<TimeoutPolicyDoc> = Field::optional(
    "maxRuntime",
    TIMEOUT_POLICY,
    "How long each attempt may run; a retry may follow, else the task ends Timeout, in `aether/v1` Cancelled, which counts as a \
     timeout, or Error if the policy says so.",
)
.such_as(&["30s", "5m"]);

pub(in crate::document) static MAX_INACTIVITY: Field<TimeoutPolicyDoc> = Field::optional(
    "maxInactivity",
    TIMEOUT_POLICY,
    "How long an attempt may show no sign of life (log, output, heartbeat, progress, host call); then as `maxRuntime`.",
)
.such_as(&["30s", "2m"]);

pub(in crate::document) static DEADLINE: Field<TimeoutPolicyDoc> = Field::optional(
    "deadline",
    TIMEOUT_POLICY,
    "How long the task may last from its first dispatch, whatever it does; ends it without conditions or retry.",
)
.such_as(&["1h", "1d"]);

pub(super) static RETRY_FIELD: Field<RetryDoc> =
    Field::optional("retry", RETRY, "Which attempts are retried; not together with `policy`.");

pub(super) static POLICY_FIELD: Field<PolicyDoc> = Field::optional(
    "policy",
    POLICY,
    "Rules that say what happens after each attempt; not together with `retry`.",
);

pub(super) static CONTINUE_ON: Field<Tolerance> = Field::optional(
    "continueOn",
    TOLERANCE,
    "Which ends of this task its dag tolerates; a template's is the default of its calls.",
);

pub(super) static PHASE_CONDITIONS: Field<ConditionsDoc> = Field::optional(
    "phaseConditions",
    CONDITIONS,
    "Expressions that decide an attempt's phase in place of its code.",
);

pub(super) static HOOKS_FIELD: Field<HooksDoc> =
    Field::optional("hooks", HOOKS, "Tasks that run when this one changes its phase.");

/// Bytes of memory, when it says so.
pub(super) static RESOURCES: Field<Option<u64>> = Field::optional(
    "resources",
    Form::new(resources, |defs| defs.object(&RESOURCES_TABLE)),
    "Resources of an attempt.",
);

static RESOURCES_TABLE: Table =
    Table::closed("resources", "Resources of an attempt.", &[&MEMORY, &CPU, &GPU], &[]);

static MEMORY: Field<u64> = Field::optional(
    "memory",
    SIZE,
    "Memory of the guest, such as `64Mi`; lowers the operator's limit and never raises it.",
);

static CPU: Field<()> = Field::optional("cpu", IGNORED, "Ignored, with a warning.");

static GPU: Field<()> = Field::optional("gpu", IGNORED, "Ignored, with a warning.");

fn resources(cursor: &Cursor<'_>, report: &Report) -> Option<Option<u64>> {
    let object = cursor.object(&RESOURCES_TABLE, report)?;
    [&CPU, &GPU].into_iter().for_each(|field| object.warn_ignored(field, "`memory` only", ""));
    Some(object.optional(&MEMORY))
}
