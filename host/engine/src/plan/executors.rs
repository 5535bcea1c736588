//! What is known about executors where a document is checked.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    document::{ExecutorDoc, KindDoc, SettingsDoc, TaskDoc, WorkDoc},
    form::{Report, listed, listed_if_few},
    problem::{
        Problem,
        codes::{
            expressions::NOT_VISIBLE,
            warnings::{ABOVE_LIMIT, PLUGIN_DEFAULTS, UNKNOWN_EXECUTOR},
        },
    },
    suggest::did_you_mean,
    tree::Tree,
    value::Map,
};

use super::resolve::index::{Index, tasks_of};

/// Knows the installed executors.
pub trait Catalogue {
    /// What `executor.type` names, if it is installed.
    fn executor(&self, executor_type: &str) -> Option<ExecutorInfo>;

    /// The names that are installed, for messages.
    fn names(&self) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// The operator's limit on the memory of a call, in bytes, which `resources.memory` only lowers.
    fn memory(&self) -> Option<u64> {
        None
    }

    /// The names of the operator's variables.
    fn variables(&self) -> Vec<Arc<str>> {
        Vec::new()
    }
}

/// What a plugin's manifest says about its executor.
#[derive(Clone, Debug, Default)]
pub struct ExecutorInfo {
    /// An object with `retry`, `maxRuntime`, `maxInactivity` and `deadline`, written as in a document: they apply where
    /// neither template nor call has its own.
    pub defaults: Option<Tree>,
}

/// Knows nothing and takes every executor for installed.
impl Catalogue for () {
    fn executor(&self, _executor_type: &str) -> Option<ExecutorInfo> {
        Some(ExecutorInfo::default())
    }
}

/// Knows of executors what a run was submitted with (R-D1): whatever is installed by now, its plan stays the same.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a>(pub &'a Map);

impl Catalogue for Recorded<'_> {
    fn executor(&self, executor_type: &str) -> Option<ExecutorInfo> {
        Some(ExecutorInfo { defaults: self.0.get(executor_type).map(Tree::from) })
    }
}

/// The default policies of each executor type in use.
pub(super) type Defaults<'a> = BTreeMap<&'a str, SettingsDoc>;

/// Looks every executor of the document up; unknown ones and unusable defaults are warnings. The defaults come back twice:
/// read, and as a journal keeps them.
pub(super) fn look_up<'a>(index: &Index<'a>, catalogue: &dyn Catalogue) -> (Defaults<'a>, Map) {
    let mut found: BTreeMap<&str, Option<ExecutorInfo>> = BTreeMap::new();
    let (mut defaults, mut recorded) = (Defaults::new(), Map::new());
    catalogue.memory().into_iter().for_each(|limit| check_memory(index, limit));
    for executor in executors(index) {
        let kind = &*executor.kind.value;
        let info = found.entry(kind).or_insert_with(|| catalogue.executor(kind));
        match info {
            None => warn_unknown(index, executor, &catalogue.names()),
            Some(ExecutorInfo { defaults: Some(tree) }) if !defaults.contains_key(kind) => {
                defaults.insert(kind, read_defaults(index, executor, tree));
                recorded.insert(executor.kind.value.clone(), tree.to_value());
            }
            Some(_) => {}
        }
    }
    (defaults, recorded)
}

fn warn_unknown(index: &Index<'_>, executor: &ExecutorDoc, installed: &[Arc<str>]) {
    let kind = &executor.kind.value;
    let names = installed.iter().map(|name| &**name);
    let expected = listed_if_few(names.clone(), "the name of a plugin");
    let message = format!("executor `{kind}` is not installed; expected {expected}");
    let name = kind.split_once('@').map_or(&**kind, |(name, _)| name);
    // The name alone may be right, and the version wrong.
    let hint = did_you_mean(name, names.filter(|known| *known != name));
    index.report.warning(executor.kind.problem(&UNKNOWN_EXECUTOR, message).with_hint_if(hint));
}

fn read_defaults(index: &Index<'_>, executor: &ExecutorDoc, tree: &Tree) -> SettingsDoc {
    let (settings, problems) = settings_of(tree);
    let Some(first) = problems.first() else { return settings };
    let kind = &executor.kind.value;
    let message = format!(
        "plugin `{kind}` has unusable defaults ({}: {}); expected policies as in a document",
        first.path, first.message
    );
    index.report.warning(executor.kind.problem(&PLUGIN_DEFAULTS, message));
    SettingsDoc::default()
}

/// Everything that is wrong with the default policies of a plugin's manifest, an object as [`ExecutorInfo::defaults`] has it.
#[must_use]
pub fn check_defaults(defaults: &Tree) -> Vec<Problem> {
    settings_of(defaults).1
}

/// What the expressions of a manifest see: no workflow is known there, nor any task.
const ROOTS: [&str; 8] = ["phase", "code", "msg", "outputs", "retries", "workflow", "system", "vars"];

fn settings_of(defaults: &Tree) -> (SettingsDoc, Vec<Problem>) {
    let report = Report::default();
    let settings = SettingsDoc::read_manifest(defaults, &report).unwrap_or_default();
    settings.each_read(&mut |found| {
        let root = found.read.path.first().map_or("", |root| &**root);
        if !ROOTS.contains(&root) {
            let message = format!("`{root}` cannot be seen here; expected {}", listed(&ROOTS));
            report
                .problem(found.site().problem(&NOT_VISIBLE, message).with_hint_if(did_you_mean(root, ROOTS)));
        }
    });
    (settings, report.into_parts().0)
}

fn check_memory(index: &Index<'_>, limit: u64) {
    for task in tasks(index) {
        let (Some(memory), Some(site)) = (task.memory, task.site_of("resources")) else { continue };
        if memory > limit {
            let message =
                format!("{memory} bytes of memory; expected at most the operator's limit of {limit}");
            index
                .report
                .warning(site.problem(&ABOVE_LIMIT, message).with_hint("the limit holds all the same"));
        }
    }
}

/// Every executor call in the document.
fn executors<'a>(index: &Index<'a>) -> impl Iterator<Item = &'a ExecutorDoc> {
    tasks(index).filter_map(|task| match &task.work {
        WorkDoc::Executor(executor) => Some(executor),
        WorkDoc::Template(_) | WorkDoc::Unreadable => None,
    })
}

/// Every task of the document, templates and calls.
fn tasks<'a>(index: &Index<'a>) -> impl Iterator<Item = &'a TaskDoc> {
    index.templates().flat_map(|(_, template)| {
        let own = match &template.kind {
            KindDoc::Task(task) => Some(&**task),
            KindDoc::Dag(_) | KindDoc::Loop(_) | KindDoc::Pipeline(_) => None,
        };
        own.into_iter().chain(tasks_of(template).into_iter().flat_map(|tasks| &tasks.list))
    })
}
