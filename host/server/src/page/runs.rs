//! The runs that there are: counted by how they stand, filtered, and one in each row.

use axum::{http::StatusCode, response::Response};
use maud::{Markup, html};
use phasm::{
    Phase, RERUN_LABEL,
    catalog::SCHEDULE_LABEL,
    engine::{run::Progress, text},
    store::RunRow,
    store::view::{Presence, RowWaits, RunState},
};
use tokio::task::JoinSet;

use super::{answer, counts::StatusCounts, error, firings, format, saved, shell::Shell};
use crate::{auth::caller::Role, problem_response::ProblemResponse, request::RequestContext, runs::list};

/// Running runs of a page whose progress is shown.
const MAX_PROGRESS: usize = 50;
/// Waiting runs of a page whose questions are shown.
const MAX_QUESTIONS: usize = 20;
/// Runs of one schedule in a list that ended alike, from which on the newest stands for all.
const MIN_FOLDED: usize = 3;
/// Times that are offered for the submission of runs, each as the filter has it.
const PERIODS: [(&str, &str); 5] = [
    ("", "any time"),
    ("1h", "the last hour"),
    ("24h", "the last 24 hours"),
    ("7d", "the last 7 days"),
    ("30d", "the last 30 days"),
];
/// Longest reason in a row, in bytes.
const MAX_REASON_BYTES: usize = 160;

pub(super) async fn page(mut context: RequestContext) -> Result<Response, ProblemResponse> {
    context.query.leave_out_empty();
    let asked = RunFilter::of(&context);
    let (status, faults, (rows, next)) = match list::rows(&mut context).await {
        Ok(found) => (StatusCode::OK, None, found),
        // Shown beside the fields, which keep what was typed.
        Err(refusal) if refusal.status() == StatusCode::BAD_REQUEST => {
            (refusal.status(), Some(refusal), (Vec::new(), None))
        }
        Err(refusal) => return Err(refusal),
    };
    let next = next.map(|cursor| asked.address_with("cursor", &cursor));
    let presence = Presence::of(&**context.app.host.store(), true, &rows).await?;
    let rows = RowState::all(&context, rows, &presence).await;
    let counts = StatusCounts::read(&context).await?;
    let failing = firings::count_failing(&context).await?;
    let body = html! {
        div class="head" {
            h1 { "Runs" }
            @if context.caller.may(Role::Run).is_ok() { a class="button" href="/submit" { "Write a workflow" } }
        }
        div id="counts" data-part { (chips(&counts, &asked, failing)) }
        (asked.form())
        @if let Some(refusal) = &faults { (error::faults(refusal)) }
        @else { div id="rows" data-part {
            @if rows.is_empty() { (nothing(&context, &asked)) } @else { (table(&rows, &asked)) }
            @if let Some(next) = &next { p class="more" { a href=(next) rel="next" { "Older runs" } } }
        } }
    };
    let live = faults.is_none().then(|| "/live".to_owned());
    Ok(Shell { live, ..Shell::new("Runs", "/runs", &context.caller) }.respond(status, &body))
}

/// A run of the list, how far it has come where this host runs it, and the question that it waits for.
struct RowState {
    row: RunRow,
    state: RunState,
    progress: Option<Progress>,
    question: Option<String>,
}

impl RowState {
    async fn all(context: &RequestContext, rows: Vec<RunRow>, presence: &Presence) -> Vec<Self> {
        let unseen = |row| Self { state: presence.state(&row), row, progress: None, question: None };
        let mut all: Vec<_> = rows.into_iter().map(unseen).collect();
        let mut looks = JoinSet::new();
        let running = all.iter().enumerate().filter(|(_, one)| one.state == RunState::Driven);
        for (at, one) in running.take(MAX_PROGRESS) {
            let handle = context.app.host.run_of(&one.row);
            looks.spawn(async move { (at, handle.look_if_loaded(|run| run.progress()).await) });
        }
        for looked in looks.join_all().await {
            // A run that has just ended, or that another host has, is shown without its progress.
            if let (at, Ok(progress)) = looked
                && let Some(one) = all.get_mut(at)
            {
                one.progress = progress;
            }
        }
        for one in all.iter_mut().filter(|one| one.waits_for_a_person()).take(MAX_QUESTIONS) {
            let handle = context.app.host.run_of(&one.row).counted_for(context.holder.clone());
            // A run that has just been resumed is shown without its question.
            one.question = handle.outline(|run, _| answer::brief(run)).await.ok().flatten();
        }
        all
    }

    fn waits_for_a_person(&self) -> bool {
        self.state == RunState::Parked
    }

    fn schedule(&self) -> Option<&str> {
        self.row.head.labels.get(SCHEDULE_LABEL).map(|name| &**name)
    }

    /// Whether both have ended in the same phase, and are runs of the same schedule.
    fn is_like(&self, other: &Self) -> bool {
        let ended =
            |one: &Self| (!one.row.status.open && one.row.damaged.is_none()).then_some(one.row.status.phase);
        self.schedule().is_some()
            && self.schedule() == other.schedule()
            && self.row.head.namespace == other.row.head.namespace
            && ended(self).is_some()
            && ended(self) == ended(other)
    }

