//! Looking at a run.

use std::{collections::BTreeMap, fmt, sync::Arc};

use super::{Run, node_at};
use crate::{
    event::{TaskId, Warning},
    phase::{Kind, Phase},
    plan::{Node, Plan, TemplateKind, Work},
    run::state::{Place, TaskRun},
    time::Timestamp,
    value::{Map, Value},
};

/// Terminal leaf task runs, of all that exist so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Terminal ones.
    pub done: u32,
    /// All.
    pub total: u32,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.done, self.total)
    }
}

/// When a run was submitted, became Running, ended, and must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Submit.
    pub submitted_at: Timestamp,
    /// First Running.
    pub started_at: Option<Timestamp>,
    /// The end.
    pub finished_at: Option<Timestamp>,
    /// `spec.timeout`.
    pub deadline_at: Option<Timestamp>,
}

impl Run {
    /// When this run next wants a [`Input::Tick`](crate::event::Input::Tick); none while nothing is waited for.
    #[must_use]
    pub fn next_wait(&self) -> Option<Timestamp> {
        self.waits.next()
    }

    /// Whether nothing can happen any more: the run has ended, and so have its hook runs.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase.is_terminal() && self.open_hooks == 0
    }

    /// How many slots the run could use now; a grant of more is no fault.
    #[must_use]
    pub fn wanted_slots(&self) -> u32 {
        let length = |queue: &BTreeMap<_, _>| u32::try_from(queue.len()).unwrap_or(u32::MAX);
        let room = self.plan.parallelism.map_or(u32::MAX, |most| most.saturating_sub(self.in_flight));
        length(&self.queue).min(room).saturating_add(length(&self.hook_queue))
    }

    /// The plan this run executes.
    #[must_use]
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The run's id.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The run's phase (R-P7).
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The latest instant the run has seen.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Events applied so far.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// All task runs, hook runs among them, in creation order.
    #[must_use]
    pub fn tasks(&self) -> &[TaskRun] {
        &self.tasks
    }

    /// The bound `spec.arguments`.
    #[must_use]
    pub fn parameters(&self) -> &Arc<Map> {
        &self.parameters
    }

    /// Doubts met while running, the first hundred.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Terminal leaf task runs, of all so far.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// When the run was submitted, became Running, ended, and its `spec.timeout`.
    #[must_use]
    pub fn times(&self) -> Times {
        Times {
            submitted_at: self.submitted_at,
            started_at: self.started_at,
            finished_at: self.finished_at,
            deadline_at: self.deadline_at,
        }
    }

    /// Inputs that no longer applied: late, doubled, or of another dispatch.
    #[must_use]
    pub fn dropped_inputs(&self) -> u64 {
        self.dropped
    }

    /// Leaves that an executor has, or is about to get.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Whether nothing is dispatched, queued or in a delay, and only suspended tasks keep the run open.
    #[must_use]
    pub fn is_parked(&self) -> bool {
        let busy = self.in_flight > 0 || self.delayed > 0 || !self.queue.is_empty() || self.open_hooks > 0;
        self.suspended > 0 && !busy && !self.phase.is_terminal()
    }

    /// The task run of that number.
    #[must_use]
    pub fn task(&self, id: TaskId) -> Option<&TaskRun> {
        self.tasks.get(id.index())
    }

    /// The node of the plan a task run executes.
    #[must_use]
    pub fn node(&self, task: &TaskRun) -> &Node {
        node_at(&self.plan, task.place)
    }

    /// Which edges apply to a task run.
    #[must_use]
    pub fn kind(&self, task: &TaskRun) -> Kind {
        match self.node(task).work {
            Work::Executor(_) => Kind::Leaf,
            Work::Container(_) => Kind::Container,
            Work::Wrapper(_) => Kind::Wrapper,
        }
    }

    /// How many task runs a scope has when it opens; `items` are what a loop runs over.
    pub(crate) fn children_at_first(&self, id: TaskId, items: Option<&Vec<Value>>) -> usize {
        let Some(Work::Container(template)) = self.task(id).map(|task| &self.node(task).work) else {
            return 1;
        };
        match self.plan.kind(*template) {
            Some(TemplateKind::Dag(dag)) => dag.nodes.len(),
            Some(TemplateKind::Pipeline(pipeline)) => pipeline.nodes.len(),
            Some(TemplateKind::Loop(_)) => items.map_or(1, Vec::len),
            Some(TemplateKind::Task | TemplateKind::Wrapper(_)) | None => 1,
        }
    }

    /// A task run's id: its run's, and its number.
    #[must_use]
    pub fn task_run_id(&self, id: TaskId) -> String {
        format!("{}-{id}", self.id)
    }

    /// `scope/taskName`; for the root, its name.
    #[must_use]
    pub fn path(&self, task: &TaskRun) -> String {
        let scope = self.scope_path(task);
        let name = &self.node(task).name;
        if scope.is_empty() { name.as_ref().to_owned() } else { format!("{scope}/{name}") }
    }

    /// The name of a task run among its siblings: `taskName`, after the part of the scope that it stands in, as
    /// `loop[3] work`.
    #[must_use]
    pub fn label(&self, task: &TaskRun) -> String {
        let (part, name) = (part_of(task), &self.node(task).name);
        part.strip_prefix('.').map_or_else(|| name.to_string(), |part| format!("{part} {name}"))
    }

    /// `scope`: the path of what a task run stands in, empty for the root; of a hook run what it is a hook of, as
    /// `main/a.hook[onExit]`.
    #[must_use]
    pub fn scope_path(&self, task: &TaskRun) -> String {
        let mut segments = Vec::new();
        let mut part = part_of(task);
        let mut parent = task.parent.or(task.hook.map(|hook| hook.task));
        while let Some(container) = parent.and_then(|id| self.task(id)) {
            segments.push(format!("{}{part}", self.node(container).name));
            (part, parent) = (part_of(container), container.parent);
        }
        segments.reverse();
        segments.join("/")
    }
}

/// The part of its container that a task run stands in, as paths show it.
fn part_of(task: &TaskRun) -> String {
    match task.place {
        Place::Root | Place::Dag(..) | Place::Entry(_, _, 0) => String::new(),
        Place::Iteration(_, index) => format!(".loop[{index}]"),
        Place::Attempt(_, number) => format!(".attempt[{number}]"),
        Place::Entry(_, _, jumps) => format!(".entry[{jumps}]"),
        Place::Hook(_) => task.hook.map_or_else(String::new, |hook| format!(".hook[{}]", hook.kind.as_str())),
    }
}
