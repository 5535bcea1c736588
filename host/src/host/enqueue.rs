//! Submitting runs that another host is to drive.

use std::sync::Arc;

use phasm_engine::{plan::Plan, value::Map};

use super::{Host, SubmitError};
impl Host {
    /// Submits a run without driving it: when this returns, it is durable, and due for any host that claims what is due. Its id is
    /// returned. Of several submissions with one `key` in a namespace there is one run.
    ///
    /// # Errors
    /// [`SubmitError`], nothing was stored; it holds [`StoreError::Exists`](crate::store::StoreError::Exists) with the id of the run that has the key already.
    pub async fn enqueue(
        &self,
        plan: &Arc<Plan>,
        parameters: &Map,
        key: Option<&str>,
    ) -> Result<Arc<str>, SubmitError> {
        self.shared.enqueue_in(&*self.shared.store, plan, parameters, key).await
    }

    /// [`Self::enqueue`] into another store, as that of a file which another process holds and drives.
    ///
    /// # Errors
    /// As [`Self::enqueue`].
    pub async fn enqueue_in(
        &self,
        store: &dyn crate::store::Store,
        plan: &Arc<Plan>,
        parameters: &Map,
        key: Option<&str>,
    ) -> Result<Arc<str>, SubmitError> {
        self.shared.enqueue_in(store, plan, parameters, key).await
    }
}
