//! The state of a run. Nothing here decides, and nothing outside changes it:
//!
//! - [`State::apply`] is the only way in for everything that is recorded, live and recovered;
//! - the [`agenda`] follows from time and slots alone, and so is in no event: the waits that are due, and the leaf that
//!   is next.
//!
//! Readers get `&State`. Task runs and scopes are looked up by valid indices ([`table`]); numbers from outside are checked where
//! they come in, by [`State::find`] and by `apply`.

mod advance;
mod agenda;
mod apply;
mod clocks;
mod execution_order;
mod failure_origin;
mod index;
mod names;
mod open;
mod phases;
mod place;
mod reuse;
mod scope;
mod table;
mod task;
mod totals;
mod wait;

use std::{collections::BTreeSet, ops::Index, sync::Arc};

use self::{agenda::Agenda, table::Tables};
pub(in crate::run) use self::{
    apply::merge_outputs,
    place::node_at,
    reuse::EarlierRun,
    scope::is_failure,
    task::QueueState,
    wait::{Wait, WaitKind},
};
pub use self::{
    index::{ScopeIndex, TaskIndex},
    scope::{ChildEnd, ContainerProgress, Failures, LoopState, PipelineNext, PipelineState, Scope, Tally},
    task::{Attempt, Clocks, HookOf, Place, TaskRun},
    totals::{Progress, Times},
};
use crate::{
    event::{Facts, Requester, RunningQuota, TaskId, Warning},
    phase::{Phase, TaskKind},
    plan::{Node, Plan, Work},
    time::Timestamp,
    value::Map,
};

/// Code of the warning about operations that were given types that they do not fit.
pub(in crate::run) const TYPE_MISMATCH: &str = "type-mismatch";

/// Warnings a run keeps for its view; the journal has them all.
const MAX_WARNINGS: usize = 100;

/// The state of a run: everything that its journal says, and nothing else.
#[derive(Clone, Debug)]
pub struct State {
    plan: Arc<Plan>,
    id: Arc<str>,
    parameters: Arc<Map>,
    facts: Facts,
    trace: Option<Arc<str>>,
    submitted_by: Option<Requester>,
    cancelled_by: Option<Requester>,
    past: Option<Arc<EarlierRun>>,
    phase: Phase,
    tables: Tables,
    agenda: Agenda,
    /// `ctx` of the rules (R-N7).
    ctx: Arc<Map>,
    in_flight: u32,
    quota: Option<RunningQuota>,
    suspended: u32,
    open_hooks: u32,
    progress: Progress,
    times: Times,
    /// Since when the run only waits for people, if its timeout is the default, which stands still meanwhile.
    still_since: Option<Timestamp>,
    warnings: Vec<Warning>,
    /// Warnings about types, which are given once for each node of the plan.
    doubted: BTreeSet<(Place, Arc<str>)>,
    seq: u64,
    now: Timestamp,
}

