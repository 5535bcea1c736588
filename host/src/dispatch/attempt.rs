//! An attempt on its way to an executor.

use std::sync::Arc;

use phasm_engine::{event::Fence, time::Millis};
use phasm_sandbox::executor::{Invocation, Observer};

use super::{backlog::Backlog, bounds::Bounds, wire::OfferTerms};

/// An attempt that may be executed.
pub(crate) struct Attempt<I> {
    pub(crate) fence: Fence,
    pub(crate) invocation: Invocation,
    pub(crate) bounds: Bounds,
    pub(crate) observer: Arc<dyn Observer>,
    /// Receives the attempt's signals.
    pub(crate) inbox: I,
    /// Where it waits for a thread.
    pub(crate) backlog: Backlog,
    /// The tenant whose slot it has; none for an attempt of another host.
    pub(crate) tenant: Option<Arc<str>>,
    /// The host's clock when the attempt could have begun; unknown for an attempt of another host.
    pub(crate) due: Option<Millis>,
    /// Terms on which other hosts may execute it; none if it is executed here.
    pub(crate) offer: Option<OfferTerms>,
}
