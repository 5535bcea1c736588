//! Plugins: from `executor.type` to a component that can be called.

use std::{
    collections::{BTreeMap, HashMap},
    future::Future,
    io,
    path::Path,
    pin::Pin,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use phasm_engine::{
    outcome::{Outcome, code},
    plan::Executors,
    value::Value,
};
use tokio::sync::watch;

pub use self::{
    entries::{PluginEntry, Rows},
    files::{manifest as read_manifest, read_component, signature_beside},
    folders::{is_plugin, is_script_plugin, is_toml_plugin, other_crates, scan},
    grant_requests::{ClockRequest, DirAccess, DirRequest, GrantRequests},
    inventory::PluginInventory,
    library::{AddResult, Library, LibraryError, NewPlugin, PluginVersion},
    library_admin::{AddError, LibraryAdmin, all_keys},
    manifest::{CodeMeaning, Defaults, Manifest},
    source::{Builder, Source},
    view::{
        AddView, ApprovalView, ComponentSource, InspectError, MissingGrants, PluginRow, PluginView,
        PolicyVerdict, SignatureStatus, interfaces, shadows,
    },
};
use self::{
    library::{VersionRequest, higher},
    library_source::LibraryPlace,
    plugin::{Means, Plugin},
};
use crate::plugins::trust::PluginTrust;
use phasm_artifacts::{ArtifactError, ArtifactLimits, ArtifactPlace, AttemptFiles, GUEST_DIR, HostArtifacts};
use phasm_sandbox::{
    Digest, Grants, MISSING_GRANT, Program, Sandbox,
    executor::{Executor, Invocation, Observer},
};

mod entries;
mod files;
mod folders;
mod grant_record;
mod grant_requests;
mod inventory;
mod library;
mod library_admin;
mod library_source;
pub(crate) mod limits;
mod manifest;
mod pin;
mod plugin;
mod source;
pub mod trust;
mod view;

/// The plugins a host knows, by name; the executor of everything in production.
///
/// A plugin is read when it is first asked about and compiled when it is first called, once for all callers. Cheap to
/// clone; clones share everything.
#[derive(Clone)]
pub struct Plugins {
    sandbox: Sandbox,
    installation: Arc<RwLock<Installation>>,
    means: Means,
    artifacts: HostArtifacts,
}

#[derive(Default)]
struct Installation {
    /// Plugins by name. If several have a name, the bare name means the first; the others are reached by version or digest.
    named: BTreeMap<Arc<str>, Vec<Arc<Plugin>>>,
    /// By `name@version` and digest, once found: what is found stays so until a library changes, because the first one wins.
    found: HashMap<Arc<str>, Arc<Plugin>>,
    /// By `name@digest`, as runs have them: also what no document can name any more.
    pinned: HashMap<Arc<str>, Arc<Plugin>>,
    /// The libraries among the places.
    shelves: Vec<LibraryPlace>,
    /// How many places there are,
    places: usize,
    /// of which so many, the first, are those of one tenant alone.
    own: usize,
    /// Grants of plugins of which only the name is known so far.
    granted: BTreeMap<Arc<str>, Grants>,
    /// Told of whatever is registered or granted.
    changed: watch::Sender<()>,
}

/// The component that an `executor.type` resolves to at this moment, to be pinned.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// The name it is registered under.
    pub name: Arc<str>,
    /// Its bytes.
    pub digest: Digest,
    /// The plugin's manifest.
    pub manifest: Manifest,
}

/// Why an `executor.type` stands for nothing. Attempts that need it end with code 3 and this text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// Nothing of this name, version or digest is registered.
    #[error("unknown executor type `{executor_type}`; known: {known}")]
    Unknown {
        /// The type as it was requested.
        executor_type: String,
        /// The plugins that there are.
        known: String,
    },
    /// The plugin is registered but cannot be used.
    #[error("{0}")]
    Broken(Arc<str>),
}

impl Plugins {
    /// No plugins yet. Artifacts of their attempts are temporary unless [others are given](Self::with_artifacts).
    #[must_use]
    pub fn new(sandbox: Sandbox) -> Self {
        Self {
            sandbox,
            installation: Arc::default(),
            means: Means::default(),
            artifacts: HostArtifacts::new(Some(ArtifactPlace::Temporary), ArtifactLimits::default()),
        }
    }

