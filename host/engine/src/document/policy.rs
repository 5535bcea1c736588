//! `policy`: NoETL's rules.

mod action;

use std::sync::Arc;

use serde_json::json;

use crate::{
    form::{Cursor, Field, Form, Name, Refusal, Report, Rule, Site, Table, When, Words, listed_if_few, word},
    problem::codes::{names, values, warnings},
    settings::{Backoff, MaxAttempts},
};

use super::{ExprDoc, ValueDoc, expression::CONDITION};

use self::action::{THEN, Then};

/// `policy`.
#[derive(Clone, Debug)]
pub(crate) struct PolicyDoc {
    pub(crate) rules: Vec<RuleDoc>,
    pub(crate) fail_unmatched: bool,
}

/// One rule.
#[derive(Clone, Debug)]
pub(crate) struct RuleDoc {
    pub(crate) site: Site,
    /// Absent in an else rule.
    pub(crate) when: Option<ExprDoc>,
    pub(crate) action: ActionDoc,
    pub(crate) set_iter: Vec<(Arc<str>, ValueDoc)>,
    pub(crate) set_ctx: Vec<(Arc<str>, ValueDoc)>,
}

/// `then.do` with what belongs to it.
#[derive(Clone, Debug)]
pub(crate) enum ActionDoc {
    Continue,
    Retry { attempts: MaxAttempts, backoff: Backoff },
    Jump(Option<Name>),
    Break,
    Fail,
}

pub(super) const POLICY: Form<PolicyDoc> = Form::new(PolicyDoc::read, |defs| defs.object(&POLICY_TABLE));

static POLICY_TABLE: Table = Table::closed(
    "policy",
    "Rules that are evaluated after every attempt, in order: the first that matches decides the next step.",
    &[&RULES, &ON_UNMATCHED],
    &[],
);

static RULES: Field<Vec<Option<RuleDoc>>> = Field::required(
    "rules",
    "a list of rules",
    Form::new(rules, |defs| json!({ "type": "array", "items": defs.object(&RULE_TABLE) })),
    "The rules, at most one of them an `else`, and that one last.",
);

static ON_UNMATCHED: Field<UnmatchedOutcome> = Field::optional(
    "onUnmatched",
    word::<UnmatchedOutcome>(),
    "The result of an error that no rule matches, where there is no `else`; an ok outcome continues.",
)
.or("continue");

static RULE_TABLE: Table = Table::closed(
    "rule",
    "One rule: exactly one of `when` and `else`.",
    &[&RULE_WHEN, &ELSE, &RULE_THEN],
    &[
        Rule::ExactlyOne(&["when", "else"]),
        Rule::Refused(Refusal {
            fields: &["then"],
            when: When::Holds("else"),
            entry: &values::ELSE_RULE,
            why: "next to `else`; expected it inside",
            hint: "write `- else: {then: {do: …}}`",
        }),
        Rule::Needed { field: "then", when: When::Lacks("else"), expected: "an action, as `{do: continue}`" },
    ],
);

static RULE_WHEN: Field<ExprDoc> = Field::optional(
    "when",
    CONDITION,
    "The rule matches where this is true; one that fails or is no truth value does not match.",
);

static ELSE: Field<Option<Then>> = Field::optional(
    "else",
    Form::new(otherwise, |defs| json!({ "anyOf": [defs.object(&ELSE_TABLE), { "type": "null" }] })),
    "Matches always: `else: {then: …}`, or `else: null` with `then` next to it.",
);

static RULE_THEN: Field<Then> = Field::optional("then", THEN, "The action when the rule matches.");

static ELSE_TABLE: Table =
    Table::closed("else", "The action when no other rule matches.", &[&ELSE_THEN], &[]);

static ELSE_THEN: Field<Then> =
    Field::required("then", "an action, as `{do: continue}`", THEN, "The action.");

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum UnmatchedOutcome {
    #[default]
    Continue,
    Fail,
}

impl Words for UnmatchedOutcome {
    const WORDS: &'static [(&'static str, Self)] = &[("continue", Self::Continue), ("fail", Self::Fail)];
}

