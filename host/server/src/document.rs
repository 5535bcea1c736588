//! A document as it comes in a body: by itself, JSON or YAML, or beside its parameters.

use std::sync::Arc;

use axum::http::{StatusCode, header};
use phasm::{
    Map, Plan, Problem, Value,
    engine::{
        plan::Draft,
        tree::{Tree, TreeNode},
    },
    reader,
};

use crate::{problem_response::ProblemResponse, request::RequestContext};

/// Size of a document that was not sent, and may be large.
pub(crate) const UNKNOWN_SIZE: usize = usize::MAX;
/// Media types of a document in a request.
pub(crate) const JSON: &str = "application/json";
const YAML: [&str; 4] = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

/// A document, and the parameters beside it.
pub(crate) struct DocumentRequest {
    /// Name of the document in problems.
    pub(crate) name: &'static str,
    /// How large the body was.
    pub(crate) bytes: usize,
    pub(crate) draft: Draft,
    pub(crate) parameters: Map,
}

/// Reads a document.
///
/// # Errors
/// 415 for what is neither JSON nor YAML, 422 with every problem.
pub(crate) async fn read(context: &mut RequestContext) -> Result<DocumentRequest, ProblemResponse> {
    let name = file(context)?;
    let text = text(context).await?;
    context.work_on(text.len(), async move { sent(name, &text) }).await?
}

fn sent(name: &'static str, text: &str) -> Result<DocumentRequest, ProblemResponse> {
    let tree = reader::read(name, text).map_err(|found| ProblemResponse::problems(name, &found))?;
    let (name, draft, parameters) = match wrapped(&tree) {
        None if is_bare(&tree) => return Err(ProblemResponse::new(StatusCode::UNPROCESSABLE_ENTITY, BARE)),
        None => (name, Draft::read(&tree), Map::new()),
        Some(members) => unwrap(name, members)?,
    };
    Ok(DocumentRequest { name, bytes: text.len(), draft, parameters })
}

/// Plans a document of so many bytes.
///
/// # Errors
/// 422 with every problem.
pub(crate) async fn plan(
    context: &RequestContext,
    name: &str,
    bytes: usize,
    draft: Draft,
) -> Result<Arc<Plan>, ProblemResponse> {
    let host = Arc::clone(&context.app.host);
    let planned = context.work_on(bytes, async move { host.plan_draft(draft).await }).await?;
    planned.map_err(|found| ProblemResponse::problems(name, &found))
}

/// A document as it was written.
pub(crate) struct DocumentFile {
    /// Name of the document in problems.
    pub(crate) file: &'static str,
    pub(crate) text: String,
    pub(crate) draft: Draft,
}

/// Reads a document that comes by itself.
///
/// # Errors
/// The errors of [`read`].
pub(crate) async fn read_file(context: &mut RequestContext) -> Result<DocumentFile, ProblemResponse> {
    let file = file(context)?;
    let text = text(context).await?;
    let read = context.work_on(text.len(), async move {
        let tree = reader::read(file, &text).map_err(|found| ProblemResponse::problems(file, &found))?;
        Ok(DocumentFile { file, draft: Draft::read(&tree), text })
    });
    read.await?
}

/// Returns the name of the body's document in problems, which depends on its format.
fn file(context: &RequestContext) -> Result<&'static str, ProblemResponse> {
    match context.content_type().as_deref() {
        Some(JSON) => Ok("document.json"),
        Some(other) if YAML.contains(&other) => Ok("document.yaml"),
        other => {
            let found = other.unwrap_or("no Content-Type");
            let detail = format!(
                "{found}; expected {JSON} or {yaml}: curl needs -H 'Content-Type: {yaml}'",
                yaml = YAML[0]
            );
            let refusal = ProblemResponse::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail);
            Err(refusal.with(header::ACCEPT, "application/json, application/yaml"))
        }
    }
}

/// The body as text.
///
/// # Errors
/// 400 for what is no UTF-8.
pub(crate) async fn text(context: &mut RequestContext) -> Result<String, ProblemResponse> {
    let bytes = context.bytes().await?;
    String::from_utf8(bytes.into())
        .map_err(|_| ProblemResponse::new(StatusCode::BAD_REQUEST, "the body is not text; expected UTF-8"))
}

type Members = [(phasm::engine::tree::Key, Tree)];

/// The answer to parameters without a workflow file.
const BARE: &str = "the body has no workflow file: expected one, with `apiVersion`, `kind`, `metadata` and `spec`, or \
                    `{\"document\": …, \"parameters\": {…}}`. The route of a saved workflow takes parameters by themselves";

/// Returns whether a body has members, and none of them is a member of a workflow file.
fn is_bare(tree: &Tree) -> bool {
    const MEMBERS: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];
    let TreeNode::Object(members) = &tree.node else { return false };
    !members.is_empty() && !members.iter().any(|(key, _)| MEMBERS.contains(&&*key.name))
}

/// The members of an object that has a `document`, which no document has.
fn wrapped(tree: &Tree) -> Option<&Members> {
    let TreeNode::Object(members) = &tree.node else { return None };
    members.iter().any(|(key, _)| &*key.name == "document").then_some(members.as_slice())
}

fn unwrap(name: &'static str, members: &Members) -> Result<(&'static str, Draft, Map), ProblemResponse> {
    let (mut document, mut parameters) = (None, Map::new());
    for (key, tree) in members {
        match (&*key.name, &tree.node) {
            ("document", TreeNode::String(inner)) if document.is_none() => {
                let read = reader::read("document", inner)
                    .map_err(|found| ProblemResponse::problems("document", &found))?;
                document = Some(("document", read));
            }
            ("document", TreeNode::Object(_)) if document.is_none() => {
                document = Some((name, tree.clone()));
            }
            ("parameters", TreeNode::Object(given)) => {
                parameters.extend(given.iter().map(|(key, tree)| (Arc::clone(&key.name), tree.to_value())));
            }
            (other, _) => {
                let detail = format!(
                    "`{other}` is not expected here; expected `document`, an object or a text, and `parameters`, an object, each once"
                );
                return Err(ProblemResponse::new(StatusCode::BAD_REQUEST, detail));
            }
        }
    }
    // There is a `document`, as otherwise this was none.
    let (name, tree) = document.unwrap_or((name, Tree::from(&Value::Null)));
    Ok((name, Draft::read(&tree), parameters))
}

/// The body as an object of values by name; none without a body.
///
/// # Errors
/// 415, 400 for what is no object.
pub(crate) async fn object(context: &mut RequestContext) -> Result<Map, ProblemResponse> {
    let kind = context.content_type();
    let text = text(context).await?;
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    if kind.as_deref() != Some(JSON) {
        let found = kind.as_deref().unwrap_or("no Content-Type");
        let detail = format!("{found}; expected {JSON}: curl needs -H 'Content-Type: {JSON}'");
        return Err(
            ProblemResponse::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail).with(header::ACCEPT, JSON)
        );
    }
    let tree = reader::read("body.json", &text).map_err(|found| broken(&found))?;
    let value = tree.to_value();
    let Value::Object(map) = &value else {
        let detail = format!("{}; expected an object of values by name", value.type_name());
        return Err(ProblemResponse::new(StatusCode::BAD_REQUEST, detail));
    };
    Ok(Map::clone(map))
}

fn broken(found: &[Problem]) -> ProblemResponse {
    ProblemResponse::faults(
        found.iter().map(|problem| phasm::store::view::ProblemView::of("body.json", problem)).collect(),
    )
}