    /// The same, able to build the source folders that are registered from now on.
    #[must_use]
    pub fn with_builder(mut self, builder: Arc<dyn Builder>) -> Self {
        self.means.builder = Some(builder);
        self
    }

    /// The same, which uses of the plugins that are registered from now on those that `trust` takes.
    #[must_use]
    pub fn with_trust(mut self, trust: PluginTrust) -> Self {
        self.means.trust = Arc::new(trust);
        self
    }

    /// The same, of a tenant: compiling the plugins that are registered from now on counts for it.
    #[must_use]
    pub fn of_tenant(mut self, tenant: &Arc<str>) -> Self {
        self.means.tenant = Some(Arc::clone(tenant));
        self
    }

    /// The same, whose attempts read and write these artifacts if they are granted that.
    #[must_use]
    pub fn with_artifacts(mut self, artifacts: HostArtifacts) -> Self {
        self.artifacts = artifacts;
        self
    }

    /// Where the plugins run.
    #[must_use]
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Makes a plugin known as `name`, with what it may touch.
    pub fn register(&self, name: impl Into<Arc<str>>, source: impl Into<Source>, grants: Grants) {
        let name = name.into();
        self.add(self.plugin(&name, source.into(), grants));
    }

    fn plugin(&self, name: &Arc<str>, source: Source, grants: Grants) -> Plugin {
        Plugin::new(Arc::clone(name), source, grants, self.means.clone())
    }

    fn add(&self, plugin: Plugin) {
        let mut installation = self.write();
        let plugin = plugin.at(installation.new_place());
        installation.named.entry(Arc::clone(&plugin.name)).or_default().push(Arc::new(plugin));
        installation.changed.send_replace(());
    }

    /// Says what the plugin of that name may touch, wherever its component comes from.
    pub fn grant(&self, name: impl Into<Arc<str>>, grants: Grants) {
        let mut installation = self.write();
        installation.granted.insert(name.into(), grants);
        installation.changed.send_replace(());
    }

