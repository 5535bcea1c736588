//! Tenants: their limits, and the environment that their runs find.

pub(crate) mod environment;
pub(crate) mod tenant;
