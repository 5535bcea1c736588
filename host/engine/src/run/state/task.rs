//! One task run: a node's execution, through its attempts.

use std::sync::Arc;

use crate::{
    event::{Bindings, Fence, Outputs, Reason, Requester, TaskId, TimeLimit},
    phase::Phase,
    plan::{HookId, HookType, NodeIndex, TemplateId, Verdict},
    run::state::index::{ScopeIndex, TaskIndex},
    time::{Millis, Timestamp},
    usage::ResourceUsage,
    value::{Map, Value},
};

/// The state of one task run. A run only ever shows it; what changes it are events.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRun {
    /// Its number.
    pub id: TaskId,
    /// The scope that it stands in; none for the root and for hook runs.
    pub(in crate::run) parent: Option<ScopeIndex>,
    /// The node of the plan it executes.
    pub place: Place,
    /// Levels below the entrypoint.
    pub depth: u32,
    /// Where it stands.
    pub phase: Phase,
    /// Why, where the phase alone does not say.
    pub reason: Option<Reason>,
    /// The last attempt's code.
    pub code: Option<i32>,
    /// A sentence for people.
    pub message: Arc<str>,
    /// Bound inputs; empty until bound.
    pub inputs: Bindings,
    /// `executor.config`, bound with the inputs.
    pub config: Value,
    /// Outputs that the task has returned, or so far if it is suspended.
    pub outputs: Outputs,
    /// Resume payloads of this attempt, merged; laid over the inputs.
    pub payload: Arc<Map>,
    /// The last response to this suspension, from its resume until it is taken.
    pub(in crate::run) response: Option<Box<Response>>,
    /// Callers that have asked something of it; absent before any has.
    pub(in crate::run) callers: Option<Box<Callers>>,
    /// The current attempt, from 1; 0 before the first.
    pub attempt: u32,
    /// Retries made so far: each counts from when it is scheduled.
    pub retries: u32,
    /// Dispatches so far.
    pub dispatch: u32,
    /// Whether the current attempt was suspended and answered.
    pub resumed: bool,
    /// The last 64 attempts, the current one last; their numbers say how many came before.
    pub attempts: Vec<Attempt>,
    /// The policy's decision about the last attempt.
    pub verdict: Option<Verdict>,
    /// Whether the next attempt binds its inputs again: the rule that asked for it changed iter or ctx (R-R6).
    pub(in crate::run) rebind: bool,
    /// Unmet conditions for its start: dependencies not yet satisfied, a loop's `concurrency`, a pipeline's order.
    pub unmet: u32,
    /// The queue in which a leaf in Created waits.
    pub(in crate::run) turn: QueueState,
    /// Number of this entry of its pipeline, from 1 in the order of execution; 0 before it is entered, and elsewhere.
    pub entry: u32,
    /// When the task run came to be.
    pub created_at: Timestamp,
    /// First dispatch.
    pub dispatched_at: Option<Timestamp>,
    /// First Running.
    pub started_at: Option<Timestamp>,
    /// Last Suspended.
    pub suspended_at: Option<Timestamp>,
    /// Terminal.
    pub finished_at: Option<Timestamp>,
    /// The absolute clocks and the end of a delay.
    pub clocks: Clocks,
    /// The nearest enclosing dag with a `parallelism`.
    pub(in crate::run) limit: Option<ScopeIndex>,
    /// The children of a container that is open, or of a wrapper.
    pub(in crate::run) scope: Option<ScopeIndex>,
    /// The owner of the hook, if this is a hook run.
    pub hook: Option<HookOf>,
    /// The last clock that ran out for it since its last attempt began.
    pub clock: Option<TimeLimit>,
    /// Whether its result is that of the run that this is a rerun of: nothing was executed.
    pub reused: bool,
    /// Resources used by all its attempts.
    pub metered: ResourceUsage,
}

