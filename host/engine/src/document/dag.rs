//! `dag`: tasks with dependencies.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    plan::{NodeIndex, catalogue::shape},
    tree::Node,
};

use super::{
    ParametersDoc, Report, SettingsDoc, TaskDoc,
    conditions::tolerance,
    field::{boolean, timeout, whole},
    parameters::Use,
    task::{Place, names},
    walk::{Cursor, Name, Object},
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
    pub(crate) positions: BTreeMap<Arc<str>, NodeIndex>,
    /// Whether every task has a readable name; if not, nothing follows from a missing one.
    pub(crate) sound: bool,
}

impl DagDoc {
    pub(super) fn read(object: &mut Object<'_, '_>) -> Self {
        Self {
            tasks: TasksDoc::field(object, |cursor, report| TaskDoc::read(Place::Dag, cursor, report)),
            entrypoints: object.optional("entrypoints", entrypoints),
            fail_fast: object.optional("failFast", boolean).unwrap_or(true),
            parallelism: object.optional("parallelism", whole(1..=u32::MAX)),
        }
    }
}

impl TasksDoc {
    pub(super) fn field(
        object: &mut Object<'_, '_>,
        read: impl Fn(&Cursor<'_>, &Report) -> Option<TaskDoc>,
    ) -> Self {
        let tasks = object.required("tasks", "a list of tasks", |cursor, report| {
            let items: Vec<_> = cursor.items(report)?.collect();
            if items.is_empty() {
                report.problem(cursor.problem(&shape::EMPTY, "empty list; expected at least one task"));
            }
            let list: Vec<_> = items.iter().filter_map(|item| read(item, report)).collect();
            let sound = list.len() == items.len() && list.iter().all(|task| task.name.is_some());
            Some(Self { positions: positions(&list), list, sound })
        });
        tasks.unwrap_or_default()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.list.iter().filter_map(|task| task.name.as_ref().map(|name| &*name.value))
    }

    pub(crate) fn position(&self, name: &str) -> Option<NodeIndex> {
        self.positions.get(name).copied()
    }
}

fn positions(list: &[TaskDoc]) -> BTreeMap<Arc<str>, NodeIndex> {
    let mut positions = BTreeMap::new();
    for (position, task) in list.iter().enumerate() {
        if let Some(name) = &task.name {
            positions.entry(name.value.clone()).or_insert(position);
        }
    }
    positions
}

fn entrypoints(cursor: &Cursor<'_>, report: &Report) -> Option<Vec<Name>> {
    if let Node::String(name) = &cursor.tree.node {
        return Some(vec![cursor.located(name.clone())]);
    }
    let names = names(cursor, report)?;
    if names.is_empty() {
        report
            .problem(cursor.problem(&shape::EMPTY, "no entrypoint; expected the name of a task, or several"));
        return None;
    }
    Some(names)
}

/// What stands on dag, loop and pipeline templates: how their own phase comes about and what bounds them.
pub(super) fn container_settings(object: &mut Object<'_, '_>) -> SettingsDoc {
    SettingsDoc {
        timeout: object.optional("timeout", timeout),
        phase_conditions: object.optional("phaseConditions", super::ConditionsDoc::read),
        ..SettingsDoc::default()
    }
}

/// `continueOn` of a dag or loop, which speaks of the children.
pub(super) fn children_tolerance(object: &mut Object<'_, '_>) -> Option<crate::plan::Tolerance> {
    object.optional("continueOn", tolerance)
}

/// `inputs` and `outputs` of a template.
pub(super) fn declarations(object: &mut Object<'_, '_>) -> (ParametersDoc, ParametersDoc) {
    (
        ParametersDoc::field(object, "inputs", Use::Inputs),
        ParametersDoc::field(object, "outputs", Use::Outputs),
    )
}
