//! `phaseConditions` and `continueOn`.

use crate::{
    form::{BOOLEAN, Field, Form, IGNORED, Table},
    settings::Tolerance,
};

use super::{ExprDoc, expression::CONDITION};

/// `phaseConditions`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConditionsDoc {
    pub(crate) succeeded: Option<ExprDoc>,
    pub(crate) failed: Option<ExprDoc>,
    pub(crate) error: Option<ExprDoc>,
}

pub(super) const CONDITIONS: Form<ConditionsDoc> = Form::new(
    |cursor, report| {
        let object = cursor.object(&CONDITIONS_TABLE, report)?;
        for field in [&SKIPPED, &CANCELLED] {
            let hint = "only the engine skips and cancels";
            object.warn_ignored(field, "`succeeded`, `failed` or `error`", hint);
        }
        Some(ConditionsDoc {
            succeeded: object.optional(&SUCCEEDED),
            failed: object.optional(&FAILED),
            error: object.optional(&ERROR),
        })
    },
    |defs| defs.object(&CONDITIONS_TABLE),
);

static CONDITIONS_TABLE: Table = Table::closed(
    "phaseConditions",
    "Expressions over the finished attempt that decide its phase: the first true one in the order succeeded, failed, error; \
     none, and the code decides. They are not evaluated after an attempt that a clock ended.",
    &[&SUCCEEDED, &FAILED, &ERROR, &SKIPPED, &CANCELLED],
    &[],
);

static SUCCEEDED: Field<ExprDoc> = Field::optional("succeeded", CONDITION, "True makes the phase Succeeded.");

static FAILED: Field<ExprDoc> =
    Field::optional("failed", CONDITION, "True, and `succeeded` not, makes the phase Failed.");

static ERROR: Field<ExprDoc> =
    Field::optional("error", CONDITION, "True, and none of the others, makes the phase Error.");

static SKIPPED: Field<()> = Field::optional("skipped", IGNORED, "Ignored, with a warning.");

static CANCELLED: Field<()> = Field::optional("cancelled", IGNORED, "Ignored, with a warning.");

impl ConditionsDoc {
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &ExprDoc> {
        [&self.succeeded, &self.failed, &self.error].into_iter().flatten()
    }
}

/// `continueOn`.
pub(super) const TOLERANCE: Form<Tolerance> = Form::new(
    |cursor, report| {
        let object = cursor.object(&TOLERANCE_TABLE, report)?;
        Some(Tolerance {
            failed: object.or_default(&ON_FAILED),
            error: object.or_default(&ON_ERROR),
            timeout: object.or_default(&ON_TIMEOUT),
        })
    },
    |defs| defs.object(&TOLERANCE_TABLE),
);

static TOLERANCE_TABLE: Table = Table::closed(
    "continueOn",
    "Ends of a task that are no failure of its container.",
    &[&ON_FAILED, &ON_ERROR, &ON_TIMEOUT],
    &[],
);

static ON_FAILED: Field<bool> =
    Field::optional("failed", BOOLEAN, "Whether Failed is tolerated.").or("false");

static ON_ERROR: Field<bool> = Field::optional("error", BOOLEAN, "Whether Error is tolerated.").or("false");

static ON_TIMEOUT: Field<bool> = Field::optional(
    "timeout",
    BOOLEAN,
    "Whether Timeout is tolerated, and Cancelled with the reason `timeout-policy`.",
)
.or("false");
