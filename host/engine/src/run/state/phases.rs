//! Applying changes of phase: what each phase means to a task run and to what surrounds it.

use std::sync::Arc;

use super::{
    Attempt, State, TaskIndex, TaskRun, Wait, WaitKind,
    apply::{ApplyResult, merge_outputs},
    node_at,
    task::QueueState,
};
use crate::{
    event::{PhaseChange, PhaseData},
    phase::Phase,
    plan::Work,
    usage::ResourceUsage,
};

impl State {
    pub(super) fn apply_phase(&mut self, change: &PhaseChange) -> ApplyResult {
        let PhaseChange { task: id, from, to, reason, ref with } = *change;
        let id = self.existing(id)?;
        let task = &self[id];
        if task.phase != from || !from.may_become(to, self.kind(task)) {
            return Err(format!("task run {id} is {}, and goes from {from} to {to} never", task.phase));
        }
        let was_in_flight = task.in_flight();
        let task = &mut self.tables[id];
        task.phase = to;
        task.reason = reason;
        if let Some(with) = with.as_deref() {
            take_along(task, with);
        }
        if from == Phase::Created {
            self.count_first_dispatch(id);
        }
        if from == Phase::Suspended {
            self.suspended = self.suspended.saturating_sub(1);
        }
        self.enter(id, from, to);
        let is_in_flight = self[id].in_flight();
        if was_in_flight != is_in_flight {
            self.count_in_flight(id, is_in_flight);
        }
        Ok(())
    }

    /// Leaving Created for the first time, by a dispatch or without one.
    fn count_first_dispatch(&mut self, id: TaskIndex) {
        let task = &self[id];
        if let Some(parent) = task.parent.filter(|_| task.dispatched_at.is_none()) {
            let scope = &mut self.tables[parent];
            scope.undispatched = scope.undispatched.saturating_sub(1);
        }
    }

    fn enter(&mut self, id: TaskIndex, from: Phase, to: Phase) {
        match to {
            Phase::Created => self.enter_created(id),
            Phase::Ready => self.enter_ready(id),
            Phase::Running => self.enter_running(id, from),
            Phase::Suspended => self.enter_suspended(id),
            Phase::Succeeded
            | Phase::Failed
            | Phase::Error
            | Phase::Timeout
            | Phase::Skipped
            | Phase::Cancelled => self.enter_terminal(id),
        }
    }

    /// A retry: what the attempt left behind is dropped (R-R6); it waits for its delay or joins the queue.
    pub(super) fn enter_created(&mut self, id: TaskIndex) {
        self.stop_attempt_clock(id);
        let now = self.now;
        let task = &mut self.tables[id];
        task.outputs = Arc::default();
        task.payload = Arc::default();
        task.response = None;
        if let Some(callers) = &mut task.callers {
            callers.resumed = None;
        }
        task.resumed = false;
        task.clocks.wake = task.clocks.wake.filter(|at| *at > now);
        let Some(at) = task.clocks.wake else { return self.again(id, self.now) };
        self.agenda.waits.insert(Wait { at, kind: WaitKind::RetryWake, task: id });
        self.agenda.delayed += 1;
    }

    fn enter_ready(&mut self, id: TaskIndex) {
        self.dequeue(id);
        let (plan, now) = (Arc::clone(&self.plan), self.now);
        let task = &mut self.tables[id];
        if task.reason.is_some() {
            // With a reason it is only passed through: nothing is dispatched.
            return;
        }
        let node = node_at(&plan, task.place);
        if matches!(node.work, Work::Executor(_)) {
            begin_attempt(task);
        }
        if task.dispatched_at.is_some() {
            return;
        }
        task.dispatched_at = Some(now);
        task.clocks.timeout = node.settings.timeout.map(|length| now.after(length));
        task.clocks.deadline = node.settings.deadline.map(|policy| now.after(policy.timeout));
        let (clocks, depth) = (task.clocks, task.depth);
        let timeout_kind = match node.work {
            Work::Executor(_) | Work::Wrapper(_) => WaitKind::Timeout,
            Work::Container(_) => WaitKind::ContainerTimeout { depth },
        };
        for (at, kind) in [(clocks.timeout, timeout_kind), (clocks.deadline, WaitKind::Deadline)] {
            if let Some(at) = at {
                self.agenda.waits.insert(Wait { at, kind, task: id });
            }
        }
    }

