//! One execution of a plan: a function from inputs to events and commands, and a fold over its events.
//!
//! ```text
//!            step(now, input)                    replay(records)
//!                  │                                   │
//!          decide: reads &State                        │
//!                  │ emits                             │
//!                  ▼                                   ▼
//!                event ───────────────────────▶ State::apply(event)      the only way in
//!                  │
//!                  ▼
//!      Step { events, commands }      commands are carried out once the events are durable
//! ```
//!
//! `state` is what a run has come to, `decide` what is decided about it, `view` what readers see of it.

mod decide;
mod env;
mod rerun;
mod state;
mod view;

use std::{fmt, ops::Deref, sync::Arc};

use self::decide::{Decider, Worklist};
pub use self::{
    env::SubmitEnv,
    state::{
        Attempt, ChildEnd, Clocks, ContainerProgress, Failures, HookOf, LoopState, PipelineNext,
        PipelineState, Place, Progress, Scope, ScopeIndex, State, Tally, TaskIndex, TaskRun, Times,
    },
    view::{
        AttemptView, EventView, HookView, LeftOutValue, Metrics, NamedInput, NamedOutput, NoLimit, RunView,
        ShownValue, TaskView, UsageView, ValueKind, ViewLimit, Waiting, WaitsFor, WarningView, render, views,
    },
};
use crate::{
    event::{Command, Event, Facts, Input, Requester, Rerun, TaskId},
    plan::{ParameterDoubts, Plan, SecretRef},
    time::Timestamp,
    usage::ResourceUsage,
    value::Map,
};

/// One execution of a [`Plan`]: its state, which it shows and only changes by steps and records.
#[derive(Clone, Debug)]
pub struct Run {
    plan: Arc<Plan>,
    state: State,
    work: Worklist,
    dropped: u64,
}

/// The result of one input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// The events that were decided, in order: one durable record.
    pub events: Vec<Event>,
    /// Commands to carry out once the events are durable.
    pub commands: Vec<Command>,
    /// At most how many bytes of values and texts the events say, of [`MAX_STEP_BYTES`].
    pub bytes: usize,
}

/// Data that a run is started with.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The run's id, unique in its store.
    pub run_id: Arc<str>,
    /// `spec.arguments`, bound ([`crate::plan::Plan`] checks them).
    pub parameters: Arc<Map>,
    /// Doubts about the values of `parameters`.
    pub doubts: Vec<ParameterDoubts>,
    /// Facts about the host that expressions can read.
    pub facts: Facts,
    /// The secrets that the plan names and the host has.
    pub secrets: Vec<SecretRef>,
    /// Text that the submitter leaves for the host that later drives the run; the engine does not read it.
    pub origin: Option<Arc<str>>,
    /// The trace that the run belongs to, if that is known; it is shown, and nothing follows from it.
    pub trace: Option<Arc<str>>,
    /// The caller that submits it, if it is known.
    pub by: Option<Requester>,
}

/// A journal that cannot have been written by this engine from this plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImpossibleHistory {
    /// Events before the one that does not fit.
    pub seq: u64,
    /// Why it does not fit.
    pub message: String,
}

impl fmt::Display for ImpossibleHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {} cannot follow: {}", self.seq, self.message)
    }
}

impl std::error::Error for ImpossibleHistory {}

pub use crate::plan::MAX_TASK_RUNS;

/// Bytes of values and texts that one step may record; a task that would need more ends as Error.
pub const MAX_STEP_BYTES: usize = 128 << 20;

impl Deref for Run {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl Run {
    fn empty(plan: Arc<Plan>, now: Timestamp) -> Self {
        Self { state: State::new(Arc::clone(&plan), now), plan, work: Worklist::new(), dropped: 0 }
    }

    /// Starts a run of `plan`. The returned step holds its first events; the run exists once they are durable.
    #[must_use]
    pub fn start(plan: Arc<Plan>, submission: Submission, now: Timestamp) -> (Self, Step) {
        Self::start_with(plan, submission, None, now)
    }

