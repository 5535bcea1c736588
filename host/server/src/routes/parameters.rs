//! Parameters and answers that several routes share.

use crate::route::{Kind, Parameter, Shape, parameter};

pub(super) const LAST_EVENT: Parameter = parameter(
    "Last-Event-ID",
    Kind::Count(0, u32::MAX),
    "For streams: the last event that was received. The stream continues after it.",
);
pub(super) const IF_NONE_MATCH: Parameter =
    parameter("If-None-Match", Kind::Text, "The `ETag` of an earlier response.");
pub(super) const BADGE_PARAMETERS: &[Parameter] = &[
    parameter("namespace", Kind::Text, "The namespace; `default` by default."),
    parameter("label", Kind::Text, "The text on the left; the name by default."),
];
pub(super) const BADGE_RESPONSES: &[(u16, &str, Shape)] =
    &[(200, "The badge.", Shape::Text("image/svg+xml")), (304, "Unchanged.", Shape::Nothing)];
pub(super) const STREAM: Parameter =
    parameter("stream", Kind::Flag, "A stream, as with `Accept: text/event-stream`.");
pub(super) const RUN_AFTER_REQUEST: (u16, &str, Shape) =
    (200, "The run after the request.", Shape::Json("Run"));
pub(super) const RUN_AFTER_WAIT: (u16, &str, Shape) = (
    200,
    "With `wait`: the run, once it has ended or only suspended tasks keep it open.",
    Shape::Json("Run"),
);
pub(super) const SUBMITTED: (u16, &str, Shape) =
    (202, "The run is durable and will start; `Location` is its address.", Shape::Json("Submitted"));

pub(super) const IDEMPOTENCY: Parameter = parameter(
    "Idempotency-Key",
    Kind::Like(r#"^([!#-~]([ !#-~]{0,253}[!#-~])?|"[!#-~]([ !#-~]{0,253}[!#-~])?")$"#),
    "Idempotency key: submitting the same twice with one key in a namespace starts one run; another workflow file or other parameters are refused with 409. The key is free again once its run is deleted.",
);
pub(super) const SUBMITTING: &[Parameter] = &[IDEMPOTENCY, TRACE, TRACE_STATE];
pub(super) const TRACE: Parameter = parameter(
    "traceparent",
    Kind::Text,
    "The parent span of the run (W3C Trace Context). Invalid values are ignored.",
);
pub(super) const TRACE_STATE: Parameter =
    parameter("tracestate", Kind::Text, "With `traceparent`: vendor-specific trace data.");
pub(super) const TENANT: Parameter = parameter("tenant", Kind::Text, "Use the plugins of this tenant only.");
pub(super) const PARAMETER: Parameter =
    parameter("param.NAME", Kind::Text, "A value for the parameter NAME.");
pub(super) const PARAMETERS: &[Parameter] = &[PARAMETER];
pub(super) const WAIT: Parameter = parameter(
    "wait",
    Kind::Length,
    "Longest time to wait until the run has ended or only suspended tasks keep it open.",
);
/// Which of what is kept by a name a list has.
pub(super) const SAVED_LISTING: &[Parameter] = &[
    parameter("namespace", Kind::Text, "Only entries in this namespace."),
    parameter("limit", Kind::Count(1, 1000), "The most to list; 100 by default."),
    parameter("cursor", Kind::Like("^[^/\u{0}]*/[^\u{0}]*$"), "`next` of the page before."),
];

/// The original file name of a saved document.
pub(super) const SAVE_PARAMETERS: &[Parameter] = &[parameter(
    "file",
    Kind::Like("^[^\\u0000-\\u001f\\u007f-\\u009f]+$"),
    "File name of the workflow. Errors name it, and its extension selects the format.",
)];

/// Which runs a list has.
pub(super) const LISTING: &[Parameter] = &[
    parameter("phase", Kind::Phase, "Only runs in this phase."),
    parameter("workflow", Kind::Text, "Only runs of this workflow."),
    parameter("namespace", Kind::Text, "Only runs of this namespace."),
    parameter("label", Kind::Like("^[^=]+="), "Only runs with this label, as `KEY=VALUE`."),
    parameter("since", Kind::Since, "Only runs submitted since then: `2h` ago, a day or a time, in UTC."),
    parameter("text", Kind::Text, "Only runs whose id, workflow, key or labels have this text."),
    parameter("open", Kind::Flag, "Only runs that have not ended."),
    parameter(
        "status",
        Kind::Like("^(running|suspended|waiting|queued|orphaned|ended)$"),
        "Only runs with this `status`: `suspended` waits for a person.",
    ),
    parameter("limit", Kind::Count(1, 1000), "The most to list; 100 by default."),
    parameter("cursor", Kind::Like("^[0-9]{1,19}$"), "`next` of the page before."),
];
