//! Applying events: the only way in for everything that is recorded, for live and recovered runs alike.

use std::sync::Arc;

use super::{
    EarlierRun, HookOf, MAX_WARNINGS, Place, State, TYPE_MISMATCH, TaskIndex, TaskRun, Wait, WaitKind,
    task::{GivenResponse, QueueState, Response},
};
use crate::{
    event::{
        AttemptEnd, Event, Fence, HookFiring, PolicyEvaluation, Requester, Resumption, RetrySchedule,
        SubmissionRecord, TaskId, Warning,
    },
    outcome::Output,
    phase::{Phase, TaskKind},
    plan::Verdict,
    usage::ResourceUsage,
    value::Value,
};

/// Whether an event could be applied; if not, why it cannot follow.
pub(super) type ApplyResult = Result<(), String>;

impl State {
    /// Applies one event. One that is refused has changed nothing but, at worst, what only it is about.
    ///
    /// # Errors
    /// Why the event cannot follow those before it.
    pub(in crate::run) fn apply(&mut self, event: &Event) -> ApplyResult {
        if (self.seq == 0) != matches!(event, Event::Submitted(_)) {
            return Err("a run is submitted once, and first".to_owned());
        }
        match event {
            Event::Submitted(submitted) => self.apply_submitted(submitted),
            Event::RunPhase(phase) => self.apply_run_phase(*phase),
            Event::Held(quota) => self.quota.clone_from(quota),
            Event::ScopeOpened(opened) => self.apply_scope_opened(opened)?,
            Event::Reused(task) => self.apply_reused(*task)?,
            Event::Phase(change) => self.apply_phase(change)?,
            Event::AttemptStarted(fence) => self.apply_attempt_started(*fence)?,
            Event::AttemptEnded(ended) => self.apply_attempt_ended(ended)?,
            Event::Metered(fence, metered) => self.apply_metered(*fence, *metered)?,
            Event::Resumed(resumption) => self.apply_resumed(resumption)?,
            Event::CancelRequestedBy(by) => self.cancelled_by = Some(by.clone()),
            Event::TaskCancelRequested(task, by) => self.apply_task_cancel(*task, by.as_ref())?,
            Event::Repeated(container) => self.apply_repeated(*container)?,
            Event::PolicyEvaluated(evaluated) => self.apply_policy(evaluated)?,
            Event::RetryScheduled(retry) => self.apply_retry_scheduled(*retry)?,
            Event::HookFired(fired) => self.apply_hook_fired(fired)?,
            Event::Warning(warning) => {
                self.apply_doubt(warning);
                if self.warnings.len() < MAX_WARNINGS {
                    self.warnings.push(warning.as_ref().clone());
                }
            }
            Event::Broken(message) => self.apply_broken(message),
            Event::TimedOut(task, clock) => {
                let id = self.existing(*task)?;
                self.tables[id].clock = Some(*clock);
            }
            Event::CancelRequested | Event::TaskEnded(..) | Event::HookFailed(_) => {}
        }
        self.pause_timeout();
        self.seq += 1;
        Ok(())
    }

    /// Drops the values of a task run that has ended. Later events have the same effect, as none of them reads values.
    pub(in crate::run) fn forget_values(&mut self, id: TaskId) {
        let Some(index) = self.find(id).filter(|index| self[*index].phase.is_terminal()) else { return };
        let task = &mut self.tables[index];
        task.inputs = Arc::default();
        task.outputs = Arc::default();
        task.payload = Arc::default();
        task.config = Value::Null;
    }

    fn apply_doubt(&mut self, warning: &Warning) {
        let of = warning.task.and_then(|task| self.find(task)).filter(|_| *warning.code == *TYPE_MISMATCH);
        if let Some(task) = of {
            self.doubted.insert((self[task].place.of_node(), Arc::clone(&warning.message)));
        }
    }

    /// Whether there was such a warning about types at this task's node.
    pub(in crate::run) fn has_doubted(&self, task: TaskIndex, message: &str) -> bool {
        self.doubted.contains(&(self[task].place.of_node(), message.into()))
    }

    /// The task run that an event names.
    pub(super) fn existing(&self, id: TaskId) -> Result<TaskIndex, String> {
        self.find(id).ok_or_else(|| format!("there is no task run {id}"))
    }

