//! One attempt from its start to what follows from its result (R-C2, R-R4).

use std::sync::Arc;

use super::{
    Run,
    env::{AttemptSeen, Judged, View},
    node_at,
};
use crate::{
    event::{AttemptEnded, Clock, Event, Fence, Reason, TaskId, With},
    outcome::{Outcome, PhaseConditions, phase_of},
    phase::Phase,
    plan::{Recovery, Settings},
    run::state::TaskRun,
    time::Millis,
};

/// What follows an attempt.
pub(in crate::run) enum Next {
    /// Another one, after a pause.
    Retry(Millis),
    /// The task's end.
    End(Phase, Option<Reason>),
}

impl Run {
    /// The executor has started (R-T9).
    pub(in crate::run) fn started(&mut self, fence: Fence) {
        match self.current(fence) {
            Some(task) if task.phase == Phase::Ready => {}
            // A resumed attempt is Running since the resume.
            Some(task) if task.resumed => return,
            Some(_) | None => return self.drop_input(),
        }
        self.set_phase(fence.task, Phase::Running, None, None);
        self.emit(Event::AttemptStarted(fence));
        self.promote(fence.task, Phase::Running);
    }

    /// The executor has returned. A result for an attempt still Ready implies its start (R-P2).
    pub(in crate::run) fn finished(&mut self, fence: Fence, outcome: Outcome) {
        match self.current(fence) {
            Some(task) if task.phase == Phase::Ready => self.started(fence),
            Some(_) => {}
            None => return self.drop_input(),
        }
        self.conclude(fence.task, outcome, None);
    }

    /// The leaf whose current dispatch is in flight under `fence`; nothing else hears of the executor's side (R-R11).
    pub(in crate::run) fn current(&self, fence: Fence) -> Option<&TaskRun> {
        self.task(fence.task).filter(|task| task.attempt > 0 && task.fence() == fence && task.in_flight())
    }

    pub(in crate::run) fn drop_input(&mut self) {
        self.dropped += 1;
    }

    /// Maps an outcome to a phase and decides what follows. `expired` names the clock that ended the attempt.
    pub(in crate::run) fn conclude(&mut self, id: TaskId, outcome: Outcome, expired: Option<Clock>) {
        let plan = Arc::clone(&self.plan);
        let Some(task) = self.task(id) else { return };
        let node = node_at(&plan, task.place);
        let retries = task.retries();
        let mut outputs = task.outputs.clone();
        let Outcome { code, message, outputs: returned, detail } = outcome;
        let mut phase = phase_of(code);
        if phase == Phase::Suspended && task.hook.is_some() {
            // Nobody answers a hook (R-S12).
            phase = Phase::Error;
        }
        let attempt = AttemptSeen {
            detail: detail.unwrap_or_default(),
            duration: task.running_for(self.now),
            expired: expired.is_some(),
        };
        if outputs.is_empty() {
            outputs = Arc::new(returned);
        } else {
            super::merge_outputs(&mut outputs, returned);
        }
        let mut judged =
            Judged { phase, code: Some(code), message, outputs, retries, attempt, aggregated: None };
        let overridden = self.judge(id, &node.settings.phase_conditions, &mut judged);
        if judged.phase == Phase::Suspended {
            let with = With::Partial { message: judged.message, outputs: judged.outputs };
            self.set_phase(id, Phase::Suspended, None, Some(with));
            return;
        }
        judged.outputs = self.whitelisted(id, &judged);
        let Some(fence) = self.end_attempt(id, &judged) else { return };
        let expired = expired.filter(|_| !overridden);
        match self.decide(fence, &node.settings, &judged, expired) {
            Next::Retry(delay) => self.retry(fence, delay),
            Next::End(phase, reason) => self.end_task(id, phase, reason),
        }
    }

    /// Lets `phaseConditions` override the computed phase; true if one did (R-C2).
    pub(in crate::run) fn judge(
        &mut self,
        id: TaskId,
        conditions: &PhaseConditions,
        judged: &mut Judged,
    ) -> bool {
        let mut faults = Vec::new();
        let verdict = conditions.in_order().find_map(|(phase, condition)| {
            let view = View { result: Some(judged), ..View::new(self, self.task(id)?, condition.level) };
            let holds = condition.expr.test(&view).unwrap_or_else(|error| {
                faults.push(format!(
                    "phaseConditions.{} counts as false: {error}",
                    phase.as_str().to_lowercase()
                ));
                false
            });
            holds.then_some(phase)
        });
        for fault in faults {
            self.warn(Some(id), "phase-condition", fault);
        }
        if let Some(phase) = verdict {
            judged.phase = phase;
        }
        verdict.is_some()
    }

