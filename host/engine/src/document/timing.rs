//! Timeouts that may be switched off, and timeout policies.

use serde_json::json;

use crate::{
    form::{BOOLEAN, Cursor, Field, Form, Report, TIMEOUT, Table, timeout},
    settings::TimeoutPolicy,
    time::Millis,
    tree::TreeNode,
};

/// `spec.timeout`; `None` is `none`.
pub(super) const TIMEOUT_OR_NONE: Form<Option<Millis>> = Form::new(
    |cursor, report| {
        if matches!(&cursor.tree.node, TreeNode::String(text) if &**text == "none") {
            return Some(None);
        }
        timeout(cursor, report, "write `none` to have no timeout").map(Some)
    },
    |defs| json!({ "anyOf": [TIMEOUT.schema(defs), { "const": "none" }] }),
);

/// Steep's timeout policy: a duration or `{timeout, errorOnTimeout}` (R-T1).
pub(super) const TIMEOUT_POLICY: Form<TimeoutPolicy> =
    Form::new(timeout_policy, |defs| json!({ "anyOf": [TIMEOUT.schema(defs), defs.object(&POLICY)] }));

static POLICY: Table = Table::closed(
    "timeoutPolicy",
    "A time limit, and the phase of the task after it.",
    &[&LENGTH, &ERROR_ON_TIMEOUT],
    &[],
);

static LENGTH: Field<Millis> =
    Field::required("timeout", "a duration", TIMEOUT, "The longest time allowed, more than 0.");

static ERROR_ON_TIMEOUT: Field<bool> = Field::optional(
    "errorOnTimeout",
    BOOLEAN,
    "Whether the task ends Error rather than Cancelled, which counts as a timeout, when the time is over and nothing retries it.",
)
.or("false");

fn timeout_policy(cursor: &Cursor<'_>, report: &Report) -> Option<TimeoutPolicy> {
    if !cursor.is_object() {
        return TIMEOUT
            .read(cursor, report)
            .map(|timeout| TimeoutPolicy { timeout, error_on_timeout: false });
    }
    let object = cursor.object(&POLICY, report)?;
    let error_on_timeout = object.or_default(&ERROR_ON_TIMEOUT);
    Some(TimeoutPolicy { timeout: object.optional(&LENGTH)?, error_on_timeout })
}
