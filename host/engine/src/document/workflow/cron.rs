//! `spec` of a CronWorkflow: a schedule around a workflow's spec, validated, but nothing runs it yet.

use crate::form::{BOOLEAN, Cursor, Field, Form, Name, Report, TEXT, Table, Words, whole, word};

use super::{
    metadata::{Metadata, RUN_METADATA},
    schedule::SCHEDULE,
    spec::{SPEC_OF_WORKFLOW, SpecDoc},
};

pub(super) const CRON_SPEC: Form<SpecDoc> = Form::new(read, |defs| defs.object(&CRON_TABLE));

static CRON_TABLE: Table = Table::closed(
    "cronSpec",
    "When a workflow is to run, and what it does. It is checked; nothing schedules it yet.",
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

static SCHEDULE_FIELD: Field<()> = Field::required(
    "schedule",
    "five fields, as `0 * * * *`",
    SCHEDULE,
    "Minute, hour, day, month and weekday as `0 * * * *`, or a name such as `@daily`.",
);

static TIMEZONE: Field<Name> = Field::optional("timezone", TEXT, "Time zone that the schedule is meant in.");

static START_AT: Field<Name> = Field::optional("startAt", TEXT, "When the schedule begins.");

static END_AT: Field<Name> = Field::optional("endAt", TEXT, "When the schedule ends.");

static CONCURRENCY_POLICY: Field<ConcurrencyPolicy> = Field::optional(
    "concurrencyPolicy",
    word::<ConcurrencyPolicy>(),
    "What happens when a run is due while another is still open.",
);

static STARTING_DEADLINE: Field<u32> =
    Field::optional("startingDeadlineSeconds", COUNT, "How late a run may start, in seconds.");

static SUCCESSFUL_LIMIT: Field<u32> =
    Field::optional("successfulJobsHistoryLimit", COUNT, "How many succeeded runs are kept.");

static FAILED_LIMIT: Field<u32> =
    Field::optional("failedJobsHistoryLimit", COUNT, "How many runs are kept that did not succeed.");

static SUSPEND: Field<bool> = Field::optional("suspend", BOOLEAN, "Whether the schedule pauses.");

static WORKFLOW_METADATA: Field<Metadata> =
    Field::optional("workflowMetadata", RUN_METADATA, "Name, labels and notes that each run gets.");

static WORKFLOW_SPEC: Field<SpecDoc> = Field::required(
    "workflowSpec",
    "the spec of the workflow to run",
    SPEC_OF_WORKFLOW,
    "The spec of the workflow to run.",
);

const COUNT: Form<u32> = whole::<u32, 0, { u32::MAX as i64 }>();

#[derive(Clone, Copy)]
struct ConcurrencyPolicy;

impl Words for ConcurrencyPolicy {
    const WORDS: &'static [(&'static str, Self)] = &[("Allow", Self), ("Forbid", Self), ("Replace", Self)];
}

fn read(cursor: &Cursor<'_>, report: &Report) -> Option<SpecDoc> {
    let object = cursor.object(&CRON_TABLE, report)?;
    object.optional(&SCHEDULE_FIELD);
    for field in [&TIMEZONE, &START_AT, &END_AT] {
        object.optional(field);
    }
    object.optional(&CONCURRENCY_POLICY);
    for field in [&STARTING_DEADLINE, &SUCCESSFUL_LIMIT, &FAILED_LIMIT] {
        object.optional(field);
    }
    object.optional(&SUSPEND);
    object.optional(&WORKFLOW_METADATA);
    object.optional(&WORKFLOW_SPEC)
}
