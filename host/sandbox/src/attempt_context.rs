//! The attempt that a call executes, as all capabilities see it.

use std::sync::Arc;

use super::{
    executor::Invocation,
    limits::{Ceilings, Limits, Owner},
};

/// The attempt that a call executes: its invocation, tenant and limits. Fixed before its guest exists.
pub(super) struct AttemptContext {
    pub(super) invocation: Invocation,
    pub(super) tenant: Arc<str>,
    /// The operator's limits on every call.
    pub(super) limits: Arc<Limits>,
    /// Limits of this attempt: the smallest of those set for each resource.
    pub(super) ceilings: Ceilings,
}

impl AttemptContext {
    /// Returns the plugin's name as grants have it, or a digest where it has no name.
    pub(super) fn plugin(&self) -> &str {
        self.invocation.executor_type.split('@').next().unwrap_or_default()
    }

    /// Returns the tenant and the plugin, for messages.
    pub(super) fn owner(&self) -> Owner<'_> {
        Owner { tenant: &self.tenant, plugin: self.plugin() }
    }
}

#[cfg(all(test, target_os = "linux"))]
impl AttemptContext {
    /// Returns an attempt of the plugin `guest`.
    pub(super) fn for_tests(limits: Limits) -> Arc<Self> {
        use super::capability::http::HttpLimits;
        let invocation = Invocation::first("guest");
        let ceilings = Ceilings::of(&limits, &HttpLimits::default());
        Arc::new(Self { invocation, tenant: "default".into(), limits: Arc::new(limits), ceilings })
    }
}
