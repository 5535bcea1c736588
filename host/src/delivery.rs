//! Webhook deliveries: the worker that posts them, and those that expired.

pub(crate) mod dead_letters;
pub(crate) mod worker;
