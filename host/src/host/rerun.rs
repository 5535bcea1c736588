//! Running a run again: a new run of the same document with the same executors, from what the earlier one left.

use std::sync::Arc;

use phasm_engine::{
    event::Submitted,
    phase::Phase,
    run::{Run, Step},
    value::{Map, Value},
};

use super::{Host, SubmitError, admit::Admitted};
use crate::{
    drive::{follow::Watch, handle::RunHandle},
    journal::RecoverError,
    run::registry::Entry,
};

/// How a run is run again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rerun {
    /// Take over what had succeeded and would come to the same, and execute the rest; else everything is executed.
    pub from_failed: bool,
    /// Parameters that are to be others than those it had.
    pub parameters: Map,
}

/// Why a run was not run again; nothing was stored.
#[derive(Debug, thiserror::Error)]
pub enum RerunError {
    /// There is no such run, its journal cannot be read, or what it was submitted with is not there.
    #[error(transparent)]
    Recover(#[from] RecoverError),
    /// It has not ended: what it comes to is not known yet.
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
    /// Submits a new run with the document of a run of this store, with the components it was pinned to, its variables, and
    /// its parameters where `rerun` has no others. When this returns, the new run is durable and on its way; the
    /// earlier one stays as it is.
    ///
    /// # Errors
    /// [`RerunError`]; nothing was stored.
    pub async fn rerun(&self, run_id: &str, rerun: &Rerun) -> Result<RunHandle, RerunError> {
        let (entry, run, step, _admitted) = self.start_rerun(run_id, rerun).await?;
        Ok(self.launch(&entry, run, step, None).await.map_err(SubmitError::from)?)
    }

    /// [`Self::rerun`], heard from the new run's first event on.
    ///
    /// # Errors
    /// [`RerunError`]; nothing was stored.
    pub async fn rerun_watched(&self, run_id: &str, rerun: &Rerun) -> Result<(RunHandle, Watch), RerunError> {
        let (entry, run, step, _admitted) = self.start_rerun(run_id, rerun).await?;
        let watch = Watch::new(&self.shared, &entry, 0, false);
        Ok((self.launch(&entry, run, step, None).await.map_err(SubmitError::from)?, watch))
    }

    async fn start_rerun(
        &self,
        run_id: &str,
        rerun: &Rerun,
    ) -> Result<(Arc<Entry>, Run, Step, Admitted), RerunError> {
        let (earlier, submitted) = self.replay_ended(run_id).await?;
        let plan = earlier.plan();
        let admitted = self.shared.admit(&*self.shared.store, &plan.namespace).await?;
        let parameters = parameters(&earlier, &rerun.parameters);
        let submission = self.shared.submission(plan, &parameters, submitted.facts)?;
        let left = earlier.rerun(&submission.parameters, rerun.from_failed);
        let now = self.shared.clock.now();
        let (run, step) = Run::start_rerun(Arc::clone(plan), submission, left, now);
        Ok((self.shared.registry.entry(run.id()), run, step, admitted))
    }

    /// A run that has ended, where what it was submitted with is there.
    async fn replay_ended(&self, run_id: &str) -> Result<(Run, Submitted), RerunError> {
        let (run, submitted) = self.shared.replay(run_id).await?;
        if !run.phase().is_terminal() {
            return Err(RerunError::Open { run_id: run_id.into(), phase: run.phase() });
        }
        let missing = self.shared.missing(run.plan(), &submitted).await;
        if !missing.is_empty() {
            return Err(RecoverError::Missing { run_id: run_id.into(), missing }.into());
        }
        Ok((run, submitted))
    }
}

/// What it had, save what is given. Null is what nobody gave, or a secret: neither is given again.
fn parameters(earlier: &Run, given: &Map) -> Map {
    let had = earlier.parameters().iter().filter(|(_, value)| **value != Value::Null);
    let mut parameters: Map = had.map(|(name, value)| (name.clone(), value.clone())).collect();
    parameters.extend(given.iter().map(|(name, value)| (name.clone(), value.clone())));
    parameters
}
