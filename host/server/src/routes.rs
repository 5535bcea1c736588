//! Every route, once: how it is reached, who may, what it answers, and what carries it out. The router and the OpenAPI document are both made
//! of this table.

use std::{pin::Pin, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{Method, StatusCode},
    middleware,
    response::{IntoResponse as _, Response},
    routing::{MethodFilter, on},
};

use phasm::spans::on_behalf_of;

use crate::{
    app::App,
    call::Call,
    caller::{Caller, Role},
    guard::guard,
    health,
    metrics::Asked,
    openapi, page, plugins,
    refusal::Refusal,
    runs::{ask, events, get, kept, list, logs, notices, picture, rerun, submit, task},
    saved::{schedules, workflows},
    validate,
};

type Answered = Pin<Box<dyn Future<Output = Result<Response, Refusal>> + Send>>;

/// One route.
pub(crate) struct Route {
    pub(crate) method: Verb,
    pub(crate) path: &'static str,
    /// Its name in the document.
    pub(crate) id: &'static str,
    /// Who may; everybody, without a key, where it is nothing.
    pub(crate) needs: Option<Role>,
    pub(crate) what: &'static str,
    pub(crate) query: &'static [Parameter],
    pub(crate) headers: &'static [Parameter],
    pub(crate) body: Option<Sends>,
    /// What it answers where all is well.
    pub(crate) answers: &'static [(u16, &'static str, Shape)],
    /// Refusals of its own, besides those of all routes.
    pub(crate) refusals: &'static [u16],
    serve: fn(Call) -> Answered,
}

/// How a route is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Delete,
}

impl Verb {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
            Self::Delete => "delete",
        }
    }

    const fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}

/// A parameter of the query, or a header.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) kind: Kind,
}

/// What a parameter is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    /// Text that this regular expression describes.
    Like(&'static str),
    /// A length of time, a day or an instant.
    Since,
    Count(u32, u32),
    Flag,
    Phase,
    Length,
}

/// What a body holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sends {
    /// A document, JSON or YAML, or one beside its parameters.
    Document,
    /// An object of values by name; nothing is an empty one.
    Answer,
    /// A component.
    Plugin,
    /// What is to be other than it was.
    Rerun,
}

