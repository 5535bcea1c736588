//! Plans from a few templates, and an executor that answers by dispatch: what a table of rows needs.

use std::sync::Arc;

use phasm_engine::{
    event::{Dispatch, Event},
    outcome::Outcome,
    plan::{Draft, Executors, Plan},
    problem::Problem,
    run::TaskRun,
    time::Millis,
    tree::Tree,
    value::{Map, Value},
};
use serde_json::{Value as Json, json};

use crate::world::{Act, Script, World};

/// The plan of these templates, with the entrypoint `main` and no end of time.
///
/// # Errors
/// The document's problems.
pub fn plan(templates: &[Json]) -> Result<Arc<Plan>, Vec<Problem>> {
    let spec = json!({ "entrypoint": "main", "timeout": "none", "templates": templates });
    let metadata = json!({ "name": "small" });
    let document =
        json!({ "apiVersion": "aether/v1", "kind": "Workflow", "metadata": metadata, "spec": spec });
    Draft::read(&Tree::from(&Value::from(document))).plan(&Executors::any(), &Value::Null).map(Arc::new)
}

/// The plan of a dag `main` of these tasks, beside a task template `work`.
///
/// # Errors
/// The document's problems.
pub fn dag(tasks: &[Json]) -> Result<Arc<Plan>, Vec<Problem>> {
    plan(&[work(), json!({ "dag": { "name": "main", "tasks": tasks } })])
}

/// The task template `work`.
#[must_use]
pub fn work() -> Json {
    json!({ "task": { "name": "work", "executor": { "type": "echo" } } })
}

/// Dispatch n takes 10 ms and has the n-th outcome, the last one again and again.
pub struct Answers(Vec<Outcome>);

impl Answers {
    /// These outcomes.
    #[must_use]
    pub fn new(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        Self(outcomes.into_iter().collect())
    }

    /// These codes.
    #[must_use]
    pub fn codes(codes: impl IntoIterator<Item = i32>) -> Self {
        Self::new(codes.into_iter().map(|code| Outcome { code, ..Outcome::default() }))
    }
}

impl Script for Answers {
    fn act(&mut self, _path: &str, dispatch: &Dispatch) -> Act {
        let nth = dispatch.fence.dispatch.saturating_sub(1) as usize;
        let outcome = self.0.get(nth).or(self.0.last()).cloned().unwrap_or_default();
        Act { start_after: 0, takes: Some(10), outcome }
    }
}

/// Runs a plan until nothing more happens, with slots for everything.
pub fn finished<S: Script>(plan: Arc<Plan>, script: S) -> World<S> {
    let mut world = World::submit(plan, Map::new(), u32::MAX, script, false);
    world.finish();
    world
}

impl<S: Script> World<S> {
    /// The task run of that path or name.
    #[must_use]
    pub fn task(&self, name: &str) -> Option<&TaskRun> {
        self.find(name).and_then(|id| self.run.task(id))
    }

    /// Every retry's delay, in the order of the journal.
    #[must_use]
    pub fn delays(&self) -> Vec<Millis> {
        let events = self.journal.iter().flat_map(|(_, events)| events);
        let delay = |event: &Event| {
            if let Event::RetryScheduled(scheduled) = event { Some(scheduled.delay_ms) } else { None }
        };
        events.filter_map(delay).collect()
    }
}