    /// Returns the reason for its end, or for its wait, in one line.
    fn reason(&self) -> Option<String> {
        if let Some(why) = &self.row.damaged {
            return Some(format!("damaged: {why}"));
        }
        if let Some(told) = self.row.remark.as_deref().or(self.question.as_deref()) {
            return Some(told.to_owned());
        }
        let waits = RowWaits::of(&self.row, self.state).filter(|_| !self.waits_for_a_person())?;
        Some(match (waits.what, waits.why) {
            ("time", _) => "waiting for its next time".to_owned(),
            ("host", _) => "waiting for a process that runs it".to_owned(),
            (what, Some(why)) => format!("{what}: {why}"),
            (what, None) => what.to_owned(),
        })
    }
}

/// The filter of the list.
struct RunFilter(Vec<(String, String)>);

impl RunFilter {
    fn of(context: &RequestContext) -> Self {
        let query = context.path_and_query().1.unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
        Self(pairs.filter(|(name, value)| name != "cursor" && !value.is_empty()).collect())
    }

    fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Returns the address of the same list with one more condition.
    fn address_with(&self, name: &str, value: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(&self.0).append_pair(name, value);
        format!("/runs?{}", query.finish())
    }

    /// Returns the address of the list with these conditions about how runs stand, and the other ones as they are.
    fn address_of(&self, standing: &[(&str, &str)]) -> String {
        let others =
            self.0.iter().filter(|(name, _)| !["status", "phase", "open", "since"].contains(&&**name));
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(others).extend_pairs(standing);
        let query = query.finish();
        if query.is_empty() { "/runs".to_owned() } else { format!("/runs?{query}") }
    }

    /// Whether runs of a schedule may be folded: a list that was asked for by label or text shows each.
    fn may_fold(&self) -> bool {
        self.text("label").is_empty() && self.text("text").is_empty()
    }

    /// Whether the list is of some of the runs only, however they stand: then the counts of all are not its own.
    fn is_narrowed(&self) -> bool {
        self.0.iter().any(|(name, _)| !["status", "phase", "open", "since"].contains(&&**name))
    }

    /// Whether the list shows just the runs that stand so.
    fn is_of(&self, standing: &[(&str, &str)]) -> bool {
        ["status", "phase", "open", "since"].into_iter().all(|name| {
            let wanted = standing.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
            self.text(name) == wanted
        })
    }

    fn field(&self, name: &str, label: &str, placeholder: &str) -> Markup {
        html! {
            div class="field" {
                label for=(name) { (label) }
                input id=(name) name=(name) size="14" value=(self.text(name)) placeholder=(placeholder);
            }
        }
    }

    fn form(&self) -> Markup {
        html! {
            form class="filters" role="search" method="get" action="/runs" data-apply {
                div class="field" {
                    label for="text" { "Search" }
                    input id="text" name="text" type="search" value=(self.text("text")) placeholder="id, workflow, label";
                }
                (format::phase_choice(Some(self.text("phase"))))
                @if !self.text("workflow").is_empty() { (self.field("workflow", "Workflow", "")) }
                @if !self.text("status").is_empty() { input type="hidden" name="status" value=(self.text("status")); }
                (self.field("namespace", "Namespace", "all"))
                (self.field("label", "Label", "team=data"))
                div class="field" {
                    label for="since" { "Submitted" }
                    select id="since" name="since" {
                        @let since = self.text("since");
                        @for (length, words) in PERIODS { option value=(length) selected[since == length] { (words) } }
                        // A link may have a time of its own.
                        @if PERIODS.iter().all(|(length, _)| *length != since) { option value=(since) selected { "since " (since) } }
                    }
                }
                label class="choice" {
                    input type="checkbox" name="open" value="true" checked[self.text("open") == "true"];
                    " open only"
                }
                button class="plain" { "Filter" }
                @if !self.0.is_empty() { a href="/runs" { "Show all" } }
            }
        }
    }
}

/// The counts as links to the runs that they count.
fn chips(counts: &StatusCounts, asked: &RunFilter, failing: usize) -> Markup {
    let all = counts.chips();
    html! {
        @if !all.is_empty() {
            nav class="chips" aria-label="Runs by status" {
                a class="chip" href=(asked.address_of(&[])) aria-current=[asked.is_of(&[]).then_some("true")] { "All" }
                @for chip in &all {
                    a class={ "chip " (chip.class) } href=(asked.address_of(&chip.filter)) title=(chip.explained())
                        aria-current=[asked.is_of(&chip.filter).then_some("true")] {
                        (chip.sign()) (chip.word) @if !asked.is_narrowed() { " " strong { (chip.count) } }
                        @if chip.is_recent() { span class="none" { " in 24 h" } }
                    }
                }
                @if failing > 0 { a class="chip" href="/schedules" { (format::sign(Phase::Failed)) "Failing schedules " strong { (failing) } } }
            }
        }
    }
}

