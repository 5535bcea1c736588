//! Paths of a configuration.

use std::path::{Component, Path};

/// Returns true if a path never leads above its beginning. Symbolic links are not followed.
pub(super) fn stays_below(path: &Path) -> bool {
    let mut depth = 0_i32;
    path.components().all(|component| {
        depth += match component {
            Component::Normal(_) => 1,
            Component::ParentDir => -1,
            Component::CurDir => 0,
            Component::RootDir | Component::Prefix(_) => return false,
        };
        depth >= 0
    })
}
