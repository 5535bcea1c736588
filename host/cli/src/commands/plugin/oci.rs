//! Plugins in registries, as the OCI distribution specification has them: one manifest, its config, one layer with the component.
//!
//! ```text
//!  oci://HOST/REPOSITORY:TAG@sha256:… ─▶ manifest ─▶ layer ─▶ component      every digest is computed anew
//!                                           └─ annotation: signature
//! ```

mod artifact;
mod challenge;
mod credentials;
mod reference;
mod registry;

use clap::Args;
use phasm::sandbox::{Digest, HttpConfig};

pub(super) use self::artifact::Upload;
use self::{artifact::Artifact, reference::Reference, registry::Registry};
use crate::{exit::Exit, failure::Failure};

/// A manifest has a kilobyte; those with more layers than one are none of a plugin.
const MAX_MANIFEST_BYTES: u64 = 256 << 10;

/// How a registry is spoken to.
#[derive(Args, Clone, Debug)]
pub(super) struct RegistryArguments {
    /// The registry speaks HTTP without encryption; for one on this machine only.
    #[arg(long)]
    plain_http: bool,
}

/// A plugin from a registry.
pub(super) struct Download {
    pub(super) bytes: Vec<u8>,
    pub(super) signature: Option<String>,
    /// The last part of its repository's name.
    pub(super) called: String,
    /// By which it is pulled again, whatever becomes of the tag.
    pub(super) reference: String,
}

/// Pulls a plugin whose component has at most `most` bytes.
///
/// # Errors
/// When the reference is none, the registry has it not or lies, or it is no plugin.
pub(super) async fn pull(
    reference: &str,
    arguments: &RegistryArguments,
    http: &HttpConfig,
    most: u64,
) -> Result<Download, Failure> {
    let reference = read(reference)?;
    let mut registry = open(&reference, arguments, http, false)?;
    let failed = |why: String| Failure::with(Exit::Failed, format!("{reference}: {why}"));
    let text = registry.manifest(reference.pulled_by(), MAX_MANIFEST_BYTES).await.map_err(failed)?;
    let digest = Digest::of(&text);
    if let Some(expected) = reference.digest.filter(|expected| *expected != digest) {
        return Err(failed(format!("the registry sent a manifest that is {digest}, and not {expected}")));
    }
    let artifact = Artifact::read(&text).map_err(failed)?;
    let layer = artifact.component().map_err(failed)?;
    if layer.size > most {
        let limit = format!("its component has {} bytes, and `limits.component` is {most}", layer.size);
        return Err(failed(limit));
    }
    let bytes = registry.blob(&layer.digest, layer.size).await.map_err(failed)?;
    let found = Digest::of(&bytes);
    if found.to_string() != layer.digest {
        return Err(failed(format!(
            "the registry sent a component that is {found}, and not {}",
            layer.digest
        )));
    }
    Ok(Download {
        bytes,
        signature: artifact.signature(),
        called: reference.called(),
        reference: reference.exactly(&digest),
    })
}

/// Pushes a plugin. Returns what it is pulled by.
///
/// # Errors
/// When the reference is none, or the registry does not take it.
pub(super) async fn push(
    reference: &str,
    pushed: Upload,
    arguments: &RegistryArguments,
    http: &HttpConfig,
) -> Result<String, Failure> {
    let text = reference.strip_prefix("oci://");
    let text =
        text.ok_or_else(|| Failure::call(format!("{reference}: expected oci://HOST/REPOSITORY:TAG")))?;
    let reference = read(text)?;
    if reference.digest.is_some() || reference.tag.is_none() {
        return Err(Failure::call(format!(
            "{reference}: expected a tag to push to, such as :1.2.0, and no digest"
        )));
    }
    let mut registry = open(&reference, arguments, http, true)?;
    let failed = |why: String| Failure::with(Exit::Failed, format!("{reference}: {why}"));
    let (manifest, config) = artifact::write(&pushed).map_err(failed)?;
    registry.upload(pushed.bytes).await.map_err(failed)?;
    registry.upload(config).await.map_err(failed)?;
    let digest = Digest::of(&manifest);
    registry.put_manifest(reference.pulled_by(), manifest).await.map_err(failed)?;
    Ok(reference.exactly(&digest))
}

fn read(text: &str) -> Result<Reference, Failure> {
    text.parse().map_err(|why| Failure::call(format!("oci://{text}: {why}")))
}

fn open(
    reference: &Reference,
    arguments: &RegistryArguments,
    http: &HttpConfig,
    writes: bool,
) -> Result<Registry, Failure> {
    if arguments.plain_http && !reference.is_on_this_machine() {
        let message = "`--plain-http` is for registries on this machine: localhost, 127.0.0.1 or [::1]";
        return Err(Failure::call(format!("{reference}: {message}")));
    }
    let credentials = credentials::of(&reference.host).map_err(Failure::call)?;
    Ok(Registry::new(reference, arguments.plain_http, http, credentials, writes))
}
