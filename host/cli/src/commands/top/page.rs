//! Renders a snapshot as lines of text.

use std::cmp::Reverse;

use phasm::{engine::time::Timestamp, store::view::RunState};

use super::observer::{HostLoad, OpenRuns, RunLine, Snapshot};
use crate::terminal::text;

/// By what runs are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SortOrder {
    /// Runs with the most events first, then those that a process is running.
    #[default]
    Busiest,
    Oldest,
    Newest,
}

impl SortOrder {
    const fn word(self) -> &'static str {
        match self {
            Self::Busiest => "the busiest first",
            Self::Oldest => "the oldest first",
            Self::Newest => "the newest first",
        }
    }
}

/// How the runs are arranged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrangement {
    pub(super) sorted: SortOrder,
    /// The first run that is shown.
    pub(super) first: usize,
}

/// Lines that are not runs: two of the header, three around the runs.
const FRAME_LINES: usize = 5;

/// Renders the whole snapshot, for a file or a pipe.
pub(super) fn plain(seen: &Snapshot) -> String {
    let lines: Vec<_> = order(seen, SortOrder::default());
    let head: String = header(seen).into_iter().map(|line| line + "\n").collect();
    if lines.is_empty() {
        return format!("{head}no run is open\n");
    }
    format!("{head}\n{}{}", table(&lines, seen.at), if seen.more { "… and more\n" } else { "" })
}

/// Renders the part that fits on a terminal of this many lines and columns.
pub(super) fn frame(
    told: &Result<Snapshot, String>,
    arranged: &mut Arrangement,
    height: usize,
) -> Vec<String> {
    let keys = text::dim(format_args!("q ends · s sorts: {} · j k scroll", arranged.sorted.word()));
    let seen = match told {
        Ok(seen) => seen,
        Err(why) => {
            return vec![text::bad(format_args!("{}; looking again", text::clean(why))), keys];
        }
    };
    let lines = order(seen, arranged.sorted);
    let room = height.saturating_sub(FRAME_LINES + 1).max(1);
    arranged.first = arranged.first.min(lines.len().saturating_sub(room));
    let shown: Vec<_> = lines.iter().copied().skip(arranged.first).take(room).collect();
    let hidden = lines.len() - shown.len();
    let mut page = header(seen);
    page.push(String::new());
    if shown.is_empty() {
        page.push("no run is open".to_owned());
    } else {
        page.extend(table(&shown, seen.at).lines().map(str::to_owned));
    }
    let more = if seen.more { "+" } else { "" };
    let hidden = if hidden > 0 || seen.more { format!("{hidden}{more} more · ") } else { String::new() };
    page.push(format!("{}{keys}", text::dim(hidden)));
    page
}

fn header(seen: &Snapshot) -> Vec<String> {
    let at = seen.at.to_rfc3339();
    let runs = seen.runs.map(|OpenRuns { running, due, waiting, unanswered }| {
        format!("runs: {running} running, {due} due, {waiting} delayed, {unanswered} for approval")
    });
    let runs = runs.unwrap_or_else(|| text::count(seen.lines.len(), "open run"));
    let mut lines = vec![format!("{}  {}", text::bold(runs), text::dim(at))];
    lines.extend(seen.host.as_ref().map(busy));
    lines
}

fn busy(host: &HostLoad) -> String {
    let HostLoad { slots, slots_lent, executing, waiting_for_slot, waiting_for_quota, .. } = host;
    let mut parts = vec![format!("slots: {slots_lent} of {slots}"), format!("{executing} executing")];
    let waits = [(waiting_for_slot, "a slot"), (waiting_for_quota, "a quota")];
    let waits = waits.into_iter().filter(|(count, _)| **count > 0);
    parts.extend(waits.map(|(count, what)| text::doubtful(format_args!("{count} wait for {what}"))));
    let rates = [(host.attempts_per_second, "attempts"), (host.commits_per_second, "commits")];
    parts
        .extend(rates.into_iter().filter_map(|(rate, what)| Some(format!("{} {what}/s", per_second(rate?)))));
    parts.join(", ")
}

fn order(seen: &Snapshot, sorted: SortOrder) -> Vec<&RunLine> {
    let mut lines: Vec<_> = seen.lines.iter().collect();
    match sorted {
        SortOrder::Newest => lines.sort_by_key(|line| Reverse(line.row.number)),
        SortOrder::Oldest => lines.sort_by_key(|line| line.row.number),
        SortOrder::Busiest => lines.sort_by(|a, b| {
            let pace = |line: &RunLine| line.pace.unwrap_or(0.0);
            let place = |line: &RunLine| (rank(line.state), Reverse(line.row.number));
            pace(b).total_cmp(&pace(a)).then_with(|| place(a).cmp(&place(b)))
        }),
    }
    lines
}

const fn rank(state: RunState) -> u8 {
    match state {
        RunState::Driven => 0,
        RunState::Queued | RunState::Orphaned => 1,
        RunState::Waiting => 2,
        RunState::Parked => 3,
        RunState::Ended => 4,
    }
}

