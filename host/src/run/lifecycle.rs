//! What becomes of the runs of a host, for whoever looks after it.

use std::sync::{Arc, OnceLock};

use phasm_engine::{phase::Phase, time::Timestamp};
use tokio::sync::broadcast;

use crate::store::RunHead;

/// How many are kept for somebody who is slow to hear them; older ones are lost.
const MOST_UNHEARD: usize = 4096;

/// Something that became of a run of a host.
#[derive(Clone, Debug)]
pub struct Tiding {
    /// The run.
    pub head: Arc<RunHead>,
    /// What became of it.
    pub what: Became,
}

/// What became of a run of a host.
#[derive(Clone, Debug)]
pub enum Became {
    /// The host drives it from now on.
    Driven,
    /// It was given back to the store until then, or until somebody writes to it.
    GivenBack(Option<Timestamp>),
    /// It has ended in that phase.
    Ended(Phase),
    /// It cannot be driven here, and why; it is left to other hosts.
    PassedOver(String),
    /// The host has stopped driving it, and why.
    Stopped(String),
}

/// Tells whoever listens. Nothing is kept while nobody has ever listened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tidings(Arc<OnceLock<broadcast::Sender<Tiding>>>);

impl Tidings {
    pub(crate) fn listen(&self) -> broadcast::Receiver<Tiding> {
        self.0.get_or_init(|| broadcast::Sender::new(MOST_UNHEARD)).subscribe()
    }

    /// False if nobody listens.
    pub(crate) fn tell(&self, head: &Arc<RunHead>, what: Became) -> bool {
        let told =
            |sender: &broadcast::Sender<Tiding>| sender.send(Tiding { head: Arc::clone(head), what }).is_ok();
        self.0.get().is_some_and(told)
    }
}