    /// Registers what `dir` holds, each with its entry in `grants`: `NAME.wasm` files, and folders that [are plugins](is_plugin),
    /// which a [`Builder`] builds. Returns the names.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn add_dir(&self, dir: &Path, grants: &BTreeMap<String, Grants>) -> io::Result<Vec<String>> {
        let found = scan(dir)?;
        for (name, source) in &found {
            self.register(name.as_str(), source.clone(), grants.get(name).cloned().unwrap_or_default());
        }
        Ok(found.into_iter().map(|(name, _)| name).collect())
    }

    /// Changes with whatever is registered or granted.
    pub(crate) fn changed(&self) -> watch::Receiver<()> {
        self.read().changed.subscribe()
    }

    /// The grants of the plugin of that name, as a journal describes them: paths that the guest sees, names of variables,
    /// patterns; null for none.
    #[must_use]
    pub fn granted(&self, name: &str) -> Value {
        let installation = self.read();
        let own = || installation.named.get(name).and_then(|all| all.last()).map(|plugin| &*plugin.grants);
        installation.granted.get(name).or_else(own).map(grant_record::described).unwrap_or_default()
    }

    /// The registered names, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<Arc<str>> {
        self.read().named.keys().cloned().collect()
    }

    /// Resolves `executor_type`: `name`, `name@version`, a version prefix such as `name@1.2`, or `sha256:…`. Reads and, if
    /// needed, builds the plugin, but does not compile it.
    ///
    /// # Errors
    /// [`PluginError`] when the type resolves to nothing that can be used.
    pub async fn resolve(&self, executor_type: &str) -> Result<Resolution, PluginError> {
        let plugin = self.find(executor_type).await?;
        let image = plugin.image(&self.sandbox).await.map_err(PluginError::Broken)?;
        image.is_usable().map_err(PluginError::Broken)?;
        Ok(Resolution {
            name: Arc::clone(&plugin.name),
            digest: image.digest,
            manifest: image.manifest.clone(),
        })
    }

    /// Resolves each of `types`. Reads, compiles and, if needed, builds all of them.
    pub async fn executors(&self, types: &[Arc<str>]) -> Executors {
        self.look_again().await;
        let executors = Executors::any().installed(self.names()).memory(self.sandbox.memory_limit());
        let mut found = Vec::with_capacity(types.len());
        for executor_type in types {
            found.push((executor_type.clone(), self.look_up(executor_type).await));
        }
        found.into_iter().fold(executors, |all, (executor_type, found)| all.with(executor_type, found))
    }

    /// Compiles `executor_type` now instead of at its first call.
    ///
    /// # Errors
    /// [`PluginError`] when it stands for nothing that can be used.
    pub async fn load(&self, executor_type: &str) -> Result<(), PluginError> {
        self.prepare(executor_type).await.map(drop)
    }

    async fn find(&self, executor_type: &str) -> Result<Arc<Plugin>, PluginError> {
        if let Some(known) = self.known(executor_type) {
            return Ok(known);
        }
        let found = match executor_type.split_once('@') {
            _ if executor_type.starts_with("sha256:") => self.find_digest(executor_type).await,
            Some((name, version)) => self.find_version(name, version).await,
            None => None,
        };
        found.ok_or_else(|| self.held(executor_type).unwrap_or_else(|| self.unknown(executor_type)))
    }

    /// The plugin that a run was pinned to.
    fn pinned_as(&self, reference: &str) -> Option<Arc<Plugin>> {
        self.read().pinned.get(reference).cloned()
    }

    fn pin(&self, reference: String, plugin: Arc<Plugin>) {
        self.write().pinned.insert(reference.into(), plugin);
    }

    /// Resolves a bare name, or a type that was resolved before, without reading anything.
    fn known(&self, executor_type: &str) -> Option<Arc<Plugin>> {
        let installation = self.read();
        let named = installation.named.get(executor_type);
        let named = named.and_then(|plugins| plugins.iter().find(|plugin| plugin.is_offered()));
        named.or_else(|| installation.found.get(executor_type)).cloned()
    }

    /// The highest that fits, of equal ones the first.
    async fn find_version(&self, name: &str, version: &str) -> Option<Arc<Plugin>> {
        let candidates = self.read().named.get(name).cloned().unwrap_or_default();
        let asked = VersionRequest::read(version);
        let mut best: Option<(String, Arc<Plugin>)> = None;
        for plugin in candidates {
            let Ok(image) = plugin.image(&self.sandbox).await else { continue };
            let Some(found) = image.manifest.version.as_deref().filter(|found| asked.fits(found)) else {
                continue;
            };
            if let VersionRequest::Exactly(_) = asked {
                return Some(self.remember(format!("{name}@{version}"), plugin));
            }
            if best.as_ref().is_none_or(|(best, _)| higher(found, best).is_lt()) {
                best = Some((found.to_owned(), plugin));
            }
        }
        best.map(|(_, plugin)| plugin)
    }

    /// Plugins that are read already come first: finding one may need reading, and building, all of them.
    async fn find_digest(&self, text: &str) -> Option<Arc<Plugin>> {
        let digest: Digest = text.parse().ok()?;
        let mut candidates: Vec<_> = self.read().named.values().flatten().cloned().collect();
        candidates.sort_by_key(|plugin| plugin.seen().is_none());
        for plugin in candidates {
            if plugin.image(&self.sandbox).await.is_ok_and(|image| image.digest == digest) {
                return Some(self.remember(digest.to_string(), plugin));
            }
        }
        None
    }

    fn remember(&self, executor_type: String, plugin: Arc<Plugin>) -> Arc<Plugin> {
        self.write().found.insert(executor_type.into(), Arc::clone(&plugin));
        plugin
    }

    fn read(&self) -> RwLockReadGuard<'_, Installation> {
        self.installation.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Installation> {
        self.installation.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn unknown(&self, executor_type: &str) -> PluginError {
        let names = self.names();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        PluginError::Unknown { executor_type: executor_type.to_owned(), known }
    }

    /// The message for a version that a library holds and does not use.
    fn held(&self, executor_type: &str) -> Option<PluginError> {
        let (name, version) = match executor_type.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (executor_type, None),
        };
        let installation = self.read();
        let shelf: Vec<_> = installation.shelves.iter().flat_map(LibraryPlace::all).collect();
        library::why_not(name, version, &shelf).map(|why| PluginError::Broken(why.into()))
    }

    /// The plugin and its program, if both have been needed before.
    fn ready(&self, executor_type: &str) -> Option<Ready> {
        let plugin = self.pinned_as(executor_type).or_else(|| self.known(executor_type))?;
        let program = Arc::clone(plugin.loaded()?);
        Some((plugin, program))
    }

    async fn prepare(&self, executor_type: &str) -> Result<Ready, PluginError> {
        let plugin = match self.pinned_as(executor_type) {
            Some(pinned) => pinned,
            None => self.find(executor_type).await?,
        };
        let program = plugin.program(&self.sandbox).await.map_err(PluginError::Broken)?;
        Ok((plugin, program))
    }

    /// Prepares the files of an attempt whose plugin is granted artifacts.
    async fn attempt_files(
        &self,
        grants: &Grants,
        invocation: &mut Invocation,
    ) -> Result<Option<AttemptFiles>, ArtifactError> {
        if !grants.artifacts {
            return Ok(None);
        }
        // Boxed: most attempts have no files.
        let prepared =
            Box::pin(async { AttemptFiles::prepare(&self.artifacts.store().await?, invocation).await });
        prepared.await.map(Some)
    }

    async fn call(self, mut invocation: Invocation, observer: Arc<dyn Observer>) -> Outcome {
        let name = Arc::clone(&invocation.executor_type);
        let ready = match self.ready(&name) {
            Some(ready) => Ok(ready),
            // Boxed, so that the many calls to come are not as large as the first.
            None => Box::pin(self.prepare(&name)).await,
        };
        match ready {
            Ok((plugin, program)) => {
                let grants = Arc::clone(&plugin.grants);
                let files = match self.attempt_files(&grants, &mut invocation).await {
                    Ok(files) => files,
                    Err(error) => return Outcome::error(error.to_string()),
                };
                let outcome = self.sandbox.call_in_place(&program, grants, invocation, observer).await;
                let outcome = match files {
                    Some(files) => Box::pin(files.store_outputs(outcome)).await,
                    None => outcome,
                };
                with_advice(outcome, &plugin, &name)
            }
            Err(error) => Outcome::error(error.to_string()),
        }
    }
}

