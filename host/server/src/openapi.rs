//! The OpenAPI document, made of the table of routes.

mod curl;
mod links;
mod page;
mod schemas;

use axum::http::StatusCode;
use phasm::Phase;
use serde_json::{Map, Value, json};

pub(crate) use self::page::page;
use crate::{
    document::JSON,
    route::{Kind, Parameter, Route, Sends, Shape},
};

/// Returns the OpenAPI document of these routes.
pub(crate) fn document(routes: &[&Route]) -> Value {
    let mut paths = Map::new();
    for route in routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(path) = path.as_object_mut() {
            path.insert(route.method.word().to_owned(), operation(route, routes));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Phasm", "version": env!("CARGO_PKG_VERSION"), "description": ABOUT,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" } },
        "paths": paths,
        "components": { "schemas": schemas::all(),
            "securitySchemes": { "key": { "type": "http", "scheme": "bearer", "description": "A key, as `phasm key add` shows it." } } }
    })
}

const ABOUT: &str = "Submits workflows, follows runs and responds to tasks. Errors are problem details (RFC 9457). Objects have no other \
                     members in this version; later versions may add members, and clients must ignore unknown ones.";

fn operation(route: &Route, routes: &[&Route]) -> Value {
    let segments = segments(route.path)
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
    let query = route.query.iter().filter(|one| one.name != ANY_PARAMETER).map(|one| parameter(one, "query"));
    let headers = route.headers.iter().map(|one| parameter(one, "header"));
    let parameters: Vec<_> = segments.chain(query).chain(headers).collect();
    let mut operation = json!({ "operationId": route.id, "summary": route.what, "parameters": parameters,
        "responses": responses(route, routes) });
    let mut put = |name: &str, value: Value| {
        operation.as_object_mut().map(|object| object.insert(name.to_owned(), value))
    };
    if route.needs.is_some() {
        put("security", json!([{ "key": [] }, {}]));
        put("x-role", json!(route.needs.map(crate::auth::caller::Role::word)));
    }
    if let Some(sends) = route.body {
        put("requestBody", body(sends));
    }
    operation
}

/// Stands for any number of parameters, which the document cannot say.
const ANY_PARAMETER: &str = "param.NAME";

/// The names in a path.
pub(crate) fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn parameter(parameter: &Parameter, place: &str) -> Value {
    let schema = match parameter.kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Like(pattern) => json!({ "type": "string", "pattern": pattern }),
        Kind::Since => json!({ "anyOf": [
            { "type": "string", "pattern": "^[0-9]{1,9} *(ms|s|m|h|d)$" }, { "type": "string", "format": "date" },
            { "type": "string", "format": "date-time", "pattern": "Z$" }], "examples": ["2h"] }),
        Kind::Count(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Phase => json!({ "type": "string", "enum": Phase::ALL.map(Phase::as_str) }),
        Kind::Length => json!({ "type": "string", "pattern": LENGTH, "examples": ["30s"] }),
    };
    let mut shown =
        json!({ "name": parameter.name, "in": place, "description": parameter.what, "schema": schema });
    if let (Kind::Flag, Some(shown)) = (parameter.kind, shown.as_object_mut()) {
        // A name alone is `true`.
        shown.insert("allowEmptyValue".to_owned(), json!(true));
    }
    shown
}

/// Up to five minutes, which is the most unless an embedder says otherwise.
const LENGTH: &str = "^(([0-9]{1,5}|[12][0-9]{5}|300000)(ms)?|([0-9]{1,2}|[12][0-9]{2}|300)s|[0-5]m)$";

fn body(sends: Sends) -> Value {
    let (schema, required) = match sends {
        Sends::Plugin => return json!({ "required": true, "content": { "application/wasm": {} } }),
        // An empty file is one.
        Sends::File => return json!({ "required": false, "content": { "application/octet-stream": {} } }),
        Sends::Document => ("Document", true),
        Sends::Answer => ("Answer", false),
        Sends::Rerun => ("Rerun", false),
    };
    let mut content = json!({ JSON: { "schema": reference(schema) } });
    if sends == Sends::Document {
        let shown =
            json!({ "schema": reference(schema), "examples": { "greeting": { "value": example() } } });
        content = json!({ JSON: shown, "application/yaml": shown });
    }
    json!({ "required": required, "content": content })
}

