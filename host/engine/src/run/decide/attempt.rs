//! One attempt from its start to what follows from its result.

use std::sync::Arc;

use super::{
    Decider,
    env::{AttemptDetails, AttemptResult, TaskEnv},
    room::add_result,
};
use crate::{
    event::{AttemptEnd, Event, Fence, Outputs, PhaseData, Reason, Requester, TimeLimit},
    expr::Doubts,
    outcome::{Outcome, code, phase_of},
    phase::Phase,
    plan::{PhaseConditions, Recovery, Settings},
    run::state::{TaskIndex, TaskRun, merge_outputs},
    settings::{Expiry, TimeoutPolicy},
    text,
    time::Millis,
    usage::ResourceUsage,
    value::Value,
};

/// The step that follows an attempt.
pub(super) enum NextStep {
    /// Another one, after a pause.
    Retry(Millis),
    /// The task's end.
    End(Phase, Option<Reason>),
}

/// A response that the executor has refused (R-S14).
struct RefusedResponse {
    reason: Arc<str>,
    /// The caller that gave it.
    by: Option<Requester>,
    /// The task's outputs before the response.
    before: Outputs,
}

/// Returns the response that an outcome refuses: code 1 with `refused`, a text, in the detail, after a resume.
fn refusal(task: &TaskRun, code: i32, detail: Option<&Value>) -> Option<RefusedResponse> {
    let reason = detail?.member("refused").and_then(Value::as_str)?;
    let response = task.response.as_ref().filter(|_| phase_of(code) == Phase::Suspended)?;
    let by = task.resumed_by().cloned();
    Some(RefusedResponse { reason: text::brief(reason).into(), by, before: response.outputs.clone() })
}

