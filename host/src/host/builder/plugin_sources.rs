//! Where the plugins of each tenant come from.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use phasm_sandbox::{Grants, Sandbox};

use super::OpenError;
use crate::{
    plugins::{self, Library, LibraryAdmin, Plugins, trust::PluginTrust},
    tenants::tenant::Tenant,
};
use phasm_artifacts::HostArtifacts;

/// A place with plugins.
pub(super) enum PluginPlace {
    Dir(PathBuf),
    Library(Library),
}

/// The plugin sources of all tenants.
pub(super) struct PluginSources<'a> {
    pub(super) builder: Option<&'a Arc<dyn plugins::Builder>>,
    pub(super) places: &'a [PluginPlace],
    pub(super) registered: &'a [(Arc<str>, Arc<[u8]>)],
    pub(super) grants: &'a BTreeMap<String, Grants>,
    pub(super) trust: PluginTrust,
    pub(super) tenants: &'a BTreeMap<Arc<str>, Tenant>,
    pub(super) hold: bool,
    pub(super) artifacts: HostArtifacts,
}

impl PluginSources<'_> {
    /// Returns the plugins of a tenant, or with none those of tenants without their own. A component that is loaded for one
    /// tenant is loaded for no other.
    pub(super) fn plugins(
        &self,
        tenant: Option<(&Arc<str>, &Tenant)>,
        sandbox: &Sandbox,
    ) -> Result<Plugins, OpenError> {
        let mut plugins = Plugins::new(sandbox.clone()).with_trust(self.trust_of(tenant));
        plugins = plugins.with_artifacts(self.artifacts.clone());
        if let Some((name, _)) = tenant {
            plugins = plugins.of_tenant(name);
        }
        if let Some(builder) = self.builder {
            plugins = plugins.with_builder(Arc::clone(builder));
        }
        let grants = tenant.map_or_else(|| self.grants.clone(), |(_, tenant)| tenant.granted(self.grants));
        for (name, granted) in &grants {
            plugins.grant(name.as_str(), granted.clone());
        }
        if let Some((name, tenant)) = tenant {
            for dir in &tenant.plugins {
                add_dir(&plugins, dir, &grants)?;
            }
            if let Some(library) = self.library() {
                let alone = tenant.granted_alone(self.grants);
                add_library(&plugins, &library.of_tenant(name), &alone)?;
            }
            plugins.end_of_own();
        }
        for (name, component) in self.registered {
            let granted = grants.get(name.as_ref()).cloned().unwrap_or_default();
            plugins.register(Arc::clone(name), Arc::clone(component), granted);
        }
        for place in self.places {
            match place {
                PluginPlace::Dir(dir) => add_dir(&plugins, dir, &grants)?,
                PluginPlace::Library(library) => add_library(&plugins, library, &grants)?,
            }
        }
        Ok(plugins)
    }

    fn trust_of(&self, tenant: Option<(&Arc<str>, &Tenant)>) -> PluginTrust {
        match tenant.and_then(|(name, tenant)| Some((name, tenant.trust.clone()?))) {
            Some((name, policy)) => {
                PluginTrust { policy, tenant: Some(Arc::clone(name)), exempt: self.trust.exempt.clone() }
            }
            None => self.trust.clone(),
        }
    }

    /// The library that [`Host::library_admin`](crate::host::Host::library_admin) changes: the first one.
    fn library(&self) -> Option<&Library> {
        self.places.iter().find_map(|place| match place {
            PluginPlace::Library(library) => Some(library),
            PluginPlace::Dir(_) => None,
        })
    }

    /// Returns the administration of a tenant's library, or with none that of the shared one.
    pub(super) fn library_admin(&self, tenant: Option<(&Arc<str>, &Tenant)>) -> Option<LibraryAdmin> {
        let library = self.library()?;
        let own = |tenant: &(&Arc<str>, &Tenant)| tenant.1.trust.is_some();
        Some(match tenant {
            Some((name, known)) => LibraryAdmin {
                library: library.of_tenant(name),
                tenant: Some(Arc::clone(name)),
                trusts: vec![self.trust_of(tenant)],
                hold: self.hold,
                grants: known.granted_alone(self.grants),
            },
            None => LibraryAdmin {
                library: library.clone(),
                tenant: None,
                trusts: [self.trust.clone()]
                    .into_iter()
                    .chain(self.tenants.iter().filter(own).map(|tenant| self.trust_of(Some(tenant))))
                    .collect(),
                hold: self.hold,
                grants: self.grants.clone(),
            },
        })
    }
}

fn add_library(
    plugins: &Plugins,
    library: &Library,
    grants: &BTreeMap<String, Grants>,
) -> Result<(), OpenError> {
    let failed = |source| OpenError::Library { path: library.dir().to_owned(), source };
    plugins.add_library(library, grants).map_err(failed)
}

fn add_dir(plugins: &Plugins, dir: &Path, grants: &BTreeMap<String, Grants>) -> Result<(), OpenError> {
    let failed = |source| OpenError::Plugins { path: dir.to_owned(), source };
    plugins.add_dir(dir, grants).map(drop).map_err(failed)
}
