//! How phases, times, ids and values are shown.

use maud::{Markup, PreEscaped, html};
use phasm::{
    Phase, Value,
    artifacts::Artifact,
    clock::Clock,
    engine::{
        event::Reason,
        run::{Progress, Run, ShownValue, TaskRun},
        schedule::Zone,
        text,
        time::Timestamp,
    },
    journal::LargeValues,
    plugins::SignatureStatus,
};

use phasm_files::Size;

use super::relative;
use crate::{
    client::segment,
    runs::values::{self, ValueSize},
};

/// The most that is shown of a value, in bytes.
const MAX_VALUE_BYTES: usize = 16 << 10;
/// Longest text of a loop's item beside a task, in bytes.
const MAX_ITEM_BYTES: usize = 60;

/// A phase by its sign and its word.
pub(super) fn phase(phase: Phase) -> Markup {
    marked(phase, phasm_graph::phase_word(phase))
}

/// The sign of a phase with other words than its own.
pub(super) fn marked(phase: Phase, words: &str) -> Markup {
    html! { span class={ "phase phasm-" (phase) } { (sign(phase)) " " (words) } }
}

/// The sign of a phase alone, beside words that say it.
pub(super) fn sign(phase: Phase) -> Markup {
    PreEscaped(phasm_graph::mark(phase))
}

/// The choice of a phase in a filter, each with its meaning.
pub(super) fn phase_choice(chosen: Option<&str>) -> Markup {
    html! {
        div class="field" {
            label for="phase" { "Phase" }
            select id="phase" name="phase" {
                option value="" { "any" }
                @for phase in Phase::ALL {
                    option value=(phase) selected[chosen == Some(phase.as_str())] { (phase) (meaning(phase)) }
                }
            }
        }
    }
}

/// Words that tell a phase from another with a similar name.
pub(super) fn meaning(phase: Phase) -> &'static str {
    match phase {
        Phase::Failed => " – the step says so",
        Phase::Error => " – the step or its input is broken",
        Phase::Timeout => " – a limit of time ran out",
        Phase::Skipped => " – its condition was false",
        Phase::Suspended => " – waiting for approval",
        Phase::Running => " – or waiting for approval",
        Phase::Created => " – not started",
        Phase::Ready | Phase::Succeeded | Phase::Cancelled => "",
    }
}

/// How many tasks have ended of those that there are, as a number and a bar.
pub(super) fn progress(progress: Progress) -> Markup {
    let Progress { done, total } = progress;
    html! {
        span class="progress" {
            progress value=(done) max=(total) aria-label="Tasks ended" {} " " (done) "/" (total)
        }
    }
}

/// The name in a response of a caller who is not known, such as on a server without keys.
pub(super) fn unchecked_name(name: Option<&str>) -> String {
    match name.filter(|name| !name.is_empty()) {
        Some(name) => format!(" by {} (a name that is not checked)", text::cut(name, MAX_ITEM_BYTES)),
        None => " without a name".to_owned(),
    }
}

/// How a task run stands: its phase; `Timed out` where a clock ended it as Cancelled; remarks on a good end.
pub(super) fn standing(run: &Run, task: &TaskRun) -> Markup {
    let counts_as = Reason::counts_as(task.phase, task.reason);
    let remarks = run.remarks(task);
    html! {
        @if task.phase == Phase::Created && !task.attempts.is_empty() { (marked(task.phase, "Waiting for its retry")) }
        @else if run.is_rejected(task) { (rejected()) }
        @else if counts_as == task.phase { (phase(task.phase)) }
        @else {
            (marked(counts_as, "Timed out"))
            span class="none" { " (" (task.phase) ")" }
        }
        @if !remarks.is_empty() { " " span class="remarks" { (remarks.join(", ")) } }
    }
}

/// A point in time by how long ago it was, or how soon it comes. Its title has the time in UTC; a script adds the person's own zone.
pub(super) fn time(at: Timestamp) -> Markup {
    let now = Clock::start().now();
    let shown = if at > now { relative::until(now, at) } else { relative::ago(now, at) };
    html! { time class="relative" datetime=(at.to_rfc3339()) title=(instant(at)) { (shown) } }
}

/// How long something took, or has taken so far: a script counts on where it has not ended.
pub(super) fn took_or_counts(from: Timestamp, to: Option<Timestamp>) -> Markup {
    let end = to.unwrap_or_else(|| Clock::start().now());
    let length = text::elapsed(end.since(from));
    html! {
        @match to {
            Some(_) => (length),
            None => span class="counts" data-since=(from.to_rfc3339()) { (length) },
        }
    }
}

/// The time since the beginning of a run, where many times are of one second: `+0.1 s`. The title has the exact time in UTC.
pub(super) fn offset(begin: Timestamp, at: Option<Timestamp>) -> Markup {
    html! { @match at {
        Some(at) => time datetime=(at.to_rfc3339()) title=(at.to_rfc3339()) { "+" (text::elapsed(at.since(begin))) },
        None => span class="none" { "–" },
    } }
}

/// An instant among words.
pub(super) fn instant(at: Timestamp) -> String {
    let whole = at.to_rfc3339();
    format!("{} {} UTC", whole.get(..10).unwrap_or_default(), whole.get(11..19).unwrap_or_default())
}

