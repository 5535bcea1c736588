//! The API as a page, without a script: routes by task, each with its parameters, responses and an example.

use axum::response::Response;
use maud::{Markup, html};

use super::{
    curl::{ExampleServer, curl},
    segments,
};
use crate::{
    auth::caller::Role,
    page::{API, Shell, format, server_url},
    request::RequestContext,
    route::{Parameter, Route},
};

/// Routes of one task, by their ids.
struct Section {
    /// The fragment of its address.
    anchor: &'static str,
    title: &'static str,
    routes: &'static [&'static str],
}

const SECTIONS: [Section; 10] = [
    Section { anchor: "submit", title: "Submit", routes: &["submitRun", "rerunRun", "validateDocument"] },
    Section {
        anchor: "read",
        title: "Read runs",
        routes: &[
            "listRuns",
            "getRun",
            "getTask",
            "getParameter",
            "getInput",
            "getOutput",
            "getGraph",
            "getNotices",
        ],
    },
    Section { anchor: "follow", title: "Follow runs", routes: &["getEvents", "getLogs"] },
    Section {
        anchor: "artifacts",
        title: "Artifacts",
        routes: &["putArtifact", "listArtifacts", "getArtifact"],
    },
    Section {
        anchor: "respond",
        title: "Approve, reject, cancel",
        routes: &["resumeTask", "cancelTask", "cancelRun"],
    },
    Section {
        anchor: "workflows",
        title: "Saved workflows",
        routes: &[
            "listWorkflows",
            "getWorkflow",
            "putWorkflow",
            "removeWorkflow",
            "getWorkflowDocument",
            "runWorkflow",
            "getWorkflowBadge",
        ],
    },
    Section {
        anchor: "schedules",
        title: "Schedules",
        routes: &[
            "listSchedules",
            "getSchedule",
            "putSchedule",
            "removeSchedule",
            "getScheduleDocument",
            "getNextInstants",
            "suspendSchedule",
            "resumeSchedule",
            "triggerSchedule",
            "getScheduleBadge",
        ],
    },
    Section {
        anchor: "plugins",
        title: "Plugins",
        routes: &[
            "listPlugins",
            "getPlugin",
            "getPluginVersion",
            "putPlugin",
            "removePlugin",
            "approvePlugin",
        ],
    },
    Section {
        anchor: "server",
        title: "The server",
        routes: &["getHealth", "getReadiness", "getMetrics", "getOpenAPI", "getDocs"],
    },
    Section {
        anchor: "clients",
        title: "For Phasm's own clients",
        routes: &["listRows", "getRow", "makeTicket"],
    },
];

/// Returns the API of these routes as a page.
pub(crate) fn page(routes: &[&Route], context: &RequestContext) -> Response {
    let url = server_url(context);
    let server = ExampleServer { url: &url, needs_key: context.app.auth.caller(None).is_err() };
    let of = |section: &Section| {
        let find = |id: &&str| routes.iter().copied().find(|route| route.id == *id);
        section.routes.iter().filter_map(find).collect::<Vec<&Route>>()
    };
    let page = html! {
        h1 { "The API" }
        p { "For programs: " a href="/v1/openapi.json" { "the OpenAPI document" } "." }
        div class="api" {
            nav class="contents" aria-label="Sections" {
                ul { @for section in &SECTIONS { li { a href={ "#" (section.anchor) } { (section.title) } } } }
            }
            div {
                @for section in &SECTIONS {
                    section aria-labelledby=(section.anchor) {
                        h2 id=(section.anchor) { (section.title) }
                        @for route in of(section) { (entry(route, &server)) }
                    }
                }
            }
        }
    };
    Shell::new("The API", API, &context.caller).around(&page)
}

/// A route behind its first line. A link to what is inside opens it.
fn entry(route: &Route, server: &ExampleServer<'_>) -> Markup {
    let summary = route.what.split_once(". ").map_or(route.what, |(first, _)| first);
    html! {
        details class="route" {
            summary {
                code { span class="verb" { (route.method.word().to_uppercase()) } " " (route.path) }
                " " span class="none" { (format::prose(summary.trim_end_matches('.'))) }
            }
            div id=(route.id) { (details(route, server)) }
        }
    }
}

/// The meaning of a part of a path.
fn part(name: &str) -> &'static str {
    match name {
        "run" => "The id of a run.",
        "task" => "A task run, by `taskName`, by `scope/taskName` with `%2F`, or by its id.",
        "namespace" => "The namespace.",
        "version" => "A version, the beginning of one, or a digest.",
        "value" => "The name of the parameter, input or output.",
        _ => "The name.",
    }
}

fn details(route: &Route, server: &ExampleServer<'_>) -> Markup {
    let role = route.needs.map_or("no key", Role::word);
    let path = segments(route.path).map(|name| (name, part(name)));
    let given = route.query.iter().chain(route.headers).map(|Parameter { name, what, .. }| (*name, *what));
    let parameters: Vec<_> = path.chain(given).collect();
    html! {
        p { (format::prose(route.what)) " Needs: " (role) ". " a href={ "#" (route.id) } { "Link" span class="unseen" { " to " (route.id) } } }
        pre tabindex="0" data-copy { (curl(route, server)) }
        @if !parameters.is_empty() {
            dl class="values" { @for (name, what) in parameters { dt { code { (name) } } dd { (format::prose(what)) } } }
        }
        ul {
            @for (status, what, _) in route.answers { li { (status) ": " (format::prose(what)) } }
            @if !route.refusals.is_empty() {
                li { "refused with: " (route.refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")) }
            }
        }
    }
}
