//! Names resolved: which template a call means.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    document::{ExecutorDoc, HookDoc, KindDoc, TaskDoc, TasksDoc, TemplateDoc, WorkDoc, WorkflowDoc},
    form::{Name, Report, listed_if_few},
    plan::{PinnedExecutors, TemplateId},
    problem::codes::names::{DUPLICATE_NAME, UNKNOWN_TEMPLATE},
};

/// The document and its templates by name.
pub(in crate::plan) struct Index<'a> {
    pub(in crate::plan) doc: &'a WorkflowDoc,
    pub(in crate::plan) report: &'a Report,
    /// The operator's variables that expressions may begin with.
    pub(in crate::plan) variables: BTreeSet<Arc<str>>,
    /// The resolved executor types.
    pub(in crate::plan) executors: &'a PinnedExecutors,
    by_name: BTreeMap<&'a str, TemplateId>,
}

/// The target of a task's call.
#[derive(Clone, Copy)]
pub(in crate::plan) enum Callee<'a> {
    /// Its own executor.
    Inline,
    /// A task template with an executor.
    Leaf(TemplateId, &'a TemplateDoc),
    /// A task template around a dag, loop or pipeline.
    Wrapper(TemplateId, &'a TemplateDoc),
    /// A dag, loop or pipeline.
    Container(TemplateId, &'a TemplateDoc),
    /// Nothing that could be read or found, which has been reported.
    Unknown,
}

impl<'a> Index<'a> {
    /// Indexes the templates; of equal names the first counts and the others are problems.
    pub(in crate::plan) fn new(
        doc: &'a WorkflowDoc,
        report: &'a Report,
        variables: BTreeSet<Arc<str>>,
        executors: &'a PinnedExecutors,
    ) -> Self {
        let mut by_name = BTreeMap::new();
        for (id, template) in doc.spec.templates.iter().enumerate() {
            let Some(name) = &template.name else { continue };
            if by_name.contains_key(&*name.value) {
                let message = format!("template `{}` exists already; expected a name of its own", name.value);
                report.problem(name.problem(&DUPLICATE_NAME, message));
            } else {
                by_name.insert(&*name.value, id);
            }
        }
        Self { doc, report, variables, executors, by_name }
    }

    /// The names of the templates, in the document's order.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.templates().filter_map(|(_, template)| template.name.as_ref()).map(|name| &*name.value)
    }

    pub(in crate::plan) fn template(&self, id: TemplateId) -> Option<&'a TemplateDoc> {
        self.doc.spec.templates.get(id)
    }

    pub(in crate::plan) fn templates(&self) -> impl Iterator<Item = (TemplateId, &'a TemplateDoc)> {
        self.doc.spec.templates.iter().enumerate()
    }

    /// The template of that name, if there is one.
    pub(in crate::plan) fn find(&self, name: &Name) -> Option<(TemplateId, &'a TemplateDoc)> {
        let id = *self.by_name.get(&*name.value)?;
        Some((id, self.template(id)?))
    }

    /// Finds a template like [`Index::find`], and reports a problem when there is none.
    pub(in crate::plan) fn resolve(&self, name: &Name) -> Option<(TemplateId, &'a TemplateDoc)> {
        let found = self.find(name);
        // Some template is unreadable: it may be the one that is meant.
        if found.is_none() && self.doc.spec.sound {
            let expected = listed_if_few(self.names(), "one of spec.templates");
            let message = format!("unknown template `{}`; expected {expected}", name.value);
            let problem = name.problem(&UNKNOWN_TEMPLATE, message);
            let hint = self.report.did_you_mean(&name.value, self.by_name.keys().copied());
            self.report.problem(problem.with_hint_if(hint));
        }
        found
    }

    /// Returns the target of `task`.
    pub(in crate::plan) fn callee(&self, task: &TaskDoc) -> Callee<'a> {
        match &task.work {
            WorkDoc::Executor(_) => Callee::Inline,
            WorkDoc::Template(name) => self.called(name),
            WorkDoc::Unreadable => Callee::Unknown,
        }
    }

    /// Returns the target of a call of `name`.
    pub(in crate::plan) fn called(&self, name: &Name) -> Callee<'a> {
        let Some((id, template)) = self.find(name) else { return Callee::Unknown };
        match &template.kind {
            KindDoc::Dag(_) | KindDoc::Loop(_) | KindDoc::Pipeline(_) => Callee::Container(id, template),
            KindDoc::Task(task) => match task.work {
                WorkDoc::Template(_) => Callee::Wrapper(id, template),
                WorkDoc::Executor(_) | WorkDoc::Unreadable => Callee::Leaf(id, template),
            },
        }
    }

    /// Whether an executor waits for people.
    pub(in crate::plan) fn suspends(&self, executor: &ExecutorDoc) -> bool {
        self.executors.get(&executor.kind.value).is_some_and(|pinned| pinned.suspends)
    }

    /// The container that a wrapper template wraps.
    pub(in crate::plan) fn wrapped(&self, wrapper: &TemplateDoc) -> Option<(TemplateId, &'a TemplateDoc)> {
        let KindDoc::Task(task) = &wrapper.kind else { return None };
        match self.callee(task) {
            Callee::Container(id, template) => Some((id, template)),
            Callee::Inline | Callee::Leaf(..) | Callee::Wrapper(..) | Callee::Unknown => None,
        }
    }
}

