//! Scenario files: a document, a script for its executors, timed events, and the trace that the run must leave.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use phasm::{RunRequest, reader};
use phasm_engine::{
    duration,
    event::{Dispatch, Input},
    outcome::{Outcome, Output},
    plan::{BoundArguments, Draft, Executors, Plan, bind_arguments},
    problem::Problem,
    run::{Run, SubmitEnv},
    time::{Millis, Timestamp},
    tree::{Tree, TreeNode},
    value::{Map, Value},
};
use serde::Deserialize;

use crate::{
    trace::trace,
    world::{Act, Script, World, check_replay},
};

/// A scenario as written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    /// Sentence on the behaviour shown, with the requirements it covers.
    #[serde(rename = "about")]
    _about: String,
    /// The document.
    document: serde_json::Value,
    /// Given parameters.
    #[serde(default)]
    parameters: serde_json::Map<String, serde_json::Value>,
    /// Slots there are; many unless said.
    #[serde(default = "many")]
    slots: u32,
    /// By `scope/taskName` or taskName: what dispatch n does; the last entry repeats. Others succeed at once.
    #[serde(default)]
    script: BTreeMap<String, Vec<WrittenAct>>,
    /// External events, and when they happen.
    #[serde(default)]
    at: Vec<WrittenEvent>,
    /// Another run from what had succeeded in this one.
    #[serde(default)]
    rerun: Option<WrittenRerun>,
    /// The expected trace; see [`expected_trace`].
    #[serde(default, rename = "trace")]
    _trace: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRerun {
    /// Parameters that are others than before.
    #[serde(default)]
    parameters: serde_json::Map<String, serde_json::Value>,
    #[serde(default)]
    script: BTreeMap<String, Vec<WrittenAct>>,
    #[serde(default)]
    at: Vec<WrittenEvent>,
}

