//! Checks of names: every template, task and label that is called exists and may be called there.

use crate::{
    document::{
        HookDoc, KindDoc, LoopDoc, PipelineDoc, RecoveryDoc, TASKS_INSIDE, TaskDoc, TasksDoc, TemplateDoc,
        WorkDoc,
    },
    form::{Name, Report, listed},
    names,
    plan::resolve::index::{Callee, Index, hooks_of},
    problem::codes::{
        executors::SUSPENDING_HOOK,
        names::{CONTAINER_CALL, DUPLICATE_NAME, NOT_A_TASK, RESERVED_LABEL},
        shape::NOT_ALLOWED,
    },
};

/// Fields that a call of a dag, loop or pipeline may have (R-W9).
const CONTAINER_FIELDS: [&str; 7] =
    ["template", "dependencies", "arguments", "when", "timeout", "continueOn", "phaseConditions"];

/// Fields that only a task with an executor may have (R-R9).
const NOT_ON_WRAPPERS: [&str; 2] = ["maxInactivity", "resources"];

/// Checks every name in the document that means a template or a label.
pub(super) fn check(index: &Index<'_>) {
    let spec = &index.doc.spec;
    let root = spec.entrypoint.as_ref().and_then(|name| index.resolve(name));
    if let Some((_, TemplateDoc { settings, .. })) = root {
        check_rules_outside_pipeline(settings.recovery.as_ref(), index.report);
    }
    for hook in &spec.hooks {
        check_hook(index, hook);
    }
    for (_, template) in index.templates() {
        match &template.kind {
            KindDoc::Task(task) => check_task_template(index, task),
            KindDoc::Dag(dag) => check_dag(index, &dag.tasks),
            KindDoc::Loop(read) => check_loop(index, read),
            KindDoc::Pipeline(pipeline) => check_pipeline(index, pipeline),
        }
        for hook in hooks_of(template) {
            check_hook(index, hook);
        }
    }
}

fn check_task_template(index: &Index<'_>, task: &TaskDoc) {
    let WorkDoc::Template(name) = &task.work else { return };
    let Some((_, wrapped)) = index.resolve(name) else { return };
    if let KindDoc::Task(_) = wrapped.kind {
        let message = format!("`{}` is a task; expected a dag, loop or pipeline to wrap", name.value);
        index.report.problem(name.problem(&NOT_A_TASK, message).with_hint("call the task template directly"));
    }
    NOT_ON_WRAPPERS.iter().for_each(|field| check_not_on_wrapper(index, task, field));
}

fn check_not_on_wrapper(index: &Index<'_>, task: &TaskDoc, field: &'static str) {
    if let Some(site) = task.site_of(field) {
        let message = format!(
            "`{field}` on a task that wraps a dag, loop or pipeline; expected it on the tasks inside"
        );
        index.report.problem(site.problem(&NOT_ALLOWED, message));
    }
}

fn check_dag(index: &Index<'_>, tasks: &TasksDoc) {
    check_duplicates(tasks, index.report);
    for task in &tasks.list {
        check_call(index, task);
        check_rules_outside_pipeline(effective_recovery(index, task), index.report);
    }
}

fn check_pipeline(index: &Index<'_>, pipeline: &PipelineDoc) {
    let tasks = &pipeline.tasks;
    check_duplicates(tasks, index.report);
    for task in &tasks.list {
        check_call(index, task);
        check_label(task, index.report);
        if let (Some(RecoveryDoc::Policy(policy)), true) = (effective_recovery(index, task), tasks.sound) {
            policy.rules.iter().for_each(|rule| rule.check_jump(tasks.names(), index.report));
        }
    }
}

fn check_label(task: &TaskDoc, report: &Report) {
    let Some(name) = task.name.as_ref().filter(|name| names::find(&name.value).is_some()) else { return };
    let message =
        format!("label `{}` is a name that expressions already use; expected another one", name.value);
    report.problem(name.problem(&RESERVED_LABEL, message));
}

