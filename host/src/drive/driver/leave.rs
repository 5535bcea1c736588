//! Ends of a driver: the run is given back to the store, is over, or cannot be recorded.

use std::sync::Arc;

use phasm_engine::time::Timestamp;

use super::{Driver, KEEP_LOADED_FACTOR};
use crate::{
    dispatch::slots::Claimant,
    run::{
        lifecycle::LifecycleChange,
        message::{DriveStatus, Message},
        registry::Entry,
        request::RequestError,
    },
    store::{Lease, StoreError},
};

/// Work that a driver leaves to its host.
pub(crate) enum FollowUp {
    /// The store failed and may be well again: the run is loaded again then, and `inspections` reach it.
    Retake { entry: Arc<Entry>, error: Arc<StoreError>, inspections: Vec<Message> },
    /// The store can never take what follows: the run ends at its last record.
    GiveUp { entry: Arc<Entry>, lease: Lease, error: Arc<StoreError> },
}

impl Driver {
    /// Whether nothing but a person or a far-off clock could make something happen.
    pub(super) fn could_rest(&self) -> bool {
        let Some(idle_timeout) = self.core.idle_timeout else { return false };
        let is_near = |at: Timestamp| {
            u128::from(at.since(self.run.now())) < (idle_timeout * KEEP_LOADED_FACTOR).as_millis()
        };
        self.attempts.is_empty() && self.run.wanted_slots() == 0 && !self.run.next_wait().is_some_and(is_near)
    }

    /// Gives the run back to the store and forgets it. Returns false if a message has come meanwhile.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn give_back(&mut self) -> Result<bool, StoreError> {
        let entry = Arc::clone(&self.entry);
        let _loading = tokio::select! {
            biased;
            // The holder of the lock may have a message for the run, and wait for the reply.
            () = self.inbox.receive() => return Ok(false),
            turn = entry.load_lock.lock() => turn,
        };
        entry.set_driver(None);
        self.inbox.close();
        if !self.inbox.is_empty() {
            self.inbox.reopen();
            entry.set_driver(Some(self.inbox.sender()));
            return Ok(false);
        }
        let wake_at = self.run.next_wait();
        // A run that another host has taken over is not released here, however often that is tried.
        self.core.store.release(&self.lease, wake_at).await?;
        // The claimer learns of the run's clock, and of a request that has just come.
        self.core.due.notify_one();
        // Waiting callers follow the run in the store from now on.
        entry.status.send_modify(|_| {});
        self.core.gauges.given_back.one_more();
        self.core.lifecycle.tell(&self.lease.head, LifecycleChange::GivenBack(wake_at));
        Ok(true)
    }

    /// Stops what still runs, gives every slot back, replies to every request and publishes how the run has ended.
    pub(super) fn leave(mut self, result: Result<(), Arc<StoreError>>) -> Option<FollowUp> {
        self.entry.set_driver(None);
        self.inbox.close();
        self.attempts.abort_all();
        let mut inspections: Vec<_> =
            self.batch.effects.inspections.drain(..).map(Message::Inspect).collect();
        if let Err(error) = &result {
            self.batch.effects.fail(error);
        }
        // Slots of attempts that a refused record would have started are still in hand.
        let mut returned = self.slots_in_hand();
        for message in self.inbox.take_received() {
            returned += message.slots();
            match message {
                Message::Signal(_) | Message::Mail | Message::Tick | Message::HandOver(_) => {}
                Message::Ask { request, reply } => {
                    let refusal = match &result {
                        Ok(()) => request.request.reply_of_ended(&self.run),
                        Err(error) => Err(RequestError::Lost(Arc::clone(error))),
                    };
                    // The sender may have gone.
                    let _gone = reply.send(refusal);
                }
                Message::Inspect(inspect) if result.is_ok() => inspect(&self.run),
                // The state in memory was not recorded, so it is not shown.
                Message::Inspect(_) => inspections.push(message),
            }
        }
        self.return_slots(&self.slots.claimant, returned);
        self.count(&result);
        let became = match &result {
            Ok(()) => {
                LifecycleChange::Ended { phase: self.run.phase(), remark: self.remark.clone().flatten() }
            }
            Err(error) => LifecycleChange::Stopped(error.to_string()),
        };
        self.core.lifecycle.tell(&self.lease.head, became);
        if result.is_ok() {
            self.core.tell_schedule(&self.lease.head);
        }
        // Dropped last: they tell another owner of the run that this driver has left.
        let _dismissals = self.inbox.dismissals;
        match result {
            Ok(()) => {
                self.entry.status.send_replace(DriveStatus::Ended(Arc::new(self.run)));
                None
            }
            Err(error) if error.is_passing() => {
                Some(FollowUp::Retake { entry: self.entry, error, inspections })
            }
            Err(error) if matches!(*error, StoreError::TooLarge { .. }) => {
                Some(FollowUp::GiveUp { entry: self.entry, lease: self.lease, error })
            }
            Err(error) => {
                self.entry.lose(error);
                None
            }
        }
    }

    /// Returns every slot after a first record that was refused: what it would have started has taken its slots already.
    pub(super) fn abandon_start(&mut self) {
        self.attempts.abort_all();
        self.return_slots(&self.slots.claimant, self.slots_in_hand());
        self.inbox.close();
        let returned = self.inbox.take_received().iter().map(Message::slots).sum();
        self.return_slots(&self.slots.claimant, returned);
    }

    fn return_slots(&self, claimant: &Claimant, returned: i64) {
        self.core.dispatcher.slots.exchange(claimant, self.inbox.as_sender(), returned, 0);
    }

    fn count(&self, result: &Result<(), Arc<StoreError>>) {
        let gauges = &self.core.gauges;
        match result {
            Ok(()) => gauges.ended(self.run.counts_as()),
            Err(error) if matches!(**error, StoreError::LeaseLost { .. }) => gauges.lost.one_more(),
            Err(_) => gauges.interrupted.one_more(),
        }
    }
}
