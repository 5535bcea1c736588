//! Runs on a clock of their own: an executor does what a script says.

use std::{collections::BTreeMap, sync::Arc};

use phasm_engine::{
    event::{Command, Dispatch, Facts, Input},
    outcome::Outcome,
    plan::{Draft, Executors, Plan},
    run::{Run, Step, Submission, TaskRun},
    time::{Millis, Timestamp},
    tree::Tree,
    value::{Map, Value},
};
use phasm_graph::{Diagram, Limits, Suspensions, Timeline};

/// Returns the plan of these templates, which are JSON.
pub(crate) fn plan(templates: &str) -> Arc<Plan> {
    let work = r#"{ "task": { "name": "work", "executor": { "type": "echo" } } }"#;
    let document = format!(
        r#"{{ "apiVersion": "aether/v1", "kind": "Workflow", "metadata": {{ "name": "small" }},
            "spec": {{ "entrypoint": "main", "timeout": "none", "templates": [{work}, {templates}] }} }}"#
    );
    let document = Value::from_json(&document).unwrap();
    let plan = Draft::read(&Tree::from(&document)).plan(&Executors::any(), &Value::Null);
    Arc::new(plan.unwrap_or_else(|problems| panic!("{problems:?}")))
}

/// How long a dispatch takes, and how it ends.
pub(crate) type Act = (Millis, Outcome);

type Script = dyn FnMut(&str, &Dispatch) -> Act;

pub(crate) fn code(code: i32) -> Outcome {
    Outcome { code, ..Outcome::default() }
}

/// A run, its clock and its suspensions.
pub(crate) struct World {
    pub(crate) run: Run,
    suspensions: Suspensions,
    script: Box<Script>,
    now: Timestamp,
    slots: u32,
    pending: BTreeMap<(Timestamp, u64), Input>,
    arrivals: u64,
}

impl World {
    /// Submits a run with so many slots. The script has the path of a task and its dispatch.
    pub(crate) fn submit(
        plan: Arc<Plan>,
        slots: u32,
        script: impl FnMut(&str, &Dispatch) -> Act + 'static,
    ) -> Self {
        let submission = Submission {
            run_id: "run".into(),
            parameters: Arc::new(Map::new()),
            doubts: Vec::new(),
            facts: Facts {
                os: "linux".into(),
                arch: "amd64".into(),
                vars: Map::new().into(),
                scheduled: None,
            },
            secrets: Vec::new(),
            origin: None,
            trace: None,
            by: None,
        };
        let (run, step) = Run::start(plan, submission, Timestamp(0));
        let (suspensions, script) = (Suspensions::default(), Box::new(script));
        let (pending, arrivals) = (BTreeMap::new(), 0);
        let mut world = Self { run, suspensions, script, now: Timestamp(0), slots, pending, arrivals };
        world.take(step);
        world
    }

    /// Runs until a time, or until nothing more happens.
    pub(crate) fn until(mut self, end: Timestamp) -> Self {
        while !self.run.is_over() {
            let arrival = self.pending.first_key_value().map(|((at, _), _)| *at);
            let Some(next) = [arrival, self.run.next_wait()].into_iter().flatten().min() else { break };
            if next > end {
                break;
            }
            self.now = self.now.max(next);
            let input = match self.pending.first_entry() {
                Some(entry) if entry.key().0 <= self.now => entry.remove(),
                Some(_) | None => Input::Tick,
            };
            let step = self.run.step(self.now, input);
            self.take(step);
        }
        self
    }

    pub(crate) fn finished(self) -> Self {
        self.until(Timestamp(i64::MAX))
    }

    /// Approves a task after some time.
    pub(crate) fn approve(mut self, name: &str, after: Millis) -> Self {
        let task = self.task(name).id;
        self.later(after, Input::Resumed(task, Map::new(), None));
        self
    }

    fn later(&mut self, after: Millis, input: Input) {
        self.arrivals += 1;
        self.pending.insert((self.now.after(after), self.arrivals), input);
    }

    fn take(&mut self, mut step: Step) {
        loop {
            self.suspensions.note(self.now, &step.events);
            for command in step.commands {
                if let Command::Dispatch(dispatch) = command {
                    self.dispatch(&dispatch);
                }
            }
            let free = self.slots.saturating_sub(self.run.in_flight()).min(self.run.wanted_slots());
            let before = self.run.seq();
            if free == 0 {
                return;
            }
            step = self.run.step(self.now, Input::Lent(free));
            if self.run.seq() == before {
                return;
            }
        }
    }

    fn dispatch(&mut self, dispatch: &Dispatch) {
        let path = self.run.task(dispatch.fence.task).map(|task| self.run.path(task)).unwrap_or_default();
        let (takes, outcome) = (self.script)(&path, dispatch);
        self.later(0, Input::Started(dispatch.fence));
        self.later(takes, Input::Finished(dispatch.fence, outcome));
    }

    /// Returns the task run of that path, or of that name.
    pub(crate) fn task(&self, name: &str) -> &TaskRun {
        let tasks = self.run.tasks();
        let by_path = tasks.iter().rev().find(|task| self.run.path(task) == name);
        by_path.or_else(|| tasks.iter().rev().find(|task| *self.run.node(task).name == *name)).unwrap()
    }

    pub(crate) fn diagram(&self) -> Diagram {
        Diagram::of_run(&self.run, Limits::default())
    }

    pub(crate) fn timeline(&self, now: Timestamp) -> Timeline {
        Timeline::of(&self.run, &self.suspensions, now, Limits::default())
    }
}