impl<'a> Callee<'a> {
    /// The template called.
    pub(in crate::plan) fn template(self) -> Option<(TemplateId, &'a TemplateDoc)> {
        match self {
            Self::Leaf(id, template) | Self::Wrapper(id, template) | Self::Container(id, template) => {
                Some((id, template))
            }
            Self::Inline | Self::Unknown => None,
        }
    }
}

/// The tasks of a dag or pipeline template.
pub(in crate::plan) fn tasks_of(template: &TemplateDoc) -> Option<&TasksDoc> {
    match &template.kind {
        KindDoc::Dag(dag) => Some(&dag.tasks),
        KindDoc::Pipeline(pipeline) => Some(&pipeline.tasks),
        KindDoc::Task(_) | KindDoc::Loop(_) => None,
    }
}

/// Every hook written in a template: its own and those of its tasks.
pub(in crate::plan) fn hooks_of(template: &TemplateDoc) -> impl Iterator<Item = &HookDoc> {
    let tasks = tasks_of(template).map(|tasks| tasks.list.as_slice()).unwrap_or_default();
    let on_tasks = tasks.iter().filter_map(|task| task.settings.hooks.as_ref());
    template.settings.hooks.iter().chain(on_tasks).flatten()
}

/// A call of one template by another.
pub(in crate::plan) struct CallSite<'a> {
    /// The name called.
    pub(in crate::plan) name: &'a Name,
    /// The caller's name for it; of bodies and wrapped containers the template's.
    pub(in crate::plan) task: &'a str,
    /// Whether the callee runs once per iteration.
    pub(in crate::plan) is_body: bool,
}

/// Every call that a template makes, hooks aside.
pub(in crate::plan) fn calls_of(template: &TemplateDoc) -> Vec<CallSite<'_>> {
    match &template.kind {
        KindDoc::Task(task) => match &task.work {
            WorkDoc::Template(name) => vec![CallSite { name, task: &name.value, is_body: false }],
            WorkDoc::Executor(_) | WorkDoc::Unreadable => Vec::new(),
        },
        KindDoc::Loop(read) => {
            read.body.iter().map(|name| CallSite { name, task: &name.value, is_body: true }).collect()
        }
        KindDoc::Dag(_) | KindDoc::Pipeline(_) => {
            tasks_of(template).into_iter().flat_map(|tasks| &tasks.list).filter_map(call_of).collect()
        }
    }
}

fn call_of(task: &TaskDoc) -> Option<CallSite<'_>> {
    let WorkDoc::Template(name) = &task.work else { return None };
    Some(CallSite { name, task: task.name.as_ref().map_or("", |own| &*own.value), is_body: false })
}
