//! Context of a call: its attempt, its grants, and its sandbox.

use std::sync::Arc;

#[cfg(target_os = "linux")]
use super::capability::http::RelayClient;
#[cfg(all(feature = "http", target_os = "linux"))]
use super::capability::sockets::TcpRelayClient;
use super::{
    attempt_context::AttemptContext,
    capability::{
        dirs::{DirLocks, Dirs, SharedDirs},
        http::Net,
    },
    executor::Invocation,
    fault::FaultCounts,
    grants::Grants,
    limits::{Allowance, Ceilings, Limit, Limits, SetBy},
    memory::Memory,
    tenants::Tenants,
};

/// State that all calls of a sandbox share.
pub(super) struct SandboxContext {
    pub(super) limits: Arc<Limits>,
    /// The operator's limits on every attempt.
    pub(super) ceilings: Ceilings,
    pub(super) tenants: Arc<Tenants>,
    pub(super) memory: Memory,
    pub(super) faults: FaultCounts,
    pub(super) dirs: SharedDirs,
    #[cfg_attr(
        not(any(feature = "http", target_os = "linux")),
        expect(dead_code, reason = "there are no requests")
    )]
    pub(super) net: Arc<Net>,
    /// Set in the process of an isolated attempt, whose parent makes its requests.
    #[cfg(target_os = "linux")]
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "there are no requests"))]
    pub(super) relay: Option<Arc<RelayClient>>,
    /// Set in the process of an isolated attempt, whose parent makes its connections.
    #[cfg(all(feature = "http", target_os = "linux"))]
    pub(super) tcp_relay: Option<Arc<TcpRelayClient>>,
}

impl SandboxContext {
    /// Returns the limits of an attempt: the smallest that was set for each resource. `manifest` has those of the plugin itself.
    pub(super) fn ceilings(
        &self,
        manifest: &Allowance,
        grants: &Grants,
        tenant: &str,
        invocation: &Invocation,
    ) -> Ceilings {
        let of_tenant = self.tenants.limits(tenant);
        let ceilings = of_tenant.map_or(self.ceilings, |limits| self.ceilings.within(limits, SetBy::Tenant));
        let mut ceilings = ceilings.within(&grants.limits, SetBy::Plugin).within(manifest, SetBy::Manifest);
        if let Some(memory) = invocation.memory {
            ceilings.lower(Limit::Memory, memory, SetBy::Task);
        }
        ceilings
    }
}

/// Context of one call, shared by everything that serves it.
#[derive(Clone)]
pub(super) struct CallContext {
    pub(super) attempt: Arc<AttemptContext>,
    pub(super) grants: Arc<Grants>,
    pub(super) sandbox: Arc<SandboxContext>,
}

impl CallContext {
    /// Waits until the attempt has its exclusive directories for itself.
    ///
    /// # Errors
    /// The message for the user when one cannot be locked.
    pub(super) async fn lock_dirs(&self) -> Result<DirLocks, String> {
        if !self.grants.dirs.iter().any(|dir| dir.exclusive) {
            return Ok(DirLocks::default());
        }
        Box::pin(DirLocks::acquire(&self.sandbox.dirs, &self.grants.dirs)).await
    }

    /// Opens the directories that are granted.
    ///
    /// # Errors
    /// The message for the user when one cannot be opened.
    pub(super) async fn open_dirs(&self) -> Result<Dirs, String> {
        // Most plugins are granted none, and the future of opening is large.
        if self.grants.dirs.is_empty() {
            return Ok(Dirs::default());
        }
        Box::pin(Dirs::open(&self.sandbox.dirs, &self.grants.dirs, &self.attempt)).await
    }
}