    fn end_attempt(&mut self, id: TaskId, judged: &Judged) -> Option<Fence> {
        let task = self.task(id)?;
        let fence = task.fence();
        self.emit(Event::AttemptEnded(Box::new(AttemptEnded {
            fence,
            phase: judged.phase,
            code: judged.code.unwrap_or_default(),
            message: judged.message.clone(),
            outputs: judged.outputs.clone(),
            duration_ms: judged.attempt.duration,
        })));
        Some(fence)
    }

    fn decide(&mut self, fence: Fence, settings: &Settings, judged: &Judged, expired: Option<Clock>) -> Next {
        let next = match &settings.recovery {
            Some(Recovery::Policy(policy)) if !policy.rules.is_empty() => {
                let verdict = self.evaluate_policy(fence, policy, judged);
                Self::follow(verdict, judged, fence.attempt)
            }
            Some(Recovery::Retry(policy)) if judged.phase != Phase::Succeeded => {
                self.decide_by_retry(fence, policy, judged)
            }
            Some(Recovery::Policy(_) | Recovery::Retry(_)) | None => Next::End(judged.phase, None),
        };
        match (next, expired.and_then(|clock| end_of(clock, settings))) {
            (Next::End(..), Some((phase, reason))) => Next::End(phase, reason),
            (next, _) => next,
        }
    }

    /// Ends the current attempt with `attempt_phase` and the task with `end`, asking nobody.
    pub(in crate::run) fn end_attempt_and_task(
        &mut self,
        id: TaskId,
        attempt_phase: Phase,
        code: i32,
        message: &str,
        end: (Phase, Option<Reason>),
    ) {
        let Some(task) = self.task(id) else { return };
        let judged = Judged {
            phase: attempt_phase,
            code: Some(code),
            message: message.into(),
            outputs: task.outputs.clone(),
            retries: task.retries(),
            attempt: AttemptSeen { duration: task.running_for(self.now), ..AttemptSeen::default() },
            aggregated: None,
        };
        if self.end_attempt(id, &judged).is_some() {
            self.end_task(id, end.0, end.1);
        }
    }

    /// Ends a task that had an attempt.
    pub(in crate::run) fn end_task(&mut self, id: TaskId, phase: Phase, reason: Option<Reason>) {
        self.set_phase(id, phase, reason, None);
        self.emit(Event::TaskEnded(id, phase == Phase::Succeeded));
    }

    /// Ends a task without an attempt to its name, or between two.
    pub(in crate::run) fn end_without_attempt(
        &mut self,
        id: TaskId,
        phase: Phase,
        reason: Option<Reason>,
        message: String,
    ) {
        let with =
            (!message.is_empty()).then(|| With::Result { message: message.into(), outputs: Arc::default() });
        self.end_with(id, phase, reason, with);
    }

    /// Ends a task whose last attempt, if it had any, is over or given up.
    pub(in crate::run) fn end_with(
        &mut self,
        id: TaskId,
        phase: Phase,
        reason: Option<Reason>,
        with: Option<With>,
    ) {
        let had_attempt = self.task(id).is_some_and(|task| task.attempt > 0);
        self.set_phase(id, phase, reason, with);
        if had_attempt {
            self.emit(Event::TaskEnded(id, false));
        }
    }
}

/// What the expiry of a Steep clock makes of the task (R-T4).
pub(in crate::run) fn end_of(clock: Clock, settings: &Settings) -> Option<(Phase, Option<Reason>)> {
    let (policy, reason) = match clock {
        Clock::MaxRuntime => (settings.max_runtime, Reason::MaxRuntime),
        Clock::MaxInactivity => (settings.max_inactivity, Reason::MaxInactivity),
        Clock::Deadline => (settings.deadline, Reason::Deadline),
        Clock::Timeout | Clock::SpecTimeout => return None,
    };
    Some(match policy {
        Some(policy) if policy.error_on_timeout => (Phase::Error, Some(reason)),
        Some(_) | None => (Phase::Cancelled, Some(Reason::TimeoutPolicy)),
    })
}
