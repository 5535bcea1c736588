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

pub(super) static CONTAINER_NAME: Field<Name> =
    Field::required("name", "the template's name", NAME, "Name of the template, unique in the document.");

pub(super) static CONTAINER_INPUTS: Field<ParametersDoc> = Field::optional(
    "inputs",
    INPUTS,
    "What it takes; its tasks see it as `inputs.parameters.x`, and the entrypoint's are given by `spec.arguments`.",
);

pub(super) static CONTAINER_OUTPUTS: Field<ParametersDoc> = Field::optional(
    "outputs",
    OUTPUTS,
    "What it passes on, whatever its phase; none declared: a dag nothing, a loop all aggregated, a pipeline its last task's.",
);

pub(super) static CONTAINER_CONDITIONS: Field<ConditionsDoc> = Field::optional(
    "phaseConditions",
    CONDITIONS,
    "What its phase is made of the computed one; they see `phase`, `tasks` and `children`.",
);

pub(super) static CONTAINER_TIMEOUT: Field<Millis> = Field::optional(
    "timeout",
    TIMEOUT,
    "How long it may last from the dispatch of its first leaf; then what is open is Cancelled, and it ends Timeout.",
);

pub(super) static CHILDREN_TOLERANCE: Field<Tolerance> = Field::optional(
    "continueOn",
    TOLERANCE,
    "Which ends of the tasks or iterations in it are tolerated; a task's own `continueOn` replaces it.",
);