/// A response to a suspended task, and the task as it was before, which a refusal restores (R-S14).
#[derive(Clone, Debug, PartialEq)]
pub(in crate::run) struct Response {
    pub(in crate::run) outputs: Outputs,
    pub(in crate::run) payload: Arc<Map>,
    pub(in crate::run) message: Arc<str>,
    /// The response before it.
    pub(in crate::run) before: Option<GivenResponse>,
    /// Why the executor has refused it, and the caller that gave it, if it has.
    pub(in crate::run) refused: Option<(Arc<str>, Option<Requester>)>,
}

/// Callers that have asked something of a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::run) struct Callers {
    /// The response that the current attempt has, if it was suspended.
    pub(in crate::run) resumed: Option<GivenResponse>,
    /// The caller that cancelled it.
    pub(in crate::run) cancelled: Option<Requester>,
}

/// The caller that gave a response, and when. A result that was reused has no time of its own.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::run) struct GivenResponse {
    pub(in crate::run) by: Option<Requester>,
    pub(in crate::run) at: Option<Timestamp>,
}

/// The instants that end or wake a task run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// `timeout`: set at the first dispatch, never again.
    pub timeout: Option<Timestamp>,
    /// `deadline`: likewise.
    pub deadline: Option<Timestamp>,
    /// `maxRuntime` of the running attempt.
    pub max_runtime: Option<Timestamp>,
    /// The end of a retry's delay.
    pub wake: Option<Timestamp>,
}

impl Clocks {
    /// The earliest clock that can end the task.
    #[must_use]
    pub fn absolute(&self) -> Option<Timestamp> {
        [self.timeout, self.deadline].into_iter().flatten().min()
    }
}

/// Which node of the plan a task run executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The entrypoint.
    Root,
    /// A dag's node.
    Dag(TemplateId, NodeIndex),
    /// One iteration of a loop's body, from 0.
    Iteration(TemplateId, u32),
    /// The content of a wrapper's attempt n, from 1.
    Attempt(TemplateId, u32),
    /// A pipeline's task, entered after so many jumps; all first entries count as 0.
    Entry(TemplateId, NodeIndex, u32),
    /// A hook run, outside all scopes.
    Hook(HookId),
}

/// The owner of a hook run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookOf {
    /// The task run; of spec.hooks the root.
    pub(in crate::run) task: TaskIndex,
    /// The kind of phase change that fired it.
    pub kind: HookType,
}

/// The queue in which a leaf in Created waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum QueueState {
    /// Its dependencies, or the end of a delay; or it is not a leaf in Created.
    Elsewhere,
    /// A slot.
    Queued(ReadySince),
    /// A free place under the `parallelism` of an enclosing dag.
    Blocked(ReadySince, ScopeIndex),
}

/// How long a leaf has waited for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::run) struct ReadySince {
    /// When it became ready.
    pub at: Timestamp,
    /// Retries join at the end.
    pub retry: bool,
}

/// First ready first; at one instant new tasks in document order, then retries (R-S1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::run) struct QueueKey {
    /// How long it has waited.
    pub since: ReadySince,
    /// Document order, iterations by index: the positions among their siblings of what leads to the leaf, the root's
    /// child first.
    pub position: [u32; MAX_DEPTH],
    /// Creation order, for hook runs.
    pub task: TaskIndex,
}

/// Levels below the root that there can be (`maxNestedDepth`).
pub(in crate::run) const MAX_DEPTH: usize = 10;

impl Place {
    /// Its position among its siblings.
    #[must_use]
    pub fn position(self) -> u32 {
        match self {
            Self::Root | Self::Hook(_) => 0,
            Self::Dag(_, index) | Self::Entry(_, index, _) => u32::try_from(index).unwrap_or(u32::MAX),
            Self::Iteration(_, index) | Self::Attempt(_, index) => index,
        }
    }
}

/// One attempt as the run view shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// When the executor started; none if it never did.
    pub started_at: Option<Timestamp>,
    /// When it was over.
    pub finished_at: Option<Timestamp>,
    /// Its result, or Running, or Suspended; Ready before the start.
    pub phase: Phase,
    /// The executor's code.
    pub code: Option<i32>,
    /// The executor's message.
    pub message: Arc<str>,
    /// The phase whose `phaseConditions` held, if one did.
    pub condition: Option<Phase>,
    /// The clock that ended it, if one did.
    pub clock: Option<TimeLimit>,
    /// Resources that the attempt used.
    pub metered: ResourceUsage,
}