fn many() -> u32 {
    1000
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenAct {
    #[serde(default)]
    code: i32,
    #[serde(default)]
    message: String,
    #[serde(default)]
    outputs: serde_json::Map<String, serde_json::Value>,
    #[serde(default)]
    detail: Option<serde_json::Value>,
    /// How long it takes; 10 ms unless said; `never` hangs.
    #[serde(default = "ten_millis")]
    takes: String,
    #[serde(default)]
    start_after: Option<String>,
}

fn ten_millis() -> String {
    "10ms".to_owned()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenEvent {
    time: String,
    #[serde(default)]
    resume: Option<String>,
    #[serde(default)]
    payload: serde_json::Map<String, serde_json::Value>,
    #[serde(default)]
    cancel: bool,
    #[serde(default)]
    cancel_task: Option<String>,
    #[serde(default)]
    inactive: Option<String>,
    /// The process dies; so much later another goes on.
    #[serde(default)]
    crash: Option<String>,
}

/// The script of a scenario file.
struct Scripted {
    acts: BTreeMap<String, Vec<WrittenAct>>,
    calls: BTreeMap<String, usize>,
}

impl Script for Scripted {
    fn act(&mut self, path: &str, dispatch: &Dispatch) -> Act {
        let acts = self.acts.get(path).or_else(|| self.acts.get(dispatch.task_name.as_ref()));
        let call = self.calls.entry(path.to_owned()).or_default();
        let act = acts.and_then(|acts| acts.get(*call).or(acts.last()));
        *call += 1;
        act.map_or_else(|| Act { takes: Some(10), ..Act::default() }, WrittenAct::act)
    }
}

impl WrittenAct {
    fn act(&self) -> Act {
        let outputs = self.outputs.iter().map(|(name, value)| Output::new(name.as_str(), value.clone()));
        let outcome = Outcome {
            code: self.code,
            message: self.message.as_str().into(),
            outputs: outputs.collect(),
            detail: self.detail.clone().map(Value::from),
            ..Outcome::default()
        };
        let takes = (self.takes != "never").then(|| millis(&self.takes));
        Act { start_after: self.start_after.as_deref().map_or(0, millis), takes, outcome }
    }
}

fn millis(text: &str) -> u64 {
    duration::parse(text).unwrap_or_else(|error| unreachable!("{text}: {error:?}"))
}

/// Line behind which a scenario has its trace, indented by two spaces, to the end of the file.
const TRACE: &str = "\ntrace: |2\n";

/// Returns the trace that a scenario's text expects.
#[must_use]
pub fn expected_trace(text: &str) -> String {
    let block = text.split_once(TRACE).map_or("", |(_, block)| block);
    block.lines().map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect()
}

/// Returns a scenario's text with another trace.
#[must_use]
pub fn with_trace(text: &str, trace: &str) -> String {
    let case = text.split_once(TRACE).map_or(text.trim_end(), |(case, _)| case.trim_end());
    let indented = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") };
    let block: String = trace.lines().map(indented).collect();
    format!("{case}\n{TRACE}{block}")
}

/// Runs a scenario file and returns its trace: of the run, or of the document's problems.
///
/// # Errors
/// The scenario is malformed, or the run breaks an invariant.
pub fn run_scenario(path: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("scenario.yaml");
    run_text(name, &text)
}

/// Runs a scenario, the text of a file called `name`.
///
/// # Errors
/// The same as for [`run_scenario`].
pub fn run_text(name: &str, text: &str) -> Result<String, String> {
    let tree = reader::read(name, text).map_err(|problems| listed(&problems))?;
    let written: Written =
        serde_json::from_value((&tree.to_value()).into()).map_err(|error| error.to_string())?;
    let document = document_of(&tree)?;
    let plan = match Draft::read(document).plan(&Executors::any(), &Value::Null) {
        Ok(plan) => Arc::new(plan),
        Err(problems) => return Ok(listed(&problems)),
    };
    let given: Map = written.parameters.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
    let parameters = match bound(&plan, &given) {
        Ok(parameters) => parameters,
        Err(problems) => return Ok(listed(&problems)),
    };
    let script = Scripted { acts: written.script, calls: BTreeMap::new() };
    let world = World::submit(Arc::clone(&plan), parameters, written.slots, script, true);
    let (run, mut text) = played(world, written.at)?;
    if let Some(WrittenRerun { parameters, script, at }) = written.rerun {
        let mut kept = run.parameters().as_ref().clone();
        kept.extend(parameters.into_iter().map(|(k, v)| (k.into(), v.into())));
        let script = Scripted { acts: script, calls: BTreeMap::new() };
        let (_, again) = played(World::rerun(&run, kept, written.slots, script, true), at)?;
        text.push_str("\nrerun\n");
        text.push_str(&again);
    }
    Ok(text)
}

/// The parameters of a run that is given these.
fn bound(plan: &Arc<Plan>, given: &Map) -> Result<BoundArguments, Vec<Problem>> {
    let facts = phasm_engine::event::Facts::default();
    let run_id = "run".into();
    let view = SubmitEnv { plan, run_id: &run_id, facts: &facts, by: None };
    let bound = bind_arguments(plan, given, &view)?;
    plan.bind(&bound.values)?;
    Ok(bound)
}

/// The run at its end, and its trace.
fn played(mut world: World<Scripted>, at: Vec<WrittenEvent>) -> Result<(Run, String), String> {
    play(&mut world, at)?;
    check_replay(&Arc::clone(world.run.plan()), &world)?;
    let mut text = trace(&world.run, &world.journal);
    if !world.run.phase().is_terminal() {
        text.push_str("open: nothing more will happen\n");
    }
    Ok((world.run, text))
}

/// A scenario for whole hosts, which are told by letters what happens from outside.
pub struct Staged {
    /// Document that is submitted.
    pub document: serde_json::Value,
    /// With these.
    pub parameters: Map,
    /// Number of attempts at once.
    pub slots: u32,
    /// Requests that are written to the run, and when.
    pub letters: Vec<(Millis, RunRequest)>,
    script: BTreeMap<String, Vec<WrittenAct>>,
}

impl Staged {
    /// None for a scenario with problems, and for one in which something happens that no letter asks for.
    ///
    /// # Errors
    /// The file is malformed.
    pub fn read(path: &Path) -> Result<Option<Self>, String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("scenario.yaml");
        let tree = reader::read(name, &text).map_err(|problems| listed(&problems))?;
        let written: Written =
            serde_json::from_value((&tree.to_value()).into()).map_err(|error| error.to_string())?;
        let Written { document, parameters, slots, script, at, rerun, .. } = written;
        let letters: Option<Vec<_>> = at.iter().map(letter).collect();
        let starts_late = script.values().flatten().any(|act| act.start_after.is_some());
        let Some(letters) = letters.filter(|_| rerun.is_none() && !starts_late) else { return Ok(None) };
        let parameters: Map = parameters.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        let plan = Draft::read(document_of(&tree)?).plan(&Executors::any(), &Value::Null).ok();
        let is_bound = plan.map(Arc::new).is_some_and(|plan| bound(&plan, &parameters).is_ok());
        Ok(is_bound.then_some(Self { document, parameters, slots, letters, script }))
    }

    /// Returns the play for dispatch n of a task run; `path` is `scope/taskName`.
    #[must_use]
    pub fn act(&self, path: &str, task: &str, dispatch: u32) -> Act {
        let acts = self.script.get(path).or_else(|| self.script.get(task));
        let nth = dispatch.saturating_sub(1) as usize;
        let act = acts.and_then(|acts| acts.get(nth).or(acts.last()));
        act.map_or_else(|| Act { takes: Some(10), ..Act::default() }, WrittenAct::act)
    }
}

fn letter(event: &WrittenEvent) -> Option<(Millis, RunRequest)> {
    let payload = || event.payload.iter().map(|(k, v)| (k.as_str().into(), v.clone().into())).collect();
    let body = match event {
        WrittenEvent { crash: Some(_), .. } | WrittenEvent { inactive: Some(_), .. } => return None,
        WrittenEvent { cancel: true, .. } => RunRequest::Cancel,
        WrittenEvent { cancel_task: Some(task), .. } => RunRequest::CancelTask { task: task.clone() },
        WrittenEvent { resume, .. } => RunRequest::Resume { task: resume.clone()?, payload: payload() },
    };
    Some((millis(&event.time), body))
}

/// Lets everything happen in order; timed events come first at their instant.
fn play(world: &mut World<Scripted>, mut events: Vec<WrittenEvent>) -> Result<(), String> {
    events.reverse();
    while let Some(event) = events.pop() {
        let at = Timestamp(0).after(millis(&event.time));
        while world.next().is_some_and(|next| next < at) && world.advance() {}
        if let Some(later) = &event.crash {
            world.crash(at.after(millis(later)))?;
        } else if let Some(input) = input_of(world, &event) {
            world.at(at, input);
            world.advance();
        }
    }
    world.finish();
    Ok(())
}

fn input_of(world: &World<Scripted>, event: &WrittenEvent) -> Option<Input> {
    if event.cancel {
        return Some(Input::Cancelled(None));
    }
    if let Some(task) = &event.cancel_task {
        return world.find(task).map(|task| Input::TaskCancelled(task, None));
    }
    if let Some(task) = &event.inactive {
        let task = world.find(task).and_then(|id| world.run.task(id))?;
        return Some(Input::Inactive(task.fence()));
    }
    let payload = event.payload.iter().map(|(k, v)| (k.as_str().into(), v.clone().into())).collect();
    event.resume.as_ref().and_then(|task| world.find(task)).map(|task| Input::Resumed(task, payload, None))
}

fn document_of(tree: &Tree) -> Result<&Tree, String> {
    match &tree.node {
        TreeNode::Object(members) => members
            .iter()
            .find(|(key, _)| key.name.as_ref() == "document")
            .map(|(_, document)| document)
            .ok_or_else(|| "a scenario has a document".to_owned()),
        TreeNode::Null
        | TreeNode::Bool(_)
        | TreeNode::Number(_)
        | TreeNode::String(_)
        | TreeNode::Array(_) => Err("a scenario is an object".to_owned()),
    }
}

fn listed(problems: &[Problem]) -> String {
    // Without a text there are no places, and the lines say `0:0`.
    let line = |problem: &Problem| {
        let text = problem.to_string();
        let place = format!("{}:{}", problem.line, problem.column);
        let rest = text.strip_prefix(&format!("{place}: ")).unwrap_or(&text);
        format!("{place} {rest}\n")
    };
    problems.iter().map(line).collect()
}