/// A document that can be run where there is the plugin `echo`.
fn example() -> Value {
    json!({ "apiVersion": "phasm/v1", "kind": "Workflow", "metadata": { "name": "greetings" }, "spec": { "entrypoint": "main",
        "templates": [{ "task": { "name": "main", "executor": { "type": "echo" } } }] } })
}

fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

/// Refusals that every route has: of another origin, under another name.
const OF_ALL: [u16; 2] = [403, 421];
/// Refusals of routes that read the query and need a key, which has a share of each resource.
const OF_KEYS: [u16; 3] = [400, 401, 429];

fn responses(route: &Route, routes: &[&Route]) -> Value {
    let mut responses = Map::new();
    for (status, what, shape) in route.answers {
        let mut response = json!({ "description": what });
        let members = [
            ("content", content(*shape)),
            ("headers", headers(route, *status)),
            ("links", links::of(route, *status, routes)),
        ];
        for (name, value) in members {
            if let (Some(value), Some(object)) = (value, response.as_object_mut()) {
                object.insert(name.to_owned(), value);
            }
        }
        responses.insert(status.to_string(), response);
    }
    let keys = OF_KEYS.iter().filter(|_| route.needs.is_some());
    for status in OF_ALL.iter().chain(keys).chain(route.refusals) {
        let reason = StatusCode::from_u16(*status).ok().and_then(|status| status.canonical_reason());
        let mut response = refusal(reason.unwrap_or_default());
        if let (Some(headers), Some(object)) = (headers(route, *status), response.as_object_mut()) {
            object.insert("headers".to_owned(), headers);
        }
        responses.insert(status.to_string(), response);
    }
    responses.insert("5XX".to_owned(), refusal("The machine failed, or is being stopped."));
    Value::Object(responses)
}

/// Returns the headers of a response with that status.
fn headers(route: &Route, status: u16) -> Option<Value> {
    let header = |name: &str, required: bool, what: &str, schema: Value| {
        Some(json!({ name: { "description": what, "required": required, "schema": schema } }))
    };
    let text = json!({ "type": "string" });
    let pages = route.query.iter().any(|one| ["limit", "tasks"].contains(&one.name));
    match status {
        202 => header(
            "Location",
            true,
            "Where the run is.",
            json!({ "type": "string", "pattern": "^/v1/runs/" }),
        ),
        200 if route.id == "getRun" => Some(json!({
            "ETag": { "description": "Digest of the response.", "required": true, "schema": { "type": "string", "pattern": "^\"[0-9a-f]+\"$" } },
            "Link": { "description": "Where the next page is, if there is one.", "schema": text } })),
        200 if route.answers.iter().any(|(status, ..)| *status == 304) => header(
            "ETag",
            true,
            "Digest of the response.",
            json!({ "type": "string", "pattern": "^\"[0-9a-f]+\"$" }),
        ),
        200 if pages => header("Link", false, "Where the next page is, if there is one.", text),
        304 => header("ETag", true, "Digest of the response, had it been sent.", text),
        401 => header("WWW-Authenticate", true, "The authentication scheme.", text),
        415 => header("Accept", true, "The media types that are read.", text),
        429 => header("Retry-After", true, "Seconds.", json!({ "type": "integer", "minimum": 1 })),
        _ => None,
    }
}

fn refusal(what: &str) -> Value {
    json!({ "description": what, "content": { "application/problem+json": { "schema": reference("Problem") } } })
}

fn content(shape: Shape) -> Option<Value> {
    match shape {
        Shape::Json(schema) => Some(json!({ JSON: { "schema": reference(schema) } })),
        Shape::Streamed(schema) => Some(json!({ JSON: { "schema": reference(schema) },
            "text/event-stream": { "schema": { "type": "string" } } })),
        Shape::Text(kind) => Some(json!({ kind: { "schema": { "type": "string" } } })),
        Shape::File => Some(json!({ "application/octet-stream": {} })),
        Shape::Nothing => None,
    }
}
