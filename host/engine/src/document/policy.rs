//! `policy`: NoETL's rules (seed 002, SPEC section 9).

use std::sync::Arc;

use crate::{
    duration::LONGEST,
    plan::catalogue::{names, shape, values, warnings},
    retry::{Backoff, Growth, MaxAttempts},
    time::Millis,
    tree::Node,
};

use super::{
    ExprDoc, Report, ValueDoc,
    field::{pause, text, word},
    retry::count,
    walk::{Cursor, Name, Object, Site, listed_if_few},
};

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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Do {
    Retry,
    Continue,
    Jump,
    Break,
    Fail,
}

const ACTIONS: [(&str, Do); 5] = [
    ("retry", Do::Retry),
    ("continue", Do::Continue),
    ("jump", Do::Jump),
    ("break", Do::Break),
    ("fail", Do::Fail),
];

const UNMATCHED: [(&str, bool); 2] = [("continue", false), ("fail", true)];

/// How the delay grows, and its factor for an exponential one.
const BACKOFFS: [(&str, Growth); 3] =
    [("none", Growth::Factor(1.0)), ("linear", Growth::Linear), ("exponential", Growth::Factor(2.0))];

impl PolicyDoc {
    pub(super) fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let mut object = cursor.object(report)?;
        let decided = object.has("onUnmatched");
        let fail_unmatched =
            object.optional("onUnmatched", |cursor, report| word(&UNMATCHED, cursor, report));
        let rules = object.required("rules", "a list of rules", |cursor, report| {
            let items: Vec<_> = cursor.items(report)?.collect();
            let last = items.len();
            Some(
                items
                    .iter()
                    .enumerate()
                    .map(|(n, item)| RuleDoc::read(item, n + 1 == last, report))
                    .collect::<Vec<_>>(),
            )
        });
        object.finish();
        let rules = rules?;
        let is_read = rules.iter().all(Option::is_some);
        let policy = Self {
            rules: rules.into_iter().flatten().collect(),
            fail_unmatched: fail_unmatched.unwrap_or(false),
        };
        if is_read && !policy.rules.is_empty() && !policy.is_exhaustive() && !decided {
            let message = "no else rule; expected what happens when no rule matches";
            let warning = cursor.site().problem(&warnings::NO_ELSE, message);
            report.warning(warning.with_hint(
                "without one the workflow continues, even after an error; write `onUnmatched: fail`",
            ));
        }
        Some(policy)
    }

    /// Whether some rule always matches.
    pub(crate) fn is_exhaustive(&self) -> bool {
        let always = |rule: &RuleDoc| rule.when.as_ref().is_none_or(|when| when.expr.settled() == Some(true));
        self.rules.iter().any(always)
    }
}

impl RuleDoc {
    fn read(cursor: &Cursor<'_>, is_last: bool, report: &Report) -> Option<Self> {
        let mut object = cursor.object(report)?;
        // Asked for first, so that it does not pass for a misspelt `when`.
        let _ = object.get("then");
        let kind = object.exactly_one(&["when", "else"]);
        let when = (kind == Some("when")).then(|| object.optional("when", ExprDoc::read));
        let branch = object.get("else");
        if kind.is_none() && branch.is_some() {
            // Both have been reported as one problem; what they say is no further one.
            object.get("when");
            object.finish();
            return None;
        }
        if kind == Some("else") && !is_last {
            let message = "else before other rules; expected it at the end";
            report.problem(cursor.problem(&values::ELSE_RULE, message));
        }
        let rule = match branch.filter(|branch| !branch.is_null()) {
            Some(branch) => else_branch(&branch, &mut object, report),
            None => object.required("then", "an action, as `{do: continue}`", |c, r| Then::read(c, r)),
        };
        object.finish();
        let Then { action, set_iter, set_ctx } = rule?;
        // A condition that could not be read has been reported; its rule is not taken for an else.
        let when = match when {
            Some(condition) => Some(condition?),
            None => None,
        };
        Some(Self { site: cursor.site(), when, action, set_iter, set_ctx })
    }
}

