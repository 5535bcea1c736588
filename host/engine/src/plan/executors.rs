//! Executor types, resolved once for a document and plain data from then on.

mod defaults;
mod look_up;

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    form::{Name, Report, listed_if_few},
    problem::codes::executors::UNKNOWN_ENDPOINT,
};

use super::model::PinnedExecutor;

pub(super) use self::{
    defaults::Defaults,
    look_up::{look_up, recorded, types},
};
pub use self::{defaults::check_defaults, look_up::is_crate_name};

/// The executors that a document's executor types resolve to, as [`Draft::plan`](super::Draft::plan) takes them.
///
/// Types without an entry are assumed to be usable.
#[derive(Clone, Debug, Default)]
pub struct Executors {
    found: BTreeMap<Arc<str>, ExecutorResolution>,
    installed: Vec<Arc<str>>,
    memory: Option<u64>,
    missing_allowed: bool,
    /// Endpoints that can be notified of runs, if known.
    endpoints: Option<Vec<Arc<str>>>,
    /// Types whose inputs are not known yet, each with the reason and a hint.
    unbuilt: BTreeMap<Arc<str>, [Arc<str>; 2]>,
}

/// The result of resolving one executor type.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecutorResolution {
    /// An executor.
    Executor(Box<PinnedExecutor>),
    /// Nothing that is installed.
    Unknown,
    /// Something that cannot be used, and why.
    Broken(Arc<str>),
    /// Something that is there and will not be used, and why: a problem also where missing executors are allowed.
    Refused(Arc<str>),
}

impl Executors {
    /// Nothing is known of any executor, and all of them are taken for usable.
    #[must_use]
    pub fn any() -> Self {
        Self::default()
    }

    /// Says what `executor_type` stands for.
    #[must_use]
    pub fn with(mut self, executor_type: impl Into<Arc<str>>, found: ExecutorResolution) -> Self {
        self.found.insert(executor_type.into(), found);
        self
    }

    /// Warns that the inputs of `executor_type` are not checked, for this reason and with this hint.
    #[must_use]
    pub fn unbuilt(
        mut self,
        executor_type: Arc<str>,
        why: impl Into<Arc<str>>,
        hint: impl Into<Arc<str>>,
    ) -> Self {
        self.unbuilt.insert(executor_type, [why.into(), hint.into()]);
        self
    }

    /// The names that are installed, for messages.
    #[must_use]
    pub fn installed(self, names: Vec<Arc<str>>) -> Self {
        Self { installed: names, ..self }
    }

    /// The operator's limit on the memory of a call, in bytes, which `resources.memory` only lowers.
    #[must_use]
    pub fn memory(self, limit: u64) -> Self {
        Self { memory: Some(limit), ..self }
    }

    /// Sets the endpoints that can be notified of runs; without this call every name is accepted.
    #[must_use]
    pub fn endpoints(self, names: Vec<Arc<str>>) -> Self {
        Self { endpoints: Some(names), ..self }
    }

    /// Whether types that stand for nothing usable are warned of instead of refused.
    #[must_use]
    pub fn allow_missing(self, allowed: bool) -> Self {
        Self { missing_allowed: allowed, ..self }
    }

    /// Reports those that are to be told of runs and are not known.
    pub(super) fn check_endpoints(&self, wanted: &[Name], report: &Report) {
        let Some(known) = self.endpoints.as_ref().filter(|_| !self.missing_allowed) else { return };
        let names = || known.iter().map(AsRef::as_ref);
        for name in wanted.iter().filter(|name| !known.contains(&name.value)) {
            let expected =
                listed_if_few(names(), "a name of `[notify]` of the configuration, for this namespace");
            let message = format!("no endpoint is named `{}`; expected {expected}", name.value);
            let hint = report.did_you_mean(&name.value, names());
            report.problem(name.problem(&UNKNOWN_ENDPOINT, message).with_hint_if(hint));
        }
    }
}
