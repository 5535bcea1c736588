//! Applying events: the only code that changes a run's state, for live and recovered runs alike (R-D1).

use std::sync::Arc;

use super::{MOST_WARNINGS, Run};
use crate::{
    event::{AttemptEnded, Event, Fence, HookFired, PolicyEvaluated, RetryScheduled, Submitted, TaskId},
    outcome::Output,
    phase::{Kind, Phase},
    run::state::scope::Scope,
    run::state::task::{Attempt, HookOf, Place, TaskRun},
    run::state::wait::{Wait, WaitKind},
    value::Map,
};

pub(in crate::run) type Applied = Result<(), String>;

impl Run {
    pub(in crate::run) fn apply(&mut self, event: &Event) -> Applied {
        match event {
            Event::Submitted(submitted) => self.apply_submitted(submitted)?,
            Event::RunPhase(phase) => self.apply_run_phase(*phase),
            Event::CancelRequested => self.cancel_requested = true,
            Event::ScopeOpened(opened) => self.apply_scope_opened(opened)?,
            Event::Phase(change) => self.apply_phase(change)?,
            Event::AttemptStarted(fence) => self.apply_attempt_started(*fence)?,
            Event::AttemptEnded(ended) => self.apply_attempt_ended(ended)?,
            Event::Resumed(task, payload) => self.apply_resumed(*task, payload)?,
            Event::Repeated(container) => self.apply_repeated(*container)?,
            Event::PolicyEvaluated(evaluated) => self.apply_policy(evaluated)?,
            Event::RetryScheduled(retry) => self.apply_retry_scheduled(*retry)?,
            Event::HookFired(fired) => self.apply_hook_fired(fired)?,
            Event::Warning(warning) => {
                if self.warnings.len() < MOST_WARNINGS {
                    self.warnings.push(warning.as_ref().clone());
                }
            }
            Event::TimedOut(..) | Event::TaskEnded(..) | Event::HookFailed(_) => {}
        }
        self.seq += 1;
        Ok(())
    }

    pub(in crate::run) fn existing(&mut self, id: TaskId) -> Result<&mut TaskRun, String> {
        self.tasks.get_mut(id.index()).ok_or_else(|| format!("there is no task run {id}"))
    }

    fn apply_submitted(&mut self, submitted: &Submitted) -> Applied {
        if self.seq != 0 {
            return Err("a run is submitted once".to_owned());
        }
        self.id = submitted.run_id.clone();
        self.parameters = submitted.parameters.clone();
        self.facts = submitted.facts.clone();
        self.submitted_at = self.now;
        self.deadline_at = self.plan.timeout.map(|timeout| self.now.after(timeout));
        if let Some(at) = self.deadline_at {
            self.waits.insert(Wait { at, kind: WaitKind::SpecTimeout, task: TaskId::ROOT });
        }
        self.create(None, Place::Root, 0, None);
        Ok(())
    }

    fn apply_run_phase(&mut self, phase: Phase) {
        self.phase = phase;
        if phase == Phase::Running && self.started_at.is_none() {
            self.started_at = Some(self.now);
        }
        if phase.is_terminal() {
            self.finished_at = Some(self.now);
            if let Some(at) = self.deadline_at {
                self.waits.remove(Wait { at, kind: WaitKind::SpecTimeout, task: TaskId::ROOT });
            }
        }
    }

    /// Adds a task run; one that nothing holds back is ready at once.
    pub(in crate::run) fn create(
        &mut self,
        parent: Option<TaskId>,
        place: Place,
        unmet: u32,
        limit: Option<TaskId>,
    ) -> TaskId {
        let id = self.next_id();
        let parent = parent.and_then(|id| self.task(id));
        let mut task = TaskRun::new(id, parent, place, self.now);
        task.unmet = unmet;
        task.limit = limit;
        self.progress.total += u32::from(self.kind(&task) == Kind::Leaf);
        self.tasks.push(task);
        if unmet == 0 {
            self.becomes_ready(id);
        }
        id
    }

    /// A hook run: a leaf outside all scopes, bound already (R-S12).
    fn apply_hook_fired(&mut self, fired: &HookFired) -> Applied {
        let id = self.next_id();
        if fired.run != id {
            return Err(format!("the next task run is {id}, not {}", fired.run));
        }
        let mut task = TaskRun::new(id, None, Place::Hook(fired.hook), self.now);
        task.inputs = fired.inputs.clone();
        task.config = fired.config.clone();
        task.hook = Some(HookOf { task: fired.of, kind: fired.kind });
        self.tasks.push(task);
        self.open_hooks += 1;
        self.becomes_ready(id);
        Ok(())
    }

