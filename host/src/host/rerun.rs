//! Running a run again: a new run of the same document with the same executors, from what the earlier one left.

use std::sync::Arc;

use phasm_engine::{
    event::{Requester, Rerun as Results, SubmissionRecord},
    json_size::json_size,
    phase::Phase,
    run::Run,
    value::{Map, Value},
};

use super::{Host, NewRun};
use crate::{
    drive::{load, requirements},
    journal::RecoverError,
    planner::SubmitError,
};

/// Most bytes of results that a rerun takes over: they are in its first record, which has some room for the rest of a submission.
const MAX_REUSED_BYTES: usize = 255 << 20;
/// Bytes up to which larger results are counted for the error.
const MAX_COUNTED_BYTES: usize = 16 << 30;

/// How a run is run again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rerun {
    /// Take over what had succeeded and would come to the same, and execute the rest; else everything is executed.
    pub from_failed: bool,
    /// Parameters that are to be others than those it had.
    pub parameters: Map,
    /// The caller that asks for it, as the embedding program has authenticated it; none if it is not known.
    pub by: Option<Requester>,
}

/// Why a run was not run again; nothing was stored.
#[derive(Debug, thiserror::Error)]
pub enum RerunError {
    /// There is no such run, its journal cannot be read, or what it was submitted with is not there.
    #[error(transparent)]
    Recover(#[from] RecoverError),
    /// The run has not ended, so its results are not known yet.
    #[error("run {run_id} has not ended: {phase}; only a run that has can be run again")]
    Open {
        /// The run.
        run_id: Arc<str>,
        /// Where it stands.
        phase: Phase,
    },
    /// The results that the new run would take over do not fit into its first record.
    #[error(
        "the results to reuse from run {run_id} have {size} bytes, of at most {limit}; a rerun from the beginning reuses none"
    )]
    TooLarge {
        /// The earlier run.
        run_id: Arc<str>,
        /// Bytes of the results.
        size: usize,
        /// The most.
        limit: usize,
    },
    /// The parameters have problems, or the new run could not be stored.
    #[error(transparent)]
    Submit(#[from] SubmitError),
}

impl Host {
    /// Prepares a new run of the workflow of an earlier run of this store, with the components that run was pinned to, its
    /// variables, and its parameters except those that `rerun` replaces. The earlier run stays as it is; the new one is submitted
    /// when it is [started](NewRun::start).
    ///
    /// # Errors
    /// [`RerunError`].
    pub async fn rerun(&self, run_id: &str, rerun: &Rerun) -> Result<NewRun, RerunError> {
        let (earlier, submitted) = self.replay_ended(run_id).await?;
        let plan = earlier.plan();
        let planner = self.planner();
        let admission = planner.admit(&self.shared.admission_target(), &plan.namespace).await?;
        let parameters = parameters(&earlier, &rerun.parameters);
        let (bound, submission) = planner.submission(plan, &parameters, submitted.facts, rerun.by.clone())?;
        let left = earlier.rerun(&submission.parameters, rerun.from_failed);
        check_size(&left, MAX_REUSED_BYTES)?;
        let now = self.shared.clock.now();
        let (run, step) = Run::start_rerun(bound, submission, left, now);
        Ok(NewRun::new(&self.shared, run, step, admission))
    }

    /// A run that has ended, where what it was submitted with is there.
    async fn replay_ended(&self, run_id: &str) -> Result<(Run, SubmissionRecord), RerunError> {
        let (run, submitted) = load::replay(&self.shared, run_id).await?;
        if !run.phase().is_terminal() {
            return Err(RerunError::Open { run_id: run_id.into(), phase: run.phase() });
        }
        let missing =
            requirements::missing(&self.shared, run.plan(), &submitted).await.map_err(RecoverError::from)?;
        if !missing.is_empty() {
            return Err(RecoverError::Missing { run_id: run_id.into(), missing }.into());
        }
        Ok((run, submitted))
    }
}

/// The earlier run's parameters with the given ones. Null stands for an absent value or a secret: neither is passed on.
fn parameters(earlier: &Run, given: &Map) -> Map {
    let had = earlier.parameters().iter().filter(|(_, value)| **value != Value::Null);
    let mut parameters: Map = had.map(|(name, value)| (name.clone(), value.clone())).collect();
    parameters.extend(given.iter().map(|(name, value)| (name.clone(), value.clone())));
    parameters
}

/// # Errors
/// [`RerunError::TooLarge`] for results that do not fit into a record.
fn check_size(results: &Results, limit: usize) -> Result<(), RerunError> {
    if json_size(results, limit).is_some() {
        return Ok(());
    }
    let size = json_size(results, MAX_COUNTED_BYTES).unwrap_or(MAX_COUNTED_BYTES);
    Err(RerunError::TooLarge { run_id: Arc::clone(&results.run_id), size, limit })
}

#[cfg(test)]
mod tests {
    use phasm_engine::event::PastResult;

    use super::*;

    /// R-F6: results that fit exactly are taken over; with one byte more the error has both numbers.
    #[test]
    fn results_that_are_too_large_are_refused_with_both_numbers() {
        let results = |text: &str| {
            let past = PastResult { message: text.into(), ..PastResult::default() };
            Results { run_id: "r".into(), results: [("main/a".into(), past)].into(), ..Results::default() }
        };
        let limit = serde_json::to_string(&results("12345678")).unwrap().len();
        assert!(check_size(&results("12345678"), limit).is_ok());
        let error = check_size(&results("123456789"), limit).unwrap_err().to_string();
        assert!(error.contains(&format!("{} bytes, of at most {limit};", limit + 1)), "{error}");
    }
}
