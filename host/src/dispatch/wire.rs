//! The form of an attempt that goes to another host, and of the reports about it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use phasm_engine::{
    event::{Binding, Bindings, Dispatch, InputValue},
    outcome::{Outcome, Output},
    plan::{PinnedExecutor, Plan, SecretRef},
    time::Millis,
    usage::ResourceUsage,
    value::Value,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    dispatch::{bounds::Bounds, signal::Signal},
    secrets::Secrets,
    store::{AttemptLog, Offer},
};
use phasm_sandbox::{Digest, executor::Invocation};

/// Terms on which other hosts may execute an attempt. The offer itself is made only if there is no permit here.
pub(crate) struct OfferTerms {
    /// The dispatch with secrets by name: other hosts have secrets of their own.
    pub(crate) dispatch: Dispatch,
    pub(crate) plan: Arc<Plan>,
    /// Whether this host executes components of any digest, as it has an executor for tests.
    pub(crate) any_executor: bool,
    pub(crate) tenant: Arc<str>,
    /// Weight of the tenant in fair shares.
    pub(crate) weight: u32,
    /// Epoch of the run's lease.
    pub(crate) epoch: u64,
    /// Priority of the run.
    pub(crate) priority: u16,
}

impl OfferTerms {
    /// Makes the offer of `invocation` under `number`; none if no other host could execute it.
    pub(crate) fn offer(&self, number: u64, invocation: &Invocation, bounds: Bounds) -> Option<Offer> {
        let pinned = self.plan.executors.get(&self.dispatch.executor_type);
        let is_known = self.any_executor || pinned.is_some_and(|pinned| pinned.digest.is_some());
        if !is_known || self.dispatch.resumed {
            return None;
        }
        let body = OfferBody::of(invocation, bounds, &self.dispatch.inputs, pinned);
        Some(Offer {
            number,
            run_id: Arc::clone(&body.run_id),
            epoch: self.epoch,
            tenant: (Arc::clone(&self.tenant), self.weight),
            priority: self.priority,
            kind: body.kind(),
            body: bytes(&body),
        })
    }
}

/// An attempt, for a host that knows nothing of its run. Secrets are named.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OfferBody {
    run_id: Arc<str>,
    workflow: Arc<str>,
    pub(crate) namespace: Arc<str>,
    task_run_id: Arc<str>,
    task: Arc<str>,
    executor_type: Arc<str>,
    attempt: u32,
    dispatch: u32,
    /// Time until its deadline when it was offered, as the clocks of hosts differ.
    left: Option<Millis>,
    config: Value,
    inputs: Vec<Binding>,
    memory: Option<u64>,
    max_runtime: Option<Millis>,
    max_inactivity: Option<Millis>,
    pub(crate) pinned: Option<PinnedExecutor>,
    /// The run's place in its trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace: Option<Arc<str>>,
}

impl OfferBody {
    /// Makes the offer for an attempt that `invocation` would execute here.
    pub(crate) fn of(
        invocation: &Invocation,
        bounds: Bounds,
        inputs: &Bindings,
        pinned: Option<&PinnedExecutor>,
    ) -> Self {
        let left = |at: Instant| at.saturating_duration_since(Instant::now()).as_millis();
        Self {
            run_id: Arc::clone(&invocation.run_id),
            workflow: Arc::clone(&invocation.workflow),
            namespace: Arc::clone(&invocation.namespace),
            task_run_id: Arc::clone(&invocation.task_run_id),
            task: Arc::clone(&invocation.task),
            executor_type: Arc::clone(&invocation.executor_type),
            attempt: invocation.attempt,
            dispatch: invocation.dispatch,
            left: invocation.deadline.map(|at| Millis::try_from(left(at)).unwrap_or(Millis::MAX)),
            config: invocation.config.clone(),
            inputs: inputs.to_vec(),
            memory: invocation.memory,
            max_runtime: bounds.max_runtime,
            max_inactivity: bounds.max_inactivity,
            // Inputs and outputs are checked by the host that drives the run.
            pinned: pinned.map(|pinned| PinnedExecutor {
                plugin: pinned.plugin.clone(),
                digest: pinned.digest.clone(),
                grants: pinned.grants.clone(),
                ..PinnedExecutor::default()
            }),
            trace: invocation.trace.as_ref().map(|trace| trace.to_string().into()),
        }
    }