    /// The number of the task run that comes to be next.
    pub(in crate::run) fn next_id(&self) -> TaskId {
        TaskId(u32::try_from(self.tasks.len()).unwrap_or(u32::MAX))
    }

    /// A leaf joins the queue; whether it may stay (`when`) is decided before the step ends.
    pub(in crate::run) fn becomes_ready(&mut self, id: TaskId) {
        let Some(task) = self.task(id) else { return };
        if self.kind(task) == Kind::Leaf {
            self.enqueue(id, false);
        }
        self.ready.push(id);
    }

    pub(in crate::run) fn scope_mut(&mut self, container: TaskId) -> Option<&mut Scope> {
        self.task_mut(container)?.scope.as_deref_mut()
    }

    fn apply_attempt_started(&mut self, fence: Fence) -> Applied {
        let now = self.now;
        let task = self.existing(fence.task)?;
        if task.fence() != fence {
            return Err(format!("{fence:?} is not the current dispatch"));
        }
        if let Some(attempt) = task.attempts.last_mut() {
            attempt.phase = Phase::Running;
            attempt.started_at.get_or_insert(now);
        }
        self.start_attempt_clock(fence.task);
        Ok(())
    }

    fn apply_attempt_ended(&mut self, ended: &AttemptEnded) -> Applied {
        self.stop_attempt_clock(ended.fence.task);
        let now = self.now;
        let task = self.existing(ended.fence.task)?;
        if task.fence() != ended.fence {
            return Err(format!("{:?} is not the current dispatch", ended.fence));
        }
        task.code = Some(ended.code);
        task.message = ended.message.clone();
        task.outputs = ended.outputs.clone();
        if let Some(attempt) = task.attempts.last_mut() {
            attempt.finished_at = Some(now);
            attempt.phase = ended.phase;
            attempt.code = Some(ended.code);
            attempt.message = ended.message.clone();
        }
        Ok(())
    }

    fn apply_resumed(&mut self, id: TaskId, payload: &Arc<Map>) -> Applied {
        let task = self.existing(id)?;
        let named = payload.iter().map(|(name, value)| Output { name: name.clone(), value: value.clone() });
        merge_outputs(&mut task.outputs, named);
        Arc::make_mut(&mut task.payload).extend(payload.iter().map(|(k, v)| (k.clone(), v.clone())));
        Ok(())
    }

    fn apply_policy(&mut self, evaluated: &PolicyEvaluated) -> Applied {
        let task = self.existing(evaluated.fence.task)?;
        task.verdict = Some(evaluated.verdict);
        task.rebind |= !(evaluated.iter.is_empty() && evaluated.ctx.is_empty());
        let parent = task.parent;
        if let Some(pipeline) = parent.and_then(|id| self.scope_mut(id)).and_then(Scope::pipeline_mut) {
            Arc::make_mut(&mut pipeline.iter).extend(evaluated.iter.clone());
        }
        Arc::make_mut(&mut self.ctx).extend(evaluated.ctx.clone());
        Ok(())
    }

    fn apply_retry_scheduled(&mut self, retry: RetryScheduled) -> Applied {
        let task = self.existing(retry.task)?;
        if retry.attempt != task.attempt + 1 {
            return Err(format!("attempt {} cannot follow attempt {}", retry.attempt, task.attempt));
        }
        task.clocks.wake = Some(retry.wake_at);
        if task.phase == Phase::Created {
            // A wrapper whose container ended before any leaf was dispatched: no edge leads where it is.
            self.enter_created(retry.task);
        }
        Ok(())
    }
}

/// Another attempt of a leaf, or of a wrapper.
pub(in crate::run) fn begin_attempt(task: &mut TaskRun) {
    task.attempt += 1;
    task.dispatch += 1;
    if task.attempts.is_empty() {
        // Most tasks have one attempt; a growing vector begins with room for four.
        task.attempts.reserve_exact(1);
    }
    task.attempts.push(Attempt {
        number: task.attempt,
        started_at: None,
        finished_at: None,
        phase: Phase::Ready,
        code: None,
        message: Arc::default(),
    });
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
