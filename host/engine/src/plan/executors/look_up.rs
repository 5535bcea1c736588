//! The executors that a document names, against what they stand for.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    document::{ExecutorDoc, KindDoc, SettingsDoc, TaskDoc, WorkDoc, WorkflowDoc},
    form::{Report, listed_if_few},
    plan::{
        model::{PinnedExecutor, PinnedExecutors},
        resolve::index::tasks_of,
    },
    problem::codes::{
        Entry,
        executors::{NOT_INSTALLED, UNUSABLE},
        warnings::{ABOVE_LIMIT, PLUGIN_DEFAULTS, UNBUILT, UNKNOWN_EXECUTOR},
    },
};

use super::{Defaults, ExecutorResolution, Executors, defaults};

/// The calls of one executor type.
struct Uses<'i, 'a> {
    report: &'i Report,
    kind: &'a str,
    calls: Vec<&'a ExecutorDoc>,
}

/// Looks every executor of the document up. Those that stand for nothing usable are problems, or warnings where they may
/// be missing; unusable defaults are warnings.
pub(in crate::plan) fn look_up<'a>(
    doc: &'a WorkflowDoc,
    report: &Report,
    executors: &Executors,
) -> (Defaults<'a>, PinnedExecutors) {
    executors.memory.into_iter().for_each(|limit| check_memory(doc, report, limit));
    let (mut settings, mut pinned) = (Defaults::new(), PinnedExecutors::new());
    for uses in uses(doc, report) {
        let Some(found) = executors.found.get(uses.kind) else { continue };
        let known = uses.judge(found, executors);
        if let Some([why, hint]) = executors.unbuilt.get(uses.kind) {
            uses.warn_unbuilt(why, hint);
        }
        if !known.defaults.is_empty() {
            settings.insert(uses.kind, uses.defaults(&known));
        }
        pinned.insert(uses.kind.into(), known);
    }
    (settings, pinned)
}

/// The defaults that a run was submitted with, which are judged no more; nothing if some cannot be read.
pub(in crate::plan) fn recorded(executors: &PinnedExecutors) -> Option<Defaults<'_>> {
    let has_defaults = executors.iter().filter(|(_, known)| !known.defaults.is_empty());
    has_defaults.map(|(kind, known)| Some((&**kind, defaults::recorded(&known.defaults)?))).collect()
}

/// The executor types that a document names, each once.
pub(in crate::plan) fn types(doc: &WorkflowDoc) -> Vec<Arc<str>> {
    let mut types: Vec<_> = executor_calls(doc).map(|executor| executor.kind.value.clone()).collect();
    types.sort_unstable();
    types.dedup();
    types
}

fn uses<'i, 'a>(doc: &'a WorkflowDoc, report: &'i Report) -> impl Iterator<Item = Uses<'i, 'a>> {
    let mut by_type: BTreeMap<&'a str, Vec<&'a ExecutorDoc>> = BTreeMap::new();
    for executor in executor_calls(doc) {
        by_type.entry(&executor.kind.value).or_default().push(executor);
    }
    by_type.into_iter().map(move |(kind, calls)| Uses { report, kind, calls })
}

impl Uses<'_, '_> {
    fn judge(&self, found: &ExecutorResolution, executors: &Executors) -> PinnedExecutor {
        match found {
            ExecutorResolution::Executor(known) => return (**known).clone(),
            ExecutorResolution::Unknown => self.unknown(executors),
            ExecutorResolution::Broken(why) => {
                self.missing(&UNUSABLE, executors.missing_allowed, &self.unusable(why), None);
            }
            ExecutorResolution::Refused(why) => self.missing(&UNUSABLE, false, &self.unusable(why), None),
        }
        PinnedExecutor { missing: true, ..PinnedExecutor::default() }
    }

    fn warn_unbuilt(&self, why: &str, hint: &str) {
        let Some(first) = self.calls.first() else { return };
        let message = format!("inputs and outputs of executor `{}` are not checked: {why}", self.kind);
        self.report.warning(first.kind.problem(&UNBUILT, message).with_hint(hint));
    }

