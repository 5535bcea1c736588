//! Runs: submitting, looking, following, asking.

pub(crate) mod badge;
pub(crate) mod cursors;
pub(crate) mod events;
pub(crate) mod get;
pub(crate) mod graph;
pub(crate) mod list;
pub(crate) mod logs;
pub(crate) mod notices;
pub(crate) mod requests;
pub(crate) mod rerun;
pub(crate) mod rows;
pub(crate) mod submit;
pub(crate) mod task;
pub(crate) mod values;
mod verdict;
