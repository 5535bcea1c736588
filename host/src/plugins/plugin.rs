//! One plugin: read when it is first asked about, compiled when it is first called, each once.

use std::{future::Future, path::Path, sync::Arc};

use phasm_engine::text;
use tokio::sync::OnceCell;

use super::{
    files::signature_beside,
    library::{PluginVersion, is_prerelease},
    manifest::Manifest,
    source::{Builder, Source},
};
use crate::plugins::trust::PluginTrust;
use phasm_sandbox::{Digest, Grants, Program, Sandbox};

/// A compiler's complaints are long.
const MAX_MESSAGE_BYTES: usize = 16 << 10;

/// A registered plugin. A failure is final: the source is not read, built or compiled again.
pub(super) struct Plugin {
    pub(super) name: Arc<str>,
    pub(super) grants: Arc<Grants>,
    /// Which of the places it came from, in the order they are searched.
    pub(super) place: usize,
    pub(super) source: Source,
    /// The library's entry that the plugin came from.
    pub(super) stored: Option<PluginVersion>,
    means: Means,
    image: Once<Image>,
    program: Once<Program>,
}

/// The settings that plugins are read with.
#[derive(Clone, Default)]
pub(super) struct Means {
    pub(super) builder: Option<Arc<dyn Builder>>,
    pub(super) trust: Arc<PluginTrust>,
    /// The tenant that the plugins belong to; none for shared ones.
    pub(super) tenant: Option<Arc<str>>,
}

/// A plugin's bytes, and what they say.
pub(super) struct Image {
    pub(super) digest: Digest,
    pub(super) manifest: Manifest,
    pub(super) bytes: Arc<[u8]>,
    /// Why it is not used, whatever is in it.
    refused: Option<Arc<str>>,
}

type Once<T> = OnceCell<Result<Arc<T>, Arc<str>>>;

impl Plugin {
    pub(super) fn new(name: Arc<str>, source: Source, grants: Grants, means: Means) -> Self {
        let (image, program) = (OnceCell::new(), OnceCell::new());
        Self { name, grants: Arc::new(grants), place: 0, source, stored: None, means, image, program }
    }

    /// Returns what was read of it, if it was read.
    pub(super) fn known_image(&self) -> Option<&Arc<Image>> {
        self.image.get()?.as_ref().ok()
    }

    /// The same, from that place.
    pub(super) fn at(self, place: usize) -> Self {
        Self { place, ..self }
    }

    /// The same, as a library has it.
    pub(super) fn of(self, stored: PluginVersion) -> Self {
        Self { stored: Some(stored), ..self }
    }

    /// Whether the bare name may mean it.
    pub(super) fn is_offered(&self) -> bool {
        self.stored.as_ref().is_none_or(|stored| !is_prerelease(&stored.version))
    }

    /// The program, if it has been loaded.
    pub(super) fn loaded(&self) -> Option<&Arc<Program>> {
        self.program.get()?.as_ref().ok()
    }

    /// The image, if it has been read.
    pub(super) fn seen(&self) -> Option<&Arc<Image>> {
        self.image.get()?.as_ref().ok()
    }

    /// The program; concurrent first callers share one load, and it goes on if they are aborted meanwhile.
    pub(super) async fn program(self: &Arc<Self>, sandbox: &Sandbox) -> Result<Arc<Program>, Arc<str>> {
        if let Some(known) = self.program.get() {
            return known.clone();
        }
        let (plugin, of_load) = (Arc::clone(self), sandbox.clone());
        self.detached(
            sandbox,
            async move { plugin.program.get_or_init(|| plugin.load(&of_load)).await.clone() },
        )
        .await
    }

    /// The bytes and what they say, without compiling them.
    pub(super) async fn image(self: &Arc<Self>, sandbox: &Sandbox) -> Result<Arc<Image>, Arc<str>> {
        if let Some(known) = self.image.get() {
            return known.clone();
        }
        let (plugin, of_read) = (Arc::clone(self), sandbox.clone());
        self.detached(sandbox, async move { plugin.read(&of_read).await }).await
    }