    fn unusable(&self, why: &str) -> String {
        format!("executor `{}` cannot be used: {why}", self.kind)
    }

    fn unknown(&self, executors: &Executors) {
        let names = || executors.installed.iter().map(|name| &**name);
        let expected = listed_if_few(names(), "the name of a plugin");
        let message = format!("executor `{}` is not installed; expected {expected}", self.kind);
        let name = self.kind.split_once('@').map_or(self.kind, |(name, _)| name);
        // The name alone may be right, and the version wrong.
        let hint = self.report.did_you_mean(name, names().filter(|known| *known != name));
        let is_new = is_crate_name(name) && names().all(|known| known != name);
        let hint = hint.or_else(|| is_new.then(|| start(name, executors.missing_allowed)));
        self.missing(&NOT_INSTALLED, executors.missing_allowed, &message, hint.as_deref());
    }

    /// Reports every call, as a warning where that is allowed.
    fn missing(&self, entry: &'static Entry, is_allowed: bool, message: &str, hint: Option<&str>) {
        let report = self.report;
        for call in self.calls.iter().take_while(|_| !report.is_full()) {
            if is_allowed {
                let warning = call.kind.problem(&UNKNOWN_EXECUTOR, message);
                report.warning(warning.with_hint_if(hint.map(str::to_owned)));
            } else {
                report.problem(call.kind.problem(entry, message).with_hint_if(hint.map(str::to_owned)));
            }
        }
    }

    fn defaults(&self, known: &PinnedExecutor) -> SettingsDoc {
        let (settings, problems) = defaults::judged(&known.defaults);
        let Some(first) = problems.first() else { return settings };
        let message = format!(
            "plugin `{}` has unusable defaults ({}: {}); expected policies as in a workflow file",
            self.kind, first.path, first.message
        );
        if let Some(call) = self.calls.first() {
            self.report.warning(call.kind.problem(&PLUGIN_DEFAULTS, message));
        }
        SettingsDoc::default()
    }
}

/// Whether a name is valid for a cargo package and for the type of an executor, as that of a new plugin has to be.
#[must_use]
pub fn is_crate_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.chars().all(fits) && name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.ends_with('-')
}

/// How to go on without an executor of that name.
fn start(name: &str, is_allowed: bool) -> String {
    let start = format!("`phasm plugin new {name}` starts one, and `--plugins DIR` adds a folder of plugins");
    if is_allowed { start } else { format!("{start}; `--allow-missing` runs the workflow all the same") }
}

fn check_memory(doc: &WorkflowDoc, report: &Report, limit: u64) {
    for task in tasks(doc) {
        let (Some(memory), Some(site)) = (task.memory, task.site_of("resources")) else { continue };
        if memory > limit {
            let message =
                format!("{memory} bytes of memory; expected at most the operator's limit of {limit}");
            report.warning(site.problem(&ABOVE_LIMIT, message).with_hint("the limit holds all the same"));
        }
    }
}

/// Every executor call in the document.
fn executor_calls(doc: &WorkflowDoc) -> impl Iterator<Item = &ExecutorDoc> {
    tasks(doc).filter_map(|task| match &task.work {
        WorkDoc::Executor(executor) => Some(executor),
        WorkDoc::Template(_) | WorkDoc::Unreadable => None,
    })
}

/// Every task of the document, templates and calls.
fn tasks(doc: &WorkflowDoc) -> impl Iterator<Item = &TaskDoc> {
    doc.spec.templates.iter().flat_map(|template| {
        let own = match &template.kind {
            KindDoc::Task(task) => Some(&**task),
            KindDoc::Dag(_) | KindDoc::Loop(_) | KindDoc::Pipeline(_) => None,
        };
        own.into_iter().chain(tasks_of(template).into_iter().flat_map(|tasks| &tasks.list))
    })
}
