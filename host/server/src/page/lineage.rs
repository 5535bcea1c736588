//! The run that a run repeats, and the runs that repeat it.

use std::sync::Arc;

use phasm::{
    Map, RERUN_LABEL,
    store::{Filter, RunRow},
};

use crate::{problem_response::ProblemResponse, request::RequestContext, runs::list};

/// Later runs that are looked through, the newest first: a store has no index of them.
const MAX_SCANNED_RUNS: u64 = 2_000;
/// Later runs that are shown.
const MAX_LATER: usize = 3;

/// The runs before and after one, as far as they are kept.
pub(super) struct RunLineage {
    /// The id of the run that it repeats.
    pub(super) of: Option<Arc<str>>,
    /// That run.
    pub(super) earlier: Option<RunRow>,
    /// Parameters of that run, if they may differ and it can be read.
    pub(super) parameters: Option<Arc<Map>>,
    /// The newest runs that repeat it.
    pub(super) later: Vec<RunRow>,
}

impl RunLineage {
    /// Looks the runs up. The journal of the earlier one is read only for parameters that may differ: not those of a plain rerun.
    pub(super) async fn of(
        context: &RequestContext,
        row: &RunRow,
        has_same_parameters: bool,
    ) -> Result<Self, ProblemResponse> {
        let store = context.app.reader();
        let of = row.head.labels.get(RERUN_LABEL).cloned();
        let earlier = match &of {
            Some(run_id) => store.get(run_id).await?.filter(|row| context.caller.sees(&row.head.namespace)),
            None => None,
        };
        let parameters = match earlier.as_ref().filter(|_| !has_same_parameters) {
            Some(earlier) => {
                let handle = context.app.host.run_of(earlier).counted_for(context.holder.clone());
                // The page of this run does not depend on that one.
                handle.outline(|run, _| Arc::clone(run.parameters())).await.ok()
            }
            None => None,
        };
        let later = if row.status.open {
            Vec::new()
        } else {
            let newest = list::newest(context).await?.unwrap_or_default();
            let filter = Filter {
                namespaces: vec![Arc::clone(&row.head.namespace)],
                label: Some((RERUN_LABEL.into(), Arc::clone(&row.head.run_id))),
                from: row.number.max(newest.saturating_sub(MAX_SCANNED_RUNS)),
                ..Filter::default()
            };
            store.list(filter, MAX_LATER).await?
        };
        Ok(Self { of, earlier, parameters, later })
    }
}