    /// Stands for the component, what it was granted, the secrets, and in whose place they are looked for.
    fn kind(&self) -> Arc<str> {
        let needs = (&self.namespace, &self.executor_type, &self.pinned, self.secrets().collect::<Vec<_>>());
        Digest::of(&bytes(&needs)).to_string().into()
    }

    /// The secrets that its inputs name.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &SecretRef> {
        self.inputs.iter().filter_map(|binding| match &binding.value {
            InputValue::SecretKeyRef(secret) => Some(secret),
            InputValue::Value(_) => None,
        })
    }

    pub(crate) fn bounds(&self) -> Bounds {
        Bounds { max_runtime: self.max_runtime, max_inactivity: self.max_inactivity }
    }

    /// The invocation here; none, if a secret is missing.
    pub(crate) fn invocation(self, secrets: &Secrets) -> Option<Invocation> {
        let value = |binding: Binding| match binding.value {
            InputValue::Value(value) => Some((binding.name, value)),
            InputValue::SecretKeyRef(secret) => {
                Some((binding.name, Value::String(Arc::clone(secrets.get(&secret)?))))
            }
        };
        let inputs: Option<Vec<_>> = self.inputs.into_iter().map(value).collect();
        Some(Invocation {
            run_id: self.run_id,
            workflow: self.workflow,
            namespace: self.namespace,
            task_run_id: self.task_run_id,
            task: self.task,
            executor_type: self.executor_type,
            attempt: self.attempt,
            dispatch: self.dispatch,
            resumed: false,
            deadline: self.left.and_then(|left| Instant::now().checked_add(Duration::from_millis(left))),
            config: self.config,
            inputs: Arc::new(inputs?),
            memory: self.memory,
            dirs: Vec::new(),
            trace: self.trace.and_then(|trace| trace.parse().ok()).map(Arc::new),
        })
    }
}

/// A report about an attempt.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) enum ReportBody {
    Started,
    Inactive,
    Interrupted(Option<LogBody>),
    Gone(Option<LogBody>),
    Finished(Box<OutcomeBody>, Option<LogBody>),
}

/// The log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogBody {
    cut: u64,
    text: String,
}

/// The outcome.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutcomeBody {
    code: i32,
    message: Arc<str>,
    outputs: Vec<Output>,
    detail: Option<Value>,
    #[serde(default, skip_serializing_if = "ResourceUsage::is_nothing")]
    metered: ResourceUsage,
}

impl ReportBody {
    /// Makes a report of a signal, with the log if the attempt is over.
    pub(crate) fn of(signal: Signal, log: impl FnOnce() -> Option<AttemptLog>) -> Option<(Self, bool)> {
        let log = || log().map(LogBody::from);
        Some(match signal {
            Signal::Started(..) => (Self::Started, false),
            Signal::Inactive(_) => (Self::Inactive, false),
            Signal::Interrupted(_) => (Self::Interrupted(log()), true),
            Signal::Gone(_) => (Self::Gone(log()), true),
            Signal::Finished(_, outcome) => (Self::Finished(Box::new(outcome.into()), log()), true),
            Signal::Lent(_) | Signal::Wrote(..) => return None,
        })
    }
}

impl From<AttemptLog> for LogBody {
    fn from(log: AttemptLog) -> Self {
        Self { cut: log.cut, text: String::from_utf8_lossy(&log.text).into_owned() }
    }
}

impl LogBody {
    pub(crate) fn log(self, fence: phasm_engine::event::Fence) -> AttemptLog {
        let phasm_engine::event::Fence { task, attempt, dispatch } = fence;
        let text = self.text.into_bytes();
        AttemptLog { task: task.0, attempt, dispatch, cut: self.cut, text, damaged: false }
    }
}

impl From<Outcome> for OutcomeBody {
    fn from(Outcome { code, message, outputs, detail, metered }: Outcome) -> Self {
        Self { code, message, outputs, detail, metered }
    }
}

impl From<OutcomeBody> for Outcome {
    fn from(OutcomeBody { code, message, outputs, detail, metered }: OutcomeBody) -> Self {
        Self { code, message, outputs, detail, metered }
    }
}

pub(crate) fn bytes(body: &impl Serialize) -> Arc<[u8]> {
    // Nothing in it is fallible.
    serde_json::to_vec(body).unwrap_or_default().into()
}

pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    // Values nest as deep as documents may.
    reader.disable_recursion_limit();
    T::deserialize(&mut reader).ok()
}