fn check_loop(index: &Index<'_>, read: &LoopDoc) {
    let body = read.body.as_ref().and_then(|name| index.resolve(name));
    if let Some((_, TemplateDoc { settings, .. })) = body {
        check_rules_outside_pipeline(settings.recovery.as_ref(), index.report);
    }
}

fn check_call(index: &Index<'_>, task: &TaskDoc) {
    if let WorkDoc::Template(name) = &task.work {
        let _ = index.resolve(name);
    }
    match index.callee(task) {
        Callee::Container(_, template) => check_container_call(index, task, template),
        Callee::Wrapper(..) => {
            NOT_ON_WRAPPERS.iter().for_each(|field| check_not_on_wrapper(index, task, field));
        }
        Callee::Inline | Callee::Leaf(..) | Callee::Unknown => {}
    }
}

fn check_container_call(index: &Index<'_>, task: &TaskDoc, template: &TemplateDoc) {
    let kind = template.kind.as_str();
    let called = template.name.as_ref().map_or("", |name| &*name.value);
    for (field, site) in &task.written {
        if CONTAINER_FIELDS.contains(field) || matches!(*field, "hooks" | "inputs" | "outputs" | "executor") {
            continue;
        }
        let message = format!(
            "`{field}` on a call of a {kind}; expected {} or `hooks`",
            listed(&CONTAINER_FIELDS).replace(" or ", ", ")
        );
        let problem = site.problem(&CONTAINER_CALL, message);
        index.report.problem(if NOT_ON_WRAPPERS.contains(field) {
            problem.with_hint(TASKS_INSIDE)
        } else {
            problem.with_hint(format!(
                "to apply it to the whole {kind}, wrap it: a task template with `template: {called}`, and call that instead"
            ))
        });
    }
}

fn check_duplicates(tasks: &TasksDoc, report: &Report) {
    for (position, task) in tasks.list.iter().enumerate() {
        let Some(name) = &task.name else { continue };
        if tasks.position(&name.value) != Some(position) {
            let message = format!("task `{}` exists already; expected a name of its own", name.value);
            report.problem(name.problem(&DUPLICATE_NAME, message));
        }
    }
}

/// The retry or policy that counts for a call: its own, else its template's.
pub(super) fn effective_recovery<'a>(index: &Index<'a>, task: &'a TaskDoc) -> Option<&'a RecoveryDoc> {
    let template =
        index.callee(task).template().and_then(|(_, template)| template.settings.recovery.as_ref());
    task.settings.recovery.as_ref().or(template)
}

fn check_rules_outside_pipeline(recovery: Option<&RecoveryDoc>, report: &Report) {
    if let Some(RecoveryDoc::Policy(policy)) = recovery {
        policy.rules.iter().for_each(|rule| rule.check_outside_pipeline(report));
    }
}

fn check_hook(index: &Index<'_>, hook: &HookDoc) {
    let Some(name) = &hook.template else { return };
    let Some((_, template)) = index.resolve(name) else { return };
    check_rules_outside_pipeline(template.settings.recovery.as_ref(), index.report);
    let found = match index.called(name) {
        Callee::Container(_, template) => template.kind.as_str(),
        Callee::Wrapper(..) => "task that wraps a dag, loop or pipeline",
        Callee::Leaf(_, template) => return check_suspending(index, name, template),
        Callee::Inline | Callee::Unknown => return,
    };
    let message = format!("`{}` is a {found}; expected a task with an executor", name.value);
    index.report.problem(name.problem(&NOT_A_TASK, message));
}

/// A hook cannot be resumed (R-S12).
fn check_suspending(index: &Index<'_>, name: &Name, template: &TemplateDoc) {
    let KindDoc::Task(task) = &template.kind else { return };
    let Some(executor) = task.executor().filter(|executor| index.suspends(executor)) else { return };
    let message = format!(
        "hook `{}` suspends, as executor `{}` waits for people; expected a task that ends by itself",
        name.value, executor.kind.value
    );
    let problem = name.problem(&SUSPENDING_HOOK, message);
    index
        .report
        .problem(problem.with_hint("a hook cannot be resumed: call it as a task, or notify people instead"));
}
