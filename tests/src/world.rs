//! The world around one run: a stepped clock, slots, and an executor that does what a script says.

mod crash;

use std::{collections::BTreeMap, sync::Arc};

use phasm_engine::{
    event::{Command, Dispatch, Event, Facts, Fence, Input, TaskId},
    outcome::Outcome,
    plan::{BoundArguments, Plan},
    run::{self, Run, RunView, Step, Submission},
    time::{Millis, Timestamp},
    value::Map,
};
use serde_json::json;

/// The result of one dispatch.
#[derive(Clone, Debug, Default)]
pub struct Act {
    /// How long after the dispatch it starts.
    pub start_after: Millis,
    /// How long after its start it returns; `None` hangs until it is aborted.
    pub takes: Option<Millis>,
    /// Outcome that the executor returns.
    pub outcome: Outcome,
}

/// Decides what each dispatch does.
pub trait Script {
    /// The act of one dispatch; `path` is `scope/taskName`.
    fn act(&mut self, path: &str, dispatch: &Dispatch) -> Act;
}

/// A run, its clock and its journal.
pub struct World<S> {
    /// The run as it stands.
    pub run: Run,
    /// Every durable record so far.
    pub journal: Vec<(Timestamp, Vec<Event>)>,
    /// Every dispatch so far.
    pub dispatched: Vec<Dispatch>,
    /// The run's [`state`] after each record, if they are kept.
    pub states: Option<Vec<serde_json::Value>>,
    script: S,
    now: Timestamp,
    slots: u32,
    /// Inputs to come, by instant and order of arrival.
    pending: BTreeMap<(Timestamp, u64), Input>,
    arrivals: u64,
}

impl<S: Script> World<S> {
    /// Submits a run at instant 0 with `slots` slots; `keep` keeps its state after each record.
    pub fn submit(
        plan: Arc<Plan>,
        parameters: impl Into<BoundArguments>,
        slots: u32,
        script: S,
        keep: bool,
    ) -> Self {
        let submission = submission("run", parameters);
        let (run, step) = Run::start(bound(plan, &submission), submission, Timestamp(0));
        Self::new(run, step, slots, script, keep)
    }

    /// Like [`World::submit`], for a rerun that takes over the successes of a run.
    pub fn rerun(of: &Run, parameters: Map, slots: u32, script: S, keep: bool) -> Self {
        let rerun = of.rerun(&parameters, true);
        let submission = submission(&format!("re{}", of.id()), parameters);
        let (run, step) =
            Run::start_rerun(bound(Arc::clone(of.plan()), &submission), submission, rerun, Timestamp(0));
        Self::new(run, step, slots, script, keep)
    }

    fn new(run: Run, step: Step, slots: u32, script: S, keep: bool) -> Self {
        let mut world = Self {
            run,
            journal: Vec::new(),
            dispatched: Vec::new(),
            states: keep.then(Vec::new),
            script,
            now: Timestamp(0),
            slots,
            pending: BTreeMap::new(),
            arrivals: 0,
        };
        world.record(step);
        world.grant();
        world
    }

    /// Plans an input for an instant.
    pub fn at(&mut self, at: Timestamp, input: Input) {
        self.arrivals += 1;
        self.pending.insert((at, self.arrivals), input);
    }

    /// The next instant at which anything happens.
    #[must_use]
    pub fn next(&self) -> Option<Timestamp> {
        let arrival = self.pending.first_key_value().map(|((at, _), _)| *at);
        [arrival, self.run.next_wait()].into_iter().flatten().min()
    }

    /// Goes to the next instant and lets one thing happen; false when nothing will happen any more.
    pub fn advance(&mut self) -> bool {
        if self.run.is_over() {
            return false;
        }
        let Some(next) = self.next() else { return false };
        self.now = self.now.max(next);
        let input = match self.pending.first_entry() {
            Some(entry) if entry.key().0 <= self.now => entry.remove(),
            Some(_) | None => Input::Tick,
        };
        self.take(input);
        true
    }

    /// Goes on until the run has ended or nothing will happen any more.
    pub fn finish(&mut self) {
        while self.advance() {}
    }

    /// Gives the run one input now.
    pub fn take(&mut self, input: Input) {
        let step = self.run.step(self.now, input);
        self.record(step);
        self.grant();
    }

    fn grant(&mut self) {
        loop {
            let free = self.slots.saturating_sub(self.run.in_flight());
            let granted = free.min(self.run.wanted_slots());
            if granted == 0 {
                return;
            }
            let before = self.run.seq();
            let step = self.run.step(self.now, Input::Lent(granted));
            self.record(step);
            if self.run.seq() == before {
                return;
            }
        }
    }

    fn record(&mut self, step: Step) {
        if !step.events.is_empty() {
            self.journal.push((self.now, step.events));
            if let Some(states) = &mut self.states {
                states.push(state(&self.run));
            }
        }
        for command in step.commands {
            match command {
                Command::Dispatch(dispatch) => self.dispatch(dispatch),
                Command::Abort(fence) => self.abort(fence),
            }
        }
    }

    fn dispatch(&mut self, dispatch: Dispatch) {
        let path = self.path(dispatch.fence.task);
        let act = self.script.act(&path, &dispatch);
        let start = self.now.after(act.start_after);
        self.at(start, Input::Started(dispatch.fence));
        if let Some(takes) = act.takes {
            self.at(start.after(takes), Input::Finished(dispatch.fence, act.outcome));
        }
        self.dispatched.push(dispatch);
    }

