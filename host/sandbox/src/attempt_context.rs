//! The attempt that a call executes, as every capability may know it.

use std::sync::Arc;

use super::{
    executor::Invocation,
    limits::{Ceilings, Limits, Owner},
};

/// The attempt that a call executes: the work, the tenant, and what it may use. Settled before its guest exists.
pub(super) struct AttemptContext {
    pub(super) invocation: Invocation,
    pub(super) tenant: Arc<str>,
    /// Limits of the operator on every call.
    pub(super) limits: Arc<Limits>,
    /// Limits of this attempt: of each the smallest that was set.
    pub(super) ceilings: Ceilings,
}

impl AttemptContext {
    /// Returns the plugin's name, as grants have it; a digest, where nothing else is known of it.
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
        let invocation = Invocation {
            run_id: "run".into(),
            workflow: "workflow".into(),
            namespace: "default".into(),
            task_run_id: "run.task".into(),
            task: "task".into(),
            executor_type: "guest".into(),
            attempt: 1,
            dispatch: 1,
            resumed: false,
            deadline: None,
            config: phasm_engine::value::Value::Null,
            inputs: Arc::default(),
            memory: None,
            trace: None,
        };
        let ceilings = Ceilings::of(&limits, &HttpLimits::default());
        Arc::new(Self { invocation, tenant: "default".into(), limits: Arc::new(limits), ceilings })
    }
}
