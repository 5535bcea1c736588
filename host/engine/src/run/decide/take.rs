//! Input from outside, and the first step of a run that was read back.

use std::{collections::BTreeSet, sync::Arc};

use super::{Decider, bind::doubt_messages};
use crate::{
    event::{Basis, Event, Input, Requester, Rerun, Resumption, RunningQuota, SubmissionRecord, TaskId},
    phase::Phase,
    plan::ParameterDoubts,
    run::{Submission, state::TaskIndex},
    time::Timestamp,
    value::Map,
};

impl Decider<'_> {
    /// The run exists.
    pub(in crate::run) fn submit(&mut self, submission: Submission, rerun: Option<Arc<Rerun>>) {
        let Submission { run_id, parameters, doubts, facts, secrets, origin, trace, by } = submission;
        let plan = self.plan();
        let Basis { document, executors, warnings } = Basis::of(plan);
        let submitted = SubmissionRecord {
            run_id,
            document,
            parameters,
            facts,
            executors,
            secrets,
            origin,
            trace,
            by,
            rerun,
            settings: plan.setting_values(),
            warnings,
            defaults: Map::new(),
            basis: None,
        };
        self.emit(Event::Submitted(Box::new(submitted)));
        self.emit(Event::RunPhase(Phase::Created));
        for ParameterDoubts { parameter, doubts } in doubts {
            let messages: BTreeSet<_> = doubt_messages(doubts).collect();
            for (code, message) in messages {
                self.warn(None, code, format!("parameter `{parameter}`: {message}"));
            }
        }
        self.settle();
    }

    /// Waits due before now are served first, then the input, then waits due now (R-T7).
    pub(in crate::run) fn take(&mut self, input: Input) {
        if self.seq() == 0 {
            return self.drop_input();
        }
        let now = self.now();
        self.serve_waits(Timestamp(now.0.saturating_sub(1)));
        self.answer(input);
        self.settle();
        self.serve_waits(now);
    }

    fn answer(&mut self, input: Input) {
        match input {
            Input::Lent(slots) => self.dispatch_up_to(slots),
            Input::Held(quota) => self.held(quota),
            Input::Started(fence) => self.started(fence),
            Input::Finished(fence, outcome) => self.finished(fence, outcome),
            Input::Interrupted(fence) => self.interrupted(fence),
            Input::Metered(fence, metered) => self.metered(fence, metered),
            Input::Inactive(fence) => self.inactive(fence),
            Input::Resumed(task, payload, by) => self.resume(task, payload, by),
            Input::Cancelled(by) => self.cancel(by),
            Input::TaskCancelled(task, by) => self.cancel_task(task, by),
            Input::Tick => {}
        }
    }

    fn held(&mut self, quota: Option<RunningQuota>) {
        if self.quota() != quota.as_ref() {
            self.emit(Event::Held(quota));
        }
    }

    /// Answers a suspended task: merges the payload, sets Running and has the executor called again (R-S9).
    fn resume(&mut self, id: TaskId, payload: Map, by: Option<Requester>) {
        let suspended = self.find(id).filter(|id| self[*id].phase == Phase::Suspended);
        let Some(id) = suspended else { return self.drop_input() };
        // The host refuses answers that are too large before they come here.
        payload.values().for_each(|value| self.weight().add(value));
        self.emit(Event::Resumed(Resumption { task: id.into(), payload: Arc::new(payload), by }));
        self.set_phase(id, Phase::Running, None, None);
        self.command_dispatch(id, self.now());
    }

    /// Resumes a run that was read back (R-D3): waits that came due meanwhile are served first. Attempts that are in flight even
    /// then are dispatched again under the numbers they had (R-R11); an attempt in Running is recorded as started again, and
    /// `maxRuntime` counts from that start (R-T9). Tasks that are suspended, queued or in a delay stay so.
    pub(in crate::run) fn recover(&mut self) {
        let in_flight = self.tasks().iter().filter(|task| task.in_flight());
        let in_flight: Vec<_> = in_flight.map(|task| (task.index(), task.fence())).collect();
        for (id, _) in &in_flight {
            // Either it ends by another clock, or the start below sets this one.
            self.lose_attempt(*id);
        }
        self.take(Input::Tick);
        for (id, fence) in in_flight {
            if self.current(fence).is_some() {
                self.start_again(id);
            }
        }
    }

    fn start_again(&mut self, id: TaskIndex) {
        if self[id].phase == Phase::Running {
            let fence = self[id].fence();
            self.emit(Event::AttemptStarted(fence));
        }
        self.command_dispatch(id, self.now());
    }
}
