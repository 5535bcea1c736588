//! One container's run: its children, their tally, and the phase that follows from them.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    event::Reason,
    phase::Phase,
    plan::{NodeIndex, TemplateId, Tolerance, Verdict},
    run::state::{
        index::{ScopeIndex, TaskIndex},
        task::QueueKey,
    },
    value::{Map, Value},
};

/// The state of an open container, or of a wrapper.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// The container or wrapper.
    pub(in crate::run) owner: TaskIndex,
    /// The dag, loop, pipeline or wrapper.
    pub template: TemplateId,
    /// Data that only its kind needs.
    pub progress: ContainerProgress,
    /// Direct children in creation order: a dag's by node, a loop's by index, a wrapper's by attempt.
    pub(in crate::run) children: Vec<TaskIndex>,
    /// Children not yet terminal.
    pub open: u32,
    /// Children that were never dispatched and have not ended.
    pub undispatched: u32,
    /// Children that ended, by phase.
    pub tally: Tally,
    /// Untolerated failures so far.
    pub failures: Failures,
    /// A dag's `parallelism`.
    pub parallelism: Option<u32>,
    /// Leaf task runs of the sub-tree in Ready or Running, where a `parallelism` counts them.
    pub in_flight: u32,
    /// Leaves of the sub-tree that wait for a place under the `parallelism`.
    pub(in crate::run) blocked: BTreeSet<QueueKey>,
    /// The next enclosing dag with a `parallelism`.
    pub(in crate::run) outer_limit: Option<ScopeIndex>,
}

/// How far a container has come, as far as its children do not say.
#[derive(Clone, Debug, PartialEq)]
pub enum ContainerProgress {
    /// A dag: its dependencies are counted by the children themselves.
    Dag,
    /// A loop.
    Loop(LoopState),
    /// A pipeline.
    Pipeline(Box<PipelineState>),
    /// A wrapper: the last child is the attempt's.
    Attempts,
}

/// How far a loop has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoopState {
    /// Items by index; empty where the loop repeats on a condition.
    pub items: Arc<Vec<Value>>,
    /// Iterations that `concurrency` has let go.
    pub released: usize,
}

/// How far a pipeline has come.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineState {
    /// By label, the latest task run.
    pub(in crate::run) latest: Vec<TaskIndex>,
    /// By label, the latest task run that has ended after it was entered: what the bare label means (R-N7).
    pub(in crate::run) ended: Vec<Option<TaskIndex>>,
    /// The last task run that ended ok (`_prev`).
    pub(in crate::run) previous: Option<TaskIndex>,
    /// The last task run that ended and was not skipped: without declared outputs the pipeline's are its.
    pub(in crate::run) last: Option<TaskIndex>,
    /// Tasks that were entered so far, each time counted.
    pub entries: u32,
    /// Jumps so far.
    pub jumps: u32,
    /// Jumps at most.
    pub max_jumps: u32,
    /// `iter`.
    pub iter: Arc<Map>,
    /// The next step.
    pub next: PipelineNext,
}

/// The next step of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineNext {
    /// The entered task goes on.
    Task(NodeIndex),
    /// Nothing: it is through, or a rule ended it.
    End,
    /// Nothing: it has jumped too often, or the run is full.
    TooManyJumps,
}

impl PipelineState {
    /// A pipeline that enters its first task.
    pub(super) fn new(tasks: Vec<TaskIndex>, max_jumps: u32) -> Self {
        Self {
            ended: vec![None; tasks.len()],
            latest: tasks,
            previous: None,
            last: None,
            entries: 0,
            jumps: 0,
            max_jumps,
            iter: Arc::default(),
            next: PipelineNext::Task(0),
        }
    }

    /// Remembers the end of a task that was entered.
    pub(super) fn task_ended(&mut self, index: NodeIndex, task: TaskIndex, phase: Phase) {
        if let Some(slot) = self.ended.get_mut(index) {
            // A skipped task has no outputs: its label is null.
            *slot = (phase != Phase::Skipped).then_some(task);
        }
        if phase == Phase::Succeeded {
            self.previous = Some(task);
        }
        if phase != Phase::Skipped {
            self.last = Some(task);
        }
    }

