//! Requests to a run, and signals of its attempts: messages become inputs of the engine.

use std::sync::Arc;

use phasm_engine::{
    event::{Fence, Input},
    outcome::Outcome,
    time::Timestamp,
};

use super::Driver;
use crate::{
    dispatch::signal::Signal,
    run::{
        envelope::RequestEnvelope,
        message::{Message, ReplyTo},
        request::{RequestError, RequestReply, RunRequest},
    },
    store::{Letter, Reply},
};

impl Driver {
    /// Handles messages in their order until the batch is full.
    pub(super) fn handle_received(&mut self, now: Timestamp) {
        while !self.batch.is_full()
            && let Some(message) = self.inbox.received.pop_front()
        {
            match message {
                Message::Signal(signal) => self.handle_signal(now, signal),
                Message::Ask { request, reply } => {
                    let result = self.request(now, request);
                    self.reply(reply, result);
                }
                Message::Inspect(inspect) => self.batch.effects.inspections.push(inspect),
                // The inbox keeps these apart.
                Message::Mail | Message::Tick | Message::HandOver(_) => {}
            }
        }
    }

    fn handle_signal(&mut self, now: Timestamp, signal: Signal) {
        match signal {
            Signal::Lent(slots) => self.slots.put(i64::from(slots)),
            Signal::Started(fence, elapsed) => {
                let at = elapsed.map_or(now, |elapsed| self.clock.at(elapsed));
                self.step(at.max(self.run.now()).min(now), Input::Started(fence));
            }
            Signal::Finished(fence, outcome) => {
                self.release(fence);
                let outcome = self.environment().secrets.hide_in(outcome);
                self.step(now, Input::Finished(fence, outcome));
            }
            Signal::Interrupted(fence) => {
                self.step(now, Input::Interrupted(fence));
                self.release(fence);
            }
            Signal::Gone(fence) => {
                // Nothing asked for it to be stopped, or the engine would not take the result.
                self.release(fence);
                let outcome = Outcome::error("host fault: the attempt was lost while it ran");
                self.step(now, Input::Finished(fence, outcome));
            }
            Signal::Inactive(fence) => {
                self.step(now, Input::Inactive(fence));
            }
            Signal::Wrote(fence, log) => self.attempts.keep(fence, log, self.core.log_retention_bytes),
        }
    }

    /// Takes back the slot of an attempt that has ended, and its log.
    fn release(&mut self, fence: Fence) {
        self.slots.put(1);
        if let Some(log) = self.attempts.remove(fence) {
            self.batch.add_log(log);
        }
    }

    /// Steps the engine by a request. The result is for the reply, once the batch is durable.
    fn request(&mut self, now: Timestamp, envelope: RequestEnvelope) -> Result<bool, RequestError> {
        let RequestEnvelope { request, by } = envelope;
        let is_cancel = matches!(request, RunRequest::Cancel);
        let Some(input) = request.input(&self.run, by)? else { return Ok(false) };
        let changes_nothing = self.step(now, input);
        if changes_nothing && is_cancel { Err(RequestError::Ended) } else { Ok(!changes_nothing) }
    }

    /// Replies once the batch is durable (R-D2).
    fn reply(&mut self, reply: ReplyTo, result: Result<bool, RequestError>) {
        self.batch.effects.replies.push(Box::new(move |error| {
            let result = error.map_or(result, |error| Err(RequestError::Lost(Arc::clone(error))));
            // The sender may have gone.
            let _gone = reply.send(result);
        }));
    }

    /// Starts to read requests that others have posted to the store. Until the replies to those read before are durable, reading
    /// would return the same ones again.
    pub(super) fn read_requests(&mut self) {
        let is_replying = !self.batch.store_replies.is_empty()
            || self.commit.as_ref().is_some_and(|commit| commit.has_store_replies);
        if !self.inbox.has_requests || is_replying {
            return;
        }
        self.inbox.has_requests = false;
        // A request may start an attempt: where nothing is started any more, requests wait for the host that continues the run.
        if self.core.begins() {
            self.reading = Some(self.core.store.mail(&self.lease));
        }
    }

    /// Carries out requests from the store; their replies become durable with their effects.
    pub(super) fn handle_requests(&mut self, now: Timestamp, requests: Vec<Letter>) {
        for request in requests {
            if self.batch.is_full() {
                // The others are read again after this batch.
                self.inbox.has_requests = true;
                break;
            }
            let result = match RequestEnvelope::read(&request.body) {
                Some(envelope) => {
                    let (word, task) =
                        (envelope.request.word(), envelope.request.task().map(ToOwned::to_owned));
                    let by = envelope.by.as_ref().map(|by| by.as_str().to_owned());
                    let result = self.request(now, envelope).map_err(|error| error.to_string());
                    tracing::info!(run = %self.run.id(), request = word, task, by, done = result.is_ok(), "request of another process");
                    result
                }
                None => Err("the request cannot be read; another version of Phasm wrote it".to_owned()),
            };
            let gauges = &self.core.gauges;
            if result.is_ok() { &gauges.letters_carried_out } else { &gauges.letters_refused }.one_more();
            let body = RequestReply::from(result).bytes();
            self.batch.store_replies.push(Reply { letter: request.id, body });
        }
    }
}
