//! Executor types pinned to the bytes that they stood for when a run was submitted.

use std::sync::Arc;

use phasm_engine::plan::{ExecutorResolution, PinnedExecutor};

use super::{PluginError, Plugins, grant_record, plugin::Image, source::Source};
use phasm_sandbox::Grants;

impl Plugins {
    /// Resolves `executor_type`, loads the plugin, and registers it as `name@digest`.
    pub(super) async fn look_up(&self, executor_type: &str) -> ExecutorResolution {
        match self.pinned(executor_type).await {
            Ok(pinned) => ExecutorResolution::Executor(Box::new(pinned)),
            Err(PluginError::Unknown { .. }) => ExecutorResolution::Unknown,
            Err(PluginError::Broken(why)) => ExecutorResolution::Broken(why),
        }
    }

    async fn pinned(&self, executor_type: &str) -> Result<PinnedExecutor, PluginError> {
        let plugin = self.find(executor_type).await?;
        plugin.program(&self.sandbox).await.map_err(PluginError::Broken)?;
        let image = plugin.image(&self.sandbox).await.map_err(PluginError::Broken)?;
        let pinned = PinnedExecutor {
            plugin: Some(Arc::clone(&plugin.name)),
            digest: Some(image.digest.to_string().into()),
            grants: grant_record::described(&plugin.grants),
            ..image.manifest.pinned()
        };
        if let Some(reference) = pinned.reference() {
            self.pin(reference, plugin);
        }
        Ok(pinned)
    }

    /// The bytes of an executor that was pinned here.
    pub(crate) fn component(&self, pinned: &PinnedExecutor) -> Option<Arc<[u8]>> {
        let plugin = self.pinned_as(&pinned.reference()?)?;
        plugin.seen().map(|image| Arc::clone(&image.bytes))
    }

    /// Makes an executor that was pinned elsewhere callable again: from `kept`, its bytes as the store has them, or from
    /// a plugin of its name that has its digest.
    ///
    /// # Errors
    /// Why it is not to be had.
    pub(crate) async fn restore(
        &self,
        pinned: &PinnedExecutor,
        kept: Option<Arc<[u8]>>,
    ) -> Result<(), String> {
        let (Some(name), Some(digest), Some(reference)) =
            (&pinned.plugin, &pinned.digest, pinned.reference())
        else {
            return Ok(());
        };
        if self.pinned_as(&reference).is_some() {
            return Ok(());
        }
        let grants = self.grants_of(name);
        let shelved = self.shelved(digest);
        let is_signature_known = shelved.as_ref().is_some_and(|(_, stored)| stored.signature.is_some());
        let is_unsigned = self.means.trust.policy.require_signature && kept.is_some() && !is_signature_known;
        let kept = kept.map(|bytes| self.plugin(name, Source::Bytes(bytes), grants.clone()));
        // A signature holds for the bytes, whatever file they come from.
        let kept = kept.map(|kept| shelved.iter().cloned().fold(kept, |kept, (_, stored)| kept.of(stored)));
        let shelved = shelved.map(|(path, stored)| self.plugin(name, path.into(), grants).of(stored));
        let named = self.read().named.get(name).cloned().unwrap_or_default();
        let mut why = format!("no plugin `{name}` with {digest} is installed");
        for plugin in kept.into_iter().chain(shelved).map(Arc::new).chain(named) {
            let is_it = |image: &Arc<Image>| image.digest.to_string() == **digest;
            if !plugin.image(&self.sandbox).await.as_ref().is_ok_and(is_it) {
                continue;
            }
            match plugin.program(&self.sandbox).await {
                Ok(_) => {
                    self.pin(reference, plugin);
                    return Ok(());
                }
                Err(broken) => why = broken.to_string(),
            }
        }
        if is_unsigned {
            why += &format!(
                "; a store keeps components without their signatures, and no library here has a signature of this one. Add the signed component with digest {digest}: phasm plugin add"
            );
        }
        Err(why)
    }

    /// Returns the grants that an executor was pinned with and its plugin lacks here, each with the line that grants it.
    pub(crate) fn lacking(&self, pinned: &PinnedExecutor) -> Vec<(String, String)> {
        let now = pinned.plugin.as_ref().map(|name| self.grants_of(name)).unwrap_or_default();
        grant_record::lacking(&pinned.grants, &now)
    }

    fn grants_of(&self, name: &Arc<str>) -> Grants {
        let registry = self.read();
        let named = registry.named.get(name).and_then(|plugins| plugins.first());
        let named = named.map(|plugin| (*plugin.grants).clone());
        named.or_else(|| registry.granted.get(name).cloned()).unwrap_or_default()
    }
}
