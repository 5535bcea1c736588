//! `pipeline`: tasks in order, in our spelling or in seed 002's labelled form.

use std::collections::BTreeMap;

use crate::{
    plan::catalogue::{shape, values, warnings::PASSED_ON},
    suggest::did_you_mean,
    tree::{Key, Node, Tree},
};

use super::{
    ConditionsDoc, ExecutorDoc, ExprDoc, ParametersDoc, Report, SettingsDoc, TaskDoc, ValueDoc, WorkDoc,
    dag::TasksDoc,
    executor::{executor_type, labelled_config},
    field::{check_parameter_name, label, timeout, whole},
    hooks, parameters,
    parameters::Use,
    retry::{is_legacy, report_legacy},
    task::Place,
    walk::{Cursor, Name, Object, Site, listed},
};

/// `pipeline`, without what all templates have.
#[derive(Clone, Debug)]
pub(crate) struct PipelineDoc {
    pub(crate) tasks: TasksDoc,
    pub(crate) max_jumps: u32,
}

/// Jumps at most, unless the document says otherwise.
const MAX_JUMPS: u32 = 1000;

/// Fields of which one alone is a task with much missing, not a label.
const OWN_FIELDS: [&str; 3] = ["name", "template", "executor"];

/// Keys of the labelled form that are no inputs.
const RESERVED: [&str; 9] =
    ["kind", "spec", "when", "outputs", "phaseConditions", "hooks", "retry", "dependencies", "continueOn"];

impl PipelineDoc {
    pub(super) fn read(object: &mut Object<'_, '_>) -> Self {
        Self {
            tasks: TasksDoc::field(object, task),
            max_jumps: object.optional("maxJumps", whole(0..=u32::MAX)).unwrap_or(MAX_JUMPS),
        }
    }
}

fn task(cursor: &Cursor<'_>, report: &Report) -> Option<TaskDoc> {
    if let Node::Object(members) = &cursor.tree.node
        && let [(key, tree)] = members.as_slice()
        && !OWN_FIELDS.contains(&&*key.name)
    {
        return labelled(key, &Cursor { tree, path: cursor.path.key(key.name.clone()) }, report);
    }
    TaskDoc::read(Place::Pipeline, cursor, report)
}

/// `- fetch_page: {kind: http, url: …, spec: {…}}`.
fn labelled(key: &Key, cursor: &Cursor<'_>, report: &Report) -> Option<TaskDoc> {
    let name_tree = Tree { node: Node::String(key.name.clone()), span: key.span };
    let name = label(&Cursor { tree: &name_tree, path: cursor.path.clone() }, report);
    let mut object = cursor.object(report)?;
    refuse(&mut object, report);
    let kind = object.required("kind", "the executor's type", executor_type);
    let (settings, config) = object.optional("spec", spec).unwrap_or_default();
    let work = kind.map_or(WorkDoc::Unreadable, |kind| WorkDoc::Executor(ExecutorDoc { kind, config }));
    let spec_sites = [("policy", "spec"), ("timeout", "spec")];
    let written: BTreeMap<_, _> =
        spec_sites.into_iter().filter_map(|(field, key)| Some((field, object.key_site(key)?))).collect();
    Some(TaskDoc {
        site: cursor.site(),
        name,
        work,
        dependencies: Vec::new(),
        arguments: ParametersDoc::default(),
        inputs: inputs(&object, report),
        outputs: ParametersDoc::field(&mut object, "outputs", Use::Outputs),
        when: object.optional("when", ExprDoc::read),
        memory: None,
        settings: SettingsDoc {
            phase_conditions: object.optional("phaseConditions", ConditionsDoc::read),
            hooks: object.optional("hooks", hooks::read),
            ..settings
        },
        written,
    })
}

fn refuse(object: &mut Object<'_, '_>, report: &Report) {
    let why = "in a pipeline, whose tasks run in order; expected a policy rule";
    let hint = "rules say what happens after an attempt: continue, jump, break, fail";
    object.refuse(&["dependencies", "continueOn"], &shape::NOT_ALLOWED, why, hint);
    let Some(retry) = object.get("retry") else { return };
    if retry.is_object()
        && let Some(mut written) = retry.object(report)
        && is_legacy(&written)
    {
        report_legacy(&retry, &mut written, true, report);
        return;
    }
    let message = "`retry` in a labelled task; expected a rule with `do: retry`";
    let problem = retry.problem(&values::RULE_ACTION, message);
    report.problem(problem.with_hint("write `spec: {policy: {rules: […]}}`"));
}

fn inputs(object: &Object<'_, '_>, report: &Report) -> ParametersDoc {
    let mut list = Vec::new();
    for (key, value) in object.members().filter(|(key, _)| !RESERVED.contains(&&*key.name)) {
        let site = Site { path: value.path.clone(), span: key.span };
        let name = Name { value: key.name.clone(), site };
        check_parameter_name(&name, report);
        list.push(parameters::labelled(name, ValueDoc::read(false)(&value, report)));
    }
    ParametersDoc { list, sound: true }
}

/// Keys of `spec` that are the task's own.
const OWN_KEYS: [&str; 5] = ["policy", "timeout", "maxRuntime", "maxInactivity", "deadline"];

/// Warns about a key that reaches the executor though it looks like one of the task's.
fn warn_if_ours(key: &Key, cursor: &Cursor<'_>, report: &Report) {
    let hint = match &*key.name {
        "timeout" => return,
        "retry" => Some("to have the engine retry, write a policy rule with `do: retry`".to_owned()),
        name if RESERVED.contains(&name) => Some(format!("write `{name}` beside `spec`")),
        name => did_you_mean(name, OWN_KEYS),
    };
    let Some(hint) = hint else { return };
    let site = Site { path: cursor.path.key(key.name.clone()), span: key.span };
    let message = format!(
        "`{}` in `spec` is the executor's, in `config.spec`; expected {}",
        key.name,
        listed(&OWN_KEYS)
    );
    report.warning(site.problem(&PASSED_ON, message).with_hint(hint));
}

/// The task's own settings, and everything else as the executor's.
fn spec(cursor: &Cursor<'_>, report: &Report) -> Option<(SettingsDoc, Option<ValueDoc>)> {
    let mut object = cursor.object(report)?;
    let own_timeout = object.get("timeout").filter(|cursor| !cursor.is_object());
    let is_own = |key: &Key| match &*key.name {
        "policy" | "maxRuntime" | "maxInactivity" | "deadline" => true,
        "timeout" => own_timeout.is_some(),
        _ => false,
    };
    let rest: Vec<_> = object
        .members()
        .filter(|(key, _)| !is_own(key))
        .map(|(key, value)| (key.clone(), value.tree.clone()))
        .collect();
    rest.iter().for_each(|(key, _)| warn_if_ours(key, cursor, report));
    let own_timeout = own_timeout.and_then(|cursor| timeout(&cursor, report));
    let settings = SettingsDoc { timeout: own_timeout, ..SettingsDoc::read_labelled(&mut object) };
    let config = if rest.is_empty() { None } else { labelled_config(rest, &cursor.site(), report) };
    Some((settings, config))
}