    /// The task run whose current dispatch an event names.
    fn dispatched(&self, fence: Fence) -> Result<TaskIndex, String> {
        let index = self.existing(fence.task)?;
        if self[index].fence() == fence {
            return Ok(index);
        }
        Err(format!(
            "attempt {}, dispatch {} of task run {index} is not current",
            fence.attempt, fence.dispatch
        ))
    }

    fn apply_submitted(&mut self, submitted: &SubmissionRecord) {
        self.id = submitted.run_id.clone();
        self.parameters = submitted.parameters.clone();
        self.facts = submitted.facts.clone();
        self.trace.clone_from(&submitted.trace);
        self.submitted_by.clone_from(&submitted.by);
        self.past = submitted.rerun.clone().map(|rerun| Arc::new(EarlierRun::new(&self.plan, rerun)));
        self.times.submitted_at = self.now;
        self.times.deadline_at = self.plan.timeout.map(|timeout| self.now.after(timeout));
        if let Some(at) = self.times.deadline_at {
            self.agenda.waits.insert(Wait { at, kind: WaitKind::SpecTimeout, task: TaskIndex::ROOT });
        }
        self.tables[TaskIndex::ROOT].created_at = self.now;
        self.arrives(TaskIndex::ROOT);
    }

    fn apply_run_phase(&mut self, phase: Phase) {
        self.phase = phase;
        if phase == Phase::Running {
            self.times.started_at.get_or_insert(self.now);
        }
        if phase.is_terminal() {
            self.times.finished_at = Some(self.now);
            if let Some(at) = self.times.deadline_at {
                self.agenda.waits.remove(Wait { at, kind: WaitKind::SpecTimeout, task: TaskIndex::ROOT });
            }
        }
    }

    /// Counts a task run of the tree that has come to be; one that nothing holds back is ready at once.
    pub(super) fn arrives(&mut self, id: TaskIndex) {
        self.progress.total += u32::from(self.kind(&self[id]) == TaskKind::Leaf);
        if self[id].unmet == 0 {
            self.becomes_ready(id);
        }
    }

    /// A hook run: a leaf outside all scopes, bound already (R-S12).
    fn apply_hook_fired(&mut self, fired: &HookFiring) -> ApplyResult {
        let (next, of) = (self.next_id(), self.existing(fired.of)?);
        if fired.run != next {
            return Err(format!("the next task run is {next}, not {}", fired.run));
        }
        if self.plan.hook(fired.hook).is_none() {
            return Err(format!("the plan has no hook {}", fired.hook));
        }
        let now = self.now;
        let id = self.tables.add(|index, tables| {
            let mut task = TaskRun::new(index, Place::Hook(fired.hook), now, tables.nothing());
            task.inputs = fired.inputs.clone();
            task.config = fired.config.clone();
            task.hook = Some(HookOf { task: of, kind: fired.kind });
            task
        });
        self.open_hooks += 1;
        self.becomes_ready(id);
        Ok(())
    }

    fn apply_attempt_started(&mut self, fence: Fence) -> ApplyResult {
        let (id, now) = (self.dispatched(fence)?, self.now);
        if let Some(attempt) = self.tables[id].attempts.last_mut() {
            attempt.phase = Phase::Running;
            attempt.started_at.get_or_insert(now);
        }
        self.start_attempt_clock(id);
        Ok(())
    }

    fn apply_attempt_ended(&mut self, ended: &AttemptEnd) -> ApplyResult {
        let (id, now) = (self.dispatched(ended.fence)?, self.now);
        self.stop_attempt_clock(id);
        let task = &mut self.tables[id];
        task.code = Some(ended.code);
        task.message = ended.message.clone();
        task.outputs = ended.outputs.clone();
        if let Some(attempt) = task.attempts.last_mut() {
            attempt.finished_at = Some(now);
            attempt.clock = task.clock;
            attempt.condition = ended.condition;
            attempt.phase = ended.phase;
            attempt.code = Some(ended.code);
            attempt.message = ended.message.clone();
        }
        self.apply_metered(ended.fence, ended.metered)
    }

    fn apply_metered(&mut self, fence: Fence, metered: ResourceUsage) -> ApplyResult {
        let id = self.existing(fence.task)?;
        let task = &mut self.tables[id];
        task.metered = task.metered.and(metered);
        if let Some(attempt) = task.attempts.iter_mut().rev().find(|attempt| attempt.number == fence.attempt)
        {
            attempt.metered = attempt.metered.and(metered);
        }
        Ok(())
    }

