//! A run's journal in a store: events as bytes and back, and the run that follows from them.

mod body;

use std::sync::Arc;

pub use phasm_engine::run::render;
use phasm_engine::{
    event::Event,
    phase::Phase,
    problem::Problems,
    run::{ImpossibleHistory, Run},
    time::Timestamp,
};
use serde::de::Error as _;

use self::body::decode;
pub(crate) use self::body::{Body, Moment};
use crate::{
    missing::Missing,
    store::{Record, StoreError},
};

/// Why a run of a store cannot be recovered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// The store has no such run, or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another host has it.
    #[error("run {run_id} is driven by another host")]
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
        /// What was met.
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
    #[error("run {run_id} cannot go on, as what it was submitted with is missing: {}", named(.missing))]
    Missing {
        /// The run.
        run_id: Arc<str>,
        /// All of it.
        missing: Vec<Missing>,
    },
    /// The document holds what this Phasm cannot read at all.
    #[error("the document of run {run_id} has {} problems that keep this Phasm from reading it:\n{problems}", .problems.len())]
    Document {
        /// The run.
        run_id: Arc<str>,
        /// All of them.
        problems: Problems,
    },
}

fn named(missing: &[Missing]) -> String {
    missing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
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

/// As [`replay`], from where `replayed` stands: with nothing from the first record.
///
/// # Errors
/// [`RecoverError`] when the records do not follow.
pub fn replay_on(
    replayed: &mut Option<Run>,
    run_id: &str,
    records: &[Record<Vec<u8>>],
    mut each: impl FnMut(&Run, u64, Timestamp, &[Event]),
) -> Result<(), RecoverError> {
    let run_id = || Arc::from(run_id);
    let impossible = |source| RecoverError::Impossible { run_id: run_id(), source };
    for record in records {
        let unreadable =
            |source| RecoverError::Unreadable { run_id: run_id(), seq: record.first_seq, source };
        let moments = decode(&record.body, record.time).map_err(unreadable)?;
        let run = match replayed {
            Some(run) => run,
            None => {
                let first = moments.first().and_then(|moment| moment.events.first());
                let Some(Event::Submitted(submitted)) = first else {
                    return Err(unreadable(serde_json::Error::custom(
                        "expected the event of the submission",
                    )));
                };
                let plan = submitted.plan().map_err(|problems| RecoverError::Document {
                    run_id: run_id(),
                    problems: problems.into(),
                })?;
                replayed.insert(Run::replay(Arc::new(plan), []).map_err(impossible)?)
            }
        };
        let mut seq = record.first_seq;
        for Moment { time, events } in &moments {
            run.apply_record(*time, events).map_err(impossible)?;
            each(run, seq, *time, events);
            seq = seq.saturating_add(events.len() as u64);
        }
        if seq != record.next_seq() {
            return Err(unreadable(serde_json::Error::custom("it has another number of events")));
        }
    }
    Ok(())
}
