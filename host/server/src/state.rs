//! State that all requests share.

use std::{future::poll_fn, io, pin::pin, sync::Arc};

use phasm::{Host, plugins::Rows, store::ReadStore};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::{Semaphore, watch},
    task::block_in_place,
};

use crate::{
    audit::Audit, auth::Auth, config::ServerConfig, feed::Feeds, hidden_paths::HiddenPaths, metrics::Metrics,
    streams::Streams,
};

/// Streams at once that read what happened before they came.
const MAX_CATCH_UP_STREAMS: usize = 64;
/// Size of a large document, in bytes. Planning one takes a millisecond or more, for which other requests would wait.
const LARGE_DOCUMENT_BYTES: usize = 32 << 10;
/// Such documents that are read and planned at once.
const MAX_LARGE_PLANS: usize = 2;

/// State that all requests share.
pub(crate) struct AppState {
    pub(crate) host: Arc<Host>,
    pub(crate) config: ServerConfig,
    pub(crate) auth: Auth,
    pub(crate) streams: Streams,
    pub(crate) feeds: Feeds,
    pub(crate) metrics: Metrics,
    pub(crate) audit: Audit,
    pub(crate) hidden_paths: HiddenPaths,
    pub(crate) catching_up: Semaphore,
    planning: Semaphore,
    /// Plugins that are uploaded at once.
    pub(crate) uploads: Semaphore,
    /// Cache of rows of plugins.
    pub(crate) rows: Rows,
    stopping: watch::Sender<bool>,
}

impl AppState {
    /// `paths` are those of all routes: metrics count requests by route.
    pub(crate) fn new(
        host: Arc<Host>,
        config: ServerConfig,
        paths: impl IntoIterator<Item = &'static str>,
    ) -> io::Result<Self> {
        Ok(Self {
            auth: Auth::new(config.keys.clone()),
            hidden_paths: HiddenPaths::new(&config.hidden_paths),
            streams: Streams::new(config.limits.streams),
            feeds: Feeds::default(),
            metrics: Metrics::new(paths),
            audit: Audit::to(config.audit.as_deref())?,
            catching_up: Semaphore::new(MAX_CATCH_UP_STREAMS),
            planning: Semaphore::new(MAX_LARGE_PLANS),
            uploads: Semaphore::new(config.limits.uploads),
            rows: Rows::default(),
            stopping: watch::Sender::new(false),
            host,
            config,
        })
    }

    /// The store, to look at.
    pub(crate) fn reader(&self) -> Arc<dyn ReadStore> {
        Arc::clone(self.host.store()) as _
    }

    /// Does what takes the longer the larger a document is: a large one's beside the threads that answer others, while it computes.
    pub(crate) async fn planning<T>(&self, bytes: usize, work: impl Future<Output = T>) -> T {
        if bytes <= LARGE_DOCUMENT_BYTES || Handle::current().runtime_flavor() != RuntimeFlavor::MultiThread {
            return work.await;
        }
        // The semaphore is never closed.
        let _turn = self.planning.acquire().await;
        let mut work = pin!(work);
        poll_fn(|cx| block_in_place(|| work.as_mut().poll(cx))).await
    }

    /// Ends all streams and all waiting requests.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// When the server begins to stop.
    pub(crate) fn stops(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut stopping = self.stopping.subscribe();
        async move {
            // A server that is gone has stopped.
            let _gone = stopping.wait_for(|stopping| *stopping).await.is_err();
        }
    }
}
