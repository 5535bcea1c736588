//! Values of runs: which of them a view shows, and each by itself.
//!
//! ```text
//!  journal ── a few parts at a time ──▶ record ──▶ value ──▶ JSON text ──▶ client
//!                                                  └── room for its bytes is held until the text is sent ──┘
//! ```

use std::cell::Cell;

use axum::{body::Bytes, http::StatusCode, response::Response};
use phasm::{
    RunError, Value,
    engine::{
        json_size::json_size,
        run::{LeftOutValue, Run, ShownValue, ValueKind, ViewLimit},
    },
    fair_queue::Place,
    journal::{LargeValues, MAX_SHOWN_BYTES, MAX_VALUE_BYTES},
    tasks_named,
};

use crate::{
    client::segment,
    document::UNKNOWN_SIZE,
    problem_response::ProblemResponse,
    request::{RequestContext, json_text, text_of},
};

/// Once a view has values of so many bytes, it ends behind the task run.
const MAX_VIEW_BYTES: usize = 8 << 20;

/// Limit of one response.
pub(crate) struct ResponseLimit<'l> {
    run_id: &'l str,
    large: &'l LargeValues,
    bytes: Cell<usize>,
}

impl<'l> ResponseLimit<'l> {
    pub(crate) fn new(run: &'l Run, large: &'l LargeValues) -> Self {
        Self { run_id: run.id(), large, bytes: Cell::new(0) }
    }
}

/// Size of a value as JSON, in bytes.
pub(crate) enum ValueSize {
    /// Shown together with others.
    Small(usize),
    /// Too large for that; at most [`MAX_VALUE_BYTES`] are counted.
    Large(u64),
}

impl ValueSize {
    pub(crate) fn of(value: &Value, large: &LargeValues) -> Self {
        if let Some(bytes) = large.size(value) {
            return Self::Large(bytes);
        }
        match json_size(value, MAX_SHOWN_BYTES) {
            Some(bytes) => Self::Small(bytes),
            None => Self::Large(json_size(value, MAX_VALUE_BYTES).unwrap_or(MAX_VALUE_BYTES) as u64),
        }
    }
}

/// The path of a value.
pub(crate) fn path(run_id: &str, kind: ValueKind, owner: &str, name: &str) -> String {
    let name = segment(name);
    match kind {
        ValueKind::Parameter => format!("/v1/runs/{run_id}/parameters/{name}"),
        ValueKind::Input => format!("/v1/runs/{run_id}/tasks/{}/inputs/{name}", segment(owner)),
        ValueKind::Output => format!("/v1/runs/{run_id}/tasks/{}/outputs/{name}", segment(owner)),
    }
}

impl ViewLimit for ResponseLimit<'_> {
    fn left_out(&self, shown: ShownValue<'_>) -> Option<LeftOutValue> {
        let ShownValue { kind, owner, name, value } = shown;
        match ValueSize::of(value, self.large) {
            ValueSize::Small(bytes) => {
                self.bytes.set(self.bytes.get().saturating_add(bytes));
                None
            }
            ValueSize::Large(bytes) => {
                Some(LeftOutValue { bytes, href: path(self.run_id, kind, owner, name) })
            }
        }
    }

    fn is_full(&self) -> bool {
        self.bytes.get() > MAX_VIEW_BYTES
    }
}

pub(crate) async fn parameter(context: RequestContext) -> Result<Response, ProblemResponse> {
    one(context, ValueKind::Parameter).await
}

pub(crate) async fn input(context: RequestContext) -> Result<Response, ProblemResponse> {
    one(context, ValueKind::Input).await
}

pub(crate) async fn output(context: RequestContext) -> Result<Response, ProblemResponse> {
    one(context, ValueKind::Output).await
}

/// Why there is no such value.
#[derive(Clone, Copy)]
enum Missing {
    Task,
    Value,
}

/// A value, or the size of one that an outline lacks.
enum FoundValue {
    Value(Value),
    LeftOut(u64),
}

/// JSON text of a value, and its room in memory, which is given back when the last byte of it is sent or dropped.
struct PlacedText {
    text: Vec<u8>,
    _room: Option<Place>,
}

impl AsRef<[u8]> for PlacedText {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

/// Returns one value as JSON, whole.
async fn one(mut context: RequestContext, kind: ValueKind) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let handle = context.handle().await?;
    let (task, name) = (context.segment("task").to_owned(), context.segment("value").to_owned());
    let (reads, asked, wanted) = (handle.clone(), task.clone(), name.clone());
    let look = async move {
        let found = reads.outline(move |run, large| {
            find(run, kind, &asked, &wanted).map(|value| match large.size(&value) {
                Some(bytes) => FoundValue::LeftOut(bytes),
                None => FoundValue::Value(value),
            })
        });
        // The size of a value that the run has in memory is found here, and not where the run is driven.
        Ok::<_, RunError>(found.await?.map(|found| match found {
            FoundValue::Value(value) => ValueSize::of(&value, &LargeValues::default()),
            FoundValue::LeftOut(bytes) => ValueSize::Large(bytes),
        }))
    };
    let size = context.work_on(UNKNOWN_SIZE, look).await??.map_err(|missing| match missing {
        Missing::Task => ProblemResponse::no_task(handle.id(), &task),
        Missing::Value => {
            let word = match kind {
                ValueKind::Parameter => "parameter",
                ValueKind::Input => "input",
                ValueKind::Output => "output",
            };
            ProblemResponse::new(StatusCode::NOT_FOUND, format!("there is no {word} `{name}` here"))
        }
    })?;
    // A request that waits for room has no turn: it would keep others of its key from theirs.
    let room = match size {
        ValueSize::Small(_) => None,
        ValueSize::Large(bytes) => Some(context.room(bytes).await?),
    };
    let read = async move {
        // A value that was there stays there, unless the task has another result meanwhile.
        let value = handle.value(move |run| find(run, kind, &task, &name).ok()).await?.unwrap_or_default();
        let text = json_size(&value, MAX_VALUE_BYTES).map(|_| text_of(&value));
        Ok::<_, RunError>(text)
    };
    // Its parts may be shared in memory, and would be repeated in its text.
    let text = context.work_on(UNKNOWN_SIZE, read).await??.ok_or_else(|| {
        let detail =
            format!("the value has more than {MAX_VALUE_BYTES} bytes as JSON, and more are not sent");
        ProblemResponse::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    })?;
    Ok(json_text(StatusCode::OK, Bytes::from_owner(PlacedText { text, _room: room })))
}

fn find(run: &Run, kind: ValueKind, task: &str, name: &str) -> Result<Value, Missing> {
    let task = || tasks_named(run, task).next().ok_or(Missing::Task);
    let found = match kind {
        ValueKind::Parameter => run.parameters().get(name).cloned(),
        ValueKind::Input => {
            let inputs = &task()?.inputs;
            inputs.iter().find(|input| *input.name == *name).map(|input| input.value.visible())
        }
        ValueKind::Output => {
            let outputs = &task()?.outputs;
            outputs.iter().find(|output| *output.name == *name).map(|output| output.value.clone())
        }
    };
    found.ok_or(Missing::Value)
}
