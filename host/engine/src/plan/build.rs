//! From a tree to a plan: reading, checking, assembling.

use crate::{
    document::{self, KindDoc},
    form::{Cursor, Report, check_duplicates},
    problem::Problem,
    tree::Tree,
};

use super::{
    Plan, assemble, check,
    executors::{self, Catalogue},
    resolve::{
        graph::{Graph, Graphs},
        index::Index,
    },
    variables,
};

impl Plan {
    /// Reads and checks the whole document.
    ///
    /// `catalogue` knows the installed executors; `()` stands for one that has them all.
    ///
    /// # Errors
    /// Every problem of the document, in its order; nothing is left to be found by running it.
    pub fn build(tree: &Tree, catalogue: &dyn Catalogue) -> Result<Self, Vec<Problem>> {
        let report = Report::default();
        check_duplicates(&Cursor::root(tree), &report);
        let plan = document::read(tree, &report).and_then(|doc| {
            let index = Index::new(&doc, &report, variables::readable(catalogue));
            let graphs = graphs(&index);
            check::check(&index, &graphs);
            let (defaults, recorded) = executors::look_up(&index, catalogue);
            check::warn(&index, &graphs, &defaults);
            let plan =
                || Some(Self { defaults: recorded, ..assemble::plan(&index, &graphs, &defaults, tree)? });
            report.is_sound().then(plan).flatten()
        });
        let (problems, warnings) = report.into_parts();
        match plan {
            Some(plan) if problems.is_empty() => Ok(Self { warnings, ..plan }),
            Some(_) | None => Err(problems),
        }
    }
}

fn graphs(index: &Index<'_>) -> Graphs {
    let dags = index.templates().filter_map(|(id, template)| match &template.kind {
        KindDoc::Dag(dag) => Some((id, Graph::build(index, dag))),
        KindDoc::Task(_) | KindDoc::Loop(_) | KindDoc::Pipeline(_) => None,
    });
    dags.collect()
}