    /// Starts a run that is another of an earlier one, as [`Run::start`] otherwise; [`Run::rerun`] of that says what it takes
    /// over.
    #[must_use]
    pub fn start_rerun(
        plan: Arc<Plan>,
        submission: Submission,
        rerun: Rerun,
        now: Timestamp,
    ) -> (Self, Step) {
        Self::start_with(plan, submission, Some(Arc::new(rerun)), now)
    }

    fn start_with(
        plan: Arc<Plan>,
        submission: Submission,
        rerun: Option<Arc<Rerun>>,
        now: Timestamp,
    ) -> (Self, Step) {
        let mut run = Self::empty(plan, now);
        let step = run.decide(now, |decider| decider.submit(submission, rerun));
        (run, step)
    }

    /// Rebuilds a run from its journal: records of (time, events), oldest first.
    ///
    /// # Errors
    /// [`ImpossibleHistory`] names the first event that cannot follow those before it.
    pub fn replay<'e>(
        plan: Arc<Plan>,
        records: impl IntoIterator<Item = (Timestamp, &'e [Event])>,
    ) -> Result<Self, ImpossibleHistory> {
        let mut run = Self::empty(plan, Timestamp::default());
        for (time, events) in records {
            run.apply_record(time, events)?;
        }
        Ok(run)
    }

    /// Applies one record of the journal.
    ///
    /// # Errors
    /// [`ImpossibleHistory`] when an event cannot follow those before it.
    pub fn apply_record(&mut self, time: Timestamp, events: &[Event]) -> Result<(), ImpossibleHistory> {
        self.state.pass_time(time);
        for event in events {
            let seq = self.state.seq();
            self.state.apply(event).map_err(|message| ImpossibleHistory { seq, message })?;
        }
        // Tasks that these events made ready have their decisions in the same record.
        self.state.take_ready().for_each(drop);
        Ok(())
    }

    /// Drops the inputs and outputs of a task run that has ended, for readers of events, which have shown them. The run can go on being
    /// replayed, and must not be driven.
    pub fn forget_values(&mut self, ended: TaskId) {
        self.state.forget_values(ended);
    }

    /// Takes one input at `now` and decides all that follows from it.
    ///
    /// Waits due before `now` are served first, then the input, then waits due at `now`. Time never runs backwards: an
    /// earlier `now` counts as the latest one seen. An input that no longer applies (late, doubled, of another dispatch)
    /// changes nothing and is counted.
    #[must_use = "events must be made durable, commands carried out"]
    pub fn step(&mut self, now: Timestamp, input: Input) -> Step {
        self.decide(now, |decider| decider.take(input))
    }

    /// Resumes a run that [`Run::replay`] has rebuilt: the first step of its new driver.
    ///
    /// Waits keep their absolute times, and the ones that came due meanwhile are served first. Attempts in flight are dispatched
    /// again under the numbers they had.
    #[must_use = "events must be made durable, commands carried out"]
    pub fn recover(&mut self, now: Timestamp) -> Step {
        self.decide(now, |decider| decider.recover())
    }

    /// Ends the run as Error, whatever is open in it as Cancelled, because it cannot go on at all.
    #[must_use = "events must be made durable, commands carried out"]
    pub fn give_up(&mut self, now: Timestamp, message: &str) -> Step {
        self.decide(now, |decider| decider.give_up(message))
    }

    /// Returns the resources used by all attempts so far.
    #[must_use]
    pub fn metered(&self) -> ResourceUsage {
        self.tasks().iter().fold(ResourceUsage::default(), |all, task| all.and(task.metered))
    }

    fn decide(&mut self, now: Timestamp, what: impl FnOnce(&mut Decider<'_>)) -> Step {
        let mut decider = Decider::new(&self.plan, &mut self.state, &mut self.work, now);
        what(&mut decider);
        let (step, dropped) = decider.finish();
        self.dropped += dropped;
        step
    }

    /// Inputs that no longer applied: late, doubled, or of another dispatch.
    #[must_use]
    pub fn dropped_inputs(&self) -> u64 {
        self.dropped
    }
}
