//! `spec` of a CronWorkflow: a schedule around a workflow's spec.

use std::sync::Arc;

use crate::{
    document::workflow::schedule::{INSTANT, TIMES, ZONE},
    form::{AnyField as _, BOOLEAN, Cursor, Field, Form, Object, Report, Table, Words, whole, word},
    problem::codes::schedules,
    schedule::{Concurrency, Cron, Schedule, Timetable, Zone},
    time::{Millis, Timestamp},
};

use super::{
    metadata::{Metadata, RUN_METADATA},
    spec::{SPEC_OF_WORKFLOW, SpecDoc},
};

/// A schedule, what its runs are called, and what they do.
pub(super) struct CronDoc {
    /// Nothing where it cannot be read.
    pub(super) cron: Option<Cron>,
    pub(super) runs: Metadata,
    pub(super) spec: SpecDoc,
}

pub(super) const CRON_SPEC: Form<CronDoc> = Form::new(read, |defs| defs.object(&CRON_TABLE));

static CRON_TABLE: Table = Table::closed(
    "cronSpec",
    "The schedule of a workflow, and the workflow.",
    &[
        &SCHEDULE_FIELD,
        &TIMEZONE,
        &START_AT,
        &END_AT,
        &CONCURRENCY_POLICY,
        &STARTING_DEADLINE,
        &SUCCESSFUL_LIMIT,
        &FAILED_LIMIT,
        &SUSPEND,
        &WORKFLOW_METADATA,
        &WORKFLOW_SPEC,
    ],
    &[],
);

static SCHEDULE_FIELD: Field<Timetable> = Field::required(
    "schedule",
    "five fields, as `0 * * * *`",
    TIMES,
    "Minute, hour, day, month and weekday as `0 * * * *`, or a name such as `@daily`.",
)
.such_as(&["0 6 * * *", "0 6 * * 1-5", "*/15 * * * *", "@hourly"]);

static TIMEZONE: Field<Zone> =
    Field::optional("timezone", ZONE, "Time zone of the schedule, by its name in the IANA database.")
        .or("UTC")
        .such_as(&["UTC", "Europe/Berlin", "America/New_York"]);

static START_AT: Field<Timestamp> =
    Field::optional("startAt", INSTANT, "No run starts before this time, such as `2026-11-20T08:00:00Z`.");

static END_AT: Field<Timestamp> = Field::optional("endAt", INSTANT, "No run starts after this time.");

static CONCURRENCY_POLICY: Field<Concurrency> = Field::optional(
    "concurrencyPolicy",
    word::<Concurrency>(),
    "What happens when a run is due while another is still open: it is started as well, it is skipped, or the other one is \
     cancelled.",
)
.or("Allow");

static STARTING_DEADLINE: Field<u32> = Field::optional(
    "startingDeadlineSeconds",
    SECONDS,
    "How late a run may start, in seconds, at least 1; later it is not started at all. Absent: none is too late.",
);

static SUCCESSFUL_LIMIT: Field<u32> =
    Field::optional("successfulJobsHistoryLimit", COUNT, "Number of succeeded runs to keep; absent: all.");

static FAILED_LIMIT: Field<u32> = Field::optional(
    "failedJobsHistoryLimit",
    COUNT,
    "Number of runs to keep that did not succeed; absent: all.",
);

static SUSPEND: Field<bool> = Field::optional("suspend", BOOLEAN, "Whether the schedule pauses.").or("false");

static WORKFLOW_METADATA: Field<Metadata> =
    Field::optional("workflowMetadata", RUN_METADATA, "Name, labels and annotations of each run.");

static WORKFLOW_SPEC: Field<SpecDoc> = Field::required(
    "workflowSpec",
    "the spec of the workflow to run",
    SPEC_OF_WORKFLOW,
    "The spec of the workflow to run.",
);

/// Every run starts a moment after its time: with 0 none would ever start.
const SECONDS: Form<u32> = whole::<u32, 1, { u32::MAX as i64 }>();

const COUNT: Form<u32> = whole::<u32, 0, { u32::MAX as i64 }>();

impl Words for Concurrency {
    const WORDS: &'static [(&'static str, Self)] =
        &[("Allow", Self::Allow), ("Forbid", Self::Forbid), ("Replace", Self::Replace)];
}

fn read(cursor: &Cursor<'_>, report: &Report) -> Option<CronDoc> {
    let object = cursor.object(&CRON_TABLE, report)?;
    let cron = cron(&object, cursor, report);
    let runs = object.optional(&WORKFLOW_METADATA).unwrap_or_default();
    Some(CronDoc { cron, runs, spec: object.optional(&WORKFLOW_SPEC)? })
}

fn cron(object: &Object<'_, '_>, cursor: &Cursor<'_>, report: &Report) -> Option<Cron> {
    let times = object.optional(&SCHEDULE_FIELD);
    let zone = object.optional(&TIMEZONE).unwrap_or_default();
    let (start_at, end_at) = (object.optional(&START_AT), object.optional(&END_AT));
    let concurrency = object.optional(&CONCURRENCY_POLICY).unwrap_or_default();
    let starting_deadline = object.optional(&STARTING_DEADLINE).map(|seconds| Millis::from(seconds) * 1000);
    let (keep_succeeded, keep_others) = (object.optional(&SUCCESSFUL_LIMIT), object.optional(&FAILED_LIMIT));
    let suspend = object.optional(&SUSPEND).unwrap_or(false);
    let written =
        object.get(SCHEDULE_FIELD.name()).and_then(|written| written.tree.to_value().as_str().map(Arc::from));
    let schedule = Schedule { times: times?, zone, start_at, end_at };
    if end_at.is_some() && schedule.next_after(Timestamp(0)).is_none() {
        let message = "endAt is before the first run of the schedule";
        report.problem(cursor.problem(&schedules::NEVER, message));
    }
    Some(Cron {
        name: "".into(),
        written: written?,
        schedule,
        concurrency,
        starting_deadline,
        keep_succeeded,
        keep_others,
        suspend,
    })
}
