//! Tenants: their limits, and the environment that their runs find.

pub(crate) mod environment;
pub mod fair_queue;
pub(crate) mod tenant;
