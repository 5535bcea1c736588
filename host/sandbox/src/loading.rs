//! From bytes to a program: what is known of them, what has to be compiled, and linking.

use std::{future::Future, sync::Arc};

use tokio::task::JoinSet;
use wasmtime::component::Component;

use super::{
    Sandbox, SandboxCore,
    artefact::Artefact,
    digest::Digest,
    program::{LoadError, Program},
    threads::run_blocking,
};

/// Result of looking bytes up without compiling them.
enum Lookup {
    Component(Component),
    /// Only their digest.
    Digest(Digest),
}

impl Sandbox {
    /// Runs `work` on the guests' runtime for as long as the caller waits for it.
    pub(super) async fn while_waited<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, LoadError>> + Send + 'static,
    ) -> Result<T, LoadError> {
        let mut tasks = JoinSet::new();
        tasks.spawn_on(work, self.guest_runtime());
        let gone = || LoadError::Fault("the sandbox is closed".to_owned());
        let ended = tasks.join_next().await.ok_or_else(gone)?;
        ended.unwrap_or_else(|error| Err(LoadError::Fault(error.to_string())))
    }
}

impl SandboxCore {
    pub(super) async fn load(self: Arc<Self>, bytes: Arc<[u8]>) -> Result<Program, LoadError> {
        let component = self.component(bytes).await?;
        run_blocking(move || self.link(&component)).await
    }

    #[cfg(feature = "compile")]
    pub(super) async fn precompile(
        self: Arc<Self>,
        bytes: Arc<[u8]>,
        manifest: String,
    ) -> Result<Vec<u8>, LoadError> {
        let digest = Digest::of(&bytes);
        let component = self.component(bytes).await?;
        run_blocking(move || {
            let key = self.key().ok_or(LoadError::NoKey)?;
            self.link(&component)?;
            super::artefact::write(&component, &digest, &manifest, key).map_err(LoadError::Fault)
        })
        .await
    }

    async fn component(self: &Arc<Self>, bytes: Arc<[u8]>) -> Result<Component, LoadError> {
        let (core, of_bytes) = (Arc::clone(self), Arc::clone(&bytes));
        match run_blocking(move || core.look_up(&of_bytes)).await? {
            Lookup::Component(component) => Ok(component),
            Lookup::Digest(digest) => {
                self.compiler.compile_once(&self.engine, self.limits(), digest, bytes).await
            }
        }
    }

    fn look_up(&self, bytes: &[u8]) -> Result<Lookup, LoadError> {
        let (size, limit) = (bytes.len() as u64, self.limits().component);
        if size > limit {
            return Err(LoadError::TooLarge { size, limit });
        }
        if let Some(artefact) = Artefact::of(bytes) {
            return Ok(Lookup::Component(artefact.open(&self.engine, self.key())?.0));
        }
        let digest = Digest::of(bytes);
        let cached = self.compiler.cached(&self.engine, &digest);
        Ok(cached.map_or(Lookup::Digest(digest), Lookup::Component))
    }

    fn link(&self, component: &Component) -> Result<Program, LoadError> {
        Program::link(&self.linker, component, self.limits(), self.capacity)
    }
}
