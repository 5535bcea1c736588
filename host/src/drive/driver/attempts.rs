//! The attempts of a run that the dispatcher has: starting, stopping and ending them.

use std::{collections::BTreeMap, sync::Arc};

use phasm_engine::{
    event::{Command, Dispatch, Fence, InputValue, TaskId},
    outcome::Outcome,
    plan::PinnedExecutor,
    run::TaskRun,
    usage::ResourceUsage,
    value::Value,
};
use phasm_sandbox::executor::Invocation;
use tokio::task::AbortHandle;

use super::Driver;
use crate::{
    dispatch::{attempt::Attempt, backlog::Backlog, bounds::Bounds, signal::Signal, wire::OfferTerms},
    store::AttemptLog,
    tenants::environment::TenantEnvironment,
    watch::{
        attempt_log,
        observer::AttemptObserver,
        spans::{Calls, DrivenSpans},
    },
};

/// Attempts that the dispatcher has.
#[derive(Default)]
pub(super) struct Attempts {
    in_flight: BTreeMap<TaskId, InFlight>,
    pub(super) backlog: Backlog,
    /// The component that each executor type resolved to when the run was submitted.
    resolutions: BTreeMap<Arc<str>, Arc<str>>,
}

/// An attempt that the dispatcher has.
pub(super) struct InFlight {
    fence: Fence,
    handle: AbortHandle,
    observer: Arc<AttemptObserver>,
    /// Log of the attempt, if another host executed it and has reported its end.
    reported: Option<AttemptLog>,
}

impl InFlight {
    /// Returns the log of the attempt, which is over, if it has one.
    fn close(self) -> Option<AttemptLog> {
        let own = self.observer.close();
        self.reported.or(own)
    }
}

impl Attempts {
    pub(super) fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// The attempt of that fence, unless a later one has replaced it.
    fn get(&self, fence: Fence) -> Option<&InFlight> {
        self.in_flight.get(&fence.task).filter(|attempt| attempt.fence == fence)
    }

    /// Forgets an attempt that has ended; returns its log, if it has one.
    pub(super) fn remove(&mut self, fence: Fence) -> Option<AttemptLog> {
        self.get(fence)?;
        self.in_flight.remove(&fence.task)?.close()
    }

    /// Keeps at most `limit` bytes of the log of an attempt on another host, until the attempt's end comes.
    pub(super) fn keep(&mut self, fence: Fence, log: AttemptLog, limit: usize) {
        let attempt = self.in_flight.get_mut(&fence.task).filter(|attempt| attempt.fence == fence);
        if let Some(attempt) = attempt {
            attempt.reported = attempt_log::limited(log, limit);
        }
    }

    /// Closes the logs of attempts that `commands` stop.
    pub(super) fn close_logs(&mut self, commands: &[Command], logs: &mut Vec<AttemptLog>) {
        for command in commands {
            let Command::Abort(fence) = command else { continue };
            let attempt = self.in_flight.get_mut(&fence.task).filter(|attempt| attempt.fence == *fence);
            if let Some(InFlight { observer, reported, .. }) = attempt {
                let own = observer.close();
                logs.extend(reported.take().or(own));
            }
        }
    }

    /// Resources used by attempts that `commands` stop: they have no outcome that tells it.
    pub(super) fn used(&self, commands: &[Command]) -> Vec<(Fence, ResourceUsage)> {
        let used = self.stopped(commands).map(|attempt| (attempt.fence, attempt.observer.metered()));
        used.filter(|(_, metered)| !metered.is_nothing()).collect()
    }

    fn stopped<'a>(&'a self, commands: &'a [Command]) -> impl Iterator<Item = &'a InFlight> {
        commands.iter().filter_map(|command| match command {
            Command::Abort(fence) => self.get(*fence),
            Command::Dispatch(_) => None,
        })
    }

    pub(super) fn abort(&self, fence: Fence) {
        if let Some(attempt) = self.get(fence) {
            attempt.handle.abort();
        }
    }

    pub(super) fn abort_all(&self) {
        self.in_flight.values().for_each(|attempt| attempt.handle.abort());
    }
}

impl Driver {
    /// Whether nothing outside could tell that a command was carried out (R-D6).
    pub(super) fn is_pure(&mut self, command: &Command) -> bool {
        let Command::Dispatch(dispatch) = command else { return false };
        let resolution = self.resolution(&dispatch.executor_type);
        self.core.dispatcher.is_pure(&self.run.plan().namespace, &resolution)
    }

    /// The component that a type resolved to when the run was submitted, whatever it would resolve to by now.
    fn resolution(&mut self, executor_type: &Arc<str>) -> Arc<str> {
        if let Some(known) = self.attempts.resolutions.get(executor_type) {
            return Arc::clone(known);
        }
        let pinned = self.run.plan().executors.get(executor_type).and_then(PinnedExecutor::reference);
        let resolution = pinned.map_or_else(|| Arc::clone(executor_type), Arc::from);
        self.attempts.resolutions.insert(Arc::clone(executor_type), Arc::clone(&resolution));
        resolution
    }

