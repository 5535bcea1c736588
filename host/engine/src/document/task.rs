//! `task`: a template, a dag's node or a pipeline's task.

use std::collections::BTreeMap;

use crate::{
    plan::{
        Tolerance,
        catalogue::{shape, values, warnings},
    },
    time::Millis,
    timeout::TimeoutPolicy,
    tree::Tree,
};

use super::{
    ConditionsDoc, ExecutorDoc, ExprDoc, HooksDoc, ParametersDoc, PolicyDoc, Report, RetryDoc,
    conditions::tolerance,
    field::{label, name, size, text, timeout, timeout_policy},
    hooks,
    parameters::Use,
    walk::{Cursor, Name, Object, Site},
};

/// A task as written.
#[derive(Clone, Debug)]
pub(crate) struct TaskDoc {
    pub(crate) site: Site,
    /// Absent when it could not be read.
    pub(crate) name: Option<Name>,
    pub(crate) work: WorkDoc,
    pub(crate) dependencies: Vec<Name>,
    pub(crate) arguments: ParametersDoc,
    pub(crate) inputs: ParametersDoc,
    pub(crate) outputs: ParametersDoc,
    pub(crate) when: Option<ExprDoc>,
    pub(crate) memory: Option<u64>,
    pub(crate) settings: SettingsDoc,
    /// Where each field's key stands.
    pub(crate) written: BTreeMap<&'static str, Site>,
}

/// What a task does.
#[derive(Clone, Debug)]
pub(crate) enum WorkDoc {
    /// Calls a template.
    Template(Name),
    /// Calls an executor.
    Executor(ExecutorDoc),
    /// Could not be read, which has been reported.
    Unreadable,
}

/// What may stand on manifest, template and call; `None` is not written.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingsDoc {
    pub(crate) timeout: Option<Millis>,
    pub(crate) max_runtime: Option<TimeoutPolicy>,
    pub(crate) max_inactivity: Option<TimeoutPolicy>,
    pub(crate) deadline: Option<TimeoutPolicy>,
    pub(crate) recovery: Option<RecoveryDoc>,
    pub(crate) continue_on: Option<Tolerance>,
    pub(crate) phase_conditions: Option<ConditionsDoc>,
    pub(crate) hooks: Option<HooksDoc>,
}

impl SettingsDoc {
    /// Whether none of them is written.
    pub(crate) fn is_empty(&self) -> bool {
        let Self {
            timeout,
            max_runtime,
            max_inactivity,
            deadline,
            recovery,
            continue_on,
            phase_conditions,
            hooks,
        } = self;
        timeout.is_none()
            && max_runtime.is_none()
            && max_inactivity.is_none()
            && deadline.is_none()
            && recovery.is_none()
            && continue_on.is_none()
            && phase_conditions.is_none()
            && hooks.is_none()
    }
}

/// `retry` or `policy`.
#[derive(Clone, Debug)]
pub(crate) enum RecoveryDoc {
    Retry(RetryDoc),
    Policy(PolicyDoc),
}

/// Where a task is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Template,
    Dag,
    Pipeline,
}

/// The fields of a task whose place matters to later checks.
pub(crate) const FIELDS: [&str; 17] = [
    "template",
    "executor",
    "dependencies",
    "arguments",
    "inputs",
    "outputs",
    "when",
    "timeout",
    "maxRuntime",
    "maxInactivity",
    "deadline",
    "retry",
    "policy",
    "continueOn",
    "phaseConditions",
    "resources",
    "hooks",
];

impl TaskDoc {
    /// Its own executor, if it has one.
    pub(crate) fn executor(&self) -> Option<&ExecutorDoc> {
        match &self.work {
            WorkDoc::Executor(executor) => Some(executor),
            WorkDoc::Template(_) | WorkDoc::Unreadable => None,
        }
    }

    pub(super) fn read(place: Place, cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let mut object = cursor.object(report)?;
        let read_name = if place == Place::Pipeline { label } else { name };
        let name = object.required("name", "the task's name", read_name);
        refuse_by_place(place, &mut object);
        let work = WorkDoc::read(&mut object);
        let calls_template = matches!(work, WorkDoc::Template(_)) && place != Place::Template;
        if calls_template {
            let why = "on a call of a template; expected it in the template";
            object.refuse(&["inputs", "outputs"], &shape::NOT_ALLOWED, why, "pass values as `arguments`");
        }
        let task = Self {
            site: cursor.site(),
            name,
            work,
            dependencies: object.optional("dependencies", names).unwrap_or_default(),
            arguments: ParametersDoc::field(&mut object, "arguments", Use::Arguments),
            inputs: declared(&mut object, "inputs", Use::Inputs, calls_template),
            outputs: declared(&mut object, "outputs", Use::Outputs, calls_template),
            when: object.optional("when", ExprDoc::read),
            memory: object.optional("resources", resources),
            settings: SettingsDoc::read(&mut object),
            written: FIELDS.into_iter().filter_map(|field| Some((field, object.key_site(field)?))).collect(),
        };
        object.finish();
        Some(task)
    }

