//! The interface to executors of tasks: the sandbox, or a fake of a test.

use std::{
    borrow::Cow,
    fmt::Write as _,
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Instant, SystemTime},
};

use phasm_engine::{outcome::Outcome, usage::ResourceUsage, value::Value};

use crate::{
    capability::dirs::DirGrant,
    origin::Origin,
    trace::{SpanId, TraceContext, TraceId},
};

/// One dispatch of one attempt, with everything an executor may know.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// Id of the workflow's run.
    pub run_id: Arc<str>,
    /// `metadata.name`.
    pub workflow: Arc<str>,
    /// `metadata.namespace`.
    pub namespace: Arc<str>,
    /// Id of the task run.
    pub task_run_id: Arc<str>,
    /// `taskName`.
    pub task: Arc<str>,
    /// `executor.type`.
    pub executor_type: Arc<str>,
    /// Number of the attempt, from 1; a resumed attempt keeps it.
    pub attempt: u32,
    /// Number of the dispatch, from 1; fences results.
    pub dispatch: u32,
    /// Whether the attempt was suspended and is called again.
    pub resumed: bool,
    /// Deadline: the earliest end of all clocks that run.
    pub deadline: Option<Instant>,
    /// `executor.config`, an object.
    pub config: Value,
    /// The bound inputs, in declared order.
    pub inputs: Arc<Vec<(Arc<str>, Value)>>,
    /// `resources.memory` in bytes; lowers the operator's limit, never raises it.
    pub memory: Option<u64>,
    /// Directories of this attempt alone, which its guest sees beside those that its plugin is granted.
    pub dirs: Vec<DirGrant>,
    /// Span of the run, if known. Without it the run has a trace of its own, and requests carry that.
    pub trace: Option<Arc<TraceContext>>,
}

impl Invocation {
    /// Returns the first dispatch of a task with this `executor.type`, without configuration, inputs or deadline. Tests and
    /// benchmarks of an executor change what they need.
    #[must_use]
    pub fn first(executor_type: &str) -> Self {
        Self {
            run_id: "run".into(),
            workflow: "workflow".into(),
            namespace: "default".into(),
            task_run_id: "run.task".into(),
            task: "task".into(),
            executor_type: executor_type.into(),
            attempt: 1,
            dispatch: 1,
            resumed: false,
            deadline: None,
            config: Value::Object(Arc::default()),
            inputs: Arc::default(),
            memory: None,
            dirs: Vec::new(),
            trace: None,
        }
    }

    /// Returns the tenant and the plugin that the work belongs to.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin { namespace: Arc::clone(&self.namespace), executor: Arc::clone(&self.executor_type) }
    }

    /// Returns the milliseconds that are left until the deadline.
    pub(crate) fn remaining_ms(&self) -> Option<u64> {
        let left = self.deadline?.saturating_duration_since(Instant::now());
        Some(u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
    }

    /// Returns a key that is the same for every execution of this dispatch, and different for any other.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        let Self { task_run_id, attempt, dispatch, .. } = self;
        // A task run's id starts with its run's.
        let mut key = String::with_capacity(task_run_id.len() + 22);
        // Writing into a string does not fail.
        let _ = write!(key, "{task_run_id}/{attempt}/{dispatch}");
        key
    }
}

impl Invocation {
    /// Returns the id of an attempt's span.
    #[must_use]
    pub fn span_of(task_run_id: &str, attempt: u32) -> SpanId {
        SpanId::of(&format!("{task_run_id}/{attempt}"))
    }

    /// Returns the span of the attempt, which is the same for every execution on every host.
    #[must_use]
    pub fn span(&self) -> TraceContext {
        let span = Self::span_of(&self.task_run_id, self.attempt);
        match &self.trace {
            Some(run) => run.with(span),
            None => TraceContext::new(TraceId::of_run(&self.run_id), span, true),
        }
    }
}

/// A finished request of an attempt to another system.
#[derive(Clone, Debug)]
pub struct HostCall {
    /// Span of the request.
    pub span: TraceContext,
    /// Method, such as `GET`.
    pub method: String,
    /// Target of the request, without its query and with secrets hidden.
    pub url: String,
    /// Start of the request.
    pub since: SystemTime,
    /// End of the request.
    pub until: SystemTime,
    /// Status of the response, if there was one.
    pub status: Option<u16>,
    /// Bytes that were sent and received.
    pub moved: (u64, u64),
    /// Reason of the failure, if it failed.
    pub failed: Option<String>,
}

/// Severity of a guest's log line.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    schemars::JsonSchema,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Finest level.
    Trace,
    /// For developers of the executor.
    Debug,
    /// For operators.
    Info,
    /// Something looks wrong.
    Warn,
    /// Something is wrong.
    Error,
}

impl Level {
    /// All levels, the finest first.
    pub const ALL: [Self; 5] = [Self::Trace, Self::Debug, Self::Info, Self::Warn, Self::Error];

    /// Returns the level as a word in lower case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Receives the output of an attempt while it runs.
pub trait Observer: Send + Sync {
    /// One log line.
    fn log(&self, level: Level, text: &str);
    /// Progress of the work: a fraction from 0 to 1 where known.
    fn progress(&self, fraction: Option<f64>, text: &str);
    /// A sign of life: heartbeat, output line, completed host call. `log` and `progress` imply it.
    fn activity(&self);
    /// Reports the resources that the attempt has used so far: from time to time while it computes, and when it has ended.
    /// Observers may ignore it, as an outcome carries the same figures.
    fn used(&self, _: ResourceUsage) {}
    /// Returns whether the attempt's output has subscribers. They are told first that the attempt has started.
    fn is_followed(&self) -> bool {
        false
    }
    /// Returns whether the attempt's requests are to be reported.
    fn is_traced(&self) -> bool {
        false
    }
    /// A request of the attempt has finished.
    fn called(&self, _: HostCall) {}
    /// Returns `text` with secrets hidden. Callers that cut text call this first, as half a secret is not recognised.
    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        text.into()
    }
    /// Returns whether the whole lines at the end of `text` may be the beginning of a secret. Callers hold such lines back until
    /// they have seen what follows.
    fn may_go_on(&self, _text: &str) -> bool {
        false
    }
}

/// Executes tasks.
pub trait Executor: Send + Sync {
    /// Executes one dispatch. Every failure is an [`Outcome`] (R-C1). Dropping the future aborts the attempt.
    fn execute(
        &self,
        invocation: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>>;

    /// Returns whether attempts of `executor_type` are free of side effects: they change nothing outside and make no requests.
    /// Such attempts begin before their start is durable (R-D6), and may begin again after a crash. Called at each dispatch, with
    /// the plugin that the type stood for when the run was submitted.
    fn is_pure(&self, _namespace: &Arc<str>, _executor_type: &str) -> bool {
        false
    }
}
