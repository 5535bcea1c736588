//! Checking a document without running it.

use axum::{http::StatusCode, response::Response};
use phasm::store::view::ProblemView;
use serde::Serialize;

use crate::{
    call::{Call, json},
    document::{self, Sent},
    refusal::Refusal,
};

/// Output of the command's `validate --json`.
#[derive(Serialize)]
struct Validated {
    problems: Vec<ProblemView>,
    warnings: Vec<ProblemView>,
}

pub(crate) async fn validate(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let Sent { name, bytes, draft, .. } = document::read(&mut call).await?;
    if let Some(namespace) = draft.namespace() {
        call.caller.may_submit_to(&namespace)?;
    }
    let plan = document::plan(&call, name, bytes, draft).await?;
    call.caller.may_submit_to(&plan.namespace)?;
    let warnings = plan.warnings.iter().map(|warning| ProblemView::of(name, warning)).collect();
    Ok(json(StatusCode::OK, &Validated { problems: Vec::new(), warnings }))
}