/// An instant by the clocks of a zone, which is named beside it.
pub(super) fn clock(zone: &Zone, at: Timestamp) -> Markup {
    let whole = at.to_rfc3339();
    html! { time datetime=(whole) title=(whole) { (zone.written(at).unwrap_or_else(|| whole.clone())) } }
}

/// Words of ours, in which backticks are around what is typed.
pub(crate) fn prose(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() { @if at % 2 == 1 { code { (part) } } @else { (part) } }
    }
}

/// The phase of what a person rejected.
pub(super) fn rejected() -> Markup {
    html! { (marked(Phase::Failed, "Rejected")) span class="none" { " (" (Phase::Failed) ")" } }
}

/// A message of a step, which may have backticks around names as our words have.
pub(super) fn message(text: &str) -> Markup {
    if text.matches('`').count().is_multiple_of(2) {
        prose(text)
    } else {
        html! { (text) }
    }
}

/// Where something that is kept by a name is.
pub(super) fn saved_path(what: &str, namespace: &str, name: &str) -> String {
    format!("/{what}/{}/{}", segment(namespace), segment(name))
}

/// Returns the display name of a saved document.
pub(super) fn display_name(namespace: &str, name: &str) -> String {
    if namespace == "default" { name.to_owned() } else { format!("{namespace}/{name}") }
}

/// The first characters of a digest, which mean it.
pub(super) fn digest(digest: &str) -> Markup {
    let short = digest.strip_prefix("sha256:").unwrap_or(digest).chars().take(12).collect::<String>();
    html! { code class="id" title=(digest) { (short) } }
}

/// An id by its end, which is what tells it from others, with a button that copies it.
pub(super) fn id(id: &str) -> Markup {
    html! { code class="id" title=(id) data-copy=(id) { (end_of(id)) } }
}

/// An id by its end, in lists.
pub(super) fn short_id(id: &str) -> Markup {
    html! { code class="id" title=(id) { (end_of(id)) } }
}

/// The last characters of an id, by which commands and addresses of the page find it, too.
pub(super) fn end_of(id: &str) -> String {
    match id.char_indices().rev().nth(7) {
        Some((at, _)) if at > 0 => format!("…{}", id.get(at..).unwrap_or_default()),
        _ => id.to_owned(),
    }
}

/// The item of the iteration that a task run stands in, which tells one of 500 from another.
pub(super) fn item(run: &Run, task: &TaskRun) -> Markup {
    let shown = |item: &Value| match item {
        Value::String(text) => text.to_string(),
        // The first text of an object is what tells it from others.
        Value::Object(members) => members
            .iter()
            .find_map(|(name, value)| Some(format!("{name}: {}", value.as_str()?)))
            .unwrap_or_else(|| item.to_json()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => item.to_json(),
    };
    html! {
        @if let Some(item) = run.item_around(task) { " " code class="item" { (text::cut(&shown(item), MAX_ITEM_BYTES)) } }
    }
}

/// A value as JSON with one member a line, or text as it is.
pub(super) fn value(value: &Value) -> Markup {
    let shown = match value {
        Value::String(text) => text.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => pretty(value),
    };
    let short = !shown.contains('\n') && shown.len() <= 80;
    let shown = text::cut(&shown, MAX_VALUE_BYTES);
    html! {
        @if short { code class="value" { (shown) } }
        @else { pre class="value" tabindex="0" { (shown) } }
    }
}

/// A value of a run, or where it is if it is large.
pub(super) fn run_value(run: &Run, large: &LargeValues, shown: ShownValue<'_>) -> Markup {
    let ShownValue { kind, owner, name, value } = shown;
    if let Some(artifact) = Artifact::of(value) {
        return self::artifact(run, &artifact);
    }
    match ValueSize::of(value, large) {
        ValueSize::Small(_) => self::value(value),
        ValueSize::Large(bytes) => {
            let path = values::path(run.id(), kind, owner, name);
            html! { a href=(path) { "Large value, " (bytes) " bytes" } }
        }
    }
}

/// A file of a run, to be downloaded.
fn artifact(run: &Run, artifact: &Artifact) -> Markup {
    let Artifact { digest, size, media, name } = artifact;
    let digest = digest.to_string();
    let path = format!("/v1/runs/{}/artifacts/{}", segment(run.id()), segment(&digest));
    let shown = if name.is_empty() { "file" } else { &**name };
    html! { a href=(path) download=(shown) title=(digest) { (text::cut(shown, MAX_ITEM_BYTES)) } span class="none" { " " (Size(*size)) ", " (text::cut(media, MAX_ITEM_BYTES)) } }
}

fn pretty(value: &Value) -> String {
    let compact = value.to_json();
    if compact.len() <= 60 {
        return compact;
    }
    serde_json::from_str::<serde_json::Value>(&compact)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or(compact)
}

/// The signer of a plugin.
pub(super) fn signed(signature: &SignatureStatus) -> Markup {
    let number = signature.number.as_deref().unwrap_or_default();
    let why = signature.why.as_deref().unwrap_or_default();
    html! { @match signature.state.as_str() {
        "good" => span title=(signature.key.as_deref().unwrap_or_default()) { "by key " code { (number) } },
        "unknown-key" => { "with a key that no policy has, " code { (number) } },
        "wrong" => strong class="bad" { "wrongly: " (why) },
        "unreadable" => strong class="bad" { "unreadably: " (why) },
        _ => span class="none" { "no" },
    } }
}

/// `1 task`, `2 tasks`.
pub(super) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
