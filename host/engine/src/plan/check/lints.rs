//! Doubts about what a document says that only show once everything is resolved.

use crate::{
    document::{ActionDoc, KindDoc, LoopDoc, ParametersDoc, RecoveryDoc, SettingsDoc, TaskDoc},
    plan::{
        MaxAttempts,
        executors::Defaults,
        resolve::{
            graph::Graphs,
            index::{Callee, Index, tasks_of},
        },
    },
    problem::codes::warnings::{EMPTY_OUTPUT, TIMEOUT_SPANS_RETRIES},
};

use super::{reading, visible::outputs_of_template};

mod rules;
mod secrets;
mod unreached;

/// Warns about everything doubtful.
pub(super) fn check(index: &Index<'_>, graphs: &Graphs, defaults: &Defaults<'_>) {
    secrets::check(index);
    for (id, template) in index.templates() {
        check_rules(index, &template.settings);
        match &template.kind {
            KindDoc::Dag(dag) => {
                check_outputs(index, &template.outputs);
                if let Some(graph) = graphs.get(&id) {
                    unreached::check_dag(index, dag, graph);
                }
            }
            KindDoc::Pipeline(pipeline) => unreached::check_pipeline(index, pipeline),
            KindDoc::Loop(read) => check_aggregated(index, read, &template.outputs),
            KindDoc::Task(_) => {}
        }
        for task in tasks_of(template).into_iter().flat_map(|tasks| &tasks.list) {
            check_rules(index, &task.settings);
            check_call(index, defaults, task);
        }
        if let KindDoc::Task(task) = &template.kind {
            check_levels(index, task, &[&task.settings, &manifest(defaults, task)]);
        }
    }
}

fn check_rules(index: &Index<'_>, settings: &SettingsDoc) {
    if let Some(RecoveryDoc::Policy(policy)) = &settings.recovery {
        rules::check(policy, index.report);
    }
}

fn check_outputs(index: &Index<'_>, outputs: &ParametersDoc) {
    for output in outputs.list.iter().filter(|output| !output.has_source) {
        let message = format!("output `{}` has no source; expected `valueFrom`", output.name.value);
        index.report.warning(output.name.problem(&EMPTY_OUTPUT, message));
    }
}

/// Checks the aggregated outputs of a loop: those of its outputs that have no source (R-B7).
fn check_aggregated(index: &Index<'_>, read: &LoopDoc, outputs: &ParametersDoc) {
    let body = read.body.as_ref().and_then(|name| index.find(name));
    let Some((_, body)) = body else { return };
    let has = |name: &str| reading::output(index, &outputs_of_template(index, body), "", name).is_ok();
    let counts = |name: &str| {
        read.aggregated.as_ref().is_none_or(|names| names.iter().any(|counted| &*counted.value == name))
    };
    for output in outputs.list.iter().filter(|output| !output.has_source) {
        let name = &*output.name.value;
        if !(has(name) && counts(name)) {
            let message = format!("output `{name}` is not aggregated; expected an output of the body");
            index.report.warning(output.name.problem(&EMPTY_OUTPUT, message));
        }
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
    task.executor().and_then(|executor| defaults.get(&*executor.kind.value).cloned()).unwrap_or_default()
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
    let message = "`timeout` spans all attempts and delays; expected `maxRuntime` next to a retry";
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