fn table(lines: &[&RunLine], now: Timestamp) -> String {
    let header = ["RUN", "STATE", "PHASE", "DONE", "EVENTS/S", "AGE", "WORKFLOW", "WAITS FOR"].map(text::dim);
    let rows = lines.iter().map(|line| cells(line, now));
    text::columns(&[header].into_iter().chain(rows).collect::<Vec<_>>())
}

fn cells(line: &RunLine, now: Timestamp) -> [String; 8] {
    let RunLine { row, state, progress, pace, waits } = line;
    [
        text::clean(&row.head.run_id).into_owned(),
        state.for_people().to_owned(),
        text::phase(row.status.phase),
        progress.map_or_else(|| "-".to_owned(), |progress| progress.to_string()),
        pace.map_or_else(|| "-".to_owned(), per_second),
        text::elapsed(now.since(row.head.submitted_at)),
        text::short(&row.head.workflow, 40).into_owned(),
        text::clean(waits.strip_prefix("waits for ").unwrap_or(waits)).into_owned(),
    ]
}

fn per_second(rate: f64) -> String {
    if rate > 0.0 && rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use anstream::adapter::strip_str;
    use phasm::{
        engine::{phase::Phase, run::Progress},
        store::{RunHead, RunRow, RunStatus},
    };

    use super::*;

    fn line(number: u64, state: RunState, pace: Option<f64>) -> RunLine {
        let head = RunHead {
            run_id: format!("run-{number}").into(),
            workflow: "nightly".into(),
            namespace: "default".into(),
            priority: 0,
            submitted_at: Timestamp(1000),
            key: None,
            labels: [].into(),
        };
        let status = RunStatus { phase: Phase::Running, finished_at: None, open: true, rest: None };
        let row = RunRow {
            number,
            head: Arc::new(head),
            status,
            seq: 9,
            owner: None,
            wake_at: None,
            note: None,
            remark: None,
            damaged: None,
        };
        let progress = Some(Progress { done: 1, total: 4 });
        RunLine { row, state, progress, pace, waits: "waits for a slot".to_owned() }
    }

    fn seen() -> Snapshot {
        let lines = vec![
            line(3, RunState::Parked, Some(0.0)),
            line(2, RunState::Driven, Some(0.0)),
            line(1, RunState::Driven, Some(120.4)),
        ];
        let host = HostLoad {
            slots: 8,
            slots_lent: 3,
            executing: 2,
            waiting_for_slot: 5,
            waiting_for_quota: 0,
            attempts_per_second: Some(3.25),
            commits_per_second: None,
        };
        let runs = OpenRuns { running: 2, due: 0, waiting: 0, unanswered: 1 };
        Snapshot { at: Timestamp(61_000), runs: Some(runs), host: Some(host), lines, more: false }
    }

    fn shown(lines: &[String]) -> Vec<String> {
        lines.iter().map(|line| strip_str(line).to_string()).collect()
    }

    /// R-L50.
    #[test]
    fn the_busiest_runs_come_first_with_how_far_they_are() {
        let page = strip_str(&plain(&seen())).to_string();
        let expected = "runs: 2 running, 0 due, 0 delayed, 1 for approval  1970-01-01T00:01:01.000Z\n\
            slots: 3 of 8, 2 executing, 5 wait for a slot, 3.2 attempts/s\n\n\
            RUN    STATE   PHASE    DONE  EVENTS/S  AGE          WORKFLOW  WAITS FOR\n\
            run-1  running  Running  1/4   120       1 min 00 s    nightly   a slot\n\
            run-2  running  Running  1/4   0         1 min 00 s    nightly   a slot\n\
            run-3  waiting  Running  1/4   0         1 min 00 s    nightly   a slot\n";
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            squeezed(&page).replace("1 min 00 s", "AGE"),
            squeezed(expected).replace("1 min 00 s", "AGE")
        );
    }

    /// R-L50: what does not fit is scrolled to, and no further.
    #[test]
    fn what_does_not_fit_is_scrolled_to() {
        let mut arranged = Arrangement { sorted: SortOrder::Oldest, first: 99 };
        let page = shown(&frame(&Ok(seen()), &mut arranged, 8));
        assert_eq!((arranged.first, page.len()), (1, 7), "{page:?}");
        assert!(page[4].starts_with("run-2") && page[5].starts_with("run-3"), "{page:?}");
        assert!(page[6].starts_with("1 more · q ends"), "{page:?}");
    }

    /// R-L50: what is not known is left out.
    #[test]
    fn what_a_store_does_not_know_is_left_out() {
        let seen = Snapshot { runs: None, host: None, ..seen() };
        assert_eq!(shown(&header(&seen)), ["3 open runs  1970-01-01T00:01:01.000Z"]);
        assert!(seen.json().get("host").is_none());
        let gone = frame(&Err("not \u{1b}[2J there".to_owned()), &mut Arrangement::default(), 8);
        assert!(shown(&gone)[0].starts_with("not \\u{1b}[2J there"), "{gone:?}");
    }
}
