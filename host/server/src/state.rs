//! State that all requests share.

use std::{io, sync::Arc};

use phasm::{Host, plugins::Rows, store::ReadStore};
use tokio::sync::watch;

use crate::{
    audit::Audit, auth::Auth, config::ServerConfig, feed::Feeds, hidden_paths::HiddenPaths, metrics::Metrics,
    resources::Resources, runs::cursors::EventCursors, streams::Streams,
};

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
    pub(crate) resources: Arc<Resources>,
    /// Readers of events between two pages.
    pub(crate) cursors: EventCursors,
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
        let resources = Arc::new(Resources::new(&config.limits));
        Ok(Self {
            auth: Auth::new(config.keys.clone(), &resources),
            hidden_paths: HiddenPaths::new(&config.hidden_paths),
            streams: Streams::new(config.limits.streams),
            feeds: Feeds::default(),
            metrics: Metrics::new(paths),
            audit: Audit::to(config.audit.as_deref())?,
            resources,
            cursors: EventCursors::default(),
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
