//! Messages between a child that runs guests and its parent: frames of a length and that many bytes.

use std::{io, sync::Arc};

use phasm_engine::{usage::ResourceUsage, value::Value};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

#[cfg(feature = "http")]
use crate::capability::sockets::{TcpEvent, TcpRequest};
use crate::{
    attempt_context::AttemptContext,
    bindings::{self, phasm::executor::types::NamedValueResult},
    call_result::CallResult,
    capability::{
        dirs::{QuotaRequest, QuotaResponse},
        http::{RelayEvent, RelayRequest},
        refusals::Refusals,
    },
    executor::Invocation,
    fault::Fault,
    grants::Grants,
    limits::{Ceilings, Limits},
    transcript::GuestOutput,
};

/// Setup of a child. The plugin's machine code follows, in a frame of its own.
#[derive(Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) limits: Limits,
    pub(crate) grants: Grants,
    /// Maximum size of the headers of an HTTP message, in bytes.
    pub(crate) headers: u64,
}

/// One call, as the guest sees it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) run_id: String,
    pub(crate) workflow: String,
    pub(crate) namespace: String,
    pub(crate) task_run_id: String,
    pub(crate) task: String,
    pub(crate) executor_type: String,
    pub(crate) attempt: u32,
    pub(crate) dispatch: u32,
    pub(crate) resumed: bool,
    pub(crate) remaining_ms: Option<u64>,
    pub(crate) idempotency_key: String,
    pub(crate) config: String,
    pub(crate) inputs: Vec<(String, String)>,
    pub(crate) tenant: String,
    pub(crate) ceilings: Ceilings,
    /// Trace context of the run.
    pub(crate) trace: Option<String>,
}

impl Call {
    pub(crate) fn of(attempt: &AttemptContext) -> Self {
        let AttemptContext { invocation, tenant, ceilings, .. } = attempt;
        let Invocation { run_id, workflow, namespace, task_run_id, task, attempt, dispatch, resumed, .. } =
            invocation;
        let inputs = invocation.inputs.iter();
        Self {
            run_id: run_id.to_string(),
            workflow: workflow.to_string(),
            namespace: namespace.to_string(),
            task_run_id: task_run_id.to_string(),
            task: task.to_string(),
            executor_type: invocation.executor_type.to_string(),
            attempt: *attempt,
            dispatch: *dispatch,
            resumed: *resumed,
            remaining_ms: invocation.remaining_ms(),
            idempotency_key: invocation.idempotency_key(),
            config: invocation.config.to_json(),
            inputs: inputs.map(|(name, value)| (name.to_string(), value.to_json())).collect(),
            tenant: tenant.to_string(),
            ceilings: *ceilings,
            trace: invocation.trace.as_ref().map(ToString::to_string),
        }
    }
}

impl Call {
    /// Returns the invocation with the fields that the host's side of a call needs; the others reach the guest from this message.
    pub(crate) fn invocation(&self) -> Invocation {
        Invocation {
            run_id: self.run_id.as_str().into(),
            workflow: self.workflow.as_str().into(),
            namespace: self.namespace.as_str().into(),
            task_run_id: self.task_run_id.as_str().into(),
            task: self.task.as_str().into(),
            executor_type: self.executor_type.as_str().into(),
            attempt: self.attempt,
            dispatch: self.dispatch,
            resumed: self.resumed,
            deadline: None,
            config: Value::Null,
            inputs: Arc::default(),
            memory: None,
            dirs: Vec::new(),
            trace: self.trace.as_deref().and_then(|trace| trace.parse().ok()).map(Arc::new),
        }
    }
}

/// Message of a child to its parent.
#[derive(Serialize, Deserialize)]
pub(crate) enum ChildMessage<'s> {
    /// The child is locked in and waits for calls.
    Ready,
    /// Output of its guest.
    Output(#[serde(borrow)] GuestOutput<'s>),
    /// A message about its guest's requests.
    Http(#[serde(borrow)] RelayRequest<'s>),
    /// A message about its guest's connections.
    #[cfg(feature = "http")]
    Tcp(#[serde(borrow)] TcpRequest<'s>),
    /// Usage at the epoch that was announced.
    Usage(ResourceUsage),
    /// A request about a quota.
    Quota(QuotaRequest),
    /// The call could not be made.
    Failure(String),
    /// The call has ended.
    Result(WireResult),
}

/// Message to a child while it makes a call.
#[derive(Serialize, Deserialize)]
pub(crate) enum ParentMessage<'n> {
    /// Another epoch has begun: a guest that computes reports its usage.
    Epoch,
    /// An event of a request of its guest.
    Http(#[serde(borrow)] RelayEvent<'n>),
    /// An event of a connection of its guest.
    #[cfg(feature = "http")]
    Tcp(#[serde(borrow)] TcpEvent<'n>),
    /// The response to a request about quotas.
    Quota(QuotaResponse),
}

/// [`CallResult`] in serializable form.
#[derive(Serialize, Deserialize)]
pub(crate) struct WireResult {
    result: Result<Outcome, Fault>,
    refusals: Refusals,
    metered: ResourceUsage,
}

#[derive(Serialize, Deserialize)]
struct Outcome {
    code: i32,
    message: String,
    outputs: Vec<(String, String)>,
    detail: Option<String>,
}

impl From<CallResult> for WireResult {
    fn from(CallResult { result, refusals, metered }: CallResult) -> Self {
        let result = result.map(|bindings::Outcome { code, message, outputs, detail }| {
            let outputs = outputs.into_iter().map(|NamedValueResult { name, value }| (name, value)).collect();
            Outcome { code, message, outputs, detail }
        });
        Self { result, refusals, metered }
    }
}

impl From<WireResult> for CallResult {
    fn from(WireResult { result, refusals, metered }: WireResult) -> Self {
        let result = result.map(|Outcome { code, message, outputs, detail }| {
            let outputs = outputs.into_iter().map(|(name, value)| NamedValueResult { name, value }).collect();
            bindings::Outcome { code, message, outputs, detail }
        });
        Self { result, refusals: refusals.bounded(), metered }
    }
}

/// Returns a frame with `message` in it.
pub(crate) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = postcard::to_extend(message, vec![0; LENGTH_BYTES]).map_err(io::Error::other)?;
    let length = length(frame.len() - LENGTH_BYTES)?;
    frame.splice(..LENGTH_BYTES, length);
    Ok(frame)
}

/// Length of a frame's header, in bytes.
pub(crate) const LENGTH_BYTES: usize = 4;

/// Returns the header of a frame with `bytes` bytes.
pub(crate) fn length(bytes: usize) -> io::Result<[u8; LENGTH_BYTES]> {
    Ok(u32::try_from(bytes).map_err(io::Error::other)?.to_le_bytes())
}

/// Decodes the message in a frame.
pub(crate) fn decode<'f, T: Deserialize<'f>>(frame: &'f [u8]) -> io::Result<T> {
    postcard::from_bytes(frame).map_err(io::Error::other)
}

/// [`message`], for types that borrow nothing from the frame.
pub(crate) fn decode_owned<T: DeserializeOwned>(frame: &[u8]) -> io::Result<T> {
    decode(frame)
}
