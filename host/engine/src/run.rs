//! One execution of a plan: a function from inputs to events and commands, and a fold over its events.
//!
//! ```text
//!            step(now, input)                    replay(records)
//!                  │                                   │
//!       due waits, input, due waits                    │
//!                  │ decide                            │
//!                  ▼                                   ▼
//!          emit(event) ───────────────────────────▶ apply(event)      the only place that changes state
//!                  │
//!                  ▼
//!      Step { events, commands }      commands are carried out once the events are durable
//! ```
//!
//! The submodules decide; `apply` obeys. What a decision leaves to do (a task became ready, a child has ended) waits in
//! a worklist that is empty again before `step` returns, so that no depth of nesting or length of chain recurses.

mod decide;
mod env;
mod show;
mod state;

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::Arc,
};

use self::state::Waits;
pub use self::{
    env::SubmitView,
    show::{
        AttemptView, HookView, Metrics, NamedInput, NamedOutput, Progress, RunView, TaskView, Times,
        WarningView, render,
    },
    state::{
        Attempt, Clocks, Course, Ended, Failures, HookOf, LoopCourse, MAX_DEPTH, Next, PipelineCourse, Place,
        QueueKey, Scope, Since, Tally, TaskRun, Turn,
    },
};
use crate::{
    event::{Command, Event, Facts, Input, PhaseChanged, Reason, Submitted, TaskId, Warning, With},
    phase::Phase,
    plan::{Node, Plan, TemplateKind},
    time::Timestamp,
    value::Map,
};

/// One execution of a [`Plan`].
#[derive(Clone, Debug)]
pub struct Run {
    plan: Arc<Plan>,
    id: Arc<str>,
    parameters: Arc<Map>,
    facts: Facts,
    phase: Phase,
    tasks: Vec<TaskRun>,
    waits: Waits,
    queue: BTreeMap<QueueKey, TaskId>,
    hook_queue: BTreeMap<QueueKey, TaskId>,
    open_hooks: u32,
    /// `ctx` of the rules (R-N7).
    ctx: Arc<Map>,
    in_flight: u32,
    suspended: u32,
    delayed: u32,
    progress: Progress,
    submitted_at: Timestamp,
    started_at: Option<Timestamp>,
    finished_at: Option<Timestamp>,
    deadline_at: Option<Timestamp>,
    cancel_requested: bool,
    warnings: Vec<Warning>,
    seq: u64,
    now: Timestamp,
    dropped: u64,
    /// Tasks that became ready while events were applied; decided on before the step ends.
    ready: Vec<TaskId>,
    work: VecDeque<Todo>,
    /// Iterations of do-while loops that had nothing to dispatch, in the current step.
    idle_iterations: u32,
    step: Step,
}

/// What one input led to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// What was decided, in order: one durable record.
    pub events: Vec<Event>,
    /// What to do once the events are durable.
    pub commands: Vec<Command>,
}

/// What a run is started with.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The run's id, unique in its store.
    pub run_id: Arc<str>,
    /// `spec.arguments`, bound ([`crate::plan::Plan`] checks them).
    pub parameters: Arc<Map>,
    /// What expressions read of the host.
    pub facts: Facts,
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

/// What a decision left to do within the same step.
#[derive(Clone, Copy, Debug)]
enum Todo {
    /// A task run has ended.
    Ended(TaskId),
    /// All dependencies of a task are satisfied.
    Ready(TaskId),
}

/// Warnings a run keeps for its view; the journal has them all.
const MOST_WARNINGS: usize = 100;

/// Task runs that one run may have; a container that would need more ends as Error.
pub const MOST_TASK_RUNS: usize = 1_000_000;

impl Run {
    /// Starts a run of `plan`. The returned step holds its first events; the run exists once they are durable.
    #[must_use]
    pub fn start(plan: Arc<Plan>, submission: Submission, now: Timestamp) -> (Self, Step) {
        let Submission { run_id, parameters, facts } = submission;
        let (document, defaults) = (plan.document.clone(), plan.defaults.clone());
        let mut run = Self::empty(plan, now);
        run.emit(Event::Submitted(Box::new(Submitted { run_id, document, parameters, facts, defaults })));
        run.emit(Event::RunPhase(Phase::Created));
        run.settle();
        let step = std::mem::take(&mut run.step);
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
        self.now = self.now.max(time);
        for event in events {
            self.apply(event).map_err(|message| ImpossibleHistory { seq: self.seq, message })?;
        }
        self.ready.clear();
        Ok(())
    }

