//! A run's journal in a store: events as bytes and back, and the run that follows from them.

mod body;
pub(crate) mod outline;
pub(crate) mod outline_cache;
pub(crate) mod plan_cache;
pub(crate) mod requirement;

use std::sync::Arc;

pub use phasm_engine::run::{EventView, render, views};
use phasm_engine::{
    event::{Basis, Event, SubmissionRecord},
    phase::Phase,
    plan::Plan,
    problem::{Problem, Problems},
    run::{ImpossibleHistory, Run},
    time::Timestamp,
};
use serde::de::Error as _;

use phasm_sandbox::Digest;

use self::body::decode;
pub(crate) use self::body::{Body, Moment};
pub use self::outline::{LargeValues, MAX_SHOWN_BYTES, MAX_VALUE_BYTES};
use crate::{
    journal::{plan_cache::PlanCache, requirement::UnmetRequirement},
    store::{Document, Encode, Record, StoreError},
};

/// Reads the basis of a run, of which `submitted` has only the digest, and checks it against that.
fn basis(digest: &str, kept: Option<&Document>) -> Result<Basis, serde_json::Error> {
    let wrong = |what| {
        serde_json::Error::custom(format!("the workflow file {digest} that it was submitted with {what}"))
    };
    let kept = kept.ok_or_else(|| wrong("is not kept"))?;
    if Digest::of(&kept.bytes).to_string() != digest {
        return Err(wrong("is damaged: its digest differs"));
    }
    body::json(&kept.bytes)
}

/// Events of one step, durable.
pub type StepRecord = Record<Arc<Vec<Event>>>;

/// Why a run of a store cannot be recovered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// The store has no such run, or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another host has it.
    #[error("run {run_id} is running on another host")]
    Driven {
        /// The run.
        run_id: Arc<str>,
    },
    /// Nothing follows any more.
    #[error("run {run_id} has already ended: {phase}")]
    Ended {
        /// The run.
        run_id: Arc<str>,
        /// How it ended.
        phase: Phase,
    },
    /// A record holds something else than events.
    #[error("event {seq} of run {run_id} cannot be read")]
    Unreadable {
        /// The run.
        run_id: Arc<str>,
        /// The number of the record's first event.
        seq: u64,
        /// The cause.
        source: serde_json::Error,
    },
    /// An event does not follow from those before it.
    #[error("the journal of run {run_id} contradicts itself")]
    Impossible {
        /// The run.
        run_id: Arc<str>,
        /// Where, and why.
        source: ImpossibleHistory,
    },
    /// Something that it was submitted with is not there as it was.
    #[error("run {run_id} cannot continue: an executor or setting that it was submitted with is missing: {}", named(.missing))]
    Missing {
        /// The run.
        run_id: Arc<str>,
        /// All of it.
        missing: Vec<UnmetRequirement>,
    },
    /// The document holds what this Phasm cannot read at all.
    #[error("the workflow file of run {run_id} has {} errors in this version of Phasm:\n{problems}", .problems.len())]
    Document {
        /// The run.
        run_id: Arc<str>,
        /// All of them.
        problems: Problems,
    },
}