impl State {
    /// A run of `plan` that has not been submitted: its root, and nothing else.
    pub(in crate::run) fn new(plan: Arc<Plan>, now: Timestamp) -> Self {
        Self {
            plan,
            id: Arc::default(),
            parameters: Arc::default(),
            facts: Facts::default(),
            trace: None,
            submitted_by: None,
            cancelled_by: None,
            past: None,
            phase: Phase::Created,
            tables: Tables::new(|root, nothing| TaskRun::new(root, Place::Root, now, nothing)),
            agenda: Agenda::default(),
            ctx: Arc::default(),
            in_flight: 0,
            quota: None,
            suspended: 0,
            open_hooks: 0,
            progress: Progress::default(),
            times: Times { submitted_at: now, started_at: None, finished_at: None, deadline_at: None },
            still_since: None,
            warnings: Vec::new(),
            doubted: BTreeSet::new(),
            seq: 0,
            now,
        }
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

    /// The bound `spec.arguments`.
    #[must_use]
    pub fn parameters(&self) -> &Arc<Map> {
        &self.parameters
    }

    /// Returns the facts about the host that expressions can read.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the trace that the run belongs to, as recorded by the submitter.
    #[must_use]
    pub fn trace(&self) -> Option<&Arc<str>> {
        self.trace.as_ref()
    }

    /// The caller that submitted the run, if it is known.
    #[must_use]
    pub fn submitted_by(&self) -> Option<&Requester> {
        self.submitted_by.as_ref()
    }

    /// The caller that cancelled the run, if it is known.
    #[must_use]
    pub fn cancelled_by(&self) -> Option<&Requester> {
        self.cancelled_by.as_ref()
    }

    /// That trace's id, where what was written down is as W3C Trace Context has it: the second part of `traceparent`.
    #[must_use]
    pub fn trace_id(&self) -> Option<&str> {
        let id = self.trace()?.split('-').nth(1)?;
        (id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
    }

    /// The id of the earlier run that this is another of.
    #[must_use]
    pub fn rerun_of(&self) -> Option<&Arc<str>> {
        self.past.as_ref().map(|past| &past.rerun.run_id)
    }

    /// The quota that keeps leaves from slots, if any wait for one.
    #[must_use]
    pub fn quota(&self) -> Option<&RunningQuota> {
        self.quota.as_ref()
    }

    /// `ctx`, which rules set.
    #[must_use]
    pub fn ctx(&self) -> &Arc<Map> {
        &self.ctx
    }

    /// The run's phase: that of its root.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// When the run was submitted, became Running, ended, and its `spec.timeout`.
    #[must_use]
    pub fn times(&self) -> Times {
        self.times
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

    /// Leaves that an executor has, or is about to get.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Whether nothing can happen any more: the run has ended, and so have its hook runs.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase.is_terminal() && self.open_hooks == 0
    }

    /// Whether nothing is dispatched, queued or in a delay, and only suspended tasks keep the run open.
    #[must_use]
    pub fn is_parked(&self) -> bool {
        let busy = self.in_flight > 0 || self.open_hooks > 0 || self.agenda.is_busy();
        self.suspended > 0 && !busy && !self.phase.is_terminal()
    }

    /// Returns whether nothing is dispatched, or could be before time passes or a person responds.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.in_flight == 0 && self.open_hooks == 0 && self.wanted_slots() == 0
    }

    /// All task runs, hook runs among them, in creation order.
    #[must_use]
    pub fn tasks(&self) -> &[TaskRun] {
        self.tables.tasks()
    }

    /// The number that the next task run will have.
    pub(in crate::run) fn next_id(&self) -> TaskId {
        self.tables.next_id()
    }

    /// The task run of a number that came from outside.
    pub(in crate::run) fn find(&self, id: TaskId) -> Option<TaskIndex> {
        self.tables.find(id)
    }

    /// The task run of that number.
    #[must_use]
    pub fn task(&self, id: TaskId) -> Option<&TaskRun> {
        self.find(id).map(|index| &self[index])
    }

    /// The container or wrapper whose child a task run is; none for the root and for hook runs.
    #[must_use]
    pub fn parent(&self, task: &TaskRun) -> Option<&TaskRun> {
        task.parent.map(|scope| &self[self[scope].owner])
    }

    /// The state of an open container, or of a wrapper.
    #[must_use]
    pub fn scope(&self, task: &TaskRun) -> Option<&Scope> {
        task.scope.map(|scope| &self[scope])
    }

    /// The scope that a task run stands in.
    #[must_use]
    pub fn scope_around(&self, task: &TaskRun) -> Option<&Scope> {
        task.parent.map(|scope| &self[scope])
    }

    /// The direct children of a container or wrapper in creation order: a dag's by node, a loop's by index, a wrapper's
    /// by attempt.
    pub fn children(&self, task: &TaskRun) -> impl DoubleEndedIterator<Item = &TaskRun> + ExactSizeIterator {
        let children = self.scope(task).map(|scope| scope.children.as_slice()).unwrap_or_default();
        children.iter().map(|child| &self[*child])
    }

    /// The node of the plan a task run executes.
    #[must_use]
    pub fn node(&self, task: &TaskRun) -> &Node {
        node_at(&self.plan, task.place)
    }

    /// Which edges apply to a task run.
    #[must_use]
    pub fn kind(&self, task: &TaskRun) -> TaskKind {
        match self.node(task).work {
            Work::Executor(_) => TaskKind::Leaf,
            Work::Container(_) => TaskKind::Container,
            Work::Wrapper(_) => TaskKind::Wrapper,
        }
    }
}

impl Index<TaskIndex> for State {
    type Output = TaskRun;

    fn index(&self, index: TaskIndex) -> &TaskRun {
        &self.tables[index]
    }
}

impl Index<ScopeIndex> for State {
    type Output = Scope;

    fn index(&self, index: ScopeIndex) -> &Scope {
        &self.tables[index]
    }
}
