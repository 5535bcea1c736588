//! The operator's variables, which expressions may begin with.

use std::{collections::BTreeSet, sync::Arc};

use crate::{names, value::Value};

/// Returns the names in the object `variables` that an expression may begin with. A name that the engine has too stays the
/// engine's; the variable is then read as `vars.<name>`.
pub(super) fn readable(variables: &Value) -> BTreeSet<Arc<str>> {
    let names = variables.as_object().into_iter().flat_map(|map| map.keys());
    names.filter(|name| names::find(name).is_none()).cloned().collect()
}
