//! How the outputs of iterations become the loop's.

use std::sync::Arc;

/// `aggregate` of a loop.
#[derive(Debug)]
pub struct Aggregate {
    /// Which iterations count.
    pub strategy: AggregateStrategy,
    /// The names to aggregate; `None` is all.
    pub parameters: Option<Vec<Arc<str>>>,
}

/// `aggregate.strategy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AggregateStrategy {
    /// The last succeeded iteration by index.
    #[default]
    Last,
    /// The first succeeded iteration by index.
    First,
    /// One list per name, aligned with the iterations, null for what did not succeed.
    List,
}