    /// Returns the step after a task, by its rules or in order (R-N11); a jump is counted. `full` if there is no room for another
    /// task run.
    pub(super) fn after(&mut self, index: NodeIndex, verdict: Option<Verdict>, full: bool) -> PipelineNext {
        match verdict {
            Some(Verdict::Jump(_)) if full || self.jumps >= self.max_jumps => PipelineNext::TooManyJumps,
            Some(Verdict::Jump(to)) => {
                self.jumps += 1;
                PipelineNext::Task(to)
            }
            Some(Verdict::Break) => PipelineNext::End,
            Some(Verdict::Continue | Verdict::Retry { .. } | Verdict::Fail) | None
                if index + 1 < self.latest.len() =>
            {
                PipelineNext::Task(index + 1)
            }
            Some(Verdict::Continue | Verdict::Retry { .. } | Verdict::Fail) | None => PipelineNext::End,
        }
    }
}

impl Scope {
    /// A container that has just opened, without children.
    pub(super) fn new(
        owner: TaskIndex,
        template: TemplateId,
        progress: ContainerProgress,
        outer_limit: Option<ScopeIndex>,
    ) -> Self {
        Self {
            owner,
            template,
            progress,
            children: Vec::new(),
            open: 0,
            undispatched: 0,
            tally: Tally::default(),
            failures: Failures::default(),
            parallelism: None,
            in_flight: 0,
            blocked: BTreeSet::new(),
            outer_limit,
        }
    }

    /// Counts a child that has ended; `failed` if the end is a failure that no setting tolerates.
    pub(super) fn count(&mut self, child: ChildEnd, failed: bool) {
        self.open = self.open.saturating_sub(1);
        self.tally.count(child.phase);
        if failed {
            self.failures.count(child);
        }
    }

    /// A pipeline's course.
    #[must_use]
    pub fn pipeline(&self) -> Option<&PipelineState> {
        match &self.progress {
            ContainerProgress::Pipeline(progress) => Some(progress),
            ContainerProgress::Dag | ContainerProgress::Loop(_) | ContainerProgress::Attempts => None,
        }
    }

    /// Like [`Scope::pipeline`], but mutable.
    pub(super) fn pipeline_mut(&mut self) -> Option<&mut PipelineState> {
        match &mut self.progress {
            ContainerProgress::Pipeline(progress) => Some(progress),
            ContainerProgress::Dag | ContainerProgress::Loop(_) | ContainerProgress::Attempts => None,
        }
    }

    /// Adds a child that has not ended.
    pub(super) fn add(&mut self, child: TaskIndex) {
        self.children.push(child);
        self.open += 1;
        self.undispatched += 1;
    }
}

/// Ended children by phase, as `children.*` shows them to conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Succeeded.
    pub succeeded: u32,
    /// Failed.
    pub failed: u32,
    /// Error.
    pub error: u32,
    /// Timeout.
    pub timeout: u32,
    /// Skipped.
    pub skipped: u32,
    /// Cancelled.
    pub cancelled: u32,
}

impl Tally {
    fn count(&mut self, phase: Phase) {
        match phase {
            Phase::Succeeded => self.succeeded += 1,
            Phase::Failed => self.failed += 1,
            Phase::Error => self.error += 1,
            Phase::Timeout => self.timeout += 1,
            Phase::Skipped => self.skipped += 1,
            Phase::Cancelled => self.cancelled += 1,
            Phase::Created | Phase::Ready | Phase::Running | Phase::Suspended => {}
        }
    }

    /// The count of the name conditions use (`children.failed`).
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u32> {
        Some(match name {
            "succeeded" => self.succeeded,
            "failed" => self.failed,
            "error" => self.error,
            "timeout" => self.timeout,
            "skipped" => self.skipped,
            "cancelled" => self.cancelled,
            _ => return None,
        })
    }
}

/// The first untolerated failure of each kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    error: Option<ChildEnd>,
    timeout: Option<ChildEnd>,
    failed: Option<ChildEnd>,
    cancelled: Option<ChildEnd>,
}

/// How a child ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildEnd {
    /// The child.
    pub(in crate::run) task: TaskIndex,
    /// Its phase.
    pub phase: Phase,
    /// Its reason.
    pub reason: Option<Reason>,
    /// Its message.
    pub message: Arc<str>,
}