impl PolicyDoc {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let object = cursor.object(&POLICY_TABLE, report)?;
        let fail_unmatched = object.or_default(&ON_UNMATCHED) == UnmatchedOutcome::Fail;
        let rules = object.optional(&RULES)?;
        let is_read = rules.iter().all(Option::is_some);
        let policy = Self { rules: rules.into_iter().flatten().collect(), fail_unmatched };
        let decided = object.has("onUnmatched");
        if is_read && !policy.rules.is_empty() && !policy.is_exhaustive() && !decided {
            let message = "no else rule; expected what happens when no rule matches";
            let warning = cursor.site().problem(&warnings::NO_ELSE, message);
            report.warning(warning.with_hint(
                "without one the workflow continues, even after an error; write `onUnmatched: fail`, which an ok outcome \
passes by",
            ));
        }
        Some(policy)
    }

    /// Whether some rule always matches.
    pub(crate) fn is_exhaustive(&self) -> bool {
        let always =
            |rule: &RuleDoc| rule.when.as_ref().is_none_or(|when| when.expr.constant_truth() == Some(true));
        self.rules.iter().any(always)
    }
}

fn rules(cursor: &Cursor<'_>, report: &Report) -> Option<Vec<Option<RuleDoc>>> {
    let items = cursor.items(report)?;
    let last = items.len();
    Some(items.enumerate().map(|(n, item)| RuleDoc::read(&item, n + 1 == last, report)).collect())
}

impl RuleDoc {
    fn read(cursor: &Cursor<'_>, is_last: bool, report: &Report) -> Option<Self> {
        let object = cursor.object(&RULE_TABLE, report)?;
        let kind = object.only(&["when", "else"]);
        if kind.is_none() && object.has("else") {
            // Both have been reported as one problem; what they say is no further one.
            return None;
        }
        if kind == Some("else") && !is_last {
            let message = "else before other rules; expected it at the end";
            report.problem(cursor.problem(&values::ELSE_RULE, message));
        }
        let rule = match object.get("else") {
            Some(branch) if !branch.is_null() => object.optional(&ELSE).flatten(),
            Some(_) | None => object.optional(&RULE_THEN),
        };
        // A condition that could not be read has been reported; its rule is not taken for an else.
        let when = if object.has("when") { Some(object.optional(&RULE_WHEN)?) } else { None };
        let Then { action, set_iter, set_ctx } = rule?;
        Some(Self { site: cursor.site(), when, action, set_iter, set_ctx })
    }
}

/// `{then: …}`, the common slip of leaving `then` out (R-N8), or nothing.
fn otherwise(cursor: &Cursor<'_>, report: &Report) -> Option<Option<Then>> {
    if cursor.is_null() {
        return Some(None);
    }
    if cursor.has("do") && !cursor.has("then") {
        let problem = cursor.problem(&values::ELSE_RULE, "`do` directly in `else`; expected it in `then`");
        report.problem(problem.with_hint("write `- else: {then: {do: …}}`"));
        return None;
    }
    cursor.object(&ELSE_TABLE, report)?.optional(&ELSE_THEN).map(Some)
}

impl RuleDoc {
    /// Reports what only a pipeline's rule may do (R-N5).
    pub(crate) fn check_outside_pipeline(&self, report: &Report) {
        let action = match &self.action {
            ActionDoc::Jump(_) => Some("do: jump"),
            ActionDoc::Break => Some("do: break"),
            ActionDoc::Continue | ActionDoc::Retry { .. } | ActionDoc::Fail => None,
        };
        let sets = [(!self.set_iter.is_empty(), "set_iter"), (!self.set_ctx.is_empty(), "set_ctx")];
        let sets = sets.into_iter().filter_map(|(there, key)| there.then_some(key));
        for found in action.into_iter().chain(sets) {
            let message = format!("`{found}` outside a pipeline; expected retry, continue or fail");
            let problem = self.site.problem(&values::RULE_ACTION, message);
            report.problem(
                problem
                    .with_hint("only the tasks of a pipeline have an order to change and variables to set"),
            );
        }
    }

    /// Reports a jump to a label that the pipeline does not have.
    pub(crate) fn check_jump<'a>(&self, labels: impl Iterator<Item = &'a str> + Clone, report: &Report) {
        let ActionDoc::Jump(Some(to)) = &self.action else { return };
        if labels.clone().any(|label| label == &*to.value) {
            return;
        }
        let expected = listed_if_few(labels.clone(), "a label of this pipeline");
        let message = format!("unknown task `{}`; expected {expected}", to.value);
        let problem = to.problem(&names::UNKNOWN_TASK, message);
        report.problem(problem.with_hint_if(report.did_you_mean(&to.value, labels)));
    }
}