    fn enter_running(&mut self, id: TaskIndex, from: Phase) {
        let now = self.now;
        let task = &mut self.tables[id];
        task.started_at.get_or_insert(now);
        if from == Phase::Suspended {
            task.dispatch += 1;
            task.resumed = true;
            if let Some(attempt) = task.attempts.last_mut() {
                attempt.phase = Phase::Running;
            }
            self.start_attempt_clock(id);
        }
    }

    fn enter_suspended(&mut self, id: TaskIndex) {
        self.stop_attempt_clock(id);
        self.suspended += 1;
        let now = self.now;
        let task = &mut self.tables[id];
        task.suspended_at = Some(now);
        task.code = Some(crate::outcome::code::SUSPENDED);
        if let Some(attempt) = task.attempts.last_mut() {
            attempt.phase = Phase::Suspended;
            attempt.code = task.code;
            attempt.message = task.message.clone();
        }
    }

    fn enter_terminal(&mut self, id: TaskIndex) {
        let waited = self[id].turn != QueueState::Elsewhere;
        self.dequeue(id);
        if waited {
            self.offer_places(id);
        }
        self.drop_waits(id);
        let now = self.now;
        let task = &mut self.tables[id];
        task.finished_at = Some(now);
        // A retry whose attempt never began is none (R-R7).
        task.retries = task.retries.min(task.attempt.saturating_sub(1));
        if let Some(attempt) = task.attempts.last_mut().filter(|a| a.finished_at.is_none()) {
            attempt.finished_at = Some(now);
            attempt.phase = task.phase;
        }
        let task = &self[id];
        if task.hook.is_some() {
            self.open_hooks = self.open_hooks.saturating_sub(1);
        } else {
            self.progress.done += u32::from(matches!(self.node(task).work, Work::Executor(_)));
        }
        if let Some(parent) = self[id].parent {
            self.tell_parent(id, parent);
        }
    }
}

/// Stores the data of a change of phase.
fn take_along(task: &mut TaskRun, with: &PhaseData) {
    match with {
        PhaseData::Bound { inputs, config } => {
            task.inputs = inputs.clone();
            task.config = config.clone();
            task.rebind = false;
        }
        PhaseData::Partial { message, outputs } => {
            task.response = None;
            task.message = message.clone();
            merge_outputs(&mut task.outputs, outputs.iter().cloned());
        }
        PhaseData::Refused { reason, by } => {
            let Some(response) = task.response.as_mut() else { return };
            task.outputs = response.outputs.clone();
            task.payload = Arc::clone(&response.payload);
            let by_whom = by.as_ref().map(|by| format!(", by {by},")).unwrap_or_default();
            task.message = match &*response.message {
                "" => format!("the last response{by_whom} was refused: {reason}").into(),
                message => format!("{message} (the last response{by_whom} was refused: {reason})").into(),
            };
            response.refused = Some((Arc::clone(reason), by.clone()));
            let before = response.before.take();
            task.callers_mut().resumed = before;
        }
        PhaseData::Result { message, outputs } => {
            task.message = message.clone();
            task.outputs = outputs.clone();
        }
    }
}

/// Maximum number of attempts remembered for a task; its journal has all of them.
const MAX_REMEMBERED_ATTEMPTS: usize = 64;

/// Another attempt of a leaf, or of a wrapper.
pub(super) fn begin_attempt(task: &mut TaskRun) {
    task.attempt += 1;
    task.dispatch += 1;
    task.clock = None;
    if task.attempts.is_empty() {
        // Most tasks have one attempt; a growing vector begins with room for four.
        task.attempts.reserve_exact(1);
    }
    if task.attempts.len() >= MAX_REMEMBERED_ATTEMPTS {
        task.attempts.remove(0);
    }
    task.attempts.push(Attempt {
        number: task.attempt,
        started_at: None,
        finished_at: None,
        phase: Phase::Ready,
        code: None,
        message: Arc::default(),
        condition: None,
        clock: None,
        metered: ResourceUsage::default(),
    });
}
