//! How many runs there are of each status, for the chips above the list.

use std::{collections::BTreeMap, sync::Arc};

use maud::Markup;
use phasm::{
    Phase,
    clock::Clock,
    store::{
        Filter,
        view::{Presence, RunState},
    },
};

use super::format;
use crate::{problem_response::ProblemResponse, request::RequestContext, runs::list};

/// Runs that are counted at most, of those that are open and of those that have ended: what more there are is a plus sign.
const MAX_COUNTED: usize = 500;
/// Ended runs are counted for so long after their submission, as the filter of the list has it.
const PERIOD: &str = "24h";

/// Runs by status.
pub(super) struct StatusCounts {
    /// Statuses of the newest open runs.
    open: Vec<RunState>,
    /// Numbers of the newest runs that have ended.
    ended: BTreeMap<Phase, usize>,
    /// Whether more runs have ended than were counted.
    is_more_ended: bool,
}

/// One count, and the filter of the runs that it counts.
pub(super) struct Chip {
    pub(super) word: &'static str,
    pub(super) class: &'static str,
    pub(super) count: String,
    pub(super) title: &'static str,
    pub(super) filter: Vec<(&'static str, &'static str)>,
    phase: Phase,
}

impl Chip {
    /// Whether it counts runs of the last 24 hours.
    pub(super) fn is_recent(&self) -> bool {
        self.filter.iter().any(|(name, _)| *name == "since")
    }

    /// The period that it counts, and the meaning of its phase.
    pub(super) fn explained(&self) -> String {
        let meaning = if self.is_recent() { format::meaning(self.phase) } else { "" };
        format!("{}{meaning}", self.title)
    }

    pub(super) fn sign(&self) -> Markup {
        format::sign(self.phase)
    }
}

impl StatusCounts {
    /// Counts the newest runs that the caller may see.
    pub(super) async fn read(context: &RequestContext) -> Result<Self, ProblemResponse> {
        let store = context.app.reader();
        let namespaces: Vec<Arc<str>> = context.caller.namespaces.to_vec();
        let open = Filter { namespaces: namespaces.clone(), open: true, ..Filter::default() };
        let open = store.list(open, MAX_COUNTED).await?;
        let presence = Presence::of(&*store, true, &open).await?;
        let since = list::since(PERIOD, Clock::start().now());
        let recent = store.list(Filter { namespaces, since, ..Filter::default() }, MAX_COUNTED).await?;
        let mut ended = BTreeMap::new();
        for row in recent.iter().filter(|row| !row.status.open && row.damaged.is_none()) {
            *ended.entry(row.status.phase).or_default() += 1;
        }
        let open = open.iter().map(|row| presence.state(row)).collect();
        Ok(Self { open, ended, is_more_ended: recent.len() == MAX_COUNTED })
    }

    /// Returns the counts that are not zero: what waits for people first, then what is open, then how the others have ended.
    pub(super) fn chips(&self) -> Vec<Chip> {
        let open = [
            ("Waiting for approval", "asks", RunState::Parked, Phase::Suspended),
            ("Running", "", RunState::Driven, Phase::Running),
            ("Waiting for a time", "", RunState::Waiting, Phase::Ready),
            ("Queued", "", RunState::Queued, Phase::Created),
            ("Without a process", "", RunState::Orphaned, Phase::Created),
        ];
        let is_more_open = self.open.len() == MAX_COUNTED;
        let open = open.into_iter().filter_map(|(word, class, state, phase)| {
            let count = self.open.iter().filter(|one| **one == state).count();
            let (count, filter) = (shown(count, is_more_open)?, vec![("status", state.label())]);
            Some(Chip { word, class, count, title: "not ended", filter, phase })
        });
        let order =
            [Phase::Failed, Phase::Error, Phase::Timeout, Phase::Cancelled, Phase::Skipped, Phase::Succeeded];
        let ended = order.into_iter().filter_map(|phase| {
            let count = shown(*self.ended.get(&phase)?, self.is_more_ended)?;
            let (word, title) = (phase.as_str(), "submitted in the last 24 hours");
            let filter = vec![("phase", word), ("since", PERIOD)];
            Some(Chip { word, class: "", count, title, filter, phase })
        });
        open.chain(ended).collect()
    }
}

/// The number of a chip; `None` for zero.
fn shown(count: usize, is_more: bool) -> Option<String> {
    (count > 0).then(|| format!("{count}{}", if is_more { "+" } else { "" }))
}
