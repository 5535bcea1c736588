//! Submitting runs that another host is to drive.

use std::{num::NonZeroU32, sync::Arc};

use phasm_engine::{plan::Plan, run::Run, value::Map};

use super::{Host, SubmitError};
use crate::{
    journal::{Body, Moment},
    store::{Record, RunStatus, Store, StoreError},
};

impl Host {
    /// Submits a run without driving it: when this returns, it is durable, and due for any host that claims what is due. Its id is
    /// returned. Of several submissions with one `key` in a namespace there is one run.
    ///
    /// # Errors
    /// [`SubmitError`], nothing was stored; it holds [`StoreError::Exists`] with the id of the run that has the key already.
    pub async fn enqueue(
        &self,
        plan: &Arc<Plan>,
        parameters: &Map,
        key: Option<&str>,
    ) -> Result<Arc<str>, SubmitError> {
        self.enqueue_in(&*self.shared.store, plan, parameters, key).await
    }

    /// [`Self::enqueue`] into the store in `file`, which another process holds and drives.
    ///
    /// # Errors
    /// As [`Self::enqueue`].
    #[cfg(feature = "sqlite")]
    pub async fn enqueue_beside(
        &self,
        file: &std::path::Path,
        plan: &Arc<Plan>,
        parameters: &Map,
        key: Option<&str>,
    ) -> Result<Arc<str>, SubmitError> {
        let store = crate::store::Sqlite::beside(file)?;
        self.enqueue_in(&store, plan, parameters, key).await
    }

    async fn enqueue_in(
        &self,
        store: &dyn Store,
        plan: &Arc<Plan>,
        parameters: &Map,
        key: Option<&str>,
    ) -> Result<Arc<str>, SubmitError> {
        let _admitted = self.admit(store, &plan.namespace).await?;
        let document = self.shared.document(plan);
        let submission = self.submission(plan, parameters, self.facts.clone())?;
        let (run, step) = Run::start(Arc::clone(plan), submission, self.shared.clock.now());
        let lease = self.first_lease(&run, key.map(Arc::from));
        let moments = vec![Moment { time: run.now(), events: Arc::new(step.events) }];
        let body = Body { moments, basis: Some(Arc::clone(&document.digest)) };
        let record = Record {
            first_seq: 0,
            events: body.count().unwrap_or(NonZeroU32::MIN),
            time: run.now(),
            body: Arc::new(body) as _,
            document: Some(document),
        };
        let appended = store.append(&lease, RunStatus::of(&run), record, Vec::new());
        let released = store.release(&lease, Some(run.now()));
        appended.await?;
        match released.await {
            // Somebody drives it already, or will once this host is known to be gone.
            Ok(()) | Err(StoreError::Fenced { .. }) => {}
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "run {} begins only when this host is gone",
                run.id()
            ),
        }
        Ok(Arc::clone(run.id()))
    }
}