/// What an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Json(&'static str),
    /// JSON, or a stream of events where that is asked for.
    Streamed(&'static str),
    Text(&'static str),
    Nothing,
}

const fn parameter(name: &'static str, kind: Kind, what: &'static str) -> Parameter {
    Parameter { name, what, kind }
}

const LAST_EVENT: Parameter = parameter(
    "Last-Event-ID",
    Kind::Count(0, u32::MAX),
    "Of a stream: the last event that was had; it goes on behind it.",
);
const STREAM: Parameter = parameter("stream", Kind::Flag, "A stream, as with `Accept: text/event-stream`.");
const STANDING: (u16, &str, Shape) = (200, "The run after that.", Shape::Json("Run"));
const RESTED: (u16, &str, Shape) =
    (200, "With `wait`: the run, which has ended, or only suspended tasks keep it open.", Shape::Json("Run"));
const SUBMITTED: (u16, &str, Shape) =
    (202, "The run is durable and on its way; `Location` says where it is.", Shape::Json("Submitted"));

const IDEMPOTENCY: Parameter = parameter(
    "Idempotency-Key",
    Kind::Like(r#"^([!#-~]([ !#-~]{0,253}[!#-~])?|"[!#-~]([ !#-~]{0,253}[!#-~])?")$"#),
    "What you call this submission: of several with one key in a namespace there is one run.",
);
const SUBMITTING: &[Parameter] = &[IDEMPOTENCY, TRACE, TRACE_STATE];
/// Of what starts a run without a key of its own.
const STARTING: &[Parameter] = &[TRACE, TRACE_STATE];
const TRACE: Parameter = parameter(
    "traceparent",
    Kind::Text,
    "The span that the run is a part of, as W3C Trace Context has it; anything else counts as not said.",
);
const TRACE_STATE: Parameter = parameter(
    "tracestate",
    Kind::Text,
    "With `traceparent`: what systems on the way have added for themselves.",
);
const TENANT: Parameter = parameter("tenant", Kind::Text, "Of what this tenant alone has.");
const PARAMETER: Parameter = parameter("param.NAME", Kind::Text, "A value for the parameter NAME.");
const PARAMETERS: &[Parameter] = &[PARAMETER];
const WAIT: Parameter = parameter(
    "wait",
    Kind::Length,
    "Answer when it has ended, or only suspended tasks keep it open; after so long in any case.",
);
/// Which of what is kept by a name a list has.
const KEPT_LISTING: &[Parameter] = &[
    parameter("namespace", Kind::Text, "Only those of this namespace."),
    parameter("limit", Kind::Count(1, 1000), "The most to list; 100 by default."),
    parameter("cursor", Kind::Like("^[^/\u{0}]*/[^\u{0}]*$"), "`next` of the page before."),
];

/// What a document that is kept was called where it came from.
const KEEPING: &[Parameter] = &[parameter(
    "file",
    Kind::Like("^[^\\u0000-\\u001f\\u007f-\\u009f]+$"),
    "What the document's file is called: what its problems name, and what decides how it is read.",
)];

/// Which runs a list has.
const LISTING: &[Parameter] = &[
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

macro_rules! serve {
    ($function:path) => {
        |call| Box::pin($function(call))
    };
}

/// All of them.
pub(crate) static ROUTES: &[Route] = &[
    Route {
        method: Verb::Post,
        path: "/v1/runs",
        id: "submitRun",
        needs: Some(Role::Run),
        what: "Submits a run: a document, JSON or YAML, or `{document, parameters}`. `param.NAME=VALUE` gives a parameter as `-p` does.",
        query: &[PARAMETER, WAIT],
        headers: SUBMITTING,
        body: Some(Sends::Document),
        answers: &[RESTED, SUBMITTED],
        refusals: &[408, 413, 415, 422, 429],
        serve: serve!(submit::submit),
    },
    Route {
        method: Verb::Get,
        path: "/v1/runs",
        id: "listRuns",
        needs: Some(Role::Read),
        what: "Lists runs, the newest first. A page looks at a bounded number of runs: it may have none that fit and a `next` all the same.",
        query: LISTING,
        headers: &[],
        body: None,
        answers: &[(200, "A page of runs.", Shape::Json("Runs"))],
        refusals: &[],
        serve: serve!(list::list),
    },
    Route {
        method: Verb::Get,
        path: "/v1/runs/{run}",
        id: "getRun",
        needs: Some(Role::Read),
        what: "A run as it stands: what `phasm get --json` prints. `Link` says where more of its task runs are.",
        query: &[
            WAIT,
            parameter(
                "tasks",
                Kind::Count(0, 10_000),
                "The most task and hook runs to show; 1000 by default.",
            ),
            parameter(
                "after",
                Kind::Count(0, u32::MAX),
                "So many of them come before, in the order they came to be.",
            ),
        ],
        headers: &[parameter("If-None-Match", Kind::Text, "The `ETag` of an answer that was had.")],
        body: None,
        answers: &[(200, "The run.", Shape::Json("Run")), (304, "It is as it was.", Shape::Nothing)],
        refusals: &[404],
        serve: serve!(get::get),
    },
    Route {
        method: Verb::Get,
        path: "/v1/runs/{run}/events",
        id: "getEvents",
        needs: Some(Role::Read),
        what: "The events of a run: a page, or a stream of all from `since` on, none left out and none twice, until the event `end`. A \
               stream that ends before says why and where to go on in `end-of-stream`.",
        query: &[
            parameter("since", Kind::Count(0, u32::MAX), "The number of the first event."),
            parameter("limit", Kind::Count(1, 10_000), "The most of a page; 1000 by default."),
            STREAM,
        ],
        headers: &[LAST_EVENT],
        body: None,
        answers: &[
            (200, "A page of events, or the stream.", Shape::Streamed("Events")),
            (204, "Of a stream: there is nothing more.", Shape::Nothing),
        ],
        refusals: &[404, 429],
        serve: serve!(events::events),
    },
    Route {
        method: Verb::Get,
        path: "/v1/runs/{run}/logs",
        id: "getLogs",
        needs: Some(Role::Read),
        what: "What the attempts of a run wrote: what is kept, or a stream of `line` while they write where the run is driven here, and \
               of `log` with all that is kept when an attempt has ended.",
        query: &[
            parameter(
                "task",
                Kind::Text,
                "Only tasks of this name: `taskName`, `scope/taskName` or the task run's id.",
            ),
            parameter("attempt", Kind::Count(1, u32::MAX), "Only this attempt."),
            parameter("after", Kind::Count(0, u32::MAX), "`next` of the page before."),
            STREAM,
        ],
        headers: &[LAST_EVENT],
        body: None,
        answers: &[(200, "A page of logs, or the stream.", Shape::Streamed("Logs"))],
        refusals: &[404, 429],
        serve: serve!(logs::logs),
    },
    Route {
        method: Verb::Get,
        path: "/v1/runs/{run}/notices",
        id: "getNotices",
        needs: Some(Role::Read),
        what: "What somebody outside was told of a run, and what waits to be delivered: the latest first.",
        query: &[
            parameter(
                "limit",
                Kind::Count(1, 1000),
                "The most to list, and the others of the last event; 100 by default.",
            ),
            parameter("before", Kind::Count(0, u32::MAX), "`next` of the page before."),
        ],
        headers: &[],
        body: None,
        answers: &[(200, "A page of notices.", Shape::Json("Notices"))],
        refusals: &[404],
        serve: serve!(notices::notices),
    },
    Route {
        method: Verb::Get,
        path: "/v1/runs/{run}/tasks/{task}",
        id: "getTask",
        needs: Some(Role::Read),
        what: "A task run: by `taskName`, `scope/taskName` (with `%2F`) or its id; of several the first.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The task run.", Shape::Json("Task"))],
        refusals: &[404],
        serve: serve!(task::task),
    },
    Route {
        method: Verb::Post,
        path: "/v1/runs/{run}/cancel",
        id: "cancelRun",
        needs: Some(Role::Run),
        what: "Ends a run: every open task run is Cancelled.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[STANDING],
        refusals: &[404, 409],
        serve: serve!(ask::cancel),
    },
    Route {
        method: Verb::Post,
        path: "/v1/runs/{run}/tasks/{task}/cancel",
        id: "cancelTask",
        needs: Some(Role::Run),
        what: "Ends a task run; of several of that name the first that is open.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[STANDING],
        refusals: &[404, 409],
        serve: serve!(ask::cancel_task),
    },
    Route {
        method: Verb::Post,
        path: "/v1/runs/{run}/tasks/{task}/resume",
        id: "resumeTask",
        needs: Some(Role::Run),
        what: "Answers a suspended task with an object of values, which it is called again with.",
        query: &[],
        headers: &[],
        body: Some(Sends::Answer),
        answers: &[STANDING],
        refusals: &[404, 408, 409, 413, 415],
        serve: serve!(ask::resume),
    },
    Route {
        method: Verb::Post,
        path: "/v1/runs/{run}/rerun",
        id: "rerunRun",
        needs: Some(Role::Run),
        what: "Submits another run of what a run was of, from the beginning or from what had not succeeded.",
        query: &[],
        headers: STARTING,
        body: Some(Sends::Rerun),
        answers: &[SUBMITTED],
        refusals: &[404, 408, 409, 413, 415, 422, 429],
        serve: serve!(rerun::rerun),
    },
    Route {
        method: Verb::Get,
        path: "/v1/runs/{run}/graph.svg",
        id: "getGraph",
        needs: Some(Role::Read),
        what: "A run as a picture: what follows what and how far it is, as `phasm graph` draws it.",
        query: &[parameter(
            "timeline",
            Kind::Flag,
            "In time instead: attempts, delays and suspensions as bars.",
        )],
        headers: &[],
        body: None,
        answers: &[(200, "The picture.", Shape::Text("image/svg+xml"))],
        refusals: &[404],
        serve: serve!(picture::picture),
    },
    Route {
        method: Verb::Get,
        path: "/v1/schedules",
        id: "listSchedules",
        needs: Some(Role::Read),
        what: "Lists schedules, by namespace and name.",
        query: KEPT_LISTING,
        headers: &[],
        body: None,
        answers: &[(200, "A page of schedules.", Shape::Json("Schedules"))],
        refusals: &[],
        serve: serve!(schedules::list),
    },
    Route {
        method: Verb::Get,
        path: "/v1/schedules/{namespace}/{name}",
        id: "getSchedule",
        needs: Some(Role::Read),
        what: "A schedule: what it says, when it comes next, and what came of its instants.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The schedule.", Shape::Json("Schedule"))],
        refusals: &[404],
        serve: serve!(schedules::get),
    },
    Route {
        method: Verb::Put,
        path: "/v1/schedules/{namespace}/{name}",
        id: "putSchedule",
        needs: Some(Role::Run),
        what: "Keeps a document of kind CronWorkflow as the schedule of its name, or gives that another document.",
        query: KEEPING,
        headers: &[],
        body: Some(Sends::Document),
        answers: &[(200, "The schedule.", Shape::Json("Schedule"))],
        refusals: &[404, 408, 409, 413, 415, 422],
        serve: serve!(schedules::put),
    },
    Route {
        method: Verb::Delete,
        path: "/v1/schedules/{namespace}/{name}",
        id: "removeSchedule",
        needs: Some(Role::Run),
        what: "Removes a schedule. Its runs stay, and go on.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "It is gone.", Shape::Json("Removed"))],
        refusals: &[404],
        serve: serve!(schedules::remove),
    },
    Route {
        method: Verb::Post,
        path: "/v1/schedules/{namespace}/{name}/suspend",
        id: "suspendSchedule",
        needs: Some(Role::Run),
        what: "Has a schedule pause until it is resumed.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The schedule.", Shape::Json("Schedule"))],
        refusals: &[404],
        serve: serve!(schedules::suspend),
    },
    Route {
        method: Verb::Post,
        path: "/v1/schedules/{namespace}/{name}/resume",
        id: "resumeSchedule",
        needs: Some(Role::Run),
        what: "Has a schedule go on from now.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The schedule.", Shape::Json("Schedule"))],
        refusals: &[404],
        serve: serve!(schedules::resume),
    },
    Route {
        method: Verb::Get,
        path: "/v1/schedules/{namespace}/{name}/next",
        id: "getNextInstants",
        needs: Some(Role::Read),
        what: "When a schedule comes next.",
        query: &[parameter("count", Kind::Count(1, 1000), "So many instants; 5 by default.")],
        headers: &[],
        body: None,
        answers: &[(200, "The instants.", Shape::Json("Instants"))],
        refusals: &[404],
        serve: serve!(schedules::next),
    },
    Route {
        method: Verb::Post,
        path: "/v1/schedules/{namespace}/{name}/trigger",
        id: "triggerSchedule",
        needs: Some(Role::Run),
        what: "Has a schedule start a run now.",
        query: PARAMETERS,
        headers: STARTING,
        body: Some(Sends::Answer),
        answers: &[SUBMITTED],
        refusals: &[404, 408, 409, 413, 415, 422, 429],
        serve: serve!(schedules::trigger),
    },
    Route {
        method: Verb::Get,
        path: "/v1/schedules/{namespace}/{name}/document",
        id: "getScheduleDocument",
        needs: Some(Role::Read),
        what: "The document of a schedule, as it was given.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The document.", Shape::Text("text/plain"))],
        refusals: &[404],
        serve: serve!(schedules::document),
    },
    Route {
        method: Verb::Get,
        path: "/v1/workflows",
        id: "listWorkflows",
        needs: Some(Role::Read),
        what: "Lists saved workflows, by namespace and name.",
        query: KEPT_LISTING,
        headers: &[],
        body: None,
        answers: &[(200, "A page of workflows.", Shape::Json("Workflows"))],
        refusals: &[],
        serve: serve!(workflows::list),
    },
    Route {
        method: Verb::Get,
        path: "/v1/workflows/{namespace}/{name}",
        id: "getWorkflow",
        needs: Some(Role::Read),
        what: "A saved workflow and its versions, the last at the end.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The workflow.", Shape::Json("Workflow"))],
        refusals: &[404],
        serve: serve!(workflows::get),
    },
    Route {
        method: Verb::Put,
        path: "/v1/workflows/{namespace}/{name}",
        id: "putWorkflow",
        needs: Some(Role::Run),
        what: "Keeps a document as the workflow of its name, or as the next version of that.",
        query: KEEPING,
        headers: &[],
        body: Some(Sends::Document),
        answers: &[(200, "The workflow.", Shape::Json("Workflow"))],
        refusals: &[404, 408, 409, 413, 415, 422],
        serve: serve!(workflows::put),
    },
    Route {
        method: Verb::Delete,
        path: "/v1/workflows/{namespace}/{name}",
        id: "removeWorkflow",
        needs: Some(Role::Run),
        what: "Removes a workflow with all its versions. Its runs stay.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "It is gone.", Shape::Json("Removed"))],
        refusals: &[404],
        serve: serve!(workflows::remove),
    },
    Route {
        method: Verb::Get,
        path: "/v1/workflows/{namespace}/{name}/document",
        id: "getWorkflowDocument",
        needs: Some(Role::Read),
        what: "A version of a saved workflow, as it was given.",
        query: &[parameter(
            "version",
            Kind::Text,
            "The beginning of a version's digest; the last by default.",
        )],
        headers: &[],
        body: None,
        answers: &[(200, "The document.", Shape::Text("text/plain"))],
        refusals: &[404],
        serve: serve!(workflows::document),
    },
    Route {
        method: Verb::Post,
        path: "/v1/workflows/{namespace}/{name}/runs",
        id: "runWorkflow",
        needs: Some(Role::Run),
        what: "Submits a run of a saved workflow, with an object of parameters.",
        query: &[
            parameter("version", Kind::Text, "The beginning of a version's digest; the last by default."),
            PARAMETER,
            WAIT,
        ],
        headers: SUBMITTING,
        body: Some(Sends::Answer),
        answers: &[RESTED, SUBMITTED],
        refusals: &[404, 408, 413, 415, 422, 429],
        serve: serve!(workflows::run),
    },
    Route {
        method: Verb::Post,
        path: "/v1/tickets",
        id: "makeTicket",
        needs: Some(Role::Read),
        what: "A word that signs one browser in with the key of the request: once, and for a minute only, at `/login?ticket=`.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The word.", Shape::Json("Ticket"))],
        refusals: &[],
        serve: serve!(page::ticket::make),
    },
    Route {
        method: Verb::Get,
        path: "/v1/rows",
        id: "listRows",
        needs: Some(Role::Read),
        what: "Lists runs as their store has them, for another Phasm: the parameters are those of `listRuns`.",
        query: LISTING,
        headers: &[],
        body: None,
        answers: &[(200, "A page of rows.", Shape::Json("Rows"))],
        refusals: &[],
        serve: serve!(kept::rows),
    },
    Route {
        method: Verb::Get,
        path: "/v1/rows/{run}",
        id: "getRow",
        needs: Some(Role::Read),
        what: "A run as its store has it, for another Phasm: its row, and what is asked for of its journal and its logs.",
        query: &[
            parameter("since", Kind::Count(0, u32::MAX), "The records of its journal from this event on."),
            parameter(
                "wait",
                Kind::Length,
                "No records: answer once there are events from `since` on, or after so long.",
            ),
            parameter("logs", Kind::Flag, "What is kept of its attempts' logs."),
            parameter("task", Kind::Count(0, u32::MAX), "Of the logs, only those of this task run."),
        ],
        headers: &[],
        body: None,
        answers: &[(200, "The run.", Shape::Json("KeptRun"))],
        refusals: &[404],
        serve: serve!(kept::run),
    },
    Route {
        method: Verb::Post,
        path: "/v1/validate",
        id: "validateDocument",
        needs: Some(Role::Read),
        what: "Checks a document without running it.",
        query: &[],
        headers: &[],
        body: Some(Sends::Document),
        answers: &[(200, "It is valid; `warnings` may be worth a look.", Shape::Json("Validated"))],
        refusals: &[408, 413, 415, 422],
        serve: serve!(validate::validate),
    },
    Route {
        method: Verb::Get,
        path: "/v1/plugins",
        id: "listPlugins",
        needs: Some(Role::Read),
        what: "Lists the plugins that runs find, in the order that they are searched, and those that are held.",
        query: &[
            TENANT,
            parameter("limit", Kind::Count(1, 1000), "The most to list; 100 by default."),
            parameter(
                "cursor",
                Kind::Like("^[^/\u{0}]*/[0-9]{1,9}/[^/\u{0}]*/[^\u{0}]*$"),
                "`next` of the page before.",
            ),
        ],
        headers: &[],
        body: None,
        answers: &[(200, "A page of plugins.", Shape::Json("Plugins"))],
        refusals: &[],
        serve: serve!(plugins::list::list),
    },
    Route {
        method: Verb::Get,
        path: "/v1/plugins/{name}",
        id: "getPlugin",
        needs: Some(Role::Read),
        what: "All versions of a plugin.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "Its versions.", Shape::Json("PluginVersions"))],
        refusals: &[404],
        serve: serve!(plugins::list::named),
    },
    Route {
        method: Verb::Get,
        path: "/v1/plugins/{name}/{version}",
        id: "getPluginVersion",
        needs: Some(Role::Read),
        what: "What there is to know of a version, of the highest that begins so, or of a digest: as `phasm plugin inspect --json`.",
        query: &[TENANT],
        headers: &[],
        body: None,
        answers: &[(200, "The version.", Shape::Json("Plugin"))],
        refusals: &[404, 422],
        serve: serve!(plugins::list::version),
    },
    Route {
        method: Verb::Put,
        path: "/v1/plugins/{name}/{version}",
        id: "putPlugin",
        needs: Some(Role::Admin),
        what: "Adds a version: a component with its manifest in it, as `phasm plugin pack` makes it. It is compiled first. The same bytes again \
               change nothing.",
        query: &[TENANT],
        headers: &[
            parameter("Phasm-Signature", Kind::Text, "The signature, as base64 of what minisign writes."),
            parameter("If-None-Match", Kind::Text, "`*`: only if there is no such version."),
        ],
        body: Some(Sends::Plugin),
        answers: &[
            (201, "It was added; `Location` says where it is.", Shape::Json("AddedPlugin")),
            (200, "It was there, with these bytes.", Shape::Json("AddedPlugin")),
        ],
        refusals: &[404, 408, 409, 412, 413, 415, 422, 429],
        serve: serve!(plugins::change::put),
    },
    Route {
        method: Verb::Delete,
        path: "/v1/plugins/{name}/{version}",
        id: "removePlugin",
        needs: Some(Role::Admin),
        what: "Has a name stand for a version no more. Runs that were submitted with it go on: they have its component.",
        query: &[TENANT],
        headers: &[],
        body: None,
        answers: &[(200, "It is gone.", Shape::Json("Removed"))],
        refusals: &[404, 422],
        serve: serve!(plugins::change::remove),
    },
    Route {
        method: Verb::Post,
        path: "/v1/plugins/{name}/{version}/approve",
        id: "approvePlugin",
        needs: Some(Role::Admin),
        what: "Has a version be used that is held. It grants nothing.",
        query: &[TENANT],
        headers: &[],
        body: None,
        answers: &[(200, "It is approved.", Shape::Json("ApprovedPlugin"))],
        refusals: &[404, 422],
        serve: serve!(plugins::change::approve),
    },
    Route {
        method: Verb::Get,
        path: "/v1/openapi.json",
        id: "getOpenAPI",
        needs: None,
        what: "This document.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "OpenAPI 3.1.", Shape::Json("Any"))],
        refusals: &[],
        serve: serve!(openapi::document),
    },
    Route {
        method: Verb::Get,
        path: "/v1/docs",
        id: "getDocs",
        needs: None,
        what: "This document as a page.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The page.", Shape::Text("text/html"))],
        refusals: &[],
        serve: serve!(openapi::browsable),
    },
    Route {
        method: Verb::Get,
        path: "/healthz",
        id: "getHealth",
        needs: None,
        what: "Whether the server is there.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "It is.", Shape::Json("Status"))],
        refusals: &[],
        serve: serve!(health::healthz),
    },
    Route {
        method: Verb::Get,
        path: "/readyz",
        id: "getReadiness",
        needs: None,
        what: "Whether the server can do its work: its store can be read, and it is not being stopped.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "It can.", Shape::Json("Status"))],
        refusals: &[],
        serve: serve!(health::readyz),
    },
    Route {
        method: Verb::Get,
        path: "/metrics",
        id: "getMetrics",
        needs: Some(Role::Read),
        what: "What is measured, for Prometheus; of all namespaces, so not for keys that are bound to some.",
        query: &[],
        headers: &[],
        body: None,
        answers: &[(200, "The metrics.", Shape::Text("application/openmetrics-text"))],
        refusals: &[],
        serve: serve!(health::metrics),
    },
];

