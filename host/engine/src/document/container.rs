//! Fields that dags, loops and pipelines share.

use crate::{
    form::{Field, Name, Rule, TIMEOUT},
    settings::Tolerance,
    time::Millis,
};

use super::{
    ConditionsDoc, ParametersDoc,
    conditions::{CONDITIONS, TOLERANCE},
    name::NAME,
    parameters::{INPUTS, OUTPUTS},
};

/// Settings that only a task can have (R-R9), because it is attempted as a whole.
pub(super) const NOT_A_CONTAINERS: Rule =
    Rule::Misplaced(&["retry", "policy", "maxRuntime", "deadline", "maxInactivity", "resources", "hooks"]);

pub(super) static CONTAINER_NAME: Field<Name> = Field::required(
    "name",
    "the template's name",
    NAME,
    "Name of the template, unique in the workflow file.",
);

pub(super) static CONTAINER_INPUTS: Field<ParametersDoc> = Field::optional(
    "inputs",
    INPUTS,
    "Its inputs; its tasks see them as `inputs.parameters.x`, and the entrypoint's are given by `spec.arguments`.",
);

pub(super) static CONTAINER_OUTPUTS: Field<ParametersDoc> = Field::optional(
    "outputs",
    OUTPUTS,
    "Its outputs, whatever its phase; none declared: a dag passes nothing, a loop all aggregated ones, a pipeline its last \
     task's.",
);

pub(super) static CONTAINER_CONDITIONS: Field<ConditionsDoc> = Field::optional(
    "phaseConditions",
    CONDITIONS,
    "Conditions that change its computed phase; they see `phase`, `tasks` and `children`.",
);

pub(super) static CONTAINER_TIMEOUT: Field<Millis> = Field::optional(
    "timeout",
    TIMEOUT.or_expression(),
    "How long it may last from the dispatch of its first leaf; then open tasks are Cancelled, and it ends Timeout.",
);

pub(super) static CHILDREN_TOLERANCE: Field<Tolerance> = Field::optional(
    "continueOn",
    TOLERANCE,
    "Which ends of the tasks or iterations in it are tolerated; a task's own `continueOn` replaces it.",
);
