//! Another run from what one left.

use axum::{http::StatusCode, response::Response};
use phasm::{Map, Rerun, RerunError, SubmitError, Value};

use crate::{answer::submitted, call::Call, document, refusal::Refusal};

pub(crate) async fn rerun(mut call: Call) -> Result<Response, Refusal> {
    call.query.done()?;
    let rerun = asked(&document::object(&mut call).await?)?;
    let row = call.run().await?;
    let new = call.app.host.rerun(&row.head.run_id, &rerun).await.map_err(refused)?;
    let run = new.start().await.map_err(|error| refused(error.into()))?;
    Ok(submitted(run.id(), &row.head.workflow, true))
}

fn asked(body: &Map) -> Result<Rerun, Refusal> {
    let mut rerun = Rerun::default();
    for (name, value) in body {
        match (&**name, value) {
            ("fromFailed", Value::Bool(from_failed)) => rerun.from_failed = *from_failed,
            ("parameters", Value::Object(parameters)) => rerun.parameters = Map::clone(parameters),
            (other, _) => {
                let detail = format!(
                    "`{other}` is not expected so; expected `fromFailed`, true or false, and `parameters`, an object"
                );
                return Err(Refusal::new(StatusCode::BAD_REQUEST, detail));
            }
        }
    }
    Ok(rerun)
}

fn refused(error: RerunError) -> Refusal {
    if let RerunError::Submit(SubmitError::Problems(found)) = &error {
        return Refusal::problems("parameters", found);
    }
    error.into()
}
