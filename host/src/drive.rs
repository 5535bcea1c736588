//! A run in motion: loading it, its driver loop, handles to it, and following it from outside.

pub(crate) mod driver;
pub(crate) mod follow;
pub(crate) mod handle;
pub(crate) mod load;
pub(crate) mod pending_response;
pub(crate) mod remote;
pub(crate) mod requirements;