type Ready = (Arc<Plugin>, Arc<Program>);

/// Adds to the message of an attempt that was refused something which lines of the configuration grant what its plugin asks for.
fn with_advice(mut outcome: Outcome, plugin: &Plugin, executor_type: &str) -> Outcome {
    let is_refused = outcome.code != code::SUCCEEDED && outcome.message.contains(MISSING_GRANT);
    let name = executor_type.split('@').next().unwrap_or_default();
    let name = if name.starts_with("sha256:") { &plugin.name } else { name };
    let image = is_refused.then(|| plugin.known_image()).flatten();
    let advice = image.and_then(|image| image.manifest.wants.advice(name, &plugin.grants));
    // A plugin that asks for nothing may need artifacts or a directory all the same.
    let lacks_artifacts =
        outcome.code != code::SUCCEEDED && !plugin.grants.artifacts && outcome.message.contains(GUEST_DIR);
    let lacks_directory = || {
        is_refused && plugin.grants.dirs.is_empty() && outcome.message.contains("not granted: directories")
    };
    let advice = advice.or_else(|| lacks_artifacts.then(|| GrantRequests::artifact_advice(name)));
    if let Some(advice) = advice.or_else(|| lacks_directory().then(|| GrantRequests::directory_advice(name)))
    {
        outcome.message = format!("{}; {advice}", outcome.message).into();
    }
    outcome
}

impl Executor for Plugins {
    /// Runs in place when polled on a guest thread; spawn it on [`Sandbox::guest_runtime`].
    fn execute(
        &self,
        invocation: Invocation,
        observer: Arc<dyn Observer>,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let (origin, deadline) = (invocation.origin(), invocation.deadline);
        Box::pin(self.sandbox.attempt(origin, deadline, self.clone().call(invocation, observer)))
    }

    /// Whether its guests may touch nothing. Those of one that is to be compiled yet wait as all others.
    fn is_pure(&self, _: &Arc<str>, executor_type: &str) -> bool {
        self.ready(executor_type).is_some_and(|(plugin, _)| plugin.grants.are_pure())
    }
}
