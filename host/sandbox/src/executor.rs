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
    origin::Origin,
    trace::{SpanId, TraceContext, TraceId},
};

/// One dispatch of one attempt, with everything an executor may know.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The workflow's run.
    pub run_id: Arc<str>,
    /// `metadata.name`.
    pub workflow: Arc<str>,
    /// `metadata.namespace`.
    pub namespace: Arc<str>,
    /// The task run.
    pub task_run_id: Arc<str>,
    /// `taskName`.
    pub task: Arc<str>,
    /// `executor.type`.
    pub executor_type: Arc<str>,
    /// From 1; a resumed attempt keeps its number.
    pub attempt: u32,
    /// From 1; fences results.
    pub dispatch: u32,
    /// Whether the attempt was suspended and is called again.
    pub resumed: bool,
    /// When the earliest running clock ends the attempt.
    pub deadline: Option<Instant>,
    /// `executor.config`, an object.
    pub config: Value,
    /// The bound inputs, in declared order.
    pub inputs: Arc<Vec<(Arc<str>, Value)>>,
    /// `resources.memory` in bytes; lowers the operator's limit, never raises it.
    pub memory: Option<u64>,
    /// The run's own span, where that is known; without it the run is in a trace of its own, and what is asked of others says so.
    pub trace: Option<Arc<TraceContext>>,
}

impl Invocation {
    /// Returns the tenant and the plugin that the work belongs to.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin { namespace: Arc::clone(&self.namespace), executor: Arc::clone(&self.executor_type) }
    }

    /// Milliseconds that are left until the deadline.
    pub(crate) fn remaining_ms(&self) -> Option<u64> {
        let left = self.deadline?.saturating_duration_since(Instant::now());
        Some(u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
    }

    /// The same for every execution of this dispatch, different for any other.
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
    /// The number of an attempt's span.
    #[must_use]
    pub fn span_of(task_run_id: &str, attempt: u32) -> SpanId {
        SpanId::of(&format!("{task_run_id}/{attempt}"))
    }

    /// The span of the attempt: the same however often it is executed, and wherever.
    #[must_use]
    pub fn span(&self) -> TraceContext {
        let span = Self::span_of(&self.task_run_id, self.attempt);
        match &self.trace {
            Some(run) => run.with(span),
            None => TraceContext::new(TraceId::of_run(&self.run_id), span, true),
        }
    }
}

/// A request that an attempt has made of another system, and that is over.
#[derive(Clone, Debug)]
pub struct HostCall {
    /// Its span.
    pub span: TraceContext,
    /// Such as `GET`.
    pub method: String,
    /// Target of the request, without its query and with secrets hidden.
    pub url: String,
    /// When it began.
    pub since: SystemTime,
    /// When it was over.
    pub until: SystemTime,
    /// Status of the response, if there was one.
    pub status: Option<u16>,
    /// Bytes that were sent, and that came back.
    pub moved: (u64, u64),
    /// Why it came to nothing, if it did.
    pub failed: Option<String>,
}

/// Severity of a guest's log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Finest.
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
    /// The finest first.
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

/// Hears what an attempt says while it runs.
pub trait Observer: Send + Sync {
    /// One log line.
    fn log(&self, level: Level, text: &str);
    /// How far the work is: a fraction from 0 to 1 where known.
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
    /// A request that it made is over.
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

/// Does one task's work.
pub trait Executor: Send + Sync {
    /// Executes one dispatch. Whatever goes wrong is an [`Outcome`] (R-C1). Dropping the future aborts the attempt.
    fn execute(
        &self,
        invocation: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>>;

    /// Whether nothing outside can tell that an attempt of `executor_type` has begun, as it changes nothing there and asks for nothing. Its
    /// attempts begin before it is durable that they do (R-D6); after a crash they may begin again, as if they never had. Asked at each
    /// dispatch, with what the type stood for when the run was submitted.
    fn is_pure(&self, _namespace: &Arc<str>, _executor_type: &str) -> bool {
        false
    }
}
