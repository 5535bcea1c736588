//! `dag`: tasks with dependencies.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::json;

use super::foreign;
use crate::{
    form::{BOOLEAN, Cursor, Field, Form, Name, Object, Report, TEXTS, Table, whole},
    problem::codes::shape,
    tree::TreeNode,
};

use super::{
    SettingsDoc, TaskDoc,
    container::{
        CHILDREN_TOLERANCE, CONTAINER_CONDITIONS, CONTAINER_INPUTS, CONTAINER_NAME, CONTAINER_OUTPUTS,
        CONTAINER_TIMEOUT, NOT_A_CONTAINERS,
    },
    task::DAG_TASK,
};

/// `dag`, without what all templates have.
#[derive(Clone, Debug)]
pub(crate) struct DagDoc {
    pub(crate) tasks: TasksDoc,
    /// Absent: everything.
    pub(crate) entrypoints: Option<Vec<Name>>,
    pub(crate) fail_fast: bool,
    pub(crate) parallelism: Option<u32>,
}

/// The tasks of a dag or pipeline.
#[derive(Clone, Debug, Default)]
pub(crate) struct TasksDoc {
    pub(crate) list: Vec<TaskDoc>,
    /// Positions by name; of equal names the first.
    pub(crate) positions: BTreeMap<Arc<str>, usize>,
    /// Whether every task has a readable name; if not, nothing follows from a missing one.
    pub(crate) sound: bool,
}

pub(super) static DAG: Table = Table::closed(
    "dag",
    "Tasks that run concurrently, except where `dependencies` order them.",
    &[
        &CONTAINER_NAME,
        &DAG_TASKS,
        &CONTAINER_INPUTS,
        &CONTAINER_OUTPUTS,
        &ENTRYPOINTS,
        &CHILDREN_TOLERANCE,
        &CONTAINER_CONDITIONS,
        &CONTAINER_TIMEOUT,
        &FAIL_FAST,
        &PARALLELISM,
    ],
    &[NOT_A_CONTAINERS],
)
.knowing(foreign::CONTAINERS);

static DAG_TASKS: Field<TasksDoc> = Field::required(
    "tasks",
    "a list of tasks",
    Form::new(
        |cursor, report| TasksDoc::read(&DAG_TASK, cursor, report),
        |defs| json!({ "type": "array", "minItems": 1, "items": DAG_TASK.schema(defs) }),
    ),
    "The tasks, at least one, each with a name of its own.",
);

static ENTRYPOINTS: Field<Vec<Name>> = Field::optional(
    "entrypoints",
    Form::new(entrypoints, |_| {
        let names = json!({ "type": "array", "minItems": 1, "items": { "type": "string" } });
        json!({ "anyOf": [{ "type": "string" }, names] })
    }),
    "Tasks to begin with: only these and the tasks that depend on them exist; absent: all.",
);

static FAIL_FAST: Field<bool> = Field::optional(
    "failFast",
    BOOLEAN,
    "Whether a failure cancels every task that was never dispatched; otherwise only those that depend on the failed one.",
)
.or("true");

static PARALLELISM: Field<u32> = Field::optional(
    "parallelism",
    whole::<u32, 1, { u32::MAX as i64 }>().or_expression(),
    "Leaf tasks below this dag that may be Ready or Running at once; absent: no bound.",
)
.such_as(&["4", "10"]);

impl DagDoc {
    pub(super) fn read(object: &Object<'_, '_>) -> Self {
        Self {
            tasks: object.optional(&DAG_TASKS).unwrap_or_default(),
            entrypoints: object.optional(&ENTRYPOINTS),
            fail_fast: object.or_default(&FAIL_FAST),
            parallelism: object.optional(&PARALLELISM),
        }
    }
}

impl TasksDoc {
    pub(super) fn read(form: &Form<TaskDoc>, cursor: &Cursor<'_>, report: &Report) -> Option<Self> {
        let items: Vec<_> = cursor.items(report)?.collect();
        if items.is_empty() {
            report.problem(cursor.problem(&shape::EMPTY, "empty list; expected at least one task"));
        }
        let mut list = Vec::with_capacity(items.len());
        list.extend(items.iter().filter_map(|item| form.read(item, report)));
        let sound = list.len() == items.len() && list.iter().all(|task| task.name.is_some());
        Some(Self { positions: positions(&list), list, sound })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.list.iter().filter_map(|task| task.name.as_ref().map(|name| &*name.value))
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }
}

fn positions(list: &[TaskDoc]) -> BTreeMap<Arc<str>, usize> {
    let mut positions = BTreeMap::new();
    for (position, task) in list.iter().enumerate() {
        if let Some(name) = &task.name {
            positions.entry(name.value.clone()).or_insert(position);
        }
    }
    positions
}

fn entrypoints(cursor: &Cursor<'_>, report: &Report) -> Option<Vec<Name>> {
    if let TreeNode::String(name) = &cursor.tree.node {
        return Some(vec![cursor.located(name.clone())]);
    }
    let names = TEXTS.read(cursor, report)?;
    if names.is_empty() {
        report
            .problem(cursor.problem(&shape::EMPTY, "no entrypoint; expected the name of a task, or several"));
        return None;
    }
    Some(names)
}

/// Reads the settings of dag, loop and pipeline templates: the rules for their own phase, and their limits.
pub(super) fn container_settings(object: &Object<'_, '_>) -> SettingsDoc {
    SettingsDoc {
        timeout: object.optional(&CONTAINER_TIMEOUT),
        phase_conditions: object.optional(&CONTAINER_CONDITIONS),
        ..SettingsDoc::default()
    }
}
