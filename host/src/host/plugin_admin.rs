//! Plugins of a host that is running: what there is, and changing it.

use std::sync::Arc;

use tokio::task::JoinError;

use super::Host;
use crate::plugins::{
    Librarian, LibraryError, NewPlugin, NotAdded, PluginAdded, PluginApproved, PluginEntry, PluginVersion,
    Plugins, trust::PluginTrust,
};

/// Why plugins of a host were not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShelfError {
    /// There is no library here, or no such tenant.
    #[error("there is no library here that it could be in")]
    NoLibrary,
    /// A tenant's plugin is called as one of all.
    #[error("`{name}` is a plugin of all; a tenant's own has another name")]
    OfAll {
        /// The name.
        name: String,
    },
    /// It was refused.
    #[error(transparent)]
    NotAdded(#[from] NotAdded),
    /// The library refuses, or cannot be read or written.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The host is being closed.
    #[error("the host is being closed")]
    Closed,
}

impl Host {
    /// Who changes the library whose plugins all find, or that of a tenant; nothing where there is none, or no such tenant.
    #[must_use]
    pub fn librarian(&self, tenant: Option<&str>) -> Option<&Librarian> {
        let realms = &self.shared.realms;
        let realm = match tenant {
            Some(tenant) => realms.own(tenant)?,
            None => realms.common(),
        };
        realm.librarian.as_ref()
    }

    /// The policies by which plugins are judged that all find, or that a tenant has alone.
    #[must_use]
    pub fn trusts(&self, tenant: Option<&str>) -> &[PluginTrust] {
        self.librarian(tenant).map(|librarian| librarian.trusts.as_slice()).unwrap_or_default()
    }

    /// The tenants that this host knows, each with its namespaces; with none, if they are all that nobody else has.
    pub fn tenants(&self) -> impl Iterator<Item = (&Arc<str>, Vec<Arc<str>>)> {
        self.shared.realms.known().iter().map(|(name, known)| (name, known.namespaces(name)))
    }

    /// Whose a namespace is.
    #[must_use]
    pub fn tenant_of(&self, namespace: &Arc<str>) -> Arc<str> {
        self.shared.realms.tenant(namespace)
    }

    /// What is installed: the plugins of all, then what the tenants have alone of whom that is asked.
    pub async fn plugin_entries(&self, of: impl Fn(&Arc<str>) -> bool) -> Vec<PluginEntry> {
        self.look_again().await;
        let realms = &self.shared.realms;
        let common = realms.common().plugins.iter().flat_map(|plugins| plugins.entries(None));
        let owners = realms.owners().filter(|(tenant, _)| of(tenant));
        let own = owners.filter_map(|(tenant, realm)| Some((tenant, realm.plugins.as_ref()?)));
        common.chain(own.flat_map(|(tenant, plugins)| plugins.entries(Some(tenant)))).collect()
    }

    /// Adds a plugin to the library of all, or of a tenant. Documents that are planned from then on find it.
    ///
    /// # Errors
    /// [`ShelfError`]; nothing was added.
    pub async fn add_plugin(&self, tenant: Option<&str>, new: NewPlugin) -> Result<PluginAdded, ShelfError> {
        self.look_again().await;
        let librarian = self.librarian(tenant).ok_or(ShelfError::NoLibrary)?;
        let common = self.plugins().ok_or(ShelfError::NoLibrary)?;
        if tenant.is_some() && common.has(&new.name) {
            return Err(ShelfError::OfAll { name: new.name });
        }
        let added = librarian.add(new, common.sandbox()).await?;
        self.look_again().await;
        Ok(added)
    }

    /// Approves a version that is held, in somebody's name.
    ///
    /// # Errors
    /// [`ShelfError`], where there is none.
    pub async fn approve_plugin(
        &self,
        tenant: Option<&str>,
        version: &str,
        by: Option<String>,
    ) -> Result<PluginApproved, ShelfError> {
        let approve =
            move |librarian: &Librarian, stored: &PluginVersion| librarian.approve(stored, by.as_deref());
        self.change(tenant, version, approve).await
    }

    /// Has a name stand for a version no more. Runs that were submitted with it go on.
    ///
    /// # Errors
    /// [`ShelfError`], where there is none.
    pub async fn remove_plugin(
        &self,
        tenant: Option<&str>,
        version: &str,
    ) -> Result<PluginVersion, ShelfError> {
        let remove = |librarian: &Librarian, stored: &PluginVersion| {
            librarian.library.remove(stored)?;
            Ok(stored.clone())
        };
        self.change(tenant, version, remove).await
    }

    /// Changes exactly that version, which is `NAME@VERSION`.
    async fn change<T: Send + 'static>(
        &self,
        tenant: Option<&str>,
        version: &str,
        change: impl FnOnce(&Librarian, &PluginVersion) -> Result<T, LibraryError> + Send + 'static,
    ) -> Result<T, ShelfError> {
        let librarian = self.librarian(tenant).ok_or(ShelfError::NoLibrary)?.clone();
        let guests = self.plugins().ok_or(ShelfError::NoLibrary)?.sandbox().guest_runtime();
        let version = version.to_owned();
        let changing = guests.spawn_blocking(move || {
            let stored = librarian.library.exactly(&version)?;
            change(&librarian, &stored)
        });
        let changed = changing.await.map_err(|_: JoinError| ShelfError::Closed)??;
        self.look_again().await;
        Ok(changed)
    }

    async fn look_again(&self) {
        let realms = &self.shared.realms;
        let all = realms.owners().map(|(_, realm)| realm).chain([realms.common()]);
        for plugins in all.filter_map(|realm| realm.plugins.as_ref()) {
            Plugins::look_again(plugins).await;
        }
    }
}
