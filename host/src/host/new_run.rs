//! A run that is ready to be submitted to a host.

use std::sync::Arc;

use phasm_engine::run::{Run, Step};

use crate::{
    core::{HostCore, detached::DetachOnDrop},
    drive::{follow::Watch, handle::RunHandle, load},
    planner::{Admission, RequestIdentity, SubmitError},
    run::registry::Entry,
    store::{Labels, StoreError},
};

/// The label of a run that repeats another, also with an edited workflow file: the id of that one.
pub const RERUN_LABEL: &str = "phasm/rerun-of";

/// A run whose first step is decided and that is not stored yet.
///
/// A new run counts against its tenant's quotas. Dropping it submits nothing.
pub struct NewRun {
    core: Arc<HostCore>,
    entry: Arc<Entry>,
    run: Run,
    step: Step,
    key: Option<Arc<str>>,
    /// The run that it repeats.
    repeats: Option<Arc<str>>,
    admission: Admission,
}

impl std::fmt::Debug for NewRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewRun").field("run_id", self.id()).finish_non_exhaustive()
    }
}

impl NewRun {
    pub(super) fn new(core: &Arc<HostCore>, run: Run, step: Step, admission: Admission) -> Self {
        let entry = core.registry.entry(run.id());
        let repeats = run.rerun_of().cloned();
        Self { core: Arc::clone(core), entry, run, step, key: None, repeats, admission }
    }

    /// The id that the run will have.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        self.run.id()
    }

    /// Sets the idempotency key: submissions with the same key in a namespace start one run.
    #[must_use]
    pub fn key(mut self, key: Option<&str>) -> Self {
        self.key = key.map(Arc::from);
        self
    }

    /// Says that it repeats an earlier run with an edited workflow file, by which lists find it.
    #[must_use]
    pub fn repeats(mut self, run_id: Option<Arc<str>>) -> Self {
        self.repeats = run_id.or(self.repeats);
        self
    }

    /// Watches the run from its first event on.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch::new(&self.core, &self.entry, 0, false)
    }

    /// Submits the run. When this returns, the run is durable and on its way.
    ///
    /// # Errors
    /// [`SubmitError`], nothing was stored. [`SubmitError::Store`] with [`StoreError::Exists`] has the id of the run that the same
    /// submission started; [`SubmitError::KeyUsed`] if the key belongs to another submission.
    pub async fn start(self) -> Result<RunHandle, SubmitError> {
        let Self { core, entry, run, step, key, repeats, admission } = self;
        let control = core.control.clone();
        let identity = key.as_ref().and_then(|_| RequestIdentity::of(run.plan(), &step));
        let lease = core.planner.first_lease(&run, key, labels(repeats));
        let earlier = run.rerun_of().cloned();
        let artifacts = &core.planner.artifacts;
        artifacts.name(&run.plan().namespace, run.id(), run.parameters(), earlier.as_ref()).await?;
        let span = core.planner.submit_span(&run);
        let store = Arc::clone(&core.store);
        let submission = async move {
            let first = lease.clone();
            // A request that finds the run in the store meanwhile waits until it is driven here.
            let _loading = entry.load_lock.lock().await;
            let driven = load::drive(&core, &entry, run, step, lease, Vec::new()).await;
            driven.inspect_err(|error| core.ownership_doubt.raise(error))?;
            core.planner.end_submit_span(span, &first);
            drop(admission);
            Ok::<_, StoreError>(RunHandle::new(&core, &entry))
        };
        // The caller may stop waiting: a run that is stored is driven all the same.
        match DetachOnDrop::new(&control, submission).await {
            Ok(run) => Ok(run),
            Err(error) => Err(RequestIdentity::explain(identity, &*store, error).await),
        }
    }
}

fn labels(repeats: Option<Arc<str>>) -> Labels {
    repeats.map(|run_id| (RERUN_LABEL.into(), run_id)).into_iter().collect()
}
