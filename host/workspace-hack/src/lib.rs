//! Nothing: the manifest is the crate.
