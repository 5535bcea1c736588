//! Whether the parts of a document fit together.

mod call_paths;
mod calls;
mod comparing;
mod executors;
mod items;
mod kinds;
mod lints;
mod nesting;
mod operating;
mod passing;
mod reading;
mod references;
mod sources;
mod visible;

use super::{
    executors::Defaults,
    resolve::{graph::Graphs, index::Index},
};

/// Reports everything that is wrong between the parts of the document.
pub(super) fn check(index: &Index<'_>, graphs: &Graphs) {
    calls::check(index);
    nesting::check(index, graphs);
    sources::check(index);
    executors::check(index);
    references::check(index, graphs);
}

/// Warns of what is allowed and probably not meant.
pub(super) fn warn(index: &Index<'_>, graphs: &Graphs, defaults: &Defaults<'_>) {
    lints::check(index, graphs, defaults);
}