/// All routes, with what holds for each of them.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let api = ROUTES.iter().fold(Router::new(), |router, route| {
        let handler = move |State(app): State<Arc<App>>, request: Request| answer(app, route, request);
        router.route(route.path, on(route.method.filter(), handler))
    });
    api.merge(page::router())
        .fallback(nothing)
        .method_not_allowed_fallback(not_so)
        .layer(middleware::from_fn_with_state(Arc::clone(app), guard))
        .with_state(Arc::clone(app))
}

async fn answer(app: Arc<App>, route: &'static Route, request: Request) -> Response {
    let carried_out = carry_out(Arc::clone(&app), route, request);
    let mut response = if route.method == Verb::Get {
        carried_out.await
    } else {
        // What changes something is done and written down, whether the client stays or not.
        match tokio::spawn(carried_out).await {
            Ok(response) => submit::rested(&app, response).await,
            Err(error) => Refusal::failed(&error).into_response(),
        }
    };
    response.extensions_mut().insert(Asked(route.path));
    response
}

async fn carry_out(app: Arc<App>, route: &Route, request: Request) -> Response {
    let (method, path): (Method, String) = (request.method().clone(), request.uri().path().to_owned());
    let (caller, answered) = match Call::of(Arc::clone(&app), request, route.needs).await {
        Ok(call) => {
            let (caller, trace) = (Caller::clone(&call.caller), call.trace());
            (Some(caller), on_behalf_of(trace, (route.serve)(call)).await)
        }
        Err((caller, refusal)) => (caller, Err(refusal)),
    };
    let response = answered.unwrap_or_else(Refusal::into_response);
    app.audit.write(caller.as_ref(), &method, &path, response.status());
    response
}

async fn nothing(request: Request) -> Refusal {
    let detail = format!("there is nothing at {}; all there is: /v1/docs", request.uri().path());
    std::future::ready(Refusal::new(StatusCode::NOT_FOUND, detail)).await
}

async fn not_so(request: Request) -> Refusal {
    let detail = format!("{} cannot be asked with {}", request.uri().path(), request.method());
    std::future::ready(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, detail)).await
}
