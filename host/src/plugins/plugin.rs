//! One plugin: read when it is first asked about, compiled when it is first called, each once.

use std::{future::Future, sync::Arc};

use phasm_engine::text;
use tokio::sync::OnceCell;

use super::{
    manifest::Manifest,
    source::{Builder, Source},
};
use crate::sandbox::{Digest, Grants, Program, Sandbox};

/// A compiler's complaints are long.
const LONGEST_MESSAGE: usize = 16 << 10;

/// A registered plugin. What failed once stays failed: its source is not read, built or compiled again.
pub(super) struct Plugin {
    pub(super) name: Arc<str>,
    pub(super) grants: Arc<Grants>,
    source: Source,
    builder: Option<Arc<dyn Builder>>,
    image: Once<Image>,
    program: Once<Program>,
}

/// A plugin's bytes, and what they say.
pub(super) struct Image {
    pub(super) digest: Digest,
    pub(super) manifest: Manifest,
    pub(super) bytes: Arc<[u8]>,
}

type Once<T> = OnceCell<Result<Arc<T>, Arc<str>>>;

impl Plugin {
    pub(super) fn new(
        name: Arc<str>,
        source: Source,
        grants: Grants,
        builder: Option<Arc<dyn Builder>>,
    ) -> Self {
        let (image, program) = (OnceCell::new(), OnceCell::new());
        Self { name, grants: Arc::new(grants), source, builder, image, program }
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
        let program = sandbox.load(Arc::clone(&image.bytes)).await;
        let program = program.map_err(|error| self.message(&text::brief(&error.to_string())))?;
        Ok(Arc::new(program.within(limits)))
    }

    async fn read(&self, sandbox: &Sandbox) -> Result<Arc<Image>, Arc<str>> {
        let read = || async {
            let (source, builder, of_read) = (self.source.clone(), self.builder.clone(), sandbox.clone());
            let reading = sandbox
                .guest_runtime()
                .spawn_blocking(move || Image::read(&source, builder.as_deref(), &of_read));
            let image = reading.await.unwrap_or_else(|error| Err(format!("host fault: {error}")));
            image.map(Arc::new).map_err(|error| self.message(&error))
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
        text::cut(&format!("plugin `{}`: {error}", self.name), LONGEST_MESSAGE).into()
    }
}

impl Image {
    fn read(source: &Source, builder: Option<&dyn Builder>, sandbox: &Sandbox) -> Result<Self, String> {
        let (bytes, file) = source.read(builder)?;
        if let Some(said) = sandbox.precompiled(&bytes) {
            let said = said.map_err(|error| error.to_string())?;
            return Ok(Self { digest: said.component, manifest: Manifest::read(&said.manifest)?, bytes });
        }
        let manifest = Manifest::of(&bytes, file.as_deref())?;
        Ok(Self { digest: Digest::of(&bytes), manifest, bytes })
    }
}
