//! What is known about executors where a document is checked.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    document::{ExecutorDoc, KindDoc, Report, SettingsDoc, WorkDoc, listed_if_few},
    suggest::did_you_mean,
    tree::Tree,
};

use super::{
    catalogue::warnings::{PLUGIN_DEFAULTS, UNKNOWN_EXECUTOR},
    index::{Index, tasks_of},
};

/// Knows the installed executors.
pub trait Catalogue {
    /// What `executor.type` names, if it is installed.
    fn executor(&self, executor_type: &str) -> Option<ExecutorInfo>;

    /// The names that are installed, for messages.
    fn names(&self) -> Vec<Arc<str>> {
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

/// The default policies of each executor type in use.
pub(super) type Defaults<'a> = BTreeMap<&'a str, SettingsDoc>;

/// Looks every executor of the document up; unknown ones and unusable defaults are warnings.
pub(super) fn look_up<'a>(index: &Index<'a>, catalogue: &dyn Catalogue) -> Defaults<'a> {
    let mut found: BTreeMap<&str, Option<ExecutorInfo>> = BTreeMap::new();
    let mut defaults = Defaults::new();
    for executor in executors(index) {
        let kind = &*executor.kind.value;
        let info = found.entry(kind).or_insert_with(|| catalogue.executor(kind));
        match info {
            None => warn_unknown(index, executor, &catalogue.names()),
            Some(ExecutorInfo { defaults: Some(tree) }) if !defaults.contains_key(kind) => {
                defaults.insert(kind, read_defaults(index, executor, tree));
            }
            Some(_) => {}
        }
    }
    defaults
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
    let report = Report::default();
    let settings = SettingsDoc::read_manifest(tree, &report).unwrap_or_default();
    let (problems, _) = report.into_parts();
    let Some(first) = problems.first() else { return settings };
    let kind = &executor.kind.value;
    let message = format!(
        "plugin `{kind}` has unusable defaults ({}: {}); expected policies as in a document",
        first.path, first.message
    );
    index.report.warning(executor.kind.problem(&PLUGIN_DEFAULTS, message));
    SettingsDoc::default()
}

/// Every executor call in the document.
fn executors<'a>(index: &Index<'a>) -> impl Iterator<Item = &'a ExecutorDoc> {
    index.templates().flat_map(|(_, template)| {
        let own = match &template.kind {
            KindDoc::Task(task) => Some(&task.work),
            KindDoc::Dag(_) | KindDoc::Loop(_) | KindDoc::Pipeline(_) => None,
        };
        let tasks = tasks_of(template).into_iter().flat_map(|tasks| &tasks.list).map(|task| &task.work);
        own.into_iter().chain(tasks).filter_map(|work| match work {
            WorkDoc::Executor(executor) => Some(executor),
            WorkDoc::Template(_) | WorkDoc::Unreadable => None,
        })
    })
}
