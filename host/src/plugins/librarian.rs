//! Whoever changes a library, from a command or over HTTP, does it by this: so that everybody's plugins are looked at alike.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Library, LibraryError, NewPlugin, PluginAdded, PluginApproved, PluginVersion, ToGrant, Vouched, Wants,
};
use crate::plugins::trust::{PluginTrust, Policy};
use phasm_sandbox::{Digest, Grants, Sandbox};

/// A library, and what its operator says of plugins that are added to it.
#[derive(Clone, Debug)]
pub struct Librarian {
    /// Where they are.
    pub library: Library,
    /// Whose it is alone.
    pub tenant: Option<Arc<str>>,
    /// The policies of all who would find them.
    pub trusts: Vec<PluginTrust>,
    /// Whether every version waits to be approved, and not only one that wants more.
    pub hold: bool,
    /// What plugins may touch, by name.
    pub grants: BTreeMap<String, Grants>,
}

/// Why a plugin was not added.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotAdded {
    /// No policy has it used.
    #[error("{name} is not added: {why}")]
    Distrusted {
        /// What documents would call it.
        name: String,
        /// What the first policy asks for.
        why: String,
    },
    /// It cannot be compiled within bounds, or asks for what no guest has.
    #[error("{0}")]
    Unusable(String),
    /// The library refuses it, or cannot be written.
    #[error(transparent)]
    Library(#[from] LibraryError),
}

impl Librarian {
    /// A policy that knows the keys of all, and asks for none.
    #[must_use]
    pub fn keys(&self) -> PluginTrust {
        all_keys(&self.trusts)
    }

    /// Adds a plugin, once somebody's policy takes it and it was compiled. Whatever happens meanwhile, it is there with all its bytes, or not
    /// at all.
    ///
    /// # Errors
    /// [`NotAdded`]; nothing was added.
    pub async fn add(&self, new: NewPlugin, sandbox: &Sandbox) -> Result<PluginAdded, NotAdded> {
        let (librarian, bytes) = (self.clone(), Arc::clone(&new.bytes));
        let blocking = sandbox.guest_runtime();
        let (new, signature) = joined(blocking.spawn_blocking(move || librarian.admit(new)).await)?;
        let compiled = sandbox.load(bytes).await;
        compiled.map_err(|error| NotAdded::Unusable(error.to_string()))?;
        let librarian = self.clone();
        joined(blocking.spawn_blocking(move || librarian.shelve(new, signature)).await)
    }

    /// Whether anybody would have it used, and what else can be told before it is compiled.
    fn admit(&self, new: NewPlugin) -> Result<(NewPlugin, Vouched), NotAdded> {
        let (digest, text) = (Digest::of(&new.bytes), new.signature.as_deref());
        let judge = |trust: &PluginTrust| trust.judge(&digest, &trust.look(&new.bytes, text));
        let judged: Vec<_> = self.trusts.iter().map(judge).collect();
        if !judged.iter().any(Result::is_ok) {
            let why = judged.into_iter().find_map(Result::err).unwrap_or_default();
            return Err(NotAdded::Distrusted { name: new.name, why });
        }
        self.library.check(&new)?;
        let signature = Vouched::of(self.keys().look(&new.bytes, text), text);
        Ok((new, signature))
    }

    fn shelve(&self, new: NewPlugin, signature: Vouched) -> Result<PluginAdded, NotAdded> {
        let added = self.library.add(new, &self.keys(), self.hold)?;
        let to_grant = self.to_grant(&added.stored.name, &added.manifest.wants);
        Ok(PluginAdded::of(added, signature, to_grant))
    }

    fn to_grant(&self, name: &str, wants: &Wants) -> Option<ToGrant> {
        let to_grant = ToGrant::of(name, wants, self.grants.get(name))?;
        Some(to_grant.of_tenant(self.tenant.as_deref()))
    }

    /// Approves a version that is held, in somebody's name.
    ///
    /// # Errors
    /// When there is none, or the library cannot be read or written.
    pub fn approve(&self, stored: &PluginVersion, by: Option<&str>) -> Result<PluginApproved, LibraryError> {
        let (manifest, _) = self.library.look(stored, &self.keys())?;
        let was_held = self.library.approve(stored, by)?;
        Ok(PluginApproved {
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

/// What came of work on another thread.
fn joined<T>(ended: Result<Result<T, NotAdded>, tokio::task::JoinError>) -> Result<T, NotAdded> {
    ended.unwrap_or_else(|error| Err(NotAdded::Unusable(format!("host fault: {error}"))))
}
