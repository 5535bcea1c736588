//! Plugins on this machine: where they are found, and how they are built.

pub(crate) mod builder;
pub(crate) mod dirs;
pub(crate) mod provenance;
pub(crate) mod shipped;