    fn apply_task_cancel(&mut self, id: TaskId, by: Option<&Requester>) -> ApplyResult {
        let id = self.existing(id)?;
        if let Some(by) = by {
            self.tables[id].callers_mut().cancelled = Some(by.clone());
        }
        Ok(())
    }

    fn apply_resumed(&mut self, Resumption { task, payload, by }: &Resumption) -> ApplyResult {
        let (id, now) = (self.existing(*task)?, self.now);
        let task = &mut self.tables[id];
        let given = GivenResponse { by: by.clone(), at: Some(now) };
        let before = task.callers_mut().resumed.replace(given);
        if let Some(refused) = task.response.take().filter(|response| response.refused.is_some()) {
            task.message = refused.message;
        }
        task.response = Some(Box::new(Response {
            outputs: task.outputs.clone(),
            payload: Arc::clone(&task.payload),
            message: Arc::clone(&task.message),
            before,
            refused: None,
        }));
        let named = payload.iter().map(|(name, value)| Output { name: name.clone(), value: value.clone() });
        merge_outputs(&mut task.outputs, named);
        Arc::make_mut(&mut task.payload).extend(payload.iter().map(|(k, v)| (k.clone(), v.clone())));
        Ok(())
    }

    fn apply_policy(&mut self, evaluated: &PolicyEvaluation) -> ApplyResult {
        let id = self.existing(evaluated.fence.task)?;
        let pipeline = self[id].parent.filter(|scope| self[*scope].pipeline().is_some());
        if let Verdict::Jump(to) = evaluated.verdict
            && pipeline
                .and_then(|scope| self[scope].pipeline())
                .is_none_or(|progress| to >= progress.latest.len())
        {
            return Err(format!("task run {id} has nowhere to jump to"));
        }
        let task = &mut self.tables[id];
        task.verdict = Some(evaluated.verdict);
        task.rebind |= !(evaluated.iter.is_empty() && evaluated.ctx.is_empty());
        if let Some(progress) = pipeline.and_then(|scope| self.tables[scope].pipeline_mut()) {
            Arc::make_mut(&mut progress.iter).extend(evaluated.iter.clone());
        }
        Arc::make_mut(&mut self.ctx).extend(evaluated.ctx.clone());
        Ok(())
    }

    fn apply_retry_scheduled(&mut self, retry: RetrySchedule) -> ApplyResult {
        let id = self.existing(retry.task)?;
        let task = &mut self.tables[id];
        if retry.attempt != task.attempt + 1 {
            return Err(format!("attempt {} cannot follow attempt {}", retry.attempt, task.attempt));
        }
        task.retries += 1;
        task.clocks.wake = Some(retry.wake_at);
        if task.phase == Phase::Created {
            // A wrapper whose container ended before any leaf was dispatched: no edge leads where it is.
            self.enter_created(id);
        }
        Ok(())
    }

    /// The end of a run whose engine cannot go on: everything open ends, whatever it was doing, and nothing waits.
    fn apply_broken(&mut self, message: &Arc<str>) {
        self.clear_agenda();
        if !self[TaskIndex::ROOT].phase.is_terminal() {
            self.tables[TaskIndex::ROOT].message = message.clone();
        }
        for task in self.tables.tasks_mut().iter_mut().filter(|task| !task.phase.is_terminal()) {
            task.phase = if task.index() == TaskIndex::ROOT { Phase::Error } else { Phase::Cancelled };
            task.finished_at = Some(self.now);
            task.clocks.wake = None;
            task.turn = QueueState::Elsewhere;
            if let Some(attempt) = task.attempts.last_mut().filter(|a| a.finished_at.is_none()) {
                attempt.finished_at = Some(self.now);
                attempt.phase = task.phase;
            }
        }
        self.in_flight = 0;
        self.suspended = 0;
        self.open_hooks = 0;
        self.progress.done = self.progress.total;
    }
}

/// Last writer wins per name; names keep the place of their first writer (R-S9).
pub(in crate::run) fn merge_outputs(outputs: &mut Arc<Vec<Output>>, more: impl IntoIterator<Item = Output>) {
    let outputs = Arc::make_mut(outputs);
    let mut position: std::collections::BTreeMap<Arc<str>, usize> =
        outputs.iter().enumerate().map(|(i, o)| (o.name.clone(), i)).collect();
    for output in more {
        match position.get(&output.name).and_then(|i| outputs.get_mut(*i)) {
            Some(known) => known.value = output.value,
            None => {
                position.insert(output.name.clone(), outputs.len());
                outputs.push(output);
            }
        }
    }
}