impl Failures {
    fn count(&mut self, child: ChildEnd) {
        let slot = match child.phase {
            Phase::Error => &mut self.error,
            Phase::Timeout => &mut self.timeout,
            Phase::Failed => &mut self.failed,
            Phase::Cancelled => &mut self.cancelled,
            Phase::Created
            | Phase::Ready
            | Phase::Running
            | Phase::Suspended
            | Phase::Succeeded
            | Phase::Skipped => return,
        };
        slot.get_or_insert(child);
    }

    /// The one that decides the container's phase: Error > Timeout > Failed > Cancelled.
    #[must_use]
    pub fn worst(&self) -> Option<&ChildEnd> {
        self.error.as_ref().or(self.timeout.as_ref()).or(self.failed.as_ref()).or(self.cancelled.as_ref())
    }
}

/// Whether an end is a failure at all (R-S3).
#[must_use]
pub(in crate::run) fn is_failure(phase: Phase, reason: Option<Reason>) -> bool {
    match phase {
        Phase::Failed | Phase::Error | Phase::Timeout => true,
        Phase::Cancelled => matches!(reason, Some(Reason::User | Reason::TimeoutPolicy)),
        Phase::Created
        | Phase::Ready
        | Phase::Running
        | Phase::Suspended
        | Phase::Succeeded
        | Phase::Skipped => false,
    }
}

/// Whether `continueOn` tolerates an end (R-S2, R-T4).
#[must_use]
pub(super) fn tolerates(tolerance: Tolerance, phase: Phase, reason: Option<Reason>) -> bool {
    match phase {
        Phase::Failed => tolerance.failed,
        Phase::Error => tolerance.error,
        Phase::Timeout => tolerance.timeout,
        Phase::Cancelled => tolerance.timeout && reason == Some(Reason::TimeoutPolicy),
        Phase::Created
        | Phase::Ready
        | Phase::Running
        | Phase::Suspended
        | Phase::Succeeded
        | Phase::Skipped => false,
    }
}

/// Whether an end satisfies those who depend on it (R-S1).
#[must_use]
pub(super) fn satisfies(tolerance: Tolerance, phase: Phase, reason: Option<Reason>) -> bool {
    matches!(phase, Phase::Succeeded | Phase::Skipped) || tolerates(tolerance, phase, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Tolerance = Tolerance { failed: true, error: true, timeout: true };

    /// R-S2, R-S3: what is a failure, and which tolerance covers it.
    #[test]
    fn tolerance_covers_exactly_the_named_phases() {
        let rows = [
            (Phase::Succeeded, None, false, true),
            (Phase::Skipped, Some(Reason::When), false, true),
            (Phase::Failed, None, true, true),
            (Phase::Error, None, true, true),
            (Phase::Timeout, None, true, true),
            (Phase::Cancelled, Some(Reason::TimeoutPolicy), true, true),
            (Phase::Cancelled, Some(Reason::User), true, false),
            (Phase::Cancelled, Some(Reason::ScopeFailed), false, false),
        ];
        for (phase, reason, failure, satisfied) in rows {
            assert_eq!(is_failure(phase, reason), failure, "{phase} {reason:?}");
            assert_eq!(satisfies(ALL, phase, reason), satisfied, "{phase} {reason:?}");
            let none = Tolerance::default();
            assert_eq!(satisfies(none, phase, reason), satisfied && !failure, "{phase} {reason:?}");
        }
        let only_failed = Tolerance { failed: true, ..Tolerance::default() };
        assert!(!satisfies(only_failed, Phase::Error, None));
    }

    /// R-S4.
    #[test]
    fn the_worst_failure_decides() {
        let mut scope = Scope::new(TaskIndex::ROOT, 0, ContainerProgress::Dag, None);
        let mut worst = Vec::new();
        for phase in [Phase::Cancelled, Phase::Failed, Phase::Timeout, Phase::Error, Phase::Failed] {
            let reason = (phase == Phase::Cancelled).then_some(Reason::User);
            scope.count(ChildEnd { task: TaskIndex::of(1), phase, reason, message: "".into() }, true);
            worst.push(scope.failures.worst().unwrap().phase);
        }
        assert_eq!(worst, [Phase::Cancelled, Phase::Failed, Phase::Timeout, Phase::Error, Phase::Error]);
    }
}
