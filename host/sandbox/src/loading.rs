//! Loading bytes as a program: looking them up, compiling, and linking.

use std::{future::Future, sync::Arc};

use tokio::{runtime::Handle, task::JoinSet};
use wasmtime::component::Component;

use super::{
    artefact::Artefact,
    digest::Digest,
    fair_queue::Holder,
    program::{LoadError, Program},
    sandbox_core::SandboxCore,
    threads::run_blocking,
};

/// Result of looking bytes up without compiling them.
enum Lookup {
    Component(Component),
    /// Digest of a component that has to be compiled.
    Digest(Digest),
}

/// Runs `work` on the guests' runtime for as long as the caller waits for it.
pub(super) async fn while_waited<T: Send + 'static>(
    runtime: &Handle,
    work: impl Future<Output = Result<T, LoadError>> + Send + 'static,
) -> Result<T, LoadError> {
    let mut tasks = JoinSet::new();
    tasks.spawn_on(work, runtime);
    let gone = || LoadError::Fault("the sandbox is closed".to_owned());
    let ended = tasks.join_next().await.ok_or_else(gone)?;
    ended.unwrap_or_else(|error| Err(LoadError::Fault(error.to_string())))
}

pub(super) async fn load(
    core: Arc<SandboxCore>,
    bytes: Arc<[u8]>,
    holder: Holder,
) -> Result<Program, LoadError> {
    let component = component(&core, bytes, &holder).await?;
    run_blocking(move || link(&core, &component)).await
}

#[cfg(feature = "compile")]
pub(super) async fn precompile(
    core: Arc<SandboxCore>,
    bytes: Arc<[u8]>,
    manifest: String,
) -> Result<Vec<u8>, LoadError> {
    let digest = Digest::of(&bytes);
    let component = component(&core, bytes, &Holder::of_no_client()).await?;
    run_blocking(move || {
        let key = core.key().ok_or(LoadError::NoKey)?;
        link(&core, &component)?;
        super::artefact::write(&component, &digest, &manifest, key).map_err(LoadError::Fault)
    })
    .await
}

async fn component(
    core: &Arc<SandboxCore>,
    bytes: Arc<[u8]>,
    holder: &Holder,
) -> Result<Component, LoadError> {
    let shared = Arc::clone(core);
    let looked_up = Arc::clone(&bytes);
    match run_blocking(move || look_up(&shared, &looked_up)).await? {
        Lookup::Component(component) => Ok(component),
        Lookup::Digest(digest) => {
            core.compiler.compile_once(&core.engine, core.limits(), digest, bytes, holder).await
        }
    }
}

fn look_up(core: &SandboxCore, bytes: &[u8]) -> Result<Lookup, LoadError> {
    let (size, limit) = (bytes.len() as u64, core.limits().component);
    if size > limit {
        return Err(LoadError::TooLarge { size, limit });
    }
    if let Some(artefact) = Artefact::of(bytes) {
        return Ok(Lookup::Component(artefact.open(&core.engine, core.key())?.0));
    }
    let digest = Digest::of(bytes);
    let cached = core.compiler.cached(&core.engine, &digest);
    Ok(cached.map_or(Lookup::Digest(digest), Lookup::Component))
}

fn link(core: &SandboxCore, component: &Component) -> Result<Program, LoadError> {
    Program::link(&core.linker, component, core.limits(), core.capacity)
}
