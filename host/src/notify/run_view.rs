//! A run as it is stored: its view, its row and its notifications.

use phasm_engine::run::RunView;
use serde::Serialize;

use super::NoticeSummary;
use crate::store::{
    RunRow,
    view::{RowWaits, RunState},
};

/// A run view with what the run's row and its notifications add, in the order of its members.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredRunView<'r> {
    /// The view of the run itself.
    #[serde(flatten)]
    pub view: &'r RunView,
    /// Word of [`RunState::label`]; absent where the row of an open run is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'static str>,
    /// The host that runs it, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<&'r str>,
    /// Reason why it waits, where a host lacked something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<RowWaits<'r>>,
    /// State of its notifications, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notices: Option<&'r NoticeSummary>,
}

impl<'r> StoredRunView<'r> {
    /// Returns the view of a run whose row is in that state. A run that has ended needs no row.
    #[must_use]
    pub fn of(
        view: &'r RunView,
        row: Option<(&'r RunRow, RunState)>,
        notices: Option<&'r NoticeSummary>,
    ) -> Self {
        let ended = view.phase.is_terminal().then_some(RunState::Ended);
        Self {
            view,
            status: row.map(|(_, state)| state).or(ended).map(RunState::label),
            host: row.and_then(|(row, state)| state.host(row)),
            waiting: row.and_then(|(row, state)| RowWaits::of(row, state)).filter(RowWaits::is_missing),
            notices,
        }
    }

    /// Returns the view of a run that the caller leaves as it is, without its row: one that has ended, or waits for a response.
    #[must_use]
    pub fn left(view: &'r RunView, is_parked: bool) -> Self {
        let status = is_parked.then(|| RunState::Parked.label());
        let shown = Self::of(view, None, None);
        Self { status: shown.status.or(status), ..shown }
    }
}
