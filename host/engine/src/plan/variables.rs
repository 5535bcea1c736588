//! The operator's variables, which expressions may begin with (R-X9).

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::value::Value;

use super::{
    check::visible::ROOTS,
    executors::{Catalogue, ExecutorInfo},
};

/// What `catalogue` knows of executors, and the operator's variables.
#[derive(Clone, Copy)]
pub struct WithVariables<'a> {
    /// Knows the installed executors.
    pub catalogue: &'a dyn Catalogue,
    /// The object of variables, as [`Facts::vars`](crate::event::Facts::vars) has it.
    pub variables: &'a Value,
}

impl fmt::Debug for WithVariables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithVariables").field("variables", &self.variables).finish_non_exhaustive()
    }
}

impl Catalogue for WithVariables<'_> {
    fn executor(&self, executor_type: &str) -> Option<ExecutorInfo> {
        self.catalogue.executor(executor_type)
    }

    fn names(&self) -> Vec<Arc<str>> {
        self.catalogue.names()
    }

    fn memory(&self) -> Option<u64> {
        self.catalogue.memory()
    }

    fn variables(&self) -> Vec<Arc<str>> {
        self.variables.as_object().into_iter().flat_map(|map| map.keys().cloned()).collect()
    }
}

/// Those that an expression may begin with: a name of the engine's own stays the engine's, and is read as `vars.<name>`.
pub(super) fn readable(catalogue: &dyn Catalogue) -> BTreeSet<Arc<str>> {
    catalogue.variables().into_iter().filter(|name| !ROOTS.contains(&&**name)).collect()
}