/// `else: {then: …}`, and the common slip of leaving `then` out (R-N8).
fn else_branch(branch: &Cursor<'_>, rule: &mut Object<'_, '_>, report: &Report) -> Option<Then> {
    rule.refuse(
        &["then"],
        &values::ELSE_RULE,
        "beside `else`; expected it inside",
        "write `- else: {then: {do: …}}`",
    );
    let mut object = branch.object(report)?;
    if object.has("do") && !object.has("then") {
        let problem = branch.problem(&values::ELSE_RULE, "`do` directly in `else`; expected it in `then`");
        report.problem(problem.with_hint("write `- else: {then: {do: …}}`"));
        return None;
    }
    let then = object.required("then", "an action, as `{do: continue}`", Then::read);
    object.finish();
    then
}

struct Then {
    action: ActionDoc,
    set_iter: Vec<(Arc<str>, ValueDoc)>,
    set_ctx: Vec<(Arc<str>, ValueDoc)>,
}

impl Then {
    fn read(cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let mut object = cursor.object(report)?;
        let action = object.required("do", "an action", |cursor, report| word(&ACTIONS, cursor, report));
        let set_iter = object.optional("set_iter", assignments).unwrap_or_default();
        let set_ctx = object.optional("set_ctx", assignments).unwrap_or_default();
        let Some(action) = action else {
            // Which keys belong to an unknown action nobody can say.
            return None;
        };
        if action != Do::Retry {
            refuse(&mut object, &["attempts", "backoff", "delay"], "do: retry");
        }
        if action != Do::Jump {
            refuse(&mut object, &["to"], "do: jump");
        }
        let action = match action {
            Do::Continue => ActionDoc::Continue,
            Do::Break => ActionDoc::Break,
            Do::Fail => ActionDoc::Fail,
            Do::Jump => ActionDoc::Jump(object.required("to", "the label of a task", text)),
            Do::Retry => retry(&mut object),
        };
        object.finish();
        Some(Self { action, set_iter, set_ctx })
    }
}

fn refuse(object: &mut Object<'_, '_>, fields: &[&'static str], owner: &str) {
    let why = format!("beside another action; expected it with `{owner}` only");
    object.refuse(fields, &values::RULE_ACTION, &why, "remove it");
}

fn retry(object: &mut Object<'_, '_>) -> ActionDoc {
    let attempts =
        object.optional("attempts", |cursor, report| count(cursor, report, 1, i128::from(u32::MAX)));
    let growth = object.optional("backoff", |cursor, report| word(&BACKOFFS, cursor, report));
    let delay = object.optional("delay", seconds).unwrap_or(1000);
    let attempts = attempts.and_then(|n| u32::try_from(n).ok()).unwrap_or(3);
    let backoff = Backoff { delay, growth: growth.unwrap_or_default(), max_delay: None };
    ActionDoc::Retry { attempts: MaxAttempts::Limited(attempts), backoff }
}

/// A number of seconds, or a duration as text (R-R2).
fn seconds(cursor: &Cursor<'_>, report: &Report) -> Option<Millis> {
    let Node::Number(number) = &cursor.tree.node else { return pause(cursor, report) };
    #[expect(clippy::cast_precision_loss, reason = "the bound itself need not be exact")]
    let most = LONGEST as f64;
    let millis =
        number.as_f64().map(|seconds| (seconds * 1000.0).round()).filter(|ms| (0.0..=most).contains(ms));
    if millis.is_none() {
        let message = format!("found {number}; expected a number of seconds, 0 or more");
        report.problem(cursor.problem(&shape::OUT_OF_RANGE, message));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to lie in range")]
    millis.map(|millis| (millis as Millis).min(LONGEST))
}

fn assignments(cursor: &Cursor<'_>, report: &Report) -> Option<Vec<(Arc<str>, ValueDoc)>> {
    let object = cursor.object(report)?;
    let mut list = Vec::new();
    for (key, value) in object.members() {
        if key.name.is_empty() {
            report
                .problem(value.problem(&shape::INVALID_NAME, "empty name; expected the name of a variable"));
        }
        list.extend(ValueDoc::read(false)(&value, report).map(|value| (key.name.clone(), value)));
    }
    Some(list)
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
        report.problem(problem.with_hint_if(crate::suggest::did_you_mean(&to.value, labels)));
    }
}
