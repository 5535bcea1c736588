//! Runs by the end of their ids, as lists show them and commands take them.

use axum::response::Response;
use phasm::store::Filter;

use super::see_other;
use crate::{problem_response::ProblemResponse, request::RequestContext};

/// Characters that an end of an id has at least.
const MIN_LENGTH: usize = 4;
/// Runs that are looked through, the newest first.
const MAX_RUNS: usize = 1000;

/// Returns where the run is whose id ends so, if the path has no whole id and just one of the newest runs fits.
pub(super) async fn redirect(context: &RequestContext) -> Result<Option<Response>, ProblemResponse> {
    let wanted = context.segment("run").trim_start_matches('…');
    let store = context.app.reader();
    if wanted.len() < MIN_LENGTH || store.get(wanted).await?.is_some() {
        return Ok(None);
    }
    let filter = Filter { namespaces: context.caller.namespaces.to_vec(), ..Filter::default() };
    let rows = store.list(filter, MAX_RUNS).await?;
    let mut fitting = rows.iter().filter(|row| row.head.run_id.ends_with(wanted));
    Ok(match (fitting.next(), fitting.next()) {
        (Some(row), None) => Some(see_other(&format!("/runs/{}", row.head.run_id))),
        _ => None,
    })
}
