//! Doubts about what a document says that only show once everything is resolved.

use crate::{
    document::{ActionDoc, KindDoc, ParametersDoc, RecoveryDoc, SettingsDoc, TaskDoc, WorkDoc},
    retry::MaxAttempts,
};

use super::{
    catalogue::warnings::{EMPTY_OUTPUT, TIMEOUT_SPANS_RETRIES},
    executors::Defaults,
    index::{Callee, Index, tasks_of},
};

/// Warns about every doubtful call.
pub(super) fn check(index: &Index<'_>, defaults: &Defaults<'_>) {
    for (_, template) in index.templates() {
        if let KindDoc::Dag(_) = &template.kind {
            check_outputs(index, &template.outputs);
        }
        for task in tasks_of(template).into_iter().flat_map(|tasks| &tasks.list) {
            check_call(index, defaults, task);
        }
        if let KindDoc::Task(task) = &template.kind {
            check_levels(index, task, &[&task.settings, &manifest(defaults, task)]);
        }
    }
}

fn check_outputs(index: &Index<'_>, outputs: &ParametersDoc) {
    for output in outputs.list.iter().filter(|output| !output.has_source) {
        let message = format!("output `{}` has no source; expected `valueFrom`", output.name.value);
        index.report.warning(output.name.problem(&EMPTY_OUTPUT, message));
    }
}

fn check_call(index: &Index<'_>, defaults: &Defaults<'_>, task: &TaskDoc) {
    match index.callee(task) {
        Callee::Inline => check_levels(index, task, &[&task.settings, &manifest(defaults, task)]),
        Callee::Leaf(_, template) | Callee::Wrapper(_, template) => {
            let KindDoc::Task(called) = &template.kind else { return };
            check_levels(index, task, &[&task.settings, &template.settings, &manifest(defaults, called)]);
        }
        Callee::Container(..) | Callee::Unknown => {}
    }
}

fn manifest(defaults: &Defaults<'_>, task: &TaskDoc) -> SettingsDoc {
    match &task.work {
        WorkDoc::Executor(executor) => defaults.get(&*executor.kind.value).cloned().unwrap_or_default(),
        WorkDoc::Template(_) | WorkDoc::Unreadable => SettingsDoc::default(),
    }
}

/// R-T2: `timeout` spans all attempts.
fn check_levels(index: &Index<'_>, task: &TaskDoc, levels: &[&SettingsDoc]) {
    let has_timeout = levels.iter().any(|level| level.timeout.is_some());
    let bounded = levels.iter().any(|level| level.max_runtime.is_some());
    let recovery = levels.iter().find_map(|level| level.recovery.as_ref());
    if !has_timeout || bounded || !recovery.is_some_and(retries) {
        return;
    }
    // A template's own combination is reported at the template, once.
    let fields = ["timeout", "retry", "policy"];
    let Some(site) = fields.into_iter().find_map(|field| task.site_of(field)) else { return };
    let message = "`timeout` spans all attempts and delays; expected `maxRuntime` beside a retry";
    let warning = site.problem(&TIMEOUT_SPANS_RETRIES, message);
    index.report.warning(warning.with_hint("use maxRuntime to bound each attempt"));
}

fn retries(recovery: &RecoveryDoc) -> bool {
    match recovery {
        RecoveryDoc::Retry(retry) => !matches!(retry.max_attempts, MaxAttempts::Limited(0 | 1)),
        RecoveryDoc::Policy(policy) => {
            policy.rules.iter().any(|rule| matches!(rule.action, ActionDoc::Retry { attempts, .. } if attempts != MaxAttempts::Limited(1)))
        }
    }
}
