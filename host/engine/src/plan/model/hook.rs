//! Hooks.

use std::collections::BTreeMap;

use crate::{expr::Expr, settings::HookType};

use super::{HookId, Level, Node};

/// Hooks by the event that fires them.
pub type Hooks = BTreeMap<HookType, HookId>;

/// One hook: a call of a task template outside all scopes.
#[derive(Debug)]
pub struct Hook {
    /// The call; its arguments also see `hook.*`. Its timeout is set: its own, else 5 minutes.
    pub node: Node,
    /// Asked when the hook fires; sees what the arguments see.
    pub when: Option<Expr>,
    /// Level whose names its arguments and `when` see; the hooks of `spec.hooks` see no level at all.
    pub level: Level,
}