    async fn load(&self, sandbox: &Sandbox) -> Result<Arc<Program>, Arc<str>> {
        let image = self.read(sandbox).await?;
        let limits = image.manifest.allowance().map_err(|problems| self.message(&problems))?;
        image.is_usable()?;
        let program = sandbox.load_for(self.means.tenant.as_ref(), Arc::clone(&image.bytes)).await;
        let program = program.map_err(|error| self.message(&text::brief(&error.to_string())))?;
        Ok(Arc::new(program.within(limits)))
    }

    async fn read(&self, sandbox: &Sandbox) -> Result<Arc<Image>, Arc<str>> {
        let read = || async {
            let (source, stored) = (self.source.clone(), self.stored.clone());
            let (means, of_read) = (self.means.clone(), sandbox.clone());
            let reading = sandbox
                .guest_runtime()
                .spawn_blocking(move || Image::read(&source, stored.as_ref(), &means, &of_read));
            let image = reading.await.unwrap_or_else(|error| Err(format!("host fault: {error}")));
            image
                .map(|image| Arc::new(image.named(|why| self.message(why))))
                .map_err(|error| self.message(&error))
        };
        self.image.get_or_init(read).await.clone()
    }

    /// Carries `work` out whether or not the caller still waits for it.
    async fn detached<T: Send + 'static>(
        &self,
        sandbox: &Sandbox,
        work: impl Future<Output = Result<T, Arc<str>>> + Send + 'static,
    ) -> Result<T, Arc<str>> {
        let work = sandbox.guest_runtime().spawn(work);
        work.await.unwrap_or_else(|error| Err(self.message(&format!("host fault: {error}"))))
    }

    fn message(&self, error: &str) -> Arc<str> {
        text::cut(&format!("plugin `{}`: {error}", self.name), MAX_MESSAGE_BYTES).into()
    }
}

impl Image {
    fn read(
        source: &Source,
        stored: Option<&PluginVersion>,
        means: &Means,
        sandbox: &Sandbox,
    ) -> Result<Self, String> {
        let (bytes, file) = match (source, stored) {
            (Source::File(path), Some(stored)) => (stored.read(path)?.into(), None),
            _ => source.read(means.builder.as_deref())?,
        };
        let text = means.signature(file.as_deref(), stored)?;
        if let Some(said) = sandbox.precompiled(&bytes) {
            let said = said.map_err(|error| error.to_string())?;
            let (digest, manifest) = (said.component, Manifest::read(&said.manifest)?);
            return Ok(Self {
                digest,
                manifest,
                refused: means.refuse(&bytes, &digest, text.as_deref()),
                bytes,
            });
        }
        let mut manifest = Manifest::of(&bytes, file.as_deref())?;
        if let Some(stored) = stored {
            manifest.version = Some(stored.version.clone());
        }
        let digest = Digest::of(&bytes);
        Ok(Self { digest, manifest, refused: means.refuse(&bytes, &digest, text.as_deref()), bytes })
    }

    /// The same, saying whose it is where it says why it is not used.
    fn named(self, message: impl FnOnce(&str) -> Arc<str>) -> Self {
        Self { refused: self.refused.as_deref().map(message), ..self }
    }

    /// Whether it may be used.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn is_usable(&self) -> Result<(), Arc<str>> {
        self.refused.clone().map_or(Ok(()), Err)
    }
}

impl Means {
    /// Reads the text that may be a signature of the plugin, if the policy needs one.
    pub(super) fn signature(
        &self,
        file: Option<&Path>,
        stored: Option<&PluginVersion>,
    ) -> Result<Option<Arc<str>>, String> {
        match (stored, file) {
            _ if self.trust.is_empty() => Ok(None),
            (Some(stored), _) => Ok(stored.signature.clone()),
            (None, Some(file)) => Ok(signature_beside(file)?.map(Arc::from)),
            (None, None) => Ok(None),
        }
    }

    /// Why a plugin is not used that this is the signature of, if any is.
    pub(super) fn refuse(&self, bytes: &[u8], digest: &Digest, signature: Option<&str>) -> Option<Arc<str>> {
        if self.trust.is_empty() {
            return None;
        }
        self.trust.judge(digest, &self.trust.look(bytes, signature)).err().map(Arc::from)
    }
}
