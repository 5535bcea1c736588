//! Another run from what one left.

use axum::{http::StatusCode, response::Response};
use phasm::{Map, Rerun, RerunError, SubmitError, Value};

use crate::{answer::submitted, document, problem_response::ProblemResponse, request::RequestContext};

pub(crate) async fn rerun(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.done()?;
    let rerun = parse(&document::object(&mut context).await?)?;
    let row = context.run().await?;
    let new = context.app.host.rerun(&row.head.run_id, &rerun).await.map_err(refused)?;
    let run = new.start().await.map_err(|error| refused(error.into()))?;
    Ok(submitted(run.id(), &row.head.workflow, true))
}

fn parse(body: &Map) -> Result<Rerun, ProblemResponse> {
    let mut rerun = Rerun::default();
    for (name, value) in body {
        match (&**name, value) {
            ("fromFailed", Value::Bool(from_failed)) => rerun.from_failed = *from_failed,
            ("parameters", Value::Object(parameters)) => rerun.parameters = Map::clone(parameters),
            (other, _) => {
                let detail = format!(
                    "`{other}` is not expected so; expected `fromFailed`, true or false, and `parameters`, an object"
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
