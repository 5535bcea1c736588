//! Where an answer leads: which routes take what it says.

use serde_json::{Map, Value, json};

use super::segments;
use crate::route::{Route, Verb};

/// Where answers have the value of a part of a path: those of routes whose path begins so.
///
/// Lists are left out: an empty one has no first entry to link to.
struct LinkRule {
    by: &'static [&'static str],
    status: u16,
    /// Parts of a path, and where the answer has them.
    parts: &'static [(&'static str, &'static str)],
    /// Prefix of the paths that have these parts.
    under: &'static str,
}

const LINK_RULES: &[LinkRule] = &[
    LinkRule {
        by: &["submitRun", "rerunRun", "triggerSchedule", "runWorkflow"],
        status: 202,
        parts: &[("run", "$response.body#/runID")],
        under: "/v1/runs/{run}",
    },
    LinkRule {
        by: &["getRun"],
        status: 200,
        parts: &[("run", "$request.path.run"), ("task", "$response.body#/tasks/1/taskName")],
        under: "/v1/runs/{run}/tasks/{task}",
    },
    LinkRule {
        by: &["putSchedule", "getSchedule"],
        status: 200,
        parts: &[("namespace", "$response.body#/namespace"), ("name", "$response.body#/name")],
        under: "/v1/schedules/{namespace}/{name}",
    },
    LinkRule {
        by: &["putWorkflow", "getWorkflow"],
        status: 200,
        parts: &[("namespace", "$response.body#/namespace"), ("name", "$response.body#/name")],
        under: "/v1/workflows/{namespace}/{name}",
    },
];

/// The links of an answer, by the routes that they lead to; nothing without any.
pub(super) fn of(route: &Route, status: u16, routes: &[&Route]) -> Option<Value> {
    let mut links = Map::new();
    for said in LINK_RULES.iter().filter(|said| said.status == status && said.by.contains(&route.id)) {
        for to in routes.iter().filter(|to| leads(said, route, to)) {
            let parameters: Map<_, _> =
                said.parts.iter().map(|(name, from)| ((*name).to_owned(), json!(from))).collect();
            links.insert(to.id.to_owned(), json!({ "operationId": to.id, "parameters": parameters }));
        }
    }
    (!links.is_empty()).then_some(Value::Object(links))
}

/// Whether all parts of a path are said; what puts a document says its own.
fn leads(said: &LinkRule, from: &Route, to: &Route) -> bool {
    let is_said = |name: &str| said.parts.iter().any(|(part, _)| *part == name);
    to.path.starts_with(said.under)
        && segments(to.path).all(is_said)
        && segments(to.path).count() == said.parts.len()
        && to.method != Verb::Put
        && to.id != from.id
}