fn table(rows: &[RowState], asked: &RunFilter) -> Markup {
    let is_of_one = rows.iter().all(|one| &*one.row.head.namespace == "default");
    html! {
        table class="list runs" {
            caption class="unseen" { "Runs, the newest first" }
            thead {
                tr { th scope="col" { "Status" } th scope="col" { "Workflow" }
                    @if !is_of_one { th scope="col" { "Namespace" } }
                    th scope="col" { "Submitted" } th scope="col" { "Took" } th scope="col" { "Run" } }
            }
            tbody { @for (one, alike) in folded(rows, asked) {
                (line(one, !is_of_one))
                @if alike > 0 { (others(one, alike, asked, if is_of_one { 6 } else { 7 })) }
            } }
        }
    }
}

fn line(one: &RowState, has_namespace: bool) -> Markup {
    let (head, status) = (&one.row.head, &one.row.status);
    html! {
        tr id={ "run-" (head.run_id) } class=[one.waits_for_a_person().then_some("asks")] {
            td class="state" { (standing(one)) }
            th scope="row" {
                a class="row" href={ "/runs/" (head.run_id) } { (head.workflow) }
                @if let Some(schedule) = head.labels.get(SCHEDULE_LABEL) {
                    " " a class="origin" href=(format::saved_path("schedules", &head.namespace, schedule)) { "schedule " (schedule) }
                }
                @if let Some(of) = head.labels.get(RERUN_LABEL) {
                    " " a class="origin" href={ "/runs/" (of) } { "rerun of " (format::end_of(of)) }
                }
                @if let Some(reason) = one.reason() { p class="reason" { (text::cut(&reason, MAX_REASON_BYTES)) } }
            }
            @if has_namespace { td { (head.namespace) } }
            td { (format::time(head.submitted_at)) }
            td { (format::took_or_counts(head.submitted_at, status.finished_at)) }
            td { (format::short_id(&head.run_id)) }
        }
    }
}

/// Returns the runs that have a row, each with the number of those that it stands for: of a schedule's runs that ended alike, the newest
/// has a row if there are several.
fn folded<'r>(rows: &'r [RowState], asked: &RunFilter) -> Vec<(&'r RowState, usize)> {
    let mut shown: Vec<(&RowState, usize)> = Vec::with_capacity(rows.len());
    for one in rows {
        let alike = rows.iter().filter(|other| one.is_like(other)).count();
        let is_folded = asked.may_fold() && alike >= MIN_FOLDED;
        match shown.iter_mut().find(|(first, _)| is_folded && first.is_like(one)) {
            Some((_, others)) => *others += 1,
            None => shown.push((one, 0)),
        }
    }
    shown
}

/// The row that stands for the earlier runs of a schedule that ended alike.
fn others(newest: &RowState, alike: usize, asked: &RunFilter, columns: usize) -> Markup {
    let schedule = newest.schedule().unwrap_or_default();
    html! {
        tr class="others" {
            td colspan=(columns) {
                a href=(asked.address_with("label", &format!("{SCHEDULE_LABEL}={schedule}"))) {
                    (alike) " earlier runs of schedule " (schedule) " ended alike"
                }
            }
        }
    }
}

/// How a run stands: by a sign, a word, and a bar where it is known how far it has come.
fn standing(one: &RowState) -> Markup {
    let phase = one.row.status.phase;
    html! {
        @if one.row.damaged.is_some() { span class="bad" { "damaged" } }
        @else if one.waits_for_a_person() {
            (format::marked(Phase::Suspended, "Waiting for approval"))
            " " a class="act" href={ "/runs/" (one.row.head.run_id) "#attention" } { "Respond" }
        }
        @else if one.state == RunState::Queued { (format::marked(Phase::Created, "Queued")) }
        @else { (format::phase(phase)) }
        @if let Some(progress) = one.progress.filter(|progress| progress.total > 1) {
            " " (format::progress(progress))
        }
    }
}

/// The page of a store without runs, with a first command to copy.
fn nothing(context: &RequestContext, asked: &RunFilter) -> Markup {
    let key = if context.caller.key.is_some() { " -H \"Authorization: Bearer $PHASM_KEY\"" } else { "" };
    html! {
        div class="empty" {
            @if asked.0.is_empty() {
                h2 { "No run yet" }
                p { "A run is one execution of a workflow file." }
                @if context.caller.may(Role::Run).is_ok() {
                    p { a href="/submit" { "Write a workflow here" } " (it begins with an example), or send one that is in a file:" }
                    pre tabindex="0" data-copy {
                        "curl " (saved::url(context)) "/v1/runs" (key) " \\\n     -H 'Content-Type: application/yaml' --data-binary @greet.yaml"
                    }
                    p { "It appears here once it is accepted." }
                }
            } @else {
                h2 { "No matching runs" }
                p { a href="/runs" { "Show all runs" } }
            }
        }
    }
}
