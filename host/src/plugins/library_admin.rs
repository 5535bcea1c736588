//! Changes of a library, from a command or over HTTP, go through one type, so that every plugin is checked alike.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    AddView, ApprovalView, GrantRequests, Library, LibraryError, MissingGrants, NewPlugin, PluginVersion,
    SignatureStatus,
};
use crate::plugins::trust::{PluginTrust, Policy};
use phasm_sandbox::{Digest, Grants, Sandbox};

/// A library, and what its operator says of plugins that are added to it.
#[derive(Clone, Debug)]
pub struct LibraryAdmin {
    /// Where they are.
    pub library: Library,
    /// The tenant that the library belongs to; none for the shared one.
    pub tenant: Option<Arc<str>>,
    /// The policies of all who would find them.
    pub trusts: Vec<PluginTrust>,
    /// Whether every version waits to be approved, and not only one that wants more.
    pub hold: bool,
    /// Grants by plugin.
    pub grants: BTreeMap<String, Grants>,
}

/// Why a plugin was not added.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// No policy has it used.
    #[error("{name} is not added: {why}")]
    Distrusted {
        /// The name that workflow files would use.
        name: String,
        /// The requirement of the first policy.
        why: String,
    },
    /// The component cannot be compiled within bounds, or imports an interface that no guest has.
    #[error("{0}")]
    Unusable(String),
    /// The library refuses it, or cannot be written.
    #[error(transparent)]
    Library(#[from] LibraryError),
}

impl LibraryAdmin {
    /// A policy that knows the keys of all, and asks for none.
    #[must_use]
    pub fn keys(&self) -> PluginTrust {
        all_keys(&self.trusts)
    }

    /// Adds a plugin that a policy accepts, once it has been compiled. A crash leaves either the whole plugin or nothing.
    ///
    /// # Errors
    /// [`AddError`]; nothing was added.
    pub async fn add(&self, new: NewPlugin, sandbox: &Sandbox) -> Result<AddView, AddError> {
        let (library_admin, bytes) = (self.clone(), Arc::clone(&new.bytes));
        let blocking = sandbox.guest_runtime();
        let (new, signature) = joined(blocking.spawn_blocking(move || library_admin.admit(new)).await)?;
        let compiled = sandbox.load_for(self.tenant.as_ref(), bytes).await;
        compiled.map_err(|error| AddError::Unusable(error.to_string()))?;
        let library_admin = self.clone();
        joined(blocking.spawn_blocking(move || library_admin.shelve(new, signature)).await)
    }

    /// Whether anybody would have it used, and what else can be told before it is compiled.
    fn admit(&self, new: NewPlugin) -> Result<(NewPlugin, SignatureStatus), AddError> {
        let (digest, text) = (Digest::of(&new.bytes), new.signature.as_deref());
        let judge = |trust: &PluginTrust| trust.judge(&digest, &trust.look(&new.bytes, text));
        let judged: Vec<_> = self.trusts.iter().map(judge).collect();
        if !judged.iter().any(Result::is_ok) {
            let why = judged.into_iter().find_map(Result::err).unwrap_or_default();
            return Err(AddError::Distrusted { name: new.name, why });
        }
        self.library.check(&new)?;
        let signature = SignatureStatus::of(self.keys().look(&new.bytes, text), text);
        Ok((new, signature))
    }

    fn shelve(&self, new: NewPlugin, signature: SignatureStatus) -> Result<AddView, AddError> {
        let added = self.library.add(new, &self.keys(), self.hold)?;
        let to_grant = self.to_grant(&added.stored.name, &added.manifest.wants);
        Ok(AddView::of(added, signature, to_grant))
    }

    fn to_grant(&self, name: &str, wants: &GrantRequests) -> Option<MissingGrants> {
        let to_grant = MissingGrants::of(name, wants, self.grants.get(name))?;
        Some(to_grant.of_tenant(self.tenant.as_deref()))
    }

    /// Approves a version on hold; `by` is recorded.
    ///
    /// # Errors
    /// When there is none, or the library cannot be read or written.
    pub fn approve(&self, stored: &PluginVersion, by: Option<&str>) -> Result<ApprovalView, LibraryError> {
        let (manifest, _) = self.library.look(stored, &self.keys())?;
        let was_held = self.library.approve(stored, by)?;
        Ok(ApprovalView {
            name: stored.name.clone(),
            version: stored.version.clone(),
            digest: stored.digest.to_string(),
            was_held,
            to_grant: self.to_grant(&stored.name, &manifest.wants),
        })
    }
}

/// A policy that knows the keys of all, and asks for none.
#[must_use]
pub fn all_keys(trusts: &[PluginTrust]) -> PluginTrust {
    let keys = trusts.iter().flat_map(|trust| trust.policy.keys.iter().copied()).collect();
    Policy { require_signature: false, keys }.into()
}

/// Flattens the result of work on another thread.
fn joined<T>(ended: Result<Result<T, AddError>, tokio::task::JoinError>) -> Result<T, AddError> {
    ended.unwrap_or_else(|error| Err(AddError::Unusable(format!("host fault: {error}"))))
}
