//! Runs by the end of their ids, as lists show them and commands take them.

use axum::response::Response;
use phasm::store::Filter;

use super::see_other;
use crate::{problem_response::ProblemResponse, request::RequestContext};

/// Characters that an end of an id has at least.
const MIN_LENGTH: usize = 4;
/// Runs that are looked through, the newest first.
const MAX_RUNS: usize = 1000;

/// Returns where the run is whose id ends as the path says, if just one of the newest runs fits. It is for paths that are no whole id.
pub(super) async fn redirect(context: &RequestContext) -> Result<Option<Response>, ProblemResponse> {
    let wanted = context.segment("run").trim_start_matches('…');
    if wanted.len() < MIN_LENGTH {
        return Ok(None);
    }
    let store = context.app.reader();
    let filter = Filter { namespaces: context.caller.namespaces.to_vec(), ..Filter::default() };
    let rows = store.list(filter, MAX_RUNS).await?;
    let mut fitting = rows.iter().filter(|row| row.head.run_id.ends_with(wanted));
    Ok(match (fitting.next(), fitting.next()) {
        (Some(row), None) => {
            let query = context.path_and_query().1.map(|query| format!("?{query}")).unwrap_or_default();
            Some(see_other(&format!("/runs/{}{query}", row.head.run_id)))
        }
        _ => None,
    })
}
