//! `task`: a template, a dag's node or a pipeline's task.

mod fields;
mod tables;

use std::collections::BTreeMap;

use crate::{
    form::{Cursor, Field, Name, Object, Report, Site, Table},
    problem::codes::values,
    settings::Tolerance,
    time::Millis,
    tree::Tree,
};

use super::{
    ConditionsDoc, ExecutorDoc, ExprDoc, HooksDoc, ParametersDoc, PolicyDoc, RetryDoc, TimeoutPolicyDoc,
};

use self::fields::{
    ARGUMENTS_FIELD, CONTINUE_ON, DEPENDENCIES, EXECUTOR_FIELD, HOOKS_FIELD, INPUTS_FIELD, OUTPUTS_FIELD,
    PHASE_CONDITIONS, POLICY_FIELD, RESOURCES, RETRY_FIELD, TEMPLATE_FIELD, TIMEOUT_FIELD, WHEN,
};

pub(super) use self::{
    fields::{DEADLINE, MAX_INACTIVITY, MAX_RUNTIME},
    tables::{DAG_TASK, ORDERED_BY_THE_PIPELINE, PIPELINE_TASK, TASK_TEMPLATE},
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

/// The work of a task.
#[derive(Clone, Debug)]
pub(crate) enum WorkDoc {
    /// Calls a template.
    Template(Name),
    /// Calls an executor.
    Executor(ExecutorDoc),
    /// Could not be read, which has been reported.
    Unreadable,
}

/// Fields that a manifest, a template and a call may all have; `None` where the field is not written.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingsDoc {
    pub(crate) timeout: Option<Millis>,
    pub(crate) max_runtime: Option<TimeoutPolicyDoc>,
    pub(crate) max_inactivity: Option<TimeoutPolicyDoc>,
    pub(crate) deadline: Option<TimeoutPolicyDoc>,
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

/// Where tasks are written.
struct TaskSpot {
    table: &'static Table,
    name: &'static Field<Name>,
    /// Whether `template` is a call there, and not what a wrapper wraps.
    calls: bool,
}

impl TaskDoc {
    /// Its own executor, if it has one.
    pub(crate) fn executor(&self) -> Option<&ExecutorDoc> {
        match &self.work {
            WorkDoc::Executor(executor) => Some(executor),
            WorkDoc::Template(_) | WorkDoc::Unreadable => None,
        }
    }

    fn read(place: &TaskSpot, cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let object = cursor.object(place.table, report)?;
        let work = WorkDoc::read(&object);
        // A call leaves inputs and outputs to the template; what it has of them has been reported.
        let is_call = place.calls && matches!(work, WorkDoc::Template(_));
        let declared =
            |field| if is_call { ParametersDoc::default() } else { ParametersDoc::field(&object, field) };
        Some(Self {
            site: cursor.site(),
            name: object.optional(place.name),
            work,
            dependencies: object.optional(&DEPENDENCIES).unwrap_or_default(),
            arguments: ParametersDoc::field(&object, &ARGUMENTS_FIELD),
            inputs: declared(&INPUTS_FIELD),
            outputs: declared(&OUTPUTS_FIELD),
            when: object.optional(&WHEN),
            memory: object.optional(&RESOURCES).flatten(),
            settings: SettingsDoc::read(&object),
            written: FIELDS.into_iter().filter_map(|field| Some((field, object.key_site(field)?))).collect(),
        })
    }

    /// Where the field is written, if it is.
    pub(crate) fn site_of(&self, field: &str) -> Option<&Site> {
        self.written.get(field)
    }
}

impl WorkDoc {
    fn read(object: &Object<'_, '_>) -> Self {
        let work = match object.only(tables::WORK) {
            Some("template") => object.optional(&TEMPLATE_FIELD).map(Self::Template),
            Some(_) => object.optional(&EXECUTOR_FIELD).map(Self::Executor),
            None => None,
        };
        work.unwrap_or(Self::Unreadable)
    }
}

impl SettingsDoc {
    fn read(object: &Object<'_, '_>) -> Self {
        Self {
            timeout: object.optional(&TIMEOUT_FIELD),
            continue_on: object.optional(&CONTINUE_ON),
            phase_conditions: object.optional(&PHASE_CONDITIONS),
            hooks: object.optional(&HOOKS_FIELD),
            recovery: recovery(object),
            ..Self::read_bounds(object)
        }
    }

    /// A plugin's default policies.
    pub(crate) fn read_manifest(tree: &Tree, report: &Report) -> Option<Self> {
        let object = Cursor::root(tree).object(&tables::MANIFEST, report)?;
        let retry = object.optional(&RETRY_FIELD).map(RecoveryDoc::Retry);
        Some(Self { recovery: retry, ..Self::read_bounds(&object) })
    }

    /// Steep's timeout policies.
    pub(super) fn read_bounds(object: &Object<'_, '_>) -> Self {
        Self {
            max_runtime: object.optional(&MAX_RUNTIME),
            max_inactivity: object.optional(&MAX_INACTIVITY),
            deadline: object.optional(&DEADLINE),
            ..Self::default()
        }
    }
}

fn recovery(object: &Object<'_, '_>) -> Option<RecoveryDoc> {
    let retry = object.optional(&RETRY_FIELD).map(RecoveryDoc::Retry);
    let policy = object.optional(&POLICY_FIELD).map(RecoveryDoc::Policy);
    if let (true, Some(site)) = (object.has("retry"), object.key_site("policy")) {
        let message = "`policy` next to `retry`; expected one of them";
        object.report.problem(
            site.problem(&values::TWO_RETRIES, message).with_hint("policy rules retry with `do: retry`"),
        );
    }
    retry.or(policy)
}
