//! How many runs there are of each status, for the chips above the list.

use std::{collections::BTreeMap, sync::Arc};

use maud::Markup;
use phasm::{
    Phase,
    clock::Clock,
    engine::time::{Millis, Timestamp},
    store::{
        Filter, RunRow,
        view::{Presence, RunState},
    },
};

use super::format;
use crate::{problem_response::ProblemResponse, request::RequestContext};

/// Runs that are counted at most, of those that are open and of those that have ended: what more there are is a plus sign.
const MAX_COUNTED: usize = 500;
/// Ended runs are counted for so long after their submission.
const PERIOD: Millis = 24 * 60 * 60 * 1000;
/// The same for the filter of the list.
const PERIOD_TEXT: &str = "24h";

/// Numbers of runs by status.
#[derive(Default)]
pub(super) struct StatusCounts {
    asking: usize,
    running: usize,
    delayed: usize,
    queued: usize,
    orphaned: usize,
    /// Whether there are more open runs than were counted.
    is_more_open: bool,
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
        let now = Clock::start().now();
        let since = Some(Timestamp(now.0.saturating_sub(i64::try_from(PERIOD).unwrap_or(i64::MAX))));
        let recent = store.list(Filter { namespaces, since, ..Filter::default() }, MAX_COUNTED).await?;
        Ok(Self::of(&open, &presence, &recent))
    }

    fn of(open: &[RunRow], presence: &Presence, recent: &[RunRow]) -> Self {
        let mut counts = Self {
            is_more_open: open.len() == MAX_COUNTED,
            is_more_ended: recent.len() == MAX_COUNTED,
            ..Self::default()
        };
        for row in open {
            match presence.state(row) {
                RunState::Parked => counts.asking += 1,
                RunState::Driven => counts.running += 1,
                RunState::Waiting => counts.delayed += 1,
                RunState::Queued => counts.queued += 1,
                RunState::Orphaned => counts.orphaned += 1,
                RunState::Ended => {}
            }
        }
        for row in recent.iter().filter(|row| !row.status.open && row.damaged.is_none()) {
            *counts.ended.entry(row.status.phase).or_default() += 1;
        }
        counts
    }

    /// Returns the counts that are not zero: what waits for people first, then what is open, then how the others have ended.
    pub(super) fn chips(&self) -> Vec<Chip> {
        let open = [
            ("Waiting for approval", "asks", self.asking, "suspended", Phase::Suspended),
            ("Running", "", self.running, "running", Phase::Running),
            ("Waiting for a time", "", self.delayed, "waiting", Phase::Ready),
            ("Queued", "", self.queued, "queued", Phase::Created),
            ("Without a process", "", self.orphaned, "orphaned", Phase::Created),
        ];
        let open = open.into_iter().filter(|(_, _, count, ..)| *count > 0).map(
            |(word, class, count, status, phase)| {
                let (count, filter) = (shown(count, self.is_more_open), vec![("status", status)]);
                Chip { word, class, count, title: "not ended", filter, phase }
            },
        );
        let order =
            [Phase::Failed, Phase::Error, Phase::Timeout, Phase::Cancelled, Phase::Skipped, Phase::Succeeded];
        let ended = order.into_iter().filter_map(|phase| {
            let count = shown(*self.ended.get(&phase)?, self.is_more_ended);
            let filter = vec![("phase", phase.as_str()), ("since", PERIOD_TEXT)];
            Some(Chip {
                word: phase.as_str(),
                class: "",
                count,
                title: "submitted in the last 24 hours",
                filter,
                phase,
            })
        });
        open.chain(ended).collect()
    }
}

fn shown(count: usize, is_more: bool) -> String {
    format!("{count}{}", if is_more { "+" } else { "" })
}
