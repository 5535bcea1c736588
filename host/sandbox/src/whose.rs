//! Whose a call is, and what it may use: settled before its guest is there, and shared by whatever serves it.

use std::sync::Arc;

use super::{
    capability::{
        Grants,
        dirs::{Common, Dirs},
        http::Net,
    },
    executor::Invocation,
    fault::FaultCounts,
    limits::{Ceilings, Limit, Limits, Named, SetBy},
    memory::Memory,
    program::Program,
    tenants::Tenants,
};

/// What all calls of a sandbox share.
pub(super) struct Premises {
    pub(super) limits: Limits,
    /// The operator's, for every attempt.
    pub(super) ceilings: Ceilings,
    pub(super) tenants: Arc<Tenants>,
    pub(super) memory: Memory,
    pub(super) faults: FaultCounts,
    pub(super) dirs: Common,
    #[cfg_attr(
        not(any(feature = "http", target_os = "linux")),
        expect(dead_code, reason = "there are no requests")
    )]
    pub(super) net: Net,
}

impl Premises {
    /// What an attempt of `program` may use: of each limit the smallest that somebody set.
    pub(super) fn ceilings(
        &self,
        program: &Program,
        grants: &Grants,
        tenant: &str,
        invocation: &Invocation,
    ) -> Ceilings {
        let of_tenant = self.tenants.limits(tenant);
        let ceilings = of_tenant.map_or(self.ceilings, |limits| self.ceilings.within(limits, SetBy::Tenant));
        let mut ceilings =
            ceilings.within(&grants.limits, SetBy::Plugin).within(&program.limits, SetBy::Manifest);
        if let Some(memory) = invocation.memory {
            ceilings.lower(Limit::Memory, memory, SetBy::Task);
        }
        ceilings
    }
}

/// One call.
pub(super) struct Whose {
    pub(super) premises: Arc<Premises>,
    pub(super) invocation: Invocation,
    pub(super) tenant: Arc<str>,
    pub(super) grants: Arc<Grants>,
    pub(super) ceilings: Ceilings,
}

impl Whose {
    /// Opens the directories that are granted.
    ///
    /// # Errors
    /// What to tell the user when one cannot be opened.
    pub(super) async fn open(&self) -> Result<Dirs, String> {
        // Most have none, and what can wait is large.
        if self.grants.dirs.is_empty() {
            return Ok(Dirs::default());
        }
        Box::pin(Dirs::open(self)).await
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.premises.limits
    }

    /// The plugin's name, as grants have it; a digest, where nothing else is known of it.
    pub(super) fn plugin(&self) -> &str {
        self.invocation.executor_type.split('@').next().unwrap_or_default()
    }

    /// Whom messages speak of.
    pub(super) fn named(&self) -> Named<'_> {
        Named { tenant: &self.tenant, plugin: self.plugin() }
    }
}

#[cfg(test)]
impl Whose {
    /// A call of the plugin `guest` in a sandbox that has no other.
    pub(super) fn alone(limits: Limits, grants: Grants) -> Arc<Self> {
        use super::{capability::http::HttpConfig, memory::Memory};
        let config = HttpConfig::default();
        let ceilings = Ceilings::of(&limits, &config.limits);
        let (memory, _) = Memory::divide(Some(1 << 30), 1);
        let net = Net::new(config, &Tenants::default());
        let premises = Premises {
            limits,
            ceilings,
            tenants: Arc::default(),
            memory,
            faults: FaultCounts::default(),
            dirs: Common::default(),
            net,
        };
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
        let (premises, grants) = (Arc::new(premises), Arc::new(grants));
        Arc::new(Self { premises, invocation, tenant: "default".into(), grants, ceilings })
    }
}