fn named(missing: &[UnmetRequirement]) -> String {
    missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// The text that the submitter left with a run, in the run's first record.
#[must_use]
pub fn origin(records: &[Record<Vec<u8>>]) -> Option<Arc<str>> {
    let first = records.first()?;
    decode(&first.body, first.time).ok()?.submitted()?.origin.take()
}

/// Returns the submission that a run's first record holds, with the document.
///
/// # Errors
/// [`RecoverError::Unreadable`].
pub(crate) fn submission(
    run_id: &str,
    records: &[Record<Vec<u8>>],
) -> Result<SubmissionRecord, RecoverError> {
    let first = records.first().map(|first| told(&PlanCache::default(), run_id, first)).transpose()?;
    match first.iter().flatten().flat_map(|step| step.body.iter()).next() {
        Some(Event::Submitted(submitted)) => Ok((**submitted).clone()),
        _ => Err(unreadable(run_id, 0, serde_json::Error::custom("expected the event of the submission"))),
    }
}

/// Returns the records without the text that the submitter left with the run: paths of the host, which not all readers may see.
#[must_use]
pub fn without_origin(mut records: Vec<Record<Vec<u8>>>) -> Vec<Record<Vec<u8>>> {
    if let Some(first) = records.first_mut()
        && let Ok(mut body) = decode(&first.body, first.time)
        && body.submitted().is_some_and(|submitted| submitted.origin.take().is_some())
    {
        first.body.clear();
        Encode::encode(&body, &mut first.body);
    }
    records
}

/// Rebuilds a run from its records. `each` sees the run right after every step of it, with the number of the step's
/// first event, its time and its events.
///
/// # Errors
/// [`RecoverError`] when the records are no journal of a run.
pub fn replay(
    run_id: &str,
    records: &[Record<Vec<u8>>],
    mut each: impl FnMut(&Run, u64, Timestamp, &[Event]),
) -> Result<Run, RecoverError> {
    let mut replayed = None;
    replay_on(&mut replayed, run_id, records, &mut each)?;
    replayed.ok_or_else(|| StoreError::NotFound { run_id: run_id.into() }.into())
}

/// [`replay`] from a run that has been replayed so far; with none from the first record.
///
/// # Errors
/// [`RecoverError`] when the records do not follow.
pub fn replay_on(
    replayed: &mut Option<Run>,
    run_id: &str,
    records: &[Record<Vec<u8>>],
    each: impl FnMut(&Run, u64, Timestamp, &[Event]),
) -> Result<(), RecoverError> {
    replay_with(&PlanCache::default(), replayed, run_id, records, each)
}

/// [`replay_on`] with a cache of plans.
pub(crate) fn replay_with(
    plans: &PlanCache,
    replayed: &mut Option<Run>,
    run_id: &str,
    records: &[Record<Vec<u8>>],
    mut each: impl FnMut(&Run, u64, Timestamp, &[Event]),
) -> Result<(), RecoverError> {
    for record in records {
        for told in told(plans, run_id, record)? {
            let run = apply(plans, replayed, run_id, &told)?;
            each(run, told.first_seq, told.time, &told.body);
        }
    }
    Ok(())
}

/// The steps of a record, with what is kept apart of them.
///
/// # Errors
/// [`RecoverError::Unreadable`].
pub(crate) fn told(
    plans: &PlanCache,
    run_id: &str,
    record: &Record<Vec<u8>>,
) -> Result<Vec<StepRecord>, RecoverError> {
    let Record { first_seq, events, time, ref body, ref document, .. } = *record;
    let unreadable = |source| unreadable(run_id, first_seq, source);
    let mut body = decode(body, time).map_err(unreadable)?;
    if body.count() != Some(events) {
        return Err(unreadable(serde_json::Error::custom("it has another number of events")));
    }
    if let Some(submitted) = body.submitted()
        && let Some(digest) = submitted.basis.clone()
    {
        submitted.join(match plans.find(&digest) {
            Some(plan) => Basis::of(&plan),
            None => basis(&digest, document.as_deref()).map_err(unreadable)?,
        });
    }
    Ok(body.told(first_seq, document.as_ref()).collect())
}

fn unreadable(run_id: &str, seq: u64, source: serde_json::Error) -> RecoverError {
    RecoverError::Unreadable { run_id: run_id.into(), seq, source }
}

/// Advances a run by its next record; without a run, begins it by its first.
///
/// # Errors
/// [`RecoverError`] when the record does not follow.
pub(crate) fn apply<'r>(
    plans: &PlanCache,
    replayed: &'r mut Option<Run>,
    run_id: &str,
    told: &StepRecord,
) -> Result<&'r Run, RecoverError> {
    let impossible = |source| RecoverError::Impossible { run_id: run_id.into(), source };
    let run = match replayed {
        Some(run) => run,
        None => {
            let Some(Event::Submitted(submitted)) = told.body.first() else {
                let expected = serde_json::Error::custom("expected the event of the submission");
                return Err(unreadable(run_id, told.first_seq, expected));
            };
            let plan = plan(plans, submitted, told.document.as_deref()).map_err(|problems| {
                RecoverError::Document { run_id: run_id.into(), problems: problems.into() }
            })?;
            replayed.insert(Run::replay(plan, []).map_err(impossible)?)
        }
    };
    run.apply_record(told.time, &told.body).map_err(impossible)?;
    Ok(run)
}

/// The plan that a run was submitted with; that of other runs with the same, where it is known.
fn plan(
    plans: &PlanCache,
    submitted: &SubmissionRecord,
    kept: Option<&Document>,
) -> Result<Arc<Plan>, Vec<Problem>> {
    let known = kept.and_then(|kept| plans.find_bound(&kept.digest, &submitted.settings));
    if let Some(plan) = known {
        return Ok(plan);
    }
    let plan = Arc::new(submitted.plan()?);
    Ok(kept.map_or_else(|| Arc::clone(&plan), |kept| plans.share(kept, &plan)))
}