impl Decider<'_> {
    /// The executor has started (R-T9).
    pub(super) fn started(&mut self, fence: Fence) {
        match self.current(fence) {
            Some(id) if self[id].phase == Phase::Ready => self.start(id),
            // A resumed attempt is Running since the resume.
            Some(id) if self[id].resumed => {}
            Some(_) | None => self.drop_input(),
        }
    }

    pub(super) fn start(&mut self, id: TaskIndex) {
        let fence = self[id].fence();
        self.set_phase(id, Phase::Running, None, None);
        self.emit(Event::AttemptStarted(fence));
        self.promote(id, Phase::Running);
    }

    /// The executor has returned. A result for an attempt still Ready implies its start (R-P2).
    pub(super) fn finished(&mut self, fence: Fence, outcome: Outcome) {
        let Some(id) = self.current(fence) else { return self.drop_input() };
        if self[id].phase == Phase::Ready {
            self.start(id);
        }
        self.conclude(id, outcome.normalized(), None);
    }

    /// Records resources that an attempt used whose end does not report them, or that was stopped.
    pub(super) fn metered(&mut self, fence: Fence, metered: ResourceUsage) {
        let began = |task: &TaskRun| (1..=task.attempt).contains(&fence.attempt);
        if self.task(fence.task).is_some_and(began) {
            self.note_use(fence, metered);
        } else {
            self.drop_input();
        }
    }

    fn note_use(&mut self, fence: Fence, metered: ResourceUsage) {
        if !metered.is_nothing() {
            self.emit(Event::Metered(fence, metered));
        }
    }

    /// The leaf whose current dispatch is in flight under `fence`; nothing else hears of the executor's side (R-R11).
    pub(super) fn current(&self, fence: Fence) -> Option<TaskIndex> {
        let task = self.task(fence.task)?;
        (task.attempt > 0 && task.fence() == fence && task.in_flight()).then(|| task.index())
    }

    /// Maps an outcome to a phase and decides what follows. `expired` names the clock that ended the attempt.
    pub(super) fn conclude(&mut self, id: TaskIndex, outcome: Outcome, expired: Option<TimeLimit>) {
        let task = &self[id];
        let node = self.node(task);
        let retries = task.retries;
        let mut outputs = task.outputs.clone();
        let Outcome { code, mut message, outputs: mut returned, detail, metered } = outcome;
        let refusal = refusal(task, code, detail.as_ref());
        let mut refused_by = None;
        if let Some(RefusedResponse { reason, by, before }) = refusal {
            refused_by = Some(by);
            message = reason;
            outputs = before;
            returned = Vec::new();
        }
        let mut phase = phase_of(code);
        if phase == Phase::Suspended && task.hook.is_some() {
            // A hook cannot be resumed (R-S12).
            phase = Phase::Error;
        }
        let attempt = AttemptDetails {
            detail: detail.unwrap_or_default(),
            duration: task.running_for(self.now()),
            expired: expired.is_some(),
            metered,
        };
        if outputs.is_empty() {
            outputs = Arc::new(returned);
        } else {
            merge_outputs(&mut outputs, returned);
        }
        let mut judged = AttemptResult {
            phase,
            code: Some(code),
            message,
            outputs,
            retries,
            attempt,
            ..AttemptResult::default()
        };
        // No condition is asked about an attempt that a clock ended: it did not come to an end of its own (R-C2).
        let conditions = expired.is_none().then_some(&node.settings.phase_conditions);
        conditions.into_iter().for_each(|conditions| self.judge(id, conditions, &mut judged));
        if judged.phase != Phase::Suspended {
            judged.outputs = self.whitelisted(id, &judged);
        }
        if let Err(too_large) = self.make_room(|weight| add_result(weight, &judged.message, &judged.outputs))
        {
            judged = as_too_large(judged, too_large);
            conditions.into_iter().for_each(|conditions| self.judge(id, conditions, &mut judged));
        }
        if judged.phase == Phase::Suspended {
            let with = match refused_by {
                Some(by) => PhaseData::Refused { reason: judged.message, by },
                None => PhaseData::Partial { message: judged.message, outputs: judged.outputs },
            };
            self.set_phase(id, Phase::Suspended, None, Some(with));
            self.note_use(self[id].fence(), judged.attempt.metered);
            return;
        }
        self.end_attempt(id, &judged);
        match self.decide(id, &node.settings, &judged, expired) {
            NextStep::Retry(delay) => self.retry(id, delay),
            NextStep::End(phase, reason) => self.end_task(id, phase, reason),
        }
    }

    /// Lets `phaseConditions` override the computed phase (R-C2).
    pub(super) fn judge(&mut self, id: TaskIndex, conditions: &PhaseConditions, judged: &mut AttemptResult) {
        let mut faults = Vec::new();
        let mut doubts = Doubts::default();
        let verdict = conditions.in_order().find_map(|(phase, condition)| {
            let view = TaskEnv { result: Some(judged), ..TaskEnv::new(self, &self[id], condition.level) };
            let holds = condition.expr.test(&view, &mut doubts).unwrap_or_else(|error| {
                faults.push(format!(
                    "phaseConditions.{} counts as false: {error}",
                    phase.as_str().to_lowercase()
                ));
                false
            });
            holds.then_some(phase)
        });
        self.warn_doubts(id, doubts);
        for fault in faults {
            self.warn(Some(id), "phase-condition", fault);
        }
        judged.condition = verdict;
        judged.phase = verdict.unwrap_or(judged.phase);
    }

    fn end_attempt(&mut self, id: TaskIndex, judged: &AttemptResult) {
        self.emit(Event::AttemptEnded(Box::new(AttemptEnd {
            fence: self[id].fence(),
            phase: judged.phase,
            code: judged.code.unwrap_or_default(),
            message: judged.message.clone(),
            outputs: judged.outputs.clone(),
            duration_ms: judged.attempt.duration,
            condition: judged.condition,
            metered: judged.attempt.metered,
        })));
    }

    fn decide(
        &mut self,
        id: TaskIndex,
        settings: &Settings,
        judged: &AttemptResult,
        expired: Option<TimeLimit>,
    ) -> NextStep {
        let next = match &settings.recovery {
            Some(Recovery::Policy(policy)) if !policy.rules.is_empty() => {
                let verdict = self.evaluate_policy(id, policy, judged);
                Self::follow(verdict, judged, self[id].attempt)
            }
            Some(Recovery::Retry(policy)) if judged.phase != Phase::Succeeded => {
                self.decide_by_retry(id, policy, judged)
            }
            Some(Recovery::Policy(_) | Recovery::Retry(_)) | None => NextStep::End(judged.phase, None),
        };
        match (next, expired.and_then(|limit| end_of(limit, settings))) {
            (NextStep::End(..), Some((phase, reason))) => NextStep::End(phase, reason),
            (next, _) => next,
        }
    }

    /// Ends the current attempt with `attempt_phase` and the task with `end`, without conditions, retries or rules.
    pub(super) fn end_attempt_and_task(
        &mut self,
        id: TaskIndex,
        attempt_phase: Phase,
        code: i32,
        message: &str,
        end: (Phase, Option<Reason>),
    ) {
        let task = &self[id];
        let mut judged = AttemptResult {
            phase: attempt_phase,
            code: Some(code),
            message: message.into(),
            outputs: task.outputs.clone(),
            retries: task.retries,
            attempt: AttemptDetails { duration: task.running_for(self.now()), ..AttemptDetails::default() },
            ..AttemptResult::default()
        };
        if let Err(too_large) = self.make_room(|weight| add_result(weight, &judged.message, &judged.outputs))
        {
            judged = AttemptResult { message: too_large.into(), outputs: Arc::default(), ..judged };
        }
        self.end_attempt(id, &judged);
        self.end_task(id, end.0, end.1);
    }

    /// Ends a task that had an attempt.
    pub(super) fn end_task(&mut self, id: TaskIndex, phase: Phase, reason: Option<Reason>) {
        self.set_phase(id, phase, reason, None);
        self.emit(Event::TaskEnded(id.into(), phase == Phase::Succeeded));
    }

    /// Ends a task without an attempt to its name, or between two.
    pub(super) fn end_without_attempt(
        &mut self,
        id: TaskIndex,
        phase: Phase,
        reason: Option<Reason>,
        message: String,
    ) {
        let with = (!message.is_empty())
            .then(|| PhaseData::Result { message: message.into(), outputs: Arc::default() });
        self.end_with(id, phase, reason, with);
    }

    /// Ends a task whose last attempt, if it had any, is over or given up.
    pub(super) fn end_with(
        &mut self,
        id: TaskIndex,
        phase: Phase,
        reason: Option<Reason>,
        with: Option<PhaseData>,
    ) {
        let had_attempt = self[id].attempt > 0;
        self.set_phase(id, phase, reason, with);
        if had_attempt {
            self.emit(Event::TaskEnded(id.into(), false));
        }
    }
}