    fn abort(&mut self, aborted: Fence) {
        self.pending.retain(|_, input| match input {
            Input::Started(fence) | Input::Finished(fence, _) => *fence != aborted,
            Input::Lent(_)
            | Input::Interrupted(_)
            | Input::Metered(..)
            | Input::Held(_)
            | Input::Inactive(_)
            | Input::Resumed(..)
            | Input::Cancelled(_)
            | Input::TaskCancelled(..)
            | Input::Tick => true,
        });
    }

    /// `scope/taskName` of a task run.
    #[must_use]
    pub fn path(&self, task: TaskId) -> String {
        self.run.task(task).map(|task| self.run.path(task)).unwrap_or_default()
    }

    /// The task run of that path or, failing that, of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<TaskId> {
        let tasks = self.run.tasks();
        let by_path = tasks.iter().rev().find(|task| self.run.path(task) == name);
        let by_name = tasks.iter().rev().find(|task| self.run.node(task).name.as_ref() == name);
        by_path.or(by_name).map(|task| task.id)
    }
}

/// The plan of a run, whose parameters its settings accept: others were reported.
fn bound(plan: Arc<Plan>, submission: &Submission) -> Arc<Plan> {
    plan.bind(&submission.parameters).unwrap_or(plan)
}

fn submission(id: &str, parameters: impl Into<BoundArguments>) -> Submission {
    let BoundArguments { values, doubts } = parameters.into();
    Submission {
        run_id: id.into(),
        parameters: Arc::new(values),
        doubts,
        facts: Facts { os: "linux".into(), arch: "amd64".into(), vars: Map::new().into(), scheduled: None },
        secrets: Vec::new(),
        origin: None,
        trace: None,
        by: None,
    }
}

/// Returns the parts that two runs must agree in to be the same run at the same time.
#[must_use]
pub fn state(run: &Run) -> serde_json::Value {
    let view = serde_json::to_value(RunView::of(run)).unwrap_or_default();
    json!({
        "view": view, "seq": run.seq(), "nextWait": run.next_wait(), "inFlight": run.in_flight(),
        "parked": run.is_parked(), "over": run.is_over(),
    })
}

/// Replays the journal cut at every length: each must give the run as it stood then, the whole the live run.
///
/// # Errors
/// A record does not follow from those before it, or the states differ.
pub fn check_replay<S: Script>(plan: &Arc<Plan>, world: &World<S>) -> Result<(), String> {
    for length in 1..=world.journal.len() {
        check_cut(plan, world, length).map_err(|error| format!("cut at {length}: {error}"))?;
    }
    check_rendering(plan, world)
}

/// R-D1: however many events make one record, readers see each as if it had been alone.
fn check_rendering<S: Script>(plan: &Arc<Plan>, world: &World<S>) -> Result<(), String> {
    let mut run = replay(plan, &world.journal, 0)?;
    let mut alone = Vec::new();
    for (time, events) in &world.journal {
        for event in events.chunks(1) {
            let seq = run.seq();
            run.apply_record(*time, event).map_err(|error| error.to_string())?;
            alone.extend(run::render(&run, seq, *time, event));
        }
    }
    let all: Vec<Event> = world.journal.iter().flat_map(|(_, events)| events.iter().cloned()).collect();
    let at_once = run::render(&run, 0, Timestamp(0), &all);
    let attempt = |event: &serde_json::Value| event.get("attempt").cloned();
    let differ = alone.iter().zip(&at_once).find(|(alone, all)| attempt(alone) != attempt(all));
    differ.map_or(Ok(()), |(alone, all)| Err(format!("alone\n{alone}\nin one record\n{all}")))
}

/// Replays the first `length` records, and compares with the state then, if it was kept, or with the live run if
/// that is all of them.
///
/// # Errors
/// A record does not follow from those before it, or the states differ.
pub fn check_cut<S: Script>(plan: &Arc<Plan>, world: &World<S>, length: usize) -> Result<(), String> {
    let mut replayed = replay(plan, &world.journal, length)?;
    crash::check_recover(&replayed)?;
    let is_whole = length == world.journal.len();
    let now = if is_whole && world.states.is_none() { world.run.now() } else { replayed.now() };
    // The live run has served all that was due then, whether or not it left an event.
    let late = replayed.step(now, Input::Tick);
    if !late.events.is_empty() {
        return Err(format!("something was left undone: {:?}", late.events));
    }
    let then = match &world.states {
        Some(states) => states.get(length - 1).cloned(),
        None => is_whole.then(|| state(&world.run)),
    };
    let replayed = state(&replayed);
    match then {
        Some(then) if then != replayed => Err(format!("replayed\n{replayed:#}\nlive\n{then:#}")),
        Some(_) | None => Ok(()),
    }
}

/// The run that the first `length` records give.
///
/// # Errors
/// The event that cannot follow.
pub fn replay(plan: &Arc<Plan>, journal: &[(Timestamp, Vec<Event>)], length: usize) -> Result<Run, String> {
    let records = journal.iter().take(length).map(|(time, events)| (*time, events.as_slice()));
    let plan = match journal.first().and_then(|(_, events)| events.first()) {
        Some(Event::Submitted(submitted)) if !submitted.settings.is_empty() => {
            Arc::new(submitted.plan().map_err(|problems| format!("{problems:?}"))?)
        }
        _ => Arc::clone(plan),
    };
    Run::replay(plan, records).map_err(|error| error.to_string())
}
