//! Attempts for which there is no permit here: they wait for one, or for another host to execute them.

use std::sync::Arc;

use phasm_engine::event::Fence;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::{Dispatcher, Permit, execution, guard::AttemptGuard};
use crate::{
    dispatch::{
        attempt::Attempt,
        signal::{Inbox, Signal},
    },
    store::Offer,
};

/// A message to the exchange with other hosts.
#[derive(Debug)]
pub(crate) enum Outbound<I: Inbox> {
    /// An attempt begins to wait.
    Attempt(Box<WaitingAttempt<I>>),
    /// The attempt of that number waits no more.
    Left(u64),
}

/// An attempt that waits for a permit here, or for another host.
#[derive(Debug)]
pub(crate) struct WaitingAttempt<I: Inbox> {
    /// Unique in this process.
    pub(crate) number: u64,
    pub(crate) fence: Fence,
    /// The offer to other hosts; none, if it must be executed here.
    pub(crate) offer: Option<Offer>,
    pub(crate) replies: UnboundedSender<WaitReply<I>>,
}

/// A message to an attempt that waits.
#[derive(Debug)]
pub(crate) enum WaitReply<I: Inbox> {
    /// Execute it here.
    Local(Permit<I>),
    /// A signal from the host that executes it.
    Remote(Signal),
}

/// The wait of one attempt. Dropping it withdraws the attempt from the exchange.
pub(super) struct RemoteWait<I: Inbox> {
    number: u64,
    dispatcher: Arc<Dispatcher<I>>,
    replies: UnboundedReceiver<WaitReply<I>>,
}

impl<I: Inbox> Drop for RemoteWait<I> {
    fn drop(&mut self) {
        self.dispatcher.send_outbound(Outbound::Left(self.number));
    }
}

impl<I: Inbox> RemoteWait<I> {
    pub(super) fn new(
        number: u64,
        dispatcher: Arc<Dispatcher<I>>,
        replies: UnboundedReceiver<WaitReply<I>>,
    ) -> Self {
        Self { number, dispatcher, replies }
    }

    /// Waits, and executes the attempt here if it gets a permit.
    pub(super) async fn then_execute(mut self, attempt: Attempt<I>) {
        let guard = AttemptGuard::waiting(&self.dispatcher, &attempt);
        loop {
            match self.replies.recv().await {
                Some(WaitReply::Local(permit)) => {
                    drop(self);
                    return execution::execute(permit, guard, attempt).await;
                }
                Some(WaitReply::Remote(signal)) if signal.is_end() => return guard.end(signal),
                Some(WaitReply::Remote(signal)) => guard.forward(signal),
                // The host is being closed: what became of the attempt is not known.
                None => std::future::pending().await,
            }
        }
    }
}
