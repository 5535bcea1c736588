//! Checking a document without running it.

use axum::{http::StatusCode, response::Response};
use phasm::store::view::ProblemView;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    document::{self, DocumentRequest},
    problem_response::ProblemResponse,
    request::{RequestContext, json},
};

/// Output of the command's `validate --json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Validated")]
pub(crate) struct ValidationView {
    errors: Vec<ProblemView>,
    /// The earlier name of `errors`; a later format version will not have it.
    #[schemars(extend("deprecated" = true))]
    problems: Vec<ProblemView>,
    warnings: Vec<ProblemView>,
}

pub(crate) async fn validate(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let strict = context.query.flag("strict");
    context.query.done()?;
    let DocumentRequest { name, bytes, draft, .. } = document::read(&mut context).await?;
    if let Some(namespace) = draft.namespace() {
        context.caller.may_submit_to(&namespace)?;
    }
    let plan = document::plan(&context, name, bytes, draft).await?;
    context.caller.may_submit_to(&plan.namespace)?;
    let warnings = plan.warnings.iter().map(|warning| ProblemView::of(name, warning));
    let (is_bound, hidden) = (context.caller.is_bound(), &context.app.hidden_paths);
    let warnings: Vec<_> =
        warnings.map(|warning| if is_bound { hidden.hide_in(warning) } else { warning }).collect();
    if strict && !warnings.is_empty() {
        return Err(ProblemResponse::strict(warnings));
    }
    Ok(json(StatusCode::OK, &ValidationView { errors: Vec::new(), problems: Vec::new(), warnings }))
}
