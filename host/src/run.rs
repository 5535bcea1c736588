//! Ways to reach a run: messages inside this process, requests through the store, and the registry of loaded runs.

pub(crate) mod envelope;
pub(crate) mod lifecycle;
pub(crate) mod message;
pub(crate) mod ownership_doubt;
pub(crate) mod registry;
pub(crate) mod request;
