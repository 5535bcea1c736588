//! Plugins of a host that is running: what there is, and changing it.

use std::sync::Arc;

use tokio::task::JoinError;

use super::Host;
use crate::plugins::{
    AddError, AddView, ApprovalView, LibraryAdmin, LibraryError, NewPlugin, PluginEntry, PluginVersion,
    Plugins, trust::PluginTrust,
};

/// Why plugins of a host were not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginAdminError {
    /// There is no library here, or no such tenant.
    #[error("there is no library here that it could be in")]
    NoLibrary,
    /// A tenant's plugin is called as one of all.
    #[error("`{name}` is a plugin of all; a tenant's own has another name")]
    OfAll {
        /// The name.
        name: String,
    },
    /// The plugin was refused.
    #[error(transparent)]
    AddError(#[from] AddError),
    /// The library refuses, or cannot be read or written.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The host is being closed.
    #[error("the host is being closed")]
    Closed,
}

impl Host {
    /// The administration of the shared library, or of a tenant's; none if there is no library, or no such tenant.
    #[must_use]
    pub fn library_admin(&self, tenant: Option<&str>) -> Option<&LibraryAdmin> {
        let environments = &self.shared.environments;
        let environment = match tenant {
            Some(tenant) => environments.own(tenant)?,
            None => environments.common(),
        };
        environment.library_admin.as_ref()
    }

    /// The policies by which plugins are judged that all find, or that a tenant has alone.
    #[must_use]
    pub fn trusts(&self, tenant: Option<&str>) -> &[PluginTrust] {
        self.library_admin(tenant).map(|library_admin| library_admin.trusts.as_slice()).unwrap_or_default()
    }

    /// The tenants of this host with their namespaces; a tenant without any owns all that no other does.
    pub fn tenants(&self) -> impl Iterator<Item = (&Arc<str>, Vec<Arc<str>>)> {
        self.shared.environments.known().iter().map(|(name, known)| (name, known.namespaces(name)))
    }

    /// The tenant that owns a namespace.
    #[must_use]
    pub fn tenant_of(&self, namespace: &Arc<str>) -> Arc<str> {
        self.shared.environments.tenant(namespace)
    }

    /// The weight of a tenant in fair shares.
    #[must_use]
    pub fn tenant_weight(&self, tenant: &str) -> u32 {
        self.shared.environments.weight(tenant)
    }

    /// Installed plugins: the shared ones, then those of the tenants that `of` selects.
    pub async fn plugin_entries(&self, of: impl Fn(&Arc<str>) -> bool) -> Vec<PluginEntry> {
        self.look_again().await;
        let environments = &self.shared.environments;
        let common = environments.common().plugins.iter().flat_map(|plugins| plugins.entries(None));
        let owners = environments.owners().filter(|(tenant, _)| of(tenant));
        let own = owners.filter_map(|(tenant, environment)| Some((tenant, environment.plugins.as_ref()?)));
        common.chain(own.flat_map(|(tenant, plugins)| plugins.entries(Some(tenant)))).collect()
    }

    /// Adds a plugin to the library of all, or of a tenant. Documents that are planned from then on find it.
    ///
    /// # Errors
    /// [`PluginAdminError`]; nothing was added.
    pub async fn add_plugin(
        &self,
        tenant: Option<&str>,
        new: NewPlugin,
    ) -> Result<AddView, PluginAdminError> {
        self.look_again().await;
        let library_admin = self.library_admin(tenant).ok_or(PluginAdminError::NoLibrary)?;
        let common = self.plugins().ok_or(PluginAdminError::NoLibrary)?;
        if tenant.is_some() && common.has(&new.name) {
            return Err(PluginAdminError::OfAll { name: new.name });
        }
        let added = library_admin.add(new, common.sandbox()).await?;
        self.look_again().await;
        Ok(added)
    }

    /// Approves a version on hold; `by` is recorded.
    ///
    /// # Errors
    /// [`PluginAdminError`], also if there is none.
    pub async fn approve_plugin(
        &self,
        tenant: Option<&str>,
        version: &str,
        by: Option<String>,
    ) -> Result<ApprovalView, PluginAdminError> {
        let approve = move |library_admin: &LibraryAdmin, stored: &PluginVersion| {
            library_admin.approve(stored, by.as_deref())
        };
        self.change(tenant, version, approve).await
    }

    /// Removes a version. Runs that were submitted with it continue.
    ///
    /// # Errors
    /// [`PluginAdminError`], where there is none.
    pub async fn remove_plugin(
        &self,
        tenant: Option<&str>,
        version: &str,
    ) -> Result<PluginVersion, PluginAdminError> {
        let remove = |library_admin: &LibraryAdmin, stored: &PluginVersion| {
            library_admin.library.remove(stored)?;
            Ok(stored.clone())
        };
        self.change(tenant, version, remove).await
    }

    /// Changes exactly that version, which is `NAME@VERSION`.
    async fn change<T: Send + 'static>(
        &self,
        tenant: Option<&str>,
        version: &str,
        change: impl FnOnce(&LibraryAdmin, &PluginVersion) -> Result<T, LibraryError> + Send + 'static,
    ) -> Result<T, PluginAdminError> {
        let library_admin = self.library_admin(tenant).ok_or(PluginAdminError::NoLibrary)?.clone();
        let guests = self.plugins().ok_or(PluginAdminError::NoLibrary)?.sandbox().guest_runtime();
        let version = version.to_owned();
        let changing = guests.spawn_blocking(move || {
            let stored = library_admin.library.exactly(&version)?;
            change(&library_admin, &stored)
        });
        let changed = changing.await.map_err(|_: JoinError| PluginAdminError::Closed)??;
        self.look_again().await;
        Ok(changed)
    }

    async fn look_again(&self) {
        let environments = &self.shared.environments;
        let all = environments.owners().map(|(_, environment)| environment).chain([environments.common()]);
        for plugins in all.filter_map(|environment| environment.plugins.as_ref()) {
            Plugins::look_again(plugins).await;
        }
    }
}
