//! The last runs of a schedule: how each ended, and whether they fail one after the other.

use maud::{Markup, PreEscaped, html};
use phasm::{
    Phase,
    catalog::{self, CatalogItem, FiringNote, ScheduleState},
    engine::{schedule::Zone, text, time::Timestamp},
};

use super::format;
use crate::{problem_response::ProblemResponse, request::RequestContext};

/// Firings of a strip.
const STRIP_FIRINGS: usize = 10;
/// Failures in a row from which a schedule is failing.
const MIN_FAILURES: usize = 3;
/// Schedules of a namespace that are looked at for a count.
const MAX_SCHEDULES: usize = 100;
/// Longest reason for a run's end, in bytes.
const MAX_REASON_BYTES: usize = 200;

/// Returns how many of the runs that have ended failed since the last one that succeeded.
fn failures(schedule: &ScheduleState) -> usize {
    let ended = schedule.firings.iter().rev().filter_map(|firing| firing.phase);
    ended.take_while(|phase| !matches!(phase, Phase::Succeeded | Phase::Skipped)).count()
}

/// Returns when the first of the failures in a row was due, of a schedule that is failing.
pub(super) fn since(schedule: &ScheduleState) -> Option<Timestamp> {
    let ended: Vec<_> = schedule.firings.iter().filter(|firing| firing.phase.is_some()).collect();
    let failures = Some(failures(schedule)).filter(|failures| *failures >= MIN_FAILURES)?;
    ended.get(ended.len().checked_sub(failures)?).map(|firing| firing.at)
}

/// Returns the state of a schedule in a word: `active`, `failing`, `paused`, `in trouble` or `ended`.
pub(super) fn state(one: &CatalogItem<ScheduleState>) -> &'static str {
    match one.standing() {
        "active" if failures(&one.what) >= MIN_FAILURES => "failing",
        "suspended" => "paused",
        "over" => "ended",
        word => word,
    }
}

/// Returns how many of the first schedules that the caller sees are failing, or cannot start their runs.
pub(super) async fn count_failing(context: &RequestContext) -> Result<usize, ProblemResponse> {
    let store = context.app.reader();
    let namespaces = &context.caller.namespaces;
    let asked: Vec<_> =
        if namespaces.is_empty() { vec![None] } else { namespaces.iter().map(|one| Some(&**one)).collect() };
    let mut count = 0;
    for namespace in asked {
        let found = catalog::schedules(&*store, namespace, None, MAX_SCHEDULES).await?;
        count += found.items.iter().filter(|one| matches!(state(one), "failing" | "in trouble")).count();
    }
    Ok(count)
}

/// The state of a schedule as a sign and a word, and the number of failures in a row if it is failing.
pub(super) fn status(one: &CatalogItem<ScheduleState>) -> Markup {
    let (word, failures) = (state(one), failures(&one.what));
    let sign = match word {
        "active" => "●",
        "paused" => "‖",
        "failing" | "in trouble" => "!",
        _ => "–",
    };
    html! {
        span class={ "standing " (word.replace(' ', "-")) } { span aria-hidden="true" { (sign) } " " (word) }
        @if failures >= MIN_FAILURES {
            " " span class="failures" { (PreEscaped(phasm_graph::mark(Phase::Failed))) " " (failures) " failures in a row" }
        }
    }
}

/// The last firings as small signs, the oldest first.
pub(super) fn strip(one: &CatalogItem<ScheduleState>, zone: &Zone) -> Markup {
    let firings = &one.what.firings;
    let shown = firings.get(firings.len().saturating_sub(STRIP_FIRINGS)..).unwrap_or_default();
    html! {
        @if shown.is_empty() { span class="none" { "–" } }
        @else { ol class="strip" aria-label="Last runs, the oldest first" { @for firing in shown { li { (sign(firing, zone)) } } } }
    }
}

fn sign(firing: &FiringNote, zone: &Zone) -> Markup {
    let at = zone.written(firing.at).unwrap_or_else(|| firing.at.to_rfc3339());
    let word = firing.phase.map_or_else(|| word(firing), Phase::as_str);
    let title = match reason(firing) {
        Some(reason) => format!("{at}: {word}: {reason}"),
        None => format!("{at}: {word}"),
    };
    let mark = html! {
        @match (firing.phase, firing.open()) {
            (Some(phase), _) => (PreEscaped(phasm_graph::mark(phase))),
            (None, Some(_)) => (PreEscaped(phasm_graph::mark(Phase::Running))),
            (None, None) => span class="none" aria-hidden="true" { "–" },
        }
        span class="unseen" { (title) }
    };
    html! {
        @match &firing.run_id {
            Some(run) => a href={ "/runs/" (run) } title=(title) { (mark) },
            None => span title=(title) { (mark) },
        }
    }
}

/// The result of a firing whose run has not ended, or that has none.
fn word(firing: &FiringNote) -> &'static str {
    if firing.open().is_some() { "open" } else { firing.what.words() }
}

/// The reason for the end of a firing's run, if it is known, in one line.
pub(super) fn reason(firing: &FiringNote) -> Option<String> {
    let line = firing.remark.as_deref()?.lines().find(|line| !line.trim().is_empty())?;
    Some(text::cut(line, MAX_REASON_BYTES).into_owned())
}

/// How the run of a firing ended.
pub(super) fn phase(firing: &FiringNote) -> Markup {
    html! {
        @match (firing.phase, firing.open()) {
            (Some(phase), _) => (format::phase(phase)),
            (None, Some(_)) => "open",
            (None, None) => span class="none" { "–" },
        }
    }
}
