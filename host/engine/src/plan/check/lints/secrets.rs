//! Secrets where expressions ask for them: only executors get their values, an expression reads null.

use std::collections::BTreeSet;

use crate::{
    document::{KindDoc, ParameterDoc, ParametersDoc, ReadAt, SourceDoc, TaskDoc, TemplateDoc},
    plan::{
        TemplateId,
        resolve::index::{Index, hooks_of, tasks_of},
    },
    problem::codes::warnings::SECRET_READ,
};

/// The inputs of templates that some call binds to a secret.
type SecretInputs<'a> = BTreeSet<(TemplateId, &'a str)>;

/// Warns about every expression that reads a parameter whose value is a secret.
pub(super) fn check(index: &Index<'_>) {
    let passed = passed(index);
    let workflow = &index.doc.spec.arguments;
    workflow.each_read(&mut |found| warn(index, &found, &|_| false));
    for setting in &index.doc.settings {
        setting.value.reads().for_each(|found| warn(index, &found, &|_| false));
    }
    for hook in &index.doc.spec.hooks {
        hook.each_read(&mut |found| warn(index, &found, &|_| false));
    }
    for (id, template) in index.templates() {
        let is_secret =
            |name: &str| passed.contains(&(id, name)) || template.inputs.find(name).is_some_and(takes_secret);
        template.each_own_read(&mut |found| warn(index, &found, &is_secret));
        for task in tasks_of(template).into_iter().flat_map(|tasks| &tasks.list) {
            check_task(index, task, &is_secret);
        }
    }
}

/// An inline task's own inputs stand before those of its container.
fn check_task(index: &Index<'_>, task: &TaskDoc, outside: &dyn Fn(&str) -> bool) {
    let is_secret = |name: &str| match (task.inputs.find(name), task.arguments.find(name)) {
        (Some(_), Some(argument)) => takes_secret(argument),
        (Some(input), None) => takes_secret(input),
        (None, _) => outside(name),
    };
    task.each_read(&mut |found| warn(index, &found, &is_secret));
}

fn takes_secret(parameter: &ParameterDoc) -> bool {
    parameter.value.is_none() && matches!(parameter.value_from, Some(SourceDoc::Secret(_)))
}

fn warn(index: &Index<'_>, found: &ReadAt<'_>, is_secret: &dyn Fn(&str) -> bool) {
    let path: Vec<&str> = found.read.path.iter().map(|segment| &**segment).collect();
    let secret = match path.as_slice() {
        ["inputs", "parameters", name, ..] | ["args", name, ..] => is_secret(name),
        ["workflow", "parameters", name, ..]
        | ["workflow", "arguments", "parameters", name, ..]
        | ["workload", name, ..] => index.doc.spec.arguments.find(name).is_some_and(takes_secret),
        _ => false,
    };
    if secret && !index.report.is_full_of_warnings() {
        let message =
            format!("`{}` is a secret, which reads as null here; expected another parameter", path.join("."));
        let warning = found.site().problem(&SECRET_READ, message);
        index.report.warning(
            warning.with_hint("give it to the executor as an input with `valueFrom: {secretKeyRef: …}`"),
        );
    }
}

fn passed<'a>(index: &Index<'a>) -> SecretInputs<'a> {
    let mut found = SecretInputs::new();
    let mut pass = |id: TemplateId, arguments: &'a ParametersDoc| {
        let secret = arguments.list.iter().filter(|argument| takes_secret(argument));
        found.extend(secret.map(|argument| (id, &*argument.name.value)));
    };
    let doc = index.doc;
    let hooks = doc.spec.templates.iter().flat_map(hooks_of).chain(&doc.spec.hooks);
    for hook in hooks {
        if let Some((id, _)) = hook.template.as_ref().and_then(|name| index.find(name)) {
            pass(id, &hook.arguments);
        }
    }
    for template in &doc.spec.templates {
        for (id, arguments) in calls(index, template) {
            pass(id, arguments);
        }
    }
    found
}

/// The templates that a template calls, and with which arguments.
fn calls<'a>(index: &Index<'a>, template: &'a TemplateDoc) -> Vec<(TemplateId, &'a ParametersDoc)> {
    let call = |task: &'a TaskDoc| Some((index.callee(task).template()?.0, &task.arguments));
    match &template.kind {
        KindDoc::Task(task) => call(task).into_iter().collect(),
        KindDoc::Loop(read) => {
            let body = read.body.as_ref().and_then(|name| index.find(name));
            body.map(|(id, _)| (id, &read.arguments)).into_iter().collect()
        }
        KindDoc::Dag(_) | KindDoc::Pipeline(_) => {
            tasks_of(template).into_iter().flat_map(|tasks| &tasks.list).filter_map(call).collect()
        }
    }
}
