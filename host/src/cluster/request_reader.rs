//! Reading of requests that other hosts post.

use std::sync::Arc;

use phasm_engine::time::Millis;

use crate::{
    core::{
        HostCore,
        background::{BackgroundTask, Wake, next_change},
    },
    drive::load,
    store::StoreError,
};

/// Reads requests that other hosts of a shared store post to this host's runs.
pub(crate) struct RequestReader;

impl BackgroundTask for RequestReader {
    const WORK: &'static str = "read requests to this host's runs";

    fn is_wanted(&self, core: &HostCore) -> bool {
        !core.is_closed()
    }

    fn wake(&self, core: &HostCore) -> Wake {
        Box::pin(next_change(core.store.changed()))
    }

    async fn round(&mut self, core: &Arc<HostCore>) -> Result<Option<Millis>, StoreError> {
        for run_id in core.store.mailed(Some(&core.host)).await? {
            load::read_requests(core, &run_id).await?;
        }
        Ok(None)
    }
}
