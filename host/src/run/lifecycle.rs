//! Lifecycle events of a host's runs, for its operator.

use std::sync::{Arc, OnceLock};

use phasm_engine::{phase::Phase, time::Timestamp};
use tokio::sync::broadcast;

use crate::store::RunHead;

/// Number of events that are kept for a slow subscriber; older ones are lost.
const MAX_QUEUED_EVENTS: usize = 4096;

/// Something that became of a run of a host.
#[derive(Clone, Debug)]
pub struct RunLifecycleEvent {
    /// The run.
    pub head: Arc<RunHead>,
    /// The event.
    pub what: LifecycleChange,
}

/// A lifecycle event of a run.
#[derive(Clone, Debug)]
pub enum LifecycleChange {
    /// The host drives it from now on.
    Driven,
    /// Given back to the store until then, or until a request comes.
    GivenBack(Option<Timestamp>),
    /// Ended.
    Ended {
        /// Its phase.
        phase: Phase,
        /// Short reason for the end, or a remark on it, where the phase alone does not say.
        remark: Option<Arc<str>>,
    },
    /// Cannot be driven here, with the reason; left to other hosts.
    PassedOver(String),
    /// The host has stopped driving it, and why.
    Stopped(String),
}

/// Publishes events. Nothing is kept while there has been no subscriber.
#[derive(Clone, Debug, Default)]
pub(crate) struct LifecycleFeed(Arc<OnceLock<broadcast::Sender<RunLifecycleEvent>>>);

impl LifecycleFeed {
    pub(crate) fn listen(&self) -> broadcast::Receiver<RunLifecycleEvent> {
        self.0.get_or_init(|| broadcast::Sender::new(MAX_QUEUED_EVENTS)).subscribe()
    }

    /// Returns false if there is no subscriber.
    pub(crate) fn tell(&self, head: &Arc<RunHead>, what: LifecycleChange) -> bool {
        let told = |sender: &broadcast::Sender<RunLifecycleEvent>| {
            sender.send(RunLifecycleEvent { head: Arc::clone(head), what }).is_ok()
        };
        self.0.get().is_some_and(told)
    }
}
