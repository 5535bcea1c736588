//! Another run from what one left.

use std::sync::Arc;

use axum::{http::StatusCode, response::Response};
use phasm::{Map, Rerun, RerunError, SubmitError, Value, store::StoreError};

use super::submit::idempotency_key;
use crate::{answer::submitted, document, problem_response::ProblemResponse, request::RequestContext};

pub(crate) async fn rerun(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    let key = idempotency_key(&context)?;
    context.query.done()?;
    let by = context.caller.requester();
    let rerun = Rerun { by, ..parse(&document::object(&mut context).await?)? };
    let row = context.run().await?;
    let (host, of) = (Arc::clone(&context.app.host), Arc::clone(&row.head.run_id));
    let read = async move { host.rerun(&of, &rerun).await };
    let new = context.work_on(document::UNKNOWN_SIZE, read).await?.map_err(refused)?;
    let (run_id, is_new) = match new.key(key.as_deref()).start().await {
        Ok(run) => (Arc::clone(run.id()), true),
        Err(SubmitError::Store(StoreError::Exists { run_id })) => (run_id, false),
        Err(error) => return Err(refused(error.into())),
    };
    Ok(submitted(&run_id, &row.head.workflow, is_new))
}

fn parse(body: &Map) -> Result<Rerun, ProblemResponse> {
    let mut rerun = Rerun::default();
    for (name, value) in body {
        match (&**name, value) {
            ("fromFailed", Value::Bool(from_failed)) => rerun.from_failed = *from_failed,
            ("parameters", Value::Object(parameters)) => rerun.parameters = Map::clone(parameters),
            (other, _) => {
                let detail = format!(
                    "`{other}` is not expected here; expected `fromFailed`, true or false, and `parameters`, an object"
                );
                return Err(ProblemResponse::new(StatusCode::BAD_REQUEST, detail));
            }
        }
    }
    Ok(rerun)
}

fn refused(error: RerunError) -> ProblemResponse {
    if let RerunError::Submit(SubmitError::Problems(found)) = &error {
        return ProblemResponse::problems("parameters", found);
    }
    error.into()
}
