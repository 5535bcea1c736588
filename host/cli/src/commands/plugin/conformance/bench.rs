//! A sandbox in which one plugin is called again and again.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use phasm::{
    Outcome, Value,
    config::Config,
    engine::value::Map,
    executor::{Executor as _, Invocation, Level, Observer},
    plugins::Plugins,
    sandbox::{FaultKind, Grants, Sandbox, SandboxConfig},
};

use super::example::PluginExample;
use crate::failure::Failure;

/// Guests at once: one is called, and an earlier one may still be taken down.
const SLOTS: u32 = 8;

/// A plugin in a sandbox of its own, with the limits and the network settings of a configuration and without a cache of compiled code.
pub(super) struct TestBench {
    plugins: Plugins,
    name: Arc<str>,
    /// Time that a call may take.
    timeout: Duration,
}

/// A call, and how it ended.
pub(super) struct CallResult {
    pub(super) outcome: Outcome,
    /// Set when the guest did not return by itself.
    pub(super) fault: Option<FaultKind>,
    pub(super) took: Duration,
}

/// Inputs and conditions of a call.
#[derive(Clone, Default)]
pub(super) struct CallRequest {
    pub(super) inputs: Map,
    pub(super) settings: Map,
    pub(super) resumed: bool,
    /// Most memory, in bytes; the limit of the configuration without it.
    pub(super) memory: Option<u64>,
    /// Time that it may take; that of the bench without it.
    pub(super) timeout: Option<Duration>,
}

impl CallRequest {
    /// Returns the call of an example.
    pub(super) fn of(example: &PluginExample) -> Self {
        Self { inputs: example.inputs.clone(), settings: example.settings.clone(), ..Self::default() }
    }
}

impl TestBench {
    /// Makes a sandbox for the component in `file`, with these grants.
    ///
    /// # Errors
    /// When this machine cannot run a sandbox.
    pub(super) fn new(
        name: &str,
        file: PathBuf,
        grants: Grants,
        config: &Config,
        timeout: Duration,
    ) -> Result<Self, Failure> {
        let sandbox = SandboxConfig {
            slots: SLOTS,
            limits: config.limits.clone(),
            http: config.http.clone(),
            isolation: config.isolation,
            ..SandboxConfig::default()
        };
        let plugins = Plugins::new(Sandbox::new(sandbox).map_err(Failure::host)?);
        plugins.register(name, file, grants);
        Ok(Self { plugins, name: name.into(), timeout })
    }

    /// Makes another bench with other grants, which compiles the plugin anew at its first call.
    pub(super) fn granted(&self, file: PathBuf, grants: Grants) -> Self {
        let plugins = Plugins::new(self.plugins.sandbox().clone());
        plugins.register(&*self.name, file, grants);
        Self { plugins, name: Arc::clone(&self.name), timeout: self.timeout }
    }

    /// Compiles the plugin and returns the time that it took.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(super) async fn compile(&self) -> Result<Duration, String> {
        let begin = Instant::now();
        self.plugins.load(&self.name).await.map_err(|error| error.to_string())?;
        Ok(begin.elapsed())
    }

    /// Makes one call and waits for its end. Calls are made one after the other, so the fault that is counted meanwhile is its own.
    pub(super) async fn call(&self, request: &CallRequest) -> CallResult {
        let faults = self.faults();
        let begin = Instant::now();
        let outcome = self.begin(request).await;
        let took = begin.elapsed();
        let fault = self.faults().into_iter().zip(faults).find(|((_, after), (_, before))| after > before);
        // An attempt that is stopped at its deadline from outside is no fault of the sandbox's count.
        let timeout = (took >= request.timeout.unwrap_or(self.timeout)).then_some(FaultKind::Timeout);
        CallResult { outcome, fault: fault.map(|((kind, _), _)| kind).or(timeout), took }
    }

    /// Makes the call of an example. An attempt that suspends itself is resumed with the example's response, if it has one.
    pub(super) async fn call_example(&self, example: &PluginExample) -> CallResult {
        let request = CallRequest::of(example);
        let first = self.call(&request).await;
        match &example.response {
            Some(response) if first.outcome.code == 1 => {
                let mut inputs = request.inputs.clone();
                inputs.extend(response.iter().map(|(name, value)| (Arc::clone(name), value.clone())));
                self.call(&CallRequest { inputs, resumed: true, ..request }).await
            }
            _ => first,
        }
    }

    /// Begins a call, drops it after `time`, and calls again. Returns whether the dropped one had left within `grace`.
    pub(super) async fn cancels(&self, request: &CallRequest, time: Duration, grace: Duration) -> bool {
        // A call that ends sooner has nothing left to cancel.
        let _ended = tokio::time::timeout(time, self.begin(request)).await;
        let end = Instant::now() + grace;
        loop {
            self.begin(request).await;
            if self.plugins.sandbox().occupancy().slots_used == 0 {
                return true;
            }
            if Instant::now() > end {
                return false;
            }
        }
    }

    /// Returns the most memory that a call may have, in bytes.
    pub(super) fn memory_limit(&self) -> u64 {
        self.plugins.sandbox().memory_limit()
    }

    async fn begin(&self, request: &CallRequest) -> Outcome {
        let inputs = request.inputs.iter().map(|(name, value)| (Arc::clone(name), value.clone()));
        let invocation = Invocation {
            run_id: "test".into(),
            workflow: Arc::clone(&self.name),
            task_run_id: "test.task".into(),
            task: Arc::clone(&self.name),
            dispatch: if request.resumed { 2 } else { 1 },
            resumed: request.resumed,
            deadline: Instant::now().checked_add(request.timeout.unwrap_or(self.timeout)),
            config: Value::from(request.settings.clone()),
            inputs: Arc::new(inputs.collect()),
            memory: request.memory,
            ..Invocation::first(&self.name)
        };
        self.plugins.execute(invocation, Arc::new(SilentObserver)).await
    }

    fn faults(&self) -> Vec<(FaultKind, u64)> {
        self.plugins.sandbox().occupancy().faults
    }
}

/// An observer that drops what the guest says.
struct SilentObserver;

impl Observer for SilentObserver {
    fn log(&self, _: Level, _: &str) {}
    fn progress(&self, _: Option<f64>, _: &str) {}
    fn activity(&self) {}
}