    /// Where the field is written, if it is.
    pub(crate) fn site_of(&self, field: &str) -> Option<&Site> {
        self.written.get(field)
    }
}

fn declared(object: &mut Object<'_, '_>, field: &'static str, purpose: Use, refused: bool) -> ParametersDoc {
    if refused { ParametersDoc::default() } else { ParametersDoc::field(object, field, purpose) }
}

fn refuse_by_place(place: Place, object: &mut Object<'_, '_>) {
    match place {
        Place::Dag => {}
        Place::Template => {
            let why = "in a task template; expected it where the template is called";
            object.refuse(&["dependencies", "when"], &shape::NOT_ALLOWED, why, "move it to the dag's task");
            if !object.has("template") {
                let why = "in a task template with an executor; expected `inputs` with values";
                object.refuse(
                    &["arguments"],
                    &shape::NOT_ALLOWED,
                    why,
                    "give the input a `value` or `default`",
                );
            }
        }
        Place::Pipeline => {
            let why = "in a pipeline, whose tasks run in order; expected a policy rule";
            let hint = "rules say what happens after an attempt: continue, jump, break, fail";
            object.refuse(&["dependencies", "continueOn"], &shape::NOT_ALLOWED, why, hint);
        }
    }
}

impl WorkDoc {
    fn read(object: &mut Object<'_, '_>) -> Self {
        let work = match object.exactly_one(&["template", "executor"]) {
            Some("template") => object.optional("template", text).map(Self::Template),
            Some(_) => object.optional("executor", ExecutorDoc::read).map(Self::Executor),
            None => None,
        };
        work.unwrap_or(Self::Unreadable)
    }
}

pub(super) fn names(cursor: &Cursor<'_>, report: &Report) -> Option<Vec<Name>> {
    let items = cursor.items(report)?;
    Some(items.filter_map(|item| item.text(report).map(|text| item.located(text))).collect())
}

fn resources(cursor: &Cursor<'_>, report: &Report) -> Option<u64> {
    let mut object = cursor.object(report)?;
    let memory = object.optional("memory", size);
    for field in ["cpu", "gpu"] {
        let _ = object.get(field);
        if let Some(site) = object.key_site(field) {
            let message = format!("`{field}` is ignored; expected `memory` only");
            report.warning(site.problem(&warnings::IGNORED, message));
        }
    }
    object.finish();
    memory
}

impl SettingsDoc {
    pub(super) fn read(object: &mut Object<'_, '_>) -> Self {
        let own = Self::read_bounds(object);
        Self {
            recovery: recovery(object),
            timeout: object.optional("timeout", timeout),
            continue_on: object.optional("continueOn", tolerance),
            phase_conditions: object.optional("phaseConditions", ConditionsDoc::read),
            hooks: object.optional("hooks", hooks::read),
            ..own
        }
    }

    /// A plugin's default policies.
    pub(crate) fn read_manifest(tree: &Tree, report: &Report) -> Option<Self> {
        let mut object = Cursor::root(tree).object(report)?;
        let retry = object.optional("retry", RetryDoc::read).map(RecoveryDoc::Retry);
        let settings = Self { recovery: retry, ..Self::read_bounds(&mut object) };
        object.finish();
        Some(settings)
    }

    /// What stands in `spec` of seed 002's labelled form, its timeout aside.
    pub(super) fn read_labelled(object: &mut Object<'_, '_>) -> Self {
        let policy = object.optional("policy", PolicyDoc::read).map(RecoveryDoc::Policy);
        Self { recovery: policy, ..Self::read_bounds(object) }
    }

    /// Steep's timeout policies.
    fn read_bounds(object: &mut Object<'_, '_>) -> Self {
        Self {
            max_runtime: object.optional("maxRuntime", timeout_policy),
            max_inactivity: object.optional("maxInactivity", timeout_policy),
            deadline: object.optional("deadline", timeout_policy),
            ..Self::default()
        }
    }
}

fn recovery(object: &mut Object<'_, '_>) -> Option<RecoveryDoc> {
    let retry = object.optional("retry", RetryDoc::read).map(RecoveryDoc::Retry);
    let policy = object.optional("policy", PolicyDoc::read).map(RecoveryDoc::Policy);
    if let (true, Some(site)) = (object.has("retry"), object.key_site("policy")) {
        let message = "`policy` beside `retry`; expected one of them";
        object.report.problem(
            site.problem(&values::TWO_RETRIES, message).with_hint("policy rules retry with `do: retry`"),
        );
    }
    retry.or(policy)
}
