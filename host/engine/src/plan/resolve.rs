//! What the names of a document refer to: templates, tasks and the order they stand in.

pub(super) mod graph;
pub(super) mod index;
pub(super) mod order;
mod upstream;