    pub(super) fn carry_out(&mut self, commands: Vec<Command>) {
        for command in commands {
            match command {
                Command::Dispatch(dispatch) => self.dispatch(dispatch),
                Command::Abort(fence) => self.attempts.abort(fence),
            }
        }
    }

    fn dispatch(&mut self, dispatch: Dispatch) {
        let fence = dispatch.fence;
        let is_wanted = |task: &TaskRun| task.in_flight() && task.fence() == fence;
        if !self.run.task(fence.task).is_some_and(is_wanted) {
            // Stopped before it began: the attempt does not begin.
            self.inbox.send(Signal::Gone(fence).into());
            return;
        }
        let due = Some(self.clock.elapsed_at(dispatch.due));
        let bounds = Bounds { max_runtime: dispatch.max_runtime, max_inactivity: dispatch.max_inactivity };
        let offer = self.offer_terms(&dispatch);
        let invocation = match self.invocation(dispatch) {
            Ok(invocation) => invocation,
            Err(message) => {
                self.inbox.send(Signal::Finished(fence, Outcome::error(message)).into());
                return;
            }
        };
        let watchers = self.entry.watchers.clone();
        let observer = AttemptObserver::new(
            watchers,
            &self.run,
            fence,
            &self.environment().secrets,
            self.core.log_retention_bytes,
        );
        let observer = Arc::new(observer.tracing(Calls::of(self.core.tracer.as_ref(), &invocation)));
        let attempt = Attempt {
            fence,
            invocation,
            bounds,
            observer: Arc::clone(&observer) as _,
            inbox: self.inbox.sender(),
            backlog: self.attempts.backlog.clone(),
            tenant: Some(Arc::clone(&self.slots.claimant.tenant)),
            due,
            offer,
        };
        let handle = self.core.dispatcher.start(attempt);
        self.attempts.in_flight.insert(fence.task, InFlight { fence, handle, observer, reported: None });
    }

    /// The terms on which other hosts may execute an attempt, if there are other hosts.
    fn offer_terms(&self, dispatch: &Dispatch) -> Option<OfferTerms> {
        if !self.core.dispatcher.has_outbound() {
            return None;
        }
        let tenant = Arc::clone(&self.slots.claimant.tenant);
        Some(OfferTerms {
            dispatch: dispatch.clone(),
            plan: Arc::clone(self.run.plan()),
            any_executor: self.environment().plugins.is_none(),
            weight: self.core.environments.weight(&tenant),
            tenant,
            epoch: self.lease.epoch,
            priority: self.lease.head.priority,
        })
    }

    /// Reads secrets, for each dispatch anew (R-B9).
    ///
    /// # Errors
    /// A message for the attempt's outcome: a secret is missing, or an input does not fit the executor.
    fn invocation(&mut self, dispatch: Dispatch) -> Result<Invocation, String> {
        let executor_type = self.resolution(&dispatch.executor_type);
        let Dispatch { fence, .. } = dispatch;
        let mut inputs = Vec::with_capacity(dispatch.inputs.len());
        for binding in dispatch.inputs.iter() {
            let value = match &binding.value {
                InputValue::Value(value) => value.clone(),
                InputValue::SecretKeyRef(secret) => match self.environment().secrets.get(secret) {
                    Some(value) => Value::String(Arc::clone(value)),
                    None => {
                        return Err(format!(
                            "input {}: there is no secret {} with key {}; add it to [secrets] of the configuration",
                            binding.name, secret.name, secret.key
                        ));
                    }
                },
            };
            inputs.push((binding.name.clone(), value));
        }
        let plan = self.run.plan();
        let pinned = plan.executors.get(&dispatch.executor_type);
        let given = || inputs.iter().map(|(name, value)| (name, value));
        if let Some(complaint) = pinned.and_then(|pinned| pinned.check_inputs(&dispatch.config, given())) {
            return Err(complaint);
        }
        Ok(Invocation {
            run_id: self.run.id().clone(),
            workflow: plan.name.clone(),
            namespace: plan.namespace.clone(),
            task_run_id: self.run.task_run_id(fence.task).into(),
            task: dispatch.task_name,
            executor_type,
            attempt: fence.attempt,
            dispatch: fence.dispatch,
            resumed: dispatch.resumed,
            deadline: dispatch.deadline.and_then(|at| self.clock.instant(at)),
            config: dispatch.config,
            inputs: Arc::new(inputs),
            memory: dispatch.memory,
            dirs: Vec::new(),
            trace: self.spans.as_ref().map(DrivenSpans::context),
        })
    }

    /// The environment of the run's tenant.
    pub(super) fn environment(&self) -> &TenantEnvironment {
        self.core.environments.of(&self.lease.head.namespace)
    }
}
