//! From a document to a plan: read, told what its executors stand for, checked, assembled.
//!
//! ```text
//!  tree ── read ──▶ Draft ── executor_types ──▶ the host finds out ──▶ Executors ── plan ──▶ Plan, or every problem
//!                     └── assemble ──▶ Plan          what a run was submitted with: judged once, never again
//! ```

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::{
    document::{self, KindDoc, SettingValues, Settings, WorkflowDoc},
    form::{Cursor, Report, check_duplicates},
    json_text::JsonText,
    problem::{DocumentWarning, Problem},
    schedule::Cron,
    tree::Tree,
    value::{Map, Value},
};

use super::{
    Plan, assemble, bind, check,
    executors::{self, Executors},
    max_parallelism,
    model::PinnedExecutors,
    resolve::{
        graph::{Graph, Graphs},
        index::Index,
    },
    variables,
};

/// A document as read. Problems found so far are kept, and reported with the rest.
pub struct Draft {
    doc: Option<WorkflowDoc>,
    document: JsonText,
    report: Report,
}

/// Everything that was found about a document.
#[derive(Debug)]
pub struct Judgement {
    /// The plan, without its warnings, where there is no problem.
    pub plan: Option<Plan>,
    /// Every problem, in the order of the document.
    pub problems: Vec<Problem>,
    /// Every warning.
    pub warnings: Vec<Problem>,
}

impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft").field("doc", &self.doc).finish_non_exhaustive()
    }
}

impl Draft {
    /// Reads a document, whatever is wrong with it. Settings that are expressions get the values that follow from the defaults of
    /// the workflow's parameters.
    #[must_use]
    pub fn read(tree: &Tree) -> Self {
        let draft = Self::read_with(tree, SettingValues::new());
        let values = draft.doc.as_ref().map(bind::by_default).unwrap_or_default();
        if values.is_empty() { draft } else { Self::read_with(tree, values) }
    }

    /// Reads a document with these values of settings that are expressions, by their paths.
    pub(super) fn read_with(tree: &Tree, values: SettingValues) -> Self {
        let report = Report::default();
        report.provide(Arc::new(Settings::with(values)));
        check_duplicates(&Cursor::root(tree), &report);
        let doc = document::read(tree, &report);
        Self { doc, document: JsonText::of(tree), report }
    }

