//! A request to each route as a command of `curl`, made of the route.

use crate::route::{Route, Sends, Shape, Verb};

/// A server that examples name.
pub(super) struct ExampleServer<'s> {
    /// Its URL, without a slash at the end.
    pub(super) url: &'s str,
    /// Whether its requests need a key.
    pub(super) needs_key: bool,
}

/// Texts that stand for parts of a path; `$RUN` is a variable of the shell.
const SEGMENTS: [(&str, &str); 6] = [
    ("artifact", "$ARTIFACT"),
    ("run", "$RUN"),
    ("task", "approve"),
    ("namespace", "default"),
    ("version", "1.0.0"),
    ("value", "version"),
];

/// Names in paths, by the prefix of the path.
const NAMES: [(&str, &str); 3] =
    [("/v1/workflows/", "release"), ("/v1/schedules/", "nightly"), ("/v1/plugins/", "greet")];

/// Queries and bodies of routes that are of little use without.
const QUERIES: [(&str, &str); 6] = [
    ("putArtifact", "name=rows.csv"),
    ("submitRun", "param.version=2.0"),
    ("listRuns", "workflow=release&open&limit=10"),
    ("getRun", "wait=30s"),
    ("getEvents", "stream"),
    ("getLogs", "stream"),
];
const BODIES: [(&str, &str); 4] = [
    ("resumeTask", r#"{"approved": true, "comment": "as agreed"}"#),
    ("rerunRun", r#"{"fromFailed": true}"#),
    ("runWorkflow", r#"{"version": "2.0"}"#),
    ("triggerSchedule", r#"{"version": "2.0"}"#),
];

/// Returns the command that asks a server for a route.
pub(super) fn curl(route: &Route, server: &ExampleServer<'_>) -> String {
    let mut words = vec!["curl".to_owned(), if is_stream(route) { "-sSN" } else { "-sS" }.to_owned()];
    let body = body(route);
    let is_implied = match route.method {
        Verb::Get => true,
        Verb::Post => !body.is_empty(),
        Verb::Put | Verb::Delete => false,
    };
    if !is_implied {
        words.push(format!("-X {}", route.method.word().to_uppercase()));
    }
    words.push(format!("\"{}{}\"", server.url, address(route)));
    if server.needs_key && route.needs.is_some() {
        words.push("-H \"Authorization: Bearer $PHASM_KEY\"".to_owned());
    }
    words.extend(body);
    words.extend(
        route.answers.iter().any(|(.., shape)| *shape == Shape::File).then(|| "-o rows.csv".to_owned()),
    );
    let is_picture = route.answers.iter().any(|(.., shape)| *shape == Shape::Text("image/svg+xml"));
    words.extend(route.path.rsplit('/').next().filter(|_| is_picture).map(|file| format!("-o {file}")));
    words.join(" ")
}

fn is_stream(route: &Route) -> bool {
    known(&QUERIES, route.id) == Some("stream")
}

fn known(all: &[(&'static str, &'static str)], name: &str) -> Option<&'static str> {
    all.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The path with texts for its parts, and the query.
fn address(route: &Route) -> String {
    let part = |part: &'static str| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
        Some("name") => {
            NAMES.iter().find(|(prefix, _)| route.path.starts_with(prefix)).map_or("NAME", |(_, name)| *name)
        }
        Some(name) => known(&SEGMENTS, name).unwrap_or(name),
        None => part,
    };
    let path = route.path.split('/').map(part).collect::<Vec<_>>().join("/");
    known(&QUERIES, route.id).map_or_else(|| path.clone(), |query| format!("{path}?{query}"))
}

/// The options that send a body.
fn body(route: &Route) -> Vec<String> {
    let sends = |kind: &str, data: &str| vec![format!("-H 'Content-Type: {kind}'"), data.to_owned()];
    let file = if route.path.starts_with("/v1/schedules") { "nightly.yaml" } else { "release.yaml" };
    match (route.body, known(&BODIES, route.id)) {
        (Some(Sends::Document), _) => sends("application/yaml", &format!("--data-binary @{file}")),
        (Some(Sends::File), _) => sends("application/octet-stream", "--data-binary @rows.csv"),
        (Some(Sends::Plugin), _) => sends("application/wasm", "--data-binary @greet.wasm"),
        (Some(Sends::Answer | Sends::Rerun), Some(text)) => {
            sends("application/json", &format!("-d '{text}'"))
        }
        (Some(Sends::Answer | Sends::Rerun) | None, _) => Vec::new(),
    }
}
