//! What executor types stand for: found out once for a document, then data.

mod defaults;
mod look_up;

use std::{collections::BTreeMap, sync::Arc};

use super::model::Pinned;

pub use self::defaults::check_defaults;
pub(super) use self::{
    defaults::Defaults,
    look_up::{look_up, recorded, types},
};

/// What the executor types of a document stand for, as [`Draft::plan`](super::Draft::plan) takes it.
///
/// A type that nothing was said of is taken for usable.
#[derive(Clone, Debug, Default)]
pub struct Executors {
    found: BTreeMap<Arc<str>, Found>,
    installed: Vec<Arc<str>>,
    memory: Option<u64>,
    missing_allowed: bool,
}

/// What one executor type stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// An executor.
    Executor(Box<Pinned>),
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
    pub fn with(mut self, executor_type: impl Into<Arc<str>>, found: Found) -> Self {
        self.found.insert(executor_type.into(), found);
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

    /// Whether types that stand for nothing usable are warned of instead of refused.
    #[must_use]
    pub fn allow_missing(self, allowed: bool) -> Self {
        Self { missing_allowed: allowed, ..self }
    }
}