    fn empty(plan: Arc<Plan>, now: Timestamp) -> Self {
        Self {
            plan,
            id: Arc::default(),
            parameters: Arc::default(),
            facts: Facts::default(),
            phase: Phase::Created,
            tasks: Vec::new(),
            waits: Waits::default(),
            queue: BTreeMap::new(),
            hook_queue: BTreeMap::new(),
            open_hooks: 0,
            ctx: Arc::default(),
            in_flight: 0,
            suspended: 0,
            delayed: 0,
            progress: Progress::default(),
            submitted_at: now,
            started_at: None,
            finished_at: None,
            deadline_at: None,
            cancel_requested: false,
            warnings: Vec::new(),
            seq: 0,
            now,
            dropped: 0,
            ready: Vec::new(),
            work: VecDeque::new(),
            idle_iterations: 0,
            step: Step::default(),
        }
    }

    /// Takes one input at `now` and decides all that follows from it.
    ///
    /// Waits due before `now` are served first, then the input, then waits due at `now` (R-T7). Time never runs
    /// backwards: an earlier `now` counts as the latest one seen. An input that no longer applies (late, doubled, of
    /// another dispatch) changes nothing and is counted (R-P3).
    #[must_use = "events must be made durable, commands carried out"]
    pub fn step(&mut self, now: Timestamp, input: Input) -> Step {
        let now = self.now.max(now);
        self.now = now;
        self.idle_iterations = 0;
        self.serve_waits(Timestamp(now.0.saturating_sub(1)));
        self.take(input);
        self.settle();
        self.serve_waits(now);
        std::mem::take(&mut self.step)
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Granted(slots) => self.dispatch_up_to(slots),
            Input::Started(fence) => self.started(fence),
            Input::Finished(fence, outcome) => self.finished(fence, outcome),
            Input::Interrupted(fence) => self.interrupted(fence),
            Input::Inactive(fence) => self.inactive(fence),
            Input::Resumed(task, payload) => self.resume(task, payload),
            Input::Cancelled => self.cancel(),
            Input::TaskCancelled(task) => self.cancel_task(task),
            Input::Tick => {}
        }
    }

    /// Works off what decisions left to do.
    fn settle(&mut self) {
        loop {
            self.work.extend(self.ready.drain(..).map(Todo::Ready));
            let Some(todo) = self.work.pop_front() else { break };
            match todo {
                Todo::Ended(task) => self.ended(task),
                Todo::Ready(task) => self.became_ready(task),
            }
        }
    }

    /// Applies an event and keeps it for the step's record.
    fn emit(&mut self, event: Event) {
        if let Err(impossible) = self.apply(&event) {
            // A decision that `apply` refuses is a fault of this crate; nothing illegal is recorded (R-P2).
            debug_assert!(false, "{impossible}: {event:?}");
            return;
        }
        self.step.events.push(event);
    }

    /// Changes a task run's phase, then fires the hooks that are about it.
    fn set_phase(&mut self, task: TaskId, to: Phase, reason: Option<Reason>, with: Option<With>) {
        let Some((from, first)) = self.task(task).map(|t| (t.phase, t.started_at.is_none())) else { return };
        self.emit(Event::Phase(PhaseChanged { task, from, to, reason, with: with.map(Box::new) }));
        if task == TaskId::ROOT && self.phase != to {
            self.emit(Event::RunPhase(to));
        }
        self.fire_hooks(task, from, first);
        if to.is_terminal() {
            self.work.push_back(Todo::Ended(task));
        }
    }

    fn warn(&mut self, task: Option<TaskId>, code: &str, message: impl Into<Arc<str>>) {
        self.emit(Event::Warning(Box::new(Warning { task, code: code.into(), message: message.into() })));
    }

    fn task_mut(&mut self, id: TaskId) -> Option<&mut TaskRun> {
        self.tasks.get_mut(id.index())
    }
}

fn node_at(plan: &Plan, place: Place) -> &Node {
    let found = match place {
        Place::Root => None,
        Place::Hook(hook) => plan.hook(hook).map(|hook| &hook.node),
        Place::Dag(template, index) | Place::Entry(template, index, _) => match plan.kind(template) {
            Some(TemplateKind::Dag(dag)) => dag.nodes.get(index),
            Some(TemplateKind::Pipeline(pipeline)) => pipeline.nodes.get(index),
            Some(TemplateKind::Task | TemplateKind::Wrapper(_) | TemplateKind::Loop(_)) | None => None,
        },
        Place::Iteration(template, _) | Place::Attempt(template, _) => match plan.kind(template) {
            Some(TemplateKind::Loop(each)) => Some(&each.body),
            Some(TemplateKind::Wrapper(call)) => Some(call.as_ref()),
            Some(TemplateKind::Task | TemplateKind::Dag(_) | TemplateKind::Pipeline(_)) | None => None,
        },
    };
    // Places are only made from the plan they are looked up in.
    debug_assert!(found.is_some() || place == Place::Root, "no node at {place:?}");
    found.unwrap_or(&plan.root)
}
