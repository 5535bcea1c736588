//! Descriptions of what runs and tasks wait for.

use phasm::{
    engine::{
        event::{Event, RunningQuota},
        run::{Waiting, WaitsFor},
    },
    store::view::RowWaits,
};

use super::text;

/// Characters of what a run lacks, in a list.
const MAX_REASON_CHARS: usize = 160;

/// Returns the text in the row of a run.
pub(crate) fn of_row(waits: &RowWaits<'_>) -> String {
    let RowWaits { what, since, until, why } = waits;
    let until = until.as_ref().map(|at| format!("until {at}"));
    match (*what, why, since) {
        ("missing" | "quota", Some(why), Some(since)) => {
            format!("since {since}: {}", text::short(why, MAX_REASON_CHARS))
        }
        ("answer", ..) => {
            ["approval or a response".to_owned()].into_iter().chain(until).collect::<Vec<_>>().join(", ")
        }
        ("time", ..) => until.unwrap_or_default(),
        _ => "a host".to_owned(),
    }
}

/// Returns the same as a sentence: `waits for a host`.
pub(crate) fn note_of_row(waits: &RowWaits<'_>) -> String {
    let preposition = if matches!(waits.what, "answer" | "host") { "for " } else { "" };
    format!("waits {preposition}{}", of_row(waits))
}

/// Returns the full text about a run that was left to other hosts.
pub(crate) fn page(waits: &RowWaits<'_>) -> Option<String> {
    let (why, since) = (waits.why.filter(|_| waits.is_missing())?, waits.since.as_ref()?);
    Some(format!("waiting since {since}, as the last host could not resume it: {}\n", text::clean(why)))
}

/// `waits for a slot`.
pub(crate) fn told(waiting: &Waiting) -> String {
    let at = waiting.at.as_deref().unwrap_or_default();
    match waiting.what {
        WaitsFor::Slot => "waits for a slot".to_owned(),
        WaitsFor::Quota => quota(waiting.quota.as_ref()),
        WaitsFor::Parallelism if at.is_empty() => "waits for the run's parallelism".to_owned(),
        WaitsFor::Parallelism => format!("waits for the parallelism of {}", text::short(at, 80)),
        WaitsFor::Start => "is about to start".to_owned(),
        WaitsFor::Retry => "waits to be tried again".to_owned(),
        WaitsFor::Answer => "waits for approval or a response".to_owned(),
    }
}

fn quota(quota: Option<&RunningQuota>) -> String {
    let Some(RunningQuota { tenant, running }) = quota else {
        return "waits for its tenant's quota of running attempts".to_owned();
    };
    let attempts = if *running == 1 { "attempt" } else { "attempts" };
    let key = format!("`running` under `[tenants.{}.quotas]`", text::short(tenant, 80));
    format!("waits for its tenant's quota: {running} running {attempts} at most ({key})")
}

/// The line of an event that says what a run waits for from now on, if it is a quota.
pub(crate) fn changed(event: &Event) -> Option<String> {
    let Event::Held(Some(held)) = event else { return None };
    Some(format!("{}\n", quota(Some(held))))
}

/// `waits to be tried again since 2026-11-22T08:00:00Z, until 2026-11-22T08:00:10Z`.
pub(crate) fn since(waiting: &Waiting) -> String {
    let until = waiting.until.map(|at| format!(", until {}", at.to_rfc3339())).unwrap_or_default();
    format!("{} since {}{until}", told(waiting), waiting.since.to_rfc3339())
}
