//! Resolution of a document's names: templates, tasks and their order.

pub(super) mod graph;
pub(super) mod index;
pub(super) mod order;
mod upstream;
