//! State that all requests of a sandbox share.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use rustls::ClientConfig;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

#[cfg(target_os = "linux")]
use super::HttpLimits;
use super::{HttpConfig, quota::RequestQuota, tls};
use crate::{capability::hosts::resolver::Resolver, tenants::Tenants};

/// Maximum time of a request; longer limits are cut to it.
const MAX_REQUEST_TIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A tenant, and a plugin of its runs.
type TenantsPlugin = (Arc<str>, Arc<str>);

/// Permits of a connection: of its attempt, of its plugin, and of all guests.
pub(in crate::capability) struct Permits {
    _all: [OwnedSemaphorePermit; 3],
}

pub(crate) struct Net {
    pub(super) config: HttpConfig,
    pub(in crate::capability) resolver: Resolver,
    all: Arc<Semaphore>,
    plugins: Mutex<HashMap<TenantsPlugin, Weak<Semaphore>>>,
    pub(super) quota: RequestQuota,
    tls: OnceCell<Arc<ClientConfig>>,
}

impl Net {
    pub(crate) fn new(mut config: HttpConfig, tenants: &Tenants) -> Self {
        config.limits.time = config.limits.time.min(MAX_REQUEST_TIME);
        Self {
            resolver: Resolver::new(std::mem::take(&mut config.hosts)),
            all: Arc::new(Semaphore::new(config.limits.all_connections as usize)),
            plugins: Mutex::default(),
            quota: RequestQuota::new(tenants),
            tls: OnceCell::new(),
            config,
        }
    }

    /// Returns the state of a process whose parent makes its requests, with headers of at most so many bytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn relayed(headers: u64) -> Self {
        let limits = HttpLimits { headers, ..HttpLimits::default() };
        let config = HttpConfig { limits, ..HttpConfig::default() };
        Self::new(config, &Tenants::default())
    }

    /// Returns the maximum size of the headers of a message, in bytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn headers(&self) -> u64 {
        self.config.limits.headers
    }

    /// Returns the connection permits of a tenant's plugin, which are shared while it has any.
    pub(in crate::capability) fn of_plugin(&self, tenant: &str, plugin: &str) -> Arc<Semaphore> {
        let key = (Arc::from(tenant), Arc::from(plugin));
        let mut plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = plugins.get(&key).and_then(Weak::upgrade) {
            return known;
        }
        plugins.retain(|_, semaphore| semaphore.strong_count() > 0);
        let new = Arc::new(Semaphore::new(self.config.limits.plugin_connections as usize));
        plugins.insert(key, Arc::downgrade(&new));
        new
    }

    /// Waits for the places of a plugin and of all guests, next to the one that an attempt has taken. None once there are none
    /// any more.
    pub(in crate::capability) async fn permits(
        &self,
        own: OwnedSemaphorePermit,
        plugin: Arc<Semaphore>,
    ) -> Option<Permits> {
        let plugin = plugin.acquire_owned().await.ok()?;
        let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Permits { _all: [own, plugin, all] })
    }

    /// Returns the TLS configuration, which is read once, when the first connection needs it.
    pub(super) async fn tls(&self) -> Result<Arc<ClientConfig>, String> {
        let roots = &self.config.roots;
        let read = || async {
            let roots = roots.clone();
            let reading = tokio::task::spawn_blocking(move || tls::config(&roots));
            reading.await.unwrap_or_else(|error| Err(error.to_string()))
        };
        self.tls.get_or_try_init(read).await.cloned()
    }
}
