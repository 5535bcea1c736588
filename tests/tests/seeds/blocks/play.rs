//! Running a document against a script, and reading the journal of it.

use std::{collections::BTreeMap, sync::Arc};

use phasm::reader;
use phasm_engine::{
    event::{Dispatch, Event, Input, Reason, TaskId},
    outcome::{Outcome, Output},
    phase::Phase,
    plan::{Draft, Executors, Plan},
    problem::Problem,
    time::Timestamp,
    value::{Map, Value},
};
use phasm_tests::world::{Act, Script, World, check_replay};
use serde_json::{Value as Json, json};

/// By task name, what dispatch n does; the last entry repeats. Others succeed at once.
pub(crate) type Acts = BTreeMap<String, Vec<Act>>;

/// A workflow around templates; `spec` is more lines for it.
pub(crate) fn workflow(templates: &[&str], spec: &str) -> String {
    let templates: String =
        templates.iter().map(|template| format!("    - {}\n", indented(template, 6).trim_start())).collect();
    format!(
        "apiVersion: aether/v1\nkind: Workflow\nmetadata: {{name: seed}}\nspec:\n  entrypoint: main\n{}\n  templates:\n{templates}",
        indented(spec, 2)
    )
}

/// Every line but empty ones moved to the right.
pub(crate) fn indented(block: &str, by: usize) -> String {
    let line = |line: &str| if line.is_empty() { String::new() } else { format!("{:by$}{line}", "") };
    block.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the text between the braces of a JSON object.
pub(crate) fn inner(block: &str) -> &str {
    block.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap()
}

/// Plans a document.
pub(crate) fn plan(document: &str) -> Result<Arc<Plan>, Vec<Problem>> {
    Draft::read(&reader::read("seed.yaml", document)?).plan(&Executors::any(), &Value::Null).map(Arc::new)
}

/// Returns after a second.
pub(crate) fn returns(code: i32) -> Act {
    Act { takes: Some(1000), outcome: Outcome { code, ..Outcome::default() }, ..Act::default() }
}

/// An error (code 3) with a message and a detail.
pub(crate) fn error(message: &str, detail: Json) -> Act {
    let outcome =
        Outcome { code: 3, message: message.into(), detail: Some(detail.into()), ..Outcome::default() };
    Act { outcome, ..returns(3) }
}

/// Success with one output.
pub(crate) fn output(name: &str, value: Json) -> Act {
    let outputs = vec![Output::new(name, value)];
    Act { outcome: Outcome { outputs, ..Outcome::default() }, ..returns(0) }
}

/// Hangs until it is aborted.
pub(crate) fn hangs() -> Act {
    Act::default()
}

/// A script from `(task name, acts)`.
pub(crate) fn acts<const N: usize>(acts: [(&str, Vec<Act>); N]) -> Acts {
    acts.map(|(task, acts)| (task.to_owned(), acts)).into()
}

pub(crate) struct Scripted {
    acts: Acts,
    calls: BTreeMap<String, usize>,
}

impl Script for Scripted {
    fn act(&mut self, _path: &str, dispatch: &Dispatch) -> Act {
        let name = dispatch.task_name.to_string();
        let call = self.calls.entry(name.clone()).or_default();
        *call += 1;
        let acts = self.acts.get(&name);
        acts.and_then(|acts| acts.get(*call - 1).or(acts.last())).cloned().unwrap_or_else(|| returns(0))
    }
}

/// A run of a sound document, and all that came of it.
pub(crate) struct Played {
    plan: Arc<Plan>,
    pub(crate) world: World<Scripted>,
}

/// The end of a task.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Attempts whose executor started.
    pub(crate) started: usize,
    /// The pauses before its retries, in milliseconds.
    pub(crate) delays: Vec<u64>,
    pub(crate) phase: Phase,
    pub(crate) reason: Option<Reason>,
}

/// An [`Ended`].
pub(crate) fn ended(started: usize, delays: &[u64], phase: Phase, reason: Option<Reason>) -> Ended {
    Ended { started, delays: delays.to_vec(), phase, reason }
}

/// Submits a sound document.
pub(crate) fn submit(document: &str, acts: Acts) -> Played {
    let plan = plan(document).unwrap_or_else(|problems| panic!("{problems:#?}\n{document}"));
    let parameters = Map::from([
        ("api_url".into(), Value::from("http://api")),
        ("page_size".into(), Value::from(json!(50))),
    ]);
    let script = Scripted { acts, calls: BTreeMap::new() };
    Played { plan: Arc::clone(&plan), world: World::submit(plan, parameters, 100, script, true) }
}

/// Runs a sound document to its end.
pub(crate) fn play(document: &str, acts: Acts) -> Played {
    submit(document, acts).through()
}

impl Played {
    /// Lets everything happen; the journal, cut anywhere, must give the run as it stood.
    pub(crate) fn through(mut self) -> Self {
        self.world.finish();
        assert!(self.world.run.is_over(), "the run does not end");
        check_replay(&self.plan, &self.world).unwrap();
        self
    }

    /// Something from outside, some milliseconds after the submit.
    pub(crate) fn at(mut self, millis: u64, input: Input) -> Self {
        self.world.at(Timestamp(0).after(millis), input);
        self
    }

    /// The latest task run of that name.
    pub(crate) fn task(&self, name: &str) -> TaskId {
        self.world.find(name).unwrap()
    }

    /// When the run ended, in milliseconds.
    pub(crate) fn finished_at(&self) -> i64 {
        self.world.run.times().finished_at.unwrap().0
    }

    pub(crate) fn phase(&self) -> Phase {
        self.world.run.phase()
    }

    fn events(&self) -> impl Iterator<Item = &Event> {
        self.world.journal.iter().flat_map(|(_, events)| events)
    }

    /// Returns the end of a task by the journal.
    pub(crate) fn ended(&self, name: &str) -> Ended {
        let id = self.task(name);
        let mut ended = ended(0, &[], Phase::Created, None);
        for event in self.events() {
            if let Event::AttemptStarted(fence) = event {
                ended.started += usize::from(fence.task == id);
            } else if let Event::RetryScheduled(retry) = event {
                ended.delays.extend((retry.task == id).then_some(retry.delay_ms));
            } else if let Event::Phase(change) = event
                && change.task == id
            {
                (ended.phase, ended.reason) = (change.to, change.reason);
            }
        }
        ended
    }

    /// A task's first dispatch.
    pub(crate) fn dispatch(&self, name: &str) -> &Dispatch {
        let id = self.task(name);
        self.world.dispatched.iter().find(|dispatch| dispatch.fence.task == id).unwrap()
    }

    /// The inputs of a task's first dispatch.
    pub(crate) fn inputs(&self, name: &str) -> Json {
        let inputs = self.dispatch(name).inputs.iter();
        inputs.map(|b| (b.name.to_string(), Json::from(&b.value.visible()))).collect()
    }

    /// The configuration of a task's first dispatch.
    pub(crate) fn config(&self, name: &str) -> Json {
        (&self.dispatch(name).config).into()
    }
}
