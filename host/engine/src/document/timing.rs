//! Timeouts that may be switched off, and timeout policies.

use serde_json::json;

use crate::{
    form::{BOOLEAN, Cursor, Field, Form, Report, TIMEOUT, Table, timeout},
    settings::{Expiry, TimeoutPolicy},
    time::Millis,
    tree::TreeNode,
};

use super::Dialect;

/// `spec.timeout`, or its default.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunTimeout {
    /// `None` is without limit.
    pub(crate) length: Option<Millis>,
    /// Whether it counts active time only: none in which the run only waits for people.
    pub(crate) pauses: bool,
    /// Whether nothing is written that says so.
    pub(crate) is_default: bool,
}

impl RunTimeout {
    pub(super) fn default_of(dialect: &Dialect) -> Self {
        let length = dialect.run_timeout;
        Self { length, pauses: length.is_some(), is_default: true }
    }
}

pub(super) const RUN_TIMEOUT: Form<RunTimeout> = Form::new(run_timeout, |defs| {
    let mut forms = vec![TIMEOUT.schema(defs), json!({ "const": "none" })];
    if Dialect::of_schema(defs).active_timeout {
        forms.push(defs.object(&ACTIVE_TABLE));
    }
    json!({ "anyOf": forms })
})
.or_expression();

static ACTIVE_TABLE: Table = Table::closed(
    "activeTimeout",
    "A time limit that counts active time only: none in which the run only waits for people. Not in `aether/v1`, where the default \
     counts so.",
    &[&ACTIVE],
    &[],
);

static ACTIVE: Field<Millis> =
    Field::required("active", "a duration", TIMEOUT.or_expression(), "The longest active time, more than 0.");

fn run_timeout(cursor: &Cursor<'_>, report: &Report) -> Option<RunTimeout> {
    let none = "write `none` to have no timeout";
    if cursor.is_object() {
        let dialect = Dialect::of(report);
        if !dialect.active_timeout {
            report.problem(dialect.problem("`{active: …}`", "a duration or `none`", &cursor.site()));
        }
        let length = cursor.object(&ACTIVE_TABLE, report)?.optional(&ACTIVE)?;
        return Some(RunTimeout { length: Some(length), pauses: true, is_default: false });
    }
    if matches!(&cursor.tree.node, TreeNode::String(text) if &**text == "none") {
        return Some(RunTimeout::default());
    }
    timeout(cursor, report, none).map(|length| RunTimeout { length: Some(length), ..RunTimeout::default() })
}

/// A timeout policy as written: what it leaves open depends on the dialect of the workflow file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeoutPolicyDoc {
    pub(crate) timeout: Millis,
    /// Absent: the dialect's.
    error_on_timeout: Option<bool>,
}

impl TimeoutPolicyDoc {
    /// The policy in a file of `dialect`.
    pub(crate) fn policy(self, dialect: &Dialect) -> TimeoutPolicy {
        TimeoutPolicy {
            timeout: self.timeout,
            expiry: self.error_on_timeout.map_or(dialect.expiry, Expiry::of),
        }
    }
}

/// Steep's timeout policy: a duration or `{timeout, errorOnTimeout}` (R-T1).
pub(super) const TIMEOUT_POLICY: Form<TimeoutPolicyDoc> =
    Form::new(timeout_policy, |defs| json!({ "anyOf": [TIMEOUT.schema(defs), defs.object(&POLICY)] }))
        .or_expression();

static POLICY: Table = Table::closed(
    "timeoutPolicy",
    "A time limit, and the phase of the task after it.",
    &[&LENGTH, &ERROR_ON_TIMEOUT],
    &[],
);

static LENGTH: Field<Millis> = Field::required(
    "timeout",
    "a duration",
    TIMEOUT.or_expression(),
    "The longest time allowed, more than 0.",
);

static ERROR_ON_TIMEOUT: Field<bool> = Field::optional(
    "errorOnTimeout",
    BOOLEAN,
    "End of the task when the time is over and nothing retries it: `true` is Error, `false` is Cancelled, which counts as a timeout. \
     Absent: Timeout, and in `aether/v1` as `false`.",
);

fn timeout_policy(cursor: &Cursor<'_>, report: &Report) -> Option<TimeoutPolicyDoc> {
    if !cursor.is_object() {
        return TIMEOUT
            .read(cursor, report)
            .map(|timeout| TimeoutPolicyDoc { timeout, error_on_timeout: None });
    }
    let object = cursor.object(&POLICY, report)?;
    let error_on_timeout = object.optional(&ERROR_ON_TIMEOUT);
    Some(TimeoutPolicyDoc { timeout: object.optional(&LENGTH)?, error_on_timeout })
}
