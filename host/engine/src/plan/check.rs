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
mod settings;
mod sizes;
mod sources;
mod visible;
mod waits;

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
    settings::check(index);
}

/// Warns of what is allowed and probably not meant, and reports what can never run.
pub(super) fn warn(index: &Index<'_>, graphs: &Graphs, defaults: &Defaults<'_>) {
    lints::check(index, graphs, defaults);
    // Values that could not be read, or are not known yet, are not compared.
    if !index.report.has_lost() && index.report.open_values() == 0 {
        check_values(index, graphs, defaults);
    }
}

/// Reports what can never run because of the values of settings.
pub(super) fn check_values(index: &Index<'_>, graphs: &Graphs, defaults: &Defaults<'_>) {
    waits::check(index, defaults);
    sizes::check(index, graphs);
}
