//! Parameters and answers that several routes share.

use crate::route::{Kind, Parameter, Shape, parameter};

pub(super) const LAST_EVENT: Parameter = parameter(
    "Last-Event-ID",
    Kind::Count(0, u32::MAX),
    "Of a stream: the last event that was had; it goes on behind it.",
);
pub(super) const STREAM: Parameter =
    parameter("stream", Kind::Flag, "A stream, as with `Accept: text/event-stream`.");
pub(super) const STANDING: (u16, &str, Shape) = (200, "The run after that.", Shape::Json("Run"));
pub(super) const RESTED: (u16, &str, Shape) =
    (200, "With `wait`: the run, which has ended, or only suspended tasks keep it open.", Shape::Json("Run"));
pub(super) const SUBMITTED: (u16, &str, Shape) =
    (202, "The run is durable and on its way; `Location` says where it is.", Shape::Json("Submitted"));

pub(super) const IDEMPOTENCY: Parameter = parameter(
    "Idempotency-Key",
    Kind::Like(r#"^([!#-~]([ !#-~]{0,253}[!#-~])?|"[!#-~]([ !#-~]{0,253}[!#-~])?")$"#),
    "What you call this submission: of several with one key in a namespace there is one run.",
);
pub(super) const SUBMITTING: &[Parameter] = &[IDEMPOTENCY, TRACE, TRACE_STATE];
/// Headers of routes that start a run without an idempotency key.
pub(super) const STARTING: &[Parameter] = &[TRACE, TRACE_STATE];
pub(super) const TRACE: Parameter = parameter(
    "traceparent",
    Kind::Text,
    "The span that the run is a part of, as W3C Trace Context has it; anything else counts as not said.",
);
pub(super) const TRACE_STATE: Parameter = parameter(
    "tracestate",
    Kind::Text,
    "With `traceparent`: what systems on the way have added for themselves.",
);
pub(super) const TENANT: Parameter = parameter("tenant", Kind::Text, "Of what this tenant alone has.");
pub(super) const PARAMETER: Parameter =
    parameter("param.NAME", Kind::Text, "A value for the parameter NAME.");
pub(super) const PARAMETERS: &[Parameter] = &[PARAMETER];
pub(super) const WAIT: Parameter = parameter(
    "wait",
    Kind::Length,
    "Answer when it has ended, or only suspended tasks keep it open; after so long in any case.",
);
/// Which of what is kept by a name a list has.
pub(super) const KEPT_LISTING: &[Parameter] = &[
    parameter("namespace", Kind::Text, "Only those of this namespace."),
    parameter("limit", Kind::Count(1, 1000), "The most to list; 100 by default."),
    parameter("cursor", Kind::Like("^[^/\u{0}]*/[^\u{0}]*$"), "`next` of the page before."),
];

/// The original file name of a saved document.
pub(super) const KEEPING: &[Parameter] = &[parameter(
    "file",
    Kind::Like("^[^\\u0000-\\u001f\\u007f-\\u009f]+$"),
    "What the document's file is called: what its problems name, and what decides how it is read.",
)];

/// Which runs a list has.
pub(super) const LISTING: &[Parameter] = &[
    parameter("phase", Kind::Phase, "Only runs in this phase."),
    parameter("workflow", Kind::Text, "Only runs of this workflow."),
    parameter("namespace", Kind::Text, "Only runs of this namespace."),
    parameter("label", Kind::Like("^[^=]+="), "Only runs with this label, as `KEY=VALUE`."),
    parameter("since", Kind::Since, "Only runs submitted since then: `2h` ago, a day or an instant, in UTC."),
    parameter("text", Kind::Text, "Only runs whose id, workflow, key or labels have this text."),
    parameter("open", Kind::Flag, "Only runs that have not ended."),
    parameter("limit", Kind::Count(1, 1000), "The most to list; 100 by default."),
    parameter("cursor", Kind::Like("^[0-9]{1,19}$"), "`next` of the page before."),
];