/// Replaces a result that is too large for a record; if a clock ended the attempt, that remains so.
fn as_too_large(judged: AttemptResult, message: String) -> AttemptResult {
    let (phase, code) =
        if judged.attempt.expired { (Phase::Timeout, code::TIMEOUT) } else { (Phase::Error, code::ERROR) };
    AttemptResult { phase, code: Some(code), message: message.into(), outputs: Arc::default(), ..judged }
}

/// Returns the end of a task whose Steep clock has expired (R-T4).
pub(super) fn end_of(limit: TimeLimit, settings: &Settings) -> Option<(Phase, Option<Reason>)> {
    let (policy, reason) = match limit {
        TimeLimit::MaxRuntime => (settings.max_runtime, Reason::MaxRuntime),
        TimeLimit::MaxInactivity => (settings.max_inactivity, Reason::MaxInactivity),
        TimeLimit::Deadline => (settings.deadline, Reason::Deadline),
        TimeLimit::Timeout | TimeLimit::SpecTimeout => return None,
    };
    Some(match policy {
        Some(TimeoutPolicy { expiry: Expiry::Error, .. }) => (Phase::Error, Some(reason)),
        Some(TimeoutPolicy { expiry: Expiry::Timeout, .. }) => (Phase::Timeout, None),
        Some(TimeoutPolicy { expiry: Expiry::Cancelled, .. }) | None => {
            (Phase::Cancelled, Some(Reason::TimeoutPolicy))
        }
    })
}