    /// Whether reading it found no problem; [`Draft::plan`] may still find some.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.doc.is_some() && self.report.is_sound()
    }

    /// The executor types that it names, each once, sorted.
    #[must_use]
    pub fn executor_types(&self) -> Vec<Arc<str>> {
        self.doc.as_ref().map(executors::types).unwrap_or_default()
    }

    /// Returns the namespace that the workflow belongs to: `metadata.namespace`.
    #[must_use]
    pub fn namespace(&self) -> Option<Arc<str>> {
        self.doc.as_ref().map(WorkflowDoc::namespace)
    }

    /// Returns the workflow's name: `metadata.name`, or for a schedule the name of its runs.
    #[must_use]
    pub fn name(&self) -> Option<Arc<str>> {
        self.doc.as_ref()?.name.as_ref().map(|name| name.value.clone())
    }

    /// When it starts by itself, of a `kind: CronWorkflow` that says so soundly.
    #[must_use]
    pub fn cron(&self) -> Option<&Cron> {
        self.doc.as_ref()?.cron.as_ref()
    }

    /// How many executors a run of it can have at work at once; nothing where that is open, or many.
    #[must_use]
    pub fn max_parallelism(&self) -> Option<u32> {
        let executors = PinnedExecutors::new();
        let index = Index::new(self.doc.as_ref()?, &self.report, BTreeSet::new(), &executors);
        max_parallelism::max_parallelism(&index)
    }

    /// Checks the whole document, knowing what its executor types stand for and the operator's variables, an object.
    ///
    /// # Errors
    /// Every problem of the document, in its order; nothing is left to be found by running it.
    pub fn plan(self, executors: &Executors, variables: &Value) -> Result<Plan, Vec<Problem>> {
        let Judgement { plan, problems, warnings } = self.judge(executors, variables);
        plan.map(|plan| Plan { warnings, ..plan }).ok_or(problems)
    }

    /// Checks the whole document like [`Draft::plan`], and says what is doubtful also where something is wrong.
    #[must_use]
    pub fn judge(self, executors: &Executors, variables: &Value) -> Judgement {
        let Self { doc, document, report } = self;
        let plan = doc.and_then(|doc| {
            let (defaults, pinned) = executors::look_up(&doc, &report, executors);
            let index = Index::new(&doc, &report, variables::readable(variables), &pinned);
            let graphs = graphs(&index);
            check::check(&index, &graphs);
            executors.check_endpoints(&doc.spec.notify, &report);
            check::warn(&index, &graphs, &defaults);
            let plan = || assemble::plan(&index, &graphs, &defaults, document);
            report.is_sound().then(plan).flatten()
        });
        let (problems, warnings) = report.into_parts();
        Judgement { plan: plan.filter(|_| problems.is_empty()), problems, warnings }
    }

    /// Assembles the plan of a document with which a run was submitted, from the recorded executors. The document was checked at
    /// submission; problems and warnings that newer rules would add are left out.
    ///
    /// # Errors
    /// Returns the problems of a document with parts that cannot be read at all.
    pub fn assemble(
        self,
        executors: &PinnedExecutors,
        warnings: &[DocumentWarning],
    ) -> Result<Plan, Vec<Problem>> {
        let Self { doc, document, report } = self;
        let lost = report.has_lost();
        let plan = doc.filter(|_| !lost).and_then(|doc| {
            let index = Index::new(&doc, &report, BTreeSet::new(), executors);
            let defaults = executors::recorded(executors)?;
            assemble::plan(&index, &graphs(&index), &defaults, document)
        });
        let warnings = warnings.iter().filter_map(DocumentWarning::problem).collect();
        plan.map(|plan| Plan { warnings, ..plan }).ok_or_else(|| report.into_parts().0)
    }
}

impl Draft {
    /// Reads the document that a run was submitted with, its settings as they were bound for it.
    pub(crate) fn recorded(document: &Value, settings: &Map) -> Self {
        let known = settings.iter().map(|(path, value)| (path.to_string(), Ok(value.clone())));
        Self::read_with(&Tree::from(document), known.collect())
    }

    /// Assembles the plan of a document whose other values were checked when `plan` was made of it.
    ///
    /// # Errors
    /// The problems of the values of settings.
    pub(super) fn rebind(self, plan: &Plan) -> Result<Plan, Vec<Problem>> {
        let Self { doc, report, .. } = self;
        let values = Report::default();
        let bound = doc.filter(|_| !report.has_lost()).and_then(|doc| {
            let index = Index::new(&doc, &values, BTreeSet::new(), &plan.executors);
            let defaults = executors::recorded(&plan.executors)?;
            let graphs = graphs(&index);
            if report.open_values() == 0 {
                check::check_values(&index, &graphs, &defaults);
            }
            assemble::plan(&index, &graphs, &defaults, plan.document.clone())
        });
        let problems = if report.has_lost() { report } else { values }.into_parts().0;
        let sound = bound.filter(|_| problems.is_empty());
        sound.map(|bound| Plan { warnings: plan.warnings.clone(), ..bound }).ok_or(problems)
    }
}

fn graphs(index: &Index<'_>) -> Graphs {
    let dags = index.templates().filter_map(|(id, template)| match &template.kind {
        KindDoc::Dag(dag) => Some((id, Graph::build(index, dag))),
        KindDoc::Task(_) | KindDoc::Loop(_) | KindDoc::Pipeline(_) => None,
    });
    dags.collect()
}