/// Initial values of task runs, shared by all task runs of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct InitialValues {
    inputs: Bindings,
    outputs: Outputs,
    payload: Arc<Map>,
}

impl TaskRun {
    /// Returns the index of this task run in its run.
    pub(in crate::run) fn index(&self) -> TaskIndex {
        TaskIndex::new(self.id)
    }

    /// A task run that has just come to be.
    pub(super) fn new(index: TaskIndex, place: Place, now: Timestamp, nothing: &InitialValues) -> Self {
        Self {
            id: index.into(),
            parent: None,
            place,
            depth: 0,
            phase: Phase::Created,
            reason: None,
            code: None,
            message: Arc::default(),
            inputs: Arc::clone(&nothing.inputs),
            config: Value::Null,
            outputs: Arc::clone(&nothing.outputs),
            payload: Arc::clone(&nothing.payload),
            response: None,
            callers: None,
            attempt: 0,
            retries: 0,
            dispatch: 0,
            resumed: false,
            attempts: Vec::new(),
            verdict: None,
            rebind: false,
            unmet: 0,
            entry: 0,
            turn: QueueState::Elsewhere,
            created_at: now,
            dispatched_at: None,
            started_at: None,
            suspended_at: None,
            finished_at: None,
            clocks: Clocks::default(),
            limit: None,
            scope: None,
            hook: None,
            clock: None,
            reused: false,
            metered: ResourceUsage::default(),
        }
    }

    /// Why the last response was refused, of a task that is suspended and whose executor refused it.
    #[must_use]
    pub fn refusal(&self) -> Option<&Arc<str>> {
        self.response.as_ref()?.refused.as_ref().map(|(reason, _)| reason)
    }

    /// The caller whose response was refused, where [`Self::refusal`] has the reason and the caller is known.
    #[must_use]
    pub fn refused_by(&self) -> Option<&Requester> {
        self.response.as_ref()?.refused.as_ref()?.1.as_ref()
    }

    /// The caller whose response the current attempt has, if the caller is known. A refused response does not count.
    #[must_use]
    pub fn resumed_by(&self) -> Option<&Requester> {
        self.given_response()?.by.as_ref()
    }

    /// When the response of the current attempt was given.
    #[must_use]
    pub fn resumed_at(&self) -> Option<Timestamp> {
        self.given_response()?.at
    }

    fn given_response(&self) -> Option<&GivenResponse> {
        self.callers.as_ref()?.resumed.as_ref()
    }

    /// The caller that cancelled the task itself, if it is known.
    #[must_use]
    pub fn cancelled_by(&self) -> Option<&Requester> {
        self.callers.as_ref()?.cancelled.as_ref()
    }

    pub(super) fn callers_mut(&mut self) -> &mut Callers {
        self.callers.get_or_insert_default()
    }

    /// Names the current dispatch.
    #[must_use]
    pub fn fence(&self) -> Fence {
        Fence { task: self.id, attempt: self.attempt, dispatch: self.dispatch }
    }

    /// Whether an executor is, or is about to be, at work.
    #[must_use]
    pub fn in_flight(&self) -> bool {
        self.scope.is_none() && matches!(self.phase, Phase::Ready | Phase::Running)
    }

    /// Whether an attempt is open: begun, and without a result so far.
    #[must_use]
    pub fn has_open_attempt(&self) -> bool {
        self.attempts.last().is_some_and(|attempt| attempt.finished_at.is_none())
    }

    /// How long the current attempt's executor has run by `now`; none if it never started.
    #[must_use]
    pub fn running_for(&self, now: Timestamp) -> Option<Millis> {
        self.attempts.last().and_then(|attempt| attempt.started_at).map(|at| now.since(at))
    }

    /// From the first dispatch to the end, once there is one.
    #[must_use]
    pub fn duration(&self) -> Option<Millis> {
        Some(self.finished_at?.since(self.started_at.or(self.dispatched_at)?))
    }
}
