//! One look after the other at a store or a server, and what is different since the last one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use phasm::{
    clock::Clock,
    engine::{
        run::{Progress, Run},
        time::Timestamp,
    },
    journal,
    store::view::{Presence, RowView, RowWaits, RunState},
    store::{Census, Filter, RunRow, StoreError},
};
use phasm_server::client::Remote;
use serde::Serialize;
use serde_json::{Value, json};

use super::series::Series;
use crate::{store::reader::StoreReader, terminal::waiting};

/// Runs that are looked at: the newest of those that are open.
const MAX_RUNS: usize = 200;
/// A run with more events is not read for how far it is.
const MAX_EVENTS: u64 = 20_000;
/// Runs that are read for that.
const MAX_READ_RUNS: usize = 50;
/// Counting a store's runs reads them all, so that is done now and then.
const CENSUS_INTERVAL: Duration = Duration::from_secs(5);

/// State of the runs at one time.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) at: Timestamp,
    pub(super) runs: Option<OpenRuns>,
    pub(super) host: Option<HostLoad>,
    pub(super) lines: Vec<RunLine>,
    /// Whether there are more runs than these.
    pub(super) more: bool,
}

/// Number of open runs of the store, by their state.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct OpenRuns {
    #[serde(rename = "driven")]
    pub(super) running: u64,
    pub(super) due: u64,
    pub(super) waiting: u64,
    /// Number of runs that wait for an answer.
    #[serde(rename = "parked")]
    pub(super) unanswered: u64,
}

/// Load of a server's host. Rates are computed from two snapshots.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HostLoad {
    pub(super) slots: u64,
    pub(super) slots_lent: u64,
    pub(super) executing: u64,
    pub(super) waiting_for_slot: u64,
    pub(super) waiting_for_quota: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) attempts_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) commits_per_second: Option<f64>,
}

/// One open run.
#[derive(Debug)]
pub(super) struct RunLine {
    pub(super) row: RunRow,
    pub(super) state: RunState,
    pub(super) progress: Option<Progress>,
    /// Events in a second since the look before; none at the first.
    pub(super) pace: Option<f64>,
    /// Description of what the run waits for.
    pub(super) waits: String,
}

/// Takes snapshots, and keeps what it needs from earlier ones.
pub(super) struct Observer {
    kept: StoreReader,
    read: BTreeMap<Arc<str>, Option<Run>>,
    last: Option<Sample>,
    counted: Option<(Instant, OpenRuns)>,
    presence: Presence,
}

struct Sample {
    at: Instant,
    events: BTreeMap<Arc<str>, u64>,
    attempts: Option<f64>,
    commits: Option<f64>,
}

impl Observer {
    pub(super) fn new(kept: StoreReader) -> Self {
        Self { kept, read: BTreeMap::new(), last: None, counted: None, presence: Presence::default() }
    }

    /// Looks once more.
    ///
    /// # Errors
    /// When the store cannot be read, or the server not be reached.
    pub(super) async fn look(&mut self) -> Result<Snapshot, StoreError> {
        let filter = Filter { open: true, ..Filter::default() };
        let mut rows = self.kept.list(filter, MAX_RUNS + 1).await?;
        let more = rows.len() > MAX_RUNS;
        rows.truncate(MAX_RUNS);
        let metrics = match &self.kept {
            StoreReader::Server(server) => metrics(server).await,
            StoreReader::File(_) | StoreReader::Database(_) => None,
        };
        let series = metrics.as_deref().map(Series::read);
        let runs = match &series {
            Some(series) => open_runs(series),
            None => self.count().await?,
        };
        let now = Sample {
            at: Instant::now(),
            events: rows.iter().map(|row| (Arc::clone(&row.head.run_id), row.seq)).collect(),
            attempts: series.as_ref().and_then(|series| series.sum("phasm_attempts_ended_total")),
            commits: series.as_ref().and_then(|series| series.sum("phasm_store_commit_seconds_count")),
        };
        let host = series.as_ref().and_then(|series| busy(series, self.last.as_ref(), &now));
        self.go_on(&rows).await;
        self.presence = Presence::of(&*self.kept, self.kept.is_held(), &rows).await?;
        let lines = rows.into_iter().map(|row| self.line(row, &now)).collect();
        self.last = Some(now);
        Ok(Snapshot { at: Clock::start().now(), runs, host, lines, more })
    }

