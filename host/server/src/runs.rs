//! Runs: submitting, looking, following, asking.

pub(crate) mod ask;
pub(crate) mod events;
pub(crate) mod get;
pub(crate) mod kept;
pub(crate) mod list;
pub(crate) mod logs;
pub(crate) mod notices;
pub(crate) mod picture;
pub(crate) mod rerun;
pub(crate) mod submit;
pub(crate) mod task;
