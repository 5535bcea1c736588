//! A dag's tasks: dependencies resolved, cycles found, entrypoints applied.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    document::{DagDoc, TaskDoc, TasksDoc},
    form::{Name, Report, listed_if_few},
    plan::{NodeIndex, TemplateId},
    problem::codes::{
        Entry,
        names::{CYCLE, DUPLICATE_NAME, OUTSIDE_ENTRYPOINTS, UNKNOWN_TASK},
    },
};

use super::{
    index::Index,
    order::order,
    upstream::{self, Upstream},
};

/// The graphs of all dags.
pub(in crate::plan) type Graphs = BTreeMap<TemplateId, Graph>;

/// How the tasks of a dag wait for each other.
pub(in crate::plan) struct Graph {
    /// For each task, the tasks it waits for.
    pub(in crate::plan) dependencies: Vec<Vec<NodeIndex>>,
    /// Whether the task exists, given the entrypoints.
    pub(in crate::plan) kept: Vec<bool>,
    /// Whether it is known exactly what comes before the task.
    certain: Vec<bool>,
    /// Pairs of a task and a task it reads, where the second comes before the first.
    upstream: Upstream,
}

impl Graph {
    /// Resolves the dag's dependencies and entrypoints.
    pub(in crate::plan) fn build(index: &Index<'_>, dag: &DagDoc) -> Self {
        let report = index.report;
        let tasks = &dag.tasks;
        let mut graph = Self::resolve(tasks, report);
        let found = order(&graph.dependencies);
        for cycle in &found.cycles {
            report_cycle(tasks, cycle, report);
        }
        if !found.cycles.is_empty() {
            graph.certain.fill(false);
        }
        graph.propagate(&found.order);
        graph.upstream = upstream::resolve(&upstream::asked(index, dag), &graph.dependencies, &found.order);
        graph.apply_entrypoints(dag, &found.order, report);
        graph
    }

    fn resolve(tasks: &TasksDoc, report: &Report) -> Self {
        let count = tasks.list.len();
        let mut graph = Self {
            dependencies: Vec::with_capacity(count),
            kept: vec![true; count],
            certain: vec![tasks.sound; count],
            upstream: Upstream::new(),
        };
        for (task, certain) in tasks.list.iter().zip(&mut graph.certain) {
            let mut before = BTreeSet::new();
            for name in &task.dependencies {
                match tasks.position(&name.value) {
                    Some(found) if !before.insert(found) => {
                        let message = format!("dependency `{}` occurs twice; expected it once", name.value);
                        report.problem(name.problem(&DUPLICATE_NAME, message));
                    }
                    Some(_) => {}
                    None => {
                        *certain = false;
                        // A task is no choice for its own dependency.
                        let own = task.name.as_ref().map(|own| &*own.value);
                        let others = tasks.names().filter(|other| Some(*other) != own);
                        report_unknown(name, "dependency", tasks, others, report);
                    }
                }
            }
            graph.dependencies.push(before.into_iter().collect());
        }
        graph
    }

    /// Carries uncertainty from what comes before to what comes after.
    fn propagate(&mut self, order: &[NodeIndex]) {
        for task in order {
            let before = self.dependencies.get(*task).map(Vec::as_slice).unwrap_or_default();
            let certain = before.iter().all(|first| self.is_certain(*first));
            if let Some(own) = self.certain.get_mut(*task) {
                *own &= certain;
            }
        }
    }

    fn apply_entrypoints(&mut self, dag: &DagDoc, order: &[NodeIndex], report: &Report) {
        let Some(entrypoints) = &dag.entrypoints else { return };
        let mut kept = vec![false; self.kept.len()];
        let mut all_known = true;
        for name in entrypoints {
            match dag.tasks.position(&name.value).and_then(|found| kept.get_mut(found)) {
                Some(slot) => *slot = true,
                None => {
                    all_known = false;
                    report_unknown(name, "entrypoint", &dag.tasks, dag.tasks.names(), report);
                }
            }
        }
        if !all_known {
            return;
        }
        for task in order {
            let before = self.dependencies.get(*task).map(Vec::as_slice).unwrap_or_default();
            let reached = before.iter().any(|first| kept.get(*first) == Some(&true));
            if let Some(slot) = kept.get_mut(*task) {
                *slot |= reached;
            }
        }
        self.kept = kept;
        for (task, kept) in dag.tasks.list.iter().zip(&self.kept) {
            if *kept {
                self.check_inside(task, &dag.tasks, report);
            }
        }
    }

    fn check_inside(&self, task: &TaskDoc, tasks: &TasksDoc, report: &Report) {
        for name in &task.dependencies {
            if tasks.position(&name.value).is_some_and(|found| !self.is_kept(found)) {
                let message = format!(
                    "dependency `{}` is not reachable from the entrypoints; expected one that is",
                    name.value
                );
                let problem = name.problem(&OUTSIDE_ENTRYPOINTS, message);
                report.problem(
                    problem
                        .with_hint(format!("add `{}` to entrypoints, or remove the dependency", name.value)),
                );
            }
        }
    }

    pub(in crate::plan) fn is_kept(&self, task: NodeIndex) -> bool {
        self.kept.get(task).copied().unwrap_or(false)
    }

    /// Whether it is known exactly what comes before `task`.
    pub(in crate::plan) fn is_certain(&self, task: NodeIndex) -> bool {
        self.certain.get(task).copied().unwrap_or(false)
    }

    /// Whether `task`, which reads `first`, waits for it, directly or through others.
    pub(in crate::plan) fn is_upstream(&self, first: NodeIndex, task: NodeIndex) -> bool {
        self.upstream.contains(&(task, first))
    }
}

/// Reports a name that no task has; `choices` are those that could be meant.
fn report_unknown<'t>(
    name: &Name,
    what: &str,
    tasks: &TasksDoc,
    choices: impl Iterator<Item = &'t str> + Clone,
    report: &Report,
) {
    // Some task has no readable name: it may be the one that is meant.
    if !tasks.sound {
        return;
    }
    let entry: &Entry = &UNKNOWN_TASK;
    let expected = listed_if_few(choices.clone(), "another task of this dag");
    let problem = name.problem(entry, format!("unknown {what} `{}`; expected {expected}", name.value));
    report.problem(problem.with_hint_if(report.did_you_mean(&name.value, choices)));
}

fn report_cycle(tasks: &TasksDoc, cycle: &[NodeIndex], report: &Report) {
    let name = |task: &NodeIndex| {
        tasks.list.get(*task).and_then(|task| task.name.as_ref()).map(|name| name.value.clone())
    };
    let mut names: Vec<_> = cycle.iter().filter_map(name).collect();
    names.extend(names.first().cloned());
    let Some(first) = cycle.first().and_then(|task| tasks.list.get(*task)) else { return };
    let next = names.get(1);
    let site = first
        .dependencies
        .iter()
        .find(|name| Some(&name.value) == next)
        .map_or(&first.site, |name| &name.site);
    let message = format!("tasks wait for each other: {}; expected no cycle", names.join(" → "));
    report.problem(site.problem(&CYCLE, message).with_hint("remove one of these dependencies"));
}
