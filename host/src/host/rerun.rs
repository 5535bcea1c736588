//! Running a run again: a new run of the same document with the same executors, from what the earlier one left.

use std::sync::Arc;

use phasm_engine::{
    event::{Requester, SubmissionRecord},
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
        let submission = planner.submission(plan, &parameters, submitted.facts, rerun.by.clone())?;
        let left = earlier.rerun(&submission.parameters, rerun.from_failed);
        let now = self.shared.clock.now();
        let (run, step) = Run::start_rerun(Arc::clone(plan), submission, left, now);
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
