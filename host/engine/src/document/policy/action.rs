//! `then`: what a rule does.

use std::sync::Arc;

use serde_json::json;

use crate::{
    document::ValueDoc,
    form::{
        Cursor, Field, Form, Name, Object, Refusal, Report, Rule, SECONDS, TEXT, Table, When, Words, count,
        word,
    },
    problem::codes::{shape, values, warnings::NO_EFFECT},
    settings::{Backoff, Growth, MaxAttempts},
    time::Millis,
};

use super::ActionDoc;

/// An action with what it sets before.
pub(super) struct Then {
    pub(super) action: ActionDoc,
    pub(super) set_iter: Assignments,
    pub(super) set_ctx: Assignments,
}

type Assignments = Vec<(Arc<str>, ValueDoc)>;

pub(super) const THEN: Form<Then> = Form::new(Then::read, |defs| defs.object(&THEN_TABLE));

static THEN_TABLE: Table = Table::closed(
    "then",
    "An action and its settings. `jump`, `break`, `set_iter` and `set_ctx` exist in pipelines only.",
    &[&DO, &ATTEMPTS, &BACKOFF, &DELAY, &TO, &SET_ITER, &SET_CTX],
    &[
        Rule::Refused(Refusal {
            fields: &["attempts", "backoff", "delay"],
            when: When::Says("do", &["continue", "jump", "break", "fail"]),
            entry: &values::RULE_ACTION,
            why: "next to another action; expected it with `do: retry` only",
            hint: "remove it",
        }),
        Rule::Refused(Refusal {
            fields: &["to"],
            when: When::Says("do", &["retry", "continue", "break", "fail"]),
            entry: &values::RULE_ACTION,
            why: "next to another action; expected it with `do: jump` only",
            hint: "remove it",
        }),
        Rule::Needed { field: "to", when: When::Says("do", &["jump"]), expected: "the label of a task" },
    ],
);

static DO: Field<Do> = Field::required(
    "do",
    "an action",
    word::<Do>(),
    "`retry` makes another attempt, `continue` continues, `jump` continues at a label, `break` ends the pipeline well, `fail` \
     ends the task Failed.",
);

static ATTEMPTS: Field<u32> = Field::optional(
    "attempts",
    count::<u32, 1, { u32::MAX as i64 }>().or_expression(),
    "With `retry`: attempts in all, the first one counted; used up, the task fails.",
)
.or("3");

static BACKOFF: Field<Growth> = Field::optional(
    "backoff",
    word::<Growth>(),
    "With `retry`: how the delay grows, not at all, by `delay` a time (`linear`) or twofold (`exponential`).",
)
.or("none");

static DELAY: Field<Millis> = Field::optional(
    "delay",
    SECONDS.or_expression(),
    "With `retry`: seconds as a number, or a duration as text, before the second attempt.",
)
.or("1.0");

static TO: Field<Name> =
    Field::optional("to", TEXT, "With `jump`: the label of a task of the same pipeline.");

static SET_ITER: Field<Assignments> = Field::optional(
    "set_iter",
    ASSIGNMENTS,
    "Variables of this run of the pipeline to set before the action; seen as `iter`.",
);

static SET_CTX: Field<Assignments> = Field::optional(
    "set_ctx",
    ASSIGNMENTS,
    "Variables of the workflow's run to set before the action; seen as `ctx`.",
);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Do {
    Retry,
    Continue,
    Jump,
    Break,
    Fail,
}

impl Words for Do {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("retry", Self::Retry),
        ("continue", Self::Continue),
        ("jump", Self::Jump),
        ("break", Self::Break),
        ("fail", Self::Fail),
    ];
}

/// How the delay grows, and its factor for an exponential one.
impl Words for Growth {
    const WORDS: &'static [(&'static str, Self)] =
        &[("none", Self::Factor(1.0)), ("linear", Self::Linear), ("exponential", Self::Factor(2.0))];
}

impl Then {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let object = cursor.object(&THEN_TABLE, report)?;
        let set_iter = object.optional(&SET_ITER).unwrap_or_default();
        let set_ctx = object.optional(&SET_CTX).unwrap_or_default();
        let action = match object.optional(&DO)? {
            Do::Continue => ActionDoc::Continue,
            Do::Break => ActionDoc::Break,
            Do::Fail => ActionDoc::Fail,
            Do::Jump => ActionDoc::Jump(object.optional(&TO)),
            Do::Retry => retry(&object),
        };
        Some(Self { action, set_iter, set_ctx })
    }
}

fn retry(object: &Object<'_, '_>) -> ActionDoc {
    let growth = object.or_default(&BACKOFF);
    let backoff = Backoff { delay: object.or_default(&DELAY), growth, max_delay: None };
    let attempts = object.or_default(&ATTEMPTS);
    warn_without_effect(object, attempts, backoff);
    ActionDoc::Retry { attempts: MaxAttempts::Limited(attempts), backoff }
}

/// Warns about settings of a delay that never passes or does not grow (R-R3).
fn warn_without_effect(object: &Object<'_, '_>, attempts: u32, backoff: Backoff) {
    let (ignored, why): (&[&str], _) = if attempts == 1 {
        (&["backoff", "delay"], "with one attempt there is no retry")
    } else if backoff.delay == 0 && backoff.growth != Growth::default() {
        (&["backoff"], "a delay of 0 does not grow")
    } else {
        (&[], "")
    };
    let found = ignored.iter().find_map(|field| object.key_site(field).map(|site| (field, site)));
    if let Some((field, site)) = found {
        let message = format!("`{field}` has no effect; expected more than one attempt, and a delay");
        object.report.warning(site.problem(&NO_EFFECT, message).with_hint(why));
    }
}

/// Variables by name.
const ASSIGNMENTS: Form<Assignments> =
    Form::new(assignments, |_| json!({ "type": "object", "propertyNames": { "minLength": 1 } }));

fn assignments(cursor: &Cursor<'_>, report: &Report) -> Option<Assignments> {
    let mut list = Vec::new();
    for (key, value) in cursor.each_member(report)? {
        if key.name.is_empty() {
            report
                .problem(value.problem(&shape::INVALID_NAME, "empty name; expected the name of a variable"));
        }
        list.extend(ValueDoc::read(false, &value, report).map(|value| (key.name.clone(), value)));
    }
    Some(list)
}