    /// Open runs of a store; a server that does not tell what it measures does not tell that either.
    async fn count(&mut self) -> Result<Option<OpenRuns>, StoreError> {
        if matches!(self.kept, StoreReader::Server(_)) {
            return Ok(None);
        }
        if let Some((_, runs)) = self.counted.filter(|(at, _)| at.elapsed() < CENSUS_INTERVAL) {
            return Ok(Some(runs));
        }
        let Census { owned: running, due, waiting, parked: unanswered, .. } =
            self.kept.census(Clock::start().now()).await?;
        let runs = OpenRuns { running, due, waiting, unanswered };
        self.counted = Some((Instant::now(), runs));
        Ok(Some(runs))
    }

    /// Reads what is new of those runs that something happens to. One that cannot be read is shown without.
    async fn go_on(&mut self, rows: &[RunRow]) {
        let open: BTreeSet<_> = rows.iter().map(|row| &row.head.run_id).collect();
        self.read.retain(|run_id, _| open.contains(run_id));
        for row in rows.iter().filter(|row| row.seq <= MAX_EVENTS).take(MAX_READ_RUNS) {
            let run_id = &row.head.run_id;
            let known = self.read.entry(Arc::clone(run_id)).or_default();
            let since = known.as_ref().map_or(0, |run| run.seq());
            if since < row.seq
                && let Ok(records) = self.kept.load_since(run_id, since).await
                && journal::replay_on(known, run_id, &records, |_, _, _, _| {}).is_err()
            {
                *known = None;
            }
        }
    }

    fn line(&self, row: RunRow, now: &Sample) -> RunLine {
        let state = self.presence.state(&row);
        let run = self.read.get(&row.head.run_id).and_then(Option::as_ref);
        let inside = || run.and_then(|run| run.run_waiting()).map(|waiting| waiting::told(&waiting));
        let outside = RowWaits::of(&row, state).map(|waits| waiting::of_row(&waits));
        let pace = self.last.as_ref().and_then(|last| {
            let before = last.events.get(&row.head.run_id)?;
            rate(last, now, Some(float(*before)), Some(float(row.seq)))
        });
        RunLine {
            state,
            progress: run.map(|run| run.progress()),
            pace,
            waits: outside.or_else(inside).unwrap_or_default(),
            row,
        }
    }
}

impl Snapshot {
    /// All of it, for programs.
    pub(super) fn json(&self) -> Value {
        let line = |line: &RunLine| {
            let mut view = serde_json::to_value(RowView::of(&line.row, line.state)).unwrap_or_default();
            if let (Some(object), Some(progress)) = (view.as_object_mut(), line.progress) {
                object.insert("progress".to_owned(), progress.to_string().into());
            }
            view
        };
        let mut seen = json!({ "at": self.at.to_rfc3339(), "open": self.lines.iter().map(line).collect::<Vec<_>>(),
            "more": self.more });
        if let Some(object) = seen.as_object_mut() {
            object.extend(self.runs.map(|runs| ("runs".to_owned(), json!(runs))));
            object.extend(self.host.map(|host| ("host".to_owned(), json!(host))));
        }
        seen
    }
}

/// Returns the metrics of a server; none if this key may not read them.
async fn metrics(server: &Remote) -> Option<String> {
    server.metrics().await.ok()
}

fn open_runs(series: &Series<'_>) -> Option<OpenRuns> {
    let of = |state: &str| series.count_of("phasm_runs_open", &format!("state=\"{state}\""));
    Some(OpenRuns {
        running: of("driven")?,
        due: of("due")?,
        waiting: of("waiting")?,
        unanswered: of("parked")?,
    })
}

fn busy(series: &Series<'_>, last: Option<&Sample>, now: &Sample) -> Option<HostLoad> {
    let of = |name: &str, label: &str| series.count_of(name, label);
    let rated = |of: fn(&Sample) -> Option<f64>| last.and_then(|last| rate(last, now, of(last), of(now)));
    Some(HostLoad {
        slots: of("phasm_slots", "")?,
        slots_lent: of("phasm_slots_lent", "")?,
        executing: of("phasm_attempts_executing", "")?,
        waiting_for_slot: of("phasm_attempts_waiting", "for=\"slot\"")?,
        waiting_for_quota: of("phasm_attempts_waiting", "for=\"quota\"")?,
        attempts_per_second: rated(|look| look.attempts),
        commits_per_second: rated(|look| look.commits),
    })
}

/// How much more it is in a second; nothing of what has begun anew.
fn rate(last: &Sample, now: &Sample, before: Option<f64>, after: Option<f64>) -> Option<f64> {
    let seconds = now.at.duration_since(last.at).as_secs_f64();
    let more = after? - before?;
    (seconds > 0.0 && more >= 0.0).then(|| more / seconds)
}

#[expect(clippy::cast_precision_loss, reason = "beyond 2^53 one more or less is nothing")]
fn float(number: u64) -> f64 {
    number as f64
}
