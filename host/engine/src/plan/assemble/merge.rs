//! Precedence: what stands nearer replaces what stands farther, field by field, each as a whole.

use crate::{
    document::{
        ActionDoc, ConditionsDoc, Dialect, ExprDoc, HooksDoc, PolicyDoc, RecoveryDoc, RetryDoc, RuleDoc,
        SettingsDoc, TasksDoc, TimeoutPolicyDoc,
    },
    plan::{
        Condition, Hooks, Level, PhaseConditions, Policy, PolicyRule, Recovery, RetryFilter, RetryPolicy,
        RuleAction, Settings, Tolerance,
    },
    time::Millis,
};

/// Hook runs are bounded by their own timeout, else by this (R-S12): 5 min.
const HOOK_TIMEOUT: Millis = 5 * 60 * 1000;

/// Settings of the call itself.
#[derive(Clone, Copy, Default)]
pub(super) struct CallSettings<'a> {
    pub(super) settings: Option<&'a SettingsDoc>,
    /// `continueOn` that nothing replaces: a loop's for its iterations, none for a pipeline's tasks.
    pub(super) tolerance: Option<Tolerance>,
    /// The dag's `continueOn`, for tasks without their own (R-S2).
    pub(super) children: Option<Tolerance>,
    /// The labels that jumps may name.
    pub(super) labels: Option<&'a TasksDoc>,
    /// A hook run: it fires no hooks of its own and is bounded in any case (R-S12).
    pub(super) hook_run: bool,
}

/// The levels at which settings stand, the nearest first.
pub(super) struct Layers<'a> {
    /// The dialect of the workflow file, which decides what plugins leave open, too.
    pub(super) dialect: &'static Dialect,
    pub(super) own: CallSettings<'a>,
    pub(super) template: Option<&'a SettingsDoc>,
    pub(super) manifest: Option<&'a SettingsDoc>,
}

impl<'a> CallSettings<'a> {
    pub(super) fn of(settings: &'a SettingsDoc) -> Self {
        Self { settings: Some(settings), ..Self::default() }
    }
}

impl<'a> Layers<'a> {
    /// The nearest value of a field, and whose names its expressions see.
    fn nearest<T>(&self, field: impl Fn(&'a SettingsDoc) -> Option<T>) -> Option<(T, Level)> {
        let own = self.own.settings.and_then(&field).map(|value| (value, Level::Node));
        let farther = || [self.template, self.manifest].into_iter().flatten().find_map(&field);
        own.or_else(|| farther().map(|value| (value, Level::Template)))
    }

    fn value<T>(&self, field: impl Fn(&'a SettingsDoc) -> Option<T>) -> Option<T> {
        self.nearest(field).map(|(value, _)| value)
    }

    /// The settings that count; `hooks` assembles hooks.
    pub(super) fn settings(&self, hooks: impl FnOnce(&HooksDoc, Level) -> Option<Hooks>) -> Option<Settings> {
        let hooks = match self.nearest(|level| level.hooks.as_ref()).filter(|_| !self.own.hook_run) {
            Some((doc, level)) => hooks(doc, level)?,
            None => Hooks::default(),
        };
        let recovery = match self.nearest(|level| level.recovery.as_ref()) {
            Some((doc, level)) => Some(self.recovery(doc, level)?),
            None => None,
        };
        let policy = |written: TimeoutPolicyDoc| written.policy(self.dialect);
        let conditions = self.nearest(|level| level.phase_conditions.as_ref());
        Some(Settings {
            timeout: self.value(|level| level.timeout).or(self.own.hook_run.then_some(HOOK_TIMEOUT)),
            max_runtime: self.value(|level| level.max_runtime).map(policy),
            max_inactivity: self.value(|level| level.max_inactivity).map(policy),
            deadline: self.value(|level| level.deadline).map(policy),
            recovery,
            continue_on: self.tolerance(),
            phase_conditions: conditions.map(|(doc, level)| phase_conditions(doc, level)).unwrap_or_default(),
            hooks,
        })
    }

    fn tolerance(&self) -> Tolerance {
        let written = self.value(|level| level.continue_on);
        self.own.tolerance.or(written).or(self.own.children).unwrap_or_default()
    }

    fn recovery(&self, doc: &RecoveryDoc, level: Level) -> Option<Recovery> {
        Some(match doc {
            RecoveryDoc::Retry(retry) => Recovery::Retry(retry_policy(retry, level, self.dialect)),
            RecoveryDoc::Policy(policy) => Recovery::Policy(self.policy(policy, level)?),
        })
    }

    fn policy(&self, doc: &PolicyDoc, level: Level) -> Option<Policy> {
        let rules = doc.rules.iter().map(|rule| self.rule(rule)).collect::<Option<_>>()?;
        Some(Policy { rules, fail_unmatched: doc.fail_unmatched, level })
    }

    fn rule(&self, doc: &RuleDoc) -> Option<PolicyRule> {
        let action = match &doc.action {
            ActionDoc::Continue => RuleAction::Continue,
            ActionDoc::Break => RuleAction::Break,
            ActionDoc::Fail => RuleAction::Fail,
            ActionDoc::Retry { attempts, backoff } => {
                RuleAction::Retry { attempts: *attempts, backoff: *backoff }
            }
            ActionDoc::Jump(to) => RuleAction::Jump(self.own.labels?.position(&to.as_ref()?.value)?),
        };
        let assignments = |list: &[(std::sync::Arc<str>, crate::document::ValueDoc)]| {
            list.iter().map(|(name, value)| (name.clone(), value.value.clone())).collect()
        };
        Some(PolicyRule {
            when: doc.when.as_ref().map(|when| when.expr.clone()),
            action,
            set_iter: assignments(&doc.set_iter),
            set_ctx: assignments(&doc.set_ctx),
        })
    }
}

fn condition(doc: &ExprDoc, level: Level) -> Condition {
    Condition { expr: doc.expr.clone(), level }
}

fn phase_conditions(doc: &ConditionsDoc, level: Level) -> PhaseConditions {
    let at = |doc: &Option<ExprDoc>| doc.as_ref().map(|doc| condition(doc, level));
    PhaseConditions { succeeded: at(&doc.succeeded), failed: at(&doc.failed), error: at(&doc.error) }
}

fn retry_policy(doc: &RetryDoc, level: Level, dialect: &Dialect) -> RetryPolicy {
    let filter = match &doc.expression {
        Some(expression) => RetryFilter::Expression(condition(expression, level)),
        None if doc.failed_too => RetryFilter::AnyFailure,
        None if dialect.retry_if_retryable => RetryFilter::Retryable,
        None => RetryFilter::ErrorOrTimeout,
    };
    RetryPolicy { max_attempts: doc.max_attempts, backoff: doc.backoff, filter, jitter: doc.jitter }
}
